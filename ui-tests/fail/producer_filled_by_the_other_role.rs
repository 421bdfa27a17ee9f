//! On hardware the other role's threads would store into a stage after its phase is complete.
#![forbid(unsafe_code)]
use tilepipe::role::{Between, Of, Producer, Role0, Role1, RoleGroup, WarpRoles};
use tilepipe::{LoadStore, Stages};

type Map = WarpRoles<64, 64>;

type Filler<'r> = Producer<'r, Between<Stages<[i32; 64], 2, LoadStore>, Of<Map, Role0>, Of<Map, Role1>, ()>>;

fn fill<'a, 'b>(producer: Filler<'a>, other: RoleGroup<'b, Of<Map, Role1>, 64>) {
    let Ok(stage) = producer.acquire() else { return };
    let _ = stage.fill(&other, |_, e| e as i32).commit();
}

fn main() {}
