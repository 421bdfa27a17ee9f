//! Steps of the other role and steps out of turn: hidden methods that exist for their messages, and
//! can't be called.

use core::convert::Infallible;
use core::ops::Index;

use super::channel::{Channel, Partitioned};
use super::end::{Acquired, Filled, Producer};
use super::end::{Consumer, Ready};
use super::result::Kept;
use crate::marker::NoPosition;
use crate::memory::Shared;
use crate::pipeline::{StageAcquired, StageIsFilled};
use crate::stage::contents::Optional;

/// Says that an end is the consumers'. It holds for no producer's end.
#[diagnostic::on_unimplemented(
    message = "this is the producers' end of a pipeline: only the consumers wait for stages and release them",
    label = "a step of the consumers",
    note = "a producer takes `acquire()`, `copy(tile)` and `commit()`; the role that waits and releases is the second one of `.pipeline(..)`, \
            or the second argument of `.pipeline_between(..)`"
)]
pub trait ConsumersEnd {}

/// Says that an end is the producers'. It holds for no consumer's end.
#[diagnostic::on_unimplemented(
    message = "this is the consumers' end of a pipeline: only the producers acquire, fill and commit stages",
    label = "a step of the producers",
    note = "a consumer takes `wait()` and `release()`; the role that fills stages is the first one of `.pipeline(..)`, or the first argument \
            of `.pipeline_between(..)`"
)]
pub trait ProducersEnd {}

/// Says that an end holds a stage, to be released. It holds for no end between two steps.
#[diagnostic::on_unimplemented(
    message = "this end of a pipeline holds no stage to release",
    label = "call `wait()` first",
    note = "a stage is released once, by its tile: `let Ok(tile) = consumer.wait() else {{ return }}; consumer = tile.release();`"
)]
pub trait HoldsStage {}

/// Says that an end holds no stage. It is false for a tile that was waited for and for a stage that
/// was acquired.
#[diagnostic::on_unimplemented(
    message = "this end of a pipeline still holds a stage",
    label = "give the stage back before this step",
    note = "a consumer releases its tile, `consumer = tile.release()`, and a producer commits its stage, \
            `producer = stage.copy(tile).commit()`, before the next one"
)]
pub trait HoldsNoStage {}

/// Says that a stage is still empty. It is false for a stage that was filled.
#[diagnostic::on_unimplemented(
    message = "this stage is filled already: a second copy would race with the first",
    label = "call `commit()` first",
    note = "one `copy` fills a stage; a stage of several tiles is filled from a tuple, `copy((a.get(i), b.get(i)))`"
)]
pub trait StillEmpty {}

/// The index of a stage that was not waited for: no type is one.
#[diagnostic::on_unimplemented(
    message = "a stage can't be read before `wait`: it may not have landed",
    label = "this is the pipeline's end, not a tile",
    note = "read the tile that `wait` returns: `let Ok(tile) = consumer.wait() else {{ return }};`; a timed wait that runs out gives back the end, \
            to wait again"
)]
pub trait PositionBeforeWait: NoPosition {}

/// No end has elements at positions; this exists for its message.
impl<K: Channel, I: PositionBeforeWait> Index<I> for Consumer<'_, K> {
    type Output = Infallible;

    fn index(&self, _: I) -> &Infallible {
        unreachable!("nothing is a position in an end of a pipeline")
    }
}

/// Contents that are no single tile.
pub trait NotOneTile {}
impl<T> NotOneTile for Optional<T> {}
impl<A, B> NotOneTile for (A, B) {}
impl<A, B, C> NotOneTile for (A, B, C) {}
impl<A, B, C, D> NotOneTile for (A, B, C, D) {}

/// The index of a stage that holds no single tile: no type is one.
#[diagnostic::on_unimplemented(
    message = "this stage holds no single tile to index: it holds several, or one that may be missing",
    label = "this doesn't say which tile, or whether there is one",
    note = "of several tiles take one first, `tiles.tiles().0[i]`; of an `Optional` tile ask first, `if let Some(tile) = tile.get()`"
)]
pub trait PositionInSeveral: NoPosition {}

/// No such stage has elements at positions; this exists for its message.
impl<K: Channel<Contents: NotOneTile>, I: PositionInSeveral> Index<I> for Ready<'_, K> {
    type Output = Infallible;

    fn index(&self, _: I) -> &Infallible {
        unreachable!("nothing is a position in several tiles")
    }
}

/// Says that memory is laid out for a unified pipeline. It is false for [`Partitioned`] memory.
#[diagnostic::on_unimplemented(
    message = "this shared memory is laid out for a pipeline between roles, with its barriers",
    label = "a unified pipeline has no barriers",
    note = "hand it to a partition, `block.partition::<WarpRoles<..>>().pipeline(shared)`; for a pipeline whose threads both fill and read take \
            `Shared<Stages<..>>`"
)]
pub trait UnifiedMemory {}

impl<L, P> Shared<'_, Partitioned<L>, P> {
    /// As above.
    #[doc(hidden)]
    pub fn pipeline<X>(self, _: X) -> Infallible
    where
        Self: UnifiedMemory,
    {
        unreachable!("no `Partitioned` memory is `UnifiedMemory`")
    }
}

/// Says that the values of a role's threads can be read here. It is false for [`Kept`] values.
#[diagnostic::on_unimplemented(
    message = "kept values are read by the role that kept them alone: the block's other threads have none",
    label = "no thread of the block has its value here",
    note = "hand them to the same role of another partition by the same map, and there call `group.resume(kept)`"
)]
pub trait ReadHere {}

impl<R, T, const SIZE: usize> Kept<R, T, SIZE> {
    /// As above.
    #[doc(hidden)]
    pub fn get<X>(&self, _: X) -> Infallible
    where
        Self: ReadHere,
    {
        unreachable!("no kept value is `ReadHere`")
    }
}

macro_rules! misused {
    ($($state:ty { $($step:ident $(<$source:ident>)? needs $needed:ident;)* })*) => {$(
        /// Steps that this value does not have: they exist to say so, and can't be called.
        impl<K: Channel> $state {
            $(
                #[doc(hidden)]
                pub fn $step$(<$source>)?(self $(, _: $source)?) -> Infallible
                where
                    Self: $needed,
                {
                    unreachable!(concat!("nothing is `", stringify!($needed), "` here"))
                }
            )*
        }
    )*};
}
misused! {
    Producer<'_, K> {
        wait needs ConsumersEnd;
        release needs ConsumersEnd;
        copy<X> needs StageAcquired;
        commit needs StageIsFilled;
    }
    Acquired<'_, K> {
        acquire needs HoldsNoStage;
        commit needs StageIsFilled;
    }
    Filled<'_, K> {
        acquire needs HoldsNoStage;
        copy<X> needs StillEmpty;
    }
    Consumer<'_, K> {
        acquire needs ProducersEnd;
        copy<X> needs ProducersEnd;
        commit needs ProducersEnd;
        release needs HoldsStage;
    }
    Ready<'_, K> {
        wait needs HoldsNoStage;
    }
}
