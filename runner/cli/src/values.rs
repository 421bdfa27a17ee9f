//! The values that options take.

use std::fmt::{self, Display};
use std::str::FromStr;

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

/// The value of `--schedule`: when asynchronous copies land on the CPU, as
/// `tilepipe::cpu::Schedule` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// At once.
    Eager,
    /// As late as the kernel allows.
    Lazy,
    /// At random.
    Random {
        /// What the random numbers start from.
        seed: u64,
    },
}

/// `random` alone draws a seed that differs from run to run.
impl FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
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
}

/// Reads the value of `--elements`.
///
/// # Errors
///
/// What is wrong with it and what is understood.
pub fn parse_elements(text: &str) -> Result<usize, String> {
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

fn draw_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let schedule = |text: &str| text.parse::<Schedule>();
        assert_eq!(schedule("random:7"), Ok(Schedule::Random { seed: 7 }));
        assert_eq!(schedule("eager"), Ok(Schedule::Eager));
        assert!(matches!(schedule("random"), Ok(Schedule::Random { .. })));
        assert!(schedule("random:x").unwrap_err().contains("not a seed"));
        assert!(schedule("eager:1").is_err());
    }
}
