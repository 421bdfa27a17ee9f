//! Products of matrices that lie in memory of all kinds, by the host functions: in part of a
//! buffer, in memory of somebody else's, in slices of cudarc's.

use std::ops::Range;

use tilepipe::bf16;
use tilepipe_host::cudarc::driver::CudaContext;
use tilepipe_host::{CudaRows, CudaRowsMut, Device, Error, ForeignRows, ForeignRowsMut, Schedule};
use tilepipe_kernels::{Epilogue, Matrix, MultiplyError, multiply, multiply_fused};

use super::numbers;

/// Rows of the product.
const ROWS: usize = 40;
/// Its columns.
const COLUMNS: usize = 56;
/// Terms of each element.
const DEEP: usize = 72;
/// Elements from one row to the next one: more than a row of any of the matrices.
const PITCH: usize = 96;
/// Rows above each matrix.
const ABOVE: usize = 3;
/// Elements before each of its rows: a multiple of 16 bytes.
const BEFORE: usize = 8;
/// What lies where no matrix is.
const AROUND: u16 = 0x7F80;

/// Rows of a matrix amid other elements, whose own are small whole numbers: sums of their products
/// are exact.
struct Amid {
    elements: Vec<bf16>,
    rows: Range<usize>,
    columns: Range<usize>,
}

impl Amid {
    /// A matrix of the numbers that `seed` says.
    fn new([rows, columns]: [usize; 2], seed: u64) -> Amid {
        let elements = vec![bf16::from_bits(AROUND); (rows + 2 * ABOVE) * PITCH];
        let mut amid = Amid { elements, rows: ABOVE..ABOVE + rows, columns: BEFORE..BEFORE + columns };
        for (place, number) in amid.places().zip(numbers(rows * columns, seed, 7)) {
            amid.elements[place] = bf16::from_f32(number as f32 - 3.0);
        }
        amid
    }

    /// Where its elements lie.
    fn places(&self) -> impl Iterator<Item = usize> + use<> {
        let (rows, columns) = (self.rows.clone(), self.columns.clone());
        rows.flat_map(move |row| columns.clone().map(move |column| row * PITCH + column))
    }

    fn at(&self, row: usize, column: usize) -> f32 {
        self.elements[(self.rows.start + row) * PITCH + self.columns.start + column].into()
    }
}

/// The factors, and what all of the product's elements have to be, those around it included.
fn factors() -> (Amid, Amid, Vec<u16>) {
    let (left, right) = (Amid::new([ROWS, DEEP], 1), Amid::new([COLUMNS, DEEP], 2));
    let mut product = Amid::new([ROWS, COLUMNS], 3);
    for (nth, place) in product.places().enumerate() {
        let (row, column) = (nth / COLUMNS, nth % COLUMNS);
        let sum: f32 = (0..DEEP).map(|term| left.at(row, term) * right.at(column, term)).sum();
        product.elements[place] = bf16::from_f32(sum);
    }
    (left, right, product.elements.into_iter().map(bf16::to_bits).collect())
}

/// As many elements as the product has with those around it.
fn nothing() -> Vec<bf16> {
    vec![bf16::from_bits(AROUND); (ROWS + 2 * ABOVE) * PITCH]
}

fn bits(elements: &[bf16]) -> Vec<u16> {
    elements.iter().map(|element| element.to_bits()).collect()
}

/// Multiplies parts of buffers, into part of a third one.
///
/// # Errors
///
/// What the device says.
///
/// # Panics
///
/// If an element of the product or around it is another one.
pub fn check_parts_of_buffers(device: &Device) -> Result<(), MultiplyError> {
    let (left, right, expected) = factors();
    let [a, b] = [&left, &right].map(|factor| device.upload(&factor.elements));
    let (a, b, mut out) = (a?, b?, device.upload(&nothing())?);
    let a = Matrix::of(a.rows(PITCH)?.slice(left.rows.clone(), left.columns)?);
    let b = Matrix::transposed(b.rows(PITCH)?.slice(right.rows, right.columns)?);
    let stream = device.stream()?;
    // The same factors are used twice, and so is what becomes of their product.
    for epilogue in [Some(Epilogue::new().scale(2.0)), None] {
        let product = out.rows_mut(PITCH)?.slice_mut(left.rows.clone(), BEFORE..BEFORE + COLUMNS)?;
        match epilogue {
            Some(epilogue) => multiply_fused(&stream, a, b, epilogue, product)?,
            None => multiply(&stream, a, b, product)?,
        }
    }
    assert_eq!(bits(&out.download()?), expected);
    Ok(())
}

/// Multiplies matrices in memory of this process on the CPU.
///
/// # Errors
///
/// What the launch says.
///
/// # Panics
///
/// If an element of the product or around it is another one, or a matrix that no map takes is not
/// refused.
pub fn check_foreign_rows() -> Result<(), MultiplyError> {
    let device = Device::cpu(Schedule::Lazy);
    let (left, right, expected) = factors();
    // In memory that starts at a multiple of 16 bytes.
    let [a, b, mut out] = [&left.elements, &right.elements, &nothing()]
        .map(|elements| bytemuck::pod_collect_to_vec::<u16, u128>(&bits(elements)));
    let [start, of_b] = [&a, &b].map(|matrix| matrix.as_ptr().expose_provenance() as u64 + at_first());
    // SAFETY: (0) at these addresses lie rows of so many elements, amid others of their vector; (1)
    // the vectors outlive the launch, which is done when it returns; (2) and are not used
    // meanwhile.
    let a = unsafe { ForeignRows::<bf16>::new(&device, start, [ROWS, DEEP], PITCH) }?;
    // SAFETY: as for the left factor.
    let b = unsafe { ForeignRows::<bf16>::new(&device, of_b, [COLUMNS, DEEP], PITCH) }?;
    let address = out.as_mut_ptr().expose_provenance() as u64 + at_first();
    // SAFETY: as for the left factor.
    let mut product = unsafe { ForeignRowsMut::<bf16>::new(&device, address, [ROWS, COLUMNS], PITCH) }?;
    multiply(&device.stream()?, Matrix::of(&a), Matrix::transposed(&b), &mut product)?;
    assert_eq!(bytemuck::cast_slice::<u128, u16>(&out), expected);

    // SAFETY: as above, from the second column on.
    let shifted = unsafe { ForeignRows::<bf16>::new(&device, start + 2, [ROWS, DEEP], PITCH) }?;
    let error = multiply(&device.stream()?, Matrix::of(&shifted), Matrix::transposed(&b), &mut product).unwrap_err();
    assert!(matches!(error, MultiplyError::Launch(Error::Misaligned { .. })), "{error}");
    Ok(())
}

/// The bytes before a matrix's first element.
fn at_first() -> u64 {
    ((ABOVE * PITCH + BEFORE) * size_of::<bf16>()) as u64
}

/// Multiplies matrices in slices of cudarc's on GPU 0, on which `load` loads the kernels.
///
/// # Errors
///
/// What the device says.
///
/// # Panics
///
/// If an element of the product or around it is another one, or cudarc cannot do its part.
pub fn check_rows_of_cudarc(load: impl FnOnce(&Device)) -> Result<(), MultiplyError> {
    let context = CudaContext::new(0).unwrap();
    let device = Device::from_cudarc(&context)?;
    load(&device);
    let [home, other] = [(); 2].map(|()| context.new_stream().unwrap());
    let (left, right, expected) = factors();
    let [a, b, mut out] =
        [&left.elements, &right.elements, &nothing()].map(|elements| home.clone_htod(&bits(elements)).unwrap());
    let len = expected.len();
    // In the stream that the memory is of, and in another one.
    for stream in [&home, &other] {
        home.memcpy_htod(&bits(&nothing()), &mut out).unwrap();
        let stream = device.stream_from_cudarc(stream)?;
        // SAFETY: elements of `bf16` have as many bytes as those of `u16`, and each value is one.
        let [a, b] = [&a, &b].map(|factor| unsafe { factor.transmute::<bf16>(factor.len()) }.unwrap());
        let a = CudaRows::new(a, PITCH)?.slice(left.rows.clone(), left.columns.clone())?;
        let b = CudaRows::new(b, PITCH)?.slice(right.rows.clone(), right.columns.clone())?;
        // SAFETY: as for the factors.
        let all = unsafe { out.transmute_mut::<bf16>(len) }.unwrap();
        let mut product = CudaRowsMut::new(all, PITCH)?.slice_mut(left.rows.clone(), BEFORE..BEFORE + COLUMNS)?;
        multiply(&stream, Matrix::of(&a), Matrix::transposed(&b), &mut product)?;
        assert_eq!(home.clone_dtoh(&out).unwrap(), expected);
    }
    Ok(())
}
