//! What calls answer without a GPU: on the CPU's device nothing can run, so that every launch
//! fails, with what is wrong first.

use std::collections::BTreeSet;
use std::ffi::CString;

use tilepipe_host::{Device, Error, Grid, Schedule};

use super::*;

const NAME: &CStr = c"scale_own__i32_CpAsync_BlockScope_256_2";

fn kernels() -> Kernels {
    Kernels::new(Device::cpu(Schedule::Lazy))
}

fn row(address: u64, columns: u64, kind: u32) -> View {
    View { address, rows: 0, columns, pitch: 0, element_bytes: 4, kind, matrix_rows: 0, matrix_columns: 0, of_rows: 0 }
}

fn last_error() -> String {
    // SAFETY: the text lasts until this thread's next call.
    unsafe { CStr::from_ptr(tilepipe_error()) }.to_str().unwrap().to_owned()
}

/// Why a launch fails.
fn launch(kernels: *const Kernels, symbol: *const c_char, grid: i64, views: &[View]) -> String {
    // SAFETY: (0), (1) and (2) hold by the callers below; (3) and (4): nothing can be started.
    let status = unsafe { tilepipe_launch(kernels, symbol, grid, views.as_ptr(), views.len(), ptr::null_mut()) };
    assert_eq!(status, FAILED);
    last_error()
}

#[test]
fn null_and_what_is_no_text_are_errors() {
    let kernels = kernels();
    let views = [row(4096, 256, 0), row(8192, 256, 1)];
    assert!(launch(ptr::null(), NAME.as_ptr(), 1, &views).contains("the handle is null"));
    assert!(launch(&kernels, ptr::null(), 1, &views).contains("the kernel's name is null"));
    assert!(launch(&kernels, c"\xFF".as_ptr(), 1, &views).contains("is no UTF-8"));
    // SAFETY: null is allowed.
    assert_eq!(unsafe { tilepipe_synchronize(ptr::null()) }, FAILED);
    // SAFETY: (0) is null, which is allowed; (1) and (2) say nothing then.
    assert!(unsafe { tilepipe_open(ptr::null()) }.is_null());
    assert_eq!(last_error(), "the folder is null");
    // SAFETY: as for the launches; `count` views at null are what is refused.
    let status = unsafe { tilepipe_launch(&kernels, NAME.as_ptr(), 1, ptr::null(), 2, ptr::null_mut()) };
    assert_eq!((status, last_error().as_str()), (FAILED, "the address of 2 views is null"));
    // SAFETY: all lies there, but for a place to write to, which may be null.
    let status = unsafe { tilepipe_blocks(&kernels, NAME.as_ptr(), ptr::null_mut(), 0, views.as_ptr(), 2) };
    assert!(status == FAILED && last_error().contains("no place for the number of blocks"));
}

#[test]
fn a_folder_without_kernels_is_an_error() {
    let folder = CString::new(env!("CARGO_MANIFEST_DIR")).unwrap();
    // SAFETY: (0) a text; (1) nothing is loaded, and (2) no context is used, as there is no PTX.
    assert!(unsafe { tilepipe_open(folder.as_ptr()) }.is_null());
    assert!(last_error().contains("it holds no .ptx file"), "{}", last_error());
}

/// No test makes a context the thread's, so this fails with a GPU too.
#[test]
fn without_a_driver_or_a_context_nothing_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.ptx"), ".version 7.8\n.target sm_80\n.address_size 64\n").unwrap();
    let path = CString::new(folder.path().to_str().unwrap()).unwrap();
    // SAFETY: (0) a text; (1) the file has no kernel; (2) there is no context.
    assert!(unsafe { tilepipe_open(path.as_ptr()) }.is_null());
    let message = last_error();
    let parts = ["no NVIDIA driver", "no GPU 0", "could not find the calling thread's context"];
    assert!(parts.iter().any(|part| message.contains(part)), "{message}");
}

#[test]
fn a_kernel_is_found_by_its_whole_name() {
    let kernels = kernels();
    assert_eq!(kernels.find(NAME.to_str().unwrap()).unwrap().kernel(), "scale_own");
    let message = launch(&kernels, c"scale_own__i32".as_ptr(), 1, &[]);
    assert!(message.contains("no instance `scale_own__i32`; it has `scale_own__"), "{message}");
    let message = launch(&kernels, c"scale_mine__i32".as_ptr(), 1, &[]);
    assert_eq!(message, "there is no kernel `scale_mine`, whose instance `scale_mine__i32` would be");
}

#[test]
fn views_are_checked_by_themselves_and_against_the_instance() {
    let kernels = kernels();
    let (input, out) = (row(4096, 256, 0), row(8192, 256, 1));
    for (views, part) in [
        (&[][..], "takes 2 arguments, not 0"),
        (&[input], "takes 2 arguments, not 1"),
        (&[out, input], "it is an input view of i32, not an output view of i32"),
        (&[View { address: 0, ..input }, out], "view 0: its address is null"),
        (&[input, View { columns: 0, ..out }], "view 1: 0 elements of 4 bytes are none"),
        (&[input, View { kind: 4, ..out }], "view 1: its kind is 4"),
        (&[View { pitch: 4, ..input }, out], "view 0: it has no rows, but a pitch of 4"),
        (&[View { rows: 2, pitch: 255, ..input }, out], "view 0: rows of 256 elements do not fit into a pitch of 255"),
        (&[View { rows: u64::MAX, pitch: 256, ..input }, out], "view 0: it ends beyond the last address"),
        (&[View { columns: u64::MAX, ..input }, out], "view 0: it ends beyond the last address"),
        (&[View { rows: 1, pitch: 256, ..input }, out], "not a two-dimensional input view"),
        (&[View { element_bytes: 8, ..input }, out], "elements of 8 bytes"),
        (&[View { address: 4097, ..input }, out], "the address 0x1001 is not a multiple of 16 bytes"),
        (&[input, View { address: 4096 + 1008, ..out }], "`input` and `out`"),
    ] {
        let message = launch(&kernels, NAME.as_ptr(), 1, views);
        assert!(message.contains(part), "{part} in {message}");
    }
    // All is right but the device.
    let message = launch(&kernels, NAME.as_ptr(), 1, &[input, out]);
    assert!(message.contains("the stream") && message.contains("a GPU"), "{message}");
}

#[test]
fn a_constant_is_a_row_of_the_programs_own_memory() {
    let (kernels, filter) = (kernels(), [0.5_f32; 17]);
    let name = c"convolution__f32_128_512_8_17_4";
    let (signal, out) = (row(4096, 256, 0), row(8192, 256, 1));
    let constant = row(ptr::from_ref(&filter).expose_provenance() as u64, 17, 2);
    for (constant, part) in [
        (
            View { columns: 16, ..constant },
            "it is a constant of type [f32; 17], not a constant of 64 bytes; pass 68 bytes",
        ),
        (View { columns: 1 << 20, ..constant }, "view 1: a constant of 4194304 bytes: a launch carries 4096 at most"),
        (View { rows: 1, pitch: 17, ..constant }, "view 1: a constant has no rows"),
        (View { address: 16384, kind: 0, ..constant }, "it is a constant of type [f32; 17], not an input view"),
    ] {
        let message = launch(&kernels, name.as_ptr(), 1, &[signal, constant, out]);
        assert!(message.contains(part), "{part} in {message}");
    }
    let message = launch(&kernels, name.as_ptr(), 1, &[signal, constant, out]);
    assert!(message.contains("the stream") && message.contains("a GPU"), "{message}");
}

#[test]
fn a_grid_is_a_number_or_what_follows_from_tiles_or_device() {
    assert_eq!(grid(0).unwrap(), Grid::tiles());
    assert_eq!(grid(-1).unwrap(), Grid::resident());
    assert_eq!(grid(7).unwrap(), Grid::from(7));
    for number in [-2, 1 << 32, i64::MIN] {
        let message = grid(number).unwrap_err().to_string();
        assert!(message.contains(&format!("a grid of {number} blocks")), "{message}");
    }
    let (kernels, views) = (kernels(), [row(4096, 1000, 0), row(8192, 1000, 1)]);
    for (number, expected) in [(0, 4), (5, 5)] {
        let mut blocks = 0;
        // SAFETY: all lies there.
        let status = unsafe { tilepipe_blocks(&kernels, NAME.as_ptr(), &mut blocks, number, views.as_ptr(), 2) };
        assert_eq!((status, blocks), (DONE, expected));
    }
}

#[test]
fn a_panic_stays_in_the_library_and_each_thread_has_its_text() {
    assert_eq!(guarded(3, || panic!("at {}", 7)), 3);
    assert!(last_error().ends_with("a fault of its own: at 7"), "{}", last_error());
    assert_eq!(guarded(3, || std::panic::panic_any(1_u8)), 3);
    assert!(last_error().ends_with("it has no text"), "{}", last_error());
    let error = Error::BadGrid { kernel: "k\0k", grid: 0 };
    assert_eq!(guarded(3, || Err(error.into())), 3);
    assert!(last_error().starts_with("kernel `k k`: a grid of 0 blocks"), "{}", last_error());
    std::thread::spawn(|| assert_eq!(last_error(), "")).join().unwrap();
    assert_eq!((guarded(3, || Ok(4)), last_error().is_empty()), (4, false));
}

/// The texts in the Python source.
fn texts_in(source: &str) -> impl Iterator<Item = &str> {
    source.split('"').skip(1).step_by(2)
}

/// The names of instances in the Python source: texts with `__` between letters. What the script
/// puts together of several is not among them.
fn instances_in(source: &str) -> BTreeSet<&str> {
    let is_other = |letter: char| letter.is_whitespace() || letter == '{';
    texts_in(source).filter(|text| text.contains("__") && !text.starts_with('_') && !text.contains(is_other)).collect()
}

#[test]
fn the_kernels_that_the_script_launches_exist() {
    let kernels = kernels();
    for (source, least) in [
        (include_str!("../../peers/torch_tasks.py"), 16),
        (include_str!("../../peers/torch_largest.py"), 3),
        (include_str!("../../peers/torch_attention.py"), 25),
        (include_str!("../../peers/torch_masks.py"), 4),
    ] {
        let named = instances_in(source);
        assert!(named.len() >= least, "{named:?}");
        for name in named {
            kernels.find(name).unwrap();
        }
    }
    // `gemm__{dtype}_Along_{right}_{PRODUCTS[width]}`, with two widths where B's rows are across K.
    let source = include_str!("../../peers/torch_tasks.py");
    let mut products: Vec<&str> = texts_in(source).filter(|text| text.starts_with("Swizzle")).collect();
    assert_eq!(products.len(), 9, "{products:?}");
    for dtype in ["bf16", "f16"] {
        products.iter().for_each(|one| _ = kernels.find(&format!("gemm__{dtype}_Along_Along_{one}")).unwrap());
    }
    products.retain(|one| one.contains("_256_") || one.contains("_128_"));
    assert_eq!(products.len(), 2, "{products:?}");
    for dtype in ["bf16", "f16"] {
        products.iter().for_each(|one| _ = kernels.find(&format!("gemm__{dtype}_Along_Across_{one}")).unwrap());
    }
}
