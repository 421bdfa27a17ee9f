//! The comparison of what a kernel computed with what it must compute.

use std::sync::{Mutex, PoisonError};

use crate::execute::parallel;
use crate::value::Value;

/// Elements that are compared at a time.
const PART: usize = 4096;

/// How an output differs from what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The first element that differs.
    pub index: usize,
    /// What the kernel wrote there.
    pub got: String,
    /// What the reference has there.
    pub expected: String,
    /// How many elements differ.
    pub count: usize,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Difference { index, got, expected, count } = self;
        let verb = if *count == 1 { "differs" } else { "differ" };
        write!(f, "element {index} is {got}, expected {expected}; {count} {verb}")
    }
}

/// Compares bit for bit, with any NaN equal to any other, and returns the first difference if there
/// is one.
///
/// Where one is shorter, its missing elements count as different.
pub fn compare<T: Value>(got: &[T], expected: &[T]) -> Option<Difference> {
    let found = Mutex::new((usize::MAX, 0));
    let parts = got.chunks(PART).zip(expected.chunks(PART)).enumerate();
    parallel::for_each(parts, |(number, (got, expected))| {
        let differ = |(got, expected): (&T, &T)| !got.same(expected);
        let pairs = || got.iter().zip(expected);
        if let Some(first) = pairs().position(differ) {
            let (index, more) = (number * PART + first, pairs().filter(|pair| differ(*pair)).count());
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            *found = (found.0.min(index), found.1 + more);
        }
    });
    let (first, count) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let count = count + got.len().abs_diff(expected.len());
    if count == 0 {
        return None;
    }
    let index = first.min(got.len().min(expected.len()));
    let text = |values: &[T]| values.get(index).map_or_else(|| "missing".to_owned(), Value::text);
    Some(Difference { index, got: text(got), expected: text(expected), count })
}

/// What a launch wrote, or must write.
#[derive(Clone, Debug, PartialEq)]
pub enum Written<T> {
    /// Elements of the inputs' type.
    Elements(Vec<T>),
    /// Keys.
    Keys(Vec<u64>),
    /// Counts.
    Counts(Vec<u32>),
}

impl<T: Value> Written<T> {
    /// Compares as [`compare`] does.
    ///
    /// # Panics
    ///
    /// If one is keys or counts and the other is not.
    pub fn compare(&self, expected: &Written<T>) -> Option<Difference> {
        match (self, expected) {
            (Written::Elements(got), Written::Elements(expected)) => compare(got, expected),
            (Written::Keys(got), Written::Keys(expected)) => compare(got, expected),
            (Written::Counts(got), Written::Counts(expected)) => compare(got, expected),
            _ => panic!("outputs of one type are compared"),
        }
    }

    /// Returns all bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Written::Elements(elements) => bytemuck::cast_slice(elements),
            Written::Keys(keys) => bytemuck::cast_slice(keys),
            Written::Counts(counts) => bytemuck::cast_slice(counts),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_and_the_count_are_found() {
        let expected: Vec<i32> = (0..100_000).collect();
        assert_eq!(compare(&expected, &expected), None);
        let mut got = expected.clone();
        got[70_000] = -1;
        got[8_191] = -2;
        let difference = compare(&got, &expected).unwrap();
        assert_eq!(difference.to_string(), "element 8191 is -2, expected 8191; 2 differ");
        let difference = compare(&expected[..9], &expected[..10]).unwrap();
        assert_eq!(difference.to_string(), "element 9 is missing, expected 9; 1 differs");
    }
}
