//! A blur of a real picture as a user meets it: pixels go in and out, and whatever is wrong is one
//! clear error after which nothing is written.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use image::{DynamicImage, GrayImage, ImageBuffer, Luma, Rgb, RgbImage};
use tempfile::TempDir;

/// A folder, with the paths of an input and an output in it.
struct Files {
    folder: TempDir,
    input: PathBuf,
    output: PathBuf,
}

impl Files {
    fn new(input: &str, output: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Files { input: folder.path().join(input), output: folder.path().join(output), folder }
    }

    /// A run with both.
    fn run(&self) -> Command {
        let mut command = blur();
        command.arg("--input").arg(&self.input).arg("--output").arg(&self.output);
        command
    }

    fn count(&self) -> usize {
        fs::read_dir(&self.folder).unwrap().count()
    }

    /// The run must fail, and leave nothing where nothing was and what was there as it was.
    #[track_caller]
    fn fails(&self, parts: &[&str]) {
        fails(&mut self.run(), parts);
        let before = self.count();
        assert!(!self.output.exists());
        fs::write(&self.output, "an older file").unwrap();
        fails(&mut self.run(), parts);
        assert_eq!(fs::read_to_string(&self.output).unwrap(), "an older file");
        fs::remove_file(&self.output).unwrap();
        assert_eq!(self.count(), before, "nothing else is left");
    }
}

fn blur() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilepipe-run"));
    command.args(["--device", "cpu", "--kernel", "blur"]);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn fails(command: &mut Command, parts: &[&str]) {
    let Output { status, stderr, .. } = command.output().expect("the program starts");
    let message = text(&stderr);
    assert_eq!(status.code(), Some(1), "{message}");
    assert!(!message.contains("panicked") && message.matches("error:").count() == 1, "{message}");
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
}

#[track_caller]
fn succeeds(command: &mut Command) -> String {
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// The blurred byte of a channel, from `at`, which says the byte of each pixel of the picture.
fn blurred(at: impl Fn(u32, u32) -> u8, [width, height]: [u32; 2], x: u32, y: u32) -> u8 {
    let taps = [1, 4, 6, 4, 1].into_iter().zip(-2..);
    let near = |from: u32, step: i64, len: u32| (i64::from(from) + step).clamp(0, i64::from(len) - 1) as u32;
    let mut sum = 0_u32;
    for (of_row, down) in taps.clone() {
        for (of_column, right) in taps.clone() {
            sum += of_row * of_column * u32::from(at(near(x, right, width), near(y, down, height)));
        }
    }
    ((sum + 128) / 256) as u8
}

#[test]
fn an_rgb_picture_goes_in_and_out() {
    let files = Files::new("photo.png", "out.png");
    let (width, height) = (171, 45);
    let photo = RgbImage::from_fn(width, height, |x, y| Rgb([(x * 7 + y * y) as u8, (x * y) as u8, (255 - x) as u8]));
    photo.save(&files.input).unwrap();
    fs::write(&files.output, "an older file").unwrap();
    let printed = succeeds(&mut files.run());
    assert!(printed.contains("45 x 513") && printed.contains("1 verified"), "{printed}");
    let out = image::open(&files.output).unwrap();
    let out = out.as_rgb8().expect("RGB stays RGB");
    assert_eq!(out.dimensions(), (width, height));
    for (x, y, pixel) in out.enumerate_pixels() {
        let expected = [0, 1, 2].map(|channel| blurred(|x, y| photo[(x, y)][channel], [width, height], x, y));
        assert_eq!(pixel.0, expected, "{x}, {y}");
    }
    assert_eq!(files.count(), 2, "nothing else is left");
}

#[test]
fn a_grey_picture_goes_in_and_out_in_other_formats() {
    let files = Files::new("photo.pgm", "out.png");
    let photo = GrayImage::from_fn(3, 70, |x, y| Luma([(x * 90 + y * 3) as u8]));
    photo.save(&files.input).unwrap();
    for name in ["out.png", "out.pgm"] {
        let output = files.folder.path().join(name);
        succeeds(blur().arg("--input").arg(&files.input).arg("--output").arg(&output));
        let out = image::open(&output).unwrap();
        for (x, y, pixel) in out.as_luma8().expect("grey stays grey").enumerate_pixels() {
            assert_eq!(pixel.0, [blurred(|x, y| photo[(x, y)][0], [3, 70], x, y)], "{x}, {y}");
        }
    }
}

#[test]
fn a_jpeg_of_one_colour_keeps_it() {
    let files = Files::new("photo.jpg", "out.jpeg");
    GrayImage::from_pixel(20, 10, Luma([90])).save(&files.input).unwrap();
    succeeds(&mut files.run());
    let out = image::open(&files.output).unwrap().into_luma8();
    assert!(out.pixels().all(|pixel| pixel[0].abs_diff(90) <= 2) && out.dimensions() == (20, 10));
}

#[test]
fn a_file_that_is_no_picture_is_named() {
    let files = Files::new("photo.png", "out.png");
    files.fails(&["cannot read", "photo.png", "PNG, JPEG or PNM"]);
    fs::write(&files.input, "").unwrap();
    files.fails(&["photo.png is no PNG, JPEG or PNM picture"]);
    fs::write(&files.input, "some text, which is long enough for a header").unwrap();
    files.fails(&["photo.png is no PNG, JPEG or PNM picture"]);
    fails(blur().arg("--input").arg(files.folder.path()).arg("--output").arg(&files.output), &["cannot read"]);
    assert_eq!(files.count(), 1);
}

#[test]
fn a_truncated_picture_is_an_error() {
    for name in ["photo.png", "photo.jpg", "photo.ppm"] {
        let files = Files::new(name, "out.png");
        RgbImage::from_fn(40, 30, |x, y| Rgb([x as u8, y as u8, (x * y) as u8])).save(&files.input).unwrap();
        let whole = fs::read(&files.input).unwrap();
        for length in [whole.len() / 2, whole.len() - 1] {
            fs::write(&files.input, &whole[..length]).unwrap();
            files.fails(&[name, "truncated or damaged"]);
        }
    }
}

#[test]
fn pixels_of_another_kind_are_an_error_that_says_which_are_taken() {
    let files = Files::new("photo.png", "out.png");
    let pictures = [
        (DynamicImage::ImageLuma16(ImageBuffer::from_pixel(9, 8, Luma([999]))), "16-bit grey"),
        (DynamicImage::new_rgb16(9, 8), "16-bit RGB"),
        (DynamicImage::new_luma_a8(9, 8), "8-bit grey with alpha"),
        (DynamicImage::new_rgba8(9, 8), "8-bit RGB with alpha"),
        (DynamicImage::new_rgba16(9, 8), "16-bit RGB with alpha"),
    ];
    for (picture, name) in pictures {
        picture.save(&files.input).unwrap();
        files.fails(&["photo.png", &format!("pixels of {name};"), "8-bit grey and 8-bit RGB"]);
    }
}

/// The check sum of a PNG's chunk.
fn check_sum(bytes: &[u8]) -> u32 {
    let shift = |sum: u32, _| if sum & 1 == 1 { sum >> 1 ^ 0xEDB8_8320 } else { sum >> 1 };
    !bytes.iter().fold(!0, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), shift))
}

/// A PNG whose header says this width and height, in which there is next to nothing.
fn claim(path: &Path, width: u32, height: u32) {
    RgbImage::new(4, 4).save(path).unwrap();
    let mut file = fs::read(path).unwrap();
    file[16..20].copy_from_slice(&width.to_be_bytes());
    file[20..24].copy_from_slice(&height.to_be_bytes());
    let sum = check_sum(&file[12..29]);
    file[29..33].copy_from_slice(&sum.to_be_bytes());
    fs::write(path, file).unwrap();
}

#[test]
fn a_picture_that_is_too_large_is_refused_by_its_header() {
    let files = Files::new("photo.png", "out.png");
    for (width, height) in [(100_000, 100_000), (1 << 30, 1), (1, 1 << 30)] {
        claim(&files.input, width, height);
        // A row that no decoder takes is refused without its extents.
        let reason = if width == 1 << 30 { "more memory".to_owned() } else { format!("{width} x {height} pixels") };
        files.fails(&["photo.png", &reason, "2147483135 bytes"]);
    }
    claim(&files.input, 300, 300);
    files.fails(&["photo.png", "truncated or damaged"]);
    let files = Files::new("photo.ppm", "out.png");
    fs::write(&files.input, "P6 100000 100000 255\n").unwrap();
    files.fails(&["photo.ppm", "100000 x 100000 pixels"]);
    fs::write(&files.input, "P5 0 7 255\n").unwrap();
    files.fails(&["photo.ppm", "0 x 7 pixels"]);
}

#[test]
fn an_input_and_an_output_are_needed_and_only_for_this_kernel() {
    let files = Files::new("photo.png", "out.png");
    GrayImage::new(5, 4).save(&files.input).unwrap();
    let array = files.folder.path().join("in.npy");
    tilepipe_runner::npy::write(&array, &[1_u8, 2, 3, 4], tilepipe_runner::work::Shape::Matrix { height: 2, width: 2 })
        .unwrap();
    let kernel = |names: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tilepipe-run"));
        command.args(["--device", "cpu"]);
        command.args(names.iter().flat_map(|name| ["--kernel", name]));
        command
    };
    fails(blur().arg("--input").arg(&files.input), &["give --output", "photo.png"]);
    fails(blur().arg("--output").arg(&files.output), &["give --input once"]);
    fails(files.run().arg("--input").arg(&files.input), &["give --input once"]);
    for names in [&["sum"][..], &["stencil_2d"], &["blur", "sum"], &[]] {
        let mut command = kernel(names);
        command.arg("--input").arg(&files.input).arg("--output").arg(&files.output);
        fails(&mut command, &["photo.png is a picture", "--kernel blur"]);
        fails(kernel(names).arg("--output").arg(&files.output), &["out.png is a picture", "--kernel blur"]);
    }
    fails(blur().arg("--input").arg(&array).arg("--output").arg(&files.output), &["in.npy is a NumPy array"]);
    fails(files.run().args(["--variant", "CHANNELS=3"]), &["--variant CHANNELS"]);
    fails(files.run().args(["--dtype", "i32"]), &["element type i32", "u8"]);
    assert_eq!(files.count(), 2, "nothing was written");
}

#[test]
fn an_output_that_cannot_be_written_is_refused_before_anything_runs() {
    let files = Files::new("photo.png", "out.png");
    GrayImage::new(5, 4).save(&files.input).unwrap();
    for (output, parts) in [
        ("out.webp", &["out.webp", "a name that ends in .png, .jpg"][..]),
        ("out", &["a name that ends in .png"]),
        ("no/such/out.png", &["cannot write", "nothing was run"]),
        ("photo.png", &["--output", "--input", "nothing was run"]),
    ] {
        let output = files.folder.path().join(output);
        fails(blur().arg("--input").arg(&files.input).arg("--output").arg(output), parts);
    }
    assert_eq!(files.count(), 1, "nothing was written");
    assert_eq!(image::open(&files.input).unwrap(), DynamicImage::new_luma8(5, 4));
}

#[test]
fn arrays_of_bytes_are_blurred_too() {
    let files = Files::new("in.npy", "out.npy");
    let shape = tilepipe_runner::work::Shape::Matrix { height: 2, width: 3 };
    tilepipe_runner::npy::write(&files.input, &[7_u8; 6], shape).unwrap();
    succeeds(&mut files.run());
    assert_eq!(tilepipe_runner::npy::read::<u8>(&files.output).unwrap(), [7; 6]);
}
