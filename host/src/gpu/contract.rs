//! Contracts: what a program and a module say of the same kernel.
//!
//! A contract is text, fields `name=value` with `;` between them. The program's follows from the
//! kernel's own function; the module's was written by the builder beside the entry point that runs
//! it. One field is the builder's alone, since it follows from the function's body: the bytes of
//! scratch memory that the kernel's collectives need behind its own shared memory.

use tilepipe::launch::Instance;

/// The field that only a module's contract has, second of all.
const SCRATCH: &str = ";scratch=";

/// Takes the bytes of scratch memory out of a module's contract; `None` if it has no such field.
pub(crate) fn take_scratch(theirs: &mut String) -> Option<usize> {
    let start = theirs.find(SCRATCH)?;
    let number = start + SCRATCH.len();
    let end = theirs[number..].find(';').map_or(theirs.len(), |length| number + length);
    let bytes = theirs[number..end].parse().ok()?;
    theirs.replace_range(start..end, "");
    Some(bytes)
}

/// Returns the first difference between the contract of an instance and that in a module, in words.
pub(super) fn first_difference(instance: &Instance, ours: &str, theirs: &str) -> Option<String> {
    let (mut mine, mut others) = (ours.split(';'), theirs.split(';'));
    loop {
        match (mine.next(), others.next()) {
            (None, None) => return None,
            (one, other) if one == other => {}
            (one, other) => return Some(describe(instance, one, other)),
        }
    }
}

/// Says how a field of the program's contract, if there is one more, differs from that of the
/// module's.
fn describe(instance: &Instance, ours: Option<&str>, theirs: Option<&str>) -> String {
    let name = |field: &str| field.split_once('=').map_or(field, |(name, _)| name).to_owned();
    let value = |field: Option<&str>| match field.and_then(|field| field.split_once('=')) {
        Some((_, value)) => format!("`{value}`"),
        None => "none".to_owned(),
    };
    let field = name(ours.or(theirs).unwrap_or_default());
    let what = match (field.as_str(), field.parse::<usize>()) {
        ("crate", _) => "the crate and its version".to_owned(),
        ("tilepipe", _) => "the version of tilepipe".to_owned(),
        ("threads", _) => "the threads of a block".to_owned(),
        ("shared", _) => "the shared memory (bytes/alignment)".to_owned(),
        (_, Ok(number)) => {
            let parameter = instance.parameters().nth(number.wrapping_sub(1));
            let parameter = parameter.map_or_else(|| number.to_string(), |(name, _)| format!("{number}, `{name}`"));
            format!(
                "parameter {parameter} (use, bytes/alignment of an element, rows x columns of a tile, alignment of base/rows, bytes/alignment of what is passed)"
            )
        }
        _ => format!("`{field}`"),
    };
    format!("of {what} the program says {} and the module says {}", value(ours), value(theirs))
}

#[cfg(test)]
mod tests {
    use tilepipe::launch::Contract;
    use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, entry};

    use super::*;

    const VERSION: &str = env!("CARGO_PKG_VERSION");

    fn copy(_: Block<32>, _: Tiles<u32, 32>, _: TilesMut<u32, 32>) {}
    fn fill(_: Block<32>, _: TilesMut<u128, 32>) {}
    fn staged(_: Block<64>, _: Shared<Stages<[u8; 64], 3>>) {}

    fn ours() -> (Instance, Contract) {
        let (package, parameters) = (("tilepipe-host", VERSION), &["input", "out"]);
        // SAFETY: never launched.
        let instance = unsafe { entry::instance(copy, package, "copy", "tilepipe_host$copy", &[], parameters) };
        (instance, instance.contract().unwrap())
    }

    /// The contract of what has the same name on another target.
    fn elsewhere() -> Contract {
        // SAFETY: never launched.
        let instance =
            unsafe { entry::instance(fill, ("tilepipe-host", VERSION), "copy", "tilepipe_host$copy", &[], &["out"]) };
        instance.contract().unwrap()
    }

    fn difference(theirs: &str) -> Option<String> {
        let (instance, contract) = ours();
        first_difference(&instance, &contract.whole(), theirs)
    }

    #[test]
    fn scratch_memory_is_a_field_of_the_modules_contract_alone() {
        let ours = ours().1.whole();
        for (field, bytes) in [(";scratch=656", Some(656)), (";scratch=0", Some(0)), (";scratch=x", None), ("", None)] {
            let mut theirs = ours.replacen(";tilepipe=", &format!("{field};tilepipe="), 1);
            assert_eq!(take_scratch(&mut theirs), bytes, "{field}");
            assert_eq!(theirs == ours, bytes.is_some() || field.is_empty(), "{theirs}");
        }
        assert_eq!(take_scratch(&mut "crate=k;scratch=16".to_owned()), Some(16));
    }

    #[test]
    fn the_same_kernel_has_no_difference() {
        assert_eq!(difference(&ours().1.whole()), None);
    }

    #[test]
    fn another_signature_for_another_target_is_named_by_its_first_parameter() {
        let found = difference(&elsewhere().whole()).unwrap();
        assert!(found.starts_with("of parameter 1, `input` (use"), "{found}");
        assert!(
            found.contains("says `in 4/4 1x32 16/0 16/8` and the module says `out 16/16 1x32 16/0 16/8`"),
            "{found}"
        );
    }

    #[test]
    fn each_field_is_named() {
        let contract = ours().1;
        for (from, to, expected) in [
            ("crate=tilepipe-host ", "crate=other ", "of the crate and its version"),
            ("tilepipe=", "tilepipe=1", "of the version of tilepipe"),
            ("threads=32", "threads=64", "of the threads of a block the program says `32` and the module says `64`"),
            ("shared=0/1", "shared=16/16", "of the shared memory"),
            (";2=out 4/4", ";2=out 2/2", "of parameter 2, `out` "),
            (";2=out 4/4 1x32 4/0 16/8", "", "the module says none"),
        ] {
            assert!(contract.whole().contains(from), "{from} in {}", contract.whole());
            let found = difference(&contract.whole().replacen(from, to, 1)).unwrap();
            assert!(found.contains(expected), "{found}");
        }
        let more = difference(&format!("{};3=value 4/4 1x1 1/0 4/4", contract.whole())).unwrap();
        assert!(more.contains("of parameter 3 (") && more.contains("says none and the module says `value"), "{more}");
        assert!(contract.whole().starts_with(&format!("crate=tilepipe-host {VERSION};tilepipe=")));
    }

    #[test]
    fn shared_memory_and_threads_follow_from_the_function() {
        // SAFETY: never launched.
        let instance = unsafe { entry::instance(staged, ("", ""), "staged", "$staged", &[], &[]) };
        let text = instance.contract().unwrap().whole();
        assert!(text.contains("threads=64;shared=192/16") && !text.contains(";1="), "{text}");
    }
}
