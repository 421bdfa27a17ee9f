//! Model checks of the protocol: [`EndState`](super::EndState), unchanged, over a model of the
//! barriers.
//!
//! Each test is a scene: the threads of two or three roles, each with its script. loom runs a scene
//! in all orders of its threads' steps that differ (up to a bound on preemptions where the test's
//! name says so), shuttle in many random ones. In each run:
//!
//! * consumers get the tiles in order, none twice, and [`Closed`](super::Closed) exactly after the
//!   last committed one;
//! * all threads of a role see the same outcomes;
//! * no write is unordered with another access to its place ([`memory`]), nothing is read while a
//!   copy is in flight;
//! * each wait returns for the phase that it was meant for, and no thread arrives twice in a phase
//!   ([`barrier`]);
//! * no thread waits forever;
//! * when the roles have left, no arrival is pending and no copy is in flight.
//!
//! A thread of the model stands for whatever arrives once at a barrier: a thread, or a warp that
//! arrives as one, behind a barrier of its own. (Its threads wait one by one. What they could do
//! before that barrier, threads that arrive one by one can.)
//!
//! `mutations` shows that the checks can fail: each mistake in the protocol or in its barriers is
//! found, by the check that is meant to.

mod barrier;
mod checker;
mod ends;
mod exhaustive;
mod memory;
mod mutations;
mod pipeline;
mod sampled;
mod scenes;
mod script;
mod threads;
