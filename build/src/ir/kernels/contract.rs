//! Contracts: from the constants that tilepipe hands to the builder to one constant beside each
//! entry point.
//!
//! The code that `#[kernel]` generates enters a kernel through `tilepipe::entry::enter`, which
//! calls a function of `runtime.ll` with the kernel's contract: text that follows from the kernel
//! function's type. The call says which function an entry point really runs, whatever the crate put
//! behind the paths of the generated code. So the contract is taken from there.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::super::module::names;
use super::super::{Passed, global_name, string_bytes};
use super::bounds::{self, LaunchBounds};
use crate::Error;

/// The function that is called with a contract's first byte and its length.
const MARKER: &str = "tilepipe_contract";
/// The function that gives the address of the collectives' scratch memory.
const SCRATCH: &str = "tilepipe_scratch_base";
/// The constant of the runtime that says how many bytes that has.
const SCRATCH_BYTES: &str = "tilepipe_scratch_bytes";
/// The names of the constants: this and the entry's symbol.
const PREFIX: &str = "__tilepipe_contract__";

/// The constants with the contracts.
pub(crate) struct Contracts {
    /// Their definitions, as text.
    pub definitions: String,
    /// Their names.
    pub names: Vec<String>,
    /// The kernels that have one, with what is passed for each parameter.
    pub parameters: BTreeMap<String, Vec<Passed>>,
    /// The same with the bytes of dynamic shared memory that a launch reserves for a block.
    pub dynamic_shared: BTreeMap<String, u32>,
}

/// The most bytes of a parameter: a launch carries no more for all of them.
const MOST: usize = 4096;
/// A parameter's largest alignment.
const MOST_ALIGNED: usize = 128;

/// What a contract says of the parameters: their fields have numbers for names, and end with bytes
/// and alignment.
fn passed(contract: &str) -> Result<Vec<Passed>, String> {
    let fields = contract.split(';').filter_map(|field| field.split_once('='));
    let parameters = fields.filter(|(name, _)| name.bytes().all(|byte| byte.is_ascii_digit()));
    let read = |value: &str| {
        let (bytes, alignment) = value.rsplit_once(' ')?.1.split_once('/')?;
        let in_place = value.starts_with("constant ");
        let one = Passed { bytes: bytes.parse().ok()?, alignment: alignment.parse().ok()?, in_place };
        let fits = (1..=MOST).contains(&one.bytes) && one.alignment <= MOST_ALIGNED && one.alignment.is_power_of_two();
        fits.then_some(one)
    };
    let unknown = |value: &str| format!("is passed a parameter of unknown shape, `{value}`");
    parameters.map(|(_, value)| read(value).ok_or_else(|| unknown(value))).collect()
}

/// The bytes of dynamic shared memory of a launch: those of the kernel and, from a multiple of 16
/// on, those of its collectives, as `tilepipe-host` reserves them. None if a contract does not say.
fn dynamic_shared(contract: &str) -> Option<u32> {
    let field = |name: &str| contract.split(';').find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
    let own: u32 = field("shared")?.split_once('/')?.0.parse().ok()?;
    match field("scratch")?.parse().ok()? {
        0 => Some(own),
        scratch => own.checked_next_multiple_of(16)?.checked_add(scratch),
    }
}

/// The contracts of a module's kernels (entry symbol to launch bounds), which are of the package
/// `name version`. A kernel that was not made by `#[kernel]` has none.
///
/// # Errors
///
/// [`Error::Contract`] for an entry that runs several kernels, or one for another block size;
/// [`Error::Ir`] for a contract of unknown shape.
pub(crate) fn contracts(
    module: &str,
    kernels: &BTreeMap<String, LaunchBounds>,
    package: &str,
) -> Result<Contracts, Error> {
    let functions = functions(module);
    let constants: HashMap<&str, &str> = module.lines().filter_map(global_name_and_line).collect();
    let mut contracts = Contracts {
        definitions: String::new(),
        names: Vec::new(),
        parameters: BTreeMap::new(),
        dynamic_shared: BTreeMap::new(),
    };
    for (kernel, LaunchBounds { threads, .. }) in kernels {
        let Reached { markers, scratch } = reached(&functions, kernel);
        let mut found = BTreeSet::new();
        for marker in markers {
            found.insert(text(marker, &constants)?);
        }
        let scratch = if scratch { scratch_bytes(&constants)? } else { 0 };
        let problem = |problem: String| Error::Contract { kernel: kernel.clone(), problem };
        let mut found = found.into_iter();
        let Some(contract) = found.next() else { continue };
        if found.next().is_some() {
            return Err(problem("runs more than one kernel".to_string()));
        }
        if !contract.contains(&format!(";threads={threads};")) {
            return Err(problem(format!(
                "has {threads} threads a block, and the kernel that it runs says `{contract}`"
            )));
        }
        let contract = format!("crate={package};scratch={scratch};{contract}");
        let name = constant(kernel);
        let escaped: String = contract.bytes().map(|byte| format!("\\{byte:02X}")).collect();
        let definition =
            format!("@\"{name}\" = addrspace(1) constant [{} x i8] c\"{escaped}\", align 1\n", contract.len());
        contracts.definitions.push_str(&definition);
        contracts.names.push(name);
        let bytes = dynamic_shared(&contract)
            .ok_or_else(|| problem(format!("has a contract of unknown shared memory, `{contract}`")))?;
        contracts.dynamic_shared.insert(kernel.clone(), bytes);
        contracts.parameters.insert(kernel.clone(), passed(&contract).map_err(problem)?);
    }
    Ok(contracts)
}

/// The name of the constant with a kernel's contract.
pub(crate) fn constant(kernel: &str) -> String {
    format!("{PREFIX}{kernel}")
}

/// A function's body: what it names, and its calls of the marker.
#[derive(Default)]
struct Function<'a> {
    names: Vec<&'a str>,
    markers: Vec<&'a str>,
}

/// All functions of a module.
fn functions(module: &str) -> HashMap<&str, Function<'_>> {
    let (mut functions, mut current) = (HashMap::new(), None);
    for line in module.lines() {
        if line.starts_with("define ") {
            current = bounds::defined_name(line).map(|name| (name, Function::default()));
        } else if line == "}" {
            functions.extend(current.take());
        } else if let Some((_, function)) = &mut current {
            let names: Vec<&str> = names(line).collect();
            if names.contains(&MARKER) {
                function.markers.push(line);
            } else {
                function.names.extend(names);
            }
        }
    }
    functions
}

/// What an entry point can reach.
struct Reached<'a> {
    /// The calls of the marker.
    markers: Vec<&'a str>,
    /// Whether it asks for the collectives' scratch memory.
    scratch: bool,
}

/// What a function and all functions that it names can reach. Nothing is optimised yet, so that
/// what no run comes to counts as well.
fn reached<'a>(functions: &HashMap<&'a str, Function<'a>>, from: &str) -> Reached<'a> {
    let (mut seen, mut left, mut markers) = (HashSet::new(), vec![from], Vec::new());
    while let Some(name) = left.pop() {
        if let Some(function) = functions.get(name).filter(|_| seen.insert(name.to_string())) {
            markers.extend(&function.markers);
            left.extend(&function.names);
        }
    }
    Reached { markers, scratch: seen.contains(SCRATCH) }
}

/// How many bytes of scratch memory collectives need, which the runtime says.
fn scratch_bytes(constants: &HashMap<&str, &str>) -> Result<u32, Error> {
    let line = constants.get(SCRATCH_BYTES).copied().unwrap_or_default();
    let bytes = line.rsplit_once("constant i32 ").and_then(|(_, bytes)| bytes.split(',').next()?.trim().parse().ok());
    bytes.ok_or_else(|| Error::Ir { reason: "the size of the scratch memory", line: line.to_string() })
}

/// The name of the global that a line defines, and the line.
fn global_name_and_line(line: &str) -> Option<(&str, &str)> {
    global_name(line).map(|(name, _)| (name, line))
}

/// The text that a call of the marker hands over: so many bytes of a constant.
fn text(call: &str, constants: &HashMap<&str, &str>) -> Result<String, Error> {
    let unknown = || Error::Ir { reason: "a kernel's contract", line: call.trim().to_string() };
    let arguments = call.split_once("@tilepipe_contract(").ok_or_else(unknown)?.1;
    let constant = names(arguments).next().ok_or_else(unknown)?;
    let bytes = arguments.split(", i64 ").nth(1).and_then(|rest| rest.split(')').next()).ok_or_else(unknown)?;
    let bytes: usize = bytes.trim_start_matches("noundef ").trim().parse().map_err(|_| unknown())?;
    let content = constants.get(constant).and_then(|line| string_bytes(line)).ok_or_else(unknown)?;
    let text = content.get(..bytes).ok_or_else(unknown)?;
    String::from_utf8(text.to_vec()).map_err(|_| unknown())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = r#"
@alloc_1 = private unnamed_addr constant <{ [40 x i8] }> <{ [40 x i8] c"tilepipe=1;threads=32;shared=0/1\00\00\00\00\00\00\00\00" }>, align 1
@"alloc 2" = private unnamed_addr constant [40 x i8] c"tilepipe=1;threads=64;shared=0/1\00\00\00\00\00\00\00\00", align 1
define void @"k$one"(ptr %0) #1 {
  call void @enter(ptr %0)
  ret void
}
define internal void @enter(ptr %0) {
  call void @tell()
  call void %0()
  ret void
}
define internal void @tell() {
  call void @tilepipe_contract(ptr noundef @alloc_1, i64 noundef 32) #2
  ret void
}
define internal void @tell2() {
  call void @tilepipe_contract(ptr @"alloc 2", i64 32)
  ret void
}
define void @by_hand() {
  ret void
}
"#;

    fn of(module: &str, kernels: &[(&str, u32)]) -> Result<Contracts, Error> {
        let bounds =
            |threads| LaunchBounds { threads, min_blocks: None, max_registers: None, parameter_bytes: Vec::new() };
        let kernels = kernels.iter().map(|(name, threads)| ((*name).to_string(), bounds(*threads))).collect();
        contracts(module, &kernels, "k 0.1.0")
    }

    #[test]
    fn an_entry_has_the_contract_of_the_kernel_that_it_runs() {
        let contracts = of(MODULE, &[("k$one", 32), ("by_hand", 128)]).unwrap();
        assert_eq!(contracts.names, ["__tilepipe_contract__k$one"]);
        assert_eq!(contracts.parameters["k$one"], []);
        let text = string_bytes(&contracts.definitions).unwrap();
        assert_eq!(text, b"crate=k 0.1.0;scratch=0;tilepipe=1;threads=32;shared=0/1");
        assert!(
            contracts.definitions.starts_with("@\"__tilepipe_contract__k$one\" = addrspace(1) constant [56 x i8] c\"")
        );
    }

    #[test]
    fn what_is_passed_for_each_parameter_stands_last_in_its_field() {
        let contract = "crate=k 1;scratch=0;shared=0/1;1=in 4/4 1x256 16/0 16/8;2=value 4/4 1x1 1/0 4/4;\
                        3=constant 4096/4 1x1 1/0 4096/4";
        let of = |(bytes, alignment, in_place)| Passed { bytes, alignment, in_place };
        assert_eq!(passed(contract), Ok([(16, 8, false), (4, 4, false), (4096, 4, true)].map(of).to_vec()));
        assert_eq!(passed("crate=k 1;shared=0/1"), Ok(vec![]));
        for wrong in ["in 16/8x", "in", "in 0/1", "in 4097/1", "in 16/3", "in 16/256"] {
            assert!(passed(&format!("threads=1;1={wrong}")).is_err_and(|error| error.contains(wrong)), "{wrong}");
        }
    }

    #[test]
    fn a_launch_reserves_the_kernels_memory_and_then_that_of_its_collectives() {
        let of = |scratch: &str, shared: &str| dynamic_shared(&format!("crate=k 1;{scratch};tilepipe=1;{shared};1=in"));
        assert_eq!(of("scratch=0", "shared=6160/16"), Some(6160));
        assert_eq!(of("scratch=0", "shared=6161/1"), Some(6161));
        assert_eq!(of("scratch=1152", "shared=6161/1"), Some(6176 + 1152));
        assert_eq!(of("scratch=1152", "shared=0/1"), Some(1152));
        for (scratch, shared) in [("scratch=", "shared=1/1"), ("scratch=0", "shared=1"), ("other=0", "shared=1/1")] {
            assert_eq!(of(scratch, shared), None, "{scratch} {shared}");
        }
    }

    #[test]
    fn the_contract_of_an_entry_that_reaches_scratch_memory_has_its_size() {
        let uses = "define internal void @collective() {\n  %1 = call ptr @tilepipe_scratch_base()\n  ret void\n}\n\
                    define ptr @tilepipe_scratch_base() {\n  ret ptr null\n}\n";
        let calls = MODULE.replace("  call void %0()\n", "  call void @collective()\n") + uses;
        let size = "@tilepipe_scratch_bytes = private constant i32 656, align 4\n";
        let text = |module: &str| {
            let contracts = of(module, &[("k$one", 32)])?;
            Ok::<_, Error>(String::from_utf8(string_bytes(&contracts.definitions).unwrap()).unwrap())
        };
        assert!(text(&(calls.clone() + size)).unwrap().starts_with("crate=k 0.1.0;scratch=656;tilepipe=1;"));
        assert!(text(&(MODULE.to_string() + uses + size)).unwrap().starts_with("crate=k 0.1.0;scratch=0;"));
        assert!(matches!(text(&calls), Err(Error::Ir { .. })));
    }

    #[test]
    fn an_entry_of_another_block_size_or_of_two_kernels_is_refused() {
        assert!(matches!(of(MODULE, &[("k$one", 64)]), Err(Error::Contract { .. })));
        let two = MODULE.replace("  call void @tell()\n", "  call void @tell()\n  call void @tell2()\n");
        assert!(matches!(of(&two, &[("k$one", 32)]), Err(Error::Contract { .. })));
    }

    #[test]
    fn a_contract_that_is_no_constant_is_an_error() {
        let unknown = MODULE.replace("ptr noundef @alloc_1", "ptr noundef %1");
        assert!(matches!(of(&unknown, &[("k$one", 32)]), Err(Error::Ir { .. })));
    }
}
