//! How many blocks a launch has.

use tilepipe::launch::{ElementKind, Instance, ParameterInfo, ParameterKind};

use crate::argument::{Bound, Value};
use crate::cpu;
use crate::device::{Backend, Device};
use crate::error::Error;

/// The largest grid, in blocks.
const LIMIT: u32 = i32::MAX as u32;

/// How many blocks a launch has: a number, or one that follows from the kernel, its arguments and
/// the device.
///
/// Every grid is right for a kernel whose blocks share out the tiles among themselves. Which one is
/// fast depends on the kernel: [`Grid::tiles`] if a block's start costs little beside a tile,
/// [`Grid::resident`] if it costs much. A kernel of which each block leaves one result has as many
/// as there are blocks: give it the number.
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};
/// use tilepipe_host::{Device, Grid, Schedule};
///
/// #[kernel]
/// pub fn negate(
///     block: Block<128>,
///     input: Tiles<i32, 128>,
///     mut out: TilesMut<i32, 128>,
///     shared: Shared<Stages<[i32; 128], 1>>,
/// ) {
///     let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
///     let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, out| {
///         block.threads(|t| out.set(&t, -tile[t.rank()]));
///     });
/// }
///
/// fn main() -> Result<(), tilepipe_host::Error> {
///     let device = Device::cpu(Schedule::Lazy);
///     let (stream, input) = (device.stream()?, device.upload(&[5; 1000])?);
///     for grid in [Grid::tiles(), Grid::resident(), Grid::from(3)] {
///         let mut out = device.zeroed(1000)?;
///         negate::launch(&stream, grid, &input, &mut out)?;
///         assert_eq!(out.download()?, [-5; 1000]);
///     }
///     // A number alone is a grid too.
///     let mut out = device.zeroed(1000)?;
///     negate::launch(&stream, 3, &input, &mut out)
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid(Size);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    Blocks(u32),
    Resident,
    Tiles,
}

impl Grid {
    /// As many blocks as run at once, and not more than there are tiles: on a GPU the
    /// multiprocessors times the blocks of the kernel that fit on each (CUDA:
    /// `cudaOccupancyMaxActiveBlocksPerMultiprocessor`), on the CPU one for each core.
    ///
    /// Tiles are those of the output that has most of them, or of such an input if there is no
    /// output. A `Reduction` or a `TileReduction` does not count: all blocks add to any part of it.
    pub const fn resident() -> Grid {
        Grid(Size::Resident)
    }

    /// A block for each tile, counted as for [`Grid::resident`]: on a GPU blocks that end make room
    /// for others.
    pub const fn tiles() -> Grid {
        Grid(Size::Tiles)
    }

    /// Says whether the number of blocks depends on the kernel's code.
    pub(crate) fn asks_for_kernel(self) -> bool {
        matches!(self.0, Size::Resident)
    }

    /// The number of blocks for a launch whose arguments were checked.
    pub(crate) fn blocks(self, device: &Device, instance: &Instance, arguments: &[Bound<'_>]) -> Result<u32, Error> {
        let most = match self.0 {
            Size::Blocks(grid) if grid == 0 || grid > LIMIT => {
                return Err(Error::BadGrid { kernel: instance.kernel(), grid });
            }
            Size::Blocks(grid) => return Ok(grid),
            Size::Tiles => LIMIT,
            Size::Resident => match &device.backend {
                Backend::Gpu(context) => context.blocks_at_once(instance)?,
                Backend::Cpu(_) => cpu::blocks_at_once()?,
            },
        };
        Ok(tiles(instance, arguments).min(u64::from(most)).max(1) as u32)
    }
}

impl From<u32> for Grid {
    /// So many blocks.
    fn from(blocks: u32) -> Grid {
        Grid(Size::Blocks(blocks))
    }
}

/// The tiles of the output that has most of them, or of such an input.
fn tiles(instance: &Instance, arguments: &[Bound<'_>]) -> u64 {
    let is_dealt = |info: &ParameterInfo| info.boxes.is_none_or(|boxes| boxes.element == ElementKind::Bits);
    let of = |kind| {
        let parameters = instance.parameters().map(|(_, info)| info).zip(arguments);
        let dealt = parameters.filter(|(info, _)| info.kind == kind && is_dealt(info));
        dealt.map(|(info, argument)| tiles_of(info, &argument.value)).max()
    };
    of(ParameterKind::Output).or_else(|| of(ParameterKind::Input)).unwrap_or(1)
}

/// The tiles of a view.
fn tiles_of(info: &ParameterInfo, value: &Value) -> u64 {
    if let (Some(boxes), Some(array)) = (info.boxes, value.array()) {
        // No overflow: as below.
        return array
            .extents
            .iter()
            .zip(boxes.strides)
            .map(|(extent, stride)| extent.div_ceil(u64::from(stride)))
            .product();
    }
    let [rows, columns] = info.tile.map(|elements| elements.max(1) as u64);
    match value {
        Value::Scalar(_) | Value::Constant(_) => 0,
        Value::Elements(elements) => elements.value.len.div_ceil(columns),
        // A tensor alone takes it.
        Value::Array(_) => 1,
        // No overflow: there are not more of them than elements.
        Value::Rows(view) => view.height.div_ceil(rows) * view.width.div_ceil(columns),
    }
}
