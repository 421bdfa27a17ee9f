//! What a check of `core` costs a kernel.

use std::collections::BTreeSet;
use std::mem::offset_of;

use serde_json::Value;
use tilepipe::panic_record::{self, PanicRecord};
use tilepipe_tests::artifact::Module;

/// The figure of a kernel for each architecture.
fn figures(kernel: &str, name: &str) -> Vec<u64> {
    let report = Module::TestKernels.report().unwrap_or_else(|error| panic!("{error}"));
    let of_kernel = |one: &&Value| one["kernel"].as_str().is_some_and(|symbol| symbol.ends_with(&format!("${kernel}")));
    let figures: Vec<u64> = report.iter().filter(of_kernel).map(|one| one[name].as_u64().unwrap()).collect();
    assert!(figures.len() >= 3, "{kernel} is assembled for {} architectures", figures.len());
    figures
}

#[test]
fn an_index_that_core_checks_takes_few_registers_and_no_stack() {
    for instance in ["256_256", "256_1024"] {
        let (checked, masked) = (format!("looks_up__{instance}"), format!("looks_up_masked__{instance}"));
        for (checked, masked) in figures(&checked, "registers").into_iter().zip(figures(&masked, "registers")) {
            assert!(checked <= masked + 4, "{instance}: {checked} registers, and {masked} without the check");
        }
        for name in ["stack", "stack_frame"] {
            assert!(figures(&checked, name).iter().all(|bytes| *bytes == 0), "{instance}: {name}");
        }
    }
}

/// What the builder writes in line is what the host reads.
#[test]
fn checks_in_line_fill_the_record_and_say_what_they_are() {
    let text = Module::TestKernels.ptx().unwrap();
    let written = |line: &str| Some(line.split_once("[tilepipe_record")?.1.split_once(']')?.0.to_owned());
    let places: BTreeSet<String> = text.lines().filter_map(written).collect();
    let at = |offset: usize| format!("+{offset}");
    let wanted = [
        String::new(),
        at(offset_of!(PanicRecord, block)),
        at(offset_of!(PanicRecord, thread)),
        at(offset_of!(PanicRecord, value_count)),
        at(offset_of!(PanicRecord, values)),
        at(offset_of!(PanicRecord, site)),
    ];
    assert_eq!(places, wanted.into_iter().collect());
    assert_eq!([panic_record::EMPTY, panic_record::CLAIMED, panic_record::COMPLETE], [0, 1, 2]);
    assert!(text.contains("\tatom.sys.cas.b32 tilepipe_word, [tilepipe_record], 0, 1;\n"));
    let numbers = |line: &str| Some(line.split_once("[tilepipe_record+832], 0x")?.1.strip_suffix(';')?.to_owned());
    let checks: BTreeSet<String> = text.lines().filter_map(numbers).collect();
    let said = |line: &str| Some(line.strip_prefix(panic_record::SITE)?.split('\t').nth(1)?.to_owned());
    assert!(checks.len() >= 3, "{checks:?}");
    assert_eq!(checks, text.lines().filter_map(said).collect::<BTreeSet<String>>());
}

#[test]
fn nothing_of_core_that_panics_is_called_or_kept() {
    let mut kept = BTreeSet::new();
    for module in [Module::Kernels, Module::TestKernels, Module::CodegenKernels] {
        let text = module.ptx().unwrap_or_else(|error| panic!("{error}"));
        let names =
            text.split([' ', '(', ',', ';', '\n']).filter(|word| word.starts_with("_R") && word.contains("4core"));
        kept.extend(names.map(str::to_owned));
    }
    // `panics_in_core` panics in all ways that are listed in the builder (`ir::panics`).
    let panics = Module::TestKernels.ptx().unwrap();
    assert!(panics.contains("$panics_in_core("));
    assert_eq!(kept, BTreeSet::new());
}
