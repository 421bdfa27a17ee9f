//! Products of the tensor cores.

pub(super) mod by_hand;

use core::mem::MaybeUninit;
use core::num::NonZeroU32;

use crate::isa::product::{
    Columns, Factor, GROUP_ROWS, Operand, Start, UNIT, WARPGROUP, WARPGROUP_BARRIERS, Width, for_all_widths,
};
use crate::isa::{Members, PendingGroups};

unsafe extern "C" {
    safe fn tilepipe_product_commit();
    safe fn tilepipe_warp_value(value: u32) -> u32;
    safe fn tilepipe_shared_address() -> u32;
    fn tilepipe_shared_offset(generic: *const u8) -> u32;
    safe fn tilepipe_shared_pointer(offset: u32) -> *const u8;
    safe fn tilepipe_thread_rank() -> u32;
    fn tilepipe_role_barrier(id: u32, threads: u32);
    fn tilepipe_warp_barrier();
    fn tilepipe_store_matrices(to: u32, first: u32, second: u32, third: u32, fourth: u32);
}

/// The instructions of products with so many columns, which the link step makes of their names.
pub trait Instructions {
    /// A thread's sums: a half of a register for each column.
    type Registers: Copy;
    /// The same rounded to 16 bits, two to a register.
    type Rounded: Copy;

    /// `wgmma.fence`.
    ///
    /// # Safety
    ///
    /// The pointer is valid for the registers, and all threads of the warpgroup make this call.
    unsafe fn fence(sums: *mut f32);
    /// `wgmma.mma_async`.
    ///
    /// # Safety
    ///
    /// As for `fence`, after one; the descriptors are those of operands that nobody writes before
    /// the product was waited for, and that are `across` K or along it.
    unsafe fn multiply(sums: *mut f32, factor: Factor, across: [bool; 2], a: u64, b: u64, add: u32);
    /// `wgmma.mma_async` that overwrites the sums, of which it reads nothing.
    ///
    /// # Safety
    ///
    /// As for `multiply`.
    unsafe fn overwrite(sums: *mut f32, factor: Factor, across: [bool; 2], a: u64, b: u64);
    /// `wgmma.mma_async` with A in registers.
    ///
    /// # Safety
    ///
    /// As for `multiply`; the registers of A are not written before the product was waited for.
    unsafe fn multiply_by(sums: *mut f32, factor: Factor, across: bool, a: [u32; 4], b: u64, add: u32);
    /// No instruction: what was done to the sums stays before it.
    ///
    /// # Safety
    ///
    /// The pointer is valid for the registers.
    unsafe fn hold(sums: *mut f32);
    /// `wgmma.wait_group`, for all groups but so many.
    ///
    /// # Safety
    ///
    /// As for `fence`.
    unsafe fn wait<P: PendingGroups>(sums: *mut f32);
}

/// Calls `$by_name!` with the names of an element and of the layout of two factors in memory.
macro_rules! for_layout_in_memory {
    ($by_name:ident, $factor:expr, $across:expr) => {
        match ($factor, $across) {
            (Factor::Bf16, [false, false]) => $by_name!("bf16", "kk"),
            (Factor::Bf16, [false, true]) => $by_name!("bf16", "kn"),
            (Factor::Bf16, [true, false]) => $by_name!("bf16", "mk"),
            (Factor::Bf16, [true, true]) => $by_name!("bf16", "mn"),
            (Factor::F16, [false, false]) => $by_name!("f16", "kk"),
            (Factor::F16, [false, true]) => $by_name!("f16", "kn"),
            (Factor::F16, [true, false]) => $by_name!("f16", "mk"),
            (Factor::F16, [true, true]) => $by_name!("f16", "mn"),
        }
    };
}

macro_rules! instructions {
    ($($columns:literal)*) => {$(
        impl Instructions for Columns<$columns> {
            type Registers = [f32; $columns / 2];
            type Rounded = [u32; $columns / 4];

            #[inline(always)]
            unsafe fn overwrite(sums: *mut f32, factor: Factor, across: [bool; 2], a: u64, b: u64) {
                macro_rules! by_name {
                    ($element:literal, $layout:literal) => {{
                        unsafe extern "C" {
                            #[link_name = concat!("tilepipe_product_", $element, "_n", $columns, "_", $layout, "_new")]
                            fn overwrite(sums: *mut f32, a: u64, b: u64);
                        }
                        // SAFETY: the caller's promise.
                        unsafe { overwrite(sums, a, b) };
                    }};
                }
                for_layout_in_memory!(by_name, factor, across);
            }

            #[inline(always)]
            unsafe fn multiply_by(sums: *mut f32, factor: Factor, across: bool, [p, q, r, s]: [u32; 4], b: u64, add: u32) {
                macro_rules! by_name {
                    ($element:literal, $layout:literal) => {{
                        unsafe extern "C" {
                            #[link_name = concat!("tilepipe_product_", $element, "_n", $columns, "_", $layout)]
                            fn multiply_by(sums: *mut f32, p: u32, q: u32, r: u32, s: u32, b: u64, add: u32);
                        }
                        // SAFETY: the caller's promise.
                        unsafe { multiply_by(sums, p, q, r, s, b, add) };
                    }};
                }
                match (factor, across) {
                    (Factor::Bf16, false) => by_name!("bf16", "rk"),
                    (Factor::Bf16, true) => by_name!("bf16", "rn"),
                    (Factor::F16, false) => by_name!("f16", "rk"),
                    (Factor::F16, true) => by_name!("f16", "rn"),
                }
            }

            #[inline(always)]
            unsafe fn hold(sums: *mut f32) {
                unsafe extern "C" {
                    #[link_name = concat!("tilepipe_product_hold_n", $columns)]
                    fn hold(sums: *mut f32);
                }
                // SAFETY: the caller's promise.
                unsafe { hold(sums) };
            }

            #[inline(always)]
            unsafe fn fence(sums: *mut f32) {
                unsafe extern "C" {
                    #[link_name = concat!("tilepipe_product_fence_n", $columns)]
                    fn fence(sums: *mut f32);
                }
                // SAFETY: the caller's promise.
                unsafe { fence(sums) };
            }

            #[inline(always)]
            unsafe fn multiply(sums: *mut f32, factor: Factor, across: [bool; 2], a: u64, b: u64, add: u32) {
                macro_rules! by_name {
                    ($element:literal, $layout:literal) => {{
                        unsafe extern "C" {
                            #[link_name = concat!("tilepipe_product_", $element, "_n", $columns, "_", $layout)]
                            fn multiply(sums: *mut f32, a: u64, b: u64, add: u32);
                        }
                        // SAFETY: the caller's promise.
                        unsafe { multiply(sums, a, b, add) };
                    }};
                }
                for_layout_in_memory!(by_name, factor, across);
            }

            #[inline(always)]
            unsafe fn wait<P: PendingGroups>(sums: *mut f32) {
                unsafe extern "C" {
                    #[link_name = concat!("tilepipe_product_wait0_n", $columns)]
                    fn wait_all(sums: *mut f32);
                    #[link_name = concat!("tilepipe_product_wait1_n", $columns)]
                    fn wait_but_one(sums: *mut f32);
                }
                match const { P::GROUPS } {
                    // SAFETY: the caller's promise.
                    0 => unsafe { wait_all(sums) },
                    // SAFETY: the caller's promise: to wait for more than was asked for is safe.
                    _ => unsafe { wait_but_one(sums) },
                }
            }
        }
    )*};
}
for_all_widths!(instructions);

/// The rows of A that the thread's warpgroup multiplies, for several products.
///
/// They are the operand and the warpgroup's number: with the descriptor's start in its place the
/// assembler has one value more to keep in uniform registers, and attention takes 1 to 2 % longer.
#[derive(Clone, Copy)]
pub(crate) struct LeftRows {
    of_stage: Operand,
    group: u32,
}

impl LeftRows {
    /// Those of a role's warpgroups.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn new(members: Members, of_stage: Operand) -> Self {
        // SAFETY: the caller's promise.
        LeftRows { of_stage, group: unsafe { warpgroup_of(members) } }
    }
}

/// The operands of a product, in the first stage of several at equal distances.
pub(crate) struct Operands {
    of_stage: [Operand; 2],
    /// Where the thread's warpgroup's rows of A, and B, start, as the low word of a descriptor says
    /// it. They are known to be the same in the whole warp, so that what is added to them is
    /// computed in uniform registers.
    low: [u32; 2],
    /// Both 0. Of operands in several stages the assembler does not know it: a constant, or the
    /// same value, it would move to the upper words of the descriptors before each product; these
    /// lie there once.
    nothing: [u32; 2],
}

impl Operands {
    /// Those of a product of a role.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn new(members: Members, of_stage: [Operand; 2]) -> Self {
        let [a, b] = of_stage;
        if a.start.origin.is_none() {
            // Of a constant the assembler computes what each thread keeps for itself.
            // SAFETY: the caller's promise.
            return unsafe { Self::of_stages(members, of_stage) };
        }
        // SAFETY: the caller's promise.
        let group = unsafe { warpgroup_of(members) };
        Operands { of_stage, low: low_words(of_stage, [start(a), start(b)], group), nothing: [0, 0] }
    }

    /// As [`new`](Self::new), of rows of A that were found before.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn of_rows(rows: LeftRows, b: Operand) -> Self {
        let LeftRows { of_stage: a, group } = rows;
        Operands { of_stage: [a, b], low: low_words([a, b], [start(a), start(b)], group), nothing: [0, 0] }
    }

    /// Those of products in several stages, of which these are in the first.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn of_stages(members: Members, of_stage: [Operand; 2]) -> Self {
        let [a, b] = of_stage;
        let group = (tilepipe_thread_rank() - members.first as u32) / WARPGROUP as u32;
        // Together, or the assembler would leave the start in the register of each thread in which
        // it is already: of what is the same in all threads it makes no warp's value.
        let both = tilepipe_warp_value(start(a) | group << 16);
        let (start_of_a, group) = (both & 0xFFFF, both >> 16);
        // One may lie behind the other or before it: of the difference the low word counts.
        let of_start = |one: Operand| one.start.offset / UNIT as u32 + one.further;
        let apart = of_start(b).wrapping_sub(of_start(a));
        let starts = [start_of_a, start_of_a.wrapping_add(apart)];
        // A block has eight warpgroups at most.
        Operands { of_stage, low: low_words(of_stage, starts, group), nothing: [both >> 20, both >> 21] }
    }
}

/// The low words of the descriptors of two operands that start there, for a role's warpgroup of
/// this number.
#[inline(always)]
fn low_words([a, b]: [Operand; 2], [start_of_a, start_of_b]: [u32; 2], group: u32) -> [u32; 2] {
    // The rows of a group are whole periods or panels, so the descriptor of a later group has
    // another start alone.
    let of_group = GROUP_ROWS * if a.across { ELEMENT * a.deep } else { a.row_bytes };
    let start_of_a = start_of_a + group * (of_group / UNIT) as u32;
    [low_word(start_of_a, a), low_word(start_of_b, b)]
}

/// A thread's sums of a product: registers, which have no value before the first one.
pub(crate) struct Sums<W: Width>(MaybeUninit<W::Registers>);

impl<W: Width> Sums<W> {
    /// Registers without values.
    #[inline(always)]
    pub(crate) fn new(_: Members) -> Self {
        Sums(MaybeUninit::uninit())
    }

    /// `wgmma.fence`, `wgmma.mma_async` for each 32 bytes of a row, `wgmma.commit_group`: starts
    /// the product of A's rows and B's, each warpgroup of its 64 rows of A, in the stage that
    /// begins `further` times [`UNIT`] bytes behind the first one.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn multiply(&mut self, factor: Factor, operands: &Operands, further: u32, add: bool) {
        let sums = self.0.as_mut_ptr().cast::<f32>();
        let ([a, b], [low_of_a, low_of_b]) = (operands.of_stage, operands.low);
        // SAFETY: the caller's promise.
        unsafe { W::fence(sums) };
        let first_of_a = descriptor(low_of_a + further, high_word(a) | operands.nothing[0]);
        let first_of_b = descriptor(low_of_b + further, high_word(b) | operands.nothing[1]);
        for step in 0..a.deep / STEP {
            // Sums of 64 bits: the assembler computes the later ones in registers of their own
            // while the first product still reads its own.
            let (from_a, from_b) = (first_of_a + u64::from(along(step, a)), first_of_b + u64::from(along(step, b)));
            let (across, add) = ([a.across, b.across], u32::from(add || step > 0));
            // SAFETY: the caller's promise; these describe the operands' next `STEP` elements along
            // K.
            unsafe { W::multiply(sums, factor, across, from_a, from_b, add) };
        }
        tilepipe_product_commit();
    }

    /// `wgmma.wait_group`: all products but those of the youngest `P::GROUPS` calls are complete.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn wait<P: PendingGroups>(&mut self) {
        // SAFETY: the caller's promise.
        unsafe { W::wait::<P>(self.0.as_mut_ptr().cast()) };
    }

    /// The calling thread's sum in register `register`.
    ///
    /// # Safety
    ///
    /// This function's safety contract in [`isa`](crate::isa) holds.
    #[inline(always)]
    pub(crate) unsafe fn get(&self, _rank: usize, register: usize) -> f32 {
        // SAFETY: the caller's promise: it is one of the registers.
        let register = unsafe { self.0.as_ptr().cast::<f32>().add(register) };
        // SAFETY: a product has written all of them.
        unsafe { register.read() }
    }
}

/// Runs `body` in the first thread of each of the role's warpgroups.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn for_first_of_warpgroups(members: Members, body: impl Fn()) {
    if (tilepipe_thread_rank() - members.first as u32).is_multiple_of(WARPGROUP as u32) {
        body();
    }
}

/// The number of the calling thread's warpgroup in the role, known to be the same in the whole
/// warp.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn warpgroup_of(members: Members) -> u32 {
    tilepipe_warp_value((tilepipe_thread_rank() - members.first as u32) / WARPGROUP as u32)
}

/// Runs `body` in the first thread of each of the role's warpgroups, with that one's number in the
/// role, and with `from`: the number that [`warpgroup_of`] has said, or one that is shuffled with
/// `from`. `HERE` says that no register is left for the rank from before a loop.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn for_first_of_warpgroups_from<const HERE: bool>(
    members: Members,
    number: Option<u32>,
    from: *const u8,
    body: impl Fn(usize, *const u8),
) {
    let rank = tilepipe_thread_rank() - members.first as u32;
    // The engine's operands are uniform registers, and the assembler writes a loop for one that it
    // does not know to be the same in all threads.
    if let Some(number) = number {
        if rank.is_multiple_of(WARPGROUP as u32) {
            body(number as usize, from);
        }
        return;
    }
    // Both go through one shuffle: the address in shared memory has fewer than 18 bits.
    // SAFETY: the caller's promise.
    let offset = unsafe { tilepipe_shared_offset(from) };
    let group = if HERE { super::rank_here(rank as usize) as u32 } else { rank } / WARPGROUP as u32;
    let both = tilepipe_warp_value(offset | group * GROUP_BIT);
    if rank.is_multiple_of(WARPGROUP as u32) {
        body((both / GROUP_BIT) as usize, tilepipe_shared_pointer(both % GROUP_BIT));
    }
}

/// Above all addresses in shared memory.
const GROUP_BIT: u32 = 1 << 18;

/// `barrier.sync`: waits for all threads of the warpgroup, of those of the role, and orders their
/// memory accesses among them.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn warpgroup_barrier(_: Members) {
    // In a uniform register, since kernels with products have none of the others left.
    let number = tilepipe_warp_value(tilepipe_thread_rank() / WARPGROUP as u32);
    // SAFETY: the caller's promise; each warpgroup of a block has a number of its own, which no
    // role has.
    unsafe { tilepipe_role_barrier(WARPGROUP_BARRIERS + number, WARPGROUP as u32) };
}

/// `stmatrix`: writes four 8 by 8 matrices of 16-bit elements to shared memory, each lane's two
/// elements of matrix `i` being `words[i]`, as products leave their sums. Row `l % 8` of matrix
/// `l / 8` begins at lane `l`'s `row`.
///
/// # Safety
///
/// This function's safety contract in [`isa`](crate::isa) holds.
#[inline(always)]
pub(crate) unsafe fn store_matrices(_: [*mut u32; 4], row: *mut u8, words: [u32; 4]) {
    // The caller's code between may have had the lanes part.
    // SAFETY: the caller's promise.
    unsafe { tilepipe_warp_barrier() };
    // SAFETY: the caller's promise.
    let to = unsafe { tilepipe_shared_offset(row) };
    let [first, second, third, fourth] = words;
    // SAFETY: the caller's promise.
    unsafe { tilepipe_store_matrices(to, first, second, third, fourth) };
}

/// Elements along K that one instruction takes.
const STEP: usize = 16;
/// Bytes of an element.
const ELEMENT: usize = 2;

/// How far behind the operand's start step `step` along K starts, as a descriptor says it.
#[inline(always)]
fn along(step: usize, operand: Operand) -> u32 {
    // Within a row of a period a step is a matter of the start alone; steps of rows are whole
    // periods, and so are panels.
    let in_row = operand.row_bytes / (STEP * ELEMENT);
    let bytes = match operand.across {
        true => step * STEP * operand.row_bytes,
        false => step / in_row * operand.rows * operand.row_bytes + step % in_row * STEP * ELEMENT,
    };
    (bytes / UNIT) as u32
}

/// Where an operand starts, as a descriptor says it.
#[inline(always)]
fn start(operand: Operand) -> u32 {
    let Start { origin, offset } = operand.start;
    // The lowest bit of a marked one falls off below.
    let origin = origin.map_or_else(|| tilepipe_shared_address(), NonZeroU32::get);
    (origin.wrapping_add(offset) & 0x3_FFFF) / UNIT as u32 + operand.further
}

/// The low word of the descriptor of an operand that starts there: with the distance from one panel
/// to the next. To add to it moves the start, which has 14 bits, enough for all of shared memory.
#[inline(always)]
fn low_word(start: u32, operand: Operand) -> u32 {
    // Of operands along K it is not read: a step is within a panel.
    let panel = if operand.across { (operand.deep * operand.row_bytes / UNIT) as u32 } else { 1 };
    start | panel << 16
}

/// The upper word: the distance from eight rows to the next eight, and the swizzle.
#[inline(always)]
fn high_word(operand: Operand) -> u32 {
    let swizzle = match operand.row_bytes {
        128 => 1,
        64 => 2,
        _ => 3,
    };
    (8 * operand.row_bytes / UNIT) as u32 | swizzle << 30
}

/// The descriptor of an operand (PTX, "Matrix descriptor format" of wgmma) of these words.
///
/// They are put together and not added up: `ptxas` 13.0 has lost the upper half of a sum of 64 bits
/// here (docs/decisions/71).
#[inline(always)]
fn descriptor(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}
