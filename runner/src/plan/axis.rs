//! Values asked for along one axis of configurations, such as block sizes.

use std::fmt::{self, Display};

use tilepipe_runner_cli::Choice;

/// The values asked for along one axis.
pub enum Axis<T> {
    /// Nothing was asked for: these, as far as the kernel was built for them.
    Default(Vec<T>),
    /// All that the kernel was built for.
    All,
    /// Exactly these.
    Given(Vec<T>),
}

impl<T: Copy> Axis<T> {
    /// Reads an option's values; `defaults` stand in when there are none.
    pub fn new(choices: &[Choice<T>], defaults: &[T]) -> Self {
        let values = choices.iter().map(|choice| match choice {
            Choice::All => None,
            Choice::Value(value) => Some(*value),
        });
        match values.collect::<Option<Vec<T>>>() {
            None => Axis::All,
            Some(values) if values.is_empty() => Axis::Default(defaults.to_vec()),
            Some(values) => Axis::Given(values),
        }
    }
}

impl<T: Copy + Ord> Axis<T> {
    /// The values for instances that have `built` (with repetitions): of the defaults those that
    /// there are, or else the first that there is. `single` takes one of the defaults.
    pub fn pick(&self, built: impl Iterator<Item = T>, single: bool) -> Vec<T> {
        let built = distinct(built);
        match self {
            Axis::All => built,
            Axis::Given(wanted) => {
                let mut chosen = wanted.clone();
                chosen.dedup();
                chosen.retain(|value| built.contains(value));
                chosen
            }
            Axis::Default(wanted) => {
                let mut usable: Vec<T> = wanted.iter().copied().filter(|value| built.contains(value)).collect();
                if usable.is_empty() {
                    usable.extend(built.first());
                }
                if single {
                    usable.truncate(1);
                }
                usable
            }
        }
    }
}

impl<T: Display> Display for Axis<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Axis::All => f.write_str("all"),
            Axis::Given(values) | Axis::Default(values) => f.write_str(&join(values)),
        }
    }
}

/// The distinct values in ascending order.
pub fn distinct<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.collect();
    values.sort();
    values.dedup();
    values
}

/// The values in order, separated by commas.
pub fn join<T: Display>(values: impl IntoIterator<Item = T>) -> String {
    values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>().join(", ")
}
