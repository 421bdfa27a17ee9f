//! Roles: partitioned pipelines, whose producers and consumers are different threads of a block.
//!
//! [`Block::partition`](crate::Block::partition) divides a block's threads by a [`RoleMap`] and
//! runs one closure per role. Each closure gets its threads as a [`RoleGroup`], its ends of the
//! pipelines, and what was handed to it alone:
//!
//! ```
//! use tilepipe::role::{Partitioned, WarpRoles};
//! use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};
//!
//! /// 32 threads copy, 96 double what arrives.
//! #[kernel]
//! pub fn double(
//!     block: Block<128>,
//!     input: Tiles<i32, 96>,
//!     mut out: TilesMut<i32, 96>,
//!     shared: Shared<Partitioned<Stages<[i32; 96], 4>>>,
//! ) {
//!     let tiles = input.for_block(&block);
//!     let _ = block
//!         .partition::<WarpRoles<32, 96>>()
//!         .pipeline(shared)
//!         .role((), |_, mut producer, ()| {
//!             for i in 0..tiles.len() {
//!                 let Ok(stage) = producer.acquire() else { return };
//!                 producer = stage.copy(tiles.get(i)).commit();
//!             }
//!         })
//!         .role(&mut out, |consumers, mut consumer, out| {
//!             let mut results = out.for_role(&consumers);
//!             let mut i = 0;
//!             while let Ok(tile) = consumer.wait() {
//!                 let dst = results.get_mut(i);
//!                 consumers.threads(|t| dst.set(&t, 2 * tile[t.rank()]));
//!                 consumer = tile.release();
//!                 i += 1;
//!             }
//!         })
//!         .run();
//! }
//!
//! # fn main() -> Result<(), tilepipe_host::Error> {
//! # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Random { seed: 2 });
//! # let (input, mut out) = (device.upload(&[21; 1000])?, device.zeroed(1000)?);
//! # double::launch(&device.stream()?, 2, &input, &mut out)?;
//! # assert_eq!(out.download()?, [42; 1000]);
//! # Ok(())
//! # }
//! ```
//!
//! # Steps
//!
//! Each stage has two barriers, `full` and `empty`. PTX for sm_80 has `test_wait` instead of
//! `try_wait`.
//!
//! | step | PTX, for each thread | CUDA |
//! |---|---|---|
//! | [`Producer::acquire`] | `mbarrier.try_wait` on `empty` | `producer_acquire` |
//! | [`Acquired::copy`] | `cp.async` | `memcpy_async` |
//! | [`Filled::commit`] | `cp.async.mbarrier.arrive.noinc` on `full` | `producer_commit` |
//! | [`Consumer::wait`] | `mbarrier.try_wait` on `full` | `consumer_wait` |
//! | [`Consumer::wait_for`] | `test_wait` and `nanosleep` in the first thread | the same |
//! | [`Consumer::wait_until`] | as `wait_for` | the same |
//! | [`Producer::try_acquire`], [`Consumer::try_wait`] | as these | none |
//! | [`Ready::release`] | `mbarrier.arrive` on `empty` | `consumer_release` |
//! | [`Producer::quit`], [`Consumer::quit`] | one more stage, passed as closed | `quit` |
//! | [`Partition::run`] returns | barrier, `mbarrier.inval`, barrier | the destructor |
//!
//! How many arrivals a barrier counts follows from the role map's type. Each outcome that is not
//! certain (a time-out, `Closed`) is the same in all threads of a role.
//!
//! # Leaving
//!
//! When a role's closure returns, by its end or early, the role leaves: its copies land, and one
//! stage more is passed as closed. Consumers get [`Closed`] after the last committed stage;
//! producers get it when all stages that they could fill belong to consumers that left. So within
//! one pipeline nobody waits forever. (In a pipeline of
//! [`OperandTile`](crate::product::OperandTile)s no stage is passed: a word says which one does not
//! come, leaving waits for nothing, and so does `quit`.) Two roles that wait for each other at two
//! pipelines, in opposite order, do wait forever, and so can a `quit` by hand, which waits as
//! `acquire` and `wait` do. The CPU executor reports such a deadlock with the stages that the roles
//! wait for.
//!
//! # Destructors
//!
//! Take no steps in `drop`. On the CPU a panic unwinds its role, and a step that a destructor takes
//! meanwhile panics in turn; a panic that leaves a destructor ends the program.

mod capture;
mod channel;
mod drive;
mod end;
mod group;
mod links;
pub(crate) mod map;
mod misuse;
mod multiply;
mod outputs;
mod partition;
mod result;
mod run;

pub use crate::barrier::Closed;
pub use crate::marker::RoleShared;
pub use crate::stage::{Stage, StageFilled};
pub use capture::Handed;
pub use channel::{Between, Channel, Partitioned};
pub use end::{Acquired, Consumer, Filled, HeldTile, Holding, NoMore, Producer, Ready, Spent, Unready};
#[cfg_attr(doc, doc(hidden))]
pub use end::{ReleaseOne, StagesHeld};
pub use group::RoleGroup;
#[cfg_attr(doc, doc(hidden))]
pub use links::{Another, Append, Ends};
pub use links::{Link, Links};
pub use map::registers::{Budget, Registers, Registers3, Registers4};
pub use map::{
    Apart, EvenOdd, FirstThreads, InRole, Of, Role, RoleMap, WarpRoles, WarpRoles3, WarpRoles4, Warpgroups, WholeWarps,
};
pub use map::{Role0, Role1, Role2, Role3};
#[cfg_attr(doc, doc(hidden))]
pub use misuse::{
    ConsumersEnd, HoldsNoStage, HoldsStage, NotOneTile, PositionBeforeWait, PositionInSeveral, ProducersEnd, ReadHere,
    StillEmpty, UnifiedMemory,
};
pub use multiply::StageFactors;
pub use multiply::by_hand::{Across, Fresh, LeftFactor, Product, Start, TileFactor};
pub use multiply::factor_rows::FactorRows;
pub use multiply::room::{FactorRoom, SharedFactor, WrittenFactor};
pub use multiply::rooms::{EmptyRoom, FullRoom, RoomFactor, SharedFactors};
pub use multiply::turns::{InTurn, PreparedTurns, Turns};
pub use outputs::RoleDestination;
pub use partition::{Assigned, Partition};
#[cfg_attr(doc, doc(hidden))]
pub use partition::{AssignedRoles, Complete};
pub use result::{Kept, RoleResult};
pub use run::Run;
