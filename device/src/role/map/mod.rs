//! Role maps: which threads of a block have which role.

pub(crate) mod registers;

use core::marker::PhantomData;

use self::registers::{AsLaunched, Budget, Count, Registers, Registers3, Registers4};
use super::group::RoleGroup;
use crate::group::scratch::CollectiveGroup;
use crate::group::{Deal, Group};
use crate::isa::{self, Members, WARP, WARPS};
use crate::scope::BlockScope;

/// Which threads of a block have which role. Sealed: [`WarpRoles`], [`WarpRoles3`], [`WarpRoles4`],
/// [`EvenOdd`] and [`FirstThreads`], the first three with a [`Budget`], and two roles [`Apart`].
///
/// Sizes are in threads and add up to the block's; a role without threads does not compile.
///
/// CUDA: the `cuda::pipeline_role` that each thread passes to `make_pipeline`, or its
/// `producer_count`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no role map",
    label = "doesn't say which threads have which role",
    note = "take `WarpRoles<P, C>`, `WarpRoles3<A, B, C>`, `WarpRoles4<A, B, C, D>`, `EvenOdd<HALF>` or `FirstThreads<P, C>`, with sizes in threads",
    note = "a `Budget` has as many numbers of registers as its map has roles: `Budget<WarpRoles<128, 256>, Registers<40, 232>>`; `Apart` \
            takes `WarpRoles`, with or without a `Budget`"
)]
pub trait RoleMap: 'static + sealed::RoleMap {}

/// The first `P` threads have role 0, the next `C` role 1; both are whole warps.
///
/// So the roles synchronise by named barrier and have collectives.
pub enum WarpRoles<const P: usize, const C: usize> {}
/// Three roles of whole warps: the first `A` threads, the next `B`, the last `C`.
pub enum WarpRoles3<const A: usize, const B: usize, const C: usize> {}
/// Four roles of whole warps: the first `A` threads, the next `B`, the next `C`, the last `D`.
pub enum WarpRoles4<const A: usize, const B: usize, const C: usize, const D: usize> {}
/// Threads of even rank have role 0, those of odd rank role 1, `HALF` each (the programming guide's
/// `with_specialized_staging_unified`).
///
/// Both roles run in every warp, so the warp diverges and executes them alternately: [`WarpRoles`]
/// is about twice as fast.
pub enum EvenOdd<const HALF: usize> {}
/// The first `P` threads have role 0, the next `C` role 1; neither has to be whole warps (CUDA:
/// `make_pipeline` with a `producer_count`).
pub enum FirstThreads<const P: usize, const C: usize> {}

/// A map of two roles, [`WarpRoles`], also with a [`Budget`], in whose second one each warpgroup
/// runs the closure for itself: they go different ways in it.
///
/// For warpgroups that need different stages of one pipeline: each multiplies those that it needs
/// and only gives the others back, [`Ready::release`](super::Ready::release), and is where it is in
/// the pipeline whatever the others do. [`RoleGroup::own_rows`] says which rows of the products are
/// those of the calling warpgroup. A stage is filled again when all warpgroups have given it back.
/// If `APART` is false, all is as without it: for a kernel of which some instances are apart.
///
/// The role has what a warpgroup does by itself: products, their sums and rows of these, tiles of
/// sums that are stored, closures that run per thread. It has no barrier: what its threads would do
/// together, such as [`sync`](RoleGroup::sync), [`reduce`](RoleGroup::reduce) or a wait for a
/// limited time, does not compile. Nor does a pipeline to it whose stages threads read; they are of
/// [`OperandTile`](crate::product::OperandTile)s. It returns nothing, and what is handed to it is
/// an output of sums, memory of [`Outputs`](crate::Outputs), turns that the block has
/// [prepared](super::PreparedTurns), or a tuple of these.
///
/// A warpgroup that leaves before the producers do gives back all stages that still come: the
/// producers fill them, and the other warpgroups get them. Producers that fill stages until nobody
/// wants them would do so for ever.
///
/// PTX: none of its own. CUDA: none; in CUTLASS the warpgroups of a consumer have states of the
/// pipeline of their own.
///
/// # Examples
///
/// ```
/// use tilepipe::product::OperandTile;
/// use tilepipe::role::{Apart, Partitioned, WarpRoles};
/// use tilepipe::{
///     Block, Extents2, Outputs, Panels2, Shared, Stages, Swizzle128, Tensor, TensorMap, TensorMut,
///     TensorTile, bf16, kernel,
/// };
///
/// type Rows = OperandTile<bf16, Extents2<128, 64>, Swizzle128>;
/// type Columns = OperandTile<bf16, Extents2<64, 64>, Swizzle128>;
/// type Panel = Panels2<128, 64, 32>;
///
/// /// Writes `A * B`, of a matrix A of 128 rows in which all is zero above the diagonal, and in
/// /// tiles of 64 columns.
/// #[kernel(min_blocks = 1)]
/// pub fn lower(
///     block: Block<384>,
///     a: Tensor<bf16, Extents2<128, 64>, Swizzle128>,
///     b: Tensor<bf16, Extents2<64, 64>, Swizzle128>,
///     out: TensorMut<f32, Panel, Swizzle128>,
///     shared: Shared<(
///         Partitioned<Stages<(Rows, Columns), 2, TensorMap>>,
///         Outputs<TensorTile<f32, Panel, Swizzle128>, 2>,
///     )>,
/// ) {
///     let (stages, outputs) = shared.split();
///     block
///         .partition::<Apart<WarpRoles<128, 256>>>()
///         .pipeline(stages)
///         .role((), |_, mut producer, ()| {
///             for along in [0, 64] {
///                 let Ok(stage) = producer.acquire() else { return };
///                 producer = stage.copy((a.at(0, along), b.at(0, along))).commit();
///             }
///         })
///         .role((out, outputs), |group, consumer, (out, outputs)| {
///             let mut ring = outputs.outputs(&group, out);
///             // The first 64 rows have zeros in the second tile.
///             let tiles = group.own_rows().end / 64;
///             let (_, sums) = group.multiply(consumer, tiles);
///             let Ok(sums) = sums else { return };
///             ring.store_sums(0, &group, &sums, |_, _, sum| sum);
///         })
///         .run_last();
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Random { seed: 5 });
/// # let of_ones = |at: usize| bf16::from_f32(f32::from(u8::from(at % 128 <= at / 128)));
/// # let a = device.upload_2d(&(0..128 * 128).map(of_ones).collect::<Vec<_>>(), 128)?;
/// # let b = device.upload_2d(&[bf16::from_f32(1.0); 64 * 128], 128)?;
/// # let mut out = device.zeroed_2d::<f32>(64, 128)?;
/// # lower::launch(&device.stream()?, 1, &a, &b, &mut out)?;
/// # let expected: Vec<f32> = (0..128 * 64).map(|at| (at / 64 + 1) as f32).collect();
/// # assert_eq!(out.download()?, expected);
/// # Ok(())
/// # }
/// ```
pub struct Apart<M, const APART: bool = true>(PhantomData<M>);

/// The first role of a map.
#[derive(Clone, Copy, Debug)]
pub struct Role0;
/// The second role of a map.
#[derive(Clone, Copy, Debug)]
pub struct Role1;
/// The third role of a map.
#[derive(Clone, Copy, Debug)]
pub struct Role2;
/// The fourth role of a map.
#[derive(Clone, Copy, Debug)]
pub struct Role3;

/// The number of roles.
pub enum Roles<const COUNT: usize> {}

/// The role `I` of the map `M`.
pub struct Of<M, I>(PhantomData<(M, I)>);

/// One role of a map. Sealed: implemented by [`Of`].
#[diagnostic::on_unimplemented(
    message = "a role map has no such role: `{Self}`",
    label = "one closure too many, or a pipeline to a role that is not there",
    note = "`WarpRoles`, `EvenOdd` and `FirstThreads` have two roles, `WarpRoles3` has three, `WarpRoles4` four"
)]
pub trait Role: 'static + sealed::Role {
    /// The role's threads, as its closure gets them.
    type Group<'r>;

    /// The role's threads.
    ///
    /// # Safety
    ///
    /// Called in role-level code of this role, with a lifetime of that code's own.
    #[doc(hidden)]
    unsafe fn group<'r>() -> Self::Group<'r>;
}

/// Says that a role's threads are whole warps.
#[diagnostic::on_unimplemented(
    message = "the threads of this role are not whole warps, so they have no barrier and no collectives of their own",
    label = "only roles of whole warps can meet",
    note = "a barrier counts whole warps, and a warp-wide instruction waits for lanes of the other role: make the roles \
            `WarpRoles<P, C>`, or combine values at block level, behind `run()`"
)]
pub trait WholeWarps: Role + CollectiveGroup {
    /// The number of the role's barrier.
    const BARRIER: u32;
}

/// Says that a role's threads are warpgroups: four whole warps each, from a multiple of 128 threads
/// on, which multiply together.
#[diagnostic::on_unimplemented(
    message = "the threads of this role are no warpgroups, so they can't multiply by tensor cores",
    label = "not four whole warps, or several times four",
    note = "take `WarpRoles<P, C>` with multiples of 128 threads: `WarpRoles<128, 256>`"
)]
pub trait Warpgroups: WholeWarps {}

impl<R: WholeWarps> Warpgroups for R {}

/// The number of a role's barrier: none, at compile time, if its warpgroups run apart.
const fn barrier_of<R: sealed::Role>() -> u32 {
    assert!(
        !R::APART,
        "the warpgroups of an `Apart` role go different ways, so its threads do nothing together: no `sync`, `reduce`, `any`, `broadcast`, \
         scratch memory or turns; a role taken together has them, `WarpRoles<P, C>`"
    );
    R::BARRIER_ID
}

pub(crate) mod sealed {
    use crate::isa::Members;

    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no role map: `RoleMap` is sealed",
        label = "not one of tilepipe's role maps",
        note = "barriers count the threads that a map names: take `WarpRoles`, `WarpRoles3`, `WarpRoles4`, `EvenOdd` or `FirstThreads`"
    )]
    pub trait RoleMap {
        /// The threads of all roles.
        const THREADS: usize;
        /// Whether each role is whole warps. Not every number of threads compiles.
        const WARPS: bool;
        /// Whether the sizes are multiples of a warp, where they have to be.
        const FIT_WARPS: bool;
        /// The size of the smallest role, in threads.
        const LEAST: usize;
        /// The roles' threads and registers of each of them, if the roles share them out.
        const REGISTERS: Option<&'static [(usize, usize)]> = None;
        /// The number of roles.
        type Count;
    }

    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no role of a map: `Role` is sealed",
        label = "not an `Of<Map, Role0>`",
        note = "barriers count the threads that a map names: the roles of a map are `Of<Map, Role0>`, `Of<Map, Role1>` and so on"
    )]
    pub trait Role: Sized {
        /// The role's place in its map.
        const INDEX: u32;
        /// The number of its barrier, which roles of whole warps have. Barrier 0 is the block's.
        const BARRIER_ID: u32 = 1 + Self::INDEX;
        /// Its threads.
        const MEMBERS: Members;
        /// Whether each of its warpgroups runs the closure for itself.
        const APART: bool = false;
        /// What its threads do about registers.
        type Registers: super::registers::Share;
    }
}

/// Refuses, at compile time, maps that don't fit a block of `threads`.
pub(crate) const fn check<M: RoleMap>(threads: usize) {
    assert!(
        M::LEAST > 0,
        "each role has at least one thread: a role of 0 threads would wait, or be waited for, for ever"
    );
    assert!(
        M::THREADS == threads,
        "the sizes of the roles, in threads, add up to the block's: `WarpRoles<64, 192>` is for a `Block<256>`, and so is `EvenOdd<128>`"
    );
    // Evaluates the map's own assertion, which a partition without a pipeline would not evaluate.
    let _ = M::WARPS;
    if let Some(roles) = M::REGISTERS {
        registers::check(roles, threads);
    }
}

/// The threads of a role, sharing out a tile that they copy.
pub struct InRole<R>(PhantomData<R>);

impl<R: Role> crate::group::sealed::Sealed for InRole<R> {}
impl<R: Role> Group for InRole<R> {
    const THREADS: usize = R::MEMBERS.count;
}

impl<R: Role> Deal<BlockScope> for InRole<R> {
    const PARTS: usize = 1;
    const TEAM: usize = R::MEMBERS.count;
    const ONE_TEAM: bool = true;

    #[inline(always)]
    unsafe fn deal(copy: impl Fn(usize, usize)) {
        // SAFETY: the calling thread is a member (0).
        unsafe { isa::for_each_member(R::MEMBERS, |rank| copy(0, rank)) };
    }

    #[inline(always)]
    unsafe fn first(issue: impl FnOnce()) {
        isa::for_first_member(R::MEMBERS, issue);
    }
}

const fn least<const N: usize>(sizes: [usize; N]) -> usize {
    let (mut least, mut at) = (usize::MAX, 0);
    while at < N {
        least = if sizes[at] < least { sizes[at] } else { least };
        at += 1;
    }
    least
}

const fn are_multiples_of_a_warp<const N: usize>(sizes: [usize; N]) -> bool {
    let mut at = 0;
    while at < N {
        if !sizes[at].is_multiple_of(WARP) {
            return false;
        }
        at += 1;
    }
    true
}

/// Whether a map's roles are whole warps; sizes that have to be and are not do not compile.
const fn whole_warps(have_to_be: bool, fit: bool) -> bool {
    assert!(fit, "roles of whole warps have multiples of 32 threads: take `FirstThreads` or `EvenOdd` for others");
    have_to_be
}

/// A map and its roles: each with its first thread's rank, the distance to the next, their number,
/// and what its threads do about registers.
macro_rules! map {
    ($generics:tt $map:ty, $sizes:tt, roles $roles:literal, warps $warps:expr, registers $all:expr; $($role:ident $index:literal: $first:expr, $stride:literal, $count:ident, $registers:ty $(, apart $apart:ident)?;)*) => {
        map_of! { $generics $map, $sizes, $roles, $warps, $all, 0 $(+ $count)* }
        $(role_of! { $generics $map, $role $index: $first, $stride, $count, $registers $(, apart $apart)? })*
    };
}

macro_rules! map_of {
    ([$($generic:tt)*] $map:ty, [$($size:ident)*], $roles:literal, $warps:expr, $registers:expr, $threads:expr) => {
        impl<$($generic)*> RoleMap for $map {}
        impl<$($generic)*> sealed::RoleMap for $map {
            const THREADS: usize = $threads;
            const WARPS: bool = whole_warps($warps, <Self as sealed::RoleMap>::FIT_WARPS);
            const FIT_WARPS: bool = !$warps || are_multiples_of_a_warp([$($size),*]);
            const LEAST: usize = least([$($size),*]);
            const REGISTERS: Option<&'static [(usize, usize)]> = $registers;
            type Count = Roles<$roles>;
        }
    };
}

macro_rules! role_of {
    ([$($generic:tt)*] $map:ty, $role:ident $index:literal: $first:expr, $stride:literal, $count:ident, $registers:ty $(, apart $apart:ident)?) => {
        impl<$($generic)*> Role for Of<$map, $role> {
            type Group<'r> = RoleGroup<'r, Self, $count>;

            #[inline(always)]
            unsafe fn group<'r>() -> RoleGroup<'r, Self, $count> {
                // SAFETY: the caller's promise; the role has this number of threads.
                unsafe { RoleGroup::new() }
            }
        }
        impl<$($generic)*> sealed::Role for Of<$map, $role> {
            const INDEX: u32 = $index;
            const MEMBERS: Members = Members { first: $first, stride: $stride, count: $count };
            $(const APART: bool = $apart;)?
            type Registers = $registers;
        }
    };
}

map!([const P: usize, const C: usize] WarpRoles<P, C>, [P C], roles 2, warps true, registers None;
    Role0 0: 0, 1, P, AsLaunched; Role1 1: P, 1, C, AsLaunched;);
map!([const A: usize, const B: usize, const C: usize] WarpRoles3<A, B, C>, [A B C], roles 3, warps true, registers None;
    Role0 0: 0, 1, A, AsLaunched; Role1 1: A, 1, B, AsLaunched; Role2 2: A + B, 1, C, AsLaunched;);
map!([const A: usize, const B: usize, const C: usize, const D: usize] WarpRoles4<A, B, C, D>, [A B C D], roles 4, warps true, registers None;
    Role0 0: 0, 1, A, AsLaunched; Role1 1: A, 1, B, AsLaunched; Role2 2: A + B, 1, C, AsLaunched;
    Role3 3: A + B + C, 1, D, AsLaunched;);
map!([const HALF: usize] EvenOdd<HALF>, [HALF], roles 2, warps false, registers None;
    Role0 0: 0, 2, HALF, AsLaunched; Role1 1: 1, 2, HALF, AsLaunched;);
map!([const P: usize, const C: usize] FirstThreads<P, C>, [P C], roles 2, warps false, registers None;
    Role0 0: 0, 1, P, AsLaunched; Role1 1: P, 1, C, AsLaunched;);
map!([const P: usize, const C: usize, const RP: usize, const RC: usize] Budget<WarpRoles<P, C>, Registers<RP, RC>>,
    [P C], roles 2, warps true, registers Some(&[(P, RP), (C, RC)]);
    Role0 0: 0, 1, P, Count<RP>; Role1 1: P, 1, C, Count<RC>;);
map!([const A: usize, const B: usize, const C: usize, const RA: usize, const RB: usize, const RC: usize]
    Budget<WarpRoles3<A, B, C>, Registers3<RA, RB, RC>>,
    [A B C], roles 3, warps true, registers Some(&[(A, RA), (B, RB), (C, RC)]);
    Role0 0: 0, 1, A, Count<RA>; Role1 1: A, 1, B, Count<RB>; Role2 2: A + B, 1, C, Count<RC>;);
map!([const A: usize, const B: usize, const C: usize, const D: usize, const RA: usize, const RB: usize, const RC: usize, const RD: usize]
    Budget<WarpRoles4<A, B, C, D>, Registers4<RA, RB, RC, RD>>,
    [A B C D], roles 4, warps true, registers Some(&[(A, RA), (B, RB), (C, RC), (D, RD)]);
    Role0 0: 0, 1, A, Count<RA>; Role1 1: A, 1, B, Count<RB>; Role2 2: A + B, 1, C, Count<RC>;
    Role3 3: A + B + C, 1, D, Count<RD>;);
map!([const P: usize, const C: usize, const APART: bool] Apart<WarpRoles<P, C>, APART>,
    [P C], roles 2, warps true, registers None;
    Role0 0: 0, 1, P, AsLaunched; Role1 1: P, 1, C, AsLaunched, apart APART;);
map!([const P: usize, const C: usize, const RP: usize, const RC: usize, const APART: bool]
    Apart<Budget<WarpRoles<P, C>, Registers<RP, RC>>, APART>,
    [P C], roles 2, warps true, registers Some(&[(P, RP), (C, RC)]);
    Role0 0: 0, 1, P, Count<RP>; Role1 1: P, 1, C, Count<RC>, apart APART;);

macro_rules! roles_of_warps {
    ($([$($generic:tt)*] $map:ty;)*) => {$(
        impl<$($generic)* I> WholeWarps for Of<$map, I>
        where
            Self: Role,
        {
            const BARRIER: u32 = barrier_of::<Self>();
        }
        impl<$($generic)* I> CollectiveGroup for Of<$map, I>
        where
            Self: Role,
        {
            const MEMBERS: Members = <Self as sealed::Role>::MEMBERS;
            const RESULT: usize = WARPS + 1 + <Self as sealed::Role>::INDEX as usize;

            #[inline(always)]
            unsafe fn sync() {
                // SAFETY: the caller's promise; the members are whole warps (`whole_warps`), and
                // the number is this role's own.
                unsafe { isa::role_barrier(Self::BARRIER, <Self as sealed::Role>::MEMBERS) };
            }
        }
    )*};
}
roles_of_warps! {
    [const P: usize, const C: usize,] WarpRoles<P, C>;
    [const A: usize, const B: usize, const C: usize,] WarpRoles3<A, B, C>;
    [const A: usize, const B: usize, const C: usize, const D: usize,] WarpRoles4<A, B, C, D>;
    [const P: usize, const C: usize, R,] Budget<WarpRoles<P, C>, R>;
    [const A: usize, const B: usize, const C: usize, R,] Budget<WarpRoles3<A, B, C>, R>;
    [const A: usize, const B: usize, const C: usize, const D: usize, R,] Budget<WarpRoles4<A, B, C, D>, R>;
    [const P: usize, const C: usize, const APART: bool,] Apart<WarpRoles<P, C>, APART>;
    [const P: usize, const C: usize, R, const APART: bool,] Apart<Budget<WarpRoles<P, C>, R>, APART>;
}
