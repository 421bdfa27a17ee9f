//! The driver whose readers hand a stage back before they store what they have made of it.

use super::{MemoryOf, Pipe};
use crate::element::Element;
use crate::fault;
use crate::group::block::PerThread;
use crate::marker::{RoleShared, Uniform};
use crate::output::arrangement::Arrangement;
use crate::output::destination::sealed::Destination;
use crate::output::tile::TileMut;
use crate::output::tiles::{BlockTilesMut, TileViewMut};
use crate::role::channel::Channel;
use crate::role::end::Ready;
use crate::role::group::RoleGroup;
use crate::role::links::Link;
use crate::role::map::{Of, Role, Role0, Role1, RoleMap, Roles, sealed};
use crate::role::partition::Partition;
use crate::role::run::{Run, fill_tiles};
use crate::stage::StageSet;
use crate::stage::batches::Batches;
use crate::view::geometry::Geometry;
use crate::view::numbers::TileNumbers;
use crate::view::order::{Order, SameOrder, Stepped, check_same};

impl<'b, 's, M, L, P, const THREADS: usize> Partition<'b, M, Link<'s, Pipe<L, M, P>>, (), THREADS>
where
    M: RoleMap + sealed::RoleMap<Count = Roles<2>>,
    Of<M, Role0>: Role,
    Of<M, Role1>: Role,
    Pipe<L, M, P>: Channel,
{
    /// Computes each element of the block's output tiles from the input tile of the same number (or
    /// from several inputs, as a tuple): the first role copies; in the second one `value(tile, e)`
    /// runs for each element `e` of the output tile that lies in the view, in the thread that owns
    /// it.
    ///
    /// The second role hands a stage back when it has read it, and stores its results afterwards:
    /// they are values in registers by then. So the first role can fill the stage again while they
    /// are stored, as in CUDA C++ that calls `consumer_release` first. With few stages, and where
    /// roles share warps, that is faster than [`map_tiles`](Self::map_tiles), whose closure stores
    /// what it computes itself, with the stage in hand (docs/performance.md).
    ///
    /// Of a [`Blocked`](crate::Blocked) output, or one in [`Runs`](crate::Runs), up to 16 bytes are
    /// stored at once, as by [`set_each`](crate::TileMut::set_each). A thread owns at most 16
    /// elements of a tile, or it does not compile.
    ///
    /// PTX per tile, in each thread of the second role: `mbarrier.try_wait.parity`, the reads,
    /// `mbarrier.arrive`, `st.global`.
    ///
    /// # Panics
    ///
    /// As [`map_tiles`](Self::map_tiles).
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::role::{EvenOdd, Partitioned};
    /// use tilepipe::{Block, Blocked, Shared, Stages, Tiles, TilesMut, kernel};
    ///
    /// /// Reverses each tile. A thread of odd rank has four elements in a row.
    /// #[kernel]
    /// pub fn reverse(
    ///     block: Block<64>,
    ///     input: Tiles<i32, 128>,
    ///     mut out: TilesMut<i32, 128, Blocked>,
    ///     shared: Shared<Partitioned<Stages<[i32; 128], 2>>>,
    /// ) {
    ///     let tiles = input.for_block(&block);
    ///     let pipeline = block.partition::<EvenOdd<32>>().pipeline(shared);
    ///     let _ = pipeline.map_elements(&tiles, &mut out, |tile, element| tile[127 - element]);
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Random { seed: 6 });
    /// # let (input, mut out) = (device.upload(&Vec::from_iter(0..1000))?, device.zeroed(1000)?);
    /// # reverse::launch(&device.stream()?, 2, &input, &mut out)?;
    /// # let reversed = (0..1000).map(|i| i / 128 * 128 + 127 - i % 128); // with zeros at the end
    /// # let expected = reversed.map(|i| if i < 1000 { i } else { 0 });
    /// # assert_eq!(out.download()?, Vec::from_iter(expected));
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    #[track_caller]
    pub fn map_elements<B, T, G, A, O, F, const LEN: usize, const SIZE: usize>(
        self,
        batches: B,
        out: &mut TileViewMut<'_, [T; LEN], G, A, O>,
        value: F,
    ) -> MemoryOf<'s, L, M, P>
    where
        Of<M, Role1>: for<'r> Role<Group<'r> = RoleGroup<'r, Of<M, Role1>, SIZE>>,
        B: Batches<<Pipe<L, M, P> as StageSet>::Contents>,
        B::Order: SameOrder<O>,
        T: Element,
        G: Geometry,
        A: Arrangement,
        O: Stepped,
        F: for<'r> Fn(&Ready<'r, Pipe<L, M, P>>, usize) -> T + Uniform + RoleShared,
    {
        let numbers = batches.numbers();
        let count = numbers.count();
        let ((), memory) = self.drive(
            count,
            |memory| fill_tiles(memory, batches, count),
            |group, run| {
                let results = out.for_role(&group);
                let whole = are_whole::<B::Order, _>(numbers, &results, run.len());
                let computed = Computed { group: &group, results, value: &value };
                // The number is a constant of the type, which no array's length can be.
                match const { room(TileMut::<[T; LEN], SIZE, A>::PER_THREAD) } {
                    // SAFETY: `run.len()` output tiles are there, and whole if `whole`
                    // (`are_whole`).
                    1 => unsafe { computed.of::<_, 1>(run, whole) },
                    // SAFETY: the same.
                    2 => unsafe { computed.of::<_, 2>(run, whole) },
                    // SAFETY: the same.
                    4 => unsafe { computed.of::<_, 4>(run, whole) },
                    // SAFETY: the same.
                    8 => unsafe { computed.of::<_, 8>(run, whole) },
                    // SAFETY: the same.
                    _ => unsafe { computed.of::<_, MOST>(run, whole) },
                }
            },
        );
        memory
    }
}

/// Whether all tiles that a run of `wanted` stages writes lie in their view as a whole.
///
/// # Panics
///
/// If there are fewer of them, or others than the input's in an order whose numbers can differ.
// Not for `map_tiles`: with this function LLVM lays out its loops otherwise, and with the same
// lines in the closure those of `map_elements` have two machine instructions more a round.
#[inline(always)]
#[track_caller]
fn are_whole<I: Order, D: Destination>(numbers: TileNumbers, results: &D, wanted: usize) -> bool {
    check_same::<I>(numbers, results.numbers());
    let there = results.count();
    if there < wanted {
        fault::too_few_results(there, wanted);
    }
    numbers.counted_lies_below(wanted, results.whole_below())
}

/// Elements of a tile that a thread keeps in registers, at most.
const MOST: usize = 16;

/// The length of an array that holds a thread's `owned` elements.
const fn room(owned: usize) -> usize {
    assert!(
        owned <= MOST,
        "`map_elements` keeps a thread's results of a tile in registers, 16 at most: take more threads, smaller tiles or `map_tiles`"
    );
    owned.next_power_of_two()
}

/// What `value` makes of a run's tiles, in the threads of the role that reads them.
struct Computed<'a, 'v, 'r, R, T: Element, G: Geometry, A, O, F, const LEN: usize, const SIZE: usize> {
    group: &'a RoleGroup<'r, R, SIZE>,
    results: BlockTilesMut<'v, 'r, [T; LEN], SIZE, G, A, O>,
    value: &'a F,
}

impl<'r, R, T, G, A, O, F, const LEN: usize, const SIZE: usize> Computed<'_, '_, 'r, R, T, G, A, O, F, LEN, SIZE>
where
    R: Role,
    T: Element,
    G: Geometry,
    A: Arrangement,
    O: Stepped,
{
    /// Reads all stages of `run`, hands each back and then stores what was computed of it. `ROOM`
    /// is that of a thread's elements of a tile.
    ///
    /// # Safety
    ///
    /// There are as many results, and if `whole` they lie in their view as a whole.
    #[inline(always)]
    unsafe fn of<'t, K, const ROOM: usize>(self, run: Run<'r, K>, whole: bool)
    where
        K: Channel,
        F: Fn(&Ready<'r, K>, usize) -> T + Uniform,
    {
        let Computed { group, mut results, value } = self;
        let compute = |dst: TileMut<'t, 'r, [T; LEN], SIZE, A>, tile: &Ready<'r, K>| {
            let own = group.map(|t| dst.computed::<ROOM>(&t, |element| value(tile, element)));
            (dst, own)
        };
        let store = |(dst, own): (TileMut<'t, 'r, [T; LEN], SIZE, A>, PerThread<'r, [T; ROOM], SIZE>), _| {
            group.threads(|t| {
                let own = own.get(&t);
                dst.set_own(&t, |nth| own[nth]);
            });
        };
        if whole {
            // SAFETY: the run has tiles of the share only, and the results of these numbers are
            // there and whole. The one before was stored before this tile was waited for.
            run.read_then::<true, _>(|tile, index| compute(unsafe { results.whole(index) }, tile), store);
        } else {
            // SAFETY: the same, but for whole tiles.
            run.read_then::<false, _>(|tile, index| compute(unsafe { results.tile(index) }, tile), store);
        }
    }
}
