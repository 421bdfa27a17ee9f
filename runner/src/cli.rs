//! The command line.

use std::fmt::{self, Display};
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Parser, ValueEnum};
use tilepipe::cpu::Schedule;
use tilepipe_runner::value::DType;

/// Runs tilepipe's kernels on a GPU or on the CPU and checks every element against a reference.
#[derive(Parser, Debug)]
#[command(name = "tilepipe-run", version)]
pub struct Cli {
    /// Run only this kernel (may be repeated; all kernels by default, see --list)
    #[arg(long = "kernel", value_name = "NAME")]
    pub kernels: Vec<String>,

    /// Where to run: on the GPU, on the CPU, or on the GPU if there is one
    #[arg(long, value_enum, default_value = "auto")]
    pub device: DeviceChoice,

    /// How many elements to generate, at least 1; `2^24` is understood. A matrix has about as many [default: 2^26 on a GPU, 2^22 on the
    /// CPU]
    #[arg(long, value_name = "N", value_parser = parse_elements, conflicts_with = "inputs", allow_negative_numbers = true)]
    pub elements: Option<usize>,

    /// Threads a block: numbers that the kernels were built for, or `all` [default: 256,288]
    #[arg(long, value_name = "N", value_delimiter = ',', allow_negative_numbers = true)]
    pub block: Vec<Choice<u32>>,

    /// Pipeline stages: numbers that the kernels were built for, or `all` [default: 2,4]
    #[arg(long, value_name = "N", value_delimiter = ',', allow_negative_numbers = true)]
    pub stages: Vec<Choice<u32>>,

    /// Element types, such as i32, f32x4, bf16 or complex (see --list), or `all` [default: i32,f32x4, or the input file's]
    #[arg(long, value_name = "TYPE", value_delimiter = ',')]
    pub dtype: Vec<Choice<DType>>,

    /// Only instances with this value of another generic argument, such as LEN=1024 or S=WarpScope; may be repeated, and several
    /// values of one name are alternatives [default: all]
    #[arg(long = "variant", value_name = "NAME=VALUE", value_delimiter = ',')]
    pub variants: Vec<VariantChoice>,

    /// A NumPy array to use instead of generated data, once for each input of the kernel: shape (n,) for a row, (height,
    /// width) for a matrix, with a last dimension of 4 or 3 for vectors
    #[arg(long = "input", value_name = "FILE.npy")]
    pub inputs: Vec<PathBuf>,

    /// Where to write the output as a NumPy array (of a sum: one result for each block of the launch); an existing file is replaced only
    /// by a whole, verified one; a symbolic link is followed, and what is no regular file is refused
    #[arg(long, value_name = "FILE.npy")]
    pub output: Option<PathBuf>,

    /// When asynchronous copies land on the CPU: eager, lazy, random or random:SEED [default: lazy]
    #[arg(long, value_parser = parse_schedule)]
    pub schedule: Option<Schedule>,

    /// List the kernels with the types and sizes that they were built for
    #[arg(long)]
    pub list: bool,

    /// The folder with the kernels' PTX and cubins [default: `ptx` beside this program]
    #[arg(long, value_name = "DIR")]
    pub module: Option<PathBuf>,

    /// Leave verified configurations out of the table
    #[arg(long)]
    pub quiet: bool,

    /// Instead of all this: launch kernels whose roles leave, wait and forget at random so many times, and check that no tile is lost or
    /// wrong; a launch of more than 30 seconds ends the program with an error
    #[arg(
        long,
        value_name = "LAUNCHES",
        value_parser = clap::value_parser!(u32).range(1..),
        conflicts_with_all = ["kernels", "elements", "block", "stages", "dtype", "variants", "inputs", "output"]
    )]
    pub stress: Option<u32>,

    /// Only open the device, load the kernels, and say what it is
    #[arg(long, hide = true)]
    pub probe: bool,
}

/// The value of `--device`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DeviceChoice {
    /// The first GPU; an error if there is none.
    Gpu,
    /// The CPU.
    Cpu,
    /// The first GPU if there is one, else the CPU.
    Auto,
}

/// One value of an axis of configurations, or all that the kernels were built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice<T> {
    /// Everything that there is.
    All,
    /// This one.
    Value(T),
}

impl<T: FromStr<Err: Display>> FromStr for Choice<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Choice::All),
            _ => text.parse().map(Choice::Value).map_err(|error| format!("{error} (or `all`)")),
        }
    }
}

impl<T: Display> Display for Choice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::All => f.write_str("all"),
            Choice::Value(value) => value.fmt(f),
        }
    }
}

/// One value of `--variant`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariantChoice {
    /// The generic argument's name.
    pub name: String,
    /// Its value, without the path to it.
    pub value: String,
}

impl FromStr for VariantChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() && !value.is_empty() => {
                Ok(VariantChoice { name: name.to_owned(), value: value.to_owned() })
            }
            _ => Err("write NAME=VALUE, for example LEN=1024; --list shows them".to_owned()),
        }
    }
}

fn parse_elements(text: &str) -> Result<usize, String> {
    let digits = text.replace('_', "");
    let number = match digits.split_once('^') {
        Some((base, exponent)) => base.parse::<usize>().ok().zip(exponent.parse().ok()).map(|(base, exponent)| {
            base.checked_pow(exponent).ok_or_else(|| format!("{text} overflows; at most {} bytes fit", isize::MAX))
        }),
        None if digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.is_empty() => {
            Some(digits.parse().map_err(|_| format!("{text} overflows; at most {} bytes fit", isize::MAX)))
        }
        None => None,
    };
    match number {
        None => Err("not a count of elements; write for example 1000000 or 2^24".to_owned()),
        Some(Ok(0)) => Err("there is nothing to run on 0 elements; at least 1 is needed".to_owned()),
        Some(result) => result,
    }
}

fn parse_schedule(text: &str) -> Result<Schedule, String> {
    match text.split_once(':') {
        None if text == "eager" => Ok(Schedule::Eager),
        None if text == "lazy" => Ok(Schedule::Lazy),
        None if text == "random" => Ok(Schedule::Random { seed: draw_seed() }),
        Some(("random", seed)) => seed
            .parse()
            .map(|seed| Schedule::Random { seed })
            .map_err(|_| format!("`{seed}` is not a seed; give a number from 0 to {}", u64::MAX)),
        _ => Err("choose eager, lazy, random or random:SEED".to_owned()),
    }
}

/// A seed that differs from run to run.
fn draw_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn element_counts() {
        assert_eq!(parse_elements("1000"), Ok(1000));
        assert_eq!(parse_elements("1_000"), Ok(1000));
        assert_eq!(parse_elements("2^24"), Ok(1 << 24));
        assert!(parse_elements("0").unwrap_err().contains("at least 1"));
        assert!(parse_elements("2^64").unwrap_err().contains("overflows"));
        assert!(parse_elements("99999999999999999999").unwrap_err().contains("overflows"));
        for wrong in ["", "-1", "1.5", "x", "2^", "^2", "2^-1"] {
            assert!(parse_elements(wrong).unwrap_err().contains("not a count"), "{wrong}");
        }
    }

    #[test]
    fn variants() {
        let choice = "LEN=1024".parse::<VariantChoice>().unwrap();
        assert_eq!((choice.name.as_str(), choice.value.as_str()), ("LEN", "1024"));
        for wrong in ["", "LEN", "=1", "LEN="] {
            assert!(wrong.parse::<VariantChoice>().unwrap_err().contains("NAME=VALUE"), "{wrong}");
        }
    }

    #[test]
    fn schedules() {
        assert_eq!(parse_schedule("random:7"), Ok(Schedule::Random { seed: 7 }));
        assert_eq!(parse_schedule("eager"), Ok(Schedule::Eager));
        assert!(matches!(parse_schedule("random"), Ok(Schedule::Random { .. })));
        assert!(parse_schedule("random:x").unwrap_err().contains("not a seed"));
        assert!(parse_schedule("eager:1").is_err());
    }
}
