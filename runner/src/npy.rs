//! NumPy's `.npy` files as kernel inputs and outputs.
//!
//! A file of numbers is one-dimensional; one of vectors has the shape `(elements, 4)`. Both are little-endian and in C
//! order, as `numpy.save` writes them.

use std::fs::File;
use std::io::{self, BufWriter, Cursor, Read};
use std::path::{Path, PathBuf};

use ndarray::{ArrayD, ArrayView, IxDyn};
use ndarray_npy::npy::header::Header;
use ndarray_npy::{ReadNpyExt, WriteNpyExt};

use crate::value::{DType, Value};

/// Why a file cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NpyError {
    /// The file cannot be opened or read.
    #[error("cannot read {path}; give --input the path of a .npy file")]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's answer.
        source: io::Error,
    },
    /// The file does not begin with a whole, valid header.
    #[error("{path} is not a .npy file ({reason}); write one with numpy.save")]
    NotNpy {
        /// The file.
        path: PathBuf,
        /// What is wrong with its header.
        reason: String,
    },
    /// The array's type or shape is not one that kernels take.
    #[error("{path} holds an array of dtype {descriptor} and shape {shape}; kernels take {wanted}")]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// Its dtype as NumPy spells it.
        descriptor: String,
        /// Its shape.
        shape: String,
        /// What is allowed.
        wanted: String,
    },
    /// The array is in Fortran order.
    #[error("{path} holds an array in Fortran order; convert it with numpy.ascontiguousarray and save it again")]
    FortranOrder {
        /// The file.
        path: PathBuf,
    },
    /// The array has no elements.
    #[error("{path} holds an array of shape {shape}, which has no elements; at least 1 is needed")]
    Empty {
        /// The file.
        path: PathBuf,
        /// Its shape.
        shape: String,
    },
    /// The file's length does not match its header.
    #[error("{path} is {state}: its header promises {expected} bytes of data and {found} follow; write it again")]
    Length {
        /// The file.
        path: PathBuf,
        /// `truncated` or `too long`.
        state: &'static str,
        /// Bytes that the header promises.
        expected: u128,
        /// Bytes that follow the header.
        found: u64,
    },
    /// The output cannot be written.
    #[error("cannot write {path}: {reason}; give --output a path in a folder that can be written")]
    Write {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        reason: String,
    },
}

/// What a file's header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    /// The element type: a vector type for shape `(elements, 4)`.
    pub dtype: DType,
    /// The number of elements, at least 1.
    pub elements: usize,
}

/// Reads and checks a file's header and length, but not its data.
///
/// # Errors
///
/// Every [`NpyError`] but [`NpyError::Write`].
pub fn describe(path: &Path) -> Result<Description, NpyError> {
    let unreadable = |source| NpyError::Read { path: path.to_owned(), source };
    let file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(unreadable(io::ErrorKind::IsADirectory.into()));
    }
    let mut start = Vec::new();
    file.take(HEADER_LIMIT as u64).read_to_end(&mut start).map_err(unreadable)?;
    let (header, header_bytes) =
        parse_header(&start).map_err(|reason| NpyError::NotNpy { path: path.to_owned(), reason })?;
    let description = interpret(path, &header)?;
    let expected = description.elements as u128 * description.dtype.bytes() as u128;
    let found = metadata.len().saturating_sub(header_bytes as u64);
    if u128::from(found) != expected {
        let state = if u128::from(found) < expected { "truncated" } else { "too long" };
        return Err(NpyError::Length { path: path.to_owned(), state, expected, found });
    }
    Ok(description)
}

/// Reads all elements of a file.
///
/// # Errors
///
/// Every [`NpyError`] but [`NpyError::Write`]; [`NpyError::Unsupported`] also if the file holds another type than `T`.
pub fn read<T: Value>(path: &Path) -> Result<Vec<T>, NpyError> {
    let description = describe(path)?;
    let lanes = T::DTYPE.lanes();
    if description.dtype != T::DTYPE {
        return Err(NpyError::Unsupported {
            path: path.to_owned(),
            descriptor: description.dtype.name().to_owned(),
            shape: format!("({},)", description.elements),
            wanted: format!("{} here, as --dtype says", T::DTYPE),
        });
    }
    let file = File::open(path).map_err(|source| NpyError::Read { path: path.to_owned(), source })?;
    let array = ArrayD::<T::Lane>::read_npy(file)
        .map_err(|error| NpyError::NotNpy { path: path.to_owned(), reason: error.to_string() })?;
    let (numbers, _) = array.into_raw_vec_and_offset();
    Ok(numbers.chunks_exact(lanes).map(|chunk| T::from_lanes(|lane| chunk[lane])).collect())
}

/// Checks that a file can be put at `path`, before work is spent on what it will hold. Leaves nothing behind.
///
/// # Errors
///
/// [`NpyError::Write`].
pub fn check_writable(path: &Path) -> Result<(), NpyError> {
    temporary_beside(path).map(drop)
}

/// Writes all elements to a temporary file beside `path`, which then replaces `path` in one step.
///
/// # Errors
///
/// [`NpyError::Write`]; whatever was at `path` is then still there, unchanged.
pub fn write<T: Value>(path: &Path, values: &[T]) -> Result<(), NpyError> {
    let failed = |reason: String| NpyError::Write { path: path.to_owned(), reason };
    let lanes = T::DTYPE.lanes();
    let numbers: Vec<T::Lane> = values.iter().flat_map(|value| (0..lanes).map(move |lane| value.lane(lane))).collect();
    let shape = if lanes == 1 { vec![values.len()] } else { vec![values.len(), lanes] };
    let array = ArrayView::from_shape(IxDyn(&shape), &numbers).map_err(|error| failed(error.to_string()))?;
    let file = temporary_beside(path)?;
    array.write_npy(BufWriter::new(file.as_file())).map_err(|error| failed(error.to_string()))?;
    file.persist(path).map_err(|error| failed(error.error.to_string()))?;
    Ok(())
}

/// The most bytes that a header may have; NumPy's are around 128.
const HEADER_LIMIT: usize = 1 << 16;

/// The most brackets in a header. A dtype that kernels take has none, and the parser recurses at each.
const BRACKET_LIMIT: usize = 64;

fn parse_header(start: &[u8]) -> Result<(Header, usize), String> {
    let fixed: &[u8; 12] = start.first_chunk().ok_or("it is too short for a header")?;
    if !fixed.starts_with(b"\x93NUMPY") {
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

fn interpret(path: &Path, header: &Header) -> Result<Description, NpyError> {
    let descriptor = header.type_descriptor.to_string();
    let shape = shape_text(&header.shape);
    let scalar = match descriptor.trim_matches(['\'', '"']) {
        "<i4" => Some((DType::I32, Some(DType::I32x4))),
        "<u4" => Some((DType::U32, Some(DType::U32x4))),
        "<f4" => Some((DType::F32, Some(DType::F32x4))),
        "<f8" => Some((DType::F64, None)),
        _ => None,
    };
    let dtype = match (scalar, header.shape.as_slice()) {
        (Some((scalar, _)), [_]) => scalar,
        (Some((_, Some(vector))), [_, 4]) => vector,
        _ => {
            let wanted = "little-endian i32, u32, f32 or f64 of shape (n,), or i32, u32 or f32 of shape (n, 4)";
            let path = path.to_owned();
            return Err(NpyError::Unsupported { path, descriptor, shape, wanted: wanted.to_owned() });
        }
    };
    if header.layout.is_fortran() && header.shape.len() > 1 {
        return Err(NpyError::FortranOrder { path: path.to_owned() });
    }
    match header.shape[0] {
        0 => Err(NpyError::Empty { path: path.to_owned(), shape }),
        elements => Ok(Description { dtype, elements }),
    }
}

fn shape_text(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        many => format!("({})", many.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

fn temporary_beside(path: &Path) -> Result<tempfile::NamedTempFile, NpyError> {
    let failed = |reason: String| NpyError::Write { path: path.to_owned(), reason };
    if path.is_dir() || path.file_name().is_none() {
        return Err(failed("it is a folder".to_owned()));
    }
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tilepipe-").suffix(".npy.part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The usual permissions of a new file (less the umask), not those of a private temporary one.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder).map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
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
        write(&path, &values).unwrap();
        assert_eq!(describe(&path).unwrap(), Description { dtype: DType::F32x4, elements: 2 });
        assert_eq!(read::<Vec4<f32>>(&path).unwrap(), values);
        write(&path, &[7u32, 8, 9]).unwrap();
        assert_eq!(read::<u32>(&path).unwrap(), [7, 8, 9]);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
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
        assert!(message(&npy(&f4("(2, 3)"), &[0; 24])).contains("(2, 3)"));
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
        assert!(write(folder.path(), &[1i32]).unwrap_err().to_string().contains("folder"));
        assert!(check_writable(&folder.path().join("no/such/a.npy")).is_err());
    }

    fn little_endian(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }
}
