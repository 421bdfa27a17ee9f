//! Threads with several elements in a row: what they read of a stage and what they write goes
//! through accesses of up to 16 bytes, though the kernels name one element at a time.

use tilepipe::launch::Instance;
use tilepipe_test_kernels::wide::{wide_between_roles, wide_by_hand, wide_own, wide_runs, wide_tiles};
use tilepipe_tests::artifact::Module;
use tilepipe_tests::flow::Instruction;
use tilepipe_tests::ptx::{is_bounded_copy, is_copy, is_global_store, is_shared_load};

use crate::kernel::Kernel;

/// The bytes of an access: `ld.shared.v4.b32` has 16.
fn bytes(access: &Instruction) -> usize {
    let lanes = [4, 2].into_iter().find(|lanes| access.has(&format!("v{lanes}"))).unwrap_or(1);
    let bits = access.opcode.rsplit(".b").next().and_then(|bits| bits.parse::<usize>().ok());
    lanes * bits.unwrap_or_else(|| panic!("an access of which size: {}", access.opcode)) / 8
}

/// A thread's bytes of a tile, and the widest power of two up to 16 that makes them up.
fn share(instance: &Instance, element: usize) -> (usize, usize) {
    let number = |name| instance.generic(name).and_then(|value| value.parse::<usize>().ok());
    let threads = number("CONSUMERS").unwrap_or(instance.threads() as usize);
    let elements = number("LEN").unwrap() / threads;
    let lanes = [16, 8, 4, 2, 1].into_iter().find(|lanes| lanes * element <= 16 && elements.is_multiple_of(*lanes));
    (elements * element, lanes.unwrap() * element)
}

#[test]
fn elements_in_a_row_are_read_and_written_in_accesses_of_up_to_16_bytes() {
    let mut widths = Vec::new();
    for instance in wide_tiles::INSTANCES.iter().filter(|one| one.generic("E") == Some("CpAsync")) {
        let kernel = Kernel::new(Module::TestKernels, instance);
        let (name, (share, width)) = (kernel.name(), share(instance, kernel.element_bytes()));
        let mut loops = kernel.steady_states();
        loops.retain(|steady| steady.count(|one| is_copy(one) && !is_bounded_copy(one)) > 0);
        assert_eq!(loops.len(), 1, "{name}: loops without bounds");
        let accesses = |wanted: fn(&Instruction) -> bool| {
            let found = loops[0].instructions().filter(|one| wanted(one)).map(bytes);
            found.collect::<Vec<_>>()
        };
        // An element whose alignment is less than its size is stored in several accesses.
        if width > kernel.element_bytes() {
            assert_eq!(accesses(is_global_store), vec![width; share / width], "{name}: stores of a round");
        }
        // Beside a thread's own elements there is the one after them.
        let wide = accesses(is_shared_load).into_iter().filter(|bytes| *bytes == width).count();
        assert!(wide >= share / width, "{name}: loads of {width} bytes: {:?}", accesses(is_shared_load));
        widths.push(width);
    }
    widths.sort_unstable();
    widths.dedup();
    assert_eq!(widths, [1, 8, 16]);
}

#[test]
fn runs_of_16_bytes_are_stored_in_one_access_each() {
    for instance in &wide_runs::INSTANCES {
        let kernel = Kernel::new(Module::TestKernels, instance);
        let (name, element) = (kernel.name(), kernel.element_bytes());
        let fits = |lanes: &usize| lanes * element <= 16 && kernel.number("RUN").unwrap().is_multiple_of(*lanes);
        let lanes = [16, 8, 4, 2, 1].into_iter().find(fits).unwrap();
        let width = lanes * element;
        let accesses = kernel.number("LEN").unwrap() * element / instance.threads() as usize / width;
        let stores: Vec<_> = kernel.entry.code.instructions().filter(|one| is_global_store(one)).map(bytes).collect();
        let wide = stores.iter().filter(|bytes| **bytes == width).count();
        // The compiler leaves many of them a loop.
        let least = if accesses <= 4 { accesses } else { 1 };
        assert!(wide >= least, "{name}: {accesses} stores of {width} bytes a round: {stores:?}");
    }
}

#[test]
fn so_are_they_by_hand_between_roles_and_at_thread_scope() {
    for instance in wide_by_hand::INSTANCES.iter().chain(&wide_between_roles::INSTANCES).chain(&wide_own::INSTANCES) {
        let kernel = Kernel::new(Module::TestKernels, instance);
        let wide = |wanted: fn(&Instruction) -> bool| {
            kernel.entry.code.instructions().filter(|one| wanted(one) && bytes(one) == 16).count()
        };
        assert!(wide(is_global_store) > 0, "{}: no store of 16 bytes", kernel.name());
        // The compiler joins loads of single bytes between roles up to 4 of them only.
        assert!(kernel.element_bytes() < 4 || wide(is_shared_load) > 0, "{}: no load of 16 bytes", kernel.name());
    }
}

#[test]
fn so_are_they_around_an_element_in_rows_and_in_columns() {
    for (name, loads) in [
        ("moving_average_wide", 5),
        ("moving_average_wide_bulk", 5),
        ("convolution", 5),
        ("convolution_bulk", 5),
        ("stencil_2d_wide", 1),
        ("stencil_2d_bulk", 1),
        ("transpose_wide", 4),
        ("transpose_bulk", 4),
    ] {
        for kernel in Kernel::named(name) {
            let wide = |wanted: fn(&Instruction) -> bool| {
                kernel.entry.code.instructions().filter(|one| wanted(one) && bytes(one) == 16).count()
            };
            assert!(wide(is_global_store) > 0, "{}: no store of 16 bytes", kernel.name());
            // With one neighbour on each side a row of a stage begins anywhere.
            let least = if kernel.number("HALO") == Some(1) { 0 } else { loads };
            assert!(wide(is_shared_load) >= least, "{}: loads of 16 bytes", kernel.name());
        }
    }
}
