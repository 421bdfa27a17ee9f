//! Our kernels over tensors, each beside C++ of the same shape: the kernels of `peers/tensor.cu`.
//!
//! What an entry takes is what ours takes, in boxes of the same extents and with the same swizzle:
//! a launch encodes the maps of both from the descriptions of their parameters.

use tilepipe::Element;
use tilepipe::launch::{Instance, ParameterInfo, Parts};
use tilepipe_runner::value::DType::{self, I32, U8};

use crate::plan::blocks::Blocks::{self, Resident, Tiles};
use crate::plan::catalog::Peer;
use crate::plan::pairings::{Pairing, peer};
use crate::plan::peers::{Names, Views, on_cpu};
use crate::plan::shapes::{BLOCKS, shape_name};
use crate::plan::tiles;
use crate::record::Class;

/// What C++ of the same shape is called.
const BY_HAND: &str = "tensor copies by hand";
/// What a copy without the copy engine is called.
const PLAIN: &str = "plain, 16-byte loads";

/// A kernel of ours, and how C++ of its shape is written.
struct Form {
    kernel: &'static str,
    /// The beginning of its entries' names; with elements of a byte `_bytes` follows.
    name: &'static str,
    /// The generic arguments that an entry's name has after the threads.
    generics: &'static [&'static str],
    /// What ours must reach of it.
    wanted: f64,
    /// Our kernel without tensors over whose task C++ of any shape was measured.
    others: Option<&'static str>,
}

const FORMS: [Form; 7] = [
    Form {
        kernel: "copy_tma",
        name: "tensor_copy",
        generics: &["ROWS", "COLUMNS", "STAGES"],
        wanted: 0.99,
        others: None,
    },
    Form {
        kernel: "transpose_tma",
        name: "tensor_transpose",
        generics: &["SIDE", "STAGES", "COUNT"],
        wanted: 0.99,
        others: Some("transpose_wide"),
    },
    Form {
        kernel: "batched_transpose",
        name: "tensor_batched_transpose",
        generics: &["SIDE", "STAGES", "COUNT"],
        wanted: 0.99,
        others: None,
    },
    Form {
        kernel: "stencil_2d_tma",
        name: "tensor_stencil",
        generics: &["ROWS", "COLUMNS", "STAGES", "COUNT"],
        wanted: 0.98,
        others: Some("stencil_2d_wide"),
    },
    Form {
        kernel: "stencil_3x3_tma",
        name: "tensor_stencil_3x3",
        generics: &["ROWS", "COLUMNS", "STAGES", "COUNT"],
        wanted: 0.98,
        others: None,
    },
    Form {
        kernel: "column_sums",
        name: "tensor_sums",
        generics: &["ROWS", "COLUMNS", "STAGES", "COUNT"],
        wanted: 0.99,
        others: None,
    },
    Form {
        kernel: "blur",
        name: "tensor_blur",
        generics: &["CHANNELS", "ROWS", "COLUMNS", "STAGES", "COUNT"],
        wanted: 0.95,
        others: None,
    },
];

/// One of our instances: the kernel, its element type, threads and generic arguments, and blocks.
type Ours = (&'static str, DType, u32, &'static [(&'static str, &'static str)], Blocks);

/// What is measured; another copy stands beside the driver's ([`crate::ceilings`]). The others, and
/// other numbers of blocks, are [`candidates`].
const OURS: [Ours; 22] = [
    ("copy_tma", I32, 32, &[("ROWS", "32"), ("STAGES", "4")], Resident),
    ("copy_tma", I32, 32, &[("ROWS", "128"), ("STAGES", "2")], Resident),
    ("transpose_tma", I32, 64, &[("STAGES", "1"), ("COUNT", "1")], Tiles),
    ("transpose_tma", I32, 64, &[("STAGES", "2"), ("COUNT", "1")], Tiles),
    ("transpose_tma", I32, 64, &[("STAGES", "2"), ("COUNT", "2")], Resident),
    ("transpose_tma", I32, 64, &[("STAGES", "4"), ("COUNT", "2")], Resident),
    ("batched_transpose", I32, 64, &[("STAGES", "1"), ("COUNT", "1")], Tiles),
    ("batched_transpose", I32, 64, &[("STAGES", "2"), ("COUNT", "2")], Resident),
    ("stencil_2d_tma", I32, 128, &[("ROWS", "32"), ("STAGES", "1"), ("COUNT", "1")], Tiles),
    ("stencil_2d_tma", I32, 128, &[("ROWS", "32"), ("STAGES", "2"), ("COUNT", "2")], Resident),
    ("stencil_2d_tma", I32, 128, &[("ROWS", "16"), ("STAGES", "2"), ("COUNT", "2")], Resident),
    ("stencil_3x3_tma", I32, 128, &[("STAGES", "1")], Tiles),
    ("stencil_3x3_tma", I32, 128, &[("STAGES", "2")], Tiles),
    ("column_sums", I32, 64, &[("ROWS", "16"), ("STAGES", "4")], Resident),
    ("column_sums", I32, 64, &[("ROWS", "32"), ("STAGES", "2")], Resident),
    ("column_sums", I32, 64, &[("ROWS", "32"), ("STAGES", "4")], Resident),
    ("copy_tma", U8, 32, &[("STAGES", "4")], Resident),
    ("transpose_tma", U8, 64, &[("STAGES", "1"), ("COUNT", "1")], Tiles),
    ("transpose_tma", U8, 64, &[("STAGES", "2"), ("COUNT", "2")], Resident),
    ("batched_transpose", U8, 64, &[("STAGES", "1"), ("COUNT", "1")], Tiles),
    ("blur", U8, 224, &[("CHANNELS", "3")], Resident),
    ("blur", U8, 224, &[("CHANNELS", "1")], Resident),
];

/// Threads, and rows of a tile and bytes of its rows, of the copies without the engine: a piece of
/// 16 bytes a thread, and four of them.
const PLAIN_COPIES: [(u32, usize, usize); 2] = [(128, 4, 512), (256, 8, 2048)];
/// Threads, and rows of which each sums four columns, of the sums of columns without the engine.
const PLAIN_SUMS: [(u32, usize); 2] = [(128, 64), (256, 256)];
/// Threads, and how many share rows, of the blurs without the engine.
const PLAIN_BLURS: [(u32, usize); 2] = [(128, 32), (256, 16)];

/// What does the work of some without tensors and stages, beside the same of the C++.
const WITHOUT_STAGES: [Ours; 3] = [
    ("copy_rows_reads", I32, 128, &[], Tiles),
    ("copy_rows_reads", U8, 128, &[], Tiles),
    ("blur_reads", U8, 64, &[("CHANNELS", "1")], Tiles),
];

/// Returns all of them, those of one element type and work one after another, and those without
/// tensors after them.
pub fn all() -> Vec<Pairing> {
    let without_stages = WITHOUT_STAGES.into_iter().map(|(kernel, dtype, threads, generics, blocks)| {
        let peers = match (generics, dtype) {
            ([(_, channels)], _) => plain_blurs(channels),
            (_, U8) => plain_copies::<u8>("rows_copy_bytes"),
            (_, _) => plain_copies::<i32>("rows_copy"),
        };
        Pairing { kernel, dtype, generics: generics.to_vec(), blocks, threads, peers }
    });
    OURS.into_iter().map(paired).chain(without_stages).collect()
}

/// One instance beside C++ of its shape, and beside the fastest of other shapes.
fn paired((kernel, dtype, threads, generics, blocks): Ours) -> Pairing {
    let mut pairing = Pairing { kernel, dtype, generics: generics.to_vec(), blocks, threads, peers: Vec::new() };
    // An instance that is missing is named by whoever resolves all pairings.
    let found = pairing.clone().resolve().ok();
    if let Some((ours, form, twin)) =
        found.and_then(|found| Some((found.ours, form_of(found.ours)?, twin(found.ours)?)))
    {
        pairing.peers = vec![Peer { wanted: Some(form.wanted), ..twin }];
        pairing.peers.extend(others(form, ours, dtype));
    }
    pairing
}

/// C++ that does the same in other ways.
fn others(form: &Form, ours: &Instance, dtype: DType) -> Vec<Peer> {
    match (form.others, dtype) {
        (Some(kernel), I32) => tiles::fastest(kernel),
        // Nobody has written a transpose of bytes, or of a batch, without tensors.
        (Some(_), _) => Vec::new(),
        (None, _) if matches!(form.kernel, "batched_transpose" | "stencil_3x3_tma") => Vec::new(),
        (None, _) if form.kernel == "column_sums" => plain_sums(),
        (None, _) if form.kernel == "blur" => plain_blurs(ours.generic("CHANNELS").unwrap_or_default()),
        (None, U8) => plain_copies::<u8>("rows_copy_bytes"),
        (None, _) => plain_copies::<i32>("rows_copy"),
    }
}

/// Returns a pairing of all instances and all C++ for each task, each with a block for each tile
/// and with as many as run at once.
pub fn candidates() -> Vec<Pairing> {
    // Pictures of another number of channels are another task.
    let tasks =
        OURS.map(|(kernel, dtype, _, generics, _)| (kernel, dtype, generics.iter().find(|one| one.0 == "CHANNELS")));
    let firsts = tasks.into_iter().enumerate().filter(|(nth, task)| !tasks[..*nth].contains(task));
    firsts.map(|(nth, _)| with_candidates(paired(OURS[nth]))).collect()
}

/// The instance of a pairing beside all contestants of its task.
fn with_candidates(pairing: Pairing) -> Pairing {
    let Ok(first) = pairing.clone().resolve() else { return pairing };
    let parameters = |instance: &Instance| instance.parameters().next().map(|(_, info)| (info.element)());
    let alike = tilepipe_kernels::registry()
        .into_iter()
        .flatten()
        .filter(|instance| instance.kernel() == pairing.kernel && parameters(instance) == parameters(first.ours))
        .filter(|instance| instance.generic("CHANNELS") == first.ours.generic("CHANNELS"));
    let both = alike.filter_map(|ours| Some([Peer { class: Class::Tilepipe, ..peer("tilepipe", *ours) }, twin(ours)?]));
    let with_blocks = |one: Peer| BLOCKS.map(|blocks| in_blocks(&one, blocks));
    let all = both.flatten().flat_map(with_blocks);
    let others = pairing.peers.iter().filter(|one| one.blocks.is_some()).cloned();
    Pairing { peers: all.chain(others).collect(), ..pairing }
}

/// A contestant with so many blocks, and its shape in its name.
fn in_blocks(one: &Peer, blocks: Blocks) -> Peer {
    // What of an entry's name follows the form.
    let shape = one.instance.name().trim_start_matches(|letter: char| !letter.is_ascii_digit());
    let shape = if one.class == Class::Tilepipe { one.instance.name() } else { shape };
    let name = shape_name(one.name, 0, shape, blocks).leak();
    let tile = portion(&one.instance);
    Peer { name, blocks: Some(blocks), tile, ..one.clone() }
}

/// The elements that a block takes at a time: those of its largest tile, which of sums is the
/// input's.
fn portion(instance: &Instance) -> usize {
    instance.parameters().map(|(_, info)| info.tile[0] * info.tile[1]).max().unwrap_or(1)
}

fn form_of(ours: &Instance) -> Option<&'static Form> {
    FORMS.iter().find(|form| form.kernel == ours.kernel())
}

/// Describes the C++ of the shape of one of our instances with our kernel's blocks, of which
/// nothing is demanded; none of an instance that has none.
pub fn twin(ours: &Instance) -> Option<Peer> {
    let form = form_of(ours)?;
    let [(_, input), (_, out)] = ours.parameters().collect::<Vec<_>>()[..] else { return None };
    let bytes = match element(ours)? {
        "i32" => "",
        "u8" => "_bytes",
        _ => return None,
    };
    let numbers: Vec<&str> = form.generics.iter().map(|name| ours.generic(name)).collect::<Option<_>>()?;
    let symbol = format!("{}{bytes}_{}_{}", form.name, ours.threads(), numbers.join("_")).leak();
    let number = |name| ours.generic(name).map_or(Some(0), |value| value.parse::<usize>().ok());
    let (stages, count) = (number("STAGES")?, number("COUNT")?);
    // SAFETY: `tensor.cu` has this entry (the tests below): an input tensor and an output tensor of
    // these elements and of as many dimensions as ours, of any extents, whose maps are encoded for
    // boxes of the extents and the swizzle of our kernel's, launched with so many threads and so
    // many bytes of dynamic shared memory; it reads and writes nothing else. `on_cpu` does nothing
    // but panic.
    let instance = unsafe {
        Instance::new(Parts {
            kernel: symbol,
            symbol,
            generics: &[],
            shared_bytes: stages * (room(input)? + MBARRIER) + count * room(out)?,
            shared_alignment: ALIGNMENT,
            contract: None,
            cpu: Some(on_cpu),
            ..ours.parts()
        })
    };
    let tile = portion(&instance);
    Some(Peer { class: Class::Hand, tile, ..peer(BY_HAND, instance) })
}

/// The name of an instance's elements; a blur's are bytes.
fn element(ours: &Instance) -> Option<&str> {
    ours.generic("T").map_or(Some("u8"), |path| path.rsplit("::").next())
}

/// Bytes of an mbarrier.
const MBARRIER: usize = 8;
/// What the start of the dynamic shared memory is a multiple of.
const ALIGNMENT: usize = 1024;

/// Bytes of a stage: a box, up to where the next one may begin.
fn room(tensor: &ParameterInfo) -> Option<usize> {
    let boxes = tensor.boxes?;
    let alignment = if boxes.swizzle == 0 { 128 } else { 8 * boxes.swizzle as usize };
    Some((boxes.elements() as usize * tensor.element_bytes).next_multiple_of(alignment))
}

/// The copies without the engine, each with a block for each tile and with as many as run at once.
fn plain_copies<T: Element>(name: &str) -> Vec<Peer> {
    let of = |(threads, rows, bytes): (u32, usize, usize)| {
        let columns = bytes / size_of::<T>();
        plain::<T>(format!("{name}_{threads}_{rows}_{columns}"), threads, [rows, columns])
    };
    PLAIN_COPIES.into_iter().flat_map(of).collect()
}

/// The sums of columns without the engine, likewise.
fn plain_sums() -> Vec<Peer> {
    let of = |(threads, rows): (u32, usize)| {
        plain::<i32>(format!("rows_sums_{threads}_{rows}"), threads, [rows, 4 * threads as usize])
    };
    PLAIN_SUMS.into_iter().flat_map(of).collect()
}

/// The blurs without the engine, likewise.
fn plain_blurs(channels: &str) -> Vec<Peer> {
    let of = |(threads, across): (u32, usize)| {
        let rows = 4 * threads as usize / across;
        plain::<u8>(format!("rows_blur_bytes_{threads}_{channels}_{across}"), threads, [rows, 16 * across])
    };
    PLAIN_BLURS.into_iter().flat_map(of).collect()
}

/// An entry without the engine, whose tiles have so many rows and columns.
fn plain<T: Element>(symbol: String, threads: u32, [rows, columns]: [usize; 2]) -> [Peer; BLOCKS.len()] {
    let symbol: &str = symbol.leak();
    // SAFETY: `tensor.cu` has this entry (the test below): an input view and an output view of
    // these elements with rows, of any sizes, whose first elements and rows are aligned to 16
    // bytes; launched with so many threads and no dynamic shared memory. It reads and writes
    // nothing else, but for bytes of the input's rows up to a multiple of 16. `on_cpu` does nothing
    // but panic.
    let instance = unsafe {
        Instance::new(Parts {
            kernel: symbol,
            symbol,
            generics: &[],
            names: Names::ONE,
            parameters: &Views::<T>::ROWS,
            threads,
            shared_bytes: 0,
            shared_alignment: 16,
            contract: None,
            cpu: Some(on_cpu),
        })
    };
    let size = format!("{threads} threads, {rows} x {columns}");
    BLOCKS.map(|blocks| Peer {
        class: Class::Plain,
        blocks: Some(blocks),
        tile: rows * columns,
        ..peer(shape_name(PLAIN, 0, &size, blocks).leak(), instance)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tilepipe_runner::work::Work;

    use super::*;

    /// The entries of the source: their names, threads and elements.
    fn entries() -> BTreeSet<(String, u32, usize)> {
        let source = include_str!("../../../peers/tensor.cu");
        let entry = |line: &str| {
            let element = |text: &str| if text.contains("unsigned char") || text.contains("blur") { 1 } else { 4 };
            if let Some(rest) = line.strip_prefix("ENTRY_BLUR(") {
                let mut fields = rest.split(", ");
                return Some((fields.next()?.to_owned(), fields.next()?.parse().ok()?, 1));
            }
            if let Some(rest) = line.strip_prefix("ENTRY_SUMS(") {
                let mut fields = rest.split(", ");
                return Some((fields.next()?.to_owned(), fields.next()?.parse().ok()?, 4));
            }
            if let Some(rest) = line.strip_prefix("ENTRY(") {
                let mut fields = rest.split(", ");
                return Some((fields.next()?.to_owned(), fields.next()?.parse().ok()?, element(rest)));
            }
            let mut fields = line.strip_prefix("ENTRY_ROWS(")?.split(", ");
            let (name, element) = (fields.next()?.to_owned(), element(fields.next()?));
            Some((name, fields.next()?.parse().ok()?, element))
        };
        source.lines().filter_map(entry).collect()
    }

    fn is_ours(instance: &Instance) -> bool {
        FORMS.iter().any(|form| form.kernel == instance.kernel())
    }

    /// Our instances with elements that there is C++ of.
    fn ours() -> impl Iterator<Item = &'static Instance> {
        tilepipe_kernels::registry()
            .into_iter()
            .flatten()
            .filter(|instance| is_ours(instance) && matches!(element(instance), Some("i32" | "u8")))
    }

    #[test]
    fn the_source_has_exactly_the_twins_of_our_instances_and_the_plain_copies() {
        let described = |peer: Peer| {
            let element = peer.instance.parameters().next().unwrap().1.element_bytes;
            (peer.instance.name().to_owned(), peer.instance.threads(), element)
        };
        let twins = ours().map(|instance| twin(instance).unwrap_or_else(|| panic!("{} has no twin", instance.name())));
        let plain = [plain_copies::<i32>("rows_copy"), plain_copies::<u8>("rows_copy_bytes")].concat();
        let plain = plain.into_iter().chain(plain_sums()).chain(["1", "3"].into_iter().flat_map(plain_blurs));
        let all: BTreeSet<_> = twins.chain(plain).map(described).collect();
        assert_eq!(entries(), all);
    }

    #[test]
    fn an_entry_of_the_source_calls_what_its_name_says() {
        for line in include_str!("../../../peers/tensor.cu").lines() {
            let Some(rest) = line.strip_prefix("ENTRY(") else { continue };
            let (name, call) = rest.strip_suffix(">)").unwrap().split_once(", ").unwrap();
            let (threads, call) = call.split_once(", ").unwrap();
            let (form, arguments) = call.split_once('<').unwrap();
            // The element type; and a copy's threads, all but one of which do nothing.
            let mut numbers: Vec<&str> = arguments.split(", ").filter(|text| text.parse::<u32>().is_ok()).collect();
            if form == "tensor_blur" {
                numbers.swap(0, 1);
            }
            let own = if form == "tensor_copy" { vec![threads] } else { Vec::new() };
            let bytes = if arguments.contains("unsigned char") || form == "tensor_blur" { "_bytes" } else { "" };
            assert_eq!(name, format!("{form}{bytes}_{}", [own, numbers].concat().join("_")));
        }
    }

    #[test]
    fn a_twin_takes_the_boxes_of_ours_and_no_more_shared_memory() {
        for ours in ours() {
            let twin = twin(ours).unwrap();
            let of = |instance: &Instance| -> Vec<_> {
                let all = instance.parameters();
                all.map(|(_, info)| (info.boxes.unwrap(), info.alignment, info.row_alignment, info.tile)).collect()
            };
            assert_eq!(of(&twin.instance), of(ours), "{}", ours.name());
            for (_, alignment, rows, _) in of(&twin.instance) {
                assert_eq!((alignment, rows), (16, Some(16)), "{}", ours.name());
            }
            let [theirs, own] = [&twin.instance, ours].map(|one| (one.shared_bytes(), one.shared_alignment()));
            assert!(theirs.0 <= own.0 && theirs.1 >= own.1, "{}: {theirs:?} and {own:?}", ours.name());
            assert_eq!((twin.tile, twin.blocks, twin.wanted), (Work::of(ours).unwrap().portion(), None, None));
        }
    }

    #[test]
    fn shared_memory_is_that_of_boxes_output_stages_and_mbarriers() {
        let of = |symbol: &str| {
            let twins = ours().filter_map(twin);
            twins.map(|peer| peer.instance).find(|one| one.name() == symbol).unwrap().shared_bytes()
        };
        assert_eq!(of("tensor_copy_32_128_32_4"), 4 * (16384 + 8));
        assert_eq!(of("tensor_transpose_bytes_64_128_2_1"), 2 * (16384 + 8) + 16384);
        // 34 rows of 72 ints, up to the next multiple of 128 bytes.
        assert_eq!(of("tensor_stencil_128_32_64_2_2"), 2 * (9856 + 8) + 2 * 8192);
    }

    #[test]
    fn each_stands_beside_the_twin_of_its_shape_and_others_of_which_nothing_is_wanted() {
        for pairing in all() {
            let peers = pairing.peers.clone();
            let ours = pairing.resolve().unwrap().ours;
            if WITHOUT_STAGES.iter().any(|(kernel, ..)| *kernel == ours.kernel()) {
                let alike = |peer: &Peer| {
                    let parameters = peer.instance.parameters().zip(ours.parameters());
                    peer.instance.name().starts_with("rows_")
                        && parameters.into_iter().all(|(theirs, own)| theirs.1.element_bytes == own.1.element_bytes)
                };
                assert!(peers.len() == 4 && peers.iter().all(alike), "{}", ours.name());
                continue;
            }
            let (own, form) = (twin(ours).unwrap(), form_of(ours).unwrap());
            assert_eq!((peers[0].name, peers[0].instance.name()), (BY_HAND, own.instance.name()));
            assert_eq!((peers[0].wanted, peers[0].blocks), (Some(form.wanted), None));
            let others = peers[1..].iter().map(|peer| peer.instance.name().split(['_']).next().unwrap());
            let others: Vec<&str> = others.collect();
            match (ours.kernel(), element(ours).unwrap()) {
                ("copy_tma" | "column_sums" | "blur", _) => assert_eq!(others, ["rows"; 4]),
                (_, "u8") | ("batched_transpose" | "stencil_3x3_tma", _) => assert!(others.is_empty()),
                ("transpose_tma", _) => assert_eq!(others, ["transpose"; 2]),
                _ => assert_eq!(others, ["stencil"; 2]),
            }
            assert!(peers[1..].iter().all(|peer| peer.wanted.is_none() && peer.blocks.is_some()), "{}", ours.name());
        }
    }

    #[test]
    fn candidates_are_all_instances_and_their_twins_and_no_two_are_the_same() {
        let mut all = BTreeSet::new();
        let candidates = candidates();
        assert_eq!(candidates.len(), 11);
        for peer in candidates.iter().flat_map(|pairing| &pairing.peers) {
            let element = peer.instance.parameters().next().unwrap().1.element_bytes;
            assert!(all.insert((peer.name, peer.instance.name(), element)), "{}", peer.name);
        }
        let with_tensors = all.iter().filter(|(name, ..)| !name.starts_with(PLAIN) && !name.contains(" x "));
        assert_eq!(with_tensors.count(), 4 * ours().count());
    }
}
