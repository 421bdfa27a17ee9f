//! Copies by the copy engine: who issues them, and where the fences between the proxies stand.

use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Bulk, Optional, Replicated, Shared, Stages, Tiles, TilesMut, WarpScope, Zeros, kernel};

registry!(
    bulk_entry,
    bulk_fill,
    bulk_wait,
    bulk_wait_beside_dirty,
    bulk_acquire_dirty,
    bulk_pair,
    bulk_two_stages,
    bulk_twice,
    bulk_gap,
    bulk_tile,
    bulk_rounds,
    bulk_driven,
    bulk_of_warps,
    bulk_between_roles,
    bulk_gap_between_roles,
    bulk_driven_between_roles,
    bulk_ends_with_roles,
);

/// A pipeline that takes no step.
#[kernel]
pub fn bulk_entry(block: Block<128>, shared: Shared<Stages<[i32; 128], 1, Bulk>>) {
    let _ = shared.with_pipeline(&block, |pipe| drop(pipe));
}

/// One stage is filled and not waited for.
#[kernel]
pub fn bulk_fill(block: Block<128>, shared: Shared<Stages<[i32; 128], 1, Bulk>>) {
    let _ = shared.with_pipeline(&block, |pipe| {
        let _ = pipe.acquire().copy(Zeros).commit();
    });
}

/// A wait where no stage is dirty.
#[kernel]
pub fn bulk_wait(block: Block<128>, shared: Shared<Stages<[i32; 128], 1, Bulk>>) {
    let _ = shared.with_pipeline(&block, |pipe| {
        let _ = pipe.acquire().copy(Zeros).commit().wait();
    });
}

/// A wait that frees a dirty stage.
#[kernel]
pub fn bulk_wait_beside_dirty(block: Block<128>, shared: Shared<Stages<[i32; 128], 2, Bulk>>) {
    let _ = shared.with_pipeline(&block, |pipe| {
        let _ = pipe.acquire().copy(Zeros).commit().weaken().wait();
    });
}

/// Only a dirty stage is left to acquire.
#[kernel]
pub fn bulk_acquire_dirty(block: Block<128>, shared: Shared<Stages<[i32; 128], 1, Bulk>>) {
    let _ = shared.with_pipeline(&block, |pipe| {
        let _ = pipe.weaken().acquire().copy(Zeros).commit();
    });
}

type Pair = ([i32; 128], [u8; 64]);

/// Two tiles a stage.
#[kernel]
pub fn bulk_pair(block: Block<128>, shared: Shared<Stages<Pair, 1, Bulk>>) {
    let _ = shared.with_pipeline(&block, |pipe| {
        let _ = pipe.acquire().copy((Zeros, Zeros)).commit();
    });
}

/// Two stages of two tiles, one after the other; the first one is waited for.
#[kernel]
pub fn bulk_two_stages(block: Block<128>, shared: Shared<Stages<Pair, 2, Bulk>>) {
    let _ = shared.with_pipeline(&block, |pipe| {
        let pipe = pipe.acquire().copy((Zeros, Zeros)).commit().acquire().copy((Zeros, Zeros)).commit();
        let _ = pipe.wait();
    });
}

/// Two pipelines one after the other in the same memory.
#[kernel]
pub fn bulk_twice(block: Block<128>, shared: Shared<Stages<[i32; 128], 1, Bulk>>) {
    let (_, shared) = shared.with_pipeline(&block, |pipe| {
        let _ = pipe.acquire().copy(Zeros).commit();
    });
    let _ = shared.with_pipeline(&block, |pipe| {
        let _ = pipe.acquire().copy(Zeros).commit();
    });
}

/// A stage that may be empty is committed without a tile, and waited for.
#[kernel]
pub fn bulk_gap(block: Block<128>, shared: Shared<Stages<Optional<[i32; 128]>, 1, Bulk>>) {
    let _ = shared.with_pipeline(&block, |pipe| {
        let _ = pipe.acquire().copy(None::<Zeros>).commit().wait();
    });
}

/// A tile of a view, which may end within it.
#[kernel]
pub fn bulk_tile(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 1, Bulk>>) {
    let _ = shared.with_pipeline(&block, |pipe| {
        let _ = pipe.acquire().copy(input.tile(0)).commit();
    });
}

/// A loop by hand.
#[kernel]
pub fn bulk_rounds(
    block: Block<128>,
    rounds: usize,
    mut out: TilesMut<i32, 128>,
    shared: Shared<Stages<[i32; 128], 2, Bulk>>,
) {
    let mut results = out.for_block(&block);
    let _ = shared.with_pipeline(&block, |pipe| {
        let mut pipe = pipe.acquire().copy(Zeros).commit().weaken();
        for round in 0..rounds {
            let (p, tile) = pipe.acquire().copy(Zeros).commit().wait();
            let dst = results.get_mut(round);
            block.threads(|t| dst.set(&t, tile[127 - t.rank()]));
            pipe = p.release(tile);
        }
    });
}

/// A driver over the tiles of a view.
#[kernel]
pub fn bulk_driven(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128>,
    shared: Shared<Stages<[i32; 128], 2, Bulk>>,
) {
    let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| dst.set(&t, tile[127 - t.rank()]));
    });
}

/// A pipeline of each warp's own.
#[kernel]
pub fn bulk_of_warps(block: Block<128>, shared: Shared<Replicated<Stages<[i32; 128], 1, Bulk, WarpScope>, 128>>) {
    let _ = shared.warps(&block, |_, pipe| {
        let _ = pipe.acquire().copy(Zeros).commit().wait();
    });
}

/// One stage passes from a role to another, by hand. As the next ones it goes on behind its roles:
/// what ends a partition is left out where a kernel ends there.
#[kernel]
pub fn bulk_between_roles(
    block: Block<128>,
    mut out: TilesMut<i32, 96>,
    mut end: TilesMut<u32, 128>,
    shared: Shared<Partitioned<Stages<[i32; 128], 1, Bulk>>>,
) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, producer, ()| {
            let Ok(stage) = producer.acquire() else { return };
            let _ = stage.copy(Zeros).commit();
        })
        .role(&mut out, |group, consumer, out| {
            let Ok(tile) = consumer.wait() else { return };
            let mut results = out.for_role(&group);
            let dst = results.get_mut(0);
            group.threads(|t| dst.set(&t, tile[127 - t.rank()]));
            let _ = tile.release();
        })
        .run();
    mark(&block, &mut end);
}

/// One stage, which may be empty, passes from a role to another, by hand.
#[kernel]
pub fn bulk_gap_between_roles(
    block: Block<128>,
    is_there: bool,
    mut out: TilesMut<i32, 96>,
    mut end: TilesMut<u32, 128>,
    shared: Shared<Partitioned<Stages<Optional<[i32; 128]>, 1, Bulk>>>,
) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, producer, ()| {
            let Ok(stage) = producer.acquire() else { return };
            let _ = stage.copy(is_there.then_some(Zeros)).commit();
        })
        .role(&mut out, |group, consumer, out| {
            let Ok(tile) = consumer.wait() else { return };
            let mut results = out.for_role(&group);
            let dst = results.get_mut(0);
            if let Some(there) = tile.get() {
                group.threads(|t| dst.set(&t, there[127 - t.rank()]));
            }
            let _ = tile.release();
        })
        .run();
    mark(&block, &mut end);
}

/// As [`bulk_between_roles`](fn@bulk_between_roles), and the kernel ends with its roles; a stage
/// that is filled may also be left as it is.
#[kernel]
pub fn bulk_ends_with_roles(
    block: Block<128>,
    commits: bool,
    mut out: TilesMut<i32, 96>,
    shared: Shared<Partitioned<Stages<[i32; 128], 1, Bulk>>>,
) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, producer, ()| {
            let Ok(stage) = producer.acquire() else { return };
            let filled = stage.copy(Zeros);
            if commits {
                let _ = filled.commit();
            }
        })
        .role(&mut out, |group, consumer, out| {
            let Ok(tile) = consumer.wait() else { return };
            let mut results = out.for_role(&group);
            let dst = results.get_mut(0);
            group.threads(|t| dst.set(&t, tile[127 - t.rank()]));
            let _ = tile.release();
        })
        .run();
}

/// A driver over the tiles of a view, with a role that fills.
#[kernel]
pub fn bulk_driven_between_roles(
    block: Block<128>,
    input: Tiles<i32, 96>,
    mut out: TilesMut<i32, 96>,
    mut end: TilesMut<u32, 128>,
    shared: Shared<Partitioned<Stages<[i32; 96], 2, Bulk>>>,
) {
    let tiles = input.for_block(&block);
    let roles = block.partition::<WarpRoles<32, 96>>();
    let _ = roles.pipeline(shared).map_tiles(&tiles, &mut out, |consumers, tile, dst| {
        consumers.threads(|t| dst.set(&t, tile[95 - t.rank()]));
    });
    mark(&block, &mut end);
}

/// Has each thread write its rank.
fn mark(block: &Block<'_, 128>, end: &mut TilesMut<u32, 128>) {
    let mut results = end.for_block(block);
    let dst = results.get_mut(0);
    block.threads(|t| dst.set(&t, t.rank() as u32));
}
