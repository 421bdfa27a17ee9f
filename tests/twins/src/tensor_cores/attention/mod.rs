//! Attention by tensor cores, of `bf16` and of heads that are matrices: softmax(Q K^T) V.
//!
//! It does what `attention` does, in the form that was the fastest by hand. A warpgroup walks over
//! the tiles of keys that its own 64 queries see, and only gives back those that others of the
//! block's queries see. One arrival of it says that a stage was read: it is taken for granted that
//! a product is complete for all four warps when one has waited for it. Its results are written
//! over its own queries, which nobody reads any more, and stored from there. There are loops for
//! tiles with a mask and for those without, and nobody asks whether the other role has left.

mod compute;
mod copy;
mod group;
mod instance;
mod instructions;
mod places;

use core::arch::asm;

use tilepipe::entry::{RawRows, RawTensor};

use crate::device::{barrier, tilepipe_fence_mbarrier_init, tilepipe_fence_proxy_async, tilepipe_mbarrier_init};
use compute::compute;
use copy::copy;
use instance::{ALL, Band, Instance, ROW_BYTES, SLICE, WARPGROUP};
use instructions::{
    tilepipe_registers_dec_24, tilepipe_registers_dec_32, tilepipe_registers_inc_160, tilepipe_registers_inc_240,
    tilepipe_shared_origin, tilepipe_thread_rank, tilepipe_warp_value,
};
use places::{Maps, Places};

/// What the parameters take: three maps, the scale, the band, the shape of scores, which no
/// instance here has, the results' map, and where logarithms go.
const PARAMETERS: [u32; 8] = [
    size_of::<RawTensor>() as u32,
    size_of::<RawTensor>() as u32,
    size_of::<RawTensor>() as u32,
    4,
    size_of::<Band>() as u32,
    4 * (1 + 256),
    size_of::<RawTensor>() as u32,
    size_of::<RawRows>() as u32,
];

/// Threads of a block, and its parameters. How many registers there are follows from what the roles
/// ask for.
const fn bounds(warpgroups: u32) -> [u32; 11] {
    let [queries, keys, values, scale, band, shape, out, logarithms] = PARAMETERS;
    let threads = (1 + warpgroups) * WARPGROUP;
    [threads, u32::MAX, u32::MAX, queries, keys, values, scale, band, shape, out, logarithms]
}

/// An instance: order and mask; a head, queries and keys of a tile, and a thread's registers of
/// weights; the stages of queries and of keys in the safe kernel, and its roles; and the stages of
/// keys and of values here.
macro_rules! instance {
    (
        $name:ident,
        [$order:literal, $mask:literal, $from_end:literal],
        [$head:literal, $rows:literal, $keys:literal, $weights:literal],
        [$of_queries:literal, $of_keys:literal, $roles:literal],
        $stages:literal
    ) => {
        enum $name {}

        const _: () = {
            unsafe extern "C" {
                #[link_name = concat!("tilepipe_product_bf16_n", $keys, "_kk_new")]
                fn score(scores: *mut f32, queries: u64, keys: u64);
                #[link_name = concat!("tilepipe_product_bf16_n", $keys, "_kk")]
                fn score_more(scores: *mut f32, queries: u64, keys: u64, add: u32);
                #[link_name = concat!("tilepipe_product_bf16_n", $head, "_rn")]
                fn add_values(sums: *mut f32, p: u32, q: u32, r: u32, s: u32, values: u64, add: u32);
                #[link_name = concat!("tilepipe_product_wait0_n", $keys)]
                fn wait_for_first(scores: *mut f32);
                #[link_name = concat!("tilepipe_product_wait1_n", $keys)]
                fn wait_for_scores(scores: *mut f32);
                #[link_name = concat!("tilepipe_product_wait0_n", $head)]
                fn wait_for_all(sums: *mut f32);
                #[link_name = concat!("tilepipe_product_hold_n", $keys)]
                fn hold_scores(scores: *mut f32);
                #[link_name = concat!("tilepipe_product_hold_r", $weights)]
                fn hold_weights(weights: *mut u32);
                #[link_name = concat!("tilepipe_product_hold_n", $head)]
                fn hold_sums(sums: *mut f32);
            }

            // What the launch gives is the stages of the safe kernel, its two output stages of a
            // panel each, and more than 1024 bytes for its barriers.
            const _: () = assert!(
                <$name as Instance>::SHARED_BYTES
                    <= 2 * $head * $rows * $of_queries + 4 * $head * $keys * $of_keys + 2 * ROW_BYTES * $rows + 1024
            );

            impl Instance for $name {
                const MASK: u32 = $mask;
                const FROM_END: bool = $from_end;
                const HEAD: u32 = $head;
                const KEYS: u32 = $keys;
                const ROWS: u32 = $rows;
                const QUERIES: u32 = $of_queries;
                const STAGES: u32 = $stages;

                type Scores = [f32; $keys / 2];
                type Weights = [u32; $weights];
                type Sums = [f32; $head / 2];

                #[inline(always)]
                unsafe fn score(scores: *mut f32, queries: u64, keys: u64) {
                    // SAFETY: the caller's promises.
                    unsafe { score(scores, queries, keys) };
                }
                #[inline(always)]
                unsafe fn score_more(scores: *mut f32, queries: u64, keys: u64) {
                    // SAFETY: the caller's promises.
                    unsafe { score_more(scores, queries, keys, 1) };
                }
                #[inline(always)]
                unsafe fn add_values(sums: *mut f32, [p, q, r, s]: [u32; 4], values: u64) {
                    // SAFETY: the caller's promises.
                    unsafe { add_values(sums, p, q, r, s, values, 1) };
                }
                #[inline(always)]
                unsafe fn wait_for_first(scores: *mut f32) {
                    // SAFETY: the caller's promises.
                    unsafe { wait_for_first(scores) };
                }
                #[inline(always)]
                unsafe fn wait_for_scores(scores: *mut f32) {
                    // SAFETY: the caller's promises.
                    unsafe { wait_for_scores(scores) };
                }
                #[inline(always)]
                unsafe fn wait_for_all(sums: *mut f32) {
                    // SAFETY: the caller's promises.
                    unsafe { wait_for_all(sums) };
                }
                #[inline(always)]
                unsafe fn hold_scores(scores: *mut f32) {
                    // SAFETY: the caller's promises.
                    unsafe { hold_scores(scores) };
                }
                #[inline(always)]
                unsafe fn hold_weights(weights: *mut u32) {
                    // SAFETY: the caller's promises.
                    unsafe { hold_weights(weights) };
                }
                #[inline(always)]
                unsafe fn hold_sums(sums: *mut f32) {
                    // SAFETY: the caller's promises.
                    unsafe { hold_sums(sums) };
                }
            }

            #[unsafe(export_name = concat!(
                                "__tilepipe_bounds__twin_attention__bf16_", $order, "_", $mask, "_false_", $head, "_4_", $rows, "_",
                                $keys, "_", $of_queries, "_", $of_keys, "_", $roles
                            ))]
            static BOUNDS: [u32; 11] = bounds($rows / SLICE);

            /// Attention in this instance.
            ///
            /// # Safety
            ///
            /// A launch with the threads and the dynamic shared memory of `attention` in its
            /// instance of this name, and with that one's parameters.
            #[unsafe(export_name = concat!(
                                "twin_attention__bf16_", $order, "_", $mask, "_false_", $head, "_4_", $rows, "_", $keys, "_",
                                $of_queries, "_", $of_keys, "_", $roles
                            ))]
            unsafe extern "C" fn entry(
                queries: *const RawTensor,
                keys: *const RawTensor,
                values: *const RawTensor,
                scale: *const f32,
                band: *const Band,
                _shape: *const u8,
                out: *const RawTensor,
                logarithms: *const RawRows,
            ) {
                let maps = Maps { queries, keys, values, out };
                // SAFETY: the caller's promises.
                unsafe { attention::<$name>(maps, *scale, *band, logarithms) };
            }
        };
    };
}
instance!(Causal64, ["LastFirst", 1, false], [64, 128, 128, 32], [2, 2, "384_256_24_240_0_false"], 3);
instance!(Causal64Of192, ["FromEnd", 1, true], [64, 192, 128, 32], [2, 3, "512_384_32_160_3_true"], 3);
instance!(Causal128, ["LastFirst", 1, false], [128, 128, 128, 32], [2, 2, "384_256_24_240_0_false"], 2);
instance!(Causal128Of192, ["FromEnd", 1, true], [128, 192, 80, 20], [2, 2, "512_384_32_160_0_true"], 3);
instance!(All64, ["Grouped_1024_", 0, false], [64, 128, 208, 52], [2, 2, "384_256_24_240_0_false"], 2);
instance!(All64Of192, ["Grouped_1024_", 0, false], [64, 192, 128, 32], [2, 3, "512_384_32_160_3_false"], 3);
instance!(All128, ["Grouped_1024_", 0, false], [128, 128, 128, 32], [2, 2, "384_256_24_240_0_false"], 2);
instance!(All128Of192, ["Grouped_1024_", 0, false], [128, 192, 80, 20], [2, 2, "512_384_32_160_0_false"], 3);
instance!(All256, ["Grouped_1024_", 0, false], [256, 128, 64, 16], [1, 2, "384_256_24_240_0_false"], 2);
instance!(Window64, ["LastFirst", 2, false], [64, 128, 128, 32], [2, 2, "384_256_24_240_0_false"], 3);
instance!(Window128, ["LastFirst", 2, false], [128, 128, 128, 32], [2, 2, "384_256_24_240_0_false"], 2);
instance!(Window256, ["LastFirst", 2, false], [256, 128, 64, 16], [1, 2, "384_256_24_240_0_true"], 2);

/// # Safety
///
/// As for the entries ([`instance`]).
#[inline(always)]
unsafe fn attention<I: Instance>(maps: Maps, scale: f32, band: Band, logarithms: *const RawRows) {
    // Tiles of 128 queries are for short sequences, where the next kernel's start counts.
    if I::ROWS == 128 && (I::HEAD == 64 || I::HEAD == 128 && I::MASK != ALL) {
        // SAFETY: the builder makes the next kernel wait.
        unsafe { asm!("griddepcontrol.launch_dependents;", options(nostack)) };
    }
    let rank = tilepipe_thread_rank();
    if rank == 0 {
        let places = Places { origin: tilepipe_shared_origin() };
        // SAFETY: so many words lie behind the stages.
        unsafe {
            for stage in 0..I::STAGES {
                tilepipe_mbarrier_init(places.key_full::<I>(stage), 1);
                tilepipe_mbarrier_init(places.key_empty::<I>(stage), I::WARPGROUPS);
                tilepipe_mbarrier_init(places.value_full::<I>(stage), 1);
                tilepipe_mbarrier_init(places.value_empty::<I>(stage), I::WARPGROUPS);
            }
            for stage in 0..I::QUERIES {
                tilepipe_mbarrier_init(places.query_full::<I>(stage), 1);
                tilepipe_mbarrier_init(places.query_empty::<I>(stage), I::WARPGROUPS);
            }
        }
        tilepipe_fence_mbarrier_init();
        tilepipe_fence_proxy_async();
    }
    // SAFETY: all threads are here.
    unsafe { barrier() };
    let group = tilepipe_warp_value(rank / WARPGROUP);
    if group == 0 {
        // SAFETY: whole warpgroups give up what the others take.
        unsafe {
            match I::WARPGROUPS {
                2 => tilepipe_registers_dec_24(),
                _ => tilepipe_registers_dec_32(),
            }
        }
        if rank == 0 {
            // SAFETY: the caller's promises.
            unsafe { copy::<I>(maps, band) };
        }
        return;
    }
    // SAFETY: as above.
    unsafe {
        match I::WARPGROUPS {
            2 => tilepipe_registers_inc_240(),
            _ => tilepipe_registers_inc_160(),
        }
        compute::<I>(maps, scale, band, logarithms, group - 1);
    }
}
