//! Addresses of local variables, as numbers: for a test that they are the same in all threads which
//! run the same code.

use tilepipe::role::WarpRoles;
use tilepipe::{Block, TilesMut, kernel};

/// The address of a local variable of a function that is called, not inlined.
#[inline(never)]
fn address_in_a_function(value: usize) -> u64 {
    let local = value;
    (&raw const local).addr() as u64
}

/// Every thread writes the address that block-level code took of a local variable, and that of one
/// in a function.
#[kernel]
pub fn addresses_of_locals(block: Block<128>, mut in_block: TilesMut<u64, 128>, mut in_function: TilesMut<u64, 128>) {
    let local = in_block.len();
    let (own, called) = ((&raw const local).addr() as u64, address_in_a_function(local));
    let (mut in_block, mut in_function) = (in_block.for_block(&block), in_function.for_block(&block));
    for i in 0..in_block.len() {
        let dst = in_block.get_mut(i);
        block.threads(|t| dst.set(&t, own));
    }
    for i in 0..in_function.len() {
        let dst = in_function.get_mut(i);
        block.threads(|t| dst.set(&t, called));
    }
}

/// Every thread writes the address that its role took of a local variable.
#[kernel]
pub fn addresses_of_locals_in_roles(
    block: Block<128>,
    mut in_first: TilesMut<u64, 32>,
    mut in_second: TilesMut<u64, 96>,
) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role(&mut in_first, |group, (), out| {
            let mut results = out.for_role(&group);
            let local = results.len();
            let own = (&raw const local).addr() as u64;
            for i in 0..local {
                let dst = results.get_mut(i);
                group.threads(|t| dst.set(&t, own));
            }
        })
        .role(&mut in_second, |group, (), out| {
            let mut results = out.for_role(&group);
            let local = results.len();
            let own = (&raw const local).addr() as u64;
            for i in 0..local {
                let dst = results.get_mut(i);
                group.threads(|t| dst.set(&t, own));
            }
        })
        .run();
}
