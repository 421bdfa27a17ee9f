//! Which engine when: the streaming kernel over engines, sizes of a tile, stages and blocks, and
//! the same by hand; and what the fence of the threads that read a stage costs.

use anyhow::Result;
use tilepipe::launch::Instance;

use super::{HAND, ISSUER_FENCE, NO_FENCE, STAGES, STREAM, stream};
use crate::measure::{Bench, Outcome};
use crate::plan::blocks::Blocks;
use crate::plan::catalog::{Comparison, Peer};
use crate::plan::pairings::{Pairing, peer};
use crate::record::{Class, Line, Point, Sweep};

/// Threads of a block: a multiprocessor with one of them has four warps.
const THREADS: u32 = 128;
/// Elements of a tile: 2 to 16 KiB, the least of which is 16 bytes a thread.
const TILES: [(&str, usize); 4] = [("512", 512), ("1024", 1024), ("2048", 2048), ("4096", 4096)];
/// One and two blocks for each multiprocessor of an H200.
pub const FEW: [Blocks; 2] = [Blocks::Of(132), Blocks::Of(264)];
/// Static shared memory that a block may have at most.
const STATIC_BYTES: usize = 48 << 10;

/// How titles of these sweeps begin and end; between stands the number of stages and of blocks.
pub const TITLE: [&str; 2] = ["Engines, ", ": size of a tile"];
/// The line of our kernel with the copy engine.
pub const BULK: &str = "tilepipe, Bulk";
/// The lines with `cp.async`: ours, and by hand.
pub const CP_ASYNC: [&str; 2] = ["tilepipe, CpAsync", "cp.async by hand"];
/// The line of our kernel with a copy through registers.
const LOAD_STORE: &str = "tilepipe, LoadStore";

/// What is measured with tiles of one size and one number of stages.
struct Place {
    /// KiB of a tile.
    x: f64,
    /// Ours with [`BULK`] comes first.
    comparison: Comparison,
    /// For each contestant the sweep's title, and its line there.
    lines: Vec<(String, &'static str)>,
}

/// Measures all sweeps over `elements` numbers in the input and in the output.
///
/// # Errors
///
/// An instance that is not among our kernels, and those of [`Bench::run`].
pub fn measure(bench: &Bench<'_>, elements: usize) -> Result<Vec<Sweep>> {
    let places = places()?;
    let comparisons: Vec<&Comparison> = places.iter().map(|place| &place.comparison).collect();
    let (mut sweeps, mut rest) = (Vec::new(), places.iter());
    bench.run::<i32>(elements, &comparisons, |comparison, _, outcomes| {
        let moved = 4 * elements as u64 * (comparison.work.kind.inputs() as u64 + 1);
        if let Some(place) = rest.next() {
            add(&mut sweeps, place, outcomes, moved);
        }
    })?;
    Ok(sweeps)
}

/// Adds what was measured at a place to the sweeps, each of which it makes if there is none yet.
fn add(sweeps: &mut Vec<Sweep>, place: &Place, outcomes: Vec<Outcome>, moved: u64) {
    for ((title, name), outcome) in place.lines.iter().zip(outcomes) {
        let at = sweeps.iter().position(|sweep| sweep.title == *title).unwrap_or_else(|| {
            let (title, axis, unit) = (title.clone(), "size of a tile".to_owned(), "KiB".to_owned());
            sweeps.push(Sweep { title, axis, unit, lines: Vec::new() });
            sweeps.len() - 1
        });
        let point = Point::new(place.x, &outcome, moved);
        let lines = &mut sweeps[at].lines;
        match lines.iter_mut().find(|line| line.name == *name) {
            Some(line) => line.points.push(point),
            None => lines.push(Line { name: (*name).to_owned(), points: vec![point] }),
        }
    }
}

fn places() -> Result<Vec<Place>> {
    let mut places = Vec::new();
    for stages in STAGES {
        for tile in TILES {
            places.push(place(tile, stages)?);
        }
    }
    Ok(places)
}

/// All contestants with tiles of one size and one number of stages.
fn place((text, len): (&'static str, usize), (stages_text, stages): (&'static str, usize)) -> Result<Place> {
    let ours = |engine| stream(THREADS, text, stages_text, engine, FEW[0], Vec::new()).resolve();
    let bulk = ours("Bulk")?;
    let cp_async = ours("CpAsync")?;
    // There are few instances with a copy through registers, which has no use for several stages.
    let load_store = ours("LoadStore").ok();
    let of_ours = |name, instance: &Instance| Peer { class: Class::Tilepipe, tile: len, ..peer(name, *instance) };
    let by_hand = (4 * len * stages <= STATIC_BYTES).then(|| HAND.of(THREADS, len, stages).peer());
    let (mut peers, mut lines) = (Vec::new(), Vec::new());
    for blocks in blocks(stages) {
        let ours = [of_ours(BULK, bulk.ours), of_ours(CP_ASYNC[0], cp_async.ours)].into_iter();
        let ours = ours.chain(load_store.iter().map(|one| of_ours(LOAD_STORE, one.ours)));
        // The best form of `cp.async` counts where few warps are resident.
        let hand = by_hand.clone().filter(|_| FEW.contains(&blocks));
        for one in ours.chain([STREAM.of(THREADS, len, stages).peer()]).chain(hand) {
            lines.push((title(stages, blocks), one.name));
            peers.push(Peer { blocks: Some(blocks), ..one });
        }
    }
    // The first one is the comparison's own.
    peers.remove(0);
    Ok(Place { x: len as f64 / 256.0, comparison: Comparison { peers, ..bulk }, lines })
}

/// One and two blocks for each multiprocessor, as many as run at once, and with one stage, which is
/// all that such a block fills, one for each tile.
fn blocks(stages: usize) -> impl Iterator<Item = Blocks> {
    FEW.into_iter().chain([Blocks::Resident]).chain((stages == 1).then_some(Blocks::Tiles))
}

fn title(stages: usize, blocks: Blocks) -> String {
    let plural = if stages == 1 { "" } else { "s" };
    format!("{}{stages} stage{plural}, {}{}", TITLE[0], blocks.text(), TITLE[1])
}

/// Our kernel with the copy engine beside C++ of its shape whose reading threads fence as ours do,
/// whose issuing thread does, and that has no fence. With as many blocks as run at once, and with
/// few: a block with one tile has no fence in its loop.
pub fn fences() -> Vec<Pairing> {
    let mut all = Vec::new();
    for (text, len, stages_text, stages) in
        [("512", 512, "2", 2), ("1024", 1024, "2", 2), ("4096", 4096, "2", 2), ("4096", 4096, "4", 4)]
    {
        for blocks in [Blocks::Resident, FEW[0]] {
            let others = [NO_FENCE, ISSUER_FENCE].map(|form| form.of(THREADS, len, stages).peer());
            let peers = [STREAM.of(THREADS, len, stages).wanted()].into_iter().chain(others).collect();
            all.push(stream(THREADS, text, stages_text, "Bulk", blocks, peers));
        }
    }
    all
}

/// The C++ that takes part.
#[cfg(test)]
pub fn instances() -> Vec<Instance> {
    let of_places = places().unwrap().into_iter().flat_map(|place| place.comparison.peers);
    let of_fences = fences().into_iter().flat_map(|pairing| pairing.peers);
    of_places.chain(of_fences).map(|peer| peer.instance).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Measurement;

    #[test]
    fn every_place_has_all_its_contestants_and_no_two_are_the_same() {
        let places = places().unwrap();
        assert_eq!(places.len(), TILES.len() * STAGES.len());
        for place in &places {
            let peers = &place.comparison.peers;
            assert_eq!(place.lines.len(), peers.len() + 1, "{} KiB", place.x);
            assert_eq!(place.lines[0], (title_of(place, 0).to_owned(), BULK));
            let mut names = place.lines.clone();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), place.lines.len(), "{} KiB", place.x);
            for (peer, (_, line)) in peers.iter().zip(&place.lines[1..]) {
                let name = peer.instance.name();
                assert_eq!((peer.name, peer.tile as f64 / 256.0), (*line, place.x), "{name}");
                assert_eq!((peer.instance.threads(), peer.racing, peer.wanted), (THREADS, false, None), "{name}");
                // The instance is of the line's engine and of the place's tile.
                let engine = line.strip_prefix("tilepipe, ").unwrap_or("engine");
                assert!(name.contains(engine) && name.contains(&format!("_128_{}_", peer.tile)), "{name} of {line}");
            }
        }
    }

    fn title_of(place: &Place, nth: usize) -> &str {
        &place.lines[nth].0
    }

    #[test]
    fn a_sweep_has_the_tiles_by_rising_size_and_its_blocks_and_stages_in_its_title() {
        let mut sweeps = Vec::new();
        for place in places().unwrap() {
            let outcome = || Ok(Measurement { milliseconds: vec![1.0, 1.0], wrong: [0, 0] });
            let outcomes = place.lines.iter().map(|_| outcome()).collect();
            add(&mut sweeps, &place, outcomes, 1 << 31);
        }
        // Three numbers of blocks for each number of stages, and a block a tile for one stage.
        assert_eq!(sweeps.len(), 3 * 3 + 1);
        let of = |title: &str| sweeps.iter().find(|sweep| sweep.title == title).unwrap_or_else(|| panic!("{title}"));
        for sweep in &sweeps {
            assert_eq!(sweep.places(), [2.0, 4.0, 8.0, 16.0], "{}", sweep.title);
            for line in &sweep.lines {
                assert!(line.points.is_sorted_by(|one, other| one.x < other.x), "{}: {}", sweep.title, line.name);
            }
        }
        let few = of("Engines, 4 stages, 132 blocks: size of a tile");
        let names: Vec<&str> = few.lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, [BULK, CP_ASYNC[0], "bulk copies by hand", CP_ASYNC[1]]);
        assert_eq!(few.line(CP_ASYNC[1]).unwrap().points.len(), 3, "64 KiB are no static shared memory");
        let tiles = of("Engines, 1 stage, a block a tile: size of a tile");
        assert_eq!(tiles.line(LOAD_STORE).unwrap().points.len(), 1);
        assert_eq!(tiles.line(BULK).unwrap().points[0].moved, 1 << 31);
    }

    #[test]
    fn a_fence_is_measured_where_blocks_fill_stages_again() {
        for pairing in fences() {
            let names: Vec<&str> = pairing.peers.iter().map(|peer| peer.instance.name()).collect();
            assert!(pairing.blocks != Blocks::Tiles && names.len() == 3, "{names:?}");
            let ours = pairing.resolve().unwrap().ours.name();
            let shape = ours.split("_Bulk_").nth(1).unwrap();
            for (name, form) in names.iter().zip([STREAM, NO_FENCE, ISSUER_FENCE]) {
                assert_eq!(*name, format!("{}_{shape}", form.name));
            }
        }
    }
}
