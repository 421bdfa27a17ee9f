//! The width of copies, and their bounds.

use tilepipe_tests::ptx::{bytes_of_copy, is_bounded_copy, is_copy, is_global_store};

use crate::kernel::{Kernel, Scope};

/// The bytes of which every copy's place is a multiple: a tile, or a thread's or warp's part of it,
/// or a row with what is beside it.
fn granule(kernel: &Kernel) -> usize {
    let element = kernel.element_bytes();
    let tile = kernel.number("LEN").unwrap_or(kernel.threads()) * element;
    match (kernel.instance.kernel(), kernel.scope()) {
        ("moving_average" | "moving_average_wide", _) => tilepipe_kernels::RADIUS * element,
        ("convolution", _) => kernel.number("RADIUS").map_or(16, |radius| radius * element),
        ("transpose" | "transpose_wide", _) => match kernel.number("PAD") {
            Some(0) | None => 16,
            Some(pad) => pad * element,
        },
        ("stencil_2d" | "stencil_2d_wide", _) => kernel.number("HALO").map_or(16, |halo| halo * element),
        ("sum_by_warps" | "sum_by_threads", _) | (_, Scope::Block) => tile,
        (_, Scope::Warp) => tile / (kernel.threads() / 32),
        (_, Scope::Thread) => tile / kernel.threads(),
    }
}

/// The widest copy, of 16, 8 or 4 bytes, that divides them.
fn width(kernel: &Kernel) -> usize {
    let granule = granule(kernel);
    [16, 8, 4].into_iter().find(|width| granule.is_multiple_of(*width)).unwrap_or_else(|| panic!("{}", kernel.name()))
}

fn asynchronous() -> Vec<Kernel> {
    let mut kernels = Kernel::unified();
    kernels.retain(Kernel::is_asynchronous);
    kernels
}

#[test]
fn every_copy_is_as_wide_as_the_tile_and_the_scope_allow() {
    for kernel in asynchronous() {
        let (name, width) = (kernel.name(), width(&kernel));
        let opcode = if width == 16 { "cp.async.cg.shared.global" } else { "cp.async.ca.shared.global" };
        let copies: Vec<_> = kernel.entry.code.instructions().filter(|one| is_copy(one)).collect();
        assert!(!copies.is_empty(), "{name}: nothing is copied");
        for copy in copies {
            assert_eq!((copy.opcode.as_str(), bytes_of_copy(copy)), (opcode, Some(width)), "{name}: {}", copy.operands);
        }
    }
}

#[test]
fn tiles_of_block_scope_are_copied_sixteen_bytes_at_a_time_whatever_their_elements() {
    let mut sizes: Vec<usize> = Vec::new();
    for kernel in Kernel::named("with_staging_unified").into_iter().filter(Kernel::is_asynchronous) {
        assert_eq!(width(&kernel), 16, "{}", kernel.name());
        sizes.push(kernel.element_bytes());
    }
    sizes.sort_unstable();
    sizes.dedup();
    assert_eq!(sizes, [1, 2, 4, 8, 12, 16]);
}

#[test]
fn each_width_is_built_where_padding_halos_or_thread_scope_ask_for_it() {
    for (kernel, widths) in
        [("transpose", [16, 8, 4]), ("stencil_2d", [16, 8, 4]), ("with_staging_scope_thread", [16, 8, 4])]
    {
        let built: Vec<usize> = Kernel::named(kernel).iter().map(width).collect();
        assert!(widths.iter().all(|width| built.contains(width)), "{kernel}: {built:?}");
    }
}

#[test]
fn a_round_copies_each_input_at_most_once() {
    for kernel in asynchronous() {
        let inputs = match kernel.instance.kernel() {
            // Rows are dealt out unit by unit, so that a thread may have several; a halo adds units
            // to a tile.
            "transpose" | "stencil_2d" | "moving_average" => continue,
            "transpose_wide" | "stencil_2d_wide" | "moving_average_wide" | "convolution" => continue,
            // A tile of 512 units for 256 threads.
            "multiply_adds" => 2,
            // As many units as elements.
            "multiply_adds_wide" => kernel.number("LEN").map_or(0, |len| len / kernel.threads()),
            // Tiles of up to 1024 units for 128 threads.
            "with_staging_unified_wide" => (granule(&kernel) / 16).div_ceil(kernel.threads()),
            "example_kernel" | "example_kernel_wide" | "dot" => 2,
            _ => 1,
        };
        for steady in kernel.steady_states() {
            let executed = steady.executions(is_copy);
            assert_eq!(executed.last(), Some(&inputs), "{}: copies of a round: {executed:?}", kernel.name());
        }
    }
}

#[test]
fn example_kernel_copies_both_inputs_for_one_commit() {
    for kernel in Kernel::named("example_kernel") {
        for steady in kernel.steady_states() {
            assert_eq!(steady.executions(is_copy), [0, 2].into(), "{}: copies of a round", kernel.name());
        }
    }
}

/// The kernels that take a loop without bounds where all tiles are whole, because their driver
/// knows the tiles or because they hoist the bounds: with whether the loop's stores are unbounded
/// too, because the output's tiles are known as well.
const WITH_A_LOOP_FOR_WHOLE_TILES: [(&str, bool); 28] = [
    ("with_single_stage", true),
    ("with_staging_unified", true),
    ("with_staging_scope_thread", true),
    ("with_staging", true),
    ("with_memcpy_async", true),
    ("with_memcpy_async_prior", true),
    ("scale_own", true),
    ("example_kernel", true),
    ("with_staging_unified_wide", true),
    ("with_staging_scope_thread_wide", true),
    ("with_staging_wide", true),
    ("with_memcpy_async_wide", true),
    ("with_memcpy_async_prior_wide", true),
    ("scale_own_wide", true),
    ("moving_average_wide", true),
    ("transpose_wide", true),
    ("convolution", true),
    ("example_kernel_wide", true),
    ("multiply_adds", true),
    // It stores in a loop of its own.
    ("multiply_adds_wide", false),
    ("sum", false),
    ("dot", false),
    ("argmax", false),
    ("largest_key", false),
    ("histogram", false),
    ("histogram_u32", false),
    ("part_sums", false),
    // Within bounds a thread stores at once or element by element.
    ("exclusive_scan", false),
];

#[test]
fn blocks_of_whole_tiles_have_a_loop_of_their_own_without_bounds() {
    for (name, stores) in WITH_A_LOOP_FOR_WHOLE_TILES {
        for kernel in Kernel::named(name).into_iter().filter(Kernel::is_asynchronous) {
            let (name, steady) = (kernel.name(), kernel.steady_states());
            let (bounded, whole): (Vec<_>, Vec<_>) =
                steady.iter().partition(|steady| steady.count(is_bounded_copy) > 0);
            assert_eq!((bounded.len(), whole.len()), (1, 1), "{name}: loops with and without bounds");
            if stores {
                // An element whose alignment is less than its size is stored in several accesses.
                let (always, within) = (whole[0].executions(is_global_store), bounded[0].executions(is_global_store));
                // Within bounds a row of a wide thread is stored at once or element by element.
                let wide = kernel.number("LEN").filter(|_| name.contains("_wide") || name.starts_with("convolution"));
                let lanes = 16 / kernel.element_bytes();
                let one_by_one = wide.map(|len| {
                    let own = len / kernel.threads();
                    let row = own.min(lanes);
                    own / row * (row - 1)
                });
                assert!(always.len() == 1 && !always.contains(&0), "{name}: all threads store in a round: {always:?}");
                // A square of 4 by 4 that is cut off is stored element by element.
                let one_by_one = if name.starts_with("transpose_wide") { Some(16) } else { one_by_one };
                let all = always.last();
                let most = one_by_one.as_ref().or(all);
                // More than four rows are a loop within the round.
                if wide.is_none_or(|len| len / kernel.threads() <= 4 * lanes) {
                    assert_eq!(
                        (within.first(), within.last()),
                        (Some(&0), most),
                        "{name}: threads within bounds store"
                    );
                }
            }
        }
    }
}

#[test]
fn every_other_kernel_bounds_its_copies_and_has_one_loop() {
    let mut kernels = asynchronous();
    kernels.retain(|kernel| !WITH_A_LOOP_FOR_WHOLE_TILES.iter().any(|(name, _)| *name == kernel.instance.kernel()));
    assert!(!kernels.is_empty());
    for kernel in kernels {
        let steady = kernel.steady_states();
        assert_eq!(steady.len(), 1, "{}: loops", kernel.name());
        let unbounded = steady[0].instructions().find(|one| is_copy(one) && !is_bounded_copy(one));
        // A thread's own piece of one element lies in the view as a whole or not at all.
        let of_one_element = kernel.instance.kernel() == "sum_by_threads" && kernel.number("LEN") == Some(1);
        assert!(of_one_element || unbounded.is_none(), "{}: {unbounded:?}", kernel.name());
    }
}
