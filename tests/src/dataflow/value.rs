//! Values that registers hold, in a form that does not depend on how they were computed.

use std::collections::BTreeMap;
use std::fmt::Write;

/// What is not taken apart any further.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    /// What a register held when control last reached a join of several ways, or what an event
    /// wrote to it.
    Register(String),
    /// A symbol, a special register or a constant that is no integer.
    Name(String),
    /// A 32-bit integer as a 64-bit one.
    Extended(Number),
    /// The lower 32 bits of a 64-bit atom.
    Low(Box<Atom>),
    /// Any other instruction without an effect.
    Result(String, Vec<Value>),
}

/// A polynomial of atoms modulo `2^bits`: integer arithmetic in whatever order it was done.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Number {
    bits: u32,
    /// The factor of each product of atoms, none of them 0.
    terms: BTreeMap<Vec<Atom>, u64>,
}

/// A number, or a predicate that may be negated.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// An integer, or the bits of anything else.
    Number(Number),
    /// A predicate.
    Predicate {
        /// Whether it holds where `of` does not.
        negated: bool,
        /// What was compared.
        of: Atom,
    },
}

impl Number {
    /// The constant `value`.
    pub fn constant(bits: u32, value: u64) -> Number {
        Number { bits, terms: BTreeMap::new() }.with(Vec::new(), value)
    }

    /// One atom.
    pub fn atom(bits: u32, atom: Atom) -> Number {
        Number { bits, terms: BTreeMap::new() }.with(vec![atom], 1)
    }

    fn with(mut self, product: Vec<Atom>, factor: u64) -> Number {
        let mask = if self.bits == 64 { u64::MAX } else { (1 << self.bits) - 1 };
        let sum = self.terms.get(&product).copied().unwrap_or(0).wrapping_add(factor) & mask;
        if sum == 0 {
            self.terms.remove(&product);
        } else {
            self.terms.insert(product, sum);
        }
        self
    }

    /// The constant that it is, if it is one.
    pub fn as_constant(&self) -> Option<u64> {
        match self.terms.iter().next() {
            None => Some(0),
            Some((product, factor)) if product.is_empty() && self.terms.len() == 1 => Some(*factor),
            Some(_) => None,
        }
    }

    /// The sum.
    pub fn plus(&self, other: &Number) -> Number {
        other.terms.iter().fold(self.clone(), |sum, (product, factor)| sum.with(product.clone(), *factor))
    }

    /// The product.
    pub fn times(&self, other: &Number) -> Number {
        let mut result = Number::constant(self.bits, 0);
        for (left, factor) in &self.terms {
            for (right, other) in &other.terms {
                let mut product = [left.as_slice(), right.as_slice()].concat();
                product.sort();
                result = result.with(product, factor.wrapping_mul(*other));
            }
        }
        result
    }

    /// The 32-bit number as a 64-bit one.
    pub fn extended(&self) -> Number {
        match self.as_constant() {
            Some(constant) => Number::constant(64, constant),
            None => Number::atom(64, Atom::Extended(self.clone())),
        }
    }

    /// The lower 32 bits of the 64-bit number.
    pub fn low(&self) -> Number {
        let low = |atom: &Atom| match atom {
            Atom::Extended(number) => number.clone(),
            other => Number::atom(32, Atom::Low(Box::new(other.clone()))),
        };
        self.terms.iter().fold(Number::constant(32, 0), |sum, (product, factor)| {
            let start = Number::constant(32, *factor);
            sum.plus(&product.iter().fold(start, |so_far, atom| so_far.times(&low(atom))))
        })
    }
}

impl Value {
    /// What a register or a constant holds, as a number.
    pub fn number(self, bits: u32) -> Number {
        match self {
            Value::Number(number) => Number { bits, ..number },
            Value::Predicate { negated, of } => Number::atom(
                bits,
                Atom::Result(format!("predicate.{negated}"), vec![Value::Number(Number::atom(1, of))]),
            ),
        }
    }

    /// Calls `visit` with the name of each register in it.
    pub fn registers(&self, visit: &mut impl FnMut(&str)) {
        match self {
            Value::Number(number) => number.registers(visit),
            Value::Predicate { of, .. } => of.registers(visit),
        }
    }

    /// The value as text, registers named by `name`. Sums and products are sorted by that text.
    pub fn text(&self, name: &impl Fn(&str) -> String) -> String {
        match self {
            Value::Number(number) => number.text(name),
            Value::Predicate { negated, of } => format!("{}{}", if *negated { "not " } else { "" }, of.text(name)),
        }
    }
}

impl Number {
    /// A factor as a signed number.
    fn signed(&self, factor: u64) -> String {
        let unused = 64 - self.bits;
        ((factor << unused) as i64 >> unused).to_string()
    }

    fn registers(&self, visit: &mut impl FnMut(&str)) {
        self.terms.keys().flatten().for_each(|atom| atom.registers(visit));
    }

    fn text(&self, name: &impl Fn(&str) -> String) -> String {
        let mut terms: Vec<String> = Vec::new();
        for (product, factor) in &self.terms {
            let mut atoms: Vec<String> = product.iter().map(|atom| atom.text(name)).collect();
            atoms.sort();
            let mut term = atoms.join(" * ");
            match (product.is_empty(), *factor) {
                (true, _) => term = self.signed(*factor),
                (false, 1) => {}
                (false, factor) => write!(term, " * {}", self.signed(factor)).unwrap_or_default(),
            }
            terms.push(term);
        }
        terms.sort();
        match terms.len() {
            0 => "0".to_owned(),
            1 => terms.remove(0),
            _ => format!("({})", terms.join(" + ")),
        }
    }
}

impl Atom {
    /// Calls `visit` with the name of each register in it.
    pub fn registers(&self, visit: &mut impl FnMut(&str)) {
        match self {
            Atom::Register(register) => visit(register),
            Atom::Name(_) => {}
            Atom::Extended(number) => number.registers(visit),
            Atom::Low(atom) => atom.registers(visit),
            Atom::Result(_, values) => values.iter().for_each(|value| value.registers(visit)),
        }
    }

    /// The atom as text.
    pub fn text(&self, name: &impl Fn(&str) -> String) -> String {
        match self {
            Atom::Register(register) => name(register),
            Atom::Name(text) => text.clone(),
            Atom::Extended(number) => format!("u64({})", number.text(name)),
            Atom::Low(atom) => format!("u32({})", atom.text(name)),
            Atom::Result(opcode, values) => {
                let mut texts: Vec<String> = values.iter().map(|value| value.text(name)).collect();
                if is_commutative(opcode) {
                    texts.sort();
                }
                format!("{opcode}({})", texts.join(", "))
            }
        }
    }
}

/// Whether the order of an instruction's operands makes no difference.
fn is_commutative(opcode: &str) -> bool {
    ["and", "or", "xor", "min", "max", "equal"].contains(&opcode.split('.').next().unwrap_or(opcode))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn register(bits: u32, name: &str) -> Number {
        Number::atom(bits, Atom::Register(name.to_owned()))
    }

    #[test]
    fn sums_and_products_are_the_same_in_any_order() {
        let [a, b, c] = ["a", "b", "c"].map(|name| register(64, name));
        assert_eq!(a.plus(&b).times(&c), c.times(&b).plus(&c.times(&a)));
        let back = Number::constant(64, u64::MAX);
        assert_eq!(a.plus(&b).plus(&back.times(&b)), a);
    }

    #[test]
    fn factors_wrap_at_the_width_of_the_number() {
        let a = register(64, "a");
        let (scale, all_but_one) = (Number::constant(64, 256), Number::constant(64, (1 << 56) - 1));
        assert_eq!(a.plus(&all_but_one).times(&scale), a.plus(&Number::constant(64, u64::MAX)).times(&scale));
        assert_ne!(a.plus(&all_but_one), a.plus(&Number::constant(64, u64::MAX)));
    }

    #[test]
    fn the_low_half_of_an_extended_number_is_the_number() {
        let a = register(32, "a");
        let sum = a.extended().plus(&register(64, "b"));
        let low_b = Number::atom(32, Atom::Low(Box::new(Atom::Register("b".to_owned()))));
        assert_eq!(sum.low(), a.plus(&low_b));
        assert_ne!(a.times(&Number::constant(32, 4)).extended(), a.extended().times(&Number::constant(64, 4)));
    }
}
