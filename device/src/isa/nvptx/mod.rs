//! The instructions themselves.
//!
//! Convergent instructions and typed address spaces come from `runtime.ll`; per-thread instructions
//! with an immediate operand are inline assembly. (rustc does not mark inline assembly convergent,
//! so a barrier must not be written so.) Clauses cited are of the PTX ISA, version 9.0.

mod atomics;
mod math;
mod mbarrier;
mod product;
mod registers;
mod rooms;
mod tensor;
mod threads;
mod turns;

use core::arch::asm;
use core::num::NonZeroU32;

pub(crate) use atomics::*;
pub(crate) use math::*;
pub(crate) use mbarrier::*;
pub use product::Instructions;
pub(crate) use product::by_hand::*;
pub(crate) use product::{
    LeftRows, Operands, Sums, for_first_of_warpgroups, for_first_of_warpgroups_from, store_matrices, warpgroup_barrier,
    warpgroup_of,
};
pub(crate) use registers::{restore_registers, share_registers};
pub(crate) use rooms::Rooms;
pub(crate) use tensor::*;
pub(crate) use threads::*;
pub(crate) use turns::Turns;

use super::{ContractText, PendingGroups, Readers, SharedOrigin};

unsafe extern "C" {
    fn tilepipe_contract(first: *const u8, bytes: usize);
    safe fn tilepipe_thread_rank() -> u32;
    safe fn tilepipe_block_index() -> u32;
    safe fn tilepipe_grid_blocks() -> u32;
    safe fn tilepipe_opaque(number: u64) -> u64;
    safe fn tilepipe_opaque_here(number: u64) -> u64;
    safe fn tilepipe_rank_here(rank: u32) -> u32;
    fn tilepipe_barrier();
    safe fn tilepipe_shared_base() -> *mut u8;
    safe fn tilepipe_scratch_base() -> *mut u8;
    safe fn tilepipe_shared_address() -> u32;
    safe fn tilepipe_shared_origin_here() -> u32;
    safe fn tilepipe_zeros_base() -> *const u8;
    fn tilepipe_warp_barrier();
    fn tilepipe_load_input_1(to: *mut u8, from: *const u8);
    fn tilepipe_load_input_2(to: *mut u8, from: *const u8);
    fn tilepipe_load_input_4(to: *mut u8, from: *const u8);
    fn tilepipe_load_input_8(to: *mut u8, from: *const u8);
    fn tilepipe_load_input_16(to: *mut u8, from: *const u8);
    fn tilepipe_load_input_part_16(to: *mut u8, from: *const u8);
    fn tilepipe_load_global_1(to: *mut u8, from: *const u8);
    fn tilepipe_load_global_2(to: *mut u8, from: *const u8);
    fn tilepipe_load_global_4(to: *mut u8, from: *const u8);
    fn tilepipe_load_global_8(to: *mut u8, from: *const u8);
    fn tilepipe_load_global_16(to: *mut u8, from: *const u8);
    fn tilepipe_store_global_1(to: *mut u8, from: *const u8);
    fn tilepipe_store_global_2(to: *mut u8, from: *const u8);
    fn tilepipe_store_global_4(to: *mut u8, from: *const u8);
    fn tilepipe_store_global_8(to: *mut u8, from: *const u8);
    fn tilepipe_store_global_16(to: *mut u8, from: *const u8);
    fn tilepipe_cp_async_4(to: *mut u8, from: *const u8, valid: u32);
    fn tilepipe_cp_async_8(to: *mut u8, from: *const u8, valid: u32);
    fn tilepipe_cp_async_16(to: *mut u8, from: *const u8, valid: u32);
    fn tilepipe_cp_async_whole_4(to: *mut u8, from: *const u8);
    fn tilepipe_cp_async_whole_8(to: *mut u8, from: *const u8);
    fn tilepipe_cp_async_whole_16(to: *mut u8, from: *const u8);
    safe fn tilepipe_cp_async_commit_group();
    safe fn tilepipe_cp_async_wait_all();
    safe fn tilepipe_panic_record_address() -> u64;
}

/// Tells the builder the running kernel's contract: a call that it looks for, with constants that
/// it reads, and that lowers to nothing.
#[inline(always)]
pub(crate) fn contract<C: ContractText>() {
    // SAFETY: the function does nothing (`runtime.ll`).
    unsafe { tilepipe_contract(C::FIRST, C::BYTES) };
}

/// `%ctaid.x`: the block's index.
#[inline(always)]
pub(crate) fn block_index() -> u32 {
    tilepipe_block_index()
}

/// `%nctaid.x`: the number of blocks.
#[inline(always)]
pub(crate) fn grid_blocks() -> u32 {
    tilepipe_grid_blocks()
}

/// `griddepcontrol.launch_dependents`: the next kernel in the stream may start, once a thread of
/// each block has said so or all of a block's have ended.
#[inline(always)]
pub(crate) fn launch_dependents() {
    // SAFETY: it touches no memory. What starts earlier waits for this grid's end before it does
    // (`tilepipe-build` sees to that, and the host starts no other kernel early).
    unsafe { asm!("griddepcontrol.launch_dependents;", options(nostack)) };
}

/// The same number, of which the compiler knows nothing; no instruction.
#[inline(always)]
pub(crate) fn opaque(number: usize) -> usize {
    tilepipe_opaque(number as u64) as usize
}

/// As [`opaque`], and what is computed of the number is computed behind this call: the compiler
/// keeps none of it in registers from before a loop. No instruction.
#[inline(always)]
pub(crate) fn opaque_here(number: usize) -> usize {
    tilepipe_opaque_here(number as u64) as usize
}

/// As [`opaque_here`], of a thread's rank, in one register.
#[inline(always)]
pub(crate) fn rank_here(rank: usize) -> usize {
    tilepipe_rank_here(rank as u32) as usize
}

/// `%tid.x`: the calling thread's rank.
#[inline(always)]
pub(crate) fn thread_rank() -> u32 {
    tilepipe_thread_rank()
}

/// `bar.sync 0`: waits for all threads of the block and orders their memory accesses among them.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn barrier() {
    // SAFETY: the caller's promise.
    unsafe { tilepipe_barrier() };
}

/// `bar.warp.sync`: waits for all threads of the warp and orders their memory accesses among them.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn warp_barrier() {
    // SAFETY: the caller's promise.
    unsafe { tilepipe_warp_barrier() };
}

/// The calling thread's copies that it waited for are visible to it: nothing on the GPU, where the
/// wait says so.
#[inline(always)]
pub(crate) fn own_copies_landed() {}

/// The block's dynamic shared memory.
#[inline(always)]
pub(crate) fn shared_base() -> *mut u8 {
    tilepipe_shared_base()
}

/// The address of the block's dynamic shared memory, read by an instruction: no compiler pass can
/// derive it from the declaration.
#[inline(always)]
pub(crate) fn shared_address() -> usize {
    tilepipe_shared_address() as usize
}

/// The address of the block's dynamic shared memory in a register of the code that calls this, with
/// its lowest bit set: the memory is aligned to more.
///
/// In code in which threads of a warp part, the assembler keeps in each thread's register what it
/// would keep once for the warp elsewhere, and a constant is one value in all of the kernel.
#[inline(always)]
pub(crate) fn shared_origin_here() -> SharedOrigin {
    Some(NonZeroU32::MIN | tilepipe_shared_origin_here())
}

/// The collectives' shared memory, 41 slots of 16 bytes, aligned to 16: the last bytes of the
/// dynamic shared memory, which the launch enlarged by them.
#[inline(always)]
pub(crate) fn scratch() -> *mut u8 {
    tilepipe_scratch_base()
}

/// 16 bytes of zeros in global memory, aligned to 16.
#[inline(always)]
pub(crate) fn zeros() -> *const u8 {
    tilepipe_zeros_base()
}

/// Reads one value from `from` in accesses as wide as its alignment allows, up to 16 bytes: `load`
/// is called with the place of each part in a local variable and where it comes from.
#[inline(always)]
fn in_parts<T: bytemuck::Pod>(from: *const T, load: impl Fn(*mut u8, *const u8)) -> T {
    let mut value = T::zeroed();
    let (to, from) = ((&raw mut value).cast::<u8>(), from.cast::<u8>());
    let mut offset = 0;
    while offset < size_of::<T>() {
        load(to.wrapping_add(offset), from.wrapping_add(offset));
        offset += align_of::<T>().min(16);
    }
    value
}

/// `ld.global`: reads one value from global memory, in accesses as wide as its alignment allows.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn load_global<T: bytemuck::Pod>(from: *const T) -> T {
    in_parts(from, |to, from| {
        // SAFETY: parts lie a multiple of the type's alignment (of 16 if that is larger) apart,
        // which divides its size. Hence that many bytes from there on lie in the value, with that
        // alignment; `to` is a local variable, the rest is the caller's promise.
        unsafe {
            match const { align_of::<T>() } {
                1 => tilepipe_load_global_1(to, from),
                2 => tilepipe_load_global_2(to, from),
                4 => tilepipe_load_global_4(to, from),
                8 => tilepipe_load_global_8(to, from),
                _ => tilepipe_load_global_16(to, from),
            }
        }
    })
}

/// `ld.global.nc`: reads one value from global memory that nobody writes during the launch, in
/// accesses as wide as its alignment allows.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn load_input<T: bytemuck::Pod>(from: *const T) -> T {
    in_parts(from, |to, from| {
        // SAFETY: as in `load_global`.
        unsafe {
            match const { align_of::<T>() } {
                1 => tilepipe_load_input_1(to, from),
                2 => tilepipe_load_input_2(to, from),
                4 => tilepipe_load_input_4(to, from),
                8 => tilepipe_load_input_8(to, from),
                _ => tilepipe_load_input_16(to, from),
            }
        }
    })
}

/// `ld.global.nc`: reads a row of values from global memory that nobody writes during the launch,
/// in accesses of `width` bytes, 1, 2, 4, 8 or 16.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn load_input_row<T: bytemuck::Pod, const N: usize>(from: *const T, width: usize) -> [T; N] {
    /// A row, in parts of up to 16 bytes.
    #[repr(C, align(16))]
    struct Row<V>(V);
    let mut row = Row([T::zeroed(); N]);
    let (to, from) = ((&raw mut row).cast::<u8>(), from.cast::<u8>());
    let mut offset = 0;
    while offset < const { size_of::<T>() * N } {
        let (to, from) = (to.wrapping_add(offset), from.wrapping_add(offset));
        // SAFETY: (0) `offset` is a multiple of `width`, and so is the row's size, so `width` bytes
        // from there on are valid for reads, aligned to `width`, and not written during the launch;
        // `to` lies as far into a local variable, which is aligned to 16.
        unsafe {
            match width {
                1 => tilepipe_load_input_1(to, from),
                2 => tilepipe_load_input_2(to, from),
                4 => tilepipe_load_input_4(to, from),
                8 => tilepipe_load_input_8(to, from),
                _ => tilepipe_load_input_part_16(to, from),
            }
        }
        offset += width;
    }
    row.0
}

/// `st.global`: writes one value to global memory, in accesses as wide as its alignment allows.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn store_global<T: bytemuck::Pod>(to: *mut T, value: T) {
    let (to, from) = (to.cast::<u8>(), (&raw const value).cast::<u8>());
    // SAFETY: the caller's promise: a value is aligned to its alignment, which divides its size.
    unsafe { store_pieces(to, from, size_of::<T>(), align_of::<T>()) };
}

/// Writes `bytes` bytes to global memory in pieces of `width`, 1, 2, 4, 8 or at least 16.
///
/// # Safety
///
/// `to` is global memory, aligned to `width` and valid for writes of `bytes` bytes, a multiple of
/// `width`; `from` is valid for reads of them.
#[inline(always)]
unsafe fn store_pieces(to: *mut u8, from: *const u8, bytes: usize, width: usize) {
    let mut offset = 0;
    while offset < bytes {
        let (to, from) = (to.wrapping_add(offset), from.wrapping_add(offset));
        // SAFETY: `offset` is a multiple of `width`, and so is `bytes`, so `width` bytes from there
        // on are valid and aligned.
        unsafe {
            match width {
                1 => tilepipe_store_global_1(to, from),
                2 => tilepipe_store_global_2(to, from),
                4 => tilepipe_store_global_4(to, from),
                8 => tilepipe_store_global_8(to, from),
                _ => tilepipe_store_global_16(to, from),
            }
        }
        offset += width.min(16);
    }
}

/// `st.global`: writes a row of values to global memory, in accesses as wide as the row's size
/// allows.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn store_global_row<T: bytemuck::Pod, const N: usize>(to: *mut T, values: [T; N]) {
    // The largest power of two, up to 16, that divides the row's size. The row's start is aligned
    // to it too.
    let width = const { 1 << (16 | size_of::<T>() * N).trailing_zeros() };
    // SAFETY: (0); both the row's start and its size are multiples of `width`.
    unsafe { store_pieces(to.cast(), values.as_ptr().cast(), size_of::<T>() * N, width) };
}

/// `st.shared.v4`: writes 16 bytes in a row to shared memory.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn store_shared_row<T: bytemuck::Pod, const N: usize>(to: *mut T, values: [T; N]) {
    /// 16 bytes, written at once.
    #[repr(C, align(16))]
    struct Row<V>(V);
    // SAFETY: the caller's promise.
    unsafe { to.cast::<Row<[T; N]>>().write(Row(values)) };
}

/// `cp.async.cg.shared.global [to], [from], 16, valid`, or `cp.async.ca` with 8 or 4: an
/// asynchronous copy of `width` bytes, of which the first `valid` are read and the others are zero.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn cp_async(to: *mut u8, from: *const u8, valid: u32, width: usize) {
    // SAFETY: the caller's promises; a source size below the copy's reads no more than that
    // (section "cp.async").
    unsafe {
        match width {
            16 => tilepipe_cp_async_16(to, from, valid),
            8 => tilepipe_cp_async_8(to, from, valid),
            _ => tilepipe_cp_async_4(to, from, valid),
        }
    }
}

/// `cp.async.cg.shared.global [to], [from], 16`, or `cp.async.ca` with 8 or 4: an asynchronous copy
/// of `width` bytes.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn cp_async_whole(to: *mut u8, from: *const u8, width: usize) {
    // SAFETY: the caller's promises.
    unsafe {
        match width {
            16 => tilepipe_cp_async_whole_16(to, from),
            8 => tilepipe_cp_async_whole_8(to, from),
            _ => tilepipe_cp_async_whole_4(to, from),
        }
    }
}

/// `cp.async.commit_group`: closes the calling thread's group of copies.
#[inline(always)]
pub(crate) fn cp_async_commit_group() {
    tilepipe_cp_async_commit_group();
}

/// `cp.async.wait_group`: waits until all but the calling thread's youngest `P::GROUPS` groups have
/// landed.
#[inline(always)]
pub(crate) fn cp_async_wait_group<P: PendingGroups>() {
    // SAFETY: a wait has no effect but to order the landed copies before what follows; the memory
    // clobber (there is no `nomem`) keeps later reads after it.
    unsafe { asm!("cp.async.wait_group {groups};", groups = const P::GROUPS, options(nostack)) };
}

/// `cp.async.wait_all`: waits until all the calling thread's copies have landed.
#[inline(always)]
pub(crate) fn cp_async_wait_all() {
    tilepipe_cp_async_wait_all();
}

/// `ld.global`, `st.shared`: copies one element through a register, or stores zeros if it is not
/// `valid`.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn copy_through_register<T: bytemuck::Pod>(to: *mut T, from: *const T, valid: bool) {
    if valid {
        // SAFETY: (1).
        let value = unsafe { load_global(from) };
        // SAFETY: (0).
        unsafe { to.write(value) };
    } else {
        // SAFETY: (0); zeros are a value of any plain data.
        unsafe { to.write_bytes(0, 1) };
    }
}

/// `st.shared`: writes one value to shared memory.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn store_shared<T: bytemuck::Pod>(to: *mut T, value: T) {
    // SAFETY: the caller's promise.
    unsafe { to.write(value) };
}

/// Tells the model which memory threads may go on reading until a barrier: nothing on the GPU.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn released(_: *const u8, _: usize, _: Readers) {}

/// The address of the host's panic record, 0 if there is none.
#[inline(always)]
pub(crate) fn panic_record_address() -> u64 {
    tilepipe_panic_record_address()
}

/// `atom.cas` on the record's state: whether the calling thread is the first to claim the record.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn claim(state: *mut u32, from: u32, to: u32) -> bool {
    let old: u32;
    // SAFETY: the caller's promise; system scope, since the record lies in host memory.
    unsafe {
        asm!("atom.sys.cas.b32 {old}, [{state}], {from}, {to};",
            old = out(reg32) old, state = in(reg64) state, from = in(reg32) from, to = in(reg32) to, options(nostack));
    }
    old == from
}

/// `fence.sc.sys`: orders the calling thread's earlier writes before its later ones, also as the
/// host sees them.
#[inline(always)]
pub(crate) fn system_fence() {
    // SAFETY: it has no effect but the order.
    unsafe { asm!("fence.sc.sys;", options(nostack)) };
}

/// `fence.sc.sys` and `trap`: ends the launch with an error once all writes before are visible to
/// the host. The compiler is not told that nothing follows (`fault::gpu::report`).
#[inline(always)]
pub(crate) fn trap() {
    // SAFETY: it ends the whole grid, or has no effect but the order.
    unsafe { asm!("fence.sc.sys;", "trap;", options(nostack)) }
}

/// `exit`: ends the calling thread, for which a launch was ended already.
#[inline(always)]
pub(crate) fn exit() -> ! {
    // SAFETY: nothing follows.
    unsafe { asm!("exit;", options(noreturn, nostack)) }
}

/// `nanosleep`: suspends the calling thread for about `nanoseconds`.
#[inline(always)]
pub(crate) fn sleep(nanoseconds: u32) {
    // SAFETY: it has no effect but the delay.
    unsafe { asm!("nanosleep.u32 {t};", t = in(reg32) nanoseconds, options(nostack)) };
}
