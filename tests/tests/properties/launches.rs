//! Random launches: sizes, grids, schedules, data.

use proptest::prelude::*;
use tilepipe::Element;
use tilepipe::cpu::Schedule;
use tilepipe::launch::Instance;
use tilepipe_host::{Bound, Device, launch};
use tilepipe_runner::data::{self, POISON};
use tilepipe_tests::case::SCHEDULES;

/// Two tiles of one length, in one stage.
pub type Two<const LEN: usize> = ([i32; LEN], [i32; LEN]);

/// A launch to try.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Picks an instance.
    pub choice: usize,
    /// The length in tiles, of which the last may be partial.
    pub tiles: f64,
    /// Blocks.
    pub grid: u32,
    /// The schedule, for tests that don't go through all of them.
    pub schedule: Schedule,
    /// What random data is made from.
    pub seed: u64,
}

impl Case {
    /// One of the instances.
    pub fn instance(self, instances: &'static [Instance]) -> &'static Instance {
        &instances[self.choice % instances.len()]
    }

    /// The number of elements, at least one, for tiles of `tile` elements.
    pub fn len(self, tile: usize) -> usize {
        ((self.tiles * tile as f64) as usize).max(1)
    }
}

/// Any launch.
pub fn case() -> impl Strategy<Value = Case> {
    let schedule = prop_oneof![
        Just(Schedule::Eager),
        Just(Schedule::Lazy),
        any::<u64>().prop_map(|seed| Schedule::Random { seed }),
    ];
    let tiles = prop_oneof![0.0..3.0, 0.0..40.0, (0..40_u32).prop_map(f64::from)];
    (any::<usize>(), tiles, 1..12_u32, schedule, any::<u64>()).prop_map(|(choice, tiles, grid, schedule, seed)| Case {
        choice,
        tiles,
        grid,
        schedule,
        seed,
    })
}

/// Elements of random bits.
pub fn elements<T: Element>(len: usize, seed: u64) -> Vec<T> {
    let mut values = vec![T::zeroed(); len];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
    bytes.copy_from_slice(&data::generate::<u8>(bytes.len(), seed).unwrap());
    values
}

/// The element at `index`, or zeros beyond the end.
pub fn at<T: Element>(values: &[T], index: usize) -> T {
    values.get(index).copied().unwrap_or(T::zeroed())
}

/// The value of a generic argument that is a number.
pub fn number(instance: &Instance, name: &str) -> usize {
    instance.generic(name).and_then(|text| text.parse().ok()).unwrap()
}

/// Runs an instance that takes inputs of one type, perhaps a scalar, and an output as long as its
/// first input; returns the output's bytes.
pub fn run<T: Element>(instance: &Instance, case: Case, inputs: &[&[T]], scalar: Option<i32>) -> Vec<u8> {
    let len = inputs[0].len();
    let out = run_on(&Device::cpu(case.schedule), case.grid, instance, len, |device| {
        let mut bound: Vec<Bound<'static>> = inputs.iter().map(|input| bind(device, input)).collect();
        bound.extend(scalar.map(Bound::scalar));
        bound
    });
    bytemuck::cast_slice::<T, u8>(&out).to_vec()
}

/// Runs an instance under every schedule and asserts that its one output is `expected` each time,
/// byte by byte; `inputs` binds what comes before the output.
#[track_caller]
pub fn gives<O: Element + std::fmt::Debug>(
    instance: &Instance,
    case: Case,
    expected: &[O],
    inputs: impl Fn(&Device) -> Vec<Bound<'static>>,
) {
    for schedule in SCHEDULES.into_iter().chain([case.schedule]) {
        let got = run_on::<O>(&Device::cpu(schedule), case.grid, instance, expected.len(), &inputs);
        let bytes = |values: &[O]| bytemuck::cast_slice::<O, u8>(values).to_vec();
        let differs = (0..expected.len()).find(|&index| bytes(&got[index..=index]) != bytes(&expected[index..=index]));
        if let Some(index) = differs {
            let (symbol, got, expected) = (instance.name(), &got[index], &expected[index]);
            panic!("{symbol}, {schedule:?}, {case:?}: element {index} is {got:?}, expected {expected:?}");
        }
    }
}

/// Uploads and binds an input.
pub fn bind<T: Element>(device: &Device, values: &[T]) -> Bound<'static> {
    Bound::input(&device.upload(values).unwrap())
}

fn run_on<O: Element>(
    device: &Device,
    grid: u32,
    instance: &Instance,
    len: usize,
    inputs: impl Fn(&Device) -> Vec<Bound<'static>>,
) -> Vec<O> {
    let mut out = device.filled_with_byte::<O>(len, POISON).unwrap();
    let mut arguments = inputs(device);
    arguments.push(Bound::output(&mut out));
    launch(&device.stream().unwrap(), grid, instance, arguments).unwrap();
    out.download().unwrap()
}
