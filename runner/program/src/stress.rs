//! `--stress`: many launches of kernels whose roles leave, wait and forget at random, each one
//! checked.

use std::fmt;
use std::io::{self, Write};
use std::process;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use tilepipe::launch::Instance;
use tilepipe_host::{Bound, Buffer, Device, Error, launch};
use tilepipe_runner::data::POISON;
use tilepipe_runner::machine::Machine;
use tilepipe_runner::stdout::counted;
use tilepipe_test_kernels::role_stress::{self, CONSUMERS, EPISODES, LEN};

/// The longest that a launch may take.
const LIMIT: Duration = Duration::from_secs(30);

/// What came of all launches.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Summary {
    launches: u32,
    tiles: u64,
    /// How often the producers stopped for each reason, in the order of [`role_stress::Why`].
    producers: [u64; 4],
    /// The same of the consumers.
    consumers: [u64; 4],
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [finished, left, holding, stopped] = self.producers;
        let [_, quit, quit_holding, ended] = self.consumers;
        let launches = if self.launches == 1 { "launch" } else { "launches" };
        write!(f, "stress: {} {launches}, {}, none lost and none wrong; ", self.launches, counted(self.tiles, "tile"))?;
        write!(
            f,
            "producers finished {}, left {}, were stopped {stopped}; ",
            counted(finished, "time"),
            left + holding
        )?;
        write!(f, "consumers left {}, read to the end {ended}", quit + quit_holding)
    }
}

/// Makes `launches` launches, with the seeds from 0 up, and checks each one.
///
/// The process ends with an error if one takes longer than 30 seconds.
///
/// # Errors
///
/// The first launch that fails or writes something wrong, with its seed.
pub fn run(machine: &Machine, launches: u32) -> Result<Summary> {
    let instances: Vec<&Instance> = kernels().into_iter().flatten().collect();
    // On the CPU every block is two threads of the operating system.
    let (least, most) = if machine.is_gpu() { (64, 264) } else { (2, 9) };
    let elements = most * 24 * LEN - 37;
    let input: Vec<u32> = (0..elements).map(role_stress::element).collect();
    let input = machine.device.upload(&input)?;
    let watchdog = Watchdog::start(LIMIT, end_process);
    let mut summary = Summary::default();
    for seed in 0..launches {
        let instance = instances[seed as usize % instances.len()];
        let grid = least + seed.wrapping_mul(0x9E37_79B1) as usize % (most - least + 1);
        let run = Launch { instance, seed, grid };
        let written = watchdog.watch(run.describe(), || run.launch(&machine.device, &input));
        let (wrong, outcomes) = written.with_context(|| run.describe())?;
        run.check(elements, &wrong, &outcomes, &mut summary).with_context(|| run.describe())?;
    }
    Ok(summary)
}

/// The kernels that are launched, each with its instances.
fn kernels() -> [&'static [Instance]; 3] {
    [
        &role_stress::random_quits_of_first_threads::INSTANCES,
        &role_stress::random_quits_by_parity::INSTANCES,
        &role_stress::random_quits_of_warps::INSTANCES,
    ]
}

struct Launch {
    instance: &'static Instance,
    seed: u32,
    grid: usize,
}

impl Launch {
    fn describe(&self) -> String {
        format!("stress launch with seed {}: {} in {}", self.seed, self.instance.name(), counted(self.grid, "block"))
    }

    /// Launches and returns both outputs.
    fn launch(&self, device: &Device, input: &Buffer<u32>) -> Result<(Vec<u32>, Vec<u32>), Error> {
        let output = |elements| device.filled_with_byte::<u32>(self.grid * EPISODES * elements, POISON);
        let (mut wrong, mut outcomes) = (output(CONSUMERS)?, output(2)?);
        let arguments =
            [Bound::input(input), Bound::scalar(self.seed), Bound::output(&mut wrong), Bound::output(&mut outcomes)];
        launch(&device.stream()?, self.grid as u32, self.instance, arguments)?;
        Ok((wrong.download()?, outcomes.download()?))
    }

    fn stages(&self) -> Result<usize> {
        self.instance.generic("STAGES").and_then(|value| value.parse().ok()).context("a kernel without STAGES")
    }

    /// Checks both outputs for an input of so many elements, and counts what happened.
    fn check(&self, elements: usize, wrong: &[u32], outcomes: &[u32], summary: &mut Summary) -> Result<()> {
        let (all_tiles, stages) = (elements.div_ceil(LEN), self.stages()?);
        ensure!(outcomes.len() == self.grid * EPISODES * 2, "{}", counted(outcomes.len(), "outcome"));
        for (number, (wrong, outcome)) in wrong.chunks(CONSUMERS).zip(outcomes.chunks(2)).enumerate() {
            let (episode, block) = (number / self.grid, number % self.grid);
            let place = || format!("block {block}, pipeline {episode}");
            let tiles = all_tiles.saturating_sub(block).div_ceil(self.grid);
            if let Some(rank) = wrong.iter().position(|count| *count != 0) {
                bail!("{}: consumer {rank} saw {}", place(), counted(wrong[rank], "wrong element"));
            }
            let (produced, consumed) = (outcome[0], outcome[1]);
            if let Err(rule) = role_stress::check(produced, consumed, tiles, stages) {
                let ((committed, producers), (got, consumers)) =
                    (role_stress::parts(produced), role_stress::parts(consumed));
                bail!(
                    "{}: {rule}: of {}, {committed} committed ({producers:?}) and {got} read ({consumers:?}), with {}",
                    place(),
                    counted(tiles, "tile"),
                    counted(stages, "stage")
                );
            }
            summary.tiles += role_stress::parts(consumed).0 as u64;
            summary.producers[role_stress::parts(produced).1 as usize] += 1;
            summary.consumers[role_stress::parts(consumed).1 as usize] += 1;
        }
        summary.launches += 1;
        Ok(())
    }
}

/// A thread that looks whether one launch takes too long.
struct Watchdog {
    running: Arc<Mutex<Option<(String, Instant)>>>,
}

impl Watchdog {
    /// Starts it; `expired` gets what takes longer than `limit`, once.
    fn start(limit: Duration, expired: impl FnOnce(&str) + Send + 'static) -> Self {
        let running = Arc::new(Mutex::new(None::<(String, Instant)>));
        let watched = Arc::downgrade(&running);
        thread::spawn(move || {
            // It ends with the watchdog.
            while let Some(running) = watched.upgrade() {
                let overdue = match &*running.lock().unwrap_or_else(PoisonError::into_inner) {
                    Some((what, since)) if since.elapsed() > limit => Some(what.clone()),
                    _ => None,
                };
                if let Some(what) = overdue {
                    return expired(&what);
                }
                drop(running);
                thread::sleep((limit / 10).min(Duration::from_millis(200)));
            }
        });
        Watchdog { running }
    }

    /// Runs `work` under its eyes.
    fn watch<R>(&self, what: String, work: impl FnOnce() -> R) -> R {
        let set = |value| *self.running.lock().unwrap_or_else(PoisonError::into_inner) = value;
        set(Some((what, Instant::now())));
        let result = work();
        set(None);
        result
    }
}

/// Ends the process, at once: what a driver does at an orderly end would wait for the kernel.
fn end_process(what: &str) {
    let _ = writeln!(io::stderr(), "error: {what} has run for more than {} s", LIMIT.as_secs());
    process::abort();
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::sync::mpsc;

    use tilepipe_test_kernels::role_stress::Why;

    const OUTCOMES: [Why; 4] = [Why::Finished, Why::Left, Why::LeftHolding, Why::Closed];

    /// An outcome as a kernel writes it.
    fn outcome(stages: usize, why: Why) -> u32 {
        let number = (stages << 2) as u32 | why as u32;
        assert_eq!(role_stress::parts(number), (stages, why));
        number
    }

    #[test]
    fn the_command_line_knows_the_kernels() {
        let names = kernels().map(|instances| instances[0].kernel());
        assert_eq!(tilepipe_runner_cli::STRESS_KERNELS, names);
    }

    #[test]
    fn outcomes_that_can_be_are_allowed_and_others_are_not() {
        let check = |(committed, producers): (usize, Why), (got, consumers): (usize, Why)| {
            role_stress::check(outcome(committed, producers), outcome(got, consumers), 9, 2)
        };
        let [finished, left, holding, closed] = OUTCOMES;
        for (produced, consumed) in [
            ((9, finished), (9, closed)),
            ((9, finished), (7, left)),
            ((9, finished), (8, holding)),
            ((5, left), (5, closed)),
            ((5, holding), (4, left)),
            ((5, closed), (3, left)),
            ((5, closed), (4, holding)),
            ((0, left), (0, closed)),
            ((2, closed), (0, left)),
        ] {
            assert_eq!(check(produced, consumed), Ok(()), "{produced:?} {consumed:?}");
        }
        for (produced, consumed, rule) in [
            ((10, left), (10, closed), "than there are tiles"),
            ((5, left), (6, closed), "not committed"),
            ((6, left), (3, left), "more stages were filled"),
            ((6, left), (4, holding), "more stages were filled"),
            ((8, finished), (8, closed), "finished early"),
            ((9, finished), (9, finished), "consumers have no end"),
            ((5, left), (4, closed), "lost"),
            ((5, closed), (4, left), "while a stage was free"),
            ((5, closed), (5, closed), "were stopped"),
        ] {
            let refused = check(produced, consumed).unwrap_err();
            assert!(refused.contains(rule), "{produced:?} {consumed:?}: {refused}");
        }
    }

    #[test]
    fn a_wrong_element_and_a_lost_tile_are_found_in_their_blocks() {
        let instance = &role_stress::random_quits_of_warps::INSTANCES[1];
        let run = Launch { instance, seed: 7, grid: 3 };
        let pairs = run.grid * EPISODES;
        // 7 tiles: 3, 2 and 2 of the three blocks.
        let elements = 6 * LEN + 1;
        let tiles = |pair: usize| if pair.is_multiple_of(3) { 3 } else { 2 };
        let wrong = vec![0; pairs * CONSUMERS];
        let outcomes: Vec<u32> = (0..pairs)
            .flat_map(|pair| [outcome(tiles(pair), Why::Finished), outcome(tiles(pair), Why::Closed)])
            .collect();
        let mut summary = Summary::default();
        run.check(elements, &wrong, &outcomes, &mut summary).unwrap();
        assert_eq!((summary.launches, summary.tiles, summary.producers[0]), (1, 7 * EPISODES as u64, pairs as u64));

        let refusal = |wrong: &[u32], outcomes: &[u32]| {
            run.check(elements, wrong, outcomes, &mut Summary::default()).unwrap_err().to_string()
        };
        let mut one_wrong = wrong.clone();
        one_wrong[4 * CONSUMERS + 5] = 2;
        assert_eq!(refusal(&one_wrong, &outcomes), "block 1, pipeline 1: consumer 5 saw 2 wrong elements");
        let mut one_lost = outcomes.clone();
        one_lost[2 * 11 + 1] = outcome(1, Why::Closed);
        assert!(refusal(&wrong, &one_lost).starts_with("block 2, pipeline 3: consumers lost"));
        let unwritten = vec![u32::from_ne_bytes([POISON; 4]); outcomes.len()];
        assert!(refusal(&wrong, &unwritten).starts_with("block 0, pipeline 0: more stages"));
    }

    #[test]
    fn a_launch_that_takes_too_long_is_named_and_others_are_not() {
        let (sender, receiver) = mpsc::channel();
        let watchdog = Watchdog::start(Duration::from_millis(100), move |what| sender.send(what.to_owned()).unwrap());
        for quick in 0..3 {
            watchdog.watch(format!("quick {quick}"), || thread::sleep(Duration::from_millis(5)));
        }
        thread::sleep(Duration::from_millis(200));
        assert!(receiver.try_recv().is_err(), "nothing runs");
        let told = watchdog.watch("slow".to_owned(), || receiver.recv_timeout(Duration::from_secs(20)));
        assert_eq!(told.as_deref(), Ok("slow"));
    }
}
