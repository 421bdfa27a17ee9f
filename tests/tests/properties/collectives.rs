//! Collectives of blocks and warps against plain folds, with operations whose order shows.

use proptest::prelude::*;
use tilepipe::launch::Instance;
use tilepipe::{Block, Element, Shared, Stages, Tiles, TilesMut, kernel};
use tilepipe_host::{Bound, Device, launch};
use tilepipe_runner::data::POISON;
use tilepipe_tests::case::SCHEDULES;

use crate::launches::{Case, at, bind, case, elements, gives, number};

/// An associative operation that does not commute.
pub trait Monoid: Element + std::fmt::Debug + PartialEq {
    /// This, then the other.
    fn then(self, other: Self) -> Self;
}

/// A matrix of two rows and two columns over the integers modulo 2^32, in 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Matrix([u32; 4]);

impl Monoid for Matrix {
    fn then(self, other: Self) -> Self {
        let (Matrix([a, b, c, d]), Matrix([e, f, g, h])) = (self, other);
        let sum = |p: u32, q: u32, r: u32, s: u32| p.wrapping_mul(q).wrapping_add(r.wrapping_mul(s));
        Matrix([sum(a, e, b, g), sum(a, f, b, h), sum(c, e, d, g), sum(c, f, d, h)])
    }
}

/// The map of `x` to `scale * x + shift`, in 4 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Affine {
    scale: u16,
    shift: u16,
}

impl Monoid for Affine {
    fn then(self, other: Self) -> Self {
        let scale = other.scale.wrapping_mul(self.scale);
        Affine { scale, shift: other.scale.wrapping_mul(self.shift).wrapping_add(other.shift) }
    }
}

/// The later of two, in one byte.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Last(u8);

impl Monoid for Last {
    fn then(self, other: Self) -> Self {
        other
    }
}

/// Each tile combined, and each element with all before it, by the block.
#[kernel(instances(T = [Matrix, Affine], THREADS = [32, 48, 128, 1024]), instances(T = [Last], THREADS = [48, 64]))]
pub fn block_folds<T: Monoid, const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<T, THREADS>,
    mut reduced: TilesMut<T, 1>,
    mut scanned: TilesMut<T, THREADS>,
    shared: Shared<Stages<[T; THREADS], 2, tilepipe::LoadStore>>,
) {
    let tiles = input.for_block(&block);
    let (mut totals, mut results) = (reduced.for_block(&block), scanned.for_block(&block));
    let _ = shared.pipeline(&block).for_each_tile(&tiles, |tile, index| {
        let values = block.map(|t| tile[t.rank()]);
        let total = block.reduce(&values, T::then);
        let prefixes = block.scan(&values, T::then);
        let (sum, dst) = (totals.get_mut(index), results.get_mut(index));
        block.threads(|t| {
            dst.set(&t, prefixes.get(&t));
            sum.set_each(&t, |_| total);
        });
    });
}

/// Each tile's 32 elements in a row combined, and each element with all before it in its warp.
#[kernel(instances(T = [Matrix, Affine, Last], THREADS = [32, 128, 1024]))]
pub fn warp_folds<T: Monoid, const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<T, THREADS>,
    mut reduced: TilesMut<T, THREADS>,
    mut scanned: TilesMut<T, THREADS>,
    shared: Shared<Stages<[T; THREADS], 2, tilepipe::LoadStore>>,
) {
    let tiles = input.for_block(&block);
    let (mut totals, mut results) = (reduced.for_block(&block), scanned.for_block(&block));
    let _ = shared.pipeline(&block).for_each_tile(&tiles, |tile, index| {
        let (sums, dst) = (totals.get_mut(index), results.get_mut(index));
        let totals = block.map_warps(|warp| {
            let values = warp.map(|lane| tile[lane.thread().rank()]);
            let prefixes = warp.scan(&values, T::then);
            warp.lanes(|lane| dst.set(lane.thread(), prefixes.get(&lane)));
            warp.reduce(&values, T::then)
        });
        block.threads(|t| sums.set(&t, totals.get(&t)));
    });
}

/// Each tile combined, and each element with all before it in its tile; and each element with all
/// before it in the block's tiles and `start` on the left of them, by the block.
#[kernel(instances(T = [Matrix, Affine], THREADS = [32, 48, 128, 1024]), instances(T = [Last], THREADS = [48, 64]))]
pub fn block_prefixes<T: Monoid, const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<T, THREADS>,
    start: T,
    mut totals: TilesMut<T, 2>,
    mut scanned: TilesMut<T, THREADS>,
    mut before: TilesMut<T, THREADS>,
    shared: Shared<Stages<[T; THREADS], 2, tilepipe::LoadStore>>,
) {
    let tiles = input.for_block(&block);
    let (mut totals, mut scanned, mut before) =
        (totals.for_block(&block), scanned.for_block(&block), before.for_block(&block));
    let mut initial = start;
    let _ = shared.pipeline(&block).for_each_tile(&tiles, |tile, index| {
        let values = block.map(|t| tile[t.rank()]);
        let (with_own, total) = block.scan_with_total(&values, T::then);
        let (without, next) = block.exclusive_scan(&values, initial, T::then);
        let (sums, with, others) = (totals.get_mut(index), scanned.get_mut(index), before.get_mut(index));
        block.threads(|t| {
            with.set(&t, with_own.get(&t));
            others.set(&t, without.get(&t));
            sums.set_each(&t, |element| [total, next][element]);
        });
        initial = next;
    });
}

/// Each element with all before it in its warp; and with `start` and the elements of its warp on
/// the left, those before it in its warp, and all of them.
#[kernel(instances(T = [Matrix, Affine, Last], THREADS = [32, 128]))]
pub fn warp_prefixes<T: Monoid, const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<T, THREADS>,
    start: T,
    mut nexts: TilesMut<T, THREADS>,
    mut scanned: TilesMut<T, THREADS>,
    mut before: TilesMut<T, THREADS>,
) {
    let (mut nexts, mut scanned, mut before) =
        (nexts.for_block(&block), scanned.for_block(&block), before.for_block(&block));
    for i in 0..nexts.len() {
        let first = (block.index() + i * block.grid()) * THREADS;
        let (ends, with, others) = (nexts.get_mut(i), scanned.get_mut(i), before.get_mut(i));
        block.warps(|warp| {
            let values = warp
                .map(|lane| input.get(first + lane.thread().rank()).unwrap_or(tilepipe::bytemuck::Zeroable::zeroed()));
            let (with_own, total) = warp.scan_with_total(&values, T::then);
            let (without, next) = warp.exclusive_scan(&values, start.then(total), T::then);
            warp.lanes(|lane| {
                let t = lane.thread();
                ends.set(t, next);
                with.set(t, with_own.get(&lane));
                others.set(t, without.get(&lane));
            });
        });
    }
}

/// For each thread the values of the lanes above, below and across.
#[kernel(instances(D = [1, 7, 16, 31]))]
pub fn lane_moves<const D: usize>(block: Block<96>, input: Tiles<u32, 96>, mut out: TilesMut<[u32; 3], 96>) {
    let mut results = out.for_block(&block);
    for i in 0..results.len() {
        let first = (block.index() + i * block.grid()) * 96;
        let dst = results.get_mut(i);
        block.warps(|warp| {
            let own = warp.map(|lane| input.get(first + lane.thread().rank()).unwrap_or(0));
            let (above, below) = (warp.shift_down::<D, _>(&own), warp.shift_up::<D, _>(&own));
            let across = warp.swap::<D, _>(&own);
            warp.lanes(|lane| {
                dst.set(lane.thread(), [above.get(&lane), below.get(&lane), across.get(&lane)]);
            });
        });
    }
}

/// Of each tile: whether any and whether all elements are below a limit, and the element of a rank.
#[kernel(instances(THREADS = [32, 48, 128, 1024]))]
pub fn block_votes<const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<u32, THREADS>,
    limit: u32,
    rank: u32,
    mut out: TilesMut<u32, 3>,
    shared: Shared<Stages<[u32; THREADS], 1>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).for_each_tile(&tiles, |tile, index| {
        let below = block.map(|t| tile[t.rank()] < limit);
        let values = block.map(|t| tile[t.rank()]);
        let votes = [block.any(&below) as u32, block.all(&below) as u32, block.broadcast(&values, rank as usize)];
        let dst = results.get_mut(index);
        block.threads(|t| dst.set_each(&t, |element| votes[element]));
    });
}

/// For each thread: twice whether any and once whether all elements of its warp are below a limit,
/// and ten times that of a lane.
#[kernel(instances(THREADS = [32, 128, 1024]))]
pub fn warp_votes<const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<u32, THREADS>,
    limit: u32,
    lane: u32,
    mut out: TilesMut<u32, THREADS>,
    shared: Shared<Stages<[u32; THREADS], 1>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        block.warps(|warp| {
            let values = warp.map(|own| tile[own.thread().rank()]);
            let below = warp.map(|own| tile[own.thread().rank()] < limit);
            let votes = 2 * u32::from(warp.any(&below)) + u32::from(warp.all(&below));
            let vote = warp.broadcast(&values, lane as usize).wrapping_mul(10).wrapping_add(votes);
            warp.lanes(|own| dst.set(own.thread(), vote));
        });
    });
}

/// The elements of each `part` in a row, zeros beyond the end of the last tile of `tile`.
fn parts<T: Element>(input: &[T], tile: usize, part: usize) -> Vec<Vec<T>> {
    let padded: Vec<T> = (0..input.len().next_multiple_of(tile)).map(|index| at(input, index)).collect();
    padded.chunks(tile).flat_map(|tile| tile.chunks(part)).map(<[T]>::to_vec).collect()
}

fn folds_are_right<T: Monoid>(instance: &Instance, case: Case, part: Option<usize>) {
    let threads = instance.threads() as usize;
    let input = elements::<T>(case.len(threads), case.seed);
    let parts = parts(&input, threads, part.unwrap_or(threads));
    let totals: Vec<T> = parts.iter().map(|values| values.iter().copied().reduce(T::then).unwrap()).collect();
    // By a warp each thread has the total of its own.
    let totals: Vec<T> = match part {
        None => totals,
        Some(part) => (0..input.len()).map(|index| totals[index / part]).collect(),
    };
    let prefixes = parts.iter().flat_map(|values| (0..values.len()).map(|last| values[..=last].iter().copied()));
    let mut prefixes: Vec<T> = prefixes.map(|values| values.reduce(T::then).unwrap()).collect();
    prefixes.truncate(input.len());
    for schedule in SCHEDULES {
        let device = Device::cpu(schedule);
        let mut reduced = device.filled_with_byte::<T>(totals.len(), POISON).unwrap();
        let mut scanned = device.filled_with_byte::<T>(prefixes.len(), POISON).unwrap();
        let arguments = [bind(&device, &input), Bound::output(&mut reduced), Bound::output(&mut scanned)];
        launch(&device.stream().unwrap(), case.grid, instance, arguments).unwrap();
        assert_eq!(reduced.download().unwrap(), totals, "{}, {schedule:?}", instance.name());
        assert_eq!(scanned.download().unwrap(), prefixes, "{}, {schedule:?}", instance.name());
    }
}

fn any_folds_are_right(instance: &Instance, case: Case, part: Option<usize>) {
    match instance.generic("T").unwrap() {
        "Matrix" => folds_are_right::<Matrix>(instance, case, part),
        "Affine" => folds_are_right::<Affine>(instance, case, part),
        "Last" => folds_are_right::<Last>(instance, case, part),
        other => panic!("no such element type here: {other}"),
    }
}

/// The values of `values` and all before each, combined; and `start` with all before each, and with
/// all.
fn folded<T: Monoid>(values: &[T], start: T) -> (Vec<T>, Vec<T>, T) {
    let with_own: Vec<T> =
        (0..values.len()).map(|last| values[..=last].iter().copied().reduce(T::then).unwrap()).collect();
    let before: Vec<T> = (0..values.len()).map(|end| values[..end].iter().copied().fold(start, T::then)).collect();
    (with_own, before, values.iter().copied().fold(start, T::then))
}

fn block_prefixes_are_right<T: Monoid + tilepipe::entry::Scalar>(instance: &Instance, case: Case) {
    let threads = instance.threads() as usize;
    let input = elements::<T>(case.len(threads), case.seed);
    let start = elements::<T>(1, case.seed ^ 1)[0];
    let mut initials = vec![start; case.grid as usize];
    let (mut totals, mut scanned, mut before) = (vec![], vec![], vec![]);
    for (number, tile) in parts(&input, threads, threads).iter().enumerate() {
        let initial = &mut initials[number % case.grid as usize];
        let (with_own, others, next) = folded(tile, *initial);
        totals.extend([with_own[threads - 1], next]);
        scanned.extend(with_own);
        before.extend(others);
        *initial = next;
    }
    scanned.truncate(input.len());
    before.truncate(input.len());
    for schedule in SCHEDULES {
        let device = Device::cpu(schedule);
        let poisoned = |len: usize| device.filled_with_byte::<T>(len, POISON).unwrap();
        let mut outputs = [totals.len(), scanned.len(), before.len()].map(poisoned);
        let [one, two, three] = &mut outputs;
        let arguments =
            [bind(&device, &input), Bound::scalar(start), Bound::output(one), Bound::output(two), Bound::output(three)];
        launch(&device.stream().unwrap(), case.grid, instance, arguments).unwrap();
        let got = outputs.map(|output| output.download().unwrap());
        assert!(got == [totals.clone(), scanned.clone(), before.clone()], "{}, {schedule:?}", instance.name());
    }
}

fn warp_prefixes_are_right<T: Monoid + tilepipe::entry::Scalar>(instance: &Instance, case: Case) {
    let threads = instance.threads() as usize;
    let input = elements::<T>(case.len(threads), case.seed);
    let start = elements::<T>(1, case.seed ^ 1)[0];
    let mut expected = [const { Vec::new() }; 3];
    for warp in parts(&input, threads, 32) {
        let (_, _, initial) = folded(&warp, start);
        let (with_own, others, next) = folded(&warp, initial);
        expected[0].extend([next; 32]);
        expected[1].extend(with_own);
        expected[2].extend(others);
    }
    expected.iter_mut().for_each(|one| one.truncate(input.len()));
    let device = Device::cpu(SCHEDULES[case.choice % SCHEDULES.len()]);
    let mut outputs = [(); 3].map(|()| device.filled_with_byte::<T>(input.len(), POISON).unwrap());
    let arguments = [bind(&device, &input), Bound::scalar(start)].into_iter();
    let arguments: Vec<_> = arguments.chain(outputs.iter_mut().map(Bound::output)).collect();
    launch(&device.stream().unwrap(), case.grid, instance, arguments).unwrap();
    let got = outputs.map(|output| output.download().unwrap());
    assert!(got == expected, "{}", instance.name());
}

/// Limits below all, above all, and at one of the elements.
fn limits(input: &[u32], case: Case) -> [u32; 4] {
    let one = input[case.choice % input.len()];
    [0, u32::MAX, one, one.saturating_add(1)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_blocks_reductions_and_scans_apply_the_operation_in_the_order_of_the_ranks(case in case()) {
        for instance in &block_folds::INSTANCES {
            any_folds_are_right(instance, Case { tiles: case.tiles % 5.0, ..case }, None);
        }
    }

    #[test]
    fn a_warps_reductions_and_scans_apply_the_operation_in_the_order_of_the_lanes(case in case()) {
        for instance in &warp_folds::INSTANCES {
            any_folds_are_right(instance, Case { tiles: case.tiles % 5.0, ..case }, Some(32));
        }
    }

    #[test]
    fn a_blocks_prefixes_have_the_initial_value_on_the_left_of_everything_and_their_total(case in case()) {
        let case = Case { tiles: case.tiles % 5.0, ..case };
        for instance in &block_prefixes::INSTANCES {
            match instance.generic("T").unwrap() {
                "Matrix" => block_prefixes_are_right::<Matrix>(instance, case),
                "Affine" => block_prefixes_are_right::<Affine>(instance, case),
                _ => block_prefixes_are_right::<Last>(instance, case),
            }
        }
    }

    #[test]
    fn a_warps_prefixes_have_the_initial_value_on_the_left_of_everything_and_their_total(case in case()) {
        let case = Case { tiles: case.tiles % 5.0, ..case };
        for instance in &warp_prefixes::INSTANCES {
            match instance.generic("T").unwrap() {
                "Matrix" => warp_prefixes_are_right::<Matrix>(instance, case),
                "Affine" => warp_prefixes_are_right::<Affine>(instance, case),
                _ => warp_prefixes_are_right::<Last>(instance, case),
            }
        }
    }

    #[test]
    fn lanes_hear_the_one_above_below_and_across_or_themselves_at_the_edge(case in case()) {
        let case = Case { tiles: case.tiles % 5.0, ..case };
        for instance in &lane_moves::INSTANCES {
            let distance = number(instance, "D");
            let input = elements::<u32>(case.len(96), case.seed);
            let moved = |warp: Vec<u32>| -> Vec<[u32; 3]> {
                let of = |lane: usize, from: Option<usize>| warp[from.filter(|from| *from < 32).unwrap_or(lane)];
                let move_one = |lane: usize| {
                    [of(lane, Some(lane + distance)), of(lane, lane.checked_sub(distance)), warp[lane ^ distance]]
                };
                (0..32).map(move_one).collect()
            };
            let mut expected: Vec<[u32; 3]> = parts(&input, 96, 32).into_iter().flat_map(moved).collect();
            expected.truncate(input.len());
            gives(instance, case, &expected, |device| vec![bind(device, &input)]);
        }
    }

    #[test]
    fn a_block_votes_and_hears_one_thread(case in case(), rank in any::<u32>()) {
        let case = Case { tiles: case.tiles % 5.0, ..case };
        for instance in &block_votes::INSTANCES {
            let threads = number(instance, "THREADS");
            let (rank, input) = (rank % threads as u32, elements::<u32>(case.len(threads), case.seed));
            for limit in limits(&input, case) {
                let vote = |tile: Vec<u32>| {
                    let below = |value: &u32| *value < limit;
                    [tile.iter().any(below).into(), tile.iter().all(below).into(), tile[rank as usize]]
                };
                let expected: Vec<u32> = parts(&input, threads, threads).into_iter().flat_map(vote).collect();
                gives(instance, case, &expected, |device| {
                    vec![bind(device, &input), Bound::scalar(limit), Bound::scalar(rank)]
                });
            }
        }
    }

    #[test]
    fn a_warp_votes_and_hears_one_lane(case in case(), lane in 0..32_u32) {
        let case = Case { tiles: case.tiles % 5.0, ..case };
        for instance in &warp_votes::INSTANCES {
            let threads = number(instance, "THREADS");
            let input = elements::<u32>(case.len(threads), case.seed);
            for limit in limits(&input, case) {
                let vote = |warp: Vec<u32>| {
                    let (any, all) = (warp.iter().any(|value| *value < limit), warp.iter().all(|value| *value < limit));
                    [warp[lane as usize].wrapping_mul(10).wrapping_add(2 * u32::from(any) + u32::from(all)); 32]
                };
                let mut expected: Vec<u32> = parts(&input, threads, 32).into_iter().flat_map(vote).collect();
                expected.truncate(input.len());
                gives(instance, case, &expected, |device| {
                    vec![bind(device, &input), Bound::scalar(limit), Bound::scalar(lane)]
                });
            }
        }
    }
}
