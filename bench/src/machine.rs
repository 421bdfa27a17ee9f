//! What a record says about when and where it was made.

pub mod conditions;
pub mod versions;

use std::fs;
use std::time::{Duration, SystemTime};

use clap::Args;

/// Where a record comes from.
#[derive(Args, Debug)]
pub struct Origin {
    /// The command to put on record [default: this program's own command line]
    #[arg(long, value_name = "TEXT")]
    command: Option<String>,

    /// The commit to put on record
    #[arg(long, value_name = "HASH", default_value = "unknown")]
    pub commit: String,
}

impl Origin {
    /// An origin with both.
    #[cfg(test)]
    pub fn of(command: &str, commit: &str) -> Origin {
        Origin { command: Some(command.to_owned()), commit: commit.to_owned() }
    }

    /// Returns the command to put on record.
    pub fn command(&self) -> String {
        self.command.clone().unwrap_or_else(|| std::env::args().collect::<Vec<_>>().join(" "))
    }
}

/// Returns the CPU's model, or `unknown` where the system does not tell.
pub fn cpu() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    model_in(&text).unwrap_or_else(|| "unknown".to_owned())
}

/// Returns how many threads of the CPU this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Returns the version of the loaded NVIDIA kernel driver, or `unknown` where the system does not
/// tell.
pub fn driver_version() -> String {
    let module = fs::read_to_string("/sys/module/nvidia/version").ok();
    let module = module.or_else(|| fs::read_to_string("/proc/driver/nvidia/version").ok());
    module.and_then(|text| version_in(&text)).unwrap_or_else(|| "unknown".to_owned())
}

/// Returns the current date and time, UTC, as `2026-01-31T23:59:59Z`.
pub fn now() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    date_and_time(since.as_secs())
}

/// Returns a number that differs from run to run.
pub fn seed() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

/// Finds the first processor's `model name`.
fn model_in(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, model)| model.trim().to_owned())
}

/// Finds the first word that looks like `580.95.05`.
fn version_in(text: &str) -> Option<String> {
    let is_version = |word: &&str| word.contains('.') && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.split_whitespace().find(is_version).map(str::to_owned)
}

fn date_and_time(seconds: u64) -> String {
    let (mut days, second) = (seconds / 86_400, seconds % 86_400);
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year}-{:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", month + 1, days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(date_and_time(0), "1970-01-01T00:00:00Z");
        assert_eq!(date_and_time(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(date_and_time(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(date_and_time(1_798_761_599), "2026-12-31T23:59:59Z");
    }

    #[test]
    fn driver_versions() {
        assert_eq!(version_in("580.95.05\n").unwrap(), "580.95.05");
        let line = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build";
        assert_eq!(version_in(line).unwrap(), "580.95.05");
        assert_eq!(version_in("nothing here."), None);
    }

    #[test]
    fn cpu_models() {
        let text = "processor\t: 0\nvendor_id\t: X\nmodel name\t: A CPU: 3.0 GHz\n\nmodel name\t: B\n";
        assert_eq!(model_in(text).unwrap(), "A CPU: 3.0 GHz");
        assert_eq!(model_in("processor : 0"), None);
    }
}
