//! Pictures as a kernel's input and output: PNG, JPEG and PNM files of 8-bit grey or RGB.
//!
//! A picture is a matrix of bytes: a row has one for each pixel, or three. What else a file says,
//! such as a colour profile or how the picture is to be turned, is not kept.

mod error;
mod whole;

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::codecs::pnm::{PnmEncoder, PnmSubtype, SampleEncoding};
use image::{ColorType, ExtendedColorType, ImageDecoder, ImageEncoder, ImageError, ImageFormat, ImageReader, Limits};
use tilepipe_runner_cli::Cli;

use crate::npy;
use crate::output::Partial;
use crate::value::Value;
use crate::work::Shape;

pub use error::PictureError;

/// The kernel that takes pictures.
pub const KERNEL: &str = "blur";

/// The most bytes of a picture. A tensor has no more rows, and its rows have no more elements.
const MOST_BYTES: u64 = i32::MAX as u64 - 512;

/// What the decoders may reserve beside the picture's own bytes.
const ROOM: u64 = 1 << 28;

/// The quality of JPEG files, of 100.
const QUALITY: u8 = 95;

/// What a picture's name ends in.
const NAMES: [&str; 6] = [".png", ".jpg", ".jpeg", ".pgm", ".ppm", ".pnm"];

/// A picture whose header was read.
#[derive(Clone, Debug)]
pub struct Picture {
    path: PathBuf,
    format: ImageFormat,
    width: usize,
    height: usize,
    /// Bytes of a pixel: 1 or 3.
    channels: usize,
}

impl Picture {
    /// The picture that a command line asks to blur; `None` if its files are NumPy arrays, or
    /// there are none. Only headers are read.
    ///
    /// # Errors
    ///
    /// A picture for another kernel, or without an output; an input or an output that is none.
    pub fn asked(cli: &Cli) -> Result<Option<Picture>> {
        let takes_pictures = cli.kernels == [KERNEL];
        let is_input = |path: &&PathBuf| if takes_pictures { !npy::is_array(path) } else { is_picture(path) };
        let (input, output) = (cli.inputs.iter().find(is_input), cli.output.as_ref());
        let Some(named) = input.or(output.filter(|path| format_of(path).is_some())) else { return Ok(None) };
        ensure!(
            takes_pictures,
            "{} is a picture, which only --kernel {KERNEL} takes and writes; other kernels have NumPy arrays",
            named.display()
        );
        let [input] = &cli.inputs[..] else {
            bail!("kernel `{KERNEL}` makes one picture of one; give --input once, with the picture's path");
        };
        ensure!(
            is_input(&input),
            "{} is a NumPy array, and {} a picture; give --input a picture too, or --output a name that ends in .npy",
            input.display(),
            named.display()
        );
        let picture = Picture::describe(input)?;
        let output =
            output.with_context(|| format!("give --output the path for the blurred picture of {}", input.display()))?;
        ensure!(format_of(output).is_some(), PictureError::Name { path: output.clone() });
        ensure!(
            cli.variants.iter().all(|variant| variant.name != "CHANNELS"),
            "{} says how many channels it has; leave --variant CHANNELS out",
            input.display()
        );
        Ok(Some(picture))
    }

    /// Reads and checks a picture's header.
    fn describe(path: &Path) -> Result<Self, PictureError> {
        let (format, decoder) = open(path)?;
        let colour = decoder.color_type();
        let channels = match colour {
            ColorType::L8 => 1,
            ColorType::Rgb8 => 3,
            other => return Err(PictureError::Pixels { path: path.to_owned(), found: name_of(other) }),
        };
        let (width, height) = decoder.dimensions();
        let bytes = u128::from(width) * u128::from(height) * channels as u128;
        if bytes == 0 || bytes > u128::from(MOST_BYTES) {
            return Err(PictureError::Size { path: path.to_owned(), width, height, channels });
        }
        Ok(Picture { path: path.to_owned(), format, width: width as usize, height: height as usize, channels })
    }

    /// Bytes of a pixel: 1 or 3.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Its bytes, row after row.
    pub fn shape(&self) -> Shape {
        Shape::Matrix { height: self.height, width: self.width * self.channels }
    }

    /// Reads all of its bytes.
    ///
    /// # Errors
    ///
    /// A file that is truncated, or not the one any more whose header was read.
    ///
    /// # Panics
    ///
    /// If the elements are no bytes.
    pub fn read<T: Value>(&self) -> Result<Vec<T>, PictureError> {
        let damaged = |reason: String| PictureError::Damaged { path: self.path.clone(), reason };
        let (_, decoder) = open(&self.path)?;
        let mut values = vec![T::zero(); self.shape().elements()];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
        if decoder.total_bytes() != bytes.len() as u64 {
            return Err(damaged("it has changed since its header was read".to_owned()));
        }
        decoder.read_image(bytes).map_err(|error| refusal(&self.path, error))?;
        // The decoders fill up what is missing at the end of some files.
        let file = std::fs::read(&self.path);
        let file = file.map_err(|source| PictureError::Read { path: self.path.clone(), source })?;
        if whole::is_whole(self.format, &file) { Ok(values) } else { Err(damaged("its end is missing".to_owned())) }
    }

    /// Writes bytes of this picture's shape to a temporary file beside `path`, which then replaces
    /// `path` in one step; its name says the format.
    ///
    /// # Errors
    ///
    /// [`PictureError::Name`], [`PictureError::Write`]. Whatever was at `path` is then still there,
    /// unchanged.
    pub fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), PictureError> {
        let format = format_of(path).ok_or_else(|| PictureError::Name { path: path.to_owned() })?;
        let unwritable = |reason: String| PictureError::Write { path: path.to_owned(), reason };
        let partial = Partial::create(path).map_err(|error| unwritable(error.to_string()))?;
        let mut writer = BufWriter::new(partial.file());
        let (colour, subtype) = match self.channels {
            1 => (ExtendedColorType::L8, PnmSubtype::Graymap(SampleEncoding::Binary)),
            _ => (ExtendedColorType::Rgb8, PnmSubtype::Pixmap(SampleEncoding::Binary)),
        };
        // Those of a file's header.
        let (width, height) = (self.width as u32, self.height as u32);
        let encoded = match format {
            ImageFormat::Jpeg => {
                JpegEncoder::new_with_quality(&mut writer, QUALITY).write_image(bytes, width, height, colour)
            }
            ImageFormat::Pnm => {
                PnmEncoder::new(&mut writer).with_subtype(subtype).write_image(bytes, width, height, colour)
            }
            _ => PngEncoder::new(&mut writer).write_image(bytes, width, height, colour),
        };
        encoded.map_err(|error| unwritable(error.to_string()))?;
        let written = writer.flush();
        drop(writer);
        written.and_then(|()| partial.put()).map_err(|error| unwritable(error.to_string()))
    }
}

/// Checks that a picture can be put at `path`, before work is spent on it. Leaves nothing behind.
///
/// # Errors
///
/// [`PictureError::Write`].
pub fn check_writable(path: &Path) -> Result<(), PictureError> {
    let unwritable = |error: std::io::Error| PictureError::Write { path: path.to_owned(), reason: error.to_string() };
    Partial::create(path).map(drop).map_err(unwritable)
}

/// Opens a picture and reads its header.
fn open(path: &Path) -> Result<(ImageFormat, impl ImageDecoder), PictureError> {
    let unreadable = |source| PictureError::Read { path: path.to_owned(), source };
    let file = File::open(path).map_err(unreadable)?;
    let mut reader = ImageReader::new(BufReader::new(file)).with_guessed_format().map_err(unreadable)?;
    let format = reader.format().filter(ImageFormat::reading_enabled);
    let format = format.ok_or_else(|| PictureError::NoPicture { path: path.to_owned() })?;
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MOST_BYTES + ROOM);
    reader.limits(limits);
    Ok((format, reader.into_decoder().map_err(|error| refusal(path, error))?))
}

/// Why a decoder gives a file up.
fn refusal(path: &Path, error: ImageError) -> PictureError {
    match error {
        ImageError::Limits(_) => PictureError::Memory { path: path.to_owned() },
        other => PictureError::Damaged { path: path.to_owned(), reason: other.to_string() },
    }
}

/// Whether a file is a picture: by its content, or its name where it has no other content that is
/// known.
fn is_picture(path: &Path) -> bool {
    let content = || {
        let file = File::open(path).ok()?;
        ImageReader::new(BufReader::new(file)).with_guessed_format().ok()?.format()
    };
    !npy::is_array(path) && (format_of(path).is_some() || content().is_some())
}

/// The format that a name says.
fn format_of(path: &Path) -> Option<ImageFormat> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    let is_known = NAMES.iter().any(|name| name.strip_prefix('.') == Some(&extension));
    if is_known { ImageFormat::from_extension(extension) } else { None }
}

fn name_of(colour: ColorType) -> &'static str {
    match colour {
        ColorType::La8 => "8-bit grey with alpha",
        ColorType::Rgba8 => "8-bit RGB with alpha",
        ColorType::L16 => "16-bit grey",
        ColorType::La16 => "16-bit grey with alpha",
        ColorType::Rgb16 => "16-bit RGB",
        ColorType::Rgba16 => "16-bit RGB with alpha",
        _ => "another kind",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::data;

    /// A picture of random bytes, and its path in a folder.
    fn written(folder: &Path, name: &str, [height, width, channels]: [usize; 3]) -> (Picture, PathBuf, Vec<u8>) {
        let path = folder.join(name);
        let picture = Picture { path: path.clone(), format: ImageFormat::Png, width, height, channels };
        let bytes = data::generate(height * width * channels, 3).unwrap();
        picture.write(&path, &bytes).unwrap();
        (picture, path, bytes)
    }

    #[test]
    fn what_is_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.png", "a.PNG", "a.pgm", "a.ppm", "a.pnm", "a.jpg", "a.jpeg"] {
            for extents in [[1, 1, 1], [1, 1, 3], [7, 13, 1], [5, 4, 3]] {
                let (written, path, bytes) = written(folder.path(), name, extents);
                let found = Picture::describe(&path).unwrap();
                assert_eq!((found.shape(), found.channels()), (written.shape(), written.channels()), "{name}");
                let read: Vec<u8> = found.read().unwrap();
                assert!(read == bytes || name.contains(".jp"), "{name} of {extents:?}");
            }
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 7, "nothing else is left");
    }

    #[test]
    fn a_picture_that_is_cut_off_anywhere_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.png", "a.pgm", "a.jpg"] {
            let (_, path, _) = written(folder.path(), name, [9, 8, 1]);
            let whole = std::fs::read(&path).unwrap();
            for length in 0..whole.len() {
                std::fs::write(&path, &whole[..length]).unwrap();
                let read = Picture::describe(&path).and_then(|picture| picture.read::<u8>());
                let error = read.expect_err(&format!("{name} of {length} bytes")).to_string();
                assert!(error.contains("truncated") || (length < 16 && error.contains("is no PNG")), "{error}");
            }
        }
    }

    #[test]
    fn a_name_says_the_format_in_which_a_picture_is_written() {
        for (name, format) in [("a.png", ImageFormat::Png), ("a.b.JPG", ImageFormat::Jpeg), ("a.ppm", ImageFormat::Pnm)]
        {
            assert_eq!(format_of(Path::new(name)), Some(format), "{name}");
        }
        for name in ["png", ".png", "a", "a.npy", "a.webp", "a.pam", "a.png.gz"] {
            assert_eq!(format_of(Path::new(name)), None, "{name}");
        }
    }
}
