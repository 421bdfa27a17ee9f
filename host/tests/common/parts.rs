//! What slices and rows do on every device: called with the CPU and with a GPU, each with the
//! kernels of `common` loaded.

use tilepipe_host::{Bound, Device, launch};

use crate::common::{INCREMENT, INCREMENT_ROWS};

/// A launch on slices reads and writes their elements alone.
pub fn slices_are_used_and_no_other_elements(device: &Device) {
    let stream = device.stream().unwrap();
    let input = device.upload(&(0..1000).collect::<Vec<u32>>()).unwrap();
    let mut out = device.zeroed::<u32>(1000).unwrap();
    for (from, to, len) in [(0, 0, 1), (4, 8, 3), (996, 100, 4), (8, 500, 499)] {
        out.write(&[0; 1000]).unwrap();
        let arguments = [
            Bound::input_slice(input.slice(from..from + len).unwrap()),
            Bound::output_slice(out.slice_mut(to..to + len).unwrap()),
            Bound::scalar(0_u64),
        ];
        launch(&stream, 3, &INCREMENT, arguments).unwrap();
        let written = to..to + len;
        let expected = |i| if written.contains(&i) { (from + i - to + 1) as u32 } else { 0 };
        assert_eq!(out.download().unwrap(), (0..1000).map(expected).collect::<Vec<_>>());
    }
}

/// A launch on slices of rows reads and writes their elements alone, whatever their buffers' pitch.
pub fn slices_of_rows_are_used_and_no_other_elements(device: &Device) {
    let stream = device.stream().unwrap();
    let (width, height) = (50, 20);
    let data: Vec<u32> = (0..(width * height) as u32).collect();
    let input = device.upload_2d(&data, width).unwrap();
    let mut out = device.zeroed::<u32>(16 * 24).unwrap();
    for ((top, left), (to_row, to_column), (rows, columns)) in
        [((0, 0), (0, 0), (1, 1)), ((3, 4), (5, 8), (2, 7)), ((0, 48), (23, 12), (1, 2)), ((1, 8), (4, 4), (19, 12))]
    {
        out.write(&[0; 16 * 24]).unwrap();
        let read = input.slice(top..top + rows, left..left + columns).unwrap();
        // The same elements, in two cuts.
        let written = out.rows_mut(16).unwrap().slice_mut(to_row.., ..).unwrap();
        let written = written.slice_mut(..rows, to_column..to_column + columns).unwrap();
        assert_eq!((read.width(), read.height()), (written.width(), written.height()));
        launch(&stream, 2, &INCREMENT_ROWS, [Bound::input_rows(read), Bound::output_rows(written)]).unwrap();
        let expected = |index: usize| {
            let (row, column) = (index / 16, index % 16);
            if !(to_row..to_row + rows).contains(&row) || !(to_column..to_column + columns).contains(&column) {
                return 0;
            }
            data[(row - to_row + top) * width + column - to_column + left] + 1
        };
        assert_eq!(out.download().unwrap(), (0..16 * 24).map(expected).collect::<Vec<_>>());
    }
}

/// Rows of any width go to a kernel and come back.
pub fn rows_go_to_a_kernel_and_come_back(device: &Device) {
    let stream = device.stream().unwrap();
    for (width, height, grid) in [(1, 1, 1), (3, 5, 2), (33, 7, 3), (128, 4, 4), (1001, 63, 16)] {
        let data: Vec<u32> = (0..(width * height) as u32).collect();
        let input = device.upload_2d(&data, width).unwrap();
        let sizes = (input.width(), input.height(), input.pitch(), input.len());
        assert_eq!(sizes, (width, height, width.next_multiple_of(4), width * height));
        assert_eq!(input.download().unwrap(), data);
        let mut out = device.filled_with_byte_2d::<u32>(width, height, 0xA5).unwrap();
        assert_eq!(out.download().unwrap(), vec![0xA5A5_A5A5; data.len()]);
        launch(&stream, grid, &INCREMENT_ROWS, [Bound::input_2d(&input), Bound::output_2d(&mut out)]).unwrap();
        let expected: Vec<u32> = data.iter().map(|element| element + 1).collect();
        assert_eq!(out.download().unwrap(), expected, "{width} by {height}");
        out.write(&data).unwrap();
        assert_eq!(out.download().unwrap(), data);
        let mut read = vec![0; data.len()];
        out.read(&mut read).unwrap();
        assert_eq!(read, data);
        assert_eq!(device.zeroed_2d::<u32>(width, height).unwrap().download().unwrap(), vec![0; data.len()]);
    }
}
