//! What PTX instructions without an effect compute.

use super::value::{Atom, Number, Value};
use crate::flow::Instruction;

/// The operands of an instruction, split at the commas outside of brackets.
pub fn operands(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, character) in text.char_indices() {
        match character {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// Whether an instruction does nothing but compute its first operand from the others.
pub fn is_pure(one: &Instruction) -> bool {
    const PURE: [&str; 27] = [
        "mov", "add", "sub", "mul", "mad", "fma", "div", "rem", "neg", "abs", "min", "max", "shl", "shr", "and", "or",
        "xor", "not", "setp", "selp", "cvt", "cvta", "ld.param", "prmt", "sqrt", "rcp", "shf",
    ];
    one.guard.is_none() && PURE.iter().any(|name| one.is(name))
}

/// The bits of a register, by its class; 1 for a predicate.
pub fn bits_of(register: &str) -> u32 {
    match register.trim_start_matches('%').trim_end_matches(|c: char| c.is_ascii_digit()) {
        "rd" | "fd" => 64,
        "rs" => 16,
        "p" => 1,
        _ => 32,
    }
}

/// Whether an operand is a register that the code itself numbers (and no special register such as
/// `%tid.x`).
pub fn is_register(operand: &str) -> bool {
    let name = operand.strip_prefix('%').unwrap_or_default();
    let class = name.trim_end_matches(|c: char| c.is_ascii_digit());
    ["r", "rd", "rs", "rq", "p", "f", "fd"].contains(&class) && class.len() < name.len()
}

/// The value of a register by its name.
pub fn register(name: &str) -> Value {
    let atom = Atom::Register(name.to_owned());
    match bits_of(name) {
        1 => Value::Predicate { negated: false, of: atom },
        bits => Value::Number(Number::atom(bits, atom)),
    }
}

/// The value of an operand; `look_up` knows the registers.
pub fn operand(text: &str, bits: u32, look_up: &impl Fn(&str) -> Value) -> Value {
    if is_register(text) {
        return look_up(text);
    }
    if let Some(parts) = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        let values = operands(parts).into_iter().map(|part| operand(part, bits_of(part), look_up)).collect();
        return Value::Number(Number::atom(bits, Atom::Result("vector".to_owned(), values)));
    }
    let signed = text.parse::<i64>().ok().map(|value| value as u64);
    match signed.or_else(|| text.parse().ok()) {
        Some(value) => Value::Number(Number::constant(bits, value)),
        None => Value::Number(Number::atom(bits, Atom::Name(text.to_owned()))),
    }
}

/// The address in brackets: a register or a symbol, perhaps with a distance.
pub fn address(text: &str, look_up: &impl Fn(&str) -> Value) -> Value {
    let inner = text.trim_start_matches('[').trim_end_matches(']');
    let (base, distance) = inner.split_once('+').unwrap_or((inner, "0"));
    let base = operand(base, 64, look_up).number(64);
    Value::Number(base.plus(&operand(distance, 64, look_up).number(64)))
}

/// What a pure instruction computes.
pub fn evaluate(one: &Instruction, look_up: &impl Fn(&str) -> Value) -> Value {
    let parts = operands(&one.operands);
    let bits = bits_of(parts[0]);
    let value = |index: usize| operand(parts[index], bits, look_up);
    let number = |index: usize| value(index).number(bits);
    let kind = one.opcode.split('.').next().unwrap_or_default();
    let is_integer = ["s64", "u64", "b64", "s32", "u32", "b32"].iter().any(|name| one.opcode.ends_with(name));
    let minus_one = Number::constant(bits, u64::MAX);
    let wide = |index: usize| operand(parts[index], 32, look_up).number(32).extended();
    let computed = match kind {
        "mov" if parts[0].starts_with('{') => {
            // A part of a wider register: which one is in the pattern.
            let part = parts[0].split_once('%').map_or(0, |(before, _)| before.matches(',').count());
            let wide = operand(parts[1], bits_of(parts[1]), look_up);
            Number::atom(32, Atom::Result(format!("part{part}.{}", one.opcode), vec![wide]))
        }
        "mov" | "cvta" => return value(1),
        "add" if is_integer => number(1).plus(&number(2)),
        "sub" if is_integer => number(1).plus(&minus_one.times(&number(2))),
        "neg" if is_integer => minus_one.times(&number(1)),
        "mul" if one.has("lo") => number(1).times(&number(2)),
        "mad" if one.has("lo") => number(1).times(&number(2)).plus(&number(3)),
        "mul" if one.is("mul.wide.u32") => wide(1).times(&wide(2)),
        "mad" if one.is("mad.wide.u32") => wide(1).times(&wide(2)).plus(&number(3)),
        "shl" if number(2).as_constant().is_some_and(|by| by < u64::from(bits)) => {
            let by = number(2).as_constant().unwrap_or_default();
            number(1).times(&Number::constant(bits, 1 << by))
        }
        "cvt" if one.opcode == "cvt.u64.u32" => wide(1),
        "cvt" if one.opcode == "cvt.u32.u64" => operand(parts[1], 64, look_up).number(64).low(),
        "setp" => return compared(one, &parts, look_up),
        "selp" => return selected(one, &parts, bits, look_up),
        "ld" => Number::atom(bits, Atom::Name(format!("{} {}", one.opcode, parts[1]))),
        _ => {
            let values = parts[1..].iter().map(|part| operand(part, width(one, bits), look_up)).collect();
            if bits == 1 {
                return Value::Predicate { negated: false, of: Atom::Result(one.opcode.clone(), values) };
            }
            Number::atom(bits, Atom::Result(one.opcode.clone(), values))
        }
    };
    Value::Number(computed)
}

/// The width of an instruction's sources, as its type says.
fn width(one: &Instruction, otherwise: u32) -> u32 {
    let digits = one.opcode.rsplit('.').next().unwrap_or_default().trim_start_matches(|c: char| !c.is_ascii_digit());
    digits.parse().unwrap_or(otherwise)
}

/// A comparison, as one of `less` and `equal` that may be negated.
fn compared(one: &Instruction, parts: &[&str], look_up: &impl Fn(&str) -> Value) -> Value {
    let names: Vec<&str> = one.opcode.split('.').collect();
    let (comparison, kind) = (names[1], names[names.len() - 1]);
    let value = |index: usize| operand(parts[index], width(one, 32), look_up);
    let (name, swapped, negated) = match comparison {
        "lt" => ("less", false, false),
        "gt" => ("less", true, false),
        "ge" if !kind.starts_with('f') => ("less", false, true),
        "le" if !kind.starts_with('f') => ("less", true, true),
        "eq" => ("equal", false, false),
        "ne" if !kind.starts_with('f') => ("equal", false, true),
        other => (other, false, false),
    };
    // `c < x` is `not x < c + 1`.
    if let ("less", false) = (name, kind.starts_with('f'))
        && let Some(above) = successor(&value(if swapped { 2 } else { 1 }), kind)
    {
        let values = vec![value(if swapped { 1 } else { 2 }), above];
        return Value::Predicate { negated: !negated, of: Atom::Result(format!("less.{kind}"), values) };
    }
    let kind = if name == "equal" { kind.trim_start_matches(['s', 'u', 'b']) } else { kind };
    let values = if swapped { vec![value(2), value(1)] } else { vec![value(1), value(2)] };
    Value::Predicate { negated, of: Atom::Result(format!("{name}.{kind}"), values) }
}

/// The next constant, if the value is one that has a next one in this type.
fn successor(value: &Value, kind: &str) -> Option<Value> {
    let Value::Number(number) = value else { return None };
    let (constant, bits) =
        (number.as_constant()?, kind.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()?);
    let unused = 64_u32.checked_sub(bits)?;
    let most = if kind.starts_with('s') { i64::MAX as u64 >> unused } else { u64::MAX >> unused };
    (constant != most).then(|| Value::Number(number.plus(&Number::constant(bits, 1))))
}

/// A choice by a predicate that is not negated.
fn selected(one: &Instruction, parts: &[&str], bits: u32, look_up: &impl Fn(&str) -> Value) -> Value {
    let choice = operand(parts[3], 1, look_up);
    let (negated, of) = match choice {
        Value::Predicate { negated, of } => (negated, of),
        other => (false, Atom::Result("predicate".to_owned(), vec![other])),
    };
    let (yes, no) = if negated { (parts[2], parts[1]) } else { (parts[1], parts[2]) };
    let [yes, no] = [yes, no].map(|part| operand(part, bits, look_up));
    let choice = Value::Predicate { negated: false, of };
    Value::Number(Number::atom(bits, Atom::Result(one.opcode.clone(), vec![choice, yes, no])))
}
