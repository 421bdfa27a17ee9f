//! Kernels that read constants: at places that the compiler knows, at others, in roles, and as much
//! as a launch carries.

use tilepipe::role::WarpRoles;
use tilepipe::{Block, Constant, Element, Tiles, TilesMut, kernel};

use super::{Line, THREADS, height};

/// Elements of [`filtered`](fn@filtered)'s filter.
pub const WIDTH: usize = 9;
/// Elements of [`looked_up`](fn@looked_up)'s table.
pub const TABLE: usize = 64;
/// Elements of [`full`](fn@full)'s table: with a flag, a view, and the bytes between them 4096
/// bytes.
pub const MOST: usize = 1018;

/// The sum of nine neighbours from each element on, each with its weight; beyond the end there are
/// zeros.
#[kernel]
pub fn filtered(
    block: Block<THREADS>,
    input: Tiles<u32, THREADS>,
    filter: Constant<[u32; WIDTH]>,
    mut out: TilesMut<u32, THREADS>,
) {
    let mut results = out.for_block(&block);
    for i in 0..results.len() {
        let first = THREADS * (i * block.grid() + block.index());
        let dst = results.get_mut(i);
        block.threads(|t| {
            let mut sum = 0_u32;
            for k in 0..WIDTH {
                let element = input.get(first + t.rank() + k).unwrap_or(0);
                sum = sum.wrapping_add(filter[k].wrapping_mul(element));
            }
            dst.set(&t, sum);
        });
    }
}

/// Writes the table's element at each index, which is taken modulo its length.
#[kernel]
pub fn looked_up(
    block: Block<THREADS>,
    indices: Tiles<u32, THREADS>,
    table: Constant<[u32; TABLE]>,
    mut out: TilesMut<u32, THREADS>,
) {
    let mut results = out.for_block(&block);
    for i in 0..results.len() {
        let first = THREADS * (i * block.grid() + block.index());
        let dst = results.get_mut(i);
        block.threads(|t| {
            if let Some(index) = indices.get(first + t.rank()) {
                dst.set(&t, table[index as usize % TABLE]);
            }
        });
    }
}

/// Two roles write the heights of two lines each; the block chooses one by a number that it reads
/// itself.
#[kernel]
pub fn lines_of_roles(
    block: Block<THREADS>,
    lines: Constant<[Line; 4]>,
    chosen: Constant<u8>,
    mut low: TilesMut<u32, 32>,
    mut high: TilesMut<u32, 32>,
) {
    let third = lines[usize::from(*chosen % 4)];
    let _ = block
        .partition::<WarpRoles<32, 32>>()
        .role(&mut low, |group, (), out| {
            let mut results = out.for_role(&group);
            for i in 0..results.len() {
                let dst = results.get_mut(i);
                group.threads(|t| {
                    let rank = t.rank();
                    dst.set(&t, height(lines[rank % 2], 0, 0, rank).wrapping_add(height(third, 1, 0, i)));
                });
            }
        })
        .role(&mut high, |group, (), out| {
            let mut results = out.for_role(&group);
            for i in 0..results.len() {
                let dst = results.get_mut(i);
                group.threads(|t| {
                    let rank = t.rank();
                    dst.set(&t, height(lines[2 + rank % 2], 0, 0, rank).wrapping_add(height(third, 2, 0, i)));
                });
            }
        })
        .run();
}

/// More than a value that is passed as it is: four lines, and how they are weighted.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Scene {
    /// The lines.
    pub lines: [Line; 4],
    /// What the height of each is multiplied by.
    pub weights: [u32; 4],
    /// Added to the sum.
    pub base: u64,
}

/// The weighted heights of a scene's four lines at each place, and its base.
#[kernel]
pub fn of_a_scene(block: Block<THREADS>, scene: Constant<Scene>, mut out: TilesMut<u64, THREADS>) {
    let mut results = out.for_block(&block);
    for i in 0..results.len() {
        let first = THREADS * (i * block.grid() + block.index());
        let dst = results.get_mut(i);
        block.threads(|t| dst.set(&t, weighted(&scene, first + t.rank())));
    }
}

/// What [`of_a_scene`](fn@of_a_scene) writes at a place.
pub fn weighted(scene: &Scene, place: usize) -> u64 {
    let mut sum = scene.base;
    for (line, weight) in scene.lines.into_iter().zip(scene.weights) {
        sum = sum.wrapping_add(u64::from(weight.wrapping_mul(height(line, 0, 0, place))));
    }
    sum
}

/// Adds to each of the table's elements its place, or takes it off: parameters of 4096 bytes.
#[kernel]
pub fn full(block: Block<THREADS>, less: bool, table: Constant<[u32; MOST]>, mut out: TilesMut<u32, THREADS>) {
    let mut results = out.for_block(&block);
    for i in 0..results.len() {
        let first = THREADS * (i * block.grid() + block.index());
        let dst = results.get_mut(i);
        block.threads(|t| {
            let place = (first + t.rank()) % MOST;
            let add = if less { (place as u32).wrapping_neg() } else { place as u32 };
            dst.set(&t, table[place].wrapping_add(add));
        });
    }
}

/// Every thread writes the address of the constant, as the block has taken it.
#[kernel]
pub fn addresses_of_constants(block: Block<THREADS>, table: Constant<[u32; TABLE]>, mut out: TilesMut<u64, THREADS>) {
    let address = (&raw const *table).addr() as u64;
    let mut results = out.for_block(&block);
    for i in 0..results.len() {
        let dst = results.get_mut(i);
        block.threads(|t| dst.set(&t, address));
    }
}

/// Writes elements of one of two tables, which the block chooses by its index: their addresses
/// become one.
#[kernel]
pub fn of_either(
    block: Block<THREADS>,
    even: Constant<[u32; TABLE]>,
    odd: Constant<[u32; TABLE]>,
    mut out: TilesMut<u32, THREADS>,
) {
    let table = if block.index().is_multiple_of(2) { even } else { odd };
    let mut results = out.for_block(&block);
    for i in 0..results.len() {
        let dst = results.get_mut(i);
        block.threads(|t| dst.set(&t, table[(t.rank() + i) % TABLE]));
    }
}
