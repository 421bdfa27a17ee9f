//! On hardware (where thread-locals do not build) a later partition would take steps on barriers
//! that are gone.
#![forbid(unsafe_code)]
use std::cell::RefCell;
use tilepipe::role::{Between, Of, Partitioned, Producer, Role0, Role1, WarpRoles};
use tilepipe::{Block, Shared, Stages, Whole, kernel};

type Map = WarpRoles<32, 96>;
type End = Producer<'static, Between<Stages<[i32; 128], 2>, Of<Map, Role0>, Of<Map, Role1>, Whole>>;
thread_local!(static PARKED: RefCell<Option<End>> = const { RefCell::new(None) });

#[kernel]
fn park_the_end(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, producer, ()| PARKED.set(Some(producer)))
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
