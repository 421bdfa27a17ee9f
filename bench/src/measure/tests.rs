use tilepipe::{Block, I32x4, LoadStore, Shared, Stages, Tiles, TilesMut, kernel};
use tilepipe_host::Schedule;
use tilepipe_runner::value::DType;
use tilepipe_runner::work::Kind;

use super::*;
use crate::plan::blocks::Blocks;
use crate::plan::catalog;
use crate::plan::catalog::Peer;
use crate::plan::pairings::peer;
use tilepipe_runner::work::Work;

/// Elements in a tile.
const TILE: usize = 256;
/// The shared memory of kernels that copy a tile of each of two inputs.
type TwoTiles = (Stages<[i32; TILE], 1, LoadStore>, Stages<[i32; TILE], 1, LoadStore>);

/// [`Kind::TwoInputs`].
#[kernel]
fn two_inputs(
    block: Block<TILE>,
    left: Tiles<i32, TILE>,
    right: Tiles<i32, TILE>,
    mut out: TilesMut<i32, TILE>,
    shared: Shared<TwoTiles>,
) {
    let (lefts, rights) = (left.for_block(&block), right.for_block(&block));
    let mut results = out.for_block(&block);
    let (first, second) = shared.split();
    let (mut first, mut second) = (first.pipeline(&block).weaken(), second.pipeline(&block).weaken());
    for batch in 0..lefts.len() {
        let (p, left) = first.acquire().copy(lefts.get(batch)).commit().wait();
        let (q, right) = second.acquire().copy(rights.get(batch)).commit().wait();
        let dst = results.get_mut(batch);
        block.threads(|t| {
            let next = right[(t.rank() + 1) % TILE];
            dst.set(&t, left[t.rank()].wrapping_mul(3).wrapping_add(next));
        });
        (first, second) = (p.release(left), q.release(right));
    }
}

/// [`two_inputs`] with the inputs in the wrong order.
#[kernel]
fn exchanged(
    block: Block<TILE>,
    left: Tiles<i32, TILE>,
    right: Tiles<i32, TILE>,
    out: TilesMut<i32, TILE>,
    shared: Shared<TwoTiles>,
) {
    two_inputs(block, right, left, out, shared);
}

/// [`Kind::Triple`], but what the first `WRONG` blocks write first is wrong.
#[kernel(instances(WRONG = [0, 2, 40]))]
fn triple<const WRONG: usize>(
    block: Block<TILE>,
    input: Tiles<i32, TILE>,
    mut out: TilesMut<i32, TILE>,
    shared: Shared<Stages<[i32; TILE], 1, LoadStore>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let mut pipe = shared.pipeline(&block).weaken();
    for batch in 0..tiles.len() {
        let (p, tile) = pipe.acquire().copy(tiles.get(batch)).commit().wait();
        let factor = if batch == 0 && block.index() < WRONG { 5 } else { 3 };
        let dst = results.get_mut(batch);
        block.threads(|t| dst.set(&t, tile[t.rank()].wrapping_mul(factor)));
        pipe = p.release(tile);
    }
}

/// Our kernel first, then peers; whether each of them is known to race.
fn compare(kind: Kind, instances: &'static [Instance], racing: &[bool]) -> Vec<Outcome> {
    let contestant = |(instance, &racing): (&Instance, _)| Peer { racing, ..peer("", *instance) };
    let work =
        Work { kind, threads: TILE, rows: 1, columns: TILE, group: TILE, rounds: 0, channels: 1, shift: 0, taps: 0 };
    let peers = instances[1..].iter().zip(racing).map(contestant).collect();
    let comparison = Comparison { dtype: DType::I32, blocks: Blocks::Of(64), work, ours: &instances[0], peers };
    let device = Device::cpu(Schedule::Lazy);
    let stream = device.stream().unwrap();
    let mut all = Vec::new();
    let bench = Bench { device: &device, stream: &stream, repetitions: 3, seed: 1 };
    bench.run::<i32>(100 * TILE, &[&comparison], |_, _, outcomes| all.extend(outcomes)).unwrap();
    all
}

#[test]
fn a_kernel_with_two_inputs_gets_them_in_order() {
    static BOTH: [Instance; 2] = [two_inputs::INSTANCES[0], exchanged::INSTANCES[0]];
    let outcomes = compare(Kind::TwoInputs, &BOTH, &[false]);
    let right = outcomes[0].as_ref().unwrap();
    assert_eq!((right.milliseconds.len(), right.wrong), (3, [0, 0]));
    assert!(outcomes[1].as_ref().unwrap_err().contains("25600 differ"), "{outcomes:?}");
}

#[test]
fn a_wrong_kernel_has_no_time_unless_it_is_known_to_race() {
    static THREE: [Instance; 3] = [triple::INSTANCES[0], triple::INSTANCES[1], triple::INSTANCES[1]];
    let outcomes = compare(Kind::Triple, &THREE, &[false, true]);
    assert_eq!(outcomes[0].as_ref().unwrap().wrong, [0, 0]);
    assert!(outcomes[1].as_ref().unwrap_err().ends_with("512 differ"), "{outcomes:?}");
    let races = outcomes[2].as_ref().unwrap();
    assert_eq!((races.milliseconds.len(), races.wrong), (3, [512, 512]));
}

#[test]
fn so_many_wrong_elements_are_no_race() {
    static TWO: [Instance; 2] = [triple::INSTANCES[0], triple::INSTANCES[2]];
    let outcomes = compare(Kind::Triple, &TWO, &[true]);
    assert!(outcomes[1].as_ref().unwrap_err().contains("10240 differ"), "{outcomes:?}");
}

#[test]
fn every_kernel_of_ours_computes_what_its_peers_do() {
    let device = Device::cpu(Schedule::Lazy);
    let stream = device.stream().unwrap();
    let bench = Bench { device: &device, stream: &stream, repetitions: 1, seed: 1 };
    for comparison in catalog::comparisons().unwrap() {
        // The peers run on a GPU only.
        let alone = Comparison { peers: Vec::new(), blocks: Blocks::Of(7), ..comparison };
        let mut outcomes = Vec::new();
        match alone.dtype {
            DType::I32 => bench.run::<i32>(TILE * 50 + 3, &[&alone], |_, _, all| outcomes.extend(all)).unwrap(),
            DType::U8 => bench.run::<u8>(TILE * 50 + 3, &[&alone], |_, _, all| outcomes.extend(all)).unwrap(),
            DType::F32 => bench.run::<f32>(TILE * 50 + 3, &[&alone], |_, _, all| outcomes.extend(all)).unwrap(),
            DType::U32 => bench.run::<u32>(TILE * 50 + 3, &[&alone], |_, _, all| outcomes.extend(all)).unwrap(),
            _ => bench.run::<I32x4>(TILE * 50 + 3, &[&alone], |_, _, all| outcomes.extend(all)).unwrap(),
        }
        assert_eq!(outcomes[0].as_ref().map(|right| right.wrong), Ok([0, 0]), "{}", alone.ours.name());
    }
}

#[test]
fn powers_of_two_are_whole_rows_matrices_and_batches() {
    let of = |kind: Kind| [28, 20, 2].map(|log2| shape(kind, 1 << log2));
    assert_eq!(of(Kind::Triple), [28, 20, 2].map(|log2| Shape::Row(1 << log2)));
    let matrix = |height, width| Shape::Matrix { height, width };
    assert_eq!(of(Kind::Transpose), [matrix(1 << 14, 1 << 14), matrix(1 << 10, 1 << 10), matrix(2, 2)]);
    let batch = |matrices, side| Shape::Batch { matrices, height: side, width: side };
    assert_eq!(of(Kind::BatchedTranspose), [batch(16, 1 << 12), batch(16, 1 << 8), batch(3, 1)]);
    assert_eq!(shape(Kind::BatchedTranspose, ODD.0), Shape::batch_of(ODD.0));
}
