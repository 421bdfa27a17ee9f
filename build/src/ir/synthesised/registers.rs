//! Registers that the roles of a block share out (`setmaxnreg`): the instruction as functions, and
//! the number of registers with which such a kernel is launched.
//!
//! | symbol | instruction |
//! |---|---|
//! | `tilepipe_registers_dec_40` | `setmaxnreg.dec.sync.aligned.u32 40` |
//! | `tilepipe_registers_inc_232` | `setmaxnreg.inc.sync.aligned.u32 232` |
//!
//! What the roles have together was compared with what the launch gives at compile time, by a rule
//! that is here and in the device crate (`role/map/registers.rs`). If `ptxas` gave fewer, roles
//! that take registers would wait for ever: so the number is fixed, and compared with what `ptxas`
//! says.

use std::collections::BTreeMap;

use crate::Error;
use crate::ir::items::Items;
use crate::ir::kernels::bounds::LaunchBounds;

/// What the names of these functions begin with.
const PREFIX: &str = "tilepipe_registers_";

/// Whether roles of a module share out registers.
pub(crate) fn are_in(module: &str) -> bool {
    module.contains("@tilepipe_registers_")
}

/// The definition of the function of this name, if it is one.
pub(crate) fn definition(name: &str) -> Option<String> {
    let (way, count) = name.strip_prefix(PREFIX)?.split_once('_')?;
    let count: u32 = count.parse().ok()?;
    let known = matches!(way, "dec" | "inc") && (24..=256).contains(&count) && count.is_multiple_of(8);
    known.then(|| {
        let text = format!("setmaxnreg.{way}.sync.aligned.u32 {count};");
        format!(
            "define void @{name}() alwaysinline nounwind {{\n  call void asm sideeffect \"{text}\", \"~{{memory}}\"()\n  ret void\n}}\n"
        )
    })
}

/// Fixes the registers of each thread at the launch of kernels whose roles share them out. Returns
/// their entry symbols with that number.
///
/// # Errors
///
/// [`Error::LaunchBounds`] for one with a bound of its own.
pub(crate) fn fix(
    kernels: &mut BTreeMap<String, LaunchBounds>,
    items: &Items<'_>,
) -> Result<BTreeMap<String, u32>, Error> {
    let mut fixed = BTreeMap::new();
    for (kernel, bounds) in kernels {
        if !items.reaches(kernel, |name| name.starts_with(PREFIX)) {
            continue;
        }
        if bounds.min_blocks.is_some() || bounds.max_registers.is_some() {
            return Err(Error::LaunchBounds {
                kernel: kernel.clone(),
                problem:
                    "has roles that share out its registers, which fixes their number: it has neither `min_blocks` nor \
                          `max_registers`"
                        .to_string(),
            });
        }
        let count = at_launch(bounds.threads);
        bounds.max_registers = Some(count);
        fixed.insert(kernel.clone(), count);
    }
    Ok(fixed)
}

/// As the device crate has it: 65536 for the block, in multiples of 8, and at most 248.
fn at_launch(threads: u32) -> u32 {
    (65536 / threads / 8 * 8).min(248)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_which_instruction_it_is() {
        let text = definition("tilepipe_registers_dec_40").unwrap();
        assert!(text.contains("setmaxnreg.dec.sync.aligned.u32 40;"), "{text}");
        for none in ["dec_16", "dec_41", "inc_264", "add_40", "40", "dec_40_", "dec_"] {
            assert_eq!(definition(&format!("tilepipe_registers_{none}")), None, "{none}");
        }
        assert_eq!(definition("tilepipe_product_fence_n8"), None);
    }

    #[test]
    fn registers_are_fixed_where_roles_share_them_out() {
        let module = "define ptx_kernel void @a$k__1() {\n  call void @role()\n  ret void\n}\n\
                      define ptx_kernel void @a$k__2() {\n  ret void\n}\n\
                      define void @role() {\n  call void @tilepipe_registers_dec_40()\n  ret void\n}\n\
                      define void @tilepipe_registers_dec_40() {\n  ret void\n}\n";
        let items = Items::read(module);
        let bounds =
            |threads| LaunchBounds { threads, min_blocks: None, max_registers: None, parameter_bytes: Vec::new() };
        let mut kernels = BTreeMap::from([("a$k__1".to_string(), bounds(384)), ("a$k__2".to_string(), bounds(384))]);
        let fixed = fix(&mut kernels, &items).unwrap();
        assert_eq!(fixed, BTreeMap::from([("a$k__1".to_string(), 168)]));
        assert_eq!((kernels["a$k__1"].max_registers, kernels["a$k__2"].max_registers), (Some(168), None));
        let error = fix(&mut kernels, &items).unwrap_err().to_string();
        assert!(error.contains("`a$k__1` has roles that share out its registers"), "{error}");
        assert_eq!([128, 256, 512, 640, 1024].map(at_launch), [248, 248, 128, 96, 64]);
    }
}
