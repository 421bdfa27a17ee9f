//! `cargo xtask`: answers what it can at once, else builds `xtask-tools` and becomes it.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use xtask_front::build::{self, Program};
use xtask_front::help;
use xtask_front::request::{self, Request};

/// The program that has the subcommands.
const TOOLS: Program = Program {
    what: "the commands of `cargo xtask`",
    package: "xtask-tools",
    name: "xtask-tools",
    profile: "xtask",
    // Measured on 2 idle cores: 24 to 26 s.
    first_time: "about 25 s",
};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match request::understand(&arguments) {
        Request::Help(text) => help::print(text),
        Request::Unknown(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
        Request::Tools => start(&arguments).unwrap_or_else(|message| {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }),
    }
}

fn start(arguments: &[OsString]) -> Result<ExitCode, String> {
    let program = TOOLS.build()?;
    let mut command = Command::new(&program);
    build::become_program(command.args(arguments))
        .map_err(|error| format!("cannot start `{}`: {error}", program.display()))
}
