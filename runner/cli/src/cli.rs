//! The options, and what of them makes no sense together.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, ValueEnum};

use crate::dtype::DType;
use crate::kernels::{ATTENTION, GEMM, KERNELS};
use crate::values::{Choice, Schedule, VariantChoice, parse_elements};

// Clap does not fold lines here: each ends in the help where it ends in this file.
/// Runs tilepipe's kernels on a GPU or on the CPU and checks every element against a reference.
#[derive(Parser, Debug)]
#[command(name = "tilepipe-run", version, after_help = EXIT_STATUS)]
pub struct Cli {
    /// Run only this kernel (may be repeated; all but gemm and attention by default)
    #[arg(
        long = "kernel",
        value_name = "NAME",
        value_parser = PossibleValuesParser::new(KERNELS.into_iter().chain([GEMM, ATTENTION])),
        hide_possible_values = true
    )]
    pub kernels: Vec<String>,

    /// Where to run: on the GPU, on the CPU, or on the GPU if there is one
    #[arg(long, value_enum, default_value = "auto")]
    pub device: DeviceChoice,

    /// How many elements to generate, at least 1; `2^24` is understood. A matrix has about as
    /// many [default: 2^26 on a GPU, 2^22 on the CPU, but 2^18 of gemm and less of attention]
    #[arg(
        long,
        value_name = "N",
        value_parser = parse_elements,
        conflicts_with = "inputs",
        allow_negative_numbers = true,
        verbatim_doc_comment
    )]
    pub elements: Option<usize>,

    /// Threads per block: numbers that the kernels were built for, or `all` [default: 256,288]
    #[arg(long, value_name = "N", value_delimiter = ',', allow_negative_numbers = true)]
    pub block: Vec<Choice<u32>>,

    /// Pipeline stages: numbers that the kernels were built for, or `all` [default: 2,4]
    #[arg(long, value_name = "N", value_delimiter = ',', allow_negative_numbers = true)]
    pub stages: Vec<Choice<u32>>,

    /// Element types, such as i32, f32x4, bf16 or complex (see --list), or `all`
    /// [default: i32,f32x4, or the input file's; of gemm and attention bf16, or f16 if a file
    /// holds that]
    #[arg(long, value_name = "TYPE", value_delimiter = ',', verbatim_doc_comment)]
    pub dtype: Vec<Choice<DType>>,

    /// Only instances with this value of another generic argument, such as LEN=1024 or
    /// S=WarpScope; may be repeated, and several values of one name are alternatives; of
    /// attention HEAD=64, SEQUENCES=2 and CAUSAL=true
    /// [default: all]
    #[arg(long = "variant", value_name = "NAME=VALUE", value_delimiter = ',', verbatim_doc_comment)]
    pub variants: Vec<VariantChoice>,

    /// A NumPy array to use instead of generated data, once for each input of the kernel: shape
    /// (n,) for a row, (height, width) for a matrix, (matrices, height, width) for a batch, with
    /// a last dimension of 4 or 3 for vectors; for `--kernel blur` a PNG, JPEG or PNM picture of
    /// 8-bit grey or RGB, of less than 2 GiB; for `--kernel gemm` the left matrix, then the right
    /// one, of f32, which is rounded to --dtype, or of f16; for `--kernel attention` queries,
    /// keys and values of such types, with a row for each token and the heads side by side
    #[arg(long = "input", value_name = "FILE", verbatim_doc_comment)]
    pub inputs: Vec<PathBuf>,

    /// Where to write the output as a NumPy array (of a sum: one result for each block of the
    /// launch; of gemm and attention in bf16: as f32), or of a picture as one, in the format that
    /// its name ends in: .png, .jpg, .jpeg, .pgm, .ppm or .pnm; an existing file is replaced only
    /// by a whole, verified one; a symbolic link is followed, and what is no regular file is
    /// refused
    #[arg(long, value_name = "FILE", verbatim_doc_comment)]
    pub output: Option<PathBuf>,

    /// When asynchronous copies land on the CPU: eager, lazy, random or random:SEED
    /// [default: lazy]
    #[arg(long, verbatim_doc_comment)]
    pub schedule: Option<Schedule>,

    /// List the kernels with the types and sizes that they were built for
    #[arg(long)]
    pub list: bool,

    /// The folder with the kernels' PTX and cubins [default: what `cargo xtask run` builds for
    /// the GPU; without it `ptx` beside this program, or `test-ptx/kernels` with --stress]
    #[arg(long, value_name = "DIR", verbatim_doc_comment)]
    pub module: Option<PathBuf>,

    /// Leave verified configurations out of the table
    #[arg(long)]
    pub quiet: bool,

    /// Instead of all this: launch kernels whose roles leave, wait and forget at random so many
    /// times, and check that no tile is lost or wrong; a launch of more than 30 seconds ends the
    /// program with an error
    #[arg(
        long,
        value_name = "LAUNCHES",
        value_parser = clap::value_parser!(u32).range(1..),
        conflicts_with_all = ["kernels", "elements", "block", "stages", "dtype", "variants", "inputs", "output"],
        verbatim_doc_comment
    )]
    pub stress: Option<u32>,

    /// Only open the device, load the kernels, and say what it is
    #[arg(long, hide = true)]
    pub probe: bool,

    /// Only check what is asked for, and print the GPU's architecture, such as sm_90
    #[arg(long, hide = true)]
    pub print_architecture: bool,
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

/// What `--help` says of the exit status.
const EXIT_STATUS: &str = "Exit status:
  0  all is done, and every result is right
  1  a result is wrong, or something failed
  2  the command line is wrong
  3  a GPU was asked for, and there is none";

impl Cli {
    /// Reads the arguments of a program that its user calls `program`, such as `cargo xtask run`;
    /// its name is not among them.
    ///
    /// # Errors
    ///
    /// What to print instead of going on: why the arguments are wrong, the help or the version.
    pub fn read(
        program: &str,
        arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    ) -> Result<Self, clap::Error> {
        let mut command = Self::command().bin_name(program).no_binary_name(true);
        let matches = command.try_get_matches_from_mut(arguments)?;
        let cli = Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
        if cli.schedule.is_some() && cli.device == DeviceChoice::Gpu {
            return Err(command.error(ErrorKind::ArgumentConflict, SCHEDULE_OF_A_GPU));
        }
        Ok(cli)
    }
}

const SCHEDULE_OF_A_GPU: &str =
    "--schedule is for the CPU's model of asynchronous copies; leave it out, or use --device cpu";

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Cli, clap::Error> {
        Cli::read("cargo xtask run", line.split_whitespace())
    }

    #[track_caller]
    fn refusal(line: &str) -> String {
        let error = read(line).expect_err(line);
        assert_eq!(error.exit_code(), 2, "{line}");
        error.to_string()
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_wrong_kernel_gets_the_nearest_and_all_that_there_are() {
        assert_eq!(read("--kernel sum --kernel dot").unwrap().kernels, ["sum", "dot"]);
        for (wrong, nearest) in
            [("with_stagin", "with_staging"), ("transpos", "transpose"), ("multiply_add", "multiply_adds")]
        {
            let message = refusal(&format!("--kernel {wrong}"));
            assert!(message.contains(&format!("a similar value exists: '{nearest}'")), "{message}");
            assert!(KERNELS.iter().all(|name| message.contains(name)), "{message}");
        }
        let message = refusal("--kernel qqq");
        assert!(!message.contains("similar") && message.contains("example_kernel"), "{message}");
    }

    #[test]
    fn a_schedule_is_no_matter_of_a_gpu() {
        assert!(refusal("--device gpu --schedule lazy").contains("use --device cpu"));
        assert_eq!(read("--schedule lazy").unwrap().schedule, Some(Schedule::Lazy), "there may be no GPU");
    }

    #[test]
    fn help_is_for_the_program_that_its_user_calls_and_lists_each_exit_status() {
        let help = read("--help").unwrap_err();
        assert_eq!((help.kind(), help.exit_code()), (ErrorKind::DisplayHelp, 0));
        let help = help.to_string();
        assert!(help.contains("Usage: cargo xtask run [OPTIONS]"), "{help}");
        for status in ["0  all is done", "1  a result is wrong", "2  the command", "3  a GPU was asked for"] {
            assert!(help.contains(status), "{status}: {help}");
        }
        assert!(help.lines().all(|line| line.len() <= 100), "{help}");
        assert!(!help.contains("--probe") && !help.contains("--print-architecture"), "{help}");
    }

    #[test]
    fn messages_name_the_options() {
        assert!(refusal("--device tpu").contains("gpu, cpu, auto"));
        assert!(refusal("--dtype f8").contains("choose one of u8, i8"));
        assert!(refusal("--stress 5 --kernel sum").contains("--kernel"));
        assert!(refusal("--elemnts 5").contains("'--elements'"));
    }
}
