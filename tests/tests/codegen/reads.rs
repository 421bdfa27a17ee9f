//! Reads anywhere: one load through the read-only path, as wide as the element, and nothing else
//! of memory.

use tilepipe_test_kernels::reads::{
    aligned_runs, columns_read, corners_added, gathered, ranked, row_runs, runs, valid_parts,
};
use tilepipe_tests::artifact::Module;
use tilepipe_tests::flow::Instruction;
use tilepipe_tests::ptx::is_block_barrier;

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

/// A thread's access to 16 bytes of indices, to one element, and to 16 bytes of the output.
const GATHER: [&str; 3] = ["ld.global.nc.v4.b32", "ld.global.nc.b32", "st.global.v4.b32"];

/// The accesses to global memory on the way from a block of a gather's code, which goes on where
/// 16 bytes of indices are loaded and nothing fails, until there are two such ways.
fn accesses(kernel: &Kernel, start: usize) -> Vec<&str> {
    let blocks: Vec<_> = kernel.entry.code.blocks().collect();
    // The blocks from which the kernel's end can be reached: others fail.
    let mut returns: Vec<bool> = blocks.iter().map(|(own, _)| own.last().is_some_and(|one| one.is("ret"))).collect();
    for _ in 0..blocks.len() {
        for (block, (_, next)) in blocks.iter().enumerate() {
            returns[block] |= next.iter().any(|next| returns[*next]);
        }
    }
    let is_wide = |block: &usize| blocks[*block].0.iter().any(|one| one.opcode == GATHER[0]);
    let (mut found, mut block) = (Vec::new(), start);
    for _ in 0..blocks.len() {
        let own = blocks[block].0.iter().filter(|one| one.is("ld.global") || one.is("st.global"));
        found.extend(own.map(|one| one.opcode.as_str()));
        let ways: Vec<usize> = blocks[block].1.iter().copied().filter(|next| returns[*next]).collect();
        block = match (ways[..].iter().copied().find(is_wide), &ways[..]) {
            (Some(wide), _) => wide,
            (None, [only]) => *only,
            _ => break,
        };
    }
    found
}

#[test]
fn a_whole_tile_of_a_gather_loads_all_indices_then_all_elements_and_then_stores() {
    for kernel in Kernel::named("gather") {
        let (code, name) = (&kernel.entry.code, kernel.name());
        assert_eq!(kernel.entry.local_declarations, [""; 0], "{name}: local memory");
        let other = code.instructions().find(|one| {
            (is_load(one) && !one.has("nc")) || one.has("local") || one.has("shared") || is_block_barrier(one)
        });
        assert_eq!(other, None, "{name}: another path, other memory or a barrier");
        let pieces = kernel.number("PIECES").unwrap();
        let expected = [vec![GATHER[0]; pieces], vec![GATHER[1]; 4 * pieces], vec![GATHER[2]; pieces]].concat();
        let ways = (0..code.blocks.len()).map(|start| accesses(&kernel, start));
        let longest = ways.filter(|way| way.first() == Some(&GATHER[0])).max_by_key(Vec::len);
        assert_eq!(longest.as_deref(), Some(&expected[..]), "{name}: accesses of a thread to a whole tile");
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
