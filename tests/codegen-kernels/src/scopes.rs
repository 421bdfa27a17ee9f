//! Steps at warp and thread scope, and pipelines of a warp's or a thread's own.

use tilepipe::{Block, CpAsync, Replicated, Shared, Stages, ThreadScope, WarpScope, Zeros, kernel};

registry!(
    warp_wait,
    warp_acquire_dirty,
    thread_wait,
    thread_release_and_acquire,
    publish,
    published_release_and_acquire,
    private_to_warps,
    private_to_warps_acquire_dirty,
    private_to_threads,
    reclaim,
);

/// A wait at warp scope.
#[kernel]
pub fn warp_wait(block: Block<128>, shared: Shared<Stages<[i32; 512], 1, CpAsync, WarpScope>>) {
    let _ = shared.pipeline(&block).acquire().copy(Zeros).commit().wait();
}

/// Only a dirty stage is left to acquire, at warp scope.
#[kernel]
pub fn warp_acquire_dirty(block: Block<128>, shared: Shared<Stages<[i32; 512], 1, CpAsync, WarpScope>>) {
    let _ = shared.pipeline(&block).weaken().acquire().copy(Zeros).commit();
}

/// A wait at thread scope.
#[kernel]
pub fn thread_wait(block: Block<128>, shared: Shared<Stages<[i32; 512], 1, CpAsync, ThreadScope>>) {
    let _ = shared.pipeline(&block).acquire().copy(Zeros).commit().wait();
}

/// At thread scope a released stage is free at once.
#[kernel]
pub fn thread_release_and_acquire(block: Block<128>, shared: Shared<Stages<[i32; 512], 1, CpAsync, ThreadScope>>) {
    let (pipe, tile) = shared.pipeline(&block).acquire().copy(Zeros).commit().wait();
    let _ = pipe.release(tile).acquire().copy(Zeros).commit();
}

/// A tile at thread scope is handed to the block.
#[kernel]
pub fn publish(block: Block<128>, shared: Shared<Stages<[i32; 512], 1, CpAsync, ThreadScope>>) {
    let (pipe, tile) = shared.pipeline(&block).acquire().copy(Zeros).commit().wait();
    let (pipe, tile) = pipe.publish(tile);
    let _ = pipe.release(tile);
}

/// A released stage that was published is dirty: acquiring it waits for the block.
#[kernel]
pub fn published_release_and_acquire(block: Block<128>, shared: Shared<Stages<[i32; 512], 1, CpAsync, ThreadScope>>) {
    let (pipe, tile) = shared.pipeline(&block).acquire().copy(Zeros).commit().wait();
    let (pipe, tile) = pipe.publish(tile);
    let _ = pipe.release(tile).acquire().copy(Zeros).commit();
}

/// A pipeline of each warp's own.
#[kernel]
pub fn private_to_warps(block: Block<128>, shared: Shared<Replicated<Stages<[i32; 128], 1, CpAsync, WarpScope>, 128>>) {
    let _ = shared.warps(&block, |_, pipe| {
        let _ = pipe.acquire().copy(Zeros).commit().wait();
    });
}

/// Only a dirty stage is left to acquire, in a pipeline of each warp's own.
#[kernel]
pub fn private_to_warps_acquire_dirty(
    block: Block<128>,
    shared: Shared<Replicated<Stages<[i32; 128], 1, CpAsync, WarpScope>, 128>>,
) {
    let _ = shared.warps(&block, |_, pipe| {
        let _ = pipe.weaken().acquire().copy(Zeros).commit();
    });
}

/// A pipeline of each thread's own.
#[kernel]
pub fn private_to_threads(
    block: Block<128>,
    shared: Shared<Replicated<Stages<[i32; 4], 1, CpAsync, ThreadScope>, 128>>,
) {
    let _ = shared.threads(&block, |_, pipe| {
        let (pipe, tile) = pipe.acquire().copy(Zeros).commit().wait();
        let _ = pipe.release(tile).acquire().copy(Zeros).commit();
    });
}

/// The memory of replicated pipelines is given back to the block.
#[kernel]
pub fn reclaim(block: Block<128>, shared: Shared<Replicated<Stages<[i32; 4], 1, CpAsync, ThreadScope>, 128>>) {
    let (_, retired) = shared.threads(&block, |_, pipe| {
        let _ = pipe.acquire().copy(Zeros).commit();
    });
    let _ = retired.reclaim(&block);
}
