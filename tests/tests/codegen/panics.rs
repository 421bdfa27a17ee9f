//! What a check of `core` costs a kernel.

use std::collections::BTreeSet;

use serde_json::Value;
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
    // With four elements a thread the loop of whole tiles has four ways out, and `ptxas` keeps in
    // registers of each thread what it otherwise keeps in those of a warp.
    for (instance, most) in [("256_256", 10), ("256_1024", 18)] {
        let (checked, masked) = (format!("looks_up__{instance}"), format!("looks_up_masked__{instance}"));
        for (checked, masked) in figures(&checked, "registers").into_iter().zip(figures(&masked, "registers")) {
            assert!(checked <= masked + most, "{instance}: {checked} registers, and {masked} without the check");
        }
        for name in ["stack", "stack_frame"] {
            assert!(figures(&checked, name).iter().all(|bytes| *bytes == 0), "{instance}: {name}");
        }
    }
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
