//! What is measured at small sizes: contestants of one task in several shapes, each with every grid
//! that it may be best with.

use anyhow::Result;
use tilepipe::launch::Instance;
use tilepipe_host::Device;
use tilepipe_runner::value::DType::I32;
use tilepipe_runner::work::Work;

use crate::plan::blocks::Blocks;
use crate::plan::pairings::Pairing;
use crate::plan::shapes::{
    BULK, Form, HAND_FIRST, HAND_WAIT, OWN_HAND, OWN_PIPELINE, OWN_VECTOR, PIPELINE, Shape, VECTOR,
};
use crate::record::Class;

/// Sizes of the input, as powers of two of bytes: 64 KiB to 16 MiB.
pub const SIZES_LOG2: [u32; 5] = [16, 18, 20, 22, 24];
/// What ours must reach of the fastest other contestant, each at its own best grid.
pub const WANTED: f64 = 0.97;

/// Stages of ours and of the others: at small sizes a block has few tiles.
const STAGES: [&str; 2] = ["1", "2"];
const MOST_STAGES: u32 = 2;
/// Threads of ours, elements of a tile, four a thread, and numbers of stages.
const THREADS: [(u32, &str, &[&str]); 3] = [(128, "512", &STAGES), (256, "1024", &STAGES), (512, "2048", &["1"])];
/// Further shapes of ours that may be faster with few tiles, each with one stage: what it is, its
/// engine, threads, and elements of a tile. The fastest of them belong into [`THREADS`].
const CANDIDATES: [(&str, &str, u32, &str); 3] = [
    ("with_staging_unified_wide", "CpAsync", 64, "256"),
    ("with_staging_unified_wide, through registers", "LoadStore", 64, "256"),
    ("with_staging_unified_wide, bulk copies", "Bulk", 128, "512"),
];
/// Blocks that each is measured with.
const BLOCKS: [Blocks; 2] = [Blocks::Tiles, Blocks::Resident];

/// What is computed, and who does it.
pub struct Task {
    /// What all must compute.
    pub work: Work,
    /// Ours first.
    pub contestants: Vec<Contestant>,
}

/// A kernel in one shape, or a library.
pub struct Contestant {
    /// What it is, for people: no two of a task have the same name.
    pub name: String,
    /// What it is, which fixes its colour.
    pub class: Class,
    /// What is launched.
    pub launched: Launched,
}

/// What one launch is.
pub enum Launched {
    /// A kernel.
    Kernel {
        /// Its description.
        instance: Instance,
        /// Elements of one of its tiles.
        tile: usize,
    },
    /// `cub::DeviceTransform`, which chooses its blocks itself.
    Library,
}

impl Launched {
    /// Returns the grids that it is measured with for so many elements, each number of blocks once:
    /// what it is, and the blocks.
    ///
    /// # Errors
    ///
    /// As for [`Blocks::number`].
    pub fn grids(&self, device: &Device, elements: usize) -> Result<Vec<(String, Option<u32>)>> {
        let Launched::Kernel { instance, tile } = self else { return Ok(vec![("its own grid".to_owned(), None)]) };
        let number = |blocks: Blocks| blocks.number(device, instance, elements.div_ceil(*tile));
        distinct(BLOCKS.map(|blocks| Ok((blocks, number(blocks)?))))
    }
}

/// Keeps the first of several grids with as many blocks.
fn distinct(grids: [Result<(Blocks, u32)>; 2]) -> Result<Vec<(String, Option<u32>)>> {
    let mut kept: Vec<(String, Option<u32>)> = Vec::new();
    for grid in grids {
        let (blocks, number) = grid?;
        if kept.iter().all(|(_, other)| *other != Some(number)) {
            kept.push((blocks.text(), Some(number)));
        }
    }
    Ok(kept)
}

/// Returns all tasks; CUB takes part where its library is there and has the task, and further
/// shapes of ours where they are asked for.
///
/// # Errors
///
/// An instance that is not among our kernels.
pub fn tasks(has_library: bool, with_candidates: bool) -> Result<Vec<Task>> {
    let unified = |(name, engine), stages, len| {
        ("with_staging_unified_wide", name, vec![("C", "GroupSum"), ("LEN", len), ("STAGES", stages), ("E", engine)])
    };
    let (by_copies, by_loads) =
        (("with_staging_unified_wide", "CpAsync"), ("with_staging_unified_wide, through registers", "LoadStore"));
    let own = |stages, len| {
        let of_scope = |(name, scope)| ("scale_own_wide", name, vec![("S", scope), ("LEN", len), ("STAGES", stages)]);
        [("scale_own_wide, thread scope", "ThreadScope"), ("scale_own_wide, block scope", "BlockScope")].map(of_scope)
    };
    let mut sum = Vec::new();
    let mut triple = Vec::new();
    for (threads, len, stages) in THREADS {
        sum.push(ours(unified(by_loads, "1", len), threads, "1")?);
        for stages in stages {
            sum.push(ours(unified(by_copies, stages, len), threads, stages)?);
            for one in own(stages, len) {
                triple.push(ours(one, threads, stages)?);
            }
        }
    }
    if with_candidates {
        for (name, engine, threads, len) in CANDIDATES {
            sum.push(ours(unified((name, engine), "1", len), threads, "1")?);
        }
        for (threads, len) in [(128, "512"), (256, "1024")] {
            let kernel = "with_staging_scope_thread_wide";
            let generics = vec![("C", "GroupSum"), ("LEN", len), ("STAGES", "1")];
            sum.push(ours((kernel, kernel, generics), threads, "1")?);
        }
        let [of_threads, _] = own("1", "256");
        triple.push(ours(of_threads, 64, "1")?);
    }
    let library = || Contestant { name: "CUB".to_owned(), class: Class::Library, launched: Launched::Library };
    let tasks = [
        (sum, &[VECTOR, HAND_FIRST, HAND_WAIT, BULK, PIPELINE][..], false),
        (triple, &[OWN_VECTOR, OWN_HAND, OWN_PIPELINE][..], has_library),
    ];
    Ok(tasks.map(|(ours, forms, has_library)| task(ours, forms, has_library.then(library))).into())
}

/// One of ours with what it computes.
type Ours = (Work, Contestant);

/// Finds one of ours: the kernel, its name for people, its generic arguments.
fn ours(
    (kernel, name, generics): (&'static str, &str, Vec<(&'static str, &'static str)>),
    threads: u32,
    stages: &str,
) -> Result<Ours> {
    let pairing = Pairing { kernel, dtype: I32, generics, blocks: Blocks::Tiles, threads, peers: Vec::new() };
    let found = pairing.resolve()?;
    let launched = Launched::Kernel { instance: *found.ours, tile: found.work.portion() };
    let plural = if stages == "1" { "" } else { "s" };
    let name = format!("{name}, {stages} stage{plural}, {threads} x {}", found.work.portion() / threads as usize);
    Ok((found.work, Contestant { name, class: Class::Tilepipe, launched }))
}

fn task(ours: Vec<Ours>, forms: &[Form], library: Option<Contestant>) -> Task {
    // What a kernel computes does not depend on its tile here; a test compares the tasks.
    let work = ours[0].0;
    let own = ours.into_iter().map(|(_, contestant)| contestant);
    let contestants = own.chain(forms.iter().flat_map(|form| others(*form))).chain(library);
    Task { work, contestants: contestants.collect() }
}

/// A form in all its shapes with few stages.
fn others(form: Form) -> impl Iterator<Item = Contestant> {
    let of_shape = |shape: Shape| {
        let peer = shape.peer();
        let launched = Launched::Kernel { instance: peer.instance, tile: peer.tile };
        Contestant { name: shape.text(), class: peer.class, launched }
    };
    // A shape stands among the candidates once for each kind of grid.
    let candidates = form.candidates().into_iter().filter(|shape| shape.stages <= MOST_STAGES);
    candidates.filter(|shape| shape.blocks == Blocks::Tiles).map(of_shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(task: &Task, class: Class) -> Vec<&str> {
        task.contestants.iter().filter(|one| one.class == class).map(|one| one.name.as_str()).collect()
    }

    #[test]
    fn every_task_has_ours_and_each_kind_of_c_plus_plus_and_names_tell_contestants_apart() {
        let [sum, triple] = &tasks(true, false).unwrap()[..] else { panic!("two tasks") };
        assert_eq!((sum.work.task().as_str(), sum.work.group), ("neighbour sum in groups of 256", 256));
        assert_eq!(triple.work.task(), tilepipe_runner::work::TRIPLE);
        assert_eq!(
            names(sum, Class::Tilepipe),
            [
                "with_staging_unified_wide, through registers, 1 stage, 128 x 4",
                "with_staging_unified_wide, 1 stage, 128 x 4",
                "with_staging_unified_wide, 2 stages, 128 x 4",
                "with_staging_unified_wide, through registers, 1 stage, 256 x 4",
                "with_staging_unified_wide, 1 stage, 256 x 4",
                "with_staging_unified_wide, 2 stages, 256 x 4",
                "with_staging_unified_wide, through registers, 1 stage, 512 x 4",
                "with_staging_unified_wide, 1 stage, 512 x 4",
            ]
        );
        assert_eq!(names(triple, Class::Tilepipe).len(), 10);
        for task in [sum, triple] {
            for class in [Class::Hand, Class::Plain, Class::Pipeline] {
                assert!(names(task, class).len() >= 4, "{class:?}: {:?}", names(task, class));
            }
            let mut all: Vec<&str> = task.contestants.iter().map(|one| one.name.as_str()).collect();
            all.sort_unstable();
            let count = all.len();
            all.dedup();
            assert_eq!(all.len(), count);
            assert!(!all.iter().any(|name| name.contains("4 stages")));
        }
        let hand = names(sum, Class::Hand);
        for beginning in ["cp.async, fill first, 1 stage", "cp.async, wait first, 2 stages", "bulk copies, 1 stage"] {
            assert!(hand.iter().any(|name| name.starts_with(beginning)), "{beginning} in {hand:?}");
        }
    }

    #[test]
    fn cub_has_one_of_the_tasks_where_its_library_is_there() {
        let of_library =
            |has| tasks(has, false).unwrap().iter().map(|task| names(task, Class::Library).len()).collect::<Vec<_>>();
        assert_eq!((of_library(true), of_library(false)), (vec![0, 1], vec![0, 0]));
    }

    #[test]
    fn contestants_of_one_task_have_the_parameters_and_the_tile_of_their_shape() {
        for task in tasks(false, true).unwrap() {
            for Contestant { name, launched, .. } in &task.contestants {
                let Launched::Kernel { instance, tile } = launched else { panic!("{name}") };
                assert_eq!(instance.parameters().count(), 2, "{name}");
                let (threads, per_thread) = name.rsplit_once(", ").unwrap().1.split_once(" x ").unwrap();
                let (threads, per_thread): (usize, usize) = (threads.parse().unwrap(), per_thread.parse().unwrap());
                assert_eq!((instance.threads() as usize, *tile), (threads, threads * per_thread), "{name}");
            }
        }
    }

    #[test]
    fn candidates_are_further_ones_of_ours_with_names_of_their_own() {
        let (few, all) = (tasks(false, false).unwrap(), tasks(false, true).unwrap());
        let more: Vec<usize> =
            all.iter().zip(&few).map(|(all, few)| all.contestants.len() - few.contestants.len()).collect();
        assert_eq!(more, [CANDIDATES.len() + 2, 1]);
        for (all, few) in all.iter().zip(&few) {
            let (all, few) = (names(all, Class::Tilepipe), names(few, Class::Tilepipe));
            assert!(few.iter().all(|name| all.contains(name)));
            assert!(all.iter().enumerate().all(|(place, name)| !all[..place].contains(name)), "{all:?}");
        }
        assert!(names(&all[0], Class::Tilepipe).contains(&"with_staging_unified_wide, 1 stage, 64 x 4"));
    }

    #[test]
    fn two_grids_with_as_many_blocks_are_one() {
        let of = |tiles, resident| distinct([Ok((Blocks::Tiles, tiles)), Ok((Blocks::Resident, resident))]).unwrap();
        assert_eq!(of(32, 32), [("a block a tile".to_owned(), Some(32))]);
        let both = of(8192, 2112);
        assert_eq!(both[1], ("resident blocks".to_owned(), Some(2112)));
        assert_eq!(both.len(), 2);
        assert!(distinct([Ok((Blocks::Tiles, 1)), Err(anyhow::anyhow!("no GPU"))]).is_err());
    }
}
