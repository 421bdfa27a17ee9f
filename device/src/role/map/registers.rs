//! Registers that the roles of a block share out.

use core::marker::PhantomData;

use crate::fault::Text;
use crate::isa;
use crate::isa::product::WARPGROUP;

/// The role map `M` with registers of each role's own: a role that only copies leaves its registers
/// to one that computes. `R` is [`Registers`], [`Registers3`] or [`Registers4`], with a number for
/// each role.
///
/// A launch gives every thread of a block the same number of registers, with 384 threads 168. In
/// `Budget<WarpRoles<128, 256>, Registers<40, 232>>` those of the first role have 40 from its start
/// to its end, and those of the second 232. Before and behind the partition each has as many as the
/// launch gave it.
///
/// Roles are whole warpgroups, multiples of 128 threads. A number is a multiple of 8, from 24 to
/// 256. All roles together have no more than the block was launched with: 65536 divided by its
/// threads, rounded down to a multiple of 8, for each of them. Anything else does not compile. A
/// role that needs more than it has keeps values in local memory, of which the build warns.
///
/// The kernel's own number is fixed by this, so it takes neither `min_blocks` nor `max_registers`.
///
/// PTX: `setmaxnreg.dec`, `setmaxnreg.inc` (`sm_90a`), at a role's start, and at its end behind a
/// barrier of the block (`barrier.sync 5`).
///
/// CUDA: `cutlass::arch::warpgroup_reg_dealloc<40>()`, `warpgroup_reg_alloc<232>()`.
///
/// # Examples
///
/// ```
/// use tilepipe::role::{Budget, Partitioned, Registers, WarpRoles};
/// use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};
///
/// #[kernel]
/// fn doubled(
///     block: Block<384>,
///     input: Tiles<f32, 256>,
///     mut out: TilesMut<f32, 256>,
///     shared: Shared<Partitioned<Stages<[f32; 256], 4>>>,
/// ) {
///     let tiles = input.for_block(&block);
///     block
///         .partition::<Budget<WarpRoles<128, 256>, Registers<40, 232>>>()
///         .pipeline(shared)
///         .role((), |_, mut producer, ()| {
///             for i in 0..tiles.len() {
///                 let Ok(stage) = producer.acquire() else { return };
///                 producer = stage.copy(tiles.get(i)).commit();
///             }
///         })
///         .role(&mut out, |group, mut consumer, out| {
///             let mut results = out.for_role(&group);
///             for i in 0..results.len() {
///                 let Ok(tile) = consumer.wait() else { return };
///                 let result = results.get_mut(i);
///                 group.threads(|t| result.set(&t, 2.0 * tile[t.rank()]));
///                 consumer = tile.release();
///             }
///         })
///         .run();
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Random { seed: 7 });
/// # let (input, mut out) = (device.upload(&[3.0; 1000])?, device.zeroed(1000)?);
/// # doubled::launch(&device.stream()?, 2, &input, &mut out)?;
/// # assert_eq!(out.download()?, [6.0; 1000]);
/// # Ok(())
/// # }
/// ```
pub struct Budget<M, R>(PhantomData<(M, R)>);

/// The registers of a thread of each of two roles.
pub enum Registers<const A: usize, const B: usize> {}
/// The registers of a thread of each of three roles.
pub enum Registers3<const A: usize, const B: usize, const C: usize> {}
/// The registers of a thread of each of four roles.
pub enum Registers4<const A: usize, const B: usize, const C: usize, const D: usize> {}

/// What the threads of a role do about registers.
pub trait Share {
    /// Takes or leaves registers, at the role's start.
    ///
    /// # Safety
    ///
    /// All threads of the role make this call once, in a block of `threads` whose map was checked.
    unsafe fn begin(threads: usize);

    /// Goes back to as many as the launch gave, at the role's end.
    ///
    /// # Safety
    ///
    /// As for `begin`, after it; so do all other roles, which are at their ends too.
    unsafe fn end(threads: usize);
}

/// The role's threads have as many registers as the launch gave them.
pub enum AsLaunched {}

/// The role's threads have so many registers.
pub enum Count<const COUNT: usize> {}

impl Share for AsLaunched {
    #[inline(always)]
    unsafe fn begin(_: usize) {}

    #[inline(always)]
    unsafe fn end(_: usize) {}
}

impl<const COUNT: usize> Share for Count<COUNT> {
    #[inline(always)]
    unsafe fn begin(threads: usize) {
        // SAFETY: (0) all threads of the role make this call, which is whole warpgroups, and its
        // number is one that there is (`check`); (1) the other roles do so too, and together they
        // have no more than before (`check`).
        unsafe { isa::share_registers(at_launch(threads) as u32, COUNT as u32) };
    }

    #[inline(always)]
    unsafe fn end(threads: usize) {
        // SAFETY: as for `begin`, after it.
        unsafe { isa::restore_registers(COUNT as u32, at_launch(threads) as u32, threads) };
    }
}

/// Registers of a multiprocessor.
const ALL: usize = 65536;
/// The most that a launch gives a thread.
const MOST_AT_LAUNCH: usize = 248;
/// What numbers of registers are multiples of.
const MULTIPLE: usize = 8;
/// The least that a thread of a role has.
const LEAST: usize = 24;
/// The most.
const MOST: usize = 256;

/// The registers of a thread of a block with so many, where the roles share them out. The builder
/// has them given (`build/src/ir/synthesised/registers.rs`).
pub(crate) const fn at_launch(threads: usize) -> usize {
    let of_thread = ALL / threads / MULTIPLE * MULTIPLE;
    if of_thread < MOST_AT_LAUNCH { of_thread } else { MOST_AT_LAUNCH }
}

/// What `roles` (threads, and the registers of each) can't have in a block of `threads`, if there
/// is something; `text` is who they are.
pub(crate) const fn problem(text: Text, roles: &[(usize, usize)], threads: usize) -> Option<Text> {
    let (mut at, mut sum) = (0, 0);
    while at < roles.len() {
        let (members, registers) = roles[at];
        if !members.is_multiple_of(WARPGROUP) {
            let text = text.text(" with registers of their own are whole warpgroups, multiples of 128 threads:");
            return Some(text.text(" `Budget<WarpRoles<128, 256>, Registers<40, 232>>`"));
        }
        if !registers.is_multiple_of(MULTIPLE) || registers < LEAST || registers > MOST {
            return Some(text.text(" have a multiple of 8 registers a thread, from 24 to 256: `Registers<40, 232>`"));
        }
        sum += members * registers;
        at += 1;
    }
    if sum <= threads * at_launch(threads) {
        return None;
    }
    let text = text.text(" have ").number(sum).text(" registers together, and a block of ").number(threads);
    let text = text.text(" threads is launched with ").number(threads * at_launch(threads));
    let text = text.text(", ").number(at_launch(threads)).text(" a thread: give a role that only copies fewer,");
    Some(text.text(" down to 24"))
}

/// Refuses, at compile time, what [`problem`] finds.
pub(super) const fn check(roles: &[(usize, usize)], threads: usize) {
    if let Some(text) = problem(Text::new().text("the roles"), roles, threads) {
        text.fail();
    }
}
