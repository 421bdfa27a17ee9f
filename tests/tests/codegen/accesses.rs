//! Loads and stores.

use tilepipe_tests::flow::Instruction;
use tilepipe_tests::ptx::{is_global_store, is_shared_load};

use crate::kernel::{Kernel, Scope};

#[test]
fn vectors_are_read_and_written_in_one_access() {
    // Where a thread reads only what it stored itself, part of the vector does not go through
    // memory at all.
    let stays_in_registers = |kernel: &Kernel| kernel.scope() == Scope::Thread && !kernel.is_asynchronous();
    for kernel in Kernel::unified().into_iter().filter(|kernel| is_vector(kernel) && !stays_in_registers(kernel)) {
        for access in kernel.entry.code.instructions() {
            let is_data = ["ld.shared", "st.shared", "ld.global", "st.global"].iter().any(|kind| access.is(kind));
            // The synchronous engine fills the missing part of a tile with zeros, two registers'
            // worth at a time.
            let is_zero = access.is("st.shared.b64") && access.operands.ends_with(", 0");
            if is_data && !is_zero && !access.has("volatile") {
                assert!(is_wide(access), "{}: {} {}", kernel.name(), access.opcode, access.operands);
            }
        }
        for steady in kernel.steady_states() {
            for wanted in [is_shared_load, is_global_store] {
                assert!(steady.count(wanted) >= 1, "{}: a round without an access", kernel.name());
            }
        }
    }
}

/// Whether the elements are vectors of 16 bytes.
fn is_vector(kernel: &Kernel) -> bool {
    kernel.instance.generic("T").is_some_and(|element| element.ends_with("x4"))
}

fn is_wide(access: &Instruction) -> bool {
    let words = |count: &str, bits: &str| access.has(count) && access.opcode.ends_with(bits);
    words("v4", "32") || words("v2", "64")
}

#[test]
fn every_access_names_its_state_space_and_none_is_local() {
    for kernel in Kernel::all().into_iter().chain(Kernel::of_tests()) {
        let name = kernel.name();
        assert!(kernel.entry.local_declarations.is_empty(), "{name}: {:?}", kernel.entry.local_declarations);
        for one in kernel.entry.code.instructions() {
            let memory = ["ld", "st", "atom", "red"].iter().any(|kind| one.is(kind));
            let space = ["param", "shared", "global", "const"].iter().any(|space| one.has(space));
            assert!(!memory || space, "{name}: a generic access: {} {}", one.opcode, one.operands);
            assert!(!one.has("local"), "{name}: {} {}", one.opcode, one.operands);
        }
    }
}
