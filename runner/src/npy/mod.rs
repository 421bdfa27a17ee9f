//! NumPy's `.npy` files as kernel inputs and outputs.
//!
//! A row of numbers has the shape `(elements,)`, a matrix `(height, width)`, a batch of matrices
//! `(matrices, height, width)`. Vectors add a last dimension, of 4 or 3; complex numbers are
//! NumPy's own `complex64`. All are little-endian and in C order, as `numpy.save` writes them.

mod error;

use std::fs::File;
use std::io::{self, BufWriter, Cursor, Read, Seek, SeekFrom, Write};
use std::path::Path;

use ndarray_npy::npy::header::Header;

use crate::output::Partial;
use crate::value::{DType, Value};
use crate::work::Shape;

pub use error::NpyError;

// Elements go from file to memory as they are.
const _: () =
    assert!(cfg!(target_endian = "little"), "NumPy files are read and written on little-endian machines only");

/// One way to take an array's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The element type.
    pub dtype: DType,
    /// The arrangement of the elements.
    pub shape: Shape,
}

/// Reads and checks a file's header and length, but not its data. Returns the ways to take its
/// elements: an array of shape `(n, 4)` may be a matrix of numbers and a row of vectors.
///
/// # Errors
///
/// Every [`NpyError`] but [`NpyError::Write`] and [`NpyError::NoSuchType`].
pub fn describe(path: &Path) -> Result<Vec<Reading>, NpyError> {
    Ok(open(path)?.1)
}

/// Reads all elements of a file, row after row.
///
/// # Errors
///
/// As [`describe`]; [`NpyError::Unsupported`] also if the file holds another type than `T`.
pub fn read<T: Value>(path: &Path) -> Result<Vec<T>, NpyError> {
    let (mut file, readings) = open(path)?;
    let Some(reading) = readings.iter().find(|reading| reading.dtype == T::DTYPE) else {
        let (path, first) = (path.to_owned(), readings[0]);
        let (descriptor, shape) = (first.dtype.to_string(), first.shape.to_string());
        return Err(NpyError::Unsupported { path, descriptor, shape, wanted: format!("{} here", T::DTYPE) });
    };
    let mut values = vec![T::zero(); reading.shape.elements()];
    file.read_exact(bytemuck::cast_slice_mut(&mut values))
        .map_err(|source| NpyError::Read { path: path.to_owned(), source })?;
    Ok(values)
}

/// Checks that a file of such elements can be put at `path`, before work is spent on what it will
/// hold. Leaves nothing behind.
///
/// # Errors
///
/// [`NpyError::Write`], [`NpyError::NoSuchType`].
pub fn check_writable(path: &Path, dtype: DType) -> Result<(), NpyError> {
    dtype.numpy().ok_or(NpyError::NoSuchType { dtype })?;
    partial(path).map(drop)
}

/// Writes all elements to a temporary file beside `path`, which then replaces `path` in one step. A
/// symbolic link stays, and what it leads to is replaced.
///
/// # Errors
///
/// [`NpyError::Write`], also if what is at `path` is no regular file; [`NpyError::NoSuchType`].
/// Whatever was at `path` is then still there, unchanged.
pub fn write<T: Value>(path: &Path, values: &[T], shape: Shape) -> Result<(), NpyError> {
    let (descriptor, lanes) = T::DTYPE.numpy().ok_or(NpyError::NoSuchType { dtype: T::DTYPE })?;
    let mut dimensions = match shape {
        Shape::Row(elements) => vec![elements],
        Shape::Matrix { height, width } => vec![height, width],
        Shape::Batch { matrices, height, width } => vec![matrices, height, width],
    };
    dimensions.extend(lanes);
    let partial = partial(path)?;
    let write = || {
        let mut writer = BufWriter::new(partial.file());
        writer.write_all(&header(descriptor, &dimensions))?;
        writer.write_all(bytemuck::cast_slice(values))?;
        writer.flush()
    };
    write().and_then(|()| partial.put()).map_err(|error| unwritable(path, &error))
}

/// Whether a file is an array, or is meant to be one: by its name, or else by its first bytes.
pub fn is_array(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    let mut begins_so = || File::open(path)?.read_exact(&mut start).map(|()| start == *MAGIC);
    path.extension().is_some_and(|extension| extension == "npy") || begins_so().unwrap_or(false)
}

/// Opens a file and reads its header; what is read next is the data.
fn open(path: &Path) -> Result<(File, Vec<Reading>), NpyError> {
    let unreadable = |source| NpyError::Read { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(unreadable(io::ErrorKind::IsADirectory.into()));
    }
    let mut start = Vec::new();
    Read::by_ref(&mut file).take(HEADER_LIMIT as u64).read_to_end(&mut start).map_err(unreadable)?;
    let (header, header_bytes) =
        parse_header(&start).map_err(|reason| NpyError::NotNpy { path: path.to_owned(), reason })?;
    file.seek(SeekFrom::Start(header_bytes as u64)).map_err(unreadable)?;
    let found = metadata.len().saturating_sub(header_bytes as u64);
    Ok((file, interpret(path, &header, found)?))
}

/// What a file begins with.
const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The most bytes that a header may have; NumPy's are around 128.
const HEADER_LIMIT: usize = 1 << 16;

/// The most brackets in a header. A dtype that kernels take has none, and the parser recurses at
/// each.
const BRACKET_LIMIT: usize = 64;

fn parse_header(start: &[u8]) -> Result<(Header, usize), String> {
    let fixed: &[u8; 12] = start.first_chunk().ok_or("it is too short for a header")?;
    if !fixed.starts_with(MAGIC) {
        return Err("it does not begin with \\x93NUMPY".to_owned());
    }
    let (prefix, length) = match fixed[6] {
        1 => (10, usize::from(u16::from_le_bytes([fixed[8], fixed[9]]))),
        _ => (12, u32::from_le_bytes([fixed[8], fixed[9], fixed[10], fixed[11]]) as usize),
    };
    let total = prefix + length;
    let header = start.get(..total).ok_or_else(|| format!("its header of {length} bytes is cut off or too long"))?;
    if header.iter().filter(|byte| b"([{".contains(byte)).count() > BRACKET_LIMIT {
        return Err("its header describes a structured type".to_owned());
    }
    let header = Header::from_reader(&mut Cursor::new(header)).map_err(|error| error.to_string())?;
    Ok((header, total))
}

/// The ways to take an array of which `found` bytes of data follow the header; at least one.
fn interpret(path: &Path, header: &Header, found: u64) -> Result<Vec<Reading>, NpyError> {
    let path = || path.to_owned();
    let descriptor = header.type_descriptor.to_string();
    let (name, dimensions) = (descriptor.trim_matches(['\'', '"']), header.shape.as_slice());
    let fitting: Vec<(DType, &[usize])> = DType::ALL
        .into_iter()
        .filter_map(|dtype| match dtype.numpy()? {
            (wanted, _) if wanted != name => None,
            (_, None) => Some((dtype, dimensions)),
            (_, Some(lanes)) => {
                dimensions.split_last().filter(|(last, _)| **last == lanes).map(|(_, rest)| (dtype, rest))
            }
        })
        .filter(|(_, dimensions)| (1..=3).contains(&dimensions.len()))
        .collect();
    let shape = shape_text(dimensions);
    let Some((first, rest)) = fitting.first() else {
        return Err(NpyError::Unsupported { path: path(), descriptor, shape, wanted: wanted() });
    };
    if header.layout.is_fortran() && dimensions.len() > 1 {
        return Err(NpyError::FortranOrder { path: path() });
    }
    if dimensions.contains(&0) {
        return Err(NpyError::Empty { path: path(), shape });
    }
    let expected = rest.iter().fold(first.bytes() as u128, |bytes, extent| bytes.saturating_mul(*extent as u128));
    if u128::from(found) != expected {
        let state = if u128::from(found) < expected { "truncated" } else { "too long" };
        return Err(NpyError::Length { path: path(), state, expected, found });
    }
    let reading = |(dtype, dimensions): (DType, &[usize])| {
        let shape = match *dimensions {
            [height, width] => Shape::Matrix { height, width },
            [matrices, height, width] => Shape::Batch { matrices, height, width },
            _ => Shape::Row(dimensions[0]),
        };
        Reading { dtype, shape }
    };
    Ok(fitting.into_iter().map(reading).collect())
}

/// What kernels take, for messages.
fn wanted() -> String {
    let numbers: Vec<&str> = DType::ALL
        .into_iter()
        .filter(|dtype| dtype.numpy().is_some_and(|(_, lanes)| lanes.is_none()))
        .map(DType::name)
        .collect();
    format!(
        "little-endian {} of shape (n,), (height, width) or (matrices, height, width), and vectors of i32, u32 or f32 with one \
         dimension of 4 (f32: or 3) more",
        numbers.join(", ")
    )
}

/// The header of a file of format 1.0, filled up to a multiple of 64 bytes.
fn header(descriptor: &str, dimensions: &[usize]) -> Vec<u8> {
    let shape = shape_text(dimensions);
    let dictionary = format!("{{'descr': '{descriptor}', 'fortran_order': False, 'shape': {shape}, }}");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    let total = (bytes.len() + 2 + dictionary.len() + 1).next_multiple_of(64);
    // Four numbers at most: far from what 16 bits can't count.
    bytes.extend_from_slice(&((total - bytes.len() - 2) as u16).to_le_bytes());
    bytes.extend_from_slice(dictionary.as_bytes());
    bytes.resize(total - 1, b' ');
    bytes.push(b'\n');
    bytes
}

fn shape_text(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        many => format!("({})", many.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// Creates the file that will replace `path` when it is whole.
fn partial(path: &Path) -> Result<Partial, NpyError> {
    Partial::create(path).map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &Path, error: &io::Error) -> NpyError {
    NpyError::Write { path: path.to_owned(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    use ndarray::ArrayD;
    use tilepipe::Vec4;

    fn file(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    fn npy(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend_from_slice(&(header.len() as u16 + 1).to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        bytes.push(b'\n');
        bytes.extend_from_slice(data);
        bytes
    }

    fn message(bytes: &[u8]) -> String {
        let (_folder, path) = file("a.npy", bytes);
        read::<f32>(&path).unwrap_err().to_string()
    }

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("v.npy");
        let values = [Vec4([1.5f32, -0.0, f32::INFINITY, 4.0]), Vec4([5.0, 6.0, 7.0, 8.0])];
        write(&path, &values, Shape::Row(2)).unwrap();
        let matrix = Reading { dtype: DType::F32, shape: Shape::Matrix { height: 2, width: 4 } };
        assert_eq!(describe(&path).unwrap(), [matrix, Reading { dtype: DType::F32x4, shape: Shape::Row(2) }]);
        assert_eq!(read::<Vec4<f32>>(&path).unwrap(), values);
        write(&path, &[7u8, 8, 9, 10, 11, 12], Shape::Matrix { height: 3, width: 2 }).unwrap();
        assert_eq!(read::<u8>(&path).unwrap(), [7, 8, 9, 10, 11, 12]);
        assert_eq!(describe(&path).unwrap()[0].shape, Shape::Matrix { height: 3, width: 2 });
        let batch = Shape::Batch { matrices: 3, height: 1, width: 2 };
        write(&path, &[0i32, 1, 2, 3, 4, 5], batch).unwrap();
        assert_eq!(read::<i32>(&path).unwrap(), [0, 1, 2, 3, 4, 5]);
        assert_eq!(describe(&path).unwrap(), [Reading { dtype: DType::I32, shape: batch }]);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn another_reader_of_numpy_files_reads_what_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("v.npy");
        write(&path, &[[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]], Shape::Matrix { height: 1, width: 2 }).unwrap();
        let array: ArrayD<f32> = ndarray_npy::read_npy(&path).unwrap();
        assert_eq!((array.shape(), array[[0, 1, 2]]), ([1, 2, 3].as_slice(), 6.0));
        write(&path, &[-1i64, 1 << 40], Shape::Row(2)).unwrap();
        let array: ArrayD<i64> = ndarray_npy::read_npy(&path).unwrap();
        assert_eq!((array.shape(), array[[1]]), ([2].as_slice(), 1 << 40));
        assert_eq!(std::fs::read(&path).unwrap().len(), 128 + 16, "the data begins at a multiple of 64");
    }

    #[test]
    fn types_that_numpy_does_not_have_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("v.npy");
        assert!(write(&path, &[1u128], Shape::Row(1)).unwrap_err().to_string().contains("u128"));
        assert!(check_writable(&path, DType::BF16).unwrap_err().to_string().contains("--dtype"));
        check_writable(&path, DType::F16).unwrap();
    }

    #[test]
    fn bytes_as_numpy_writes_them_are_read() {
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }          ";
        let (_folder, path) = file("a.npy", &npy(header, &little_endian(&[1.0, 2.5])));
        assert_eq!(read::<f32>(&path).unwrap(), [1.0, 2.5]);
    }

    #[test]
    fn each_bad_file_has_its_own_message() {
        let f4 = |shape: &str| format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
        assert!(message(b"").contains("too short"));
        assert!(message(b"1,2,3\n4,5,6\n").contains("does not begin with"));
        assert!(message(b"\x93NUMPY\x01\x00\xff\xff{'descr").contains("cut off"));
        assert!(message(b"\x93NUMPY\x09\x00\x01\x00\x00\x00{}\n").contains("version"));
        assert!(message(&npy(&"(".repeat(60_000), b"")).contains("structured"));
        assert!(message(&npy("{'descr': ", b"")).contains("not a .npy file"));
        assert!(message(&npy(&f4("(2,)"), &[0; 7])).contains("truncated"));
        assert!(message(&npy(&f4("(2,)"), &[0; 9])).contains("too long"));
        assert!(message(&npy(&f4("(0,)"), b"")).contains("no elements"));
        assert!(message(&npy(&f4("()"), &[0; 4])).contains("shape ()"));
        assert!(message(&npy(&f4("(2, 3, 5, 7)"), &[0; 840])).contains("(2, 3, 5, 7)"));
        assert!(message(&npy(&f4("(18446744073709551615,)"), b"")).contains("truncated"));
        assert!(message(&npy(&f4("(99999999999999999999999,)"), b"")).contains("shape"));
        assert!(message(&npy(&f4("(2,)").replace("<f4", "<i4"), &[0; 8])).contains("i32"));
        assert!(message(&npy(&f4("(2,)").replace("<f4", ">f4"), &[0; 8])).contains("little-endian"));
        assert!(message(&npy(&f4("(2, 4)").replace("False", "True"), &[0; 32])).contains("Fortran"));
    }

    #[test]
    fn a_missing_file_and_a_folder_are_messages() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read::<i32>(&folder.path().join("none.npy")).unwrap_err().to_string().contains("cannot read"));
        assert!(read::<i32>(folder.path()).is_err());
        assert!(write(folder.path(), &[1i32], Shape::Row(1)).unwrap_err().to_string().contains("folder"));
        assert!(check_writable(&folder.path().join("no/such/a.npy"), DType::I32).is_err());
    }

    fn little_endian(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }
}
