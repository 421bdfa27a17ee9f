//! Matrix products whose sums lie in registers.

use std::collections::BTreeSet;

use tilepipe_tests::ptx::{
    bytes_of_copy, is_block_barrier, is_bounded_copy, is_commit, is_copy, is_shared_load, is_wait,
};

use crate::kernel::Kernel;

/// Rows and columns of a thread's sums.
const SUMS: [usize; 2] = [16, 8];

#[test]
fn a_tile_of_the_output_has_one_loop_of_products_which_loads_16_bytes_at_a_time() {
    for kernel in Kernel::named("sgemm") {
        let name = kernel.name();
        let number = |generic: &str| kernel.number(generic).unwrap_or_else(|| panic!("{name}: no {generic}"));
        let (steps, stages, [rows, columns]) = (number("K"), number("STAGES"), SUMS);
        // The loop over the tiles of the output: the first copies, the loop of products, and the
        // stores.
        let loops = kernel.entry.code.loops_with(&[|one| one.is("fma"), is_shared_load]);
        let [tile] = &loops[..] else { panic!("{name}: {} loops of multiply-adds", loops.len()) };
        // Those of the last step come behind the loop.
        assert_eq!(tile.count(|one| one.is("fma")), (steps + 1) * rows * columns, "{name}: multiply-adds");
        assert_eq!(tile.count(is_shared_load), steps * (rows + columns) / 4, "{name}: loads");
        assert!(
            tile.instructions().filter(|one| is_shared_load(one)).all(|one| one.has("v4")),
            "{name}: a load of less than 16 bytes"
        );
        // A round's barrier, and the one behind the last round.
        assert_eq!(tile.count(is_block_barrier), 2, "{name}: barriers");
        assert_eq!((tile.count(is_wait), tile.count(is_commit)), (1, stages), "{name}: waits and commits");
        // An element of the left factor is a copy, 16 bytes of the right one are; both without
        // bounds where the tile is whole. All stages but one are filled before the first round.
        let copies = |bytes, bounded| {
            let of_width = |one: &&_| is_copy(one) && bytes_of_copy(one) == Some(bytes);
            tile.instructions().filter(of_width).filter(|one| is_bounded_copy(one) == bounded).count()
        };
        let (left, right) = (number("ROWS") * steps, number("COLUMNS") * steps / 4);
        for (what, got, units) in [
            ("left", copies(4, false), left),
            ("right", copies(16, false), right),
            ("bounded right", copies(16, true), right),
        ] {
            assert_eq!(got, stages * units / kernel.threads(), "{name}: copies of the {what} factor");
        }
        assert_eq!(copies(4, true), stages, "{name}: loops of copies of left tiles that are cut off");
    }
}

/// So no thread waits for shared memory behind a round's barrier.
#[test]
fn a_round_begins_with_numbers_that_were_loaded_in_the_round_before() {
    for kernel in Kernel::named("sgemm") {
        let (name, [rows, columns]) = (kernel.name(), SUMS);
        let steps = kernel.number("K").unwrap_or_else(|| panic!("{name}: no K"));
        let mut rounds: Vec<_> = kernel.steady_states().iter().flat_map(|tile| tile.inner()).collect();
        rounds.retain(|one| one.count(|one| one.is("fma")) == steps * rows * columns);
        let [round] = &rounds[..] else { panic!("{name}: {} loops of multiply-adds", rounds.len()) };
        let mut loaded = BTreeSet::new();
        let mut early = 0;
        for one in round.instructions() {
            let mut operands = one.operands.split(|c: char| !c.is_alphanumeric() && c != '%');
            if is_shared_load(one) {
                loaded.extend(operands.filter(|name| name.starts_with("%r")));
            } else if one.is("fma") && !operands.any(|name| loaded.contains(name)) {
                early += 1;
            }
        }
        assert_eq!(early, rows * columns, "{name}: multiply-adds of numbers that were there");
    }
}

#[test]
fn sums_are_stored_16_bytes_at_a_time_where_the_tile_is_whole() {
    for kernel in Kernel::named("sgemm") {
        let [rows, columns] = SUMS;
        let stores = kernel.entry.code.instructions().filter(|one| one.is("st.global") && one.has("v4"));
        assert_eq!(stores.count(), rows * columns / 4, "{}: stores of 16 bytes", kernel.name());
    }
}
