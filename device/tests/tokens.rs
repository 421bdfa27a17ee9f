//! What must not drift: which auto traits the tokens have, and how large they are.

use std::cell::Cell;
use std::fmt::Arguments;
use std::sync::atomic::AtomicU32;

use static_assertions::{assert_impl_all, assert_not_impl_any, const_assert_eq};
use tilepipe::pipeline::{Dirty, Free, Held, Idle, InFlight, Pipeline, Stage, StageFilled, Unified};
use tilepipe::reduce::{Add, Max, Unordered};
use tilepipe::role::RoleShared;
use tilepipe::{
    Bins, Block, BlockTilesMut, Constant, Counts, HaloTile, OpenBins, PerThread, Ready, Reduction, Shared, Stages,
    Thread, TileMut, Tiles, TilesMut, Uniform, Whole,
};

type Setup = Unified<Stages<[i32; 256], 2>, tilepipe::group::InBlock<'static, 256>>;

type Histogram = OpenBins<'static, u32, 256, Add, 1, Whole, Block<'static, 256>>;
type Published = Counts<'static, u32, 256, Add, 1, Whole, Block<'static, 256>>;

#[test]
fn what_belongs_to_block_level_code_is_no_capture_of_a_closure() {
    assert_not_impl_any!(Block<'static, 256>: Uniform);
    assert_not_impl_any!(Thread<'static, 'static, 256>: Uniform);
    assert_not_impl_any!(Idle<'static, Setup, 2>: Uniform);
    assert_not_impl_any!(Pipeline<'static, Setup, Free<0>, InFlight<1>, Held<0>, Dirty<1>>: Uniform);
    assert_not_impl_any!(Stage<'static, Setup>: Uniform);
    assert_not_impl_any!(StageFilled<'static, Setup>: Uniform);
    assert_not_impl_any!(Shared<'static, Stages<[i32; 256], 2>>: Uniform);
    assert_not_impl_any!(TilesMut<'static, i32, 256>: Uniform);
    assert_not_impl_any!(BlockTilesMut<'static, 'static, [i32; 256], 256>: Uniform);
}

#[test]
fn what_could_carry_a_value_out_is_no_capture_of_a_closure() {
    assert_not_impl_any!(&'static mut i32: Uniform);
    assert_not_impl_any!(&'static Cell<i32>: Uniform);
    assert_not_impl_any!(&'static AtomicU32: Uniform);
    assert_not_impl_any!(*const i32: Uniform);
    assert_not_impl_any!(*mut i32: Uniform);
    assert_not_impl_any!(Arguments<'static>: Uniform);
    assert_not_impl_any!(core::task::Waker: Uniform);
    assert_not_impl_any!(&'static dyn Fn(): Uniform);
}

#[test]
fn what_a_thread_reads_or_owns_is_a_capture_of_a_closure() {
    assert_impl_all!(&'static [i32; 256]: Uniform);
    assert_impl_all!(Ready<'static, Setup>: Uniform);
    assert_impl_all!(Tiles<'static, i32, 256>: Uniform);
    assert_impl_all!(Constant<'static, [f32; 64]>: Uniform, RoleShared, Copy, Send, Sync);
    assert_impl_all!(TileMut<'static, 'static, [i32; 256], 256>: Uniform);
    assert_impl_all!(PerThread<'static, f32, 256>: Uniform);
    assert_impl_all!(core::slice::Iter<'static, i32>: Uniform);
    assert_impl_all!(HaloTile<f32, 128, 8>: Uniform);
}

#[test]
fn what_threads_add_to_is_a_capture_of_a_closure_and_of_several_roles() {
    assert_impl_all!(Reduction<'static, u64, Max>: Uniform, RoleShared);
    assert_impl_all!(Reduction<'static, f32, Unordered<Add>>: Uniform, RoleShared);
    assert_impl_all!(Histogram: Uniform, RoleShared);
    assert_impl_all!(Published: Uniform, RoleShared, std::ops::Deref<Target = [u32; 256]>);
    assert_not_impl_any!(Shared<'static, Bins<u32, 256, Add>>: Uniform);
    assert_not_impl_any!(Reduction<'static, u32, Add>: Clone, Copy, Send, Sync, std::ops::Deref);
    assert_not_impl_any!(Histogram: Clone, Copy, Send, Sync, std::ops::Deref);
    assert_not_impl_any!(Published: Clone, Copy, Send, Sync, std::ops::DerefMut);
}

#[test]
fn tokens_are_affine_and_stay_on_their_thread() {
    assert_not_impl_any!(Block<'static, 256>: Clone, Copy, Send, Sync);
    assert_not_impl_any!(Thread<'static, 'static, 256>: Clone, Copy, Send, Sync);
    assert_not_impl_any!(Idle<'static, Setup, 2>: Clone, Copy, Send, Sync);
    assert_not_impl_any!(Ready<'static, Setup>: Clone, Copy, Send);
    assert_not_impl_any!(Shared<'static, Stages<[i32; 256], 2>>: Clone, Copy, Send, Sync);
    assert_not_impl_any!(TilesMut<'static, i32, 256>: Clone, Copy, Send, Sync);
    assert_not_impl_any!(PerThread<'static, f32, 256>: Clone, Copy, PartialEq<f32>, std::fmt::Debug, std::ops::Deref);
}

#[test]
fn tokens_cost_nothing() {
    const_assert_eq!(size_of::<Block<'static, 256>>(), 0);
    const_assert_eq!(size_of::<Ready<'static, Setup>>(), size_of::<*const ()>());
    const_assert_eq!(size_of::<StageFilled<'static, Setup>>(), 0);
}
