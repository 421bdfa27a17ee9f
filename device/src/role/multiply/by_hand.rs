//! Products that are started one by one.

#![expect(
    private_interfaces,
    reason = "what the sealed traits say of a factor is of the seam, and nobody else can ask"
)]

use super::super::channel::Channel;
use super::super::end::HeldTile;
use super::super::group::RoleGroup;
use super::super::map::{Warpgroups, sealed};
use super::InFlight;
use super::room::WrittenFactor;
use super::rooms::RoomFactor;
use super::turns::InTurn;
use crate::isa::product::{GROUP_ROWS, Onto, WARPGROUP, Width, check_warpgroups};
use crate::isa::{self, Members};
use crate::marker::Uniform;
use crate::product::sealed::BoxOperand;
use crate::product::{OperandElement, RowFactor, Sums};
use crate::stage::StageSet;

/// A product that is to be started: [`Product::of`] two factors, or one that is added to sums
/// ([`Product::onto`]).
///
/// The left factor's rows are rows of the sums, the right one's are their columns; both lie along
/// K. [`Across`] is for a tile whose rows in memory are across K.
///
/// It owns its factors until it is complete; then they come back, and the tile can be released. A
/// tile that others read too is passed by reference.
#[must_use = "a product does nothing before it is started: `group.product(..)`"]
pub struct Product<S, A, B> {
    pub(super) sums: S,
    pub(super) a: A,
    pub(super) b: B,
}

/// Sums that a product overwrites.
pub struct Fresh {
    pub(super) operands: isa::Operands,
}

impl !Uniform for Fresh {}
impl<S, A, B> !Uniform for Product<S, A, B> {}

impl<'r, A: TileFactor<'r>, B: TileFactor<'r, Element = A::Element>> Product<Fresh, A, B> {
    /// The product of two factors.
    ///
    /// PTX: `shfl.sync.idx`, which is done early where this is.
    #[inline(always)]
    #[track_caller]
    pub fn of<R: Warpgroups, const SIZE: usize>(group: &RoleGroup<'r, R, SIZE>, a: A, b: B) -> Self {
        use sealed_factor::TileFactor as Factor;
        const {
            check_warpgroups(<R as sealed::Role>::MEMBERS);
            check([<A as Factor>::ROWS, SIZE], [<A as Factor>::DEEP, <B as Factor>::DEEP]);
        }
        let both = [operand(&a), operand(&b)];
        // SAFETY: role-level code of a role of warpgroups; the operands lie in shared memory, and
        // start at whole periods.
        let operands = unsafe { isa::Operands::new(group.members(), both) };
        Product { sums: Fresh { operands }, a, b }
    }
}

impl<'r, A, B, W, const SIZE: usize> Product<Sums<'r, W, SIZE>, A, B>
where
    A: LeftFactor<'r, SIZE>,
    B: TileFactor<'r, Element = A::Element, Width = W>,
    W: Width,
{
    /// The sums, to which the product of two factors is added.
    #[inline(always)]
    pub fn onto(sums: Sums<'r, W, SIZE>, a: A, b: B) -> Self {
        use sealed_factor::{LeftFactor as Left, TileFactor as Factor};
        const { check([<A as Left<SIZE>>::ROWS, SIZE], [<A as Left<SIZE>>::DEEP, <B as Factor>::DEEP]) };
        Product { sums, a, b }
    }
}

/// A tile whose rows in memory are across K: its columns are the rows or columns of the product.
pub struct Across<F>(pub F);

/// A tile in shared memory as a factor: a [`HeldTile`] of an
/// [`OperandTile`](crate::product::OperandTile), a [`WrittenFactor`] or a [`RoomFactor`], a
/// reference to one, or [`Across`] of either. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a factor of a product",
    label = "not a held tile that tensor cores take",
    note = "a factor is a `HeldTile` of a stage of one `OperandTile<bf16, Extents2<ROWS, 64>, Swizzle128>` or `Panels2<ROWS, COLUMNS, 64>`, of `bf16` or \
            `f16`: `tile.hold()` gives it",
    note = "a `FullRoom` is a factor when all warpgroups have written it: `room.wait(&group)` gives it",
    note = "a `RowFactor` multiplies what is added to sums: `Product::onto(group.sums(0.0), factor, tile)`"
)]
pub trait TileFactor<'r>: sealed_factor::TileFactor {
    /// Its elements.
    type Element: OperandElement;
    /// Its rows as the columns of a product.
    type Width: Width;
}

/// What multiplies from the left: a [`TileFactor`], or a [`RowFactor`] in registers. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a left factor of a product",
    label = "neither a held tile that tensor cores take nor sums that were rounded",
    note = "a left factor is a `HeldTile` of an `OperandTile`, a reference to one, or what `sums.into_factor(&group)` returns"
)]
pub trait LeftFactor<'r, const SIZE: usize>: sealed_factor::LeftFactor<SIZE> {
    /// Its elements.
    type Element: OperandElement;
}

pub(super) mod sealed_factor {
    use super::*;

    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't be a factor of a product",
        label = "not a held tile that tensor cores take",
        note = "a factor is a `HeldTile` of a stage of one `OperandTile<bf16, Extents2<ROWS, 64>, Swizzle128>`, a reference to one, or `Across` of either"
    )]
    pub trait TileFactor {
        /// Rows or columns of the product.
        const ROWS: usize;
        /// Elements along K.
        const DEEP: usize;
        /// What the instruction is told of it.
        fn operand(&self) -> isa::product::Operand;
        /// What it would be told of such a factor that begins there.
        fn operand_at(place: (isa::product::Start, u32)) -> isa::product::Operand;
    }

    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't be a left factor of a product",
        label = "neither a held tile that tensor cores take nor sums that were rounded",
        note = "a left factor is a `HeldTile` of an `OperandTile`, a reference to one, or what `sums.into_factor(&group)` returns"
    )]
    pub trait LeftFactor<const SIZE: usize> {
        /// Elements along K.
        const DEEP: usize;
        /// Rows of the product.
        const ROWS: usize;

        /// Ties what is in registers, before a product and behind the wait for it.
        ///
        /// # Safety
        ///
        /// Code of the role whose factor it is.
        unsafe fn hold(&mut self);

        /// Starts a product with it.
        ///
        /// # Safety
        ///
        /// As for `isa::Sums::start`.
        unsafe fn start<W: Width>(
            &self,
            sums: &mut isa::Sums<W>,
            members: Members,
            factor: isa::product::Factor,
            b: isa::product::Operand,
        );
    }
}

/// What holds an operand tile: along K as it is, and [`Across`] it, by value or by reference.
macro_rules! tile_factors {
    ($([$($generic:tt)*] $factor:ty, $tile:ty, [$($bound:tt)*];)*) => {$(
        impl<'r, $($generic)*> TileFactor<'r> for $factor
        where
            $($bound)*
        {
            type Element = <$tile as BoxOperand>::Element;
            type Width = <$tile as BoxOperand>::Rows;
        }
        impl<'r, $($generic)*> sealed_factor::TileFactor for $factor
        where
            $($bound)*
        {
            const ROWS: usize = <$tile as BoxOperand>::EXTENTS[0];
            const DEEP: usize = <$tile as BoxOperand>::EXTENTS[1];

            #[inline(always)]
            fn operand(&self) -> isa::product::Operand {
                Self::operand_at(self.place())
            }

            #[inline(always)]
            fn operand_at(place: (isa::product::Start, u32)) -> isa::product::Operand {
                let (start, further) = place;
                isa::product::Operand {
                    start,
                    further,
                    rows: Self::ROWS,
                    deep: Self::DEEP,
                    across: false,
                    row_bytes: <$tile as BoxOperand>::ROW_BYTES,
                }
            }
        }

        impl<'r, $($generic)*> TileFactor<'r> for Across<$factor>
        where
            $($bound)*
        {
            type Element = <$tile as BoxOperand>::Element;
            type Width = <$tile as BoxOperand>::Columns;
        }
        impl<'r, $($generic)*> sealed_factor::TileFactor for Across<$factor>
        where
            $($bound)*
        {
            const ROWS: usize = <$tile as BoxOperand>::EXTENTS[1];
            const DEEP: usize = {
                assert!(<$tile as BoxOperand>::EXTENTS[0].is_multiple_of(16), "a factor has a multiple of 16 elements along K");
                <$tile as BoxOperand>::EXTENTS[0]
            };

            #[inline(always)]
            fn operand(&self) -> isa::product::Operand {
                Self::operand_at(self.0.place())
            }

            #[inline(always)]
            fn operand_at(place: (isa::product::Start, u32)) -> isa::product::Operand {
                let (start, further) = place;
                isa::product::Operand {
                    start,
                    further,
                    rows: Self::ROWS,
                    deep: Self::DEEP,
                    across: true,
                    row_bytes: <$tile as BoxOperand>::ROW_BYTES,
                }
            }
        }

        impl<'r, $($generic)*> TileFactor<'r> for Across<&$factor>
        where
            $($bound)*
        {
            type Element = <Across<$factor> as TileFactor<'r>>::Element;
            type Width = <Across<$factor> as TileFactor<'r>>::Width;
        }
        impl<'r, $($generic)*> sealed_factor::TileFactor for Across<&$factor>
        where
            $($bound)*
        {
            const ROWS: usize = <Across<$factor> as sealed_factor::TileFactor>::ROWS;
            const DEEP: usize = <Across<$factor> as sealed_factor::TileFactor>::DEEP;

            #[inline(always)]
            fn operand(&self) -> isa::product::Operand {
                <Across<$factor> as sealed_factor::TileFactor>::operand_at(self.0.place())
            }

            #[inline(always)]
            fn operand_at(place: (isa::product::Start, u32)) -> isa::product::Operand {
                <Across<$factor> as sealed_factor::TileFactor>::operand_at(place)
            }
        }
    )*};
}
tile_factors! {
    [K, T] HeldTile<'r, K>, T, [K: Channel + StageSet<Contents = T>, T: BoxOperand + crate::stage::contents::Contents];
    ['a, T: BoxOperand] WrittenFactor<'a, T>, T, [];
    [T: BoxOperand + crate::stage::contents::Contents, const COUNT: usize] RoomFactor<'r, T, COUNT>, T, [];
}

impl<'r, F: TileFactor<'r>> TileFactor<'r> for &F {
    type Element = F::Element;
    type Width = F::Width;
}
impl<F: sealed_factor::TileFactor> sealed_factor::TileFactor for &F {
    const ROWS: usize = F::ROWS;
    const DEEP: usize = F::DEEP;

    #[inline(always)]
    fn operand(&self) -> isa::product::Operand {
        F::operand(self)
    }

    #[inline(always)]
    fn operand_at(place: (isa::product::Start, u32)) -> isa::product::Operand {
        F::operand_at(place)
    }
}

impl<'r, F: TileFactor<'r>, const SIZE: usize> LeftFactor<'r, SIZE> for F {
    type Element = F::Element;
}
impl<F: sealed_factor::TileFactor, const SIZE: usize> sealed_factor::LeftFactor<SIZE> for F {
    const DEEP: usize = <F as sealed_factor::TileFactor>::DEEP;
    const ROWS: usize = <F as sealed_factor::TileFactor>::ROWS;

    #[inline(always)]
    unsafe fn hold(&mut self) {}

    #[inline(always)]
    unsafe fn start<W: Width>(
        &self,
        sums: &mut isa::Sums<W>,
        members: Members,
        factor: isa::product::Factor,
        b: isa::product::Operand,
    ) {
        // SAFETY: the caller's promise.
        let operands = unsafe { isa::Operands::new(members, [operand(self), b]) };
        // SAFETY: as above.
        unsafe { sums.start(factor, &operands, Onto::Sums) };
    }
}

impl<'r, T: OperandElement, D: Width, const SIZE: usize> LeftFactor<'r, SIZE> for RowFactor<'r, T, D, SIZE> {
    type Element = T;
}
impl<T: OperandElement, D: Width, const SIZE: usize> sealed_factor::LeftFactor<SIZE> for RowFactor<'_, T, D, SIZE> {
    const DEEP: usize = D::COLUMNS;
    const ROWS: usize = SIZE / WARPGROUP * GROUP_ROWS;

    #[inline(always)]
    unsafe fn hold(&mut self) {
        // SAFETY: the caller's promise.
        unsafe { self.fragment.hold() };
    }

    #[inline(always)]
    unsafe fn start<W: Width>(
        &self,
        sums: &mut isa::Sums<W>,
        members: Members,
        factor: isa::product::Factor,
        b: isa::product::Operand,
    ) {
        // SAFETY: the caller's promise.
        unsafe { sums.start_by(members, factor, &self.fragment, b) };
    }
}

/// A [`Product`] that a role of `SIZE` threads can start. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no product that this role can start",
    label = "not made by `Product::of` or `Product::onto` with this role's sums and tiles"
)]
pub trait Start<'r, const SIZE: usize>: sealed_start::Start<'r, SIZE> {}

mod sealed_start {
    use super::*;

    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no product that this role can start",
        label = "not made by `Product::of` or `Product::onto` with this role's sums and tiles"
    )]
    pub trait Start<'r, const SIZE: usize> {
        /// The columns of the sums.
        type Width: Width;
        /// The left factor.
        type A;
        /// The right one.
        type B;
        /// What was computed before.
        type Early;

        /// The sums, and the factors.
        fn parts(self, members: Members) -> (isa::Sums<Self::Width>, Self::Early, Self::A, Self::B);

        /// Ties what registers hold.
        ///
        /// # Safety
        ///
        /// Code of the role whose product it is.
        unsafe fn hold(sums: &mut isa::Sums<Self::Width>, a: &mut Self::A);

        /// Starts the product.
        ///
        /// # Safety
        ///
        /// As for `isa::Sums::start`.
        unsafe fn start(
            sums: &mut isa::Sums<Self::Width>,
            early: &Self::Early,
            members: Members,
            factors: (&Self::A, &Self::B),
        );
    }
}

/// What the instruction is told of a factor.
#[inline(always)]
pub(super) fn operand<F: sealed_factor::TileFactor>(factor: &F) -> isa::product::Operand {
    factor.operand()
}

/// Refuses, at compile time, factors that do not fit.
pub(super) const fn check([rows, size]: [usize; 2], [deep_a, deep_b]: [usize; 2]) {
    assert!(
        rows == size / WARPGROUP * GROUP_ROWS,
        "each warpgroup multiplies 64 rows of the left factor: a role of 256 threads takes tiles of 128 rows"
    );
    assert!(deep_a == deep_b, "both factors have the same number of elements along K");
}

/// What the instruction takes the elements of a factor for.
const fn kind_of<T: OperandElement>() -> isa::product::Factor {
    <T as crate::product::sealed::OperandElement>::FACTOR
}

impl<'r, A, B, const SIZE: usize> Start<'r, SIZE> for Product<Fresh, A, B>
where
    A: TileFactor<'r>,
    B: TileFactor<'r, Element = A::Element>,
{
}
impl<'r, A, B, const SIZE: usize> sealed_start::Start<'r, SIZE> for Product<Fresh, A, B>
where
    A: TileFactor<'r>,
    B: TileFactor<'r, Element = A::Element>,
{
    type Width = B::Width;
    type A = A;
    type B = B;
    type Early = Fresh;

    #[inline(always)]
    fn parts(self, members: Members) -> (isa::Sums<B::Width>, Fresh, A, B) {
        (isa::Sums::new(members), self.sums, self.a, self.b)
    }

    #[inline(always)]
    unsafe fn hold(_: &mut isa::Sums<B::Width>, _: &mut A) {}

    #[inline(always)]
    unsafe fn start(sums: &mut isa::Sums<B::Width>, early: &Fresh, _: Members, _: (&A, &B)) {
        // SAFETY: the caller's promise; the factors fit (`of`).
        unsafe { sums.start(kind_of::<A::Element>(), &early.operands, Onto::Nothing) };
    }
}

impl<'r, A, B, W, const SIZE: usize> Start<'r, SIZE> for Product<Sums<'r, W, SIZE>, A, B>
where
    A: LeftFactor<'r, SIZE>,
    B: TileFactor<'r, Element = A::Element, Width = W>,
    W: Width,
{
}
impl<'r, A, B, W, const SIZE: usize> sealed_start::Start<'r, SIZE> for Product<Sums<'r, W, SIZE>, A, B>
where
    A: LeftFactor<'r, SIZE>,
    B: TileFactor<'r, Element = A::Element, Width = W>,
    W: Width,
{
    type Width = W;
    type A = A;
    type B = B;
    type Early = ();

    #[inline(always)]
    fn parts(self, _: Members) -> (isa::Sums<W>, (), A, B) {
        (self.sums.into_values(), (), self.a, self.b)
    }

    #[inline(always)]
    unsafe fn hold(sums: &mut isa::Sums<W>, a: &mut A) {
        // SAFETY: the caller's promise.
        unsafe { sums.hold() };
        // SAFETY: as above.
        unsafe { a.hold() };
    }

    #[inline(always)]
    unsafe fn start(sums: &mut isa::Sums<W>, (): &(), members: Members, (a, b): (&A, &B)) {
        // SAFETY: the caller's promise; the factors fit (`onto`).
        unsafe { a.start(sums, members, kind_of::<A::Element>(), operand(b)) };
    }
}

/// What a product comes to: the sums, and the factors, which nobody reads any more.
type Done<'r, P, const SIZE: usize> = (
    Sums<'r, <P as sealed_start::Start<'r, SIZE>>::Width, SIZE>,
    <P as sealed_start::Start<'r, SIZE>>::A,
    <P as sealed_start::Start<'r, SIZE>>::B,
);

impl<'r, R: Warpgroups, const SIZE: usize> RoleGroup<'r, R, SIZE> {
    /// Computes a product; returns the sums and both factors.
    ///
    /// PTX: `wgmma.fence`, `wgmma.mma_async` for each 16 elements along K, `wgmma.commit_group`,
    /// `wgmma.wait_group 0`.
    ///
    /// # Threads
    ///
    /// A role of warpgroups: four warps for each 64 rows of the left factor.
    #[inline(always)]
    pub fn product<P: Start<'r, SIZE>>(&self, product: P) -> Done<'r, P, SIZE> {
        self.product_beside(product, || ()).1
    }

    /// Computes a product, and meanwhile what `meanwhile` does; returns what that returns, and the
    /// sums and both factors.
    ///
    /// # Threads
    ///
    /// As for [`product`](Self::product); `meanwhile` is role-level code.
    #[inline(always)]
    pub fn product_beside<P: Start<'r, SIZE>, X>(
        &self,
        product: P,
        meanwhile: impl FnOnce() -> X,
    ) -> (X, Done<'r, P, SIZE>) {
        let members = self.members();
        let (mut sums, early, mut a, b) = product.parts(members);
        // SAFETY: role-level code of a role of warpgroups, whose product it is.
        unsafe { P::hold(&mut sums, &mut a) };
        // SAFETY: role-level code of a role of warpgroups.
        unsafe { isa::fence_products(members) };
        // SAFETY: role-level code of a role of warpgroups. Each thread has waited for the stages,
        // whose bulk copies have landed; their tiles start at whole periods. `a` and `b` keep them
        // until the wait below, and the sums stay where they are.
        unsafe { P::start(&mut sums, &early, members, (&a, &b)) };
        let result = meanwhile();
        // SAFETY: role-level code of the role whose sums they are.
        unsafe { sums.wait::<InFlight<0>>() };
        // SAFETY: as for the first one.
        unsafe { P::hold(&mut sums, &mut a) };
        // SAFETY: (0) the product is complete; (1) the sums are this role's.
        (result, (unsafe { Sums::new(sums) }, a, b))
    }

    /// Starts two products, one behind the other, and passes the older one to `meanwhile` once it
    /// is complete: what that does is done while the younger one is computed. Returns what
    /// `meanwhile` returns, and the younger one.
    ///
    /// The tensor cores have work then while threads compute: the weights of one tile of attention
    /// while the values of the tile before are added up.
    ///
    /// PTX: as [`product`](Self::product), twice, with one fence, and `wgmma.wait_group 1` before
    /// `meanwhile`.
    ///
    /// # Threads
    ///
    /// As for [`product`](Self::product); `meanwhile` is role-level code.
    #[inline(always)]
    pub fn products<P: Start<'r, SIZE>, Q: Start<'r, SIZE>, X>(
        &self,
        older: P,
        younger: Q,
        meanwhile: impl FnOnce(Done<'r, P, SIZE>) -> X,
    ) -> (X, Done<'r, Q, SIZE>) {
        self.products_in_turn(&mut InTurn::none(), older, younger, meanwhile)
    }

    /// As [`products`](Self::products), but each warpgroup starts its two products when those
    /// before it have started theirs: the first one when the last one has started those of the call
    /// before.
    ///
    /// The order matters to the time alone. All warpgroups make as many calls, since a role's
    /// warpgroups run the same code.
    ///
    /// PTX: `mbarrier.try_wait.parity` before the fence; behind the second
    /// `wgmma.commit_group` `bar.warp.sync` and `mbarrier.arrive` of each warp.
    ///
    /// # Threads
    ///
    /// As for [`product`](Self::product); `meanwhile` is role-level code.
    #[inline(always)]
    pub fn products_in_turn<P: Start<'r, SIZE>, Q: Start<'r, SIZE>, X, const GROUPS: usize>(
        &self,
        turns: &mut InTurn<'r, GROUPS>,
        older: P,
        younger: Q,
        meanwhile: impl FnOnce(Done<'r, P, SIZE>) -> X,
    ) -> (X, Done<'r, Q, SIZE>) {
        self.two_in_turn::<false, _, _, _, _>(turns, older, younger, meanwhile)
    }

    /// As [`products_in_turn`](Self::products_in_turn), but a warpgroup passes its turn on when it
    /// has started the older product: the next one starts its own while this one starts the
    /// younger.
    ///
    /// The start of a product can wait for those that are under way. A turn that is passed behind
    /// both starts then comes when the tensor cores are nearly done, and they wait for the next
    /// warpgroup's first product. Passed earlier, it has products of two warpgroups computed side
    /// by side. Which is faster is to be measured.
    ///
    /// PTX: as for `products_in_turn`, with the barrier and the arrival behind the first
    /// `wgmma.commit_group`.
    ///
    /// # Threads
    ///
    /// As for [`product`](Self::product); `meanwhile` is role-level code.
    #[inline(always)]
    pub fn products_in_half_turn<P: Start<'r, SIZE>, Q: Start<'r, SIZE>, X, const GROUPS: usize>(
        &self,
        turns: &mut InTurn<'r, GROUPS>,
        older: P,
        younger: Q,
        meanwhile: impl FnOnce(Done<'r, P, SIZE>) -> X,
    ) -> (X, Done<'r, Q, SIZE>) {
        self.two_in_turn::<true, _, _, _, _>(turns, older, younger, meanwhile)
    }

    /// Starts two products in a turn, which is passed on behind the first start if `HALF`.
    #[inline(always)]
    fn two_in_turn<const HALF: bool, P: Start<'r, SIZE>, Q: Start<'r, SIZE>, X, const GROUPS: usize>(
        &self,
        turns: &mut InTurn<'r, GROUPS>,
        older: P,
        younger: Q,
        meanwhile: impl FnOnce(Done<'r, P, SIZE>) -> X,
    ) -> (X, Done<'r, Q, SIZE>) {
        let members = self.members();
        // SAFETY: role-level code of the role whose turns they are (`'r`); the turn is passed
        // below.
        unsafe { turns.wait::<R>() };
        let (mut first, of_first, mut a, b) = older.parts(members);
        let (mut second, of_second, mut c, d) = younger.parts(members);
        // SAFETY: role-level code of a role of warpgroups, whose products they are.
        unsafe { P::hold(&mut first, &mut a) };
        // SAFETY: as above.
        unsafe { Q::hold(&mut second, &mut c) };
        // SAFETY: role-level code of a role of warpgroups.
        unsafe { isa::fence_products(members) };
        // SAFETY: as in `product_beside`; these sums stay where they are until the next wait.
        unsafe { P::start(&mut first, &of_first, members, (&a, &b)) };
        if HALF {
            // SAFETY: as for the turn above.
            unsafe { turns.hand_on::<R>() };
        }
        // SAFETY: as in `product_beside`; these until the last one.
        unsafe { Q::start(&mut second, &of_second, members, (&c, &d)) };
        if !HALF {
            // SAFETY: as for the turn above.
            unsafe { turns.hand_on::<R>() };
        }
        // SAFETY: role-level code of the role whose sums they are.
        unsafe { first.wait::<InFlight<1>>() };
        // SAFETY: as above.
        unsafe { P::hold(&mut first, &mut a) };
        // SAFETY: (0) one product at most is not complete, and that is the younger one; (1) the
        // sums are this role's.
        let result = meanwhile((unsafe { Sums::new(first) }, a, b));
        // SAFETY: role-level code of the role whose sums they are.
        unsafe { second.wait::<InFlight<0>>() };
        // SAFETY: as above.
        unsafe { Q::hold(&mut second, &mut c) };
        // SAFETY: (0) it is complete; (1) as above.
        (result, (unsafe { Sums::new(second) }, c, d))
    }

    #[inline(always)]
    pub(super) fn members(&self) -> Members {
        const { check_warpgroups(<R as sealed::Role>::MEMBERS) };
        <R as sealed::Role>::MEMBERS
    }
}
