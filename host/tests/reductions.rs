//! Launches whose threads add to the same memory: what may be passed, what fails, and the order of
//! blocks where it matters.

use std::collections::BTreeSet;

use tilepipe::reduce::{Add, Unordered};
use tilepipe::{AtomicOperation, Bins, Block, Element, Reduction, Shared, Tiles, TilesMut, f16, kernel};
use tilepipe_host::{Bound, Device, Error, Grid, Schedule, launch};

/// Counts the elements of each tile, and writes its number.
#[kernel]
fn counted(block: Block<32>, input: Tiles<u32, 32>, mut out: TilesMut<u32, 32>, count: Reduction<u32, Add>) {
    let mut results = out.for_block(&block);
    for i in 0..results.len() {
        let first = 32 * (i * block.grid() + block.index());
        let dst = results.get_mut(i);
        block.threads(|t| {
            if input.get(first + t.rank()).is_some() {
                count.add(&t, 0, 1);
            }
            dst.set(&t, i as u32);
        });
    }
}

/// Counts blocks.
#[kernel]
fn blocks(block: Block<32>, input: Tiles<u32, 64>, count: Reduction<u32, Add>) {
    let _ = input.len();
    block.threads(|t| {
        if t.rank() == 0 {
            count.add(&t, 0, 1);
        }
    });
}

/// Adds a number of each block, in the order in which they come.
#[kernel(instances(T = [f32, f16]))]
fn summed<T: Element>(block: Block<32>, numbers: Tiles<T, 1>, sum: Reduction<T, Unordered<Add>>)
where
    Unordered<Add>: AtomicOperation<T>,
{
    let number = numbers.at(block.index());
    block.threads(|t| {
        if t.rank() == 7 {
            sum.add(&t, 0, number);
        }
    });
}

/// Adds to an element that is not there, in one thread of one block.
#[kernel]
fn element_beyond(block: Block<32>, sums: Reduction<u64, Add>) {
    let index = block.index();
    block.threads(|t| {
        if index == 1 && t.rank() == 5 {
            sums.add(&t, 3, 1);
        }
    });
}

/// Adds to a bin that is not there, or has more bins than the reduction has elements.
#[kernel]
fn bin_beyond(block: Block<32>, bin: u32, sums: Reduction<u64, Add>, shared: Shared<Bins<u64, 4, Add>>) {
    let bins = shared.bins(&block);
    block.threads(|t| {
        if t.rank() == 9 {
            bins.add(&t, bin as usize, 1);
        }
    });
    bins.publish(&block).add_to(&block, &sums);
}

#[track_caller]
fn contains(result: Result<(), Error>, words: &[&str]) {
    let text = result.expect_err("the launch should have failed").to_string();
    for word in words {
        assert!(text.contains(word), "`{text}` lacks `{word}`");
    }
}

#[test]
fn a_reduction_is_nothing_else_in_its_launch_and_is_bound_as_one() -> Result<(), Error> {
    let device = Device::cpu(Schedule::Lazy);
    let stream = device.stream()?;
    let input = device.upload(&[1_u32; 100])?;
    let (mut out, mut count) = (device.zeroed::<u32>(100)?, device.zeroed::<u32>(1)?);
    let instance = &counted::INSTANCES[0];
    let start = |arguments: [Bound; 3]| launch(&stream, 2, instance, arguments);
    contains(
        start([Bound::input(&input), Bound::output(&mut out), Bound::reduction(&mut out)]),
        &["`out`", "`count`", "counted"],
    );
    contains(
        start([Bound::input(&count), Bound::output(&mut out), Bound::reduction(&mut count)]),
        &["`input`", "`count`"],
    );
    contains(
        start([Bound::input(&input), Bound::output(&mut out), Bound::output(&mut count)]),
        &["`count`", "a reduction of u32", "an output view", "`Bound::reduction`"],
    );
    contains(
        start([Bound::input(&input), Bound::reduction(&mut out), Bound::reduction(&mut count)]),
        &["`out`", "an output view of u32", "a reduction of u32"],
    );
    start([Bound::input(&input), Bound::output(&mut out), Bound::reduction(&mut count)])?;
    // A second launch goes on where the first one ended.
    counted::launch(&stream, 3, &input, &mut out, &mut count)?;
    assert_eq!(count.download()?, [200]);
    Ok(())
}

#[test]
fn a_grid_of_tiles_is_one_of_the_input_where_there_is_no_other_output() -> Result<(), Error> {
    let device = Device::cpu(Schedule::Lazy);
    let input = device.upload(&[0_u32; 1000])?;
    let mut count = device.zeroed(1)?;
    blocks::launch(&device.stream()?, Grid::tiles(), &input, &mut count)?;
    assert_eq!(count.download()?, [16]);
    Ok(())
}

#[test]
fn a_place_that_is_not_there_fails_the_launch_with_both_numbers_and_the_thread() -> Result<(), Error> {
    let run = |start: &dyn Fn(&Device) -> Result<(), Error>| start(&Device::cpu(Schedule::Lazy));
    let file = "host/tests/reductions.rs";
    contains(
        run(&|device| element_beyond::launch(&device.stream()?, 3, &mut device.zeroed(3)?)),
        &["index 3 is out of range: the reduction has 3 elements", file, "block 1", "thread 5"],
    );
    contains(
        run(&|device| bin_beyond::launch(&device.stream()?, 1, 4, &mut device.zeroed(4)?)),
        &["index 4 is out of range: there are 4 bins", file, "thread 9"],
    );
    contains(
        run(&|device| bin_beyond::launch(&device.stream()?, 1, 3, &mut device.zeroed(3)?)),
        &["4 bins don't fit a reduction of 3 elements", file],
    );
    let device = Device::cpu(Schedule::Lazy);
    let mut sums = device.upload(&[5_u64; 6])?;
    bin_beyond::launch(&device.stream()?, 2, 3, &mut sums)?;
    assert_eq!(sums.download()?, [5, 5, 5, 7, 5, 5], "what is behind the bins stays as it is");
    Ok(())
}

#[test]
fn sums_whose_order_matters_have_one_result_for_each_seed() -> Result<(), Error> {
    // Large numbers swallow small ones that come after them.
    let numbers: Vec<f32> = (0..97).map(|i| if i % 10 == 3 { 1e8 } else { 1.0 + i as f32 }).collect();
    let halves: Vec<f16> =
        (0..97).map(|i| f16::from_f32(if i % 10 == 3 { 2048.0 } else { 1.0 + (i % 4) as f32 })).collect();
    let sums = |schedule| -> Result<(u32, u16), Error> {
        let device = Device::cpu(schedule);
        let stream = device.stream()?;
        let (mut sum, mut of_halves) = (device.zeroed::<f32>(1)?, device.zeroed::<f16>(1)?);
        summed::launch::<f32>(&stream, 97, &device.upload(&numbers)?, &mut sum)?;
        summed::launch::<f16>(&stream, 97, &device.upload(&halves)?, &mut of_halves)?;
        Ok((sum.download()?[0].to_bits(), of_halves.download()?[0].to_bits()))
    };
    let in_order = (
        numbers.iter().fold(0.0_f32, |sum, number| sum + number).to_bits(),
        halves.iter().fold(f16::ZERO, |sum, half| sum + half).to_bits(),
    );
    assert_eq!((sums(Schedule::Lazy)?, sums(Schedule::Eager)?), (in_order, in_order));
    let (mut results, mut of_halves) = (BTreeSet::new(), BTreeSet::new());
    for seed in 0..20 {
        let first = sums(Schedule::Random { seed })?;
        assert_eq!(first, sums(Schedule::Random { seed })?, "seed {seed}");
        results.insert(first.0);
        of_halves.insert(first.1);
    }
    assert!(results.len() > 1 && of_halves.len() > 1, "every seed has the same order");
    Ok(())
}
