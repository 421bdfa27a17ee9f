//! The accepted neighbour of `fail/role_channel_of_ones_own.rs`.
#![forbid(unsafe_code)]
use tilepipe::Stages;
use tilepipe::role::{Between, Channel, Of, Role0, Role1, WarpRoles};

type Map = WarpRoles<32, 96>;

fn takes<K: Channel>() {}

fn main() {
    takes::<Between<Stages<[i32; 128], 2>, Of<Map, Role0>, Of<Map, Role1>, ()>>();
}
