//! The steps of a pipeline at block scope, each without a loop.
//!
//! Stages are filled with zeros, so that no view's bounds are in the code.

use tilepipe::{Block, LoadStore, Optional, Shared, Stages, Zeros, kernel};

registry!(
    acquire_free,
    acquire_free_beside_dirty,
    acquire_dirty,
    acquire_behind_a_wait,
    wait_for_one,
    wait_for_the_oldest_of_two,
    wait_for_the_oldest_of_three,
    release,
    weaken,
    finish,
    finish_in_flight,
    two_tiles_a_stage,
    an_empty_stage,
    through_registers,
    single_copy,
    single_copy_released,
    queue_of_two,
    sync,
);

/// A free stage is acquired and filled.
#[kernel]
pub fn acquire_free(block: Block<128>, shared: Shared<Stages<[i32; 128], 1>>) {
    let _ = shared.pipeline(&block).acquire().copy(Zeros).commit();
}

/// Of a free and a dirty stage the free one is acquired.
#[kernel]
pub fn acquire_free_beside_dirty(block: Block<128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let _ = shared.pipeline(&block).weaken().acquire().copy(Zeros).commit();
}

/// Only a dirty stage is left to acquire.
#[kernel]
pub fn acquire_dirty(block: Block<128>, shared: Shared<Stages<[i32; 128], 1>>) {
    let _ = shared.pipeline(&block).weaken().acquire().copy(Zeros).commit();
}

/// The stage that is acquired was dirty before the second `wait`, whose barrier freed it.
#[kernel]
pub fn acquire_behind_a_wait(block: Block<128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let pipe = shared.pipeline(&block).acquire().copy(Zeros).commit();
    let (pipe, tile) = pipe.wait();
    let pipe = pipe.release(tile).acquire().copy(Zeros).commit();
    let (pipe, tile) = pipe.wait();
    let pipe = pipe.acquire().copy(Zeros).commit();
    let _ = pipe.release(tile);
}

/// The only stage in flight is waited for.
#[kernel]
pub fn wait_for_one(block: Block<128>, shared: Shared<Stages<[i32; 128], 1>>) {
    let _ = shared.pipeline(&block).acquire().copy(Zeros).commit().wait();
}

/// One stage stays in flight.
#[kernel]
pub fn wait_for_the_oldest_of_two(block: Block<128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let pipe = shared.pipeline(&block).acquire().copy(Zeros).commit();
    let _ = pipe.acquire().copy(Zeros).commit().wait();
}

/// Two stages stay in flight.
#[kernel]
pub fn wait_for_the_oldest_of_three(block: Block<128>, shared: Shared<Stages<[i32; 128], 3>>) {
    let pipe = shared.pipeline(&block).acquire().copy(Zeros).commit();
    let _ = pipe.acquire().copy(Zeros).commit().acquire().copy(Zeros).commit().wait();
}

/// A tile is released.
#[kernel]
pub fn release(block: Block<128>, shared: Shared<Stages<[i32; 128], 1>>) {
    let (pipe, tile) = shared.pipeline(&block).acquire().copy(Zeros).commit().wait();
    let _ = pipe.release(tile);
}

/// Free stages are counted as dirty.
#[kernel]
pub fn weaken(block: Block<128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let _ = shared.pipeline(&block).weaken().weaken();
}

/// A pipeline without copies is ended, and its memory used again.
#[kernel]
pub fn finish(block: Block<128>, shared: Shared<Stages<[i32; 128], 1>>) {
    let _ = shared.pipeline(&block).finish().pipeline(&block);
}

/// A pipeline is ended while a copy is under way.
#[kernel]
pub fn finish_in_flight(block: Block<128>, shared: Shared<Stages<[i32; 128], 1>>) {
    let _ = shared.pipeline(&block).acquire().copy(Zeros).commit().finish();
}

/// A stage holds two tiles, which are committed and waited for together.
#[kernel]
pub fn two_tiles_a_stage(block: Block<128>, shared: Shared<Stages<([i32; 128], [f64; 128]), 1>>) {
    let _ = shared.pipeline(&block).acquire().copy((Zeros, Zeros)).commit().wait();
}

/// A stage is committed empty.
#[kernel]
pub fn an_empty_stage(block: Block<128>, shared: Shared<Stages<Optional<[i32; 128]>, 1>>) {
    let _ = shared.pipeline(&block).acquire().copy(None::<Zeros>).commit().wait();
}

/// The synchronous engine.
#[kernel]
pub fn through_registers(block: Block<128>, shared: Shared<Stages<[i32; 128], 1, LoadStore>>) {
    let _ = shared.pipeline(&block).acquire().copy(Zeros).commit().wait();
}

/// A copy without a pipeline.
#[kernel]
pub fn single_copy(block: Block<128>, shared: Shared<Stages<[i32; 128], 1>>) {
    let _ = shared.copy(&block, Zeros).wait();
}

/// A copy without a pipeline, whose memory is given back.
#[kernel]
pub fn single_copy_released(block: Block<128>, shared: Shared<Stages<[i32; 128], 1>>) {
    let _ = shared.copy(&block, Zeros).wait().release(&block);
}

/// Two copies, of which the older is waited for; a third one takes its memory.
#[kernel]
pub fn queue_of_two(block: Block<128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let (queue, tile) = shared.queue(&block).copy(Zeros).copy(Zeros).wait_prior();
    let _ = queue.release(tile).copy(Zeros);
}

/// The block's barrier.
#[kernel]
pub fn sync(block: Block<128>) {
    block.sync();
}
