//! The kernels that write addresses of local variables have these variables in local memory: else
//! what they write shows nothing.

use tilepipe_test_kernels::locals::{addresses_of_locals, addresses_of_locals_in_roles};
use tilepipe_tests::artifact::Module;

use crate::kernel::entries;

#[test]
fn variables_whose_addresses_are_compared_are_in_local_memory() {
    let report = Module::TestKernels.report().unwrap_or_else(|error| panic!("{error}"));
    for instance in [&addresses_of_locals::INSTANCES[0], &addresses_of_locals_in_roles::INSTANCES[0]] {
        let symbol = instance.symbol();
        let Some(entry) = entries(Module::TestKernels).get(symbol) else {
            panic!("no entry `{symbol}`: run `cargo xtask ptx`");
        };
        assert!(!entry.local_declarations.is_empty(), "{symbol} has no local memory");
        let addresses = entry.code.instructions().filter(|one| one.is("cvta.local")).count();
        assert!(addresses > 0, "{symbol} takes no address of local memory");
        for one in report.iter().filter(|one| one["kernel"] == symbol) {
            assert!(one["stack_frame"].as_u64().is_some_and(|bytes| bytes > 0), "{one}");
        }
    }
}

#[test]
fn the_function_whose_variable_is_compared_is_called_and_has_local_memory() {
    let text = Module::TestKernels.ptx().unwrap_or_else(|error| panic!("{error}"));
    let functions = text.split("\n.func ").skip(1);
    let found: Vec<&str> = functions
        .filter(|function| function.split('{').next().is_some_and(|head| head.contains("address_in_a_function")))
        .map(|function| function.split("\n}").next().unwrap_or_default())
        .collect();
    assert_eq!(found.len(), 1, "functions of this name");
    for wanted in [".local .align", "cvta.local"] {
        assert!(found[0].contains(wanted), "no `{wanted}` in {}", found[0]);
    }
    let entry = &entries(Module::TestKernels)[addresses_of_locals::INSTANCES[0].symbol()];
    let calls =
        entry.code.instructions().filter(|one| one.is("call") && one.operands.contains("address_in_a_function"));
    assert_eq!(calls.count(), 1);
}
