//! Contracts: what the module says of an entry point is what the host's kernel says.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use tilepipe::launch::{CONTRACT_PREFIX, Instance};
use tilepipe_test_kernels::faulty;
use tilepipe_tests::artifact::Module;

use crate::kernel::Kernel;

/// The constants of a module that hold contracts: entry symbol to the text that the host has too,
/// and the field that the builder adds, the bytes of scratch memory.
type Contracts = BTreeMap<String, (String, String)>;

static KERNELS: LazyLock<Contracts> = LazyLock::new(|| contracts(Module::Kernels));
static TEST_KERNELS: LazyLock<Contracts> = LazyLock::new(|| contracts(Module::TestKernels));
static CODEGEN_KERNELS: LazyLock<Contracts> = LazyLock::new(|| contracts(Module::CodegenKernels));

/// Reads `.visible .global .align 1 .b8 NAME[LENGTH] = {99, 114, ..};`.
fn contracts(module: Module) -> Contracts {
    let ptx = module.ptx().unwrap_or_else(|error| panic!("{error}"));
    let lines = ptx.lines().filter(|line| line.contains(CONTRACT_PREFIX) && line.contains(".global"));
    let contract = |line: &str| {
        let (_, rest) = line.split_once(CONTRACT_PREFIX)?;
        let (symbol, rest) = rest.split_once('[')?;
        let (_, rest) = rest.split_once('{')?;
        let bytes: Option<Vec<u8>> = rest.split_once('}')?.0.split(',').map(|byte| byte.trim().parse().ok()).collect();
        let text = String::from_utf8(bytes?).ok()?;
        let (package, rest) = text.split_once(";scratch=")?;
        let (scratch, rest) = rest.split_once(';')?;
        Some((symbol.to_owned(), (format!("{package};{rest}"), scratch.to_owned())))
    };
    lines.map(|line| contract(line).unwrap_or_else(|| panic!("no contract: {line}"))).collect()
}

fn of_host(instance: &Instance) -> String {
    instance.contract().unwrap_or_else(|| panic!("{} has no contract", instance.name())).whole()
}

#[test]
fn every_entry_has_the_contract_of_the_hosts_kernel() {
    for (kernels, contracts) in [(Kernel::all(), &KERNELS), (Kernel::of_tests(), &CODEGEN_KERNELS)] {
        for kernel in kernels {
            let (found, scratch) = &contracts[kernel.instance.symbol()];
            assert_eq!(*found, of_host(kernel.instance), "{}", kernel.name());
            let asks = kernel.entry.code.instructions().any(|one| one.operands.contains("%dynamic_smem_size"));
            assert_eq!(scratch, if asks { "656" } else { "0" }, "{}", kernel.name());
        }
    }
}

#[test]
fn symbols_begin_with_their_crates_name() {
    for (kernels, krate) in [(Kernel::all(), "tilepipe_kernels$"), (Kernel::of_tests(), "tilepipe_codegen_kernels$")] {
        assert!(kernels.iter().all(|kernel| kernel.instance.symbol() == format!("{krate}{}", kernel.name())));
    }
}

#[test]
fn a_signature_that_differs_from_target_to_target_differs_in_the_contract() {
    for (instance, host, gpu) in [
        (&faulty::two_signatures::INSTANCES[0], "1=in 4/4 1x32 16/0 16/8", "1=out 16/16 1x32 16/0 16/8"),
        (&faulty::two_sizes::INSTANCES[0], "1=out 4/4 1x32 4/0 16/8", "1=out 16/4 1x32 4/0 16/8"),
    ] {
        assert!(of_host(instance).ends_with(host), "{}", of_host(instance));
        let (found, _) =
            TEST_KERNELS.get(instance.symbol()).unwrap_or_else(|| panic!("no contract of {}", instance.name()));
        assert!(found.ends_with(gpu), "{found}");
    }
}
