//! The kernels of `tilepipe_test_kernels::parameters`, compared with plain loops.

mod constants;

use std::any::type_name;

use tilepipe::{Element, F32x4, bf16, f16};
use tilepipe_host::{Bound, Device, Error, launch};
use tilepipe_test_kernels::parameters::{Line, chosen, drawn, height};

use crate::case::random_bits;

/// Blocks of a launch.
const GRID: u32 = 3;
/// Elements of outputs: more than the blocks have tiles, and no whole number of tiles.
const LEN: usize = 500;

/// Checks all of them, and returns the number of launches.
///
/// # Errors
///
/// Those of the launches.
///
/// # Panics
///
/// If an element is wrong.
pub fn check(device: &Device) -> Result<usize, Error> {
    let mut launches = choices::<u8>(device)? + choices::<i8>(device)? + choices::<u16>(device)?;
    launches += choices::<i16>(device)? + choices::<u32>(device)? + choices::<i32>(device)?;
    launches += choices::<u64>(device)? + choices::<i64>(device)? + choices::<u128>(device)?;
    launches += choices::<i128>(device)? + choices::<f16>(device)? + choices::<bf16>(device)?;
    launches += choices::<f32>(device)? + choices::<f64>(device)? + choices::<F32x4>(device)?;
    launches += choices::<[u8; 3]>(device)? + choices::<[f32; 4]>(device)? + choices::<[[u16; 2]; 2]>(device)?;
    lines(device)?;
    Ok(launches + 2 + constants::check(device)?)
}

/// Values of arbitrary bits, of which a bool of each kind chooses one.
fn choices<T: Element>(device: &Device) -> Result<usize, Error> {
    let is_of_type = |info: &tilepipe::launch::ParameterInfo| (info.element_name)() == type_name::<T>();
    let instance =
        chosen::INSTANCES.iter().find(|one| one.parameters().all(|(name, info)| name == "flag" || is_of_type(info)));
    let instance = instance.unwrap_or_else(|| panic!("no instance for {}", type_name::<T>()));
    let bits = random_bits::<u8>(2 * size_of::<T>(), size_of::<T>() as u64);
    let values: Vec<T> = bits.chunks(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect();
    for (flag, expected) in [(true, values[0]), (false, values[1])] {
        let mut out = device.filled_with_byte::<T>(LEN, 0xEE)?;
        let arguments =
            [Bound::scalar(flag), Bound::scalar(values[0]), Bound::scalar(values[1]), Bound::output(&mut out)];
        launch(&device.stream()?, GRID, instance, arguments)?;
        let (got, expected) = (out.download()?, vec![expected; LEN]);
        assert!(bytemuck::cast_slice::<T, u8>(&got) == bytemuck::cast_slice::<T, u8>(&expected), "{}", instance.name());
    }
    Ok(2)
}

fn lines(device: &Device) -> Result<(), Error> {
    let line = Line { slope: 7.0, offset: 1 << 20, first: 300, shift: 3, unused: 0, limit: 200_000_000 };
    for (step, origin) in [(-128, -5), (127, isize::MAX)] {
        let mut out = device.filled_with_byte::<u32>(LEN, 0xEE)?;
        drawn::launch(&device.stream()?, GRID, line, step, LEN, origin, &mut out)?;
        let expected: Vec<u32> = (0..LEN).rev().map(|place| height(line, step, origin, place)).collect();
        assert_eq!(out.download()?, expected, "{step}");
    }
    Ok(())
}
