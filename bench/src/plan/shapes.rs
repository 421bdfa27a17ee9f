//! The C++ of `peers/shapes.cu`: each form with several numbers of threads, of ints a thread and of
//! stages, the candidates for the fastest of any shape.

use tilepipe::launch::{Instance, Parts};

use crate::plan::blocks::Blocks;
use crate::plan::catalog::Peer;
use crate::plan::pairings::peer;
use crate::plan::peers::{Names, Views, on_cpu};
use crate::record::Class;

/// Threads and ints a thread of the forms without roles.
const SHAPES: [(u32, usize); 4] = [(128, 4), (128, 8), (256, 4), (512, 4)];
/// Blocks that candidates are measured with.
pub const BLOCKS: [Blocks; 2] = [Blocks::Tiles, Blocks::Resident];
/// The same for roles: their time depends on how the accesses of blocks that run in step meet, and
/// so on the number of blocks, and a block for each tile is slow.
pub const ROLE_BLOCKS: [Blocks; 6] =
    [Blocks::Resident, Blocks::Of(660), Blocks::Of(792), Blocks::Of(4224), Blocks::Of(16896), Blocks::Of(33792)];

/// A way to write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// The beginning of its entries' names.
    pub name: &'static str,
    /// What it is, for people.
    pub text: &'static str,
    /// What it is, which fixes its colour.
    pub class: Class,
    /// Numbers of stages; 0 where there are none.
    pub stages: &'static [u32],
}

const fn form(name: &'static str, text: &'static str, class: Class, stages: &'static [u32]) -> Form {
    Form { name, text, class, stages }
}

pub const VECTOR: Form = form("vector", "16-byte loads", Class::Plain, &[0]);
pub const HAND_FIRST: Form = form("hand_first", "cp.async, fill first", Class::Hand, &[1, 2]);
pub const HAND_WAIT: Form = form("hand_wait", "cp.async, wait first", Class::Hand, &[2, 4]);
pub const BULK: Form = form("bulk", "bulk copies", Class::Hand, &[1, 2, 4]);
pub const PIPELINE: Form = form("pipeline", "cuda::pipeline, tuned", Class::Pipeline, &[1, 2, 4]);
pub const GROUPS: Form = form("groups", "cooperative groups, tuned", Class::Pipeline, &[1, 2]);
pub const OWN_VECTOR: Form = form("own_vector", "16-byte loads", Class::Plain, &[0]);
pub const OWN_HAND: Form = form("own_hand", "cp.async, no barrier", Class::Hand, &[1, 2, 4]);
pub const OWN_PIPELINE: Form = form("own_pipeline", "cuda::pipeline, thread scope, tuned", Class::Pipeline, &[1, 2, 4]);
pub const TWO_VECTOR: Form = form("two_vector", "16-byte loads", Class::Plain, &[0]);
pub const TWO_HAND_FIRST: Form = form("two_hand_first", "cp.async, fill first", Class::Hand, &[1]);
pub const TWO_HAND_WAIT: Form = form("two_hand_wait", "cp.async, wait first", Class::Hand, &[2]);
pub const TWO_PIPELINE: Form = form("two_pipeline", "cuda::pipeline, tuned", Class::Pipeline, &[1, 2]);
pub const EVEN_ODD_HAND: Form = form("even_odd_hand", "even/odd by hand", Class::Hand, &[1, 2, 4]);
pub const EVEN_ODD_PIPELINE: Form =
    form("even_odd_pipeline", "cuda::pipeline, even/odd, tuned", Class::Pipeline, &[1, 2, 4]);
pub const WARPS_HAND: Form = form("warps_hand", "roles by warps by hand", Class::Hand, &[1, 2, 4]);
pub const WARPS_PIPELINE: Form =
    form("warps_pipeline", "cuda::pipeline, roles by warps, tuned", Class::Pipeline, &[1, 2, 4]);
pub const WARPS_32_HAND: Form = form("warps_32_hand", "a warp copies, by hand", Class::Hand, &[1, 2, 4]);
pub const WARPS_32_PIPELINE: Form =
    form("warps_32_pipeline", "cuda::pipeline, a warp copies, tuned", Class::Pipeline, &[1, 2, 4]);

pub const AVERAGE_DIRECT: Form = form("average_direct", "16-byte loads, own window", Class::Plain, &[0]);
pub const AVERAGE_SHUFFLE: Form = form("average_shuffle", "16-byte loads, window from the warp", Class::Plain, &[0]);
pub const AVERAGE_SHARED: Form = form("average_shared", "16-byte loads, shared memory", Class::Plain, &[0]);
pub const AVERAGE_HAND: Form = form("average_hand", "cp.async, fill first", Class::Hand, &[1, 2, 4]);
pub const AVERAGE_BULK: Form = form("average_bulk", "bulk copies", Class::Hand, &[1, 2, 4]);

/// Forms of the moving average.
pub const AVERAGES: [Form; 5] = [AVERAGE_DIRECT, AVERAGE_SHUFFLE, AVERAGE_SHARED, AVERAGE_HAND, AVERAGE_BULK];

/// Forms without roles that compute the same.
pub const TASKS: [&[Form]; 3] = [
    &[VECTOR, HAND_FIRST, HAND_WAIT, BULK, PIPELINE, GROUPS],
    &[OWN_VECTOR, OWN_HAND, OWN_PIPELINE],
    &[TWO_VECTOR, TWO_HAND_FIRST, TWO_HAND_WAIT, TWO_PIPELINE],
];

/// Forms with roles, those of one division after another. They compute what the first of [`TASKS`]
/// does.
pub const ROLES: [[Form; 2]; 3] =
    [[EVEN_ODD_HAND, EVEN_ODD_PIPELINE], [WARPS_HAND, WARPS_PIPELINE], [WARPS_32_HAND, WARPS_32_PIPELINE]];

/// One form in one shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The form.
    pub form: Form,
    /// Threads of a block.
    pub threads: u32,
    /// Ints a thread, or a consumer.
    pub per_thread: usize,
    /// Stages; 0 where there are none.
    pub stages: u32,
    /// Blocks.
    pub blocks: Blocks,
}

impl Form {
    /// This form with so many threads, ints a thread, stages and blocks.
    pub const fn of(self, threads: u32, per_thread: usize, stages: u32, blocks: Blocks) -> Shape {
        Shape { form: self, threads, per_thread, stages, blocks }
    }

    /// Returns all its candidates.
    pub fn candidates(self) -> Vec<Shape> {
        let shapes = match self.roles() {
            None => SHAPES.to_vec(),
            Some(consumers) => vec![(consumers + if self.has_one_warp() { 32 } else { 128 }, 4)],
        };
        let mut all = Vec::new();
        for (threads, per_thread) in shapes {
            for stages in self.stages {
                let blocks = if self.roles().is_some() { &ROLE_BLOCKS[..] } else { &BLOCKS };
                all.extend(blocks.iter().map(|blocks| self.of(threads, per_thread, *stages, *blocks)));
            }
        }
        all
    }

    /// The consumers, where there are roles.
    fn roles(self) -> Option<u32> {
        ["even_odd", "warps"].iter().any(|kind| self.name.starts_with(kind)).then_some(128)
    }

    fn has_one_warp(self) -> bool {
        self.name.starts_with("warps_32")
    }

    fn has_two_inputs(self) -> bool {
        self.name.starts_with("two")
    }
}

impl Shape {
    /// Its entry in `shapes.cu`.
    pub fn symbol(self) -> String {
        format!("{}_{}_{}_{}", self.form.name, self.threads, self.per_thread, self.stages)
    }

    /// Says what it is without its blocks, for people.
    pub fn text(self) -> String {
        shape_text(self.form.text, self.stages, &self.size())
    }

    fn size(self) -> String {
        format!("{} x {}", self.threads, self.per_thread)
    }

    /// Describes it, of which nothing is demanded.
    pub fn peer(self) -> Peer {
        let name = shape_name(self.form.text, self.stages, &self.size(), self.blocks);
        Peer {
            class: self.form.class,
            blocks: Some(self.blocks),
            tile: self.form.roles().unwrap_or(self.threads) as usize * self.per_thread,
            ..peer(name.leak(), self.instance())
        }
    }

    fn instance(self) -> Instance {
        let symbol: &str = self.symbol().leak();
        let two = self.form.has_two_inputs();
        // SAFETY: `shapes.cu` has this entry (the test below): one or two input views and an output
        // view of ints, each a base address that is aligned to 16 bytes and a length, any length,
        // launched with so many threads and no dynamic shared memory; it reads and writes nothing
        // else. `on_cpu` does nothing but panic.
        unsafe {
            Instance::new(Parts {
                kernel: symbol,
                symbol,
                generics: &[],
                names: if two { Names::TWO } else { Names::ONE },
                parameters: if two { &Views::<i32>::TWO } else { &Views::<i32>::ONE },
                threads: self.threads,
                shared_bytes: 0,
                shared_alignment: 16,
                contract: None,
                cpu: Some(on_cpu),
            })
        }
    }
}

/// What a contestant of some shape is, for people.
pub fn shape_name(what: &str, stages: u32, size: &str, blocks: Blocks) -> String {
    format!("{}, {}", shape_text(what, stages, size), blocks.text())
}

/// Says the same without the blocks.
fn shape_text(what: &str, stages: u32, size: &str) -> String {
    let stages = match stages {
        0 => String::new(),
        1 => ", 1 stage".to_owned(),
        stages => format!(", {stages} stages"),
    };
    format!("{what}{stages}, {size}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the entries that the macros of the source make.
    fn entries() -> Vec<String> {
        let source = include_str!("../../peers/shapes.cu");
        let bodies: Vec<(&str, Vec<&str>)> = source
            .split("#define ")
            .skip(1)
            .map(|text| {
                let end =
                    text.lines().take_while(|line| line.ends_with('\\')).map(|line| line.len() + 1).sum::<usize>();
                let last = text[end..].lines().next().unwrap_or_default().len();
                let body = &text[..end + last];
                let (name, _) = body.split_once('(').unwrap();
                (name, body.split("ENTRY").skip(1).map(|rest| rest.split_once('(').unwrap().1).collect())
            })
            .collect();
        let of_macro = |name: &str, places: &[(&str, &str)]| {
            let (_, entries) = bodies.iter().find(|(known, _)| *known == name).unwrap();
            let fill = |entry: &&str| {
                let symbol = entry.split(',').next().unwrap().replace("##", "");
                places.iter().fold(symbol, |symbol, (from, to)| symbol.replace(from, to))
            };
            entries.iter().map(fill).collect::<Vec<_>>()
        };
        let mut all = Vec::new();
        for line in source.lines().filter(|line| !line.starts_with(' ') && !line.starts_with('#')) {
            let Some((name, values)) = line.strip_suffix(')').and_then(|line| line.split_once('(')) else { continue };
            let values: Vec<&str> = values.split(", ").collect();
            match (name, &values[..]) {
                ("SHAPE", [threads, per]) => {
                    all.extend(of_macro("SHAPE", &[("_T_", &format!("_{threads}_")), ("_P_", &format!("_{per}_"))]));
                    for stages in ["1", "2", "4"] {
                        let places = [
                            ("_T_", format!("_{threads}_")),
                            ("_P_", format!("_{per}_")),
                            ("_S", format!("_{stages}")),
                        ];
                        let places = places.each_ref().map(|(from, to)| (*from, to.as_str()));
                        all.extend(of_macro("STAGES_OF", &places));
                    }
                }
                ("ROLES", [per, stages]) => {
                    all.extend(of_macro("ROLES", &[("_P_", &format!("_{per}_")), ("_S", &format!("_{stages}"))]));
                }
                _ => {}
            }
        }
        all
    }

    #[test]
    fn the_source_has_exactly_the_candidates() {
        let forms = TASKS.into_iter().flatten().chain(&AVERAGES).chain(ROLES.iter().flatten());
        let mut wanted: Vec<String> = forms.flat_map(|form| form.candidates()).map(Shape::symbol).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut there = entries();
        there.sort_unstable();
        assert_eq!(there, wanted);
    }

    #[test]
    fn a_candidate_has_the_threads_and_the_tile_of_its_name() {
        let hand = HAND_FIRST.of(128, 8, 2, Blocks::Tiles).peer();
        assert_eq!((hand.instance.name(), hand.instance.threads(), hand.tile), ("hand_first_128_8_2", 128, 1024));
        assert_eq!(hand.name, "cp.async, fill first, 2 stages, 128 x 8, a block a tile");
        let roles = WARPS_32_HAND.of(160, 4, 4, Blocks::Resident).peer();
        assert_eq!((roles.instance.threads(), roles.tile, roles.class), (160, 512, Class::Hand));
        assert_eq!(TWO_VECTOR.of(256, 4, 0, Blocks::Tiles).peer().instance.parameters().count(), 3);
    }
}
