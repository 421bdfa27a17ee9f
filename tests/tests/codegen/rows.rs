//! Kernels that take whole rows, without stages: a row in registers, read once through the
//! read-only path.

use tilepipe_tests::flow::Instruction;
use tilepipe_tests::ptx::is_block_barrier;

use crate::kernel::Kernel;

fn count(kernel: &Kernel, wanted: impl Fn(&Instruction) -> bool) -> usize {
    kernel.entry.code.instructions().filter(|one| wanted(one)).count()
}

#[test]
fn rows_stay_in_registers_and_are_read_through_the_read_only_path() {
    for kernel in ["softmax", "rms_norm", "reverse"].into_iter().flat_map(Kernel::named) {
        let name = kernel.name();
        assert_eq!(kernel.entry.local_declarations, [""; 0], "{name}: local memory");
        assert_eq!(count(&kernel, |one| one.is("ld.global") && !one.has("nc")), 0, "{name}: a load by another path");
        // A row that fits is read in one piece after the other, and written so.
        let pieces = kernel.number("PIECES").unwrap();
        for (opcode, what) in [("ld.global.nc.v4.b32", "loads"), ("st.global.v4.b32", "stores")] {
            let found = count(&kernel, |one| one.opcode == opcode);
            assert!(found >= pieces, "{name}: {found} wide {what} of {pieces}");
        }
    }
}

/// The loads of one way through a kernel on which none stands behind a branch: the longest such row
/// of them.
fn loads_at_once(kernel: &Kernel) -> Vec<&str> {
    let mut longest = Vec::new();
    let mut row = Vec::new();
    for one in kernel.entry.code.instructions() {
        if one.is("ld.global") {
            row.push(one.opcode.as_str());
        } else if one.is("bra") {
            row.clear();
        }
        if row.len() > longest.len() {
            longest.clone_from(&row);
        }
    }
    longest
}

#[test]
fn kernels_without_stages_check_a_threads_reads_once_and_have_them_under_way_together() {
    // Runs of four, and single elements beside them; and stores, of which kernels with hoisted
    // bounds have two sets.
    for (kernel, runs, single, stores) in
        [("stencil_2d_reads", 6, 2 * 4, 2 * 4), ("moving_average_reads", 6, 0, 2 * 2), ("transpose_reads", 4, 0, 4)]
    {
        let kernels = Kernel::named(kernel);
        assert!(!kernels.is_empty());
        for kernel in kernels {
            let name = kernel.name();
            assert_eq!(kernel.entry.local_declarations, [""; 0], "{name}: local memory");
            assert_eq!(
                count(&kernel, |one| one.is("ld.global") && !one.has("nc")),
                0,
                "{name}: a load by another path"
            );
            let mut expected = vec!["ld.global.nc.v4.b32"; runs];
            expected.extend(vec!["ld.global.nc.b32"; single]);
            assert_eq!(loads_at_once(&kernel), expected, "{name}");
            assert_eq!(count(&kernel, |one| one.opcode == "st.global.v4.b32"), stores, "{name}: stores");
        }
    }
}

#[test]
fn a_copy_without_stages_is_one_load_and_one_store_of_16_bytes() {
    for kernel in ["copy_reads", "copy_rows_reads"] {
        let kernels = Kernel::named(kernel);
        assert!(!kernels.is_empty());
        for kernel in kernels {
            let name = kernel.name();
            assert_eq!(kernel.entry.local_declarations, [""; 0], "{name}: local memory");
            assert_eq!(count(&kernel, |one| one.opcode == "ld.global.nc.v4.b32"), 1, "{name}: loads");
            // Another one where a tile lies over an edge and the thread's run does not.
            let stores = count(&kernel, |one| one.opcode == "st.global.v4.b32");
            assert!((1..=2).contains(&stores), "{name}: {stores} stores");
        }
    }
}

#[test]
fn a_blur_without_stages_has_all_its_rows_under_way_together_and_stores_them_without_checks() {
    let kernels = Kernel::named("blur_reads");
    assert!(!kernels.is_empty());
    for kernel in kernels {
        let (name, rows) = (kernel.name(), kernel.number("ROWS").unwrap());
        assert_eq!(kernel.entry.local_declarations, [""; 0], "{name}: local memory");
        // Those that a row depends on are among them; of each its piece, and what is beside it.
        let loads = loads_at_once(&kernel);
        let whole = loads.iter().filter(|load| **load == "ld.global.nc.v4.b32").count();
        assert_eq!((whole, loads.len()), (rows + 4, 3 * (rows + 4)), "{name}: {loads:?}");
        // And a row at a time where something lies beyond a border.
        assert_eq!(count(&kernel, |one| one.opcode == "st.global.v4.b32"), rows + 1, "{name}: stores");
    }
}

#[test]
fn a_row_costs_two_barriers_for_each_value_of_the_whole_block() {
    // For rows that fit, and again for wider ones.
    let without_any =
        ["reverse", "stencil_2d_reads", "moving_average_reads", "copy_reads", "copy_rows_reads", "blur_reads"]
            .map(|kernel| (kernel, 0));
    for (kernel, values) in [("softmax", 2), ("rms_norm", 1)].into_iter().chain(without_any) {
        for kernel in Kernel::named(kernel) {
            assert_eq!(count(&kernel, is_block_barrier), 2 * 2 * values, "{}", kernel.name());
        }
    }
}
