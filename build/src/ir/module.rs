//! A linked module's functions and what they call, as its checks look at it.

use std::collections::{HashMap, HashSet};

use super::convergent::{arguments, call_instruction, group_end, string_end};
use super::global_name;
use super::kernels::bounds;
use super::scopes::Scopes;
use crate::Error;

/// A linked module from which everything unused was removed.
pub(crate) struct Module<'a> {
    pub functions: Vec<Function<'a>>,
    by_name: HashMap<&'a str, usize>,
    /// Lines outside of functions that name some: tables of functions.
    pub tables: Vec<&'a str>,
    /// The functions that something takes the address of, by the types of their parameters.
    addressed: HashMap<Vec<&'a str>, Vec<usize>>,
    scopes: Scopes<'a>,
}

/// A function that the module defines.
pub(crate) struct Function<'a> {
    pub symbol: &'a str,
    /// Whether it is a kernel.
    pub entry: bool,
    /// The types of its parameters.
    pub parameters: Vec<&'a str>,
    /// The instructions that call something or name a function.
    pub uses: Vec<Use<'a>>,
}

/// An instruction that calls something or names a function.
pub(crate) struct Use<'a> {
    pub instruction: &'a str,
    pub callee: Option<Callee<'a>>,
}

/// What an instruction calls.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Callee<'a> {
    Function(&'a str),
    /// A function by its address, with the types of its parameters.
    Address(Vec<&'a str>),
    /// Assembly; inert if it has neither an instruction nor an output, as that of
    /// `core::hint::black_box`.
    Assembly {
        inert: bool,
    },
}

impl<'a> Module<'a> {
    /// Reads a module.
    ///
    /// # Errors
    ///
    /// [`Error::Ir`] for a definition or call whose shape is unknown.
    pub(crate) fn read(text: &'a str) -> Result<Self, Error> {
        let mut functions: Vec<Function<'a>> = Vec::new();
        let (mut tables, mut inside) = (Vec::new(), false);
        for line in text.lines() {
            if line.starts_with("define ") {
                let unknown = || Error::Ir { reason: "a function's parameters", line: line.to_string() };
                let symbol = bounds::defined_name(line).ok_or_else(unknown)?;
                let list = arguments(line).ok_or_else(unknown)?.list;
                let parameters = types(list).ok_or_else(unknown)?;
                functions.push(Function { symbol, entry: bounds::is_entry(line), parameters, uses: Vec::new() });
                inside = true;
            } else if inside && line.starts_with('}') {
                inside = false;
            } else if inside && line.starts_with(' ') {
                let function = functions.last_mut();
                if let (Some(one), Some(function)) = (Use::read(line)?, function) {
                    function.uses.push(one);
                }
            } else if line.starts_with('@') {
                tables.push(line);
            }
        }
        let by_name: HashMap<&str, usize> =
            functions.iter().enumerate().map(|(at, function)| (function.symbol, at)).collect();
        let mut taken: HashSet<usize> = HashSet::new();
        for line in &tables {
            taken.extend(names(line).filter_map(|name| by_name.get(name)));
        }
        for one in functions.iter().flat_map(|function| &function.uses) {
            taken.extend(one.addresses().filter_map(|name| by_name.get(name)));
        }
        let mut addressed: HashMap<Vec<&str>, Vec<usize>> = HashMap::new();
        for at in taken {
            addressed.entry(functions[at].parameters.clone()).or_default().push(at);
        }
        addressed.values_mut().for_each(|functions| functions.sort_unstable());
        Ok(Module { functions, by_name, tables, addressed, scopes: Scopes::read(text) })
    }

    /// The functions that an instruction may call, by their places in `functions`: the one that it
    /// names, or each one of fitting parameters that something takes the address of.
    pub(crate) fn targets(&self, one: &Use<'a>) -> &[usize] {
        match &one.callee {
            Some(Callee::Function(name)) => self.by_name.get(name).map_or(&[], std::slice::from_ref),
            Some(Callee::Address(types)) => self.addressed.get(types).map_or(&[], Vec::as_slice),
            Some(Callee::Assembly { .. }) | None => &[],
        }
    }

    /// All functions that an instruction calls or names.
    pub(crate) fn named(&self, one: &Use<'a>) -> impl Iterator<Item = usize> {
        names(one.instruction).filter_map(|name| self.by_name.get(name).copied())
    }

    /// The symbols of the functions that an instruction was written in, from the one whose source
    /// has it to the one around it in the module.
    pub(crate) fn written_in(&self, function: &Function<'a>, one: &Use<'a>) -> Vec<&'a str> {
        let mut chain = self.scopes.of(one.instruction);
        // Without a location it is taken for the own code of the function around it. That of an
        // entry point has another name for it.
        if chain.is_empty() {
            chain.push(function.symbol);
        }
        chain
    }
}

impl<'a> Use<'a> {
    /// A line of a function; none if it neither calls something nor names a function.
    fn read(line: &'a str) -> Result<Option<Self>, Error> {
        let callee = match call_instruction(line) {
            Some(start) => {
                let unknown = || Error::Ir { reason: "a call's arguments", line: line.to_string() };
                let call = arguments(&line[start..]).ok_or_else(unknown)?;
                Some(match call.callee.as_bytes()[0] {
                    b'@' => Callee::Function(global_name(call.callee).ok_or_else(unknown)?.0),
                    // `asm sideeffect "instructions", "constraints"(..)`: the callee is the
                    // constraints.
                    b'"' => {
                        let template = call.head.split_once('"').map(|(_, template)| template);
                        let empty = template == Some("\", ");
                        Callee::Assembly { inert: empty && !call.callee.contains('=') }
                    }
                    _ => Callee::Address(types(call.list).ok_or_else(unknown)?),
                })
            }
            None if line.contains('@') => None,
            None => return Ok(None),
        };
        Ok(Some(Use { instruction: line, callee }))
    }

    /// The functions and statics whose address the instruction takes: what it names but does not
    /// call.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = &'a str> {
        let mut called = match &self.callee {
            Some(Callee::Function(name)) => Some(*name),
            _ => None,
        };
        // The callee stands first: what stands before it are attributes and types.
        names(self.instruction).filter(move |name| called.take_if(|called| called == name).is_none())
    }
}

/// The names of functions and statics in a line, outside of its strings.
pub(super) fn names(line: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            at += line[at..].find(['@', '"'])?;
            if line.as_bytes()[at] == b'"' {
                at = string_end(line, at)?;
                continue;
            }
            let Some((name, rest)) = global_name(&line[at..]) else {
                at += 1;
                continue;
            };
            at = line.len() - rest.len();
            return Some(name);
        }
    })
}

/// The types in a list of parameters or arguments with its parentheses.
pub(super) fn types(list: &str) -> Option<Vec<&str>> {
    let mut rest = list.strip_prefix('(')?.strip_suffix(')')?.trim();
    let mut types = Vec::new();
    while !rest.is_empty() {
        let end = match rest.as_bytes()[0] {
            b'[' | b'{' | b'<' => group_end(rest, 0)?,
            _ => rest.find([' ', ',']).unwrap_or(rest.len()),
        };
        let end = match rest[end..].strip_prefix(" addrspace(") {
            Some(space) => rest.len() - space.len() + space.find(')')? + 1,
            None => end,
        };
        types.push(&rest[..end]);
        rest = &rest[end..];
        // To the comma that ends the argument, over groups and strings.
        loop {
            match rest.as_bytes().first() {
                None => break,
                Some(b',') => {
                    rest = rest[1..].trim_start();
                    break;
                }
                Some(b'(' | b'[' | b'{' | b'<') => rest = &rest[group_end(rest, 0)?..],
                Some(b'"') => rest = &rest[string_end(rest, 0)?..],
                Some(_) => rest = &rest[rest.char_indices().nth(1).map_or(rest.len(), |(at, _)| at)..],
            }
        }
    }
    Some(types)
}

#[cfg(test)]
mod tests {
    use super::{Module, names, types};

    #[test]
    fn names_are_found_outside_of_strings() {
        let line = "  %x = call i32 asm \"@no (\", \"=r,r\"(ptr @\"a b\", ptr @c.1) #1";
        assert_eq!(names(line).collect::<Vec<_>>(), ["a b", "c.1"]);
    }

    #[test]
    fn types_are_what_a_parameter_begins_with() {
        let list = "(ptr noalias align 8 captures(address, read_provenance) %0, { i64, ptr } %1, i32 range(i32 0, 5) -1, ptr addrspace(3) @s, <2 x float> <float 0.0, float 1.0>)";
        assert_eq!(types(list).unwrap(), ["ptr", "{ i64, ptr }", "i32", "ptr addrspace(3)", "<2 x float>"]);
        assert!(types("()").unwrap().is_empty());
    }

    #[test]
    fn a_call_by_address_may_be_of_every_function_that_fits_and_has_its_address_taken() {
        let text = "@table = constant [2 x ptr] [ptr @a, ptr @c]\n\
            define internal void @a(i32 %0) {\n  ret void\n}\n\
            define internal void @b(i32 %0) {\n  ret void\n}\n\
            define internal void @c(i64 %0) {\n  ret void\n}\n\
            define ptx_kernel void @k(ptr %0) {\n  call void %0(i32 1)\n  call void @b(i32 2)\n  store ptr @b, ptr %0\n}\n";
        let module = Module::read(text).unwrap();
        let kernel = &module.functions[3];
        assert!(kernel.entry && !module.functions[0].entry);
        let targets: Vec<&[usize]> = kernel.uses.iter().map(|one| module.targets(one)).collect();
        assert_eq!(targets, [&[0, 1][..], &[1], &[]]);
        assert_eq!(module.named(&kernel.uses[2]).collect::<Vec<_>>(), [1]);
        let module = text.replace("  store ptr @b, ptr %0\n", "");
        let module = Module::read(&module).unwrap();
        assert_eq!(module.targets(&module.functions[3].uses[0]), [0]);
    }
}
