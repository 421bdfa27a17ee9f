//! Reads anywhere: one load through the read-only path, as wide as the element, and nothing else
//! of memory.

use tilepipe_test_kernels::reads::{columns_read, corners_added, gathered, ranked};
use tilepipe_tests::artifact::Module;
use tilepipe_tests::flow::Instruction;

use crate::kernel::Kernel;

fn is_load(one: &Instruction) -> bool {
    one.is("ld.global")
}

#[test]
fn an_element_is_one_load_through_the_read_only_path() {
    let all = gathered::INSTANCES.iter().chain(&ranked::INSTANCES).chain(&columns_read::INSTANCES);
    for instance in all.chain(&corners_added::INSTANCES) {
        let kernel = Kernel::new(Module::TestKernels, instance);
        let (code, name) = (&kernel.entry.code, kernel.name());
        assert!(code.instructions().any(is_load), "{name}: no load");
        let coherent = code.instructions().find(|one| is_load(one) && !one.has("nc"));
        assert_eq!(coherent, None, "{name}: a load by another path");
        let other = code.instructions().find(|one| {
            ["ld.shared", "st.shared", "ld.local", "st.local", "ld.volatile"].iter().any(|opcode| one.is(opcode))
        });
        assert_eq!(other, None, "{name}: other memory");
        assert_eq!(kernel.entry.local_declarations, [""; 0], "{name}: local memory");
    }
}

#[test]
fn a_gather_loads_an_index_and_an_element_of_its_width() {
    let wide = [("u8", "b8"), ("i16", "b16"), ("f32", "b32"), ("u64", "b64"), ("u128", "b32")];
    for (element, width) in wide {
        let instance = gathered::INSTANCES.iter().find(|one| one.generic("T") == Some(element)).unwrap();
        let kernel = Kernel::new(Module::TestKernels, instance);
        let loads: Vec<&str> =
            kernel.entry.code.instructions().filter(|one| is_load(one)).map(|one| one.opcode.as_str()).collect();
        let vector = if element == "u128" { ".v4" } else { "" };
        let wanted = ["ld.global.nc.b32".to_owned(), format!("ld.global.nc{vector}.{width}")];
        // The driver's loop is not unrolled: once each.
        assert_eq!(loads, wanted, "{}", kernel.name());
    }
}
