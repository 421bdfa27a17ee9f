//! Misuse that no type can refuse: a launch or a step that fails with a message, and takes nothing
//! else with it.

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};
use tilepipe_host::{Buffer, Device, Error, Schedule, Stream};

/// Does something when it is dropped.
struct InDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for InDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Eager, lazy, and some random ones.
fn schedules() -> impl Iterator<Item = Schedule> {
    (0..6).map(|seed| Schedule::Random { seed }).chain([Schedule::Eager, Schedule::Lazy])
}

fn message(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or_default().to_owned()
}

/// What destructors saw: the messages that their steps panicked with.
static REFUSED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Runs `step` and notes what it panics with.
fn note_refusal(step: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(step)) {
        REFUSED.lock().unwrap().push(message(payload.as_ref()));
    }
}

/// A destructor in an unwinding consumer waits for a tile, to read it although nobody has waited
/// for its copies.
#[kernel]
fn reads_early(
    block: Block<64>,
    input: Tiles<u32, 32>,
    mut out: TilesMut<u32, 32>,
    shared: Shared<Partitioned<Stages<[u32; 32], 2>>>,
) {
    let tiles = input.for_block(&block);
    let partition = block.partition::<WarpRoles<32, 32>>().pipeline(shared);
    let produce = partition.role((), |_, mut producer, ()| {
        for i in 0..tiles.len() {
            let Ok(stage) = producer.acquire() else { return };
            producer = stage.copy(tiles.get(i)).commit();
        }
    });
    let _ = produce
        .role(&mut out, |group, consumer, out| {
            let (mut slot, mut early) = (Some(consumer), None);
            let unwound = catch_unwind(AssertUnwindSafe(|| {
                let _guard = InDrop(|| note_refusal(|| early = slot.take().and_then(|end| end.wait().ok())));
                panic!("on purpose");
            }));
            assert!(unwound.is_err() && early.is_none(), "a tile that nobody waited for");
            let mut results = out.for_role(&group);
            let dst = results.get_mut(0);
            group.threads(|t| dst.set(&t, 1));
        })
        .run();
}

/// A destructor in an unwinding producer acquires the stage that the consumers read, and fills it.
#[kernel]
fn overwrites(
    block: Block<64>,
    input: Tiles<u32, 32>,
    mut out: TilesMut<u32, 32>,
    shared: Shared<Partitioned<Stages<[u32; 32], 1>>>,
) {
    let partition = block.partition::<WarpRoles<32, 32>>().pipeline(shared);
    let produce = partition.role((), |group, producer, ()| {
        let Ok(stage) = producer.acquire() else { return };
        let mut slot = Some(stage.copy(input.tile(0)).commit());
        for _ in 0..4 {
            group.sync();
        }
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let _guard = InDrop(|| {
                note_refusal(|| {
                    if let Some(Ok(stage)) = slot.take().map(|end| end.acquire()) {
                        let _forgotten = core::mem::ManuallyDrop::new(stage.copy(input.tile(1)));
                    }
                });
            });
            panic!("on purpose");
        }));
    });
    let _ = produce
        .role(&mut out, |group, consumer, out| {
            let Ok(tile) = consumer.wait() else { return };
            let before = *tile;
            for _ in 0..40 {
                group.sync();
                assert_eq!(*tile, before, "a tile changes while it is read");
            }
            let mut results = out.for_role(&group);
            let dst = results.get_mut(0);
            group.threads(|t| dst.set(&t, tile[t.rank()]));
            let _ = tile.release();
        })
        .run();
}

#[test]
fn a_step_in_a_destructor_of_an_unwinding_role_is_refused() {
    for schedule in schedules() {
        let device = Device::cpu(schedule);
        let stream = device.stream().unwrap();
        let input = device.upload(&[[7_u32; 32], [8; 32]].concat()).unwrap();
        let mut out = device.zeroed::<u32>(32).unwrap();
        REFUSED.lock().unwrap().clear();
        reads_early::launch(&stream, 1, &input, &mut out).unwrap();
        assert_eq!(out.download().unwrap(), [1; 32]);
        overwrites::launch(&stream, 1, &input, &mut out).unwrap();
        assert_eq!(out.download().unwrap(), [7; 32]);
        let refused = std::mem::take(&mut *REFUSED.lock().unwrap());
        assert_eq!(refused.len(), 2, "{refused:?}");
        assert!(refused.iter().all(|message| message.contains("a step in a destructor while")), "{refused:?}");
    }
}

/// A destructor that takes a step and lets its panic out.
#[kernel]
fn steps_in_drop(block: Block<32>) {
    let _guard = InDrop(|| block.sync());
    panic!("on purpose");
}

/// Names the variable that has this test run the kernel that ends the program.
const ENDS: &str = "TILEPIPE_TEST_STEPS_IN_DROP";

#[test]
fn a_refused_step_that_leaves_its_destructor_ends_the_program_with_a_message() {
    if env::var_os(ENDS).is_some() {
        let device = Device::cpu(Schedule::Lazy);
        let _ = steps_in_drop::launch(&device.stream().unwrap(), 1);
        return;
    }
    let name = "a_refused_step_that_leaves_its_destructor_ends_the_program_with_a_message";
    let mut child = Command::new(env::current_exe().unwrap());
    let output = child.args(["--exact", name, "--nocapture"]).env(ENDS, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && text.contains("a step in a destructor while its block or role unwinds"),
        "{text}"
    );
}

/// A stream, a buffer for a launch, and one for a download, of the device that runs the outer
/// kernel.
static INNER: Mutex<Option<(Stream, Buffer<u32>)>> = Mutex::new(None);

/// Held by tests that use the two statics beside it.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// What an inner launch and a download came to.
static OUTCOMES: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[kernel]
fn inner(block: Block<32>, mut out: TilesMut<u32, 32>) {
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.threads(|t| dst.set(&t, 3));
}

fn launch_from_inside() {
    let mut inner_parts = INNER.lock().unwrap();
    let (stream, buffer) = inner_parts.as_mut().unwrap();
    let launched = inner::launch(stream, 1, &mut *buffer);
    assert!(matches!(launched, Err(Error::NestedLaunch { .. })), "{launched:?}");
    let read = buffer.download();
    assert!(matches!(read, Err(Error::InsideKernel)), "{read:?}");
    let messages = [launched.unwrap_err().to_string(), read.unwrap_err().to_string()];
    OUTCOMES.lock().unwrap().extend(messages);
}

#[kernel]
fn outer(block: Block<64>, roles: u32) {
    if roles == 0 {
        return launch_from_inside();
    }
    let _ = block
        .partition::<WarpRoles<32, 32>>()
        .role((), |_, (), ()| launch_from_inside())
        .role((), |_, (), ()| ())
        .run();
}

#[test]
fn a_launch_and_a_download_from_inside_a_block_or_a_role_are_errors() {
    for roles in [0, 1] {
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let device = Device::cpu(Schedule::Lazy);
        *INNER.lock().unwrap() = Some((device.stream().unwrap(), device.zeroed(32).unwrap()));
        outer::launch(&device.stream().unwrap(), 1, roles).unwrap();
        let outcomes = std::mem::take(&mut *OUTCOMES.lock().unwrap());
        assert_eq!(outcomes.len(), 2, "{outcomes:?}");
        assert!(outcomes.iter().all(|message| message.contains("from inside a kernel")), "{outcomes:?}");
    }
}

/// A panic's payload that panics when it is dropped.
struct Bad;

impl Drop for Bad {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic_any(Bad);
        }
    }
}

#[kernel]
fn panics_with_bad_payloads(block: Block<64>) {
    let fails = |sync: &dyn Fn()| {
        let _ = catch_unwind(AssertUnwindSafe(sync));
        if true {
            panic_any(Bad);
        }
    };
    let _ = block
        .partition::<WarpRoles<32, 32>>()
        .role((), |group, (), ()| fails(&|| group.sync()))
        .role((), |group, (), ()| fails(&|| group.sync()))
        .run();
}

#[test]
fn payloads_that_panic_in_drop_are_one_failure_of_the_launch() {
    for schedule in schedules() {
        let device = Device::cpu(schedule);
        let failed = panics_with_bad_payloads::launch(&device.stream().unwrap(), 1);
        assert!(matches!(failed, Err(Error::KernelPanicked { .. })), "{failed:?}");
    }
}

/// Launches when it is dropped, and notes what came of it.
struct LaunchesInDrop;

impl Drop for LaunchesInDrop {
    fn drop(&mut self) {
        launch_from_inside();
    }
}

thread_local! {
    static AT_THE_END: std::cell::RefCell<Option<LaunchesInDrop>> = const { std::cell::RefCell::new(None) };
}

/// Each role leaves a destructor for the end of its OS thread; the second one also fails with a
/// payload that is dropped late.
#[kernel]
fn launches_late(block: Block<64>, fails: u32) {
    let body = |sync: &dyn Fn()| {
        AT_THE_END.set(Some(LaunchesInDrop));
        if fails == 1 {
            let _ = catch_unwind(AssertUnwindSafe(sync));
            panic_any(LaunchesInDrop);
        }
    };
    let _ = block
        .partition::<WarpRoles<32, 32>>()
        .role((), |group, (), ()| body(&|| group.sync()))
        .role((), |group, (), ()| body(&|| group.sync()))
        .run();
}

#[test]
fn a_launch_by_the_last_destructors_of_a_role_is_an_error() {
    for (fails, wanted) in [(0, 4), (1, 8)] {
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let device = Device::cpu(Schedule::Eager);
        *INNER.lock().unwrap() = Some((device.stream().unwrap(), device.zeroed(32).unwrap()));
        let launched = launches_late::launch(&device.stream().unwrap(), 1, fails);
        assert_eq!(launched.is_err(), fails == 1, "{launched:?}");
        let outcomes = std::mem::take(&mut *OUTCOMES.lock().unwrap());
        assert_eq!(outcomes.len(), wanted, "{outcomes:?}");
    }
}

/// Names the variable that has this test launch from a panic hook.
const HOOK: &str = "TILEPIPE_TEST_LAUNCHES_IN_HOOK";

#[test]
fn the_first_launch_from_a_panic_hook_is_an_error() {
    let name = "the_first_launch_from_a_panic_hook_is_an_error";
    if env::var_os(HOOK).is_none() {
        let output = Command::new(env::current_exe().unwrap()).args(["--exact", name]).env(HOOK, "1").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let previous = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {
        let device = Device::cpu(Schedule::Lazy);
        let mut out = device.zeroed(32).unwrap();
        let launched = inner::launch(&device.stream().unwrap(), 1, &mut out);
        REFUSED.lock().unwrap().push(format!("{launched:?}"));
    }));
    let _ = catch_unwind(|| panic!("on purpose"));
    std::panic::set_hook(previous);
    let refused = std::mem::take(&mut *REFUSED.lock().unwrap());
    assert!(refused.len() == 1 && refused[0].contains("WhilePanicking"), "{refused:?}");
}

/// Waits for jobs of rayon's, so that its worker takes up others meanwhile.
#[kernel]
fn joins(block: Block<32>, mut out: TilesMut<u32, 32>) {
    let mut results = out.for_block(&block);
    for index in 0..results.len() {
        let (one, two) = rayon::join(|| (0..1000).sum::<u32>(), || (0..1000).sum::<u32>());
        rayon::yield_now();
        let dst = results.get_mut(index);
        block.threads(|t| dst.set(&t, one + two));
    }
}

#[test]
fn a_kernel_that_waits_for_rayons_jobs_runs_no_other_blocks_meanwhile() {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let device = Device::cpu(Schedule::Lazy);
                    let mut out = device.zeroed(32 * 64).unwrap();
                    joins::launch(&device.stream().unwrap(), 16, &mut out).unwrap();
                    assert_eq!(out.download().unwrap(), [999_000; 32 * 64]);
                }
            });
        }
    });
}

/// Downloads in two jobs of rayon's, of which another worker takes one while this one sleeps.
#[kernel]
fn downloads_in_jobs(block: Block<32>, mut out: TilesMut<u32, 32>) {
    let _ = (&block, &mut out);
    let download = || {
        let inner = INNER.lock().unwrap();
        let outcome = inner.as_ref().unwrap().1.download();
        OUTCOMES.lock().unwrap().push(format!("{outcome:?}"));
    };
    let sleep_and_download = || {
        std::thread::sleep(Duration::from_millis(50));
        download();
    };
    rayon::join(sleep_and_download, download);
}

#[test]
fn a_download_in_a_job_of_rayons_is_an_error() {
    let _held = ONE_AT_A_TIME.lock().unwrap();
    let device = Device::cpu(Schedule::Lazy);
    *INNER.lock().unwrap() = Some((device.stream().unwrap(), device.zeroed(32).unwrap()));
    let mut out = device.zeroed(32).unwrap();
    downloads_in_jobs::launch(&device.stream().unwrap(), 1, &mut out).unwrap();
    *INNER.lock().unwrap() = None;
    let outcomes = std::mem::take(&mut *OUTCOMES.lock().unwrap());
    assert!(outcomes.len() == 2 && outcomes.iter().all(|one| one.contains("InsideKernel")), "{outcomes:?}");
}

#[test]
fn a_buffer_of_elements_without_bytes_is_an_error() {
    let device = Device::cpu(Schedule::Lazy);
    assert!(matches!(device.zeroed::<[u8; 0]>(3), Err(Error::EmptyBuffer { .. })));
    assert!(matches!(device.upload(&[[0_u8; 0]; 3]), Err(Error::EmptyBuffer { .. })));
}
