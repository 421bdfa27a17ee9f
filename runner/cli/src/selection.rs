//! Which instances of the kernels a command line may run on the CPU.

use std::fmt::{self, Display};

use crate::cli::Cli;
use crate::dtype::DType;
use crate::kernels::{ATTENTION, GEMM, KERNELS, STRESS_KERNELS};
use crate::values::Choice;

/// The element types of a run without `--dtype`.
pub const DEFAULT_DTYPES: [DType; 2] = [DType::I32, DType::F32x4];
/// The element types of [`GEMM`] and [`ATTENTION`] without `--dtype`.
pub const DEFAULT_DTYPES_OF_PRODUCTS: [DType; 1] = [DType::BF16];
/// The block sizes of a run without `--block`; the second one is 256 consumers and a warp of
/// producers.
pub const DEFAULT_BLOCKS: [u32; 2] = [256, 288];
/// The stage counts of a run without `--stages`.
pub const DEFAULT_STAGES: [u32; 2] = [2, 4];

/// Which instances get code for the CPU, as the value of [`Selection::VARIABLE`].
///
/// All that a command line may run on the CPU is among them; the program is compiled much sooner
/// than with all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    kernels: Vec<String>,
    /// Generic arguments with the values wanted; an argument that is not there may have any.
    axes: Vec<(String, Vec<String>)>,
}

impl Selection {
    /// The environment variable that `#[kernel]` reads it from.
    pub const VARIABLE: &str = "TILEPIPE_INSTANCES";

    /// What a command line may run.
    pub fn of(cli: &Cli) -> Self {
        if cli.stress.is_some() {
            return Selection { kernels: STRESS_KERNELS.map(str::to_owned).to_vec(), axes: Vec::new() };
        }
        let kernels = if cli.kernels.is_empty() { KERNELS.map(str::to_owned).to_vec() } else { cli.kernels.clone() };
        let mut axes: Vec<(String, Vec<String>)> = Vec::new();
        let is_attention = kernels.iter().any(|name| name == ATTENTION);
        // Those of attention say how the heads lie, and name no generic arguments.
        for variant in cli.variants.iter().filter(|_| !is_attention) {
            match axes.iter_mut().find(|(name, _)| *name == variant.name) {
                Some((_, values)) => values.push(variant.value.clone()),
                None => axes.push((variant.name.clone(), vec![variant.value.clone()])),
            }
        }
        // Without `--dtype` the type is the files', which nobody has read yet.
        let is_of_files = cli.dtype.is_empty() && !cli.inputs.is_empty();
        let is_gemm = kernels.iter().any(|name| name == GEMM);
        let defaults: &[DType] = if is_gemm || is_attention { &DEFAULT_DTYPES_OF_PRODUCTS } else { &DEFAULT_DTYPES };
        let types = if is_of_files { None } else { values(&cli.dtype, defaults) };
        axes.extend(types.map(|values| ("T".to_owned(), values)));
        if is_gemm {
            // The factors are as the files have them. The tiles and their stages follow from the
            // extents, which nobody has read yet.
            let layouts = [("A", "Along"), ("B", "Across")];
            axes.extend(layouts.map(|(name, value)| (name.to_owned(), vec![value.to_owned()])));
        } else if !is_attention {
            axes.extend(values(&cli.block, &DEFAULT_BLOCKS).map(|values| ("THREADS".to_owned(), values)));
            axes.extend(values(&cli.stages, &DEFAULT_STAGES).map(|values| ("STAGES".to_owned(), values)));
        }
        Selection { kernels, axes }
    }

    /// Reads what [`Display`] writes.
    pub fn parse(text: &str) -> Option<Self> {
        let list = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        let mut parts = text.split(';');
        let kernels = list(parts.next()?);
        let axes = parts.map(|part| part.split_once('=').map(|(name, values)| (name.to_owned(), list(values))));
        Some(Selection { kernels, axes: axes.collect::<Option<_>>()? })
    }

    /// Whether a program with this selection can run all that one with the other can be asked for.
    pub fn covers(&self, other: &Selection) -> bool {
        // Types, blocks and stages narrow what another argument leaves.
        let is_narrowing = |(name, _): &&(String, Vec<String>)| ["T", "THREADS", "STAGES"].contains(&name.as_str());
        let others = |of: &Selection| of.axes.iter().filter(|axis| !is_narrowing(axis)).cloned().collect::<Vec<_>>();
        other.kernels.iter().all(|kernel| self.kernels.contains(kernel))
            && others(self) == others(other)
            && self.axes.iter().filter(is_narrowing).all(|(name, ours)| {
                let theirs = other.axes.iter().find(|(known, _)| known == name);
                theirs.is_some_and(|(_, theirs)| theirs.iter().all(|value| ours.contains(value)))
            })
    }
}

impl Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kernels.join(","))?;
        self.axes.iter().try_for_each(|(name, values)| write!(f, ";{name}={}", values.join(",")))
    }
}

/// The values that are asked for, or the defaults; `None` if those are all.
fn values<T: Copy + Display>(asked: &[Choice<T>], defaults: &[T]) -> Option<Vec<String>> {
    if asked.is_empty() {
        return Some(defaults.iter().map(T::to_string).collect());
    }
    let value = |choice: &Choice<T>| match choice {
        Choice::All => None,
        Choice::Value(value) => Some(value.to_string()),
    };
    asked.iter().map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Selection {
        Selection::of(&Cli::read("cargo xtask run", line.split_whitespace()).unwrap())
    }

    #[test]
    fn a_selection_has_what_is_asked_for_or_the_defaults() {
        for (line, expected) in [
            ("--kernel sum", "sum;T=i32,f32x4;THREADS=256,288;STAGES=2,4"),
            ("--kernel sum --kernel dot --dtype all --block 128", "sum,dot;THREADS=128;STAGES=2,4"),
            ("--kernel sum --input a.npy --stages all --block all", "sum"),
            ("--kernel sum --input a.npy --dtype u8 --stages all --block all", "sum;T=u8"),
            (
                "--kernel sum --variant A=1 --variant B=x --variant A=2 --dtype all --stages 3 --block all",
                "sum;A=1,2;B=x;STAGES=3",
            ),
            ("--kernel gemm", "gemm;T=bf16;A=Along;B=Across"),
            ("--kernel gemm --input a.npy --input b.npy", "gemm;A=Along;B=Across"),
            ("--kernel gemm --input a.npy --input b.npy --dtype f16", "gemm;T=f16;A=Along;B=Across"),
        ] {
            assert_eq!(of(line).to_string(), expected);
            assert_eq!(Selection::parse(expected), Some(of(line)), "{line}");
        }
        assert!(of("").to_string().starts_with(&format!("{};T=i32,f32x4;", KERNELS.join(","))));
        assert_eq!(of("--stress 5").to_string(), STRESS_KERNELS.join(","));
    }

    #[test]
    fn a_wider_selection_covers_a_narrower_one() {
        for (wide, narrow) in [
            ("", "--kernel sum --kernel dot"),
            ("", "--dtype i32 --stages 4"),
            ("--dtype all", "--dtype u8,i32"),
            ("--kernel sum --variant A=1", "--kernel sum --variant A=1 --block 256"),
        ] {
            assert!(of(wide).covers(&of(narrow)), "{wide:?} {narrow:?}");
            assert!(of(wide).covers(&of(wide)) && !of(narrow).covers(&of(wide)), "{wide:?} {narrow:?}");
        }
        for (one, other) in [("", "--stress 3"), ("", "--dtype u8"), ("", "--variant A=1"), ("--variant A=1", "")] {
            assert!(!of(one).covers(&of(other)), "{one:?} {other:?}");
        }
    }
}
