//! Reads anywhere: one load through the read-only path, as wide as the element, and nothing else
//! of memory.

use tilepipe_test_kernels::reads::{
    aligned_runs, columns_read, corners_added, gathered, ranked, row_runs, runs, valid_parts,
};
use tilepipe_tests::artifact::Module;
use tilepipe_tests::flow::Instruction;

use crate::kernel::Kernel;

fn is_load(one: &Instruction) -> bool {
    one.is("ld.global")
}

#[test]
fn an_element_is_one_load_through_the_read_only_path() {
    let all = gathered::INSTANCES.iter().chain(&ranked::INSTANCES).chain(&columns_read::INSTANCES);
    let all = all.chain(&runs::INSTANCES).chain(&aligned_runs::INSTANCES).chain(&row_runs::INSTANCES);
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

/// The loads of a kernel by their width, and how many there are of each, in the order in which they
/// come first.
fn loads(kernel: &Kernel) -> Vec<(String, usize)> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for load in kernel.entry.code.instructions().filter(|one| is_load(one)) {
        match counts.iter_mut().find(|(opcode, _)| *opcode == load.opcode) {
            Some((_, count)) => *count += 1,
            None => counts.push((load.opcode.clone(), 1)),
        }
    }
    counts.sort();
    counts
}

#[test]
fn a_run_is_one_load_where_its_start_is_known_to_be_aligned() {
    // Of each instance: the width of the load of a whole run of four, and how many there are. For a
    // partial run there is a load for each element but the last.
    for (element, whole, number, single) in
        [("u8", "ld.global.nc.b32", 1, "ld.global.nc.b8"), ("f32", "ld.global.nc.v4.b32", 1, "ld.global.nc.b32")]
    {
        let instance = aligned_runs::INSTANCES
            .iter()
            .find(|one| one.generic("T") == Some(element) && one.generic("RUN") == Some("4"))
            .unwrap();
        let kernel = Kernel::new(Module::TestKernels, instance);
        let mut wanted = [(whole.to_owned(), number), (single.to_owned(), 3)];
        wanted.sort();
        assert_eq!(loads(&kernel), wanted, "{}", kernel.name());
    }
}

#[test]
fn a_run_of_a_view_of_elements_is_one_load_or_one_for_each_element() {
    for (element, whole, single) in
        [("u8", "ld.global.nc.b32", "ld.global.nc.b8"), ("f32", "ld.global.nc.v4.b32", "ld.global.nc.b32")]
    {
        let instance = runs::INSTANCES
            .iter()
            .find(|one| one.generic("T") == Some(element) && one.generic("RUN") == Some("4"))
            .unwrap();
        let kernel = Kernel::new(Module::TestKernels, instance);
        let mut wanted = [(whole.to_owned(), 1), (single.to_owned(), 4 + 3)];
        wanted.sort();
        assert_eq!(loads(&kernel), wanted, "{}", kernel.name());
    }
}

#[test]
fn what_is_valid_of_a_tile_takes_no_load() {
    let kernel = Kernel::new(Module::TestKernels, &valid_parts::INSTANCES[0]);
    assert_eq!(loads(&kernel), [], "{}", kernel.name());
}
