//! What is compiled is what the C++ beside it computes.

use tilepipe_bench_compile::{neighbour_sum, neighbour_sum_wide, triple_wide, two_inputs, two_inputs_wide};
use tilepipe_host::{Buffer, Device, Error, Schedule, Stream};

const LEN: usize = 1000;

/// `3 * left[i]` and what follows `right[i]` in its group of 256, 0 after the end.
fn expected(left: &[i32], right: &[i32]) -> Vec<i32> {
    let next = |i: usize| right.get(i / 256 * 256 + (i + 1) % 256).copied().unwrap_or(0);
    (0..left.len()).map(|i| left[i].wrapping_mul(3).wrapping_add(next(i))).collect()
}

#[test]
fn every_kernel_computes_what_its_task_says() -> Result<(), Error> {
    let numbers = |factor: i32| (0..LEN as i32).map(|i| i.wrapping_mul(factor)).collect::<Vec<i32>>();
    let (first, second) = (numbers(7919), numbers(-104_729));
    let device = Device::cpu(Schedule::Lazy);
    let stream = device.stream()?;
    let (left, right) = (device.upload(&first)?, device.upload(&second)?);
    type Launch<'a> = &'a dyn Fn(&Stream, &mut Buffer<i32>) -> Result<(), Error>;
    let tripled = first.iter().map(|value| value.wrapping_mul(3)).collect();
    let kernels: [(Launch<'_>, Vec<i32>); 5] = [
        (&|stream, out| neighbour_sum::launch::<256>(stream, 2, &left, out), expected(&first, &first)),
        (&|stream, out| neighbour_sum_wide::launch::<128, 512>(stream, 2, &left, out), expected(&first, &first)),
        (&|stream, out| triple_wide::launch::<128, 512>(stream, 2, &left, out), tripled),
        (&|stream, out| two_inputs::launch::<256>(stream, 2, &left, &right, out), expected(&first, &second)),
        (&|stream, out| two_inputs_wide::launch::<128, 512>(stream, 2, &left, &right, out), expected(&first, &second)),
    ];
    for (launch, wanted) in kernels {
        let mut out = device.upload(&[-1; LEN])?;
        launch(&stream, &mut out)?;
        assert_eq!(out.download()?, wanted);
    }
    Ok(())
}
