//! The accepted neighbour of `fail/producer_filled_by_the_other_role.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Between, Of, Producer, Role0, Role1, RoleGroup, WarpRoles};
use tilepipe::{LoadStore, Stages};

type Map = WarpRoles<64, 64>;

type Filler<'r> = Producer<'r, Between<Stages<[i32; 64], 2, LoadStore>, Of<Map, Role0>, Of<Map, Role1>, ()>>;

fn fill<'a>(producer: Filler<'a>, group: RoleGroup<'a, Of<Map, Role0>, 64>) {
    let Ok(stage) = producer.acquire() else { return };
    let _ = stage.fill(&group, |_, e| e as i32).commit();
}

fn main() {}
