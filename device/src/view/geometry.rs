//! How the elements of a view lie in global memory, and where its tiles are among them: the same
//! for inputs and outputs.

use core::num::NonZeroU32;

use super::numbers::{TileNumbers, pieces};
use crate::fault;
use crate::marker::Uniform;
use crate::tile::Tile;

/// How the elements of a view lie in global memory, and how its tiles are numbered: [`Elements`] in
/// a row, or [`Rows`] of them, whose tiles may be numbered by [`Columns`], or be those of one row
/// or column of tiles. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no geometry of a view",
    note = "a view is of `Elements` in a row or of `Rows`: take `Tiles`, `Halos`, `TilesMut`, or `Tiles2D`, `Halos2D`, `TilesMut2D`"
)]
pub trait Geometry: sealed::Geometry + Uniform + 'static {}

/// Elements in one row: a view of a `Buffer`.
#[derive(Clone, Copy, Debug)]
pub struct Elements {
    len: usize,
}

/// Rows of elements, whose starts lie a pitch apart: a view of a `Buffer2D`.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    width: usize,
    height: usize,
    pitch: usize,
}

/// [`Rows`] of elements whose tiles are numbered column by column:
/// [`TileView::by_columns`](crate::TileView::by_columns).
#[derive(Clone, Copy, Debug)]
pub struct Columns(Rows);

/// One row of the tiles of [`Rows`] of elements, or one column: [`RowOfTiles`] or
/// [`ColumnOfTiles`].
#[derive(Clone, Copy, Debug)]
pub struct LineOfTiles<const IS_COLUMN: bool> {
    rows: Rows,
    /// Which one.
    line: usize,
}

/// One row of the tiles of [`Rows`] of elements:
/// [`TileView::row_of_tiles`](crate::TileView::row_of_tiles).
pub type RowOfTiles = LineOfTiles<false>;

/// One column of the tiles of [`Rows`] of elements:
/// [`TileView::column_of_tiles`](crate::TileView::column_of_tiles).
pub type ColumnOfTiles = LineOfTiles<true>;

impl Geometry for Elements {}
impl Geometry for Rows {}
impl Geometry for Columns {}
impl<const IS_COLUMN: bool> Geometry for LineOfTiles<IS_COLUMN> {}

impl Elements {
    /// `len` elements.
    #[inline(always)]
    pub(crate) fn new(len: usize) -> Self {
        Elements { len }
    }

    /// How many tiles of shape `S` there are.
    #[inline(always)]
    pub(crate) fn tiles<S: Tile>(self) -> usize {
        pieces(self.len, S::STRIDE)
    }
}

impl Rows {
    /// `height` rows of `width` elements.
    #[inline(always)]
    pub(crate) fn new(width: usize, height: usize, pitch: usize) -> Self {
        Rows { width, height, pitch }
    }

    /// How many tiles of shape `S` lie below one another.
    #[inline(always)]
    pub(crate) fn tile_rows<S: Tile>(self) -> usize {
        pieces(self.height, S::ROW_STRIDE)
    }

    /// How many tiles of shape `S` lie beside one another.
    #[inline(always)]
    pub(crate) fn tile_columns<S: Tile>(self) -> usize {
        pieces(self.width, S::STRIDE)
    }

    /// Divides the view into tiles that begin so many rows and columns apart; returns how many
    /// there are as well.
    ///
    /// # Panics
    ///
    /// If there are 2^32 or more.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn divide_into(self, [rows, columns]: [usize; 2]) -> (TileColumns, usize) {
        let (rows, columns) = (pieces(self.height, rows), pieces(self.width, columns));
        let limit = u32::MAX as usize;
        // If both fit into 32 bits their product fits into 64, and takes one instruction.
        let tiles = if rows > limit || columns > limit { usize::MAX } else { rows * columns };
        if tiles > limit {
            let tiles = columns.saturating_mul(rows);
            fault::out_of_range("a view of {} tiles is too large: at most {} can be", tiles, limit);
        }
        // A view is not empty, so it has a column of tiles.
        (TileColumns(NonZeroU32::new(columns as u32).unwrap_or(NonZeroU32::MIN)), tiles)
    }

    /// The same rows, their tiles numbered column by column.
    #[inline(always)]
    pub(crate) fn by_columns(self) -> Columns {
        Columns(self)
    }

    /// The tiles of one row, or column.
    #[inline(always)]
    pub(crate) fn line_of_tiles<const IS_COLUMN: bool>(self, line: usize) -> LineOfTiles<IS_COLUMN> {
        LineOfTiles { rows: self, line }
    }
}

impl Columns {
    /// The view that this one is the transpose of, with the extents that its rows have: columns of
    /// tiles here are rows of tiles there.
    #[inline(always)]
    fn transposed(self) -> Rows {
        let Columns(Rows { width, height, pitch }) = self;
        Rows { width: height, height: width, pitch }
    }
}

pub(crate) mod sealed {
    use core::fmt::Debug;

    use super::TileNumbers;
    use crate::tile::Tile;

    #[diagnostic::on_unimplemented(
        message = "`Geometry` can't be implemented for `{Self}`: it is sealed",
        label = "not `Elements` or `Rows`",
        note = "copies and stores trust that a geometry's tiles lie within the view"
    )]
    pub trait Geometry: Copy + Debug {
        /// What finds the place of a tile from its number, worked out once.
        type Division: Copy + Debug;

        /// Whether a tile is asked whether its number lies below
        /// [`whole_below`](Self::whole_below), where that is not known of all tiles: in a loop over
        /// tiles that are multiplied, which is too large to be written twice.
        const ASKS_EACH: bool = false;

        /// Elements in a row.
        fn width(self) -> usize;

        /// Rows.
        fn height(self) -> usize;

        /// Elements from one row's start to the next one's; 0 where there is one row.
        fn pitch(self) -> usize;

        /// Divides the view into tiles of shape `S`; returns how many there are as well.
        ///
        /// # Panics
        ///
        /// If they are rows of tiles, 2^32 or more in all.
        fn divide<S: Tile>(self) -> (Self::Division, usize);

        /// How many these numbers of tiles are.
        fn count(numbers: TileNumbers) -> usize;

        /// The row and the column of tile `number` among the tiles.
        fn place(division: Self::Division, number: usize) -> (usize, usize);

        /// A bound on tile numbers: all of the tiles `numbers` with lower numbers lie within the
        /// view as a whole, their halos included. It is at most the number of the view's tiles.
        fn whole_below<S: Tile>(self, numbers: TileNumbers) -> usize;
    }
}

impl sealed::Geometry for Elements {
    type Division = ();

    #[inline(always)]
    fn width(self) -> usize {
        self.len
    }

    #[inline(always)]
    fn height(self) -> usize {
        1
    }

    #[inline(always)]
    fn pitch(self) -> usize {
        0
    }

    #[inline(always)]
    fn divide<S: Tile>(self) -> ((), usize) {
        ((), self.tiles::<S>())
    }

    #[inline(always)]
    fn count(numbers: TileNumbers) -> usize {
        numbers.count()
    }

    #[inline(always)]
    fn place((): (), number: usize) -> (usize, usize) {
        (0, number)
    }

    #[inline(always)]
    fn whole_below<S: Tile>(self, numbers: TileNumbers) -> usize {
        if S::ROWS > 1 || numbers.number(0) * S::STRIDE < S::LEAD {
            return 0;
        }
        // This is how far a tile reaches beyond the start of the next one.
        let beyond = const { S::COLUMNS - S::LEAD - S::STRIDE };
        if self.len < beyond { 0 } else { (self.len - beyond) / S::STRIDE }
    }
}

/// How many tiles lie beside one another in a view of rows.
#[derive(Clone, Copy, Debug)]
pub struct TileColumns(NonZeroU32);

impl TileColumns {
    /// How many.
    #[inline(always)]
    pub(crate) fn count(self) -> usize {
        self.0.get() as usize
    }

    /// How many, as what divides without a check.
    #[inline(always)]
    pub(crate) fn divisor(self) -> NonZeroU32 {
        self.0
    }
}

impl sealed::Geometry for Rows {
    type Division = TileColumns;

    #[inline(always)]
    fn width(self) -> usize {
        self.width
    }

    #[inline(always)]
    fn height(self) -> usize {
        self.height
    }

    #[inline(always)]
    fn pitch(self) -> usize {
        self.pitch
    }

    #[inline(always)]
    #[track_caller]
    fn divide<S: Tile>(self) -> (TileColumns, usize) {
        self.divide_into([S::ROW_STRIDE, S::STRIDE])
    }

    #[inline(always)]
    fn count(numbers: TileNumbers) -> usize {
        // `divide_into` refuses more.
        numbers.count_below_2_32()
    }

    #[inline(always)]
    fn place(division: TileColumns, number: usize) -> (usize, usize) {
        // No overflow: below the number of tiles, or some stages ahead.
        let number = number as u32;
        ((number / division.0) as usize, (number % division.0) as usize)
    }

    /// A partial tile at the right edge, or a halo beyond any edge, is in every row of tiles, and
    /// so among the tiles of nearly every block. Without them all rows of tiles but a partial last
    /// one are whole.
    #[inline(always)]
    fn whole_below<S: Tile>(self, _: TileNumbers) -> usize {
        if const { is_alone::<S>() } && self.width.is_multiple_of(S::STRIDE) {
            // No overflow: at most the number of tiles, which is below 2^32.
            self.height / S::ROW_STRIDE * self.tile_columns::<S>()
        } else {
            0
        }
    }
}

impl sealed::Geometry for Columns {
    /// How many tiles lie below one another.
    type Division = TileColumns;

    #[inline(always)]
    fn width(self) -> usize {
        self.0.width
    }

    #[inline(always)]
    fn height(self) -> usize {
        self.0.height
    }

    #[inline(always)]
    fn pitch(self) -> usize {
        self.0.pitch
    }

    #[inline(always)]
    #[track_caller]
    fn divide<S: Tile>(self) -> (TileColumns, usize) {
        self.transposed().divide_into([S::STRIDE, S::ROW_STRIDE])
    }

    #[inline(always)]
    fn count(numbers: TileNumbers) -> usize {
        Rows::count(numbers)
    }

    #[inline(always)]
    fn place(division: TileColumns, number: usize) -> (usize, usize) {
        let (column, row) = Rows::place(division, number);
        (row, column)
    }

    /// As for [`Rows`]: all columns of tiles but a partial last one are whole where no tile is cut
    /// off below.
    #[inline(always)]
    fn whole_below<S: Tile>(self, _: TileNumbers) -> usize {
        if const { is_alone::<S>() } && self.0.height.is_multiple_of(S::ROW_STRIDE) {
            // No overflow: at most the number of tiles, which is below 2^32.
            self.0.width / S::STRIDE * self.0.tile_rows::<S>()
        } else {
            0
        }
    }
}

impl<const IS_COLUMN: bool> sealed::Geometry for LineOfTiles<IS_COLUMN> {
    /// Which row or column it is.
    type Division = usize;

    const ASKS_EACH: bool = true;

    #[inline(always)]
    fn width(self) -> usize {
        self.rows.width
    }

    #[inline(always)]
    fn height(self) -> usize {
        self.rows.height
    }

    #[inline(always)]
    fn pitch(self) -> usize {
        self.rows.pitch
    }

    #[inline(always)]
    fn divide<S: Tile>(self) -> (usize, usize) {
        (self.line, if IS_COLUMN { self.rows.tile_rows::<S>() } else { self.rows.tile_columns::<S>() })
    }

    #[inline(always)]
    fn count(numbers: TileNumbers) -> usize {
        numbers.count()
    }

    #[inline(always)]
    fn place(line: usize, number: usize) -> (usize, usize) {
        if IS_COLUMN { (number, line) } else { (line, number) }
    }

    /// All but a partial last one, unless the row or column of tiles is partial itself.
    #[inline(always)]
    fn whole_below<S: Tile>(self, _: TileNumbers) -> usize {
        let Rows { width, height, .. } = self.rows;
        let [along, across] = if IS_COLUMN { [height, width] } else { [width, height] };
        let [step, extent] = if IS_COLUMN { [S::ROW_STRIDE, S::STRIDE] } else { [S::STRIDE, S::ROW_STRIDE] };
        // No overflow: there is such a line, and the view's elements lie in the address space.
        if const { is_alone::<S>() } && (self.line + 1) * extent <= across { along / step } else { 0 }
    }
}

/// Whether a tile reaches into no other one: it has no halo.
const fn is_alone<S: Tile>() -> bool {
    S::COLUMNS == S::STRIDE && S::ROWS == S::ROW_STRIDE
}

/// The overlap of `len` rows or elements with a tile's `extent` that begins `lead` before `start`,
/// from where to where in the tile, in units of `unit` each.
///
/// Whether the tile has `rows` chooses between two forms of one difference: with the other one a
/// stencil spills a register, or every loop over one row with a halo has other instructions.
#[inline(always)]
pub(crate) fn clip(start: usize, len: usize, lead: usize, extent: usize, unit: usize, rows: bool) -> (usize, usize) {
    let before = match rows {
        true => lead.saturating_sub(start) * unit,
        false if start < lead => (lead - start) * unit,
        false => 0,
    };
    let rest = len - start;
    (before, if rest < extent - lead { (rest + lead) * unit } else { extent * unit })
}

#[cfg(test)]
mod tests {
    use super::sealed::Geometry;
    use super::*;
    use crate::tile::tile2d::{HaloTile2D, Tile2D};
    use crate::tile::{HaloTile, Tile};

    /// Whether no number that lies below the bound lies beyond the view's tiles.
    fn check<S: Tile>(geometry: impl Geometry, tiles: usize) {
        let below = geometry.whole_below::<S>(TileNumbers::all_below(tiles));
        assert!(below <= tiles, "{geometry:?}: {below} of {tiles}");
    }

    #[test]
    fn tiles_that_are_whole_are_tiles_of_the_view() {
        for len in 1..100 {
            let one = Elements::new(len);
            check::<[u32; 8]>(one, one.tiles::<[u32; 8]>());
            check::<HaloTile<u32, 8, 4>>(one, one.tiles::<HaloTile<u32, 8, 4>>());
            for height in 1..20 {
                let rows = Rows::new(len, height, 100);
                check::<Tile2D<u32, 4, 8>>(rows, rows.divide::<Tile2D<u32, 4, 8>>().1);
                check::<HaloTile2D<u32, 4, 8, 4>>(rows, rows.divide::<HaloTile2D<u32, 4, 8, 4>>().1);
                let columns = rows.by_columns();
                check::<Tile2D<u32, 4, 8>>(columns, columns.divide::<Tile2D<u32, 4, 8>>().1);
                check::<HaloTile2D<u32, 4, 8, 4>>(columns, columns.divide::<HaloTile2D<u32, 4, 8, 4>>().1);
            }
        }
    }

    /// Whether each tile has one number by rows and one by columns, and those below the bound of
    /// whole tiles are whole.
    #[test]
    fn tiles_are_numbered_by_columns() {
        type S = Tile2D<u32, 4, 8>;
        for (width, height) in (1..40).flat_map(|width| (1..20).map(move |height| (width, height))) {
            let rows = Rows::new(width, height, 100);
            let (division, tiles) = rows.by_columns().divide::<S>();
            let places: Vec<_> = (0..tiles).map(|number| Columns::place(division, number)).collect();
            let (down, across) = (rows.tile_rows::<S>(), rows.tile_columns::<S>());
            let expected: Vec<_> = (0..across).flat_map(|column| (0..down).map(move |row| (row, column))).collect();
            assert_eq!(places, expected, "{width} x {height}");
            let whole = rows.by_columns().whole_below::<S>(TileNumbers::all_below(tiles));
            let is_whole = |(row, column)| (row + 1) * 4 <= height && (column + 1) * 8 <= width;
            assert!(places[..whole].iter().all(|place| is_whole(*place)), "{width} x {height}");
        }
    }

    /// Whether the tiles of each row and column are those, and below the bound of whole tiles are
    /// all that are whole.
    #[test]
    fn tiles_of_a_row_or_column_are_whole_but_for_a_partial_last_one() {
        type S = Tile2D<u32, 4, 8>;
        fn check(geometry: impl Geometry, expected: impl Fn(usize) -> (usize, usize), [width, height]: [usize; 2]) {
            fn places<G: Geometry>(geometry: G) -> Vec<(usize, usize)> {
                let (division, tiles) = geometry.divide::<S>();
                (0..tiles).map(|number| G::place(division, number)).collect()
            }
            let places = places(geometry);
            assert!(places.iter().enumerate().all(|(number, place)| *place == expected(number)), "{geometry:?}");
            let whole = geometry.whole_below::<S>(TileNumbers::all_below(places.len()));
            let is_whole = |(row, column): &(usize, usize)| (row + 1) * 4 <= height && (column + 1) * 8 <= width;
            assert_eq!(whole, places.iter().filter(|place| is_whole(place)).count(), "{geometry:?}");
        }
        for (width, height) in (1..40).flat_map(|width| (1..20).map(move |height| (width, height))) {
            let rows = Rows::new(width, height, 100);
            for row in 0..rows.tile_rows::<S>() {
                check(rows.line_of_tiles::<false>(row), |number| (row, number), [width, height]);
            }
            for column in 0..rows.tile_columns::<S>() {
                check(rows.line_of_tiles::<true>(column), |number| (number, column), [width, height]);
            }
        }
    }

    #[test]
    fn all_tiles_are_whole_where_none_is_cut_off() {
        let one = Elements::new(64);
        assert_eq!(one.whole_below::<[u32; 8]>(TileNumbers::all_below(8)), 8);
        let rows = Rows::new(64, 12, 64);
        assert_eq!(rows.whole_below::<Tile2D<u32, 4, 8>>(TileNumbers::all_below(24)), 24);
        assert_eq!(rows.by_columns().whole_below::<Tile2D<u32, 4, 8>>(TileNumbers::all_below(24)), 24);
    }
}
