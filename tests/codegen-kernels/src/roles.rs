//! The barriers and collectives of roles, one each, and the steps that poll.

use tilepipe::role::{Partitioned, WarpRoles, WarpRoles3};
use tilepipe::{Block, Shared, Stages, TilesMut, Zeros, kernel};

registry!(
    role_sync,
    roles_sync_side_by_side,
    role_reduce,
    role_scan,
    role_scan_with_total,
    role_exclusive_scan,
    role_any,
    role_all,
    role_broadcast,
    role_result,
    role_polls,
);

/// `RoleGroup::sync` of the second of two roles.
#[kernel]
pub fn role_sync(block: Block<128>) {
    let _ =
        block.partition::<WarpRoles<32, 96>>().role((), |_, (), ()| {}).role((), |group, (), ()| group.sync()).run();
}

/// `RoleGroup::sync` in each of three roles.
#[kernel]
pub fn roles_sync_side_by_side(block: Block<224>) {
    let _ = block
        .partition::<WarpRoles3<32, 64, 128>>()
        .role((), |group, (), ()| group.sync())
        .role((), |group, (), ()| group.sync())
        .role((), |group, (), ()| group.sync())
        .run();
}

/// `RoleGroup::reduce`.
#[kernel]
pub fn role_reduce(block: Block<128>, mut out: TilesMut<u32, 96>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |_, (), ()| {})
        .role(&mut out, |group, (), out| {
            let total = group.reduce(&group.map(|t| t.rank() as u32), u32::wrapping_add);
            let mut results = out.for_role(&group);
            let dst = results.get_mut(0);
            group.threads(|t| dst.set(&t, total));
        })
        .run();
}

/// `RoleGroup::scan`.
#[kernel]
pub fn role_scan(block: Block<128>, mut out: TilesMut<u32, 96>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |_, (), ()| {})
        .role(&mut out, |group, (), out| {
            let sums = group.scan(&group.map(|t| t.rank() as u32), u32::wrapping_add);
            let mut results = out.for_role(&group);
            let dst = results.get_mut(0);
            group.threads(|t| dst.set(&t, sums.get(&t)));
        })
        .run();
}

/// `RoleGroup::scan_with_total`.
#[kernel]
pub fn role_scan_with_total(block: Block<128>, mut out: TilesMut<u32, 96>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |_, (), ()| {})
        .role(&mut out, |group, (), out| {
            let (sums, total) = group.scan_with_total(&group.map(|t| t.rank() as u32), u32::wrapping_add);
            let mut results = out.for_role(&group);
            let dst = results.get_mut(0);
            group.threads(|t| dst.set(&t, sums.get(&t) ^ total));
        })
        .run();
}

/// `RoleGroup::exclusive_scan`.
#[kernel]
pub fn role_exclusive_scan(block: Block<128>, initial: u32, mut out: TilesMut<u32, 96>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |_, (), ()| {})
        .role(&mut out, |group, (), out| {
            let own = group.map(|t| t.rank() as u32);
            let (sums, total) = group.exclusive_scan(&own, initial, u32::wrapping_add);
            let mut results = out.for_role(&group);
            let dst = results.get_mut(0);
            group.threads(|t| dst.set(&t, sums.get(&t) ^ total));
        })
        .run();
}

/// `RoleGroup::any`.
#[kernel]
pub fn role_any(block: Block<128>, limit: usize, mut out: TilesMut<u32, 96>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |_, (), ()| {})
        .role(&mut out, |group, (), out| {
            let any = group.any(&group.map(|t| t.rank() > limit));
            let mut results = out.for_role(&group);
            let dst = results.get_mut(0);
            group.threads(|t| dst.set(&t, u32::from(any)));
        })
        .run();
}

/// `RoleGroup::all`.
#[kernel]
pub fn role_all(block: Block<128>, limit: usize, mut out: TilesMut<u32, 96>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |_, (), ()| {})
        .role(&mut out, |group, (), out| {
            let all = group.all(&group.map(|t| t.rank() > limit));
            let mut results = out.for_role(&group);
            let dst = results.get_mut(0);
            group.threads(|t| dst.set(&t, u32::from(all)));
        })
        .run();
}

/// `RoleGroup::broadcast`.
#[kernel]
pub fn role_broadcast(block: Block<128>, rank: usize, mut out: TilesMut<u32, 96>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |_, (), ()| {})
        .role(&mut out, |group, (), out| {
            let value = group.broadcast(&group.map(|t| t.rank() as u32), rank);
            let mut results = out.for_role(&group);
            let dst = results.get_mut(0);
            group.threads(|t| dst.set(&t, value));
        })
        .run();
}

/// The result of a role goes to the whole block.
#[kernel]
pub fn role_result(block: Block<128>, value: u32, mut out: TilesMut<u32, 128>) {
    let ((value, ()), ()) =
        block.partition::<WarpRoles<32, 96>>().role((), |_, (), ()| value).role((), |_, (), ()| {}).run();
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.threads(|t| dst.set(&t, value));
}

/// `Consumer::try_wait`, once.
#[kernel]
pub fn role_polls(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, producer, ()| {
            if let Ok(stage) = producer.acquire() {
                let _ = stage.copy(Zeros).commit();
            }
        })
        .role((), |_, consumer, ()| {
            if let Ok(tile) = consumer.try_wait() {
                let _ = tile.release();
            }
        })
        .run();
}
