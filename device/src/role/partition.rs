//! A block divided into roles.

use core::marker::PhantomData;
use core::mem::needs_drop;

use super::capture::{self, Handed};
use super::channel::Between;
use super::links::{Another, Append, Ends, Link, Links};
use super::map::registers::Share as _;
use super::map::sealed::Role as _;
use super::map::{self, InRole, Of, Role, Role0, Role1, Role2, Role3, RoleMap};
use super::result::RoleResult;
use crate::engine::{self, Engine};
use crate::group::block::Block;
use crate::isa::product::check_warpgroups;
use crate::isa::{self, Part};
use crate::marker::{BlockLevel, Brand, RoleShared, Uniform};
use crate::memory::Shared;
use crate::scope::BlockScope;
use crate::stage::contents;
use crate::stage::stages::Stages;

/// A block whose threads are to be divided by the role map `M`, with its pipelines `L` and the
/// closures `A` of its roles so far.
///
/// Nothing happens before [`run`](Self::run).
#[must_use = "nothing runs before `run()`"]
pub struct Partition<'b, M, L, A, const THREADS: usize> {
    links: L,
    roles: A,
    brand: Brand<'b>,
    level: BlockLevel,
    map: PhantomData<M>,
}

impl<M, L, A, const THREADS: usize> !Uniform for Partition<'_, M, L, A, THREADS> {}

/// The closure of one role and what is handed to it.
pub struct Assigned<H, F, O> {
    pub(super) hand: H,
    pub(super) body: F,
    result: PhantomData<fn() -> O>,
}

/// The closures that a partition has so far. Sealed.
pub trait AssignedRoles: sealed::AssignedRoles {
    /// The role whose closure comes next.
    type Next;
    /// What the closures so far return.
    type Results;
}

/// Says that each role of the map `M` has its closure.
#[diagnostic::on_unimplemented(
    message = "not every role of `{M}` has its closure",
    label = "call `.role(hand, closure)` once for each role before this",
    note = "the closures stand in the order of the roles; a role without anything to do is `.role((), |_, _, ()| {{}})`"
)]
pub trait Complete<M, L: Links, const THREADS: usize>: sealed::Complete<M, L, THREADS> {}

mod sealed {
    pub trait AssignedRoles {}
    pub trait Complete<M, L: super::Links, const THREADS: usize>: super::AssignedRoles {
        /// Runs the closures. If `ENDS`, ends the links and collects the results, and returns these
        /// with the links' memory; else nobody gets that.
        ///
        /// # Safety
        ///
        /// Called in block-level code of a block of `THREADS`, whose roles `M` has; the links'
        /// barriers are made.
        unsafe fn run<const ENDS: bool>(self, links: L) -> Option<(Self::Results, L::Memory)>;
    }
}

impl<'b, const THREADS: usize> Block<'b, THREADS> {
    /// Divides the block's threads into the roles of the map `M`, whose sizes add up to `THREADS`,
    /// or it does not compile.
    ///
    /// Then [`pipeline`](Partition::pipeline), [`role`](Partition::role) for each role, and
    /// [`run`](Partition::run).
    #[inline(always)]
    pub fn partition<M: RoleMap>(&self) -> Partition<'b, M, (), (), THREADS> {
        const { map::check::<M>(THREADS) };
        Partition { links: (), roles: (), brand: PhantomData, level: PhantomData, map: PhantomData }
    }
}

impl<'b, M: RoleMap, L, const THREADS: usize> Partition<'b, M, L, (), THREADS> {
    /// Adds a pipeline from the map's first role to its second one. For the order of several see
    /// [`pipeline_between`](Self::pipeline_between).
    ///
    /// A tile that the engine can't copy does not compile.
    ///
    /// CUDA: `cuda::make_pipeline(block, &shared_state, role)`.
    #[inline(always)]
    #[expect(clippy::type_complexity, reason = "the pipelines are in the type")]
    pub fn pipeline<'s, C, E, P, const COUNT: usize>(
        self,
        shared: Shared<'s, super::Partitioned<Stages<C, COUNT, E, BlockScope>>, P>,
    ) -> Partition<
        'b,
        M,
        <L as super::links::sealed_append::Append<
            Link<'s, Between<Stages<C, COUNT, E, BlockScope>, Of<M, Role0>, Of<M, Role1>, P>>,
        >>::Links,
        (),
        THREADS,
    >
    where
        C: contents::Contents,
        E: Engine,
        Of<M, Role0>: Role,
        Of<M, Role1>: Role,
        L: Append<Link<'s, Between<Stages<C, COUNT, E, BlockScope>, Of<M, Role0>, Of<M, Role1>, P>>>,
    {
        self.pipeline_between(Role0, Role1, shared)
    }

    /// Adds a pipeline from one role to another, such as `pipeline_between(Role1, Role2, shared)`.
    ///
    /// Each role's closure gets a tuple of its ends of all pipelines, in the order in which they
    /// were added, with `()` where it takes no part; with a single pipeline its end itself.
    #[inline(always)]
    #[expect(clippy::type_complexity, reason = "the pipelines are in the type")]
    pub fn pipeline_between<'s, From, To, C, E, P, const COUNT: usize>(
        self,
        _: From,
        _: To,
        shared: Shared<'s, super::Partitioned<Stages<C, COUNT, E, BlockScope>>, P>,
    ) -> Partition<
        'b,
        M,
        <L as super::links::sealed_append::Append<
            Link<'s, Between<Stages<C, COUNT, E, BlockScope>, Of<M, From>, Of<M, To>, P>>,
        >>::Links,
        (),
        THREADS,
    >
    where
        From: Another<To>,
        C: contents::Contents,
        E: Engine,
        Of<M, From>: Role,
        Of<M, To>: Role,
        L: Append<Link<'s, Between<Stages<C, COUNT, E, BlockScope>, Of<M, From>, Of<M, To>, P>>>,
    {
        const {
            contents::check::<C, E, InRole<Of<M, From>>, BlockScope>(COUNT);
            check_apart::<Of<M, From>, Of<M, To>, C>();
        };
        let links = self.links.append(Link::new(shared));
        Partition { links, roles: (), brand: PhantomData, level: PhantomData, map: PhantomData }
    }
}

impl<'b, M: RoleMap, L, A: AssignedRoles, const THREADS: usize> Partition<'b, M, L, A, THREADS> {
    #[inline(always)]
    pub(super) fn into_links(self) -> L {
        self.links
    }

    /// Gives the next role of the map its closure: `body(group, ends, hand)`, run by the role's
    /// threads.
    ///
    /// `hand` is what this role alone gets: an output view (`&mut out`), what the role has
    /// [`Kept`](super::Kept), a tuple of these, or `()`. `body` may capture what is [`Uniform`] and
    /// [`RoleShared`]. What it returns is a [`RoleResult`].
    #[inline(always)]
    pub fn role<H, F, O>(self, hand: H, body: F) -> Partition<'b, M, L, (A, Assigned<H, F, O>), THREADS>
    where
        Of<M, A::Next>: Role,
        L: Ends<A::Next>,
        H: Handed<Of<M, A::Next>>,
        F: for<'r> FnOnce(<Of<M, A::Next> as Role>::Group<'r>, <L as Ends<A::Next>>::At<'r>, H) -> O,
        F: Uniform + RoleShared,
        O: RoleResult<Of<M, A::Next>>,
    {
        const { check_role::<Of<M, A::Next>, H, F, O>() };
        let roles = (self.roles, Assigned { hand, body, result: PhantomData });
        Partition { links: self.links, roles, brand: PhantomData, level: PhantomData, map: PhantomData }
    }

    /// Runs each role's closure in the role's threads, and waits for all of them. Returns what the
    /// closures returned, and the pipelines' shared memory for other uses.
    ///
    /// When a closure returns, its role's copies are waited for and its ends leave their pipelines,
    /// whatever the closure did with them.
    ///
    /// PTX: `mbarrier.init`, `bar.sync`; the roles; `barrier.sync`, `mbarrier.inval`, `bar.sync`.
    ///
    /// # Threads
    ///
    /// The block.
    #[inline(always)]
    pub fn run(self) -> (A::Results, L::Memory)
    where
        A: Complete<M, L, THREADS>,
        L: Links,
    {
        match self.run_roles::<true>() {
            Some(ended) => ended,
            // It is `Some` where the links were ended.
            None => unreachable!(),
        }
    }

    /// As [`run`](Self::run), where nothing comes back: what the closures return is dropped, and
    /// the pipelines' memory is not used again. So their barriers need not be ended, which a short
    /// kernel would wait for at its end.
    ///
    /// PTX: `mbarrier.init`, `bar.sync`; the roles; `barrier.sync`.
    ///
    /// # Threads
    ///
    /// The block.
    #[inline(always)]
    pub fn run_last(self)
    where
        A: Complete<M, L, THREADS>,
        L: Links,
    {
        self.run_roles::<false>();
    }

    #[inline(always)]
    fn run_roles<const ENDS: bool>(self) -> Option<(A::Results, L::Memory)>
    where
        A: Complete<M, L, THREADS>,
        L: Links,
    {
        // SAFETY: one thread, before the others use the barriers (`begin`). The links' memory is
        // their own.
        let init = || unsafe { self.links.init() };
        // SAFETY: a partition is made by a block of THREADS and exists in block-level code only
        // (R2).
        unsafe { begin::<L>(init) };
        // SAFETY: a partition is made by a block of THREADS and exists in block-level code only
        // (R2); the barriers are made.
        unsafe { self.roles.run::<ENDS>(self.links) }
    }
}

/// Refuses, at compile time, a pipeline that warpgroups which run apart can't take part in.
const fn check_apart<From: Role, To: Role, C: contents::Contents>() {
    assert!(
        !From::APART,
        "the warpgroups of an `Apart` role go different ways, so they fill no stages together: a pipeline goes to that role"
    );
    assert!(
        !To::APART || !<C as contents::sealed::Contents>::READ_BY_THREADS,
        "the warpgroups of an `Apart` role leave a pipeline one by one, which stages that threads read are not made for: a pipeline to it is \
         of `OperandTile`s"
    );
}

/// Refuses, at compile time, what the closure of a role can't have whose warpgroups run apart.
const fn check_role<R: Role, H: Handed<R>, F, O>() {
    if !R::APART {
        return;
    }
    check_warpgroups(R::MEMBERS);
    assert!(
        <H as capture::sealed::Handed<R>>::OF_WARPGROUPS,
        "the warpgroups of an `Apart` role share nothing but outputs of which each writes its own rows: hand over `()`, a `TensorMut`, a \
         `TileReduction`, `RowValuesMut`, memory of `Outputs`, `PreparedTurns`, or a tuple of these"
    );
    assert!(
        size_of::<O>() == 0,
        "the warpgroups of an `Apart` role would return as many results as there are of them: the closure returns `()`"
    );
    assert!(
        !needs_drop::<F>() && !needs_drop::<H>(),
        "the closure of an `Apart` role runs once for each warpgroup, with copies of what it captures: that is nothing to be dropped"
    );
}

/// Makes the pipelines' barriers: `init` does so.
///
/// # Safety
///
/// Called in block-level code. One thread may call `init`, before all others use what it makes.
#[inline(always)]
pub(super) unsafe fn begin<L: Links>(init: impl FnOnce()) {
    isa::for_first_member(isa::Members::FIRST, init);
    if L::BY_BYTES {
        // One fence covers all that the thread did to shared memory, whichever pipelines it is of.
        isa::fence_proxy_async();
    }
    // SAFETY: block-level code is converged.
    unsafe { isa::barrier() };
}

/// Ends the pipelines' barriers, which `inval` does, and gives their memory back.
///
/// # Safety
///
/// Called in block-level code, after a barrier of the block that follows the leaving of the last
/// role. One thread may call `inval`, which ends all barriers that were made.
#[inline(always)]
pub(super) unsafe fn end<L: Links>(links: L, inval: impl FnOnce(&L)) -> L::Memory {
    isa::for_first_member(isa::Members::FIRST, || inval(&links));
    // SAFETY: block-level code is converged.
    unsafe { isa::barrier() };
    // SAFETY: this is after that barrier; each role has waited for its copies, and its reads are
    // over.
    unsafe { links.give_back() }
}

/// Where shared memory begins, for a role that begins here.
///
/// Roles that hand over what products alone read each take the address for themselves: their loops
/// then compute places in uniform registers. Where threads read stages too, registers are needed
/// for other things, and a constant takes none.
#[inline(always)]
fn origin<L: Links>() -> isa::SharedOrigin {
    if L::OF_PRODUCTS { isa::shared_origin_here() } else { None }
}

/// Runs one role's closure with the role's registers, leaves its ends, and publishes its result.
///
/// # Safety
///
/// Called once by all threads of the role, whose links' barriers are made, in a block of `THREADS`
/// all of whose threads make this call for their roles.
#[inline(always)]
unsafe fn enter<M, I, L, H, F, O, const THREADS: usize>(links: &L, role: Assigned<H, F, O>) -> O
where
    Of<M, I>: Role,
    L: Links + Ends<I>,
    F: for<'r> FnOnce(<Of<M, I> as Role>::Group<'r>, <L as Ends<I>>::At<'r>, H) -> O,
    O: RoleResult<Of<M, I>>,
{
    // SAFETY: the caller's promise; the map was checked when the partition was made.
    unsafe { <Of<M, I> as map::sealed::Role>::Registers::begin(THREADS) };
    let mut state = L::state();
    let result = {
        // SAFETY: this is role-level code of the role: all its threads call it, and it alone knows
        // the lifetime that `body` takes.
        let group = unsafe { Of::<M, I>::group() };
        // SAFETY: this is role-level code of the role; the state is new, and these ends are the
        // only ones.
        let ends = unsafe { links.ends(&mut state, origin::<L>()) };
        (role.body)(group, ends, role.hand)
    };
    // Copies of stages that were filled and never committed land too.
    engine::drain_all();
    // SAFETY: this is after the closure.
    unsafe { links.before_leave(&mut state) };
    // SAFETY: this is after the closure.
    let asked = || unsafe { links.others_have_left(&state) };
    // SAFETY: a role of such ends is warpgroups, all of whose threads come here.
    let all_have_left = || L::APART && unsafe { isa::first_in_warp(asked) };
    if L::TRIES && !all_have_left() {
        // SAFETY: this is after the closure.
        while !unsafe { links.try_leave(&mut state) } {}
    }
    // SAFETY: this is after the closure, and called as often as `leave` asks.
    unsafe { links.leave(&mut state) };
    // SAFETY: this is after that, once.
    unsafe { links.say_left(&state) };
    // SAFETY: this too.
    unsafe { links.land_kept(&state) };
    // SAFETY: the caller synchronises the block next.
    unsafe { result.publish() };
    // SAFETY: as for `begin`, at the role's end.
    unsafe { <Of<M, I> as map::sealed::Role>::Registers::end(THREADS) };
    result
}

macro_rules! assigned {
    ($($next:ty: $all:ty => $($hand:ident $body:ident $output:ident)*;)*) => {$(
        impl<$($hand, $body, $output),*> AssignedRoles for $all {
            type Next = $next;
            type Results = ($($output,)*);
        }
        impl<$($hand, $body, $output),*> sealed::AssignedRoles for $all {}
    )*};
}
assigned! {
    Role0: () => ;
    Role1: ((), Assigned<H0, F0, O0>) => H0 F0 O0;
    Role2: (((), Assigned<H0, F0, O0>), Assigned<H1, F1, O1>) => H0 F0 O0 H1 F1 O1;
    Role3: ((((), Assigned<H0, F0, O0>), Assigned<H1, F1, O1>), Assigned<H2, F2, O2>) => H0 F0 O0 H1 F1 O1 H2 F2 O2;
    core::convert::Infallible: (((((), Assigned<H0, F0, O0>), Assigned<H1, F1, O1>), Assigned<H2, F2, O2>), Assigned<H3, F3, O3>) =>
        H0 F0 O0 H1 F1 O1 H2 F2 O2 H3 F3 O3;
}

macro_rules! complete {
    ($count:literal, $all:ty, $pattern:pat => $($hand:ident $body:ident $output:ident $role:ident $assigned:ident $result:ident),*) => {
        impl<M: RoleMap, L, $($hand, $body, $output,)* const THREADS: usize> Complete<M, L, THREADS> for $all
        where
            M: map::sealed::RoleMap<Count = map::Roles<$count>>,
            L: Links $(+ Ends<$role>)*,
            $(
                Of<M, $role>: Role,
                $body: for<'r> FnOnce(<Of<M, $role> as Role>::Group<'r>, <L as Ends<$role>>::At<'r>, $hand) -> $output,
                $output: RoleResult<Of<M, $role>>,
            )*
        {
        }

        impl<M: RoleMap, L, $($hand, $body, $output,)* const THREADS: usize> sealed::Complete<M, L, THREADS> for $all
        where
            M: map::sealed::RoleMap<Count = map::Roles<$count>>,
            L: Links $(+ Ends<$role>)*,
            $(
                Of<M, $role>: Role,
                $body: for<'r> FnOnce(<Of<M, $role> as Role>::Group<'r>, <L as Ends<$role>>::At<'r>, $hand) -> $output,
                $output: RoleResult<Of<M, $role>>,
            )*
        {
            #[inline(always)]
            unsafe fn run<const ENDS: bool>(self, links: L) -> Option<(($($output,)*), L::Memory)> {
                let $pattern = self;
                let parts = ($(Part {
                    members: Of::<M, $role>::MEMBERS,
                    apart: <Of<M, $role> as map::sealed::Role>::APART,
                    // SAFETY: every thread of the role makes this call, and the caller, of a block
                    // of THREADS, has made the barriers.
                    body: || unsafe { enter::<M, $role, L, _, _, _, THREADS>(&links, $assigned) },
                },)*);
                // SAFETY: all threads of the block make this call, and then `reconverge`. What the
                // closures capture is `Uniform` (`role` asks for it), `Handed` to one of them, or
                // the links, which are addresses; results are plain data. Of what runs apart `role`
                // has checked the rest (`check_role`): warpgroups, copies of what needs no drop and
                // of outputs whose rows each warpgroup has for itself, and no results.
                let ($($result,)*) = unsafe { isa::divide(parts) };
                // SAFETY: each thread of the block has been in one role, and all make this call.
                unsafe { isa::reconverge::<THREADS>() };
                if !ENDS {
                    return None;
                }
                // SAFETY: one thread; no thread uses the barriers any more, and leaving has waited
                // for all arrivals.
                let inval = |links: &L| unsafe { links.inval() };
                // SAFETY: this is after that barrier; every role has left.
                let memory = unsafe { end(links, inval) };
                let results = ($(
                    // SAFETY: this is after both barriers.
                    unsafe { $output::collect($result) },
                )*);
                Some((results, memory))
            }
        }
    };
}
complete!(2, (((), Assigned<H0, F0, O0>), Assigned<H1, F1, O1>), (((), a), b) =>
    H0 F0 O0 Role0 a r0, H1 F1 O1 Role1 b r1);
complete!(3, ((((), Assigned<H0, F0, O0>), Assigned<H1, F1, O1>), Assigned<H2, F2, O2>), ((((), a), b), c) =>
    H0 F0 O0 Role0 a r0, H1 F1 O1 Role1 b r1, H2 F2 O2 Role2 c r2);
complete!(4, (((((), Assigned<H0, F0, O0>), Assigned<H1, F1, O1>), Assigned<H2, F2, O2>), Assigned<H3, F3, O3>), (((((), a), b), c), d) =>
    H0 F0 O0 Role0 a r0, H1 F1 O1 Role1 b r1, H2 F2 O2 Role2 c r2, H3 F3 O3 Role3 d r3);
