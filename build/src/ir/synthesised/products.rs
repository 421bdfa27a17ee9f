//! Products of the tensor cores (`wgmma`): their instructions as functions, which the device crate
//! declares and the link step defines.
//!
//! There is one instruction for each shape, and an accumulator is in as many registers as the shape
//! says, so that `runtime.ll` would have hundreds of functions of hundreds of lines. A function's
//! name says which it is:
//!
//! | symbol | instruction |
//! |---|---|
//! | `tilepipe_product_fence_n64` | `wgmma.fence.sync.aligned` |
//! | `tilepipe_product_bf16_n64_kk` | `wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16` |
//! | `tilepipe_product_wait1_n64` | `wgmma.wait_group.sync.aligned 1` |
//!
//! The last two letters of a product say which dimension of A and of B is contiguous: `k`, or `m`
//! and `n`, where the instruction transposes.
//!
//! Each takes the address of the accumulator's registers, reads all of them, and ties each to the
//! output in its place: LLVM then moves nothing that reads or writes them past the instruction, and
//! once the call is inlined no memory is left of them (docs/decisions/71).

use std::fmt::Write;

/// What the names of these functions begin with.
const PREFIX: &str = "tilepipe_product_";

/// Whether a module has products.
pub(crate) fn are_in(module: &str) -> bool {
    module.contains("@tilepipe_product_")
}

/// The definition of the function of this name, if it is one.
pub(crate) fn definition(name: &str) -> Option<String> {
    let mut definition = String::new();
    Product::parse(name)?.define(name, &mut definition);
    Some(definition)
}

/// One of the instructions.
#[derive(Debug, PartialEq, Eq)]
struct Product {
    /// Columns of the accumulator, of whose 64 rows each thread has a half of a register a column.
    columns: usize,
    step: Step,
}

#[derive(Debug, PartialEq, Eq)]
enum Step {
    Fence,
    /// Waits until so many groups are left at most.
    Wait(u32),
    /// Whether A and B are read transposed: whether their contiguous dimension is not K.
    Multiply {
        element: &'static str,
        transposed: [bool; 2],
    },
}

impl Product {
    fn parse(symbol: &str) -> Option<Self> {
        let mut parts = symbol.strip_prefix(PREFIX)?.split('_');
        let (what, columns, layout) = (parts.next()?, parts.next()?, parts.next());
        let columns: usize = columns.strip_prefix('n')?.parse().ok()?;
        let known = (8..=256).contains(&columns) && columns.is_multiple_of(8) && parts.next().is_none();
        let step = match (what, layout) {
            ("fence", None) => Step::Fence,
            ("bf16" | "f16", Some(layout)) => {
                let element = if what == "bf16" { "bf16" } else { "f16" };
                let transposed = match layout {
                    "kk" => [false, false],
                    "kn" => [false, true],
                    "mk" => [true, false],
                    "mn" => [true, true],
                    _ => return None,
                };
                Step::Multiply { element, transposed }
            }
            (wait, None) => Step::Wait(wait.strip_prefix("wait")?.parse().ok().filter(|groups| *groups < 8)?),
            _ => return None,
        };
        known.then_some(Product { columns, step })
    }

    /// Writes the function of this name.
    fn define(&self, name: &str, to: &mut String) {
        let registers = self.columns / 2;
        // The inputs that are tied to outputs are counted as operands too.
        let operand = |nth: usize| format!("${}", 2 * registers + nth);
        let (parameters, arguments, constraints, text) = match self.step {
            Step::Fence => ("", "", "", "wgmma.fence.sync.aligned;".to_string()),
            Step::Wait(groups) => ("", "", "", format!("wgmma.wait_group.sync.aligned {groups};")),
            Step::Multiply { element, transposed: [a, b] } => {
                let sums: Vec<String> = (0..registers).map(|at| format!("${at}")).collect();
                let text = format!(
                    "{{ .reg .pred p; setp.ne.b32 p, {}, 0; wgmma.mma_async.sync.aligned.m64n{}k16.f32.{element}.{element} {{{}}}, {}, {}, \
                     p, 1, 1, {}, {}; }}",
                    operand(2),
                    self.columns,
                    sums.join(", "),
                    operand(0),
                    operand(1),
                    u8::from(a),
                    u8::from(b),
                );
                (", i64 %a, i64 %b, i32 %add", ", i64 %a, i64 %b, i32 %add", ",l,l,r", text)
            }
        };
        let all =
            |one: &dyn Fn(usize) -> String, between: &str| (0..registers).map(one).collect::<Vec<_>>().join(between);
        let outputs = all(&|_| "=f".to_string(), ",");
        let tied = all(&|at| at.to_string(), ",");
        let values = all(&|at| format!("float %v{at}"), ", ");
        let sums = format!("{{ {} }}", all(&|_| "float".to_string(), ", "));
        let mut line = |line: String| writeln!(to, "{line}").expect("writing to a string");
        line(format!("define void @{name}(ptr %sums{parameters}) alwaysinline nounwind {{"));
        for at in 0..registers {
            line(format!("  %p{at} = getelementptr inbounds float, ptr %sums, i64 {at}"));
            line(format!("  %v{at} = load float, ptr %p{at}, align 4"));
        }
        line(format!(
            "  %r = call {sums} asm sideeffect \"{text}\", \"{outputs},{tied}{constraints},~{{memory}}\"({values}{arguments})"
        ));
        for at in 0..registers {
            line(format!("  %e{at} = extractvalue {sums} %r, {at}"));
            line(format!("  store float %e{at}, ptr %p{at}, align 4"));
        }
        line("  ret void\n}".to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::{Product, Step};

    #[test]
    fn a_name_says_which_instruction_it_is() {
        let product = |symbol: &str| Product::parse(symbol);
        assert_eq!(product("tilepipe_product_fence_n8"), Some(Product { columns: 8, step: Step::Fence }));
        assert_eq!(product("tilepipe_product_wait1_n256"), Some(Product { columns: 256, step: Step::Wait(1) }));
        let step = Step::Multiply { element: "f16", transposed: [false, true] };
        assert_eq!(product("tilepipe_product_f16_n64_kn"), Some(Product { columns: 64, step }));
        for none in [
            "n8",
            "fence_n4",
            "fence_n12",
            "fence_n264",
            "fence_n8_kk",
            "wait8_n8",
            "wait_n8",
            "bf16_n8",
            "bf16_n8_nk",
            "f32_n8_kk",
        ] {
            let symbol = format!("tilepipe_product_{none}");
            assert_eq!(product(&symbol), None, "{none}");
        }
        assert_eq!(product("tilepipe_tensor_copy_2d"), None);
    }
}
