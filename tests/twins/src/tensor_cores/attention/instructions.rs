//! The instructions that have functions of their own.

unsafe extern "C" {
    pub(super) safe fn tilepipe_thread_rank() -> u32;
    pub(super) safe fn tilepipe_rank_here(rank: u32) -> u32;
    pub(super) safe fn tilepipe_warp_value(value: u32) -> u32;
    pub(super) safe fn tilepipe_shared_origin() -> u32;
    pub(super) safe fn tilepipe_rounded_bf16(low: f32, high: f32) -> u32;
    pub(super) safe fn tilepipe_exp2(x: f32) -> f32;
    pub(super) safe fn tilepipe_reciprocal(x: f32) -> f32;
    pub(super) safe fn tilepipe_fma_f32(a: f32, b: f32, c: f32) -> f32;
    pub(super) safe fn tilepipe_bulk_commit_group();
    pub(super) safe fn tilepipe_bulk_wait_all();
    pub(super) safe fn tilepipe_product_fence();
    pub(super) safe fn tilepipe_product_commit();
    pub(super) fn tilepipe_registers_dec_24();
    pub(super) fn tilepipe_registers_dec_32();
    pub(super) fn tilepipe_registers_inc_160();
    pub(super) fn tilepipe_registers_inc_240();
    pub(super) fn tilepipe_warp_any(value: u32) -> u32;
    pub(super) fn tilepipe_warp_barrier();
    pub(super) fn tilepipe_shuffle_across(mask: u32, word: u32, bits: u32) -> u32;
    pub(super) fn tilepipe_role_barrier(id: u32, threads: u32);
    pub(super) fn tilepipe_store_matrices(to: u32, first: u32, second: u32, third: u32, fourth: u32);
    pub(super) fn tilepipe_tensor_store_4d(
        map: *const u8,
        column: i32,
        row: i32,
        plane: i32,
        fourth: i32,
        from: *const u8,
    );
}
