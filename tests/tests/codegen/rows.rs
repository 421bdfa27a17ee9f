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

#[test]
fn a_stencil_without_stages_reads_a_run_of_each_of_three_rows_and_two_elements_beside_it() {
    let kernels = Kernel::named("stencil_2d_reads");
    assert!(!kernels.is_empty());
    for kernel in kernels {
        let name = kernel.name();
        assert_eq!(kernel.entry.local_declarations, [""; 0], "{name}: local memory");
        assert_eq!(count(&kernel, |one| one.is("ld.global") && !one.has("nc")), 0, "{name}: a load by another path");
        for (opcode, wanted) in [("ld.global.nc.v4.b32", 3), ("st.global.v4.b32", 1)] {
            assert_eq!(count(&kernel, |one| one.opcode == opcode), wanted, "{name}: {opcode}");
        }
        // Runs that the matrix ends in are read one by one.
        assert_eq!(count(&kernel, |one| one.opcode == "ld.global.nc.b32"), 2 + 3 * 3, "{name}: single loads");
    }
}

#[test]
fn a_row_costs_two_barriers_for_each_value_of_the_whole_block() {
    // For rows that fit, and again for wider ones.
    for (kernel, values) in [("softmax", 2), ("rms_norm", 1), ("reverse", 0), ("stencil_2d_reads", 0)] {
        for kernel in Kernel::named(kernel) {
            assert_eq!(count(&kernel, is_block_barrier), 2 * 2 * values, "{}", kernel.name());
        }
    }
}
