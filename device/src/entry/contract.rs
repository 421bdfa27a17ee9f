//! A kernel's contract: what host and GPU must agree on, as text in the compiled module.
//!
//! The text follows from the kernel function's type alone. On the GPU [`enter`](super::enter) hands
//! it to the builder, which writes it beside the entry point that runs that function; the launch
//! compares it with the text that the host's function has. So a stale module, another crate's
//! kernel of the same name, or a signature that differs from target to target is found before
//! anything runs.

use core::marker::PhantomData;

use super::LAUNCH_BYTES;
use super::function::KernelFunction;
use super::parameter::ParameterLayout;
use crate::fault::Text;
use crate::isa::ContractText;

/// The bytes of all parameters, each of which starts at a multiple of its alignment.
const fn bytes(parameters: &[ParameterLayout]) -> usize {
    let (mut bytes, mut at) = (0_usize, 0);
    while at < parameters.len() {
        let [size, alignment] = parameters[at].passed;
        // Less than the address space: eight sizes of types, each below an eighth of it.
        bytes = bytes.next_multiple_of(alignment) + size;
        at += 1;
    }
    bytes
}

/// Refuses more parameters than a launch carries.
const fn check(parameters: &[ParameterLayout]) {
    let bytes = bytes(parameters);
    if bytes <= LAUNCH_BYTES {
        return;
    }
    let text = Text::new().text("the parameters of this kernel have ").number(bytes);
    let text = text.text(" bytes, and a launch carries ").number(LAUNCH_BYTES);
    let text = text.text(" at most: pass what is large in a buffer, as a view");
    text.fail()
}

/// The contract of a kernel: fields `name=value`, separated by `;`.
///
/// ```text
/// tilepipe=0.1.0;threads=256;shared=2048/16;1=in 4/4 1x256 16/0 16/8;2=out 4/4 1x256 4/0 16/8
/// ```
///
/// `shared` has bytes and alignment. A parameter has how it is used, with the type of what is
/// reduced to; bytes and alignment of an element; rows and columns of a tile (1 and 1 of a value),
/// or as many numbers as a tensor has dimensions; the alignment of its base and of its rows (0 for
/// one dimension); bytes and alignment of what is passed.
pub(super) const fn contract(threads: usize, shared: (usize, usize), parameters: &[ParameterLayout]) -> Text {
    check(parameters);
    let mut text = Text::new().text("tilepipe=").text(env!("CARGO_PKG_VERSION"));
    text = text.text(";threads=").number(threads);
    text = text.text(";shared=").number(shared.0).text("/").number(shared.1);
    let mut at = 0;
    while at < parameters.len() {
        let one = &parameters[at];
        at += 1;
        text = text.text(";").number(at).text("=").text(one.kind).text(one.element);
        text = text.text(" ").number(one.size).text("/").number(one.element_alignment);
        let mut dimension = one.dimensions;
        while dimension > 0 {
            text = text.text(if dimension == one.dimensions { " " } else { "x" });
            dimension -= 1;
            text = text.number(one.extents[dimension]);
        }
        text = text.text(" ").number(one.alignment).text("/").number(one.row_alignment);
        text = text.text(" ").number(one.passed[0]).text("/").number(one.passed[1]);
    }
    text
}

/// The contract of the kernel function `F`.
pub(super) struct ContractOf<F, A>(PhantomData<(F, A)>);

impl<F: KernelFunction<A>, A> ContractOf<F, A> {
    const TEXT: &'static [u8; Text::MOST] = F::CONTRACT.all();
}

impl<F: KernelFunction<A>, A> ContractText for ContractOf<F, A> {
    const FIRST: *const u8 = Self::TEXT.as_ptr();
    const BYTES: usize = F::CONTRACT.as_bytes().len();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Parameter;
    use crate::reduce::Max;
    use crate::{
        Constant, Extents1, Extents2, Extents4, Halos2D, NoSwizzle, Swizzle64, Tensor, TileReduction, Tiles, TilesMut,
        TilesMut2D,
    };

    fn of(text: &Text) -> &str {
        core::str::from_utf8(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_contract_has_every_size_of_every_parameter() {
        const PARAMETERS: [ParameterLayout; 8] = [
            <Tiles<f32, 256> as Parameter>::LAYOUT,
            <Halos2D<u16, 8, 64, 2> as Parameter>::LAYOUT,
            <u64 as Parameter>::LAYOUT,
            <TilesMut<u128, 32> as Parameter>::LAYOUT,
            <TilesMut2D<u8, 3, 5> as Parameter>::LAYOUT,
            <TileReduction<i32, Max, Extents2<8, 16>, Swizzle64> as Parameter>::LAYOUT,
            <Tensor<u8, Extents1<64>, NoSwizzle> as Parameter>::LAYOUT,
            <Tensor<u8, Extents4<2, 3, 4, 64>, Swizzle64> as Parameter>::LAYOUT,
        ];
        const CONTRACT: Text = contract(1024, (232_448, 128), &PARAMETERS);
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            of(&CONTRACT),
            format!(
                "tilepipe={version};threads=1024;shared=232448/128;1=in 4/4 1x256 16/0 16/8;\
                 2=in 2/2 12x68 4/4 32/8;3=value 8/8 1x1 1/0 8/8;4=out 16/16 1x32 16/0 16/8;5=out 1/1 3x5 1/1 32/8;\
                 6=reduce-box64:i32 4/4 8x16 16/16 192/64;7=box 1/1 64 16/16 192/64;8=box64 1/1 2x3x4x64 16/16 192/64"
            )
        );
    }

    #[test]
    fn a_contract_tells_values_and_constants_from_one_another() {
        const PARAMETERS: [ParameterLayout; 5] = [
            <bool as Parameter>::LAYOUT,
            <[u16; 3] as Parameter>::LAYOUT,
            <i128 as Parameter>::LAYOUT,
            <Constant<[f32; 64]> as Parameter>::LAYOUT,
            <Constant<u8> as Parameter>::LAYOUT,
        ];
        const CONTRACT: Text = contract(32, (0, 1), &PARAMETERS);
        let parameters = of(&CONTRACT).split_once(";1=").unwrap().1;
        let expected = "bool 1/1 1x1 1/0 4/4;2=value 6/2 1x1 1/0 6/2;3=value 16/16 1x1 1/0 16/16;\
                        4=constant 256/4 1x1 1/0 256/4;5=constant 1/1 1x1 1/0 1/1";
        assert_eq!(parameters, expected);
    }

    #[test]
    fn each_parameter_starts_at_a_multiple_of_its_alignment() {
        const BYTE: ParameterLayout = <u8 as Parameter>::LAYOUT;
        const LARGE: ParameterLayout = <Constant<[u128; 255]> as Parameter>::LAYOUT;
        assert_eq!(bytes(&[]), 0);
        assert_eq!(bytes(&[BYTE, BYTE, <u64 as Parameter>::LAYOUT, BYTE]), 17);
        assert_eq!(bytes(&[LARGE, BYTE, BYTE]), 4082);
        assert_eq!(bytes(&[BYTE, LARGE]), 4096);
        check(&[BYTE, LARGE]);
    }

    #[test]
    #[should_panic = "the parameters of this kernel have 4097 bytes, and a launch carries 4096 at most"]
    fn a_byte_more_than_a_launch_carries_is_refused() {
        check(&[<Constant<[u8; 4096]> as Parameter>::LAYOUT, <u8 as Parameter>::LAYOUT]);
    }

    #[test]
    fn the_longest_contract_fits() {
        const LONGEST: ParameterLayout = ParameterLayout {
            kind: "reduce-box128",
            element: ":bf16",
            size: 16,
            element_alignment: 16,
            dimensions: 5,
            extents: [256; 5],
            alignment: 16,
            row_alignment: 16,
            passed: [192, 128],
        };
        const CONTRACT: Text = contract(1024, (u32::MAX as usize, 128), &[LONGEST; 8]);
        assert!(CONTRACT.as_bytes().len() > Text::MOST / 2);
    }
}
