//! The blur at random sizes, against a loop over a picture with a frame of its border's pixels.

use proptest::prelude::*;
use tilepipe::launch::Instance;
use tilepipe_host::{Bound, Device, launch};
use tilepipe_kernels::blur;
use tilepipe_runner::data::POISON;

use crate::launches::{Case, case, elements, number};

/// Runs an instance over rows of `width` bytes.
fn blurred(instance: &Instance, case: Case, picture: &[u8], width: usize) -> Vec<u8> {
    let device = Device::cpu(case.schedule);
    let input = device.upload_2d(picture, width).unwrap();
    let mut out = device.filled_with_byte_2d::<u8>(width, picture.len() / width, POISON).unwrap();
    let arguments = [Bound::input_2d(&input), Bound::output_2d(&mut out)];
    launch(&device.stream().unwrap(), case.grid, instance, arguments).unwrap();
    out.download().unwrap()
}

/// A row with two copies of its first pixel before it, and two of its last after it.
fn framed<P: Clone>(row: &[P]) -> Vec<P> {
    let (first, last) = (&row[0], &row[row.len() - 1]);
    [first, first].into_iter().chain(row).chain([last, last]).cloned().collect()
}

/// What one channel becomes: rows of `width` pixels.
fn blur_loop(channel: &[u8], width: usize) -> Vec<u8> {
    let rows: Vec<Vec<u8>> = channel.chunks(width).map(framed).collect();
    let rows = framed(&rows);
    let mut out = Vec::new();
    for above in rows.windows(5) {
        for left in 0..width {
            let of_row = |row: &Vec<u8>| {
                let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|right| u32::from(row[left + right]));
                a + 4 * b + 6 * c + 4 * d + e
            };
            let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|down| of_row(&above[down]));
            let sum = a + 4 * b + 6 * c + 4 * d + e;
            out.push(((sum + 128) / 256) as u8);
        }
    }
    out
}

/// A height and a width in pixels: small ones, and those around one box and two, of grey and RGB.
/// Two boxes and a halo leave one of them within the picture.
fn extents() -> impl Strategy<Value = (usize, usize)> {
    (
        prop_oneof![1..8_usize, 30..38_usize, 62..72_usize],
        prop_oneof![1..8_usize, 75..90_usize, 155..170_usize, 235..250_usize, 475..495_usize],
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_blur_is_that_of_each_channel_at_every_size(case in case(), (height, width) in extents()) {
        let instance = case.instance(&blur::INSTANCES);
        let channels = number(instance, "CHANNELS");
        let picture: Vec<u8> = elements(height * width * channels, case.seed);
        let got = blurred(instance, case, &picture, width * channels);
        for channel in 0..channels {
            let of_channel = |bytes: &[u8]| bytes.iter().skip(channel).step_by(channels).copied().collect::<Vec<u8>>();
            let expected = blur_loop(&of_channel(&picture), width);
            prop_assert_eq!(of_channel(&got), expected, "channel {} of {}", channel, instance.name());
        }
    }

    #[test]
    fn a_picture_of_one_colour_stays_as_it_is_up_to_its_borders(case in case(), (height, width) in extents()) {
        let instance = case.instance(&blur::INSTANCES);
        let channels = number(instance, "CHANNELS");
        let colour = &case.seed.to_le_bytes()[..channels];
        let picture = colour.repeat(height * width);
        prop_assert_eq!(blurred(instance, case, &picture, width * channels), picture, "{}", instance.name());
    }
}
