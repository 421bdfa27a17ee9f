//! How a tile divides into units, each of which one thread copies.

use crate::group::Deal;
use crate::scope::Scope;
use crate::tile::{Tile, place};

/// Deals the tile's units of `width` bytes out to the group's threads, unit `u` of each part to
/// member `u % TEAM`, and calls `copy(row, byte offset in the row, byte offset in shared memory)`
/// for each.
///
/// # Safety
///
/// As for [`Deal::deal`].
#[inline(always)]
pub(super) unsafe fn for_each_unit<T: Tile, G: Deal<S>, S: Scope>(width: usize, copy: impl Fn(usize, usize, usize)) {
    let element = size_of::<T::Element>();
    let units_of_row = units_of_row::<T>(width);
    let units = T::LEN * element / width / G::PARTS;
    let deal = |part: usize, member: usize| {
        if T::ROWS == 1 && T::COLUMN_PITCH == 1 {
            // The compiler knows the number of rounds, so it unrolls a few.
            for round in 0..units.div_ceil(G::TEAM) {
                let unit = member + round * G::TEAM;
                if unit < units {
                    let index = part * units + unit;
                    copy(0, index * width, index * width);
                }
            }
        } else if G::PARTS == 1 && has_two_units::<T>(width, G::TEAM) {
            // Both are of one column.
            let (row, column) = (member / units_of_row, member % units_of_row * width);
            for row in [row, row + G::TEAM / units_of_row] {
                copy(row, column, bytes_to::<T>(row, column));
            }
        } else {
            // The loop takes one unit at a time, because places in rows take many registers.
            let mut unit = member;
            while unit < units {
                let index = part * units + unit;
                let (row, column) = (index / units_of_row, index % units_of_row * width);
                copy(row, column, bytes_to::<T>(row, column));
                unit += G::TEAM;
            }
        }
    };
    // SAFETY: the caller's promises.
    unsafe { G::deal(deal) };
}

/// How many units of `width` bytes a row has.
#[inline(always)]
pub(super) const fn units_of_row<T: Tile>(width: usize) -> usize {
    T::COLUMNS * size_of::<T::Element>() / width
}

/// Whether a tile with rows has two units of `width` bytes for each of `team` threads, of one
/// column each.
#[inline(always)]
pub(super) const fn has_two_units<T: Tile>(width: usize, team: usize) -> bool {
    let of_row = units_of_row::<T>(width);
    T::ROWS > 1 && T::ROWS * of_row == 2 * team && team.is_multiple_of(of_row)
}

/// Where byte `byte` of row `row` lies in the tile in shared memory.
#[inline(always)]
pub(super) fn bytes_to<T: Tile>(row: usize, byte: usize) -> usize {
    let element = size_of::<T::Element>();
    if T::COLUMN_PITCH == 1 {
        // Without a division, which the compiler would have to see through.
        return row * T::PITCH * element + byte;
    }
    place::<T>(row, byte / element) * element + byte % element
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::group::InThread;
    use crate::scope::ThreadScope;
    use crate::tile::tile2d::{ColumnTile2D, Tile2D};

    fn each_lies_where_the_tile_has_it<T: Tile<Element = u32>>() {
        let copied = RefCell::new(Vec::new());
        let copy = |row, byte, offset| copied.borrow_mut().push((row, byte / 4, offset));
        // SAFETY: a group of one thread, this one; nothing leaves it but the numbers.
        unsafe { for_each_unit::<T, InThread<1>, ThreadScope>(4, copy) };
        let elements = (0..T::ROWS).flat_map(|row| (0..T::COLUMNS).map(move |column| (row, column)));
        let expected: Vec<_> = elements.map(|(row, column)| (row, column, 4 * place::<T>(row, column))).collect();
        assert_eq!(copied.into_inner(), expected, "{}", core::any::type_name::<T>());
    }

    #[test]
    fn each_unit_lies_where_the_tile_has_its_element() {
        each_lies_where_the_tile_has_it::<[u32; 6]>();
        each_lies_where_the_tile_has_it::<Tile2D<u32, 3, 4>>();
        each_lies_where_the_tile_has_it::<Tile2D<u32, 3, 4, 2>>();
        each_lies_where_the_tile_has_it::<Tile2D<u32, 1, 4, 2>>();
        each_lies_where_the_tile_has_it::<ColumnTile2D<u32, 3, 4>>();
        each_lies_where_the_tile_has_it::<ColumnTile2D<u32, 3, 4, 1>>();
        each_lies_where_the_tile_has_it::<ColumnTile2D<u32, 2, 1, 1>>();
        each_lies_where_the_tile_has_it::<ColumnTile2D<u32, 1, 4, 3>>();
        each_lies_where_the_tile_has_it::<ColumnTile2D<u32, 1, 4>>();
    }
}
