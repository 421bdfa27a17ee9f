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
fn a_row_costs_two_barriers_for_each_value_of_the_whole_block() {
    // For rows that fit, and again for wider ones.
    for (kernel, values) in [("softmax", 2), ("rms_norm", 1), ("reverse", 0)] {
        for kernel in Kernel::named(kernel) {
            assert_eq!(count(&kernel, is_block_barrier), 2 * 2 * values, "{}", kernel.name());
        }
    }
}
