//! Our kernels with the copy engine, each beside C++ of the same shape: the kernels of
//! `peers/bulk.cu`. [`engines`] measures over ranges of shapes, and what the fence between the
//! proxies costs; [`tensor`] is about the kernels over tensors.

pub mod engines;
pub mod tensor;

use std::cmp::Reverse;

use tilepipe::I32x4;
use tilepipe::launch::{Instance, Parts};
use tilepipe_runner::value::DType::{self, F32, I32, I32x4 as Vector, U8, U32};

use crate::plan::blocks::Blocks;
use crate::plan::catalog::Peer;
use crate::plan::pairings::{GRID, Pairing, peer};
use crate::plan::peers::{Names, TAPS, Views, on_cpu};
use crate::plan::shapes::{AVERAGE_BULK, BULK};
use crate::plan::wide::{SUM, TWO, WANTED};
use crate::record::Class;

/// A way to write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// The beginning of its entries' names.
    name: &'static str,
    /// What it is, for people.
    pub text: &'static str,
    element: DType,
    inputs: usize,
    /// Elements of a stage besides those of its tiles.
    edges: Edges,
    /// Mbarriers of a stage in dynamic shared memory; 0 where all shared memory is static.
    barriers: usize,
    writes: Writes,
}

/// What an entry writes, and what it takes beside its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writes {
    /// Elements of the inputs' type.
    Elements,
    /// Keys of 8 bytes.
    Keys,
    /// Counts of 4 bytes, which it adds to those that there are.
    Counts,
    /// Elements of the inputs' type, with a filter of [`TAPS`] of them.
    Filtered,
}

/// Elements of a stage besides those of its tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edges {
    /// So many.
    Of(usize),
    /// So many after each row of the input's tile, of which a transposed one has as many as the
    /// output's has columns.
    Padding(usize),
    /// So many on every side.
    Halo(usize),
}

/// What C++ of the same shape is called.
pub const BY_HAND: &str = "bulk copies by hand";

const fn form(name: &'static str) -> Form {
    let (edges, writes) = (Edges::Of(0), Writes::Elements);
    Form { name, text: BY_HAND, element: I32, inputs: 1, edges, barriers: 1, writes }
}

/// Sums of neighbours in groups of 256, four ints a thread in a row.
pub const STREAM: Form = form("engine_stream");
/// [`STREAM`] without the fence of the reading threads.
pub const NO_FENCE: Form = Form { text: "bulk copies by hand, no fence", ..form("engine_stream_no_fence") };
/// [`STREAM`] whose thread that fills has the fence, after the barrier.
pub const ISSUER_FENCE: Form =
    Form { text: "bulk copies by hand, the issuer fences", ..form("engine_stream_issuer_fence") };
/// [`STREAM`] with `cp.async`, whose rounds fill first.
pub const HAND: Form = Form { text: "cp.async by hand", barriers: 0, ..form("engine_hand") };
const EACH: Form = form("engine_each");
const EACH_VECTOR: Form = Form { element: Vector, ..form("engine_each_4") };
const OWN: Form = form("engine_own");
const TWO_INPUTS: Form = Form { inputs: 2, ..form("engine_two") };
/// A tile has eight neighbours on either side.
const AVERAGE: Form = Form { edges: Edges::Of(16), ..form("engine_average") };
const EVEN_ODD: Form = Form { barriers: 2, ..form("engine_even_odd") };
const WARPS: Form = Form { barriers: 2, ..form("engine_warps") };
/// The rows of a stage are padded by 16 bytes.
const TRANSPOSE: Form = Form { edges: Edges::Padding(4), ..form("engine_transpose") };
/// A tile has 16 bytes of neighbours on either side, and as many rows above and below.
const STENCIL: Form = Form { edges: Edges::Halo(4), ..form("engine_stencil") };

/// The sum of each block.
pub const BLOCK_SUM: Form = form("engine_sum");
/// The dot product of each block.
pub const BLOCK_DOT: Form = Form { inputs: 2, ..form("engine_dot") };
const ARGMAX: Form = Form { element: F32, writes: Writes::Keys, ..form("engine_argmax") };
/// The sum of each block's part.
const PART_SUMS: Form = form("engine_part_sums");
/// The second input is a sum for each block.
const SCAN: Form = Form { inputs: 2, ..form("engine_exclusive_scan") };
const HISTOGRAM: Form = Form { element: U8, writes: Writes::Counts, ..form("engine_histogram") };
const HISTOGRAM_U32: Form = Form { element: U32, writes: Writes::Counts, ..form("engine_histogram_u32") };
const CONVOLUTION: Form = Form { edges: Edges::Of(TAPS - 1), writes: Writes::Filtered, ..form("engine_convolution") };
/// The input as it is.
pub const COPIED: Form = form("engine_copy");

/// The input as it is, which the engine stores from where it has landed.
pub const STORED: Form = form("engine_stored");

/// A form in some shape: an entry of `bulk.cu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Twin {
    form: Form,
    threads: u32,
    len: usize,
    /// Rows of a tile of the output, of forms over matrices.
    rows: Option<usize>,
    stages: usize,
}

impl Form {
    /// This form with so many threads, elements of a tile and stages.
    pub const fn of(self, threads: u32, len: usize, stages: usize) -> Twin {
        Twin { form: self, threads, len, rows: None, stages }
    }

    /// This form over matrices, with so many rows and columns of a tile of the output.
    const fn of_rows(self, threads: u32, [rows, columns]: [usize; 2], stages: usize) -> Twin {
        Twin { form: self, threads, len: rows * columns, rows: Some(rows), stages }
    }
}

impl Twin {
    fn symbol(self) -> String {
        let tile = match self.rows {
            Some(rows) => format!("{rows}x{}", self.len / rows),
            None => self.len.to_string(),
        };
        format!("{}_{}_{tile}_{}", self.form.name, self.threads, self.stages)
    }

    /// The bytes of its dynamic shared memory: its stages, and their mbarriers behind them.
    fn shared_bytes(self) -> usize {
        let Form { name, element, inputs, edges, barriers, .. } = self.form;
        let bytes = element.bytes();
        // A scan's sums are in no stage.
        let inputs = if name == SCAN.name { 1 } else { inputs };
        let rows = self.rows.unwrap_or(1);
        let columns = self.len / rows;
        let elements = match edges {
            Edges::Of(more) => self.len + more,
            Edges::Padding(more) => self.len + columns * more,
            Edges::Halo(halo) => (rows + 2 * halo) * (columns + 2 * halo),
        };
        if barriers == 0 { 0 } else { self.stages * (inputs * elements * bytes + 8 * barriers) }
    }

    /// Describes its entry.
    pub fn instance(self) -> Instance {
        let symbol: &str = self.symbol().leak();
        let generics: &[_] = if self.form.writes == Writes::Filtered { &[("TAPS", "17")] } else { &[] };
        let (names, parameters) = match (self.form.writes, self.form.element, self.form.inputs) {
            (Writes::Keys, ..) => (Names::ONE, &Views::<f32>::KEYS[..]),
            (Writes::Counts, U8, _) => (Names::ONE, &Views::<u8>::COUNTS[..]),
            (Writes::Counts, ..) => (Names::ONE, &Views::<u32>::COUNTS[..]),
            (Writes::Filtered, ..) => (Names::FILTERED, &Views::<i32>::FILTERED[..]),
            _ if self.rows.is_some() => (Names::ONE, &Views::<i32>::ROWS[..]),
            (_, Vector, _) => (Names::ONE, &Views::<I32x4>::ONE[..]),
            (_, _, 1) => (Names::ONE, &Views::<i32>::ONE[..]),
            _ => (Names::TWO, &Views::<i32>::TWO[..]),
        };
        // SAFETY: `bulk.cu` has this entry (the test below): one or two input views and a view of
        // what it writes, of these types, each a base address that is aligned to 16 bytes and a
        // length, any length, or of ints with rows, of any sizes, whose first elements and rows are
        // aligned to 16 bytes, and a filter by value; launched with so many threads and so many
        // bytes of dynamic shared memory. It reads and writes nothing else. (Sums of blocks and
        // bins that are fewer than it has blocks or bins are left alone.) `on_cpu` does nothing but
        // panic.
        unsafe {
            Instance::new(Parts {
                kernel: symbol,
                symbol,
                generics,
                names,
                parameters,
                threads: self.threads,
                shared_bytes: self.shared_bytes(),
                shared_alignment: 16,
                contract: None,
                cpu: Some(on_cpu),
            })
        }
    }

    /// Describes it as a contestant with our kernel's blocks, of which nothing is demanded.
    pub fn peer(self) -> Peer {
        Peer { class: Class::Hand, tile: self.len, ..peer(self.form.text, self.instance()) }
    }

    /// The same, and our kernel must be as fast.
    fn wanted(self) -> Peer {
        Peer { wanted: Some(WANTED), ..self.peer() }
    }
}

/// Numbers of stages as generic arguments.
const STAGES: [(&str, usize); 3] = [("1", 1), ("2", 2), ("4", 4)];

/// The streaming kernel with the copy engine: threads, and elements of a tile.
const STREAMS: [(u32, &str, usize); 6] = [
    (128, "512", 512),
    (128, "1024", 1024),
    (128, "2048", 2048),
    (128, "4096", 4096),
    (256, "1024", 1024),
    (256, "4096", 4096),
];

/// Returns all of them, those of one element type and work one after another.
pub fn all() -> Vec<Pairing> {
    [streams(), each(), others(), results()].concat()
}

fn pairing(
    kernel: &'static str,
    threads: u32,
    blocks: Blocks,
    generics: &[(&'static str, &'static str)],
    peers: Vec<Peer>,
) -> Pairing {
    Pairing { kernel, dtype: I32, generics: generics.to_vec(), blocks, threads, peers }
}

/// The streaming kernel: small tiles with a block for each, beside the C++ that was the fastest of
/// that form, and larger ones with as many blocks as run at once, since a block that has one tile
/// fills no stage again.
fn streams() -> Vec<Pairing> {
    let mut all = Vec::new();
    for (threads, text, len) in STREAMS {
        for (nth, (stages_text, stages)) in STAGES.into_iter().enumerate() {
            let mut peers = vec![STREAM.of(threads, len, stages).wanted()];
            let blocks = if (threads, len) == (128, 512) { Blocks::Tiles } else { Blocks::Resident };
            if blocks == Blocks::Tiles {
                peers.push(BULK.of(threads, 4, [1, 2, 4][nth], Blocks::Tiles).peer());
                peers.push(SUM.plain.peer());
            }
            all.push(stream(threads, text, stages_text, "Bulk", blocks, peers));
        }
    }
    all
}

/// The streaming kernel with an engine.
fn stream(
    threads: u32,
    len: &'static str,
    stages: &'static str,
    engine: &'static str,
    blocks: Blocks,
    peers: Vec<Peer>,
) -> Pairing {
    let generics = [("C", "GroupSum"), ("E", engine), ("LEN", len), ("STAGES", stages)];
    pairing("with_staging_unified_wide", threads, blocks, &generics, peers)
}

/// The guide's kernels with an element a thread.
fn each() -> Vec<Pairing> {
    let mut all = Vec::new();
    for (text, stages) in &STAGES[1..] {
        let generics = [("E", "Bulk"), ("STAGES", *text)];
        let of = |kernel, more: &[_], twin: Twin| {
            pairing(kernel, twin.threads, GRID, &[&generics, more].concat(), vec![twin.wanted()])
        };
        all.push(of("with_staging_unified", &[], EACH.of(256, 256, *stages)));
        let vectors = of("with_staging_unified", &[], EACH_VECTOR.of(256, 256, *stages));
        all.push(Pairing { dtype: Vector, ..vectors });
        all.push(of("scale_own", &[("S", "BlockScope")], OWN.of(256, 256, *stages)));
        all.push(of("with_specialized_staging_unified", &[("TILE", "128")], EVEN_ODD.of(256, 128, *stages)));
        let roles = [("PRODUCERS", "32"), ("CONSUMERS", "128")];
        all.push(of("with_specialized_staging_warps", &roles, WARPS.of(160, 128, *stages)));
    }
    // That of the streaming kernel's groups comes first, then the roles' smaller ones.
    all.sort_by_key(|pairing| Reverse(pairing.kernel));
    all
}

/// Two inputs, and the moving average.
fn others() -> Vec<Pairing> {
    let two = |(text, stages)| {
        let peers = vec![TWO_INPUTS.of(128, 512, stages).wanted(), TWO.plain.peer()];
        pairing("example_kernel_bulk", 128, Blocks::Tiles, &[("LEN", "512"), ("STAGES", text)], peers)
    };
    let average = |(text, stages)| {
        let wide = AVERAGE_BULK.of(256, 4, stages as u32, Blocks::Tiles).peer();
        let peers = vec![AVERAGE.of(256, 256, stages).wanted(), wide];
        // The best number of blocks for all three (bench/results/2026-11-27-h200-grids).
        pairing("moving_average_bulk", 256, Blocks::Of(4224), &[("STAGES", text)], peers)
    };
    STAGES[..2].iter().copied().map(two).chain(STAGES[1..].iter().copied().map(average)).collect()
}

/// Results of blocks, the scan that begins with them, histograms, and the convolution.
fn results() -> Vec<Pairing> {
    const LEN: (&str, &str) = ("LEN", "1024");
    const STAGES: (&str, &str) = ("STAGES", "4");
    let of = |kernel, dtype, generics: &[_], twin: Twin| {
        let peers = vec![twin.wanted()];
        Pairing { dtype, ..pairing(kernel, twin.threads, Blocks::Resident, generics, peers) }
    };
    vec![
        of("part_sums_bulk", I32, &[LEN, STAGES], PART_SUMS.of(256, 1024, 4)),
        of("exclusive_scan_bulk", I32, &[LEN, STAGES], SCAN.of(256, 1024, 4)),
        of("convolution_bulk", I32, &[LEN, ("TAPS", "17"), ("STAGES", "2")], CONVOLUTION.of(256, 1024, 2)),
        of("histogram_bulk", U8, &[("LEN", "4096"), STAGES, ("COPIES", "1")], HISTOGRAM.of(256, 4096, 4)),
        of("argmax_bulk", F32, &[LEN, STAGES], ARGMAX.of(256, 1024, 4)),
        // Of random keys all bins have as many.
        of("histogram_u32_bulk", U32, &[LEN, STAGES, ("SHIFT", "20")], HISTOGRAM_U32.of(256, 1024, 4)),
    ]
}

/// Adds the C++ of its shape to a pairing of a kernel that is wide and has the copy engine, if it
/// is one of those that have some.
pub fn with_twin(mut pairing: Pairing) -> Pairing {
    let twin = twin_of(&pairing).map(Twin::wanted);
    pairing.peers.extend(twin);
    pairing
}

fn twin_of(pairing: &Pairing) -> Option<Twin> {
    let number = |wanted| pairing.generics.iter().find(|(name, _)| *name == wanted)?.1.parse::<usize>().ok();
    let (threads, stages) = (pairing.threads, number("STAGES")?);
    match pairing.kernel {
        "scale_own_bulk" => Some(OWN.of(threads, 4 * 128, stages)),
        "moving_average_wide_bulk" => Some(AVERAGE.of(threads, 1024, stages)),
        "transpose_bulk" => Some(TRANSPOSE.of_rows(threads, [64, 64], stages)),
        "stencil_2d_bulk" => Some(STENCIL.of_rows(threads, [32, 128], stages)),
        "with_specialized_staging_unified_bulk" => Some(EVEN_ODD.of(threads, 4 * 128, stages)),
        "with_specialized_staging_warps_bulk" => Some(WARPS.of(threads, 4 * 128, stages)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tilepipe::launch::ParameterInfo;
    use tilepipe_runner::work::Work;

    use super::*;
    use crate::ceilings;
    use crate::plan::{pairings, wide};

    /// The entries of the source: their names, threads and parameters.
    fn entries() -> BTreeSet<(String, u32, &'static str)> {
        let source = include_str!("../../peers/bulk.cu");
        let entry = |line: &str| {
            let kinds = [
                ("ENTRY(", "int"),
                ("ENTRY_2(", "int, int"),
                ("ENTRY_4(", "int4"),
                ("ENTRY_ROWS(", "rows of int"),
                ("ENTRY_KEYS(", "float to keys"),
                ("ENTRY_BYTES(", "bytes to counts"),
                ("ENTRY_UINT(", "uint to counts"),
                ("ENTRY_FILTER(", "int, filter"),
            ];
            let (kind, rest) = kinds.into_iter().find_map(|(macro_, kind)| Some((kind, line.strip_prefix(macro_)?)))?;
            let mut fields = rest.split(", ");
            Some((fields.next()?.to_owned(), fields.next()?.parse().ok()?, kind))
        };
        source.lines().filter_map(entry).collect()
    }

    fn is_twin(instance: &Instance) -> bool {
        instance.name().starts_with("engine_")
    }

    #[test]
    fn the_source_has_exactly_the_kernels_that_are_measured() {
        let of_pairings = pairings::all().into_iter().flat_map(|pairing| pairing.peers).map(|peer| peer.instance);
        let of_engines = engines::instances().into_iter().chain(ceilings::twins());
        let described = |instance: Instance| {
            let last = |info: ParameterInfo| (info.element_name)().rsplit("::").next().unwrap_or_default();
            let names: Vec<&str> = instance.parameters().map(|(_, info)| last(*info)).collect();
            let kind = match names[..] {
                _ if instance.parameters().any(|(_, info)| info.row_alignment.is_some()) => "rows of int",
                ["i32", "i32"] => "int",
                ["i32", "i32", "i32"] => "int, int",
                ["f32", "u64"] => "float to keys",
                ["u8", "u32"] => "bytes to counts",
                ["u32", "u32"] => "uint to counts",
                ["i32", "[i32; 17]", "i32"] => "int, filter",
                _ => "int4",
            };
            (instance.name().to_owned(), instance.threads(), kind)
        };
        let all: BTreeSet<_> = of_pairings.chain(of_engines).filter(is_twin).map(described).collect();
        assert_eq!(entries(), all);
    }

    fn has_twin(pairing: &Pairing) -> bool {
        pairing.peers.iter().any(|peer| is_twin(&peer.instance))
    }

    #[test]
    fn a_twin_has_the_threads_the_tile_and_the_stages_of_ours() {
        for pairing in all().into_iter().chain(wide::all().into_iter().filter(has_twin)) {
            let twins: Vec<Peer> = pairing.peers.iter().filter(|peer| is_twin(&peer.instance)).cloned().collect();
            let ours = pairing.resolve().unwrap().ours;
            let [twin] = &twins[..] else { panic!("{} has {} twins", ours.name(), twins.len()) };
            let name = twin.instance.name();
            assert_eq!((twin.wanted, twin.blocks), (Some(WANTED), None), "{name}");
            assert_eq!(twin.tile, Work::of(ours).unwrap().portion(), "{name} and {}", ours.name());
            let tile = match (ours.generic("ROWS"), ours.generic("COLUMNS")) {
                (Some(rows), Some(columns)) => format!("{rows}x{columns}"),
                _ => twin.tile.to_string(),
            };
            let ending = format!("_{}_{tile}_{}", ours.threads(), ours.generic("STAGES").unwrap());
            assert!(name.ends_with(&ending), "{name} and {}", ours.name());
        }
    }

    #[test]
    fn every_kernel_of_ours_with_the_copy_engine_and_i32_that_is_measured_has_a_twin() {
        let paired: Vec<&str> = all().into_iter().map(|pairing| pairing.resolve().unwrap().ours.name()).collect();
        let kernels: BTreeSet<&str> = all().iter().map(|pairing| pairing.kernel).collect();
        let with_engine = tilepipe_kernels::registry().into_iter().flatten().filter(|instance| {
            let by_engine = instance.generic("E").is_some_and(|path| path.ends_with("Bulk"));
            let dtype = instance.generic("T").and_then(|path| path.rsplit("::").next());
            kernels.contains(instance.kernel())
                && (by_engine || instance.kernel().ends_with("_bulk"))
                && matches!(dtype, Some("i32" | "I32x4"))
        });
        for instance in with_engine {
            assert!(paired.contains(&instance.name()), "{} has no C++ of its shape", instance.name());
        }
    }

    #[test]
    fn shared_memory_is_that_of_all_stages_and_their_mbarriers() {
        assert_eq!(STREAM.of(128, 4096, 4).shared_bytes(), 4 * (16384 + 8));
        assert_eq!(AVERAGE.of(256, 256, 2).shared_bytes(), 2 * (272 * 4 + 8));
        assert_eq!(WARPS.of(160, 128, 4).shared_bytes(), 4 * (512 + 16));
        assert_eq!(EACH_VECTOR.of(256, 256, 2).instance().shared_bytes(), 2 * (4096 + 8));
        assert_eq!(TWO_INPUTS.of(128, 512, 1).shared_bytes(), 4096 + 8);
        assert_eq!(HAND.of(128, 512, 4).instance().shared_bytes(), 0);
        assert_eq!(TRANSPOSE.of_rows(256, [64, 16], 2).shared_bytes(), 2 * (16 * 68 * 4 + 8));
        assert_eq!(STENCIL.of_rows(256, [16, 64], 1).shared_bytes(), 24 * 72 * 4 + 8);
        assert_eq!(SCAN.of(256, 1024, 4).shared_bytes(), 4 * (4096 + 8));
        assert_eq!(HISTOGRAM.of(256, 4096, 2).shared_bytes(), 2 * (4096 + 8));
        assert_eq!(CONVOLUTION.of(256, 1024, 2).shared_bytes(), 2 * (1040 * 4 + 8));
    }
}
