//! Every instance of every kernel on a GPU. Without one every test prints `skipped: no GPU`.

#[path = "../../device/tests/math/bounds.rs"]
mod bounds;

use std::process::Command;

use tilepipe_host::{Bound, Device, Error, Schedule, launch};
use tilepipe_kernels::compute::NeighbourSum;
use tilepipe_kernels::with_staging;
use tilepipe_runner::array::{Array, Inputs};
use tilepipe_runner::value::Value;
use tilepipe_runner::work::Shape;
use tilepipe_runner::{built, data};
use tilepipe_test_kernels::faulty;
use tilepipe_test_kernels::tensor::box_anywhere;
use tilepipe_tests::artifact::Module;
use tilepipe_tests::case::{self, ForType, Group, Size};
use tilepipe_tests::{
    atomics, dimensions, features, locals, memory, orders, parameters, products, reads, scratch, tails, tensors,
};

/// Opens GPU 0 with the kernels of `kernels/` and of `tests/kernels/` loaded, or says that the test
/// is skipped.
fn gpu() -> Option<Device> {
    match Device::gpu(0) {
        Ok(device) => {
            load(&device);
            Some(device)
        }
        Err(Error::NoDriver | Error::NoSuchGpu { .. }) => {
            println!("skipped: no GPU");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Loads the kernels of `kernels/` and of `tests/kernels/`.
fn load(device: &Device) {
    for module in [Module::Kernels, Module::TestKernels] {
        let folder = module.folder().unwrap_or_else(|error| panic!("{error}"));
        device.load(&built::read(&folder).unwrap()).unwrap();
    }
}

/// Checks all instances of a kernel at small sizes, at one that fills the device, and with more
/// blocks than there are tiles.
fn every_instance_is_right(kernel: &str) {
    let Some(device) = gpu() else { return };
    let devices = [device];
    for group in case::groups(kernel) {
        let shape = |elements| Shape::of(elements, group.work.kind.dimensions());
        let filling = Size { shape: shape((1 << 21) + 3), grid: 1056 };
        let outnumbered = Size { shape: shape(100_003), grid: 5000 };
        for size in case::small_sizes(group.work).into_iter().chain([filling, outnumbered]) {
            case::check_group(&devices, &group, size);
        }
    }
}

/// Makes a test for each kernel of the registry.
macro_rules! kernels {
    ($($kernel:ident $row:tt)*) => {
        mod every_instance_is_right_at_every_size {
            $(
                #[test]
                fn $kernel() {
                    super::every_instance_is_right(stringify!($kernel));
                }
            )*
        }
    };
}
tilepipe_kernel_registry::with_kernels!(kernels);

#[test]
#[ignore = "takes minutes: `run.sh exhaustive` of a bundle runs it"]
fn functions_of_math_have_the_bits_of_the_cpu_for_every_number() {
    let Some(device) = gpu() else { return };
    for instance in features::functions_of_f32() {
        let difference = features::first_difference(&device, instance, 0..1 << 32).unwrap();
        assert_eq!(difference, None, "{}", instance.name());
        println!("{}", instance.name());
    }
}

/// Checks that a small kernel writes what it writes on the CPU.
fn writes_the_same_as_on_the_cpu(kernel: &str) {
    let Some(device) = gpu() else { return };
    let feature = features::all().into_iter().find(|feature| feature.kernel() == kernel).unwrap();
    let cpu = Device::cpu(Schedule::Lazy);
    for (expected, got) in feature.written(&cpu).zip(feature.written(&device)) {
        let (expected, got) = (expected.unwrap(), got.unwrap());
        assert_eq!(got.launch, expected.launch);
        let difference = got.bytes.iter().zip(&expected.bytes).position(|(got, expected)| got != expected);
        assert_eq!(difference, None, "first byte in which {} differs", got.launch);
        println!("{}", got.launch);
    }
}

/// One test for each small kernel.
macro_rules! features {
    ($($kernel:ident)*) => {
        mod features_write_what_they_write_on_the_cpu {
            $(
                #[test]
                fn $kernel() {
                    super::writes_the_same_as_on_the_cpu(stringify!($kernel));
                }
            )*
        }
    };
}

tilepipe_tests::with_small_kernels!(features);

#[test]
fn views_of_every_length_are_copied_by_the_copy_engine() {
    let Some(device) = gpu() else { return };
    let launches = tails::check_lengths(&device, 1..=tails::MOST).unwrap();
    println!("{launches} launches over rows of 1 to {} bytes", tails::MOST);
    let launches = tails::check_widths(&device, 1..=tails::MOST_COLUMNS).unwrap();
    println!("{launches} launches over rows of 1 to {} columns", tails::MOST_COLUMNS);
    let launches = tails::check_triples(&device, 1..=tails::MOST_TRIPLES).unwrap();
    println!("{launches} launches over rows of 1 to {} triples", tails::MOST_TRIPLES);
}

/// Runs a group on both devices, on ordinary elements and on random bits.
struct Both<'a> {
    gpu: &'a Device,
    group: &'a Group,
}

impl ForType for Both<'_> {
    type Output = ();

    fn call<T: Value>(self) {
        let (gpu, cpu) = (self.gpu, Device::cpu(Schedule::Random { seed: 3 }));
        let Group { work, instances, .. } = self.group;
        let Size { shape, grid } = case::medium_size(*work);
        let output = work.output(shape, grid as usize);
        let ordinary = data::inputs::<T>(work.kind.inputs(), shape.elements(), 21).unwrap();
        let bits = ordinary.iter().enumerate().map(|(number, _)| case::random_bits(shape.elements(), 22 << number));
        let bits: Vec<Vec<T>> = bits.collect();
        for (inputs, is_ordinary) in [(ordinary, true), (bits, false)] {
            let on_gpu = case::upload(gpu, *work, &inputs, Size { shape, grid }).unwrap();
            let on_cpu = case::upload(&cpu, *work, &inputs, Size { shape, grid }).unwrap();
            for instance in instances {
                let one = case::run(&gpu.stream().unwrap(), instance, output, grid, &on_gpu).unwrap();
                let other = case::run(&cpu.stream().unwrap(), instance, output, grid, &on_cpu).unwrap();
                // The payload of a NaN may differ; ordinary elements give none.
                let same_bytes = one.bytes() == other.bytes();
                assert!(same_bytes || !is_ordinary, "{}", instance.name());
                assert_eq!(one.compare(&other), None, "{}", instance.name());
            }
        }
    }
}

#[test]
fn gpu_and_cpu_give_the_same_bytes() {
    let Some(gpu) = gpu() else { return };
    for kernel in tilepipe_kernel_registry::NAMES {
        for group in case::groups(kernel) {
            case::with_type(group.dtype, Both { gpu: &gpu, group: &group });
        }
    }
}

/// The swizzles' functions, and what lies beyond a tensor's edges.
#[test]
fn boxes_of_tensors_are_what_a_plain_loop_reads_wherever_they_begin() {
    let Some(device) = gpu() else { return };
    let extents = tensors::check_extents(&device, 1).unwrap();
    let (places, transposes) = (tensors::check_places(&device).unwrap(), tensors::check_transposes(&device).unwrap());
    let reductions = tensors::check_reductions(&device).unwrap();
    println!("{extents} extents, {places} places, {transposes} transposes, {reductions} reductions");
}

#[test]
fn products_by_tensor_cores_are_those_of_plain_loops() {
    let Some(device) = gpu() else { return };
    let large = products::Size { rows: 1000, columns: 1032, deep: 2056, grid: 132 };
    let launches =
        products::check(&device, &products::SMALL, 1).unwrap() + products::check(&device, &[large], 1).unwrap();
    println!("{launches} launches");
}

#[test]
fn stages_of_products_are_given_back_unread() {
    let Some(device) = gpu() else { return };
    println!("{} launches", products::check_some_stages(&device).unwrap());
}

#[test]
fn warpgroups_that_run_apart_multiply_each_its_own_stages() {
    let Some(device) = gpu() else { return };
    println!("{} launches", products::apart::check(&device).unwrap());
}

#[test]
fn memory_of_a_product_that_a_role_left_is_another_products() {
    let Some(device) = gpu() else { return };
    println!("{} launches", products::check_left_early(&device).unwrap());
}

/// As the next test, so few and so small that the sanitizer is through with them in a minute.
#[test]
fn a_few_products_of_small_shapes_are_those_of_plain_loops() {
    let Some(device) = gpu() else { return };
    println!("{} products", products::shapes::check(&device, 24, 300, 3).unwrap());
}

/// Each of them starts before the one before it has ended.
#[test]
fn products_in_a_row_have_what_the_ones_before_have_written() {
    let Some(device) = gpu() else { return };
    let products = products::in_a_row::check(&device, &[64, 200, 1024, 1160, 4096], 100).unwrap();
    println!("{products} products");
}

#[test]
fn products_of_random_shapes_and_epilogues_are_those_of_plain_loops() {
    let Some(device) = gpu() else { return };
    let products = products::shapes::check(&device, 1000, 1500, 2).unwrap();
    products::shapes::check_errors(&device).unwrap();
    println!("{products} products");
}

#[test]
fn roles_with_registers_of_their_own_multiply_two_tiles_at_once() {
    let Some(device) = gpu() else { return };
    println!("{} launches", products::check_two_at_once(&device).unwrap());
}

/// As the next tests, so little that the sanitizer is through with it in minutes.
#[test]
fn attention_of_few_tokens_is_that_of_sums_in_f64() {
    use products::{attention, decoding, gradient, packed};
    let Some(device) = gpu() else { return };
    let forward =
        [attention::SMALL.as_slice(), &attention::SHAPED].map(|cases| attention::check(&device, cases).unwrap());
    let of_packed = packed::check(&device, &packed::small()).unwrap();
    let backward = gradient::check(&device, &gradient::SMALL).unwrap();
    println!(
        "{forward:?} launches, {of_packed} of packed sequences, {backward} gradients, {} decoded",
        decoding::check(&device, &decoding::SMALL).unwrap()
    );
}

#[test]
fn attention_is_that_of_sums_in_f64() {
    let Some(device) = gpu() else { return };
    println!("{} launches", products::attention::check(&device, &products::attention::LARGE).unwrap());
}

#[test]
fn attention_of_packed_sequences_is_that_of_each() {
    let Some(device) = gpu() else { return };
    println!("{} launches", products::packed::check(&device, &products::packed::large()).unwrap());
}

#[test]
fn attention_of_any_shape_is_that_of_sums_in_f64_in_ten_thousand_launches() {
    let Some(device) = gpu() else { return };
    println!("{} of 10000 launches checked", products::drawn::check(&device, 10_000, 400, 75).unwrap());
}

#[test]
fn the_gradient_of_attention_is_that_of_sums_in_f64() {
    let Some(device) = gpu() else { return };
    println!("{} gradients", products::gradient::check(&device, &products::gradient::LARGE).unwrap());
    println!("{} of low scores", products::gradient::check_low_scores(&device).unwrap());
}

#[test]
fn decoding_is_that_of_sums_in_f64() {
    let Some(device) = gpu() else { return };
    println!("{} decoded", products::decoding::check(&device, &products::decoding::LARGE).unwrap());
}

#[test]
fn products_are_factors_of_other_products() {
    let Some(device) = gpu() else { return };
    println!("{} launches", products::chained::check(&device).unwrap());
}

#[test]
fn products_that_blocks_add_up_are_those_of_plain_loops() {
    let Some(device) = gpu() else { return };
    println!("{} launches", products::check_added_up(&device).unwrap());
}

#[test]
fn products_in_shared_memory_are_factors_on_either_side() {
    let Some(device) = gpu() else { return };
    println!("{} launches", products::written::check(&device).unwrap());
}

#[test]
fn each_step_of_the_guides_product_multiplies() {
    let Some(device) = gpu() else { return };
    println!("{} launches", products::check_steps(&device).unwrap());
}

/// Prints how fast each step of the guide's product is.
#[test]
#[ignore = "measures: with a GPU of its own"]
fn the_guides_product_step_by_step() {
    let Some(device) = gpu() else { return };
    for side in [4096, 8192] {
        for (step, ms) in products::time_steps(&device, side).unwrap() {
            println!("{side}: {step}: {ms:.4} ms, {:.0} TFLOP/s", 2.0 * (side as f64).powi(3) / ms / 1e9);
        }
    }
}

#[test]
fn products_are_of_matrices_wherever_they_lie() {
    let Some(device) = gpu() else { return };
    products::rows::check_parts_of_buffers(&device).unwrap();
    products::rows::check_rows_of_cudarc(load).unwrap();
}

#[test]
fn reads_anywhere_are_those_of_plain_loops() {
    let Some(device) = gpu() else { return };
    println!("{} launches", reads::check(&device).unwrap());
}

#[test]
fn tiles_computed_in_shared_memory_are_those_of_plain_loops() {
    let Some(device) = gpu() else { return };
    println!("{} launches", scratch::check(&device).unwrap());
}

#[test]
fn memory_in_parts_has_room_for_all_of_them() {
    let Some(device) = gpu() else { return };
    println!("{} launches", memory::parts::check(&device).unwrap());
}

#[test]
fn threads_that_add_to_the_same_memory_leave_what_plain_loops_do() {
    let Some(device) = gpu() else { return };
    println!("{} launches", atomics::check(&device).unwrap());
}

#[test]
fn tiles_in_a_row_and_whole_rows_are_the_blocks_that_plain_loops_give_them_to() {
    let Some(device) = gpu() else { return };
    println!("{} launches", orders::check(&device, true).unwrap());
}

#[test]
fn parameters_are_what_the_launch_was_given() {
    let Some(device) = gpu() else { return };
    println!("{} launches", parameters::check(&device).unwrap());
}

#[test]
fn arrays_of_one_to_five_dimensions_are_what_plain_loops_make() {
    let Some(device) = gpu() else { return };
    println!("{} arrays", dimensions::check(&device).unwrap());
}

#[test]
fn a_box_that_begins_between_16_bytes_is_refused_with_both_numbers() {
    in_a_process_of_its_own("a_box_that_begins_between_16_bytes_is_refused_with_both_numbers", |device| {
        let (error, wanted) = tensors::refusal(&device, &box_anywhere::INSTANCES[0], -3).unwrap().unwrap();
        println!("{error}");
        assert!(matches!(&error, Error::KernelPanicked { message, .. } if *message == wanted), "{error:?}");
    });
}

/// Assumption 7 of SOUNDNESS.md.
#[test]
fn addresses_of_locals_are_the_same_in_all_threads_of_a_block_or_role() {
    if let Some(device) = gpu() {
        // More blocks than run at once, so that they follow each other on a multiprocessor.
        locals::check(&device, 20_000);
    }
}

#[test]
fn a_hundred_launches_that_fill_the_device_give_the_same_bytes() {
    let Some(device) = gpu() else { return };
    let stream = device.stream().unwrap();
    let shape = Shape::Row((1 << 22) + 3);
    let inputs: Vec<Vec<i32>> = data::inputs(1, shape.elements(), 5).unwrap();
    let on_device = Inputs::from(vec![Array::upload(&device, &inputs[0], shape).unwrap()]);
    let kernels = [
        "with_staging_unified",
        "with_specialized_staging_unified",
        "with_specialized_staging_warps",
        "with_producer_count",
    ];
    for group in kernels.into_iter().flat_map(case::groups).filter(|group| group.dtype.name() == "i32") {
        let expected = case::expected(group.work, &inputs, Size { shape, grid: 1056 });
        for instance in group.instances.iter().take(4) {
            for round in 0..100 {
                let got = case::run(&stream, instance, shape, 1056 - round, &on_device).unwrap();
                assert_eq!(got.compare(&expected), None, "{}, round {round}", instance.name());
            }
        }
    }
}

#[test]
fn a_gpu_that_is_not_there_is_an_error_that_says_which_there_are() {
    let Some(_gpu) = gpu() else { return };
    let error = Device::gpu(4096).unwrap_err();
    assert!(matches!(error, Error::NoSuchGpu { ordinal: 4096, .. }), "{error}");
    assert!(error.to_string().contains("GPU 0"), "{error}");
}

#[test]
fn a_launch_that_does_not_fit_is_refused_and_the_device_goes_on() {
    let Some(device) = gpu() else { return };
    let stream = device.stream().unwrap();
    let group = &case::groups("with_staging")[0];
    let instance = group.instances[0];
    let wrong = device.zeroed::<u64>(10).unwrap();
    let mut out = device.zeroed::<u64>(10).unwrap();
    let error = launch(&stream, 1, instance, [Bound::input(&wrong), Bound::output(&mut out)]).unwrap_err();
    assert!(matches!(error, Error::ArgumentType { .. }), "{error}");
    let right = device.zeroed::<i32>(10).unwrap();
    let mut out = device.zeroed::<i32>(10).unwrap();
    let error = launch(&stream, 0, instance, [Bound::input(&right), Bound::output(&mut out)]).unwrap_err();
    assert!(matches!(error, Error::BadGrid { grid: 0, .. }), "{error}");
    case::check_group(&[device], group, case::medium_size(group.work));
}

/// A kernel that fails may leave the whole process without a GPU, so these run in a process of
/// their own.
fn in_a_process_of_its_own(test: &str, body: impl FnOnce(Device)) {
    const CHILD: &str = "TILEPIPE_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        body(gpu().unwrap());
    } else if gpu().is_some() {
        let program = std::env::current_exe().unwrap();
        let output = Command::new(program).args([test, "--exact", "--nocapture"]).env(CHILD, "1").output().unwrap();
        println!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success());
    }
}

/// The report of a kernel's panic, and that the device says so from then on.
fn check_panic(
    device: &Device,
    launched: Result<(), Error>,
    wanted: &str,
    wanted_thread: impl Fn(Option<u32>) -> bool,
) {
    launched.unwrap();
    let error = device.synchronize().unwrap_err();
    println!("{error}");
    let Error::KernelPanicked { message, file, line, block, thread, .. } = &error else { panic!("{error:?}") };
    assert!(message.contains(wanted), "{message}");
    assert!(file.ends_with("faulty.rs") && *line > 0 && *block < 3 && wanted_thread(*thread), "{error:?}");
    assert!(device.is_lost());
    let later = device.zeroed::<i32>(1).unwrap_err();
    assert!(matches!(&later, Error::DeviceLost { first } if first.contains(wanted)), "{later}");
}

#[test]
fn a_kernel_with_another_signature_or_element_on_the_gpu_is_refused_with_the_difference() {
    let Some(device) = gpu() else { return };
    let stream = device.stream().unwrap();
    let input = device.zeroed::<u32>(64).unwrap();
    let signature = faulty::two_signatures::launch(&stream, 2, &input).unwrap_err();
    let mut out = device.zeroed::<faulty::TwoSizes>(64).unwrap();
    let element = faulty::two_sizes::launch(&stream, 2, &mut out).unwrap_err();
    for (error, parameter, theirs) in
        [(signature, "1, `input`", "`out 16/16 1x32 16/0 16/8`"), (element, "1, `out`", "`out 16/4 1x32 4/0 16/8`")]
    {
        println!("{error}");
        assert!(matches!(error, Error::ContractMismatch { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.contains(parameter) && text.contains(theirs), "{text}");
    }
    device.synchronize().unwrap();
    assert_eq!(input.download().unwrap(), [0; 64]);
}

#[test]
fn a_module_whose_contracts_are_of_another_version_is_refused() {
    let Some(loaded) = gpu() else { return };
    drop(loaded);
    // The folder as another version could have left it: in the machine code each contract has
    // another number.
    let version = env!("CARGO_PKG_VERSION");
    let (here, other) = (format!(";tilepipe={version};"), format!(";tilepipe={};", version.replace(['0', '1'], "9")));
    let folder = std::env::temp_dir().join(format!("tilepipe-other-version-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut contracts = 0;
    for entry in std::fs::read_dir(Module::Kernels.folder().unwrap()).unwrap().map(Result::unwrap) {
        let mut bytes = std::fs::read(entry.path()).unwrap();
        if entry.path().extension().is_some_and(|extension| extension == "cubin") {
            let places: Vec<usize> = bytes
                .windows(here.len())
                .enumerate()
                .filter(|(_, at)| *at == here.as_bytes())
                .map(|(at, _)| at)
                .collect();
            assert!(!places.is_empty(), "contracts in {}", entry.path().display());
            contracts += places.len();
            places.iter().for_each(|&at| bytes[at..at + other.len()].copy_from_slice(other.as_bytes()));
        }
        std::fs::write(folder.join(entry.file_name()), bytes).unwrap();
    }
    let instances: usize = tilepipe_kernels::registry().iter().map(|kernel| kernel.len()).sum();
    assert!(contracts >= instances, "{contracts} contracts in the folder's cubins, of {instances} instances");
    let device = Device::gpu(0).unwrap();
    device.load(&built::read(&folder).unwrap()).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let (input, mut out) = (device.zeroed::<i32>(128).unwrap(), device.zeroed::<i32>(128).unwrap());
    let stream = device.stream().unwrap();
    let error = with_staging::launch::<i32, NeighbourSum, 128>(&stream, 1, &input, &mut out).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::ContractMismatch { .. }) && text.contains("the version of tilepipe"), "{text}");
}

#[test]
fn a_tile_index_past_the_end_is_reported_with_both_numbers() {
    in_a_process_of_its_own("a_tile_index_past_the_end_is_reported_with_both_numbers", |device| {
        let (input, mut out) = (device.zeroed::<i32>(384).unwrap(), device.zeroed::<i32>(384).unwrap());
        let stream = device.stream().unwrap();
        let launched = faulty::reads_past_the_end::launch(&stream, 3, &input, &mut out);
        check_panic(&device, launched, "tile index 1 is out of range: this block has 1 tiles", |_| true);
    });
}

#[test]
fn a_panic_in_one_thread_is_reported_with_its_rank() {
    in_a_process_of_its_own("a_panic_in_one_thread_is_reported_with_its_rank", |device| {
        let (input, mut out) = (device.zeroed::<i32>(384).unwrap(), device.zeroed::<i32>(384).unwrap());
        let stream = device.stream().unwrap();
        let launched = faulty::panics::launch(&stream, 3, &input, &mut out);
        check_panic(&device, launched, "the last thread gives up", |thread| thread == Some(127));
    });
}

#[test]
fn a_read_beyond_an_input_is_reported_with_both_numbers() {
    in_a_process_of_its_own("a_read_beyond_an_input_is_reported_with_both_numbers", |device| {
        let (input, mut out) = (device.zeroed::<i32>(384).unwrap(), device.zeroed::<i32>(384).unwrap());
        let stream = device.stream().unwrap();
        let launched = faulty::reads_beyond_an_input::launch(&stream, 3, &input, &mut out);
        let wanted = "index 384 is out of range: the view has 384 elements";
        check_panic(&device, launched, wanted, |thread| thread == Some(127));
    });
}

#[test]
fn an_add_beyond_the_bins_is_reported_with_both_numbers() {
    in_a_process_of_its_own("an_add_beyond_the_bins_is_reported_with_both_numbers", |device| {
        let (input, mut out) = (device.zeroed::<u32>(384).unwrap(), device.zeroed::<u32>(127).unwrap());
        let stream = device.stream().unwrap();
        let launched = faulty::adds_beyond_the_bins::launch(&stream, 3, &input, &mut out);
        let wanted = "index 127 is out of range: there are 127 bins";
        check_panic(&device, launched, wanted, |thread| thread == Some(127));
    });
}

/// What each way of panicking in `core` leaves in the record.
macro_rules! panics_of_core {
    ($($name:ident $way:literal $message:literal)*) => {
        mod a_panic_of_core_is_reported {
            $(
                #[test]
                fn $name() {
                    let test = concat!("a_panic_of_core_is_reported::", stringify!($name));
                    super::in_a_process_of_its_own(test, |device| {
                        let (input, mut out) = (device.zeroed::<i32>(384).unwrap(), device.zeroed::<i32>(384).unwrap());
                        let stream = device.stream().unwrap();
                        let launched = super::faulty::panics_in_core::launch(&stream, 3, $way, &input, &mut out);
                        super::check_panic(&device, launched, $message, |thread| thread == Some(127));
                    });
                }
            )*
        }
    };
}
panics_of_core! {
    an_index 0 "index out of bounds: the len is 4 but the index is 511"
    a_range_that_begins_too_late 1 "range start index 511 out of range for slice of length 4"
    a_range_that_ends_too_late 2 "range end index 511 out of range for slice of length 4"
    a_range_that_ends_before_it_begins 3 "slice index starts at 3 but ends at 1"
    a_division 4 "attempt to divide by zero"
    an_option 5 "called `Option::unwrap()` on a `None` value"
    an_expectation 6 "a number at each place"
    an_assertion_of_two_values 7 "put together at run time"
    a_result 8 "called `Result::unwrap()` on an `Err` value"
    an_assertion_with_a_number 9 "put together at run time"
}

/// Prints what the check of an index costs, and asks for less than it may vary.
#[test]
#[ignore = "measures: with a GPU of its own"]
fn an_index_that_core_checks_costs_hardly_anything() {
    let Some(device) = gpu() else { return };
    let elements = 1 << 28;
    let input = device.upload(&Vec::from_iter((0..elements).map(|i| (i as i32 * 7919) & 255))).unwrap();
    let out = &mut device.zeroed::<i32>(elements).unwrap();
    for (name, grid, launch) in [
        ("an element a thread", 4096, time_lookups::<256> as fn(&_, _, &_, &mut _) -> _),
        ("four elements a thread", 4096, time_lookups::<1024>),
        ("four elements a thread, a block a tile", 1 << 18, time_lookups::<1024>),
    ] {
        let [checked, masked]: [f64; 2] = launch(&device, grid, &input, out);
        println!("{name}: checked {checked:.4} ms, masked {masked:.4} ms: {:.4} of its speed", masked / checked);
        assert!(masked / checked > 0.9);
    }
}

/// The medians of the times, in ms, of the kernel with checks and of that without.
fn time_lookups<const LEN: usize>(
    device: &Device,
    grid: u32,
    input: &tilepipe_host::Buffer<i32>,
    out: &mut tilepipe_host::Buffer<i32>,
) -> [f64; 2]
where
    faulty::looks_up::Key<256, LEN>: tilepipe::launch::Compiled,
    faulty::looks_up_masked::Key<256, LEN>: tilepipe::launch::Compiled,
{
    let stream = device.stream().unwrap();
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..62 {
        let start = stream.record().unwrap();
        match round % 2 {
            0 => faulty::looks_up::launch::<256, LEN>(&stream, grid, input, &mut *out).unwrap(),
            _ => faulty::looks_up_masked::launch::<256, LEN>(&stream, grid, input, &mut *out).unwrap(),
        }
        let end = stream.record().unwrap();
        device.synchronize().unwrap();
        times[round % 2].push(end.elapsed_ms_since(&start).unwrap());
    }
    times.map(|mut times| {
        times.sort_unstable_by(f64::total_cmp);
        times[times.len() / 2]
    })
}
