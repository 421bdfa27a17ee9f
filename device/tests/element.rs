//! What can be an element, how large it is, and that its bytes survive the way through a kernel.
#![forbid(unsafe_code)]

use bytemuck::Pod;
use static_assertions::{assert_impl_all, assert_not_impl_any, const_assert_eq};
use tilepipe::{
    Block, CpAsync, Element, Engine, LoadStore, Shared, Stages, Tiles, TilesMut, Uniform, Vec4, VectorLane, bf16, f16,
    kernel,
};
use tilepipe_host::{Device, Schedule};

/// A struct with a field of every width below 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Record {
    time: u64,
    channel: u32,
    level: f16,
    flags: [u8; 2],
}

/// A struct of elements, one of them a derived one.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Nested(Point, f32);

/// A tuple struct of 12 bytes, whose size is no power of two.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Point([f32; 3]);

/// A struct that is its only field.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(transparent)]
pub struct Meters(f64);

/// A struct that is more aligned than its fields are.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C, align(8))]
pub struct Aligned {
    low: u32,
    high: u32,
}

/// A struct without alignment. Its field is read by value.
#[derive(Clone, Copy, Element)]
#[repr(C, packed)]
pub struct Packed {
    tag: u8,
    value: u64,
}

/// A lane of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Pixel {
    rgb: [u8; 3],
    r#type: u8,
}

/// A struct whose names are those that the derive could have chosen for itself.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct T {
    value: f32,
    field_0: f32,
}

#[test]
fn all_plain_numbers_are_elements_and_as_large_as_in_cuda() {
    assert_impl_all!(u8: Element, Pod, Uniform, Send, Sync, VectorLane<1>);
    assert_impl_all!(i8: Element, VectorLane<1>);
    assert_impl_all!(u16: Element, VectorLane<2>);
    assert_impl_all!(i16: Element, VectorLane<2>);
    assert_impl_all!(f16: Element, Pod, Uniform, VectorLane<2>);
    assert_impl_all!(bf16: Element, Pod, Uniform, VectorLane<2>);
    assert_impl_all!(u32: Element, VectorLane<4>);
    assert_impl_all!(i32: Element, VectorLane<4>);
    assert_impl_all!(f32: Element, VectorLane<4>);
    assert_impl_all!(u64: Element, VectorLane<8>);
    assert_impl_all!(i64: Element, VectorLane<8>);
    assert_impl_all!(f64: Element, VectorLane<8>);
    assert_impl_all!(u128: Element, VectorLane<16>);
    assert_impl_all!(i128: Element, VectorLane<16>);
    const_assert_eq!(size_of::<f16>(), 2);
    const_assert_eq!(size_of::<bf16>(), 2);
    const_assert_eq!(align_of::<u64>(), 8);
    const_assert_eq!(align_of::<u128>(), 16);
}

#[test]
fn arrays_of_elements_are_elements() {
    assert_impl_all!([f32; 3]: Element);
    assert_impl_all!([u8; 16]: Element);
    assert_impl_all!([[f16; 2]; 4]: Element);
    assert_impl_all!([Pixel; 2]: Element);
    const_assert_eq!(size_of::<[f32; 3]>(), 12);
    const_assert_eq!(align_of::<[f32; 4]>(), 4);
}

#[test]
fn vectors_of_four_byte_lanes_fill_sixteen_bytes() {
    assert_impl_all!(Vec4<f32>: Element, Pod);
    assert_impl_all!(Vec4<[f16; 2]>: Element, Pod);
    assert_impl_all!(Vec4<[bf16; 2]>: Element);
    assert_impl_all!(Vec4<[i16; 2]>: Element);
    assert_impl_all!(Vec4<[i8; 4]>: Element);
    assert_impl_all!(Vec4<Pixel>: Element, Pod);
    const_assert_eq!(size_of::<Vec4<Pixel>>(), 16);
    const_assert_eq!(align_of::<Vec4<[f16; 2]>>(), 16);
}

#[test]
fn vectors_with_padding_are_no_elements() {
    assert_not_impl_any!(Vec4<u8>: Element, Pod);
    assert_not_impl_any!(Vec4<f16>: Element, Pod);
    assert_not_impl_any!(Vec4<f64>: Element, Pod);
    assert_not_impl_any!(Vec4<[u8; 3]>: Element, Pod);
}

#[test]
fn what_has_another_size_elsewhere_or_invalid_bit_patterns_is_no_element() {
    assert_not_impl_any!(usize: Element);
    assert_not_impl_any!(isize: Element);
    assert_not_impl_any!(bool: Element);
    assert_not_impl_any!(char: Element);
    assert_not_impl_any!(&'static u32: Element);
    assert_not_impl_any!((u32, u32): Element);
}

#[test]
fn derived_structs_are_plain_data_of_their_fields_size() {
    assert_impl_all!(Record: Element, Pod, Uniform, Send, Sync, VectorLane<16>);
    assert_impl_all!(Nested: Element, VectorLane<16>);
    assert_impl_all!(Point: Element, VectorLane<12>);
    assert_impl_all!(Meters: Element, VectorLane<8>);
    assert_impl_all!(Aligned: Element, VectorLane<8>);
    assert_impl_all!(Packed: Element, VectorLane<9>);
    assert_impl_all!(T: Element, VectorLane<8>);
    const_assert_eq!(align_of::<Aligned>(), 8);
    const_assert_eq!(align_of::<Packed>(), 1);
}

#[test]
fn a_derived_structs_bytes_are_those_of_its_fields_in_order() {
    let record =
        Record { time: 0x0807_0605_0403_0201, channel: 0x0c0b_0a09, level: f16::from_bits(0x0e0d), flags: [15, 16] };
    let bytes: [u8; 16] = std::array::from_fn(|i| i as u8 + 1);
    assert_eq!(bytemuck::bytes_of(&record), bytes);
    assert_eq!(bytemuck::cast::<[u8; 16], Record>(bytes), record);

    let packed = Packed { tag: 1, value: 0x0908_0706_0504_0302 };
    assert_eq!(bytemuck::bytes_of(&packed), &bytes[..9]);
    let Packed { tag, value } = bytemuck::cast(packed);
    assert_eq!((tag, value), (1, 0x0908_0706_0504_0302));
}

/// Copies every element as it is, through shared memory.
#[kernel(instances(
    T = [u8, f16, bf16, u128, [f32; 3], Record, Nested, Point, Meters, Aligned, Pixel, Vec4<Pixel>, Vec4<[f16; 2]>],
    E = [CpAsync, LoadStore]
))]
pub fn copied<T: Element, E: Engine>(
    block: Block<64>,
    input: Tiles<T, 64>,
    mut out: TilesMut<T, 64>,
    shared: Shared<Stages<[T; 64], 2, E>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).for_each(
        tiles.len(),
        |stage, i| stage.copy(tiles.get(i)),
        |tile, i| {
            let result = results.get_mut(i);
            block.threads(|t| result.set(&t, tile[t.rank()]));
        },
    );
}

/// Elements of a launch: three tiles, the last of them partial.
const LEN: usize = 150;

/// Elements of counted bytes, so that any two neighbours differ.
fn counted<T: Element>() -> Vec<T> {
    let bytes: Vec<u8> = (0..LEN * size_of::<T>()).map(|i| (i % 251) as u8).collect();
    bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}

macro_rules! round_trips {
    ($($name:ident: $element:ty),* $(,)?) => {$(
        #[test]
        fn $name() -> Result<(), tilepipe_host::Error> {
            let device = Device::cpu(Schedule::Lazy);
            let data = counted::<$element>();
            let (stream, input) = (device.stream()?, device.upload(&data)?);
            let mut out = device.zeroed::<$element>(LEN)?;
            copied::launch::<$element, CpAsync>(&stream, 2, &input, &mut out)?;
            assert_eq!(bytemuck::cast_slice::<_, u8>(&out.download()?), bytemuck::cast_slice::<_, u8>(&data));
            let mut out = device.zeroed::<$element>(LEN)?;
            copied::launch::<$element, LoadStore>(&stream, 2, &input, &mut out)?;
            assert_eq!(bytemuck::cast_slice::<_, u8>(&out.download()?), bytemuck::cast_slice::<_, u8>(&data));
            Ok(())
        }
    )*};
}

round_trips! {
    bytes_round_trip: u8,
    halves_round_trip: f16,
    brain_floats_round_trip: bf16,
    the_widest_integers_round_trip: u128,
    arrays_of_twelve_bytes_round_trip: [f32; 3],
    derived_structs_of_mixed_fields_round_trip: Record,
    nested_derived_structs_round_trip: Nested,
    derived_structs_of_twelve_bytes_round_trip: Point,
    transparent_structs_round_trip: Meters,
    overaligned_structs_round_trip: Aligned,
    derived_structs_of_bytes_round_trip: Pixel,
    vectors_of_derived_lanes_round_trip: Vec4<Pixel>,
    vectors_of_pairs_of_halves_round_trip: Vec4<[f16; 2]>,
}
