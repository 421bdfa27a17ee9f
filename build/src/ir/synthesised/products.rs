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
//! | `tilepipe_product_hold_n64` | none: what comes before stays before what comes behind |
//! | `tilepipe_product_hold_r16` | none: 16 registers of a factor are kept until here |
//!
//! The last two letters of a product say which dimension of A and of B is contiguous: `k`, or `m`
//! and `n`, where the instruction transposes; `r` is an A in registers, four of a thread's. With
//! `_new` behind them it overwrites the accumulator, of which nothing is read.
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
    /// Registers of a thread that it takes and returns: of the accumulator a half for each of its
    /// columns.
    registers: usize,
    step: Step,
}

#[derive(Debug, PartialEq, Eq)]
enum Step {
    Fence,
    /// Waits until so many groups are left at most.
    Wait(u32),
    /// Nothing but the tie, of an accumulator or of a factor in registers.
    Hold {
        is_factor: bool,
    },
    Multiply {
        element: &'static str,
        a: Left,
        /// Whether B is read transposed: whether its contiguous dimension is not K.
        transposed: bool,
        /// Whether it adds to what the accumulator has, if the caller says so.
        adds: bool,
    },
}

/// Where A is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    /// In shared memory, read transposed or not.
    Shared { transposed: bool },
    /// In registers.
    Registers,
}

/// Registers of a thread that have A's 16 elements along K.
const OF_A: usize = 4;

impl Product {
    fn parse(symbol: &str) -> Option<Self> {
        let mut parts = symbol.strip_prefix(PREFIX)?.split('_');
        let (what, size, layout, new) = (parts.next()?, parts.next()?, parts.next(), parts.next());
        let (kind, size) = (size.get(..1)?, size.get(1..)?.parse::<usize>().ok()?);
        let is_factor = kind == "r";
        let is_size = match kind {
            "n" => (8..=256).contains(&size) && size.is_multiple_of(8),
            "r" => (OF_A..=64).contains(&size) && size.is_multiple_of(OF_A) && what == "hold",
            _ => false,
        };
        let step = match (what, layout, new) {
            ("fence", None, None) => Step::Fence,
            ("hold", None, None) => Step::Hold { is_factor },
            ("bf16" | "f16", Some(layout), None | Some("new")) => {
                let element = if what == "bf16" { "bf16" } else { "f16" };
                let (a, transposed) = match layout {
                    "kk" => (Left::Shared { transposed: false }, false),
                    "kn" => (Left::Shared { transposed: false }, true),
                    "mk" => (Left::Shared { transposed: true }, false),
                    "mn" => (Left::Shared { transposed: true }, true),
                    "rk" => (Left::Registers, false),
                    "rn" => (Left::Registers, true),
                    _ => return None,
                };
                Step::Multiply { element, a, transposed, adds: new.is_none() }
            }
            (wait, None, None) => Step::Wait(wait.strip_prefix("wait")?.parse().ok().filter(|groups| *groups < 8)?),
            _ => return None,
        };
        let registers = if is_factor { size } else { size / 2 };
        (is_size && parts.next().is_none()).then_some(Product { registers, step })
    }

    /// Writes the function of this name.
    fn define(&self, name: &str, to: &mut String) {
        let registers = self.registers;
        // The inputs that are tied to outputs are counted as operands too.
        let (reads, kind, letter) = match self.step {
            Step::Multiply { adds, .. } => (adds, "float", "f"),
            Step::Hold { is_factor: true } => (true, "i32", "r"),
            _ => (true, "float", "f"),
        };
        let tied = if reads { registers } else { 0 };
        let operand = |nth: usize| format!("${}", registers + tied + nth);
        let (inputs, text) = match self.step {
            Step::Fence => (String::new(), "wgmma.fence.sync.aligned;".to_string()),
            Step::Wait(groups) => (String::new(), format!("wgmma.wait_group.sync.aligned {groups};")),
            Step::Hold { .. } => (String::new(), String::new()),
            Step::Multiply { element, a, transposed, adds } => {
                let list = |operands: &mut dyn Iterator<Item = String>| operands.collect::<Vec<_>>().join(", ");
                let sums = list(&mut (0..registers).map(|at| format!("${at}")));
                let (mut inputs, left, of_a) = match a {
                    Left::Shared { .. } => ("i64 %a".to_string(), operand(0), 1),
                    Left::Registers => (
                        list(&mut (0..OF_A).map(|at| format!("i32 %a{at}"))),
                        format!("{{{}}}", list(&mut (0..OF_A).map(operand))),
                        OF_A,
                    ),
                };
                inputs += ", i64 %b";
                let (ask, adds) = match adds {
                    true => {
                        inputs += ", i32 %add";
                        (format!(".reg .pred p; setp.ne.b32 p, {}, 0; ", operand(of_a + 1)), "p")
                    }
                    false => (String::new(), "0"),
                };
                // What is in registers lies along K.
                let of_left = match a {
                    Left::Shared { transposed } => format!(", {}", u8::from(transposed)),
                    Left::Registers => String::new(),
                };
                let text = format!(
                    "{{ {ask}wgmma.mma_async.sync.aligned.m64n{}k16.f32.{element}.{element} {{{sums}}}, {left}, {}, {adds}, 1, 1{of_left}, \
                     {}; }}",
                    2 * registers,
                    operand(of_a),
                    u8::from(transposed),
                );
                (inputs, text)
            }
        };
        let constraint = |input: &str| if input.starts_with("i64") { ",l" } else { ",r" };
        let constraints: String = inputs.split(", ").filter(|input| !input.is_empty()).map(constraint).collect();
        let further = if inputs.is_empty() { String::new() } else { format!(", {inputs}") };
        let all =
            |one: &dyn Fn(usize) -> String, between: &str| (0..registers).map(one).collect::<Vec<_>>().join(between);
        let outputs = all(&|_| format!("={letter}"), ",");
        let (ties, values) = match reads {
            true => {
                (format!(",{}", all(&|at| at.to_string(), ",")), all(&|at| format!("{kind} %v{at}"), ", ") + &further)
            }
            false => (String::new(), inputs.clone()),
        };
        let sums = format!("{{ {} }}", all(&|_| kind.to_string(), ", "));
        let mut line = |line: String| writeln!(to, "{line}").expect("writing to a string");
        line(format!("define void @{name}(ptr %sums{further}) alwaysinline nounwind {{"));
        for at in 0..registers {
            line(format!("  %p{at} = getelementptr inbounds {kind}, ptr %sums, i64 {at}"));
            if reads {
                line(format!("  %v{at} = load {kind}, ptr %p{at}, align 4"));
            }
        }
        line(format!(
            "  %r = call {sums} asm sideeffect \"{text}\", \"{outputs}{ties}{constraints},~{{memory}}\"({values})"
        ));
        for at in 0..registers {
            line(format!("  %e{at} = extractvalue {sums} %r, {at}"));
            line(format!("  store {kind} %e{at}, ptr %p{at}, align 4"));
        }
        line("  ret void\n}".to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::{Left, Product, Step};

    #[test]
    fn a_name_says_which_instruction_it_is() {
        let product = |symbol: &str| Product::parse(symbol);
        assert_eq!(product("tilepipe_product_fence_n8"), Some(Product { registers: 4, step: Step::Fence }));
        assert_eq!(product("tilepipe_product_wait1_n256"), Some(Product { registers: 128, step: Step::Wait(1) }));
        let multiply = |a, adds| Step::Multiply { element: "f16", a, transposed: true, adds };
        let shared = Left::Shared { transposed: false };
        for (symbol, registers, step) in [
            ("f16_n64_kn", 32, multiply(shared, true)),
            ("f16_n64_kn_new", 32, multiply(shared, false)),
            ("f16_n8_rn", 4, multiply(Left::Registers, true)),
            ("hold_n64", 32, Step::Hold { is_factor: false }),
            ("hold_r20", 20, Step::Hold { is_factor: true }),
        ] {
            assert_eq!(product(&format!("tilepipe_product_{symbol}")), Some(Product { registers, step }), "{symbol}");
        }
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
            "bf16_n8_kr",
            "bf16_n8_kk_old",
            "bf16_n8_kk_new_new",
            "fence_n8_new",
            "hold_r6",
            "hold_r68",
            "fence_r8",
            "bf16_r8_kk",
            "hold_",
        ] {
            let symbol = format!("tilepipe_product_{none}");
            assert_eq!(product(&symbol), None, "{none}");
        }
        assert_eq!(product("tilepipe_tensor_copy_2d"), None);
    }
}
