//! The C++ of `peers/matrices.cu`: each form with several numbers of threads, sizes of a tile and
//! stages, the candidates for the fastest of any shape over matrices.

use tilepipe::launch::{Instance, Parts};

use crate::plan::blocks::Blocks;
use crate::plan::catalog::Peer;
use crate::plan::pairings::peer;
use crate::plan::peers::{Names, Views, on_cpu};
use crate::plan::shapes::{BLOCKS, shape_name};
use crate::record::Class;

/// A way to write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// The beginning of its entries' names.
    pub name: &'static str,
    /// What it is, for people.
    text: &'static str,
    /// What it is, which fixes its colour.
    class: Class,
    /// Numbers of stages; 0 where there are none.
    stages: &'static [u32],
    /// Threads of a block, and rows and columns of a tile of the output. The first one stands
    /// beside our kernels until a sweep says which of them is the fastest.
    tiles: &'static [(u32, usize, usize)],
}

/// Stages of the forms with `cp.async`.
const STAGES: &[u32] = &[1, 2];

/// Forms of the transpose.
pub const TRANSPOSES: [Form; 6] = [
    Form {
        name: "transpose_padded",
        text: "plain, padded rows",
        class: Class::Plain,
        stages: &[0],
        tiles: &[(256, 32, 32), (256, 64, 64)],
    },
    Form {
        name: "transpose_direct",
        text: "16-byte loads, blocks of 8 x 8",
        class: Class::Plain,
        stages: &[0],
        tiles: &[(128, 64, 128), (64, 64, 64), (128, 128, 64)],
    },
    Form {
        name: "transpose_blocks",
        text: "16-byte loads, blocks of 4 x 4",
        class: Class::Plain,
        stages: &[0],
        tiles: &[
            (256, 64, 64),
            (64, 32, 32),
            (128, 64, 32),
            (128, 32, 64),
            (128, 64, 64),
            (256, 32, 128),
            (256, 128, 32),
            (512, 64, 128),
        ],
    },
    Form {
        name: "transpose_async",
        text: "cp.async, blocks of 4 x 4",
        class: Class::Hand,
        stages: STAGES,
        tiles: &[
            (256, 64, 64),
            (64, 32, 32),
            (128, 64, 32),
            (128, 32, 64),
            (128, 64, 64),
            (256, 32, 128),
            (256, 128, 32),
        ],
    },
    Form {
        name: "transpose_async_4",
        text: "cp.async of 4 bytes, padded rows",
        class: Class::Hand,
        stages: STAGES,
        tiles: &[(256, 32, 32), (256, 16, 64), (512, 32, 64)],
    },
    Form {
        name: "transpose_async_16",
        text: "cp.async of 16 bytes, padded rows",
        class: Class::Hand,
        stages: STAGES,
        tiles: &[(256, 32, 32), (256, 16, 64), (512, 32, 64)],
    },
];

/// Forms of the stencil.
pub const STENCILS: [Form; 4] = [
    Form {
        name: "stencil_column",
        text: "16-byte loads, rows in registers, neighbours from the warp",
        class: Class::Plain,
        stages: &[0],
        tiles: &[
            (256, 16, 128),
            (128, 4, 128),
            (128, 8, 128),
            (128, 16, 128),
            (256, 8, 128),
            (256, 32, 128),
            (256, 8, 512),
        ],
    },
    Form {
        name: "stencil_cached",
        text: "16-byte loads, rows in registers, neighbours from the cache",
        class: Class::Plain,
        stages: &[0],
        tiles: &[(256, 16, 128), (128, 4, 128), (128, 8, 128), (256, 8, 128), (256, 32, 128)],
    },
    Form {
        name: "stencil_shared",
        text: "16-byte loads, shared memory",
        class: Class::Plain,
        stages: &[0],
        tiles: &[(256, 16, 64), (256, 8, 128), (256, 16, 128)],
    },
    Form {
        name: "stencil_async",
        text: "cp.async, fill first",
        class: Class::Hand,
        stages: STAGES,
        tiles: &[(256, 16, 64), (256, 8, 128), (256, 16, 128), (512, 16, 128), (256, 32, 128)],
    },
];

/// One form in one shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The form.
    pub form: Form,
    threads: u32,
    rows: usize,
    columns: usize,
    /// Stages; 0 where there are none.
    pub stages: u32,
    blocks: Blocks,
}

impl Form {
    /// Returns all its candidates.
    pub fn candidates(self) -> Vec<Shape> {
        let mut all = Vec::new();
        for &(threads, rows, columns) in self.tiles {
            for &stages in self.stages {
                all.extend(BLOCKS.map(|blocks| Shape { form: self, threads, rows, columns, stages, blocks }));
            }
        }
        all
    }
}

impl Shape {
    /// Its entry in `matrices.cu`.
    pub fn symbol(self) -> String {
        format!("{}_{}_{}x{}_{}", self.form.name, self.threads, self.rows, self.columns, self.stages)
    }

    /// Describes it, of which nothing is demanded.
    pub fn peer(self) -> Peer {
        let size = format!("{} threads, {} x {}", self.threads, self.rows, self.columns);
        let name = shape_name(self.form.text, self.stages, &size, self.blocks);
        Peer {
            class: self.form.class,
            blocks: Some(self.blocks),
            tile: self.rows * self.columns,
            ..peer(name.leak(), self.instance())
        }
    }

    fn instance(self) -> Instance {
        let symbol: &str = self.symbol().leak();
        // SAFETY: `matrices.cu` has this entry (the test below): an input view and an output view
        // of ints with rows, of any sizes, whose first elements and rows are aligned to 16 bytes;
        // launched with so many threads and no dynamic shared memory. It reads and writes nothing
        // else. `on_cpu` does nothing but panic.
        unsafe {
            Instance::new(Parts {
                kernel: symbol,
                symbol,
                generics: &[],
                names: Names::ONE,
                parameters: &Views::<i32>::ROWS,
                threads: self.threads,
                shared_bytes: 0,
                shared_alignment: 16,
                contract: None,
                cpu: Some(on_cpu),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_has_exactly_the_candidates() {
        let source = include_str!("../../peers/matrices.cu");
        let mut there: Vec<String> = Vec::new();
        for line in source.lines() {
            let Some((name, values)) = line.strip_suffix(')').and_then(|line| line.split_once('(')) else { continue };
            let [form, threads, rows, columns] = values.split(", ").collect::<Vec<_>>()[..] else { continue };
            let symbol = |stages| format!("{form}_{threads}_{rows}x{columns}_{stages}");
            match name {
                "TILES" => there.push(symbol(0)),
                "STAGES" => there.extend([1, 2].map(symbol)),
                _ => {}
            }
        }
        let forms = TRANSPOSES.into_iter().chain(STENCILS);
        let mut wanted: Vec<String> = forms.flat_map(Form::candidates).map(Shape::symbol).collect();
        wanted.sort_unstable();
        wanted.dedup();
        there.sort_unstable();
        assert_eq!(there, wanted);
    }

    #[test]
    fn a_candidate_has_the_threads_and_the_tile_of_its_name() {
        let candidates = TRANSPOSES[3].candidates();
        let second = candidates.iter().find(|shape| shape.stages == 2 && shape.blocks == Blocks::Resident).unwrap();
        let peer = second.peer();
        assert_eq!((peer.instance.name(), peer.instance.threads()), ("transpose_async_256_64x64_2", 256));
        assert_eq!((peer.tile, peer.class), (4096, Class::Hand));
        assert_eq!(peer.name, "cp.async, blocks of 4 x 4, 2 stages, 256 threads, 64 x 64, resident blocks");
    }
}
