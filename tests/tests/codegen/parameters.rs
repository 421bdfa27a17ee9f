//! Parameters: values are loaded where they lie, and so are constants, whatever becomes of their
//! addresses: nothing of them is copied to local memory.

use tilepipe::launch::Instance;
use tilepipe_kernels::convolution;
use tilepipe_test_kernels::parameters::constants::{
    addresses_of_constants, filtered, full, lines_of_roles, looked_up, of_a_scene, of_either,
};
use tilepipe_test_kernels::parameters::{chosen, drawn};
use tilepipe_tests::artifact::Module;
use tilepipe_tests::flow::Instruction;
use tilepipe_tests::ptx::{is_bounded_copy, is_copy, is_shared_load};

use crate::kernel::Kernel;

/// All kernels with constants.
pub fn with_constants() -> Vec<&'static Instance> {
    convolution::INSTANCES.iter().chain(of_tests()).collect()
}

/// Those that only tests launch.
fn of_tests() -> Vec<&'static Instance> {
    let kernels = [
        &filtered::INSTANCES,
        &looked_up::INSTANCES,
        &lines_of_roles::INSTANCES,
        &full::INSTANCES,
        &of_either::INSTANCES,
        &addresses_of_constants::INSTANCES,
        &of_a_scene::INSTANCES,
    ];
    kernels.into_iter().flatten().collect()
}

fn kernel(instance: &'static Instance) -> Kernel {
    Kernel::new(Module::TestKernels, instance)
}

/// The places from the start of parameter `number` at which it is loaded, if the compiler knows
/// them: `[k_param_1+4]`, or `[%rd1+4]` where `%rd1` is the parameter's address.
fn known_places(kernel: &Kernel, number: usize) -> Vec<usize> {
    let symbol = format!("{}_param_{number}", kernel.instance.symbol());
    let addresses = kernel.entry.code.instructions().filter(|one| one.is("mov") && one.operands.ends_with(&symbol));
    let mut bases: Vec<&str> = addresses.filter_map(|one| Some(one.operands.split_once(',')?.0)).collect();
    bases.push(&symbol);
    let place = |one: &Instruction| {
        let address = one.operands.split_once('[')?.1.strip_suffix(']')?;
        let (base, place) = address.split_once('+').unwrap_or((address, "0"));
        bases.contains(&base).then(|| place.parse().ok())?
    };
    let mut places: Vec<usize> =
        kernel.entry.code.instructions().filter(|one| one.is("ld.param")).filter_map(place).collect();
    places.sort_unstable();
    places
}

#[test]
fn no_parameter_is_copied_to_local_memory() {
    let report = Module::TestKernels.report().unwrap_or_else(|error| panic!("{error}"));
    for instance in of_tests().into_iter().chain(&chosen::INSTANCES).chain(&drawn::INSTANCES) {
        let kernel = kernel(instance);
        let name = kernel.name();
        assert_eq!(kernel.entry.local_declarations, [""; 0], "{name}: local memory");
        let local = kernel.entry.code.instructions().find(|one| one.has("local"));
        assert_eq!(local, None, "{name}: local memory");
        let call = kernel.entry.code.instructions().find(|one| one.is("call"));
        assert_eq!(call, None, "{name}: a call");
        let mut reported = report.iter().filter(|one| one["kernel"] == instance.symbol()).peekable();
        assert!(reported.peek().is_some(), "{name}: no report");
        assert!(reported.all(|one| one["stack_frame"] == 0 && one["spill_stores"] == 0), "{name}: machine code");
    }
}

#[test]
fn elements_at_known_places_are_loaded_by_their_places() {
    let filter: Vec<usize> = (0..9).map(|element| 4 * element).collect();
    let kernel = kernel(&filtered::INSTANCES[0]);
    assert_eq!(known_places(&kernel, 1), filter);
    // They are loaded once, not once for each tile.
    for around in kernel.entry.code.loops() {
        assert_eq!(around.count(|one| one.is("ld.param")), 0);
    }
}

#[test]
fn the_filter_of_a_convolution_is_loaded_from_the_parameters_by_its_places() {
    for kernel in Kernel::named("convolution").into_iter().chain(Kernel::named("convolution_bulk")) {
        let (name, taps) = (kernel.name(), kernel.number("TAPS").unwrap());
        let places = known_places(&kernel, 1);
        // In the loop for whole tiles and in that for others, or once for both.
        let expected: Vec<usize> = (0..taps).map(|tap| 4 * tap).collect();
        let mut distinct = places.clone();
        distinct.dedup();
        assert_eq!(distinct, expected, "{name}: places of the filter");
        let code = &kernel.entry.code;
        let loads = code.instructions().filter(|one| one.is("ld.param.b32")).count();
        assert_eq!(loads, places.len(), "{name}: loads of the filter at places that are not known");
        assert_eq!(kernel.entry.local_declarations, [""; 0], "{name}: local memory");
        // Threads load what lies between a bulk copy and the signal's end.
        let loads_ends = kernel.is_of_copy_engine();
        let is_other =
            |one: &&Instruction| one.has("local") || one.is("ld.const") || (one.is("ld.global") && !loads_ends);
        let other = code.instructions().find(is_other);
        assert_eq!(other, None, "{name}: a load of other memory");
    }
}

#[test]
fn a_convolution_loads_what_windows_share_once_and_stores_16_bytes() {
    for kernel in Kernel::named("convolution") {
        let (name, taps) = (kernel.name(), kernel.number("TAPS").unwrap());
        let mut whole = kernel.steady_states();
        whole.retain(|steady| steady.count(|one| is_copy(one) && !is_bounded_copy(one)) > 0);
        assert_eq!(whole.len(), 1, "{name}: loops without bounds");
        let count = |opcode: &str| whole[0].count(|one| one.opcode == opcode);
        // Four windows side by side have 4 + TAPS - 1 elements.
        assert_eq!(count("ld.shared.v4.b32"), (4 + taps - 1) / 4, "{name}: loads of 16 bytes");
        assert_eq!(whole[0].count(is_shared_load), (4 + taps - 1) / 4, "{name}: all loads");
        assert_eq!(count("st.global.v4.b32"), 1, "{name}: stores of 16 bytes");
        // To a zero of `i32` nothing is added.
        let (multiply_add, each) = match kernel.instance.generic("T") {
            Some("f32") => ("fma.rn.f32", taps),
            _ => ("mad.lo.s32", taps - 1),
        };
        assert_eq!(count(multiply_add), 4 * each, "{name}: `{multiply_add}`");
    }
}

#[test]
fn elements_at_other_places_are_loaded_by_address() {
    for instance in [&looked_up::INSTANCES[0], &full::INSTANCES[0]] {
        let kernel = kernel(instance);
        let count =
            |wanted: fn(&Instruction) -> bool| kernel.entry.code.instructions().filter(|one| wanted(one)).count();
        let by_register = count(|one| one.is("ld.param") && one.operands.contains("[%rd"));
        let stores = count(|one| one.is("st.global"));
        assert!(stores > 0, "{}", kernel.name());
        // One for each element written, and none of a whole table.
        assert_eq!(by_register, stores, "{}", kernel.name());
    }
}

#[test]
fn a_flag_is_one_word_that_is_compared_with_0() {
    for instance in &chosen::INSTANCES {
        let kernel = kernel(instance);
        assert_eq!(known_places(&kernel, 0), [0], "{}", kernel.name());
        let symbol = format!("[{}_param_0]", instance.symbol());
        let load = kernel.entry.code.instructions().find(|one| one.operands.ends_with(&symbol));
        let load = load.unwrap_or_else(|| panic!("{}: no load of the flag", kernel.name()));
        let register = load.operands.split(',').next().unwrap_or_default();
        let is_comparison = |one: &&Instruction| one.is("setp") && one.operands.ends_with(&format!("{register}, 0"));
        assert_eq!(load.opcode, "ld.param.b32", "{}", kernel.name());
        assert!(kernel.entry.code.instructions().any(|one| is_comparison(&one)), "{}", kernel.name());
    }
}

#[test]
fn an_address_that_is_looked_at_is_that_of_the_parameter() {
    let kernel = kernel(&addresses_of_constants::INSTANCES[0]);
    assert!(kernel.entry.code.instructions().any(|one| one.is("cvta.param")), "{}", kernel.name());
}
