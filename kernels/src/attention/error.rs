//! Why there is no attention of what was passed.

use core::fmt;

use tilepipe_host::Error;

use super::{MOST_HEADS, SHARED_HEADS};

/// Why attention was not computed.
#[derive(Debug)]
pub enum AttentionError {
    /// There is no kernel for heads of this size.
    Head {
        /// The size.
        head: usize,
    },
    /// A number that scores are multiplied by, kept below or lowered by is not positive and finite.
    Scale {
        /// What it is: `scale`, `soft_cap` or `slopes`.
        what: &'static str,
        /// The number.
        scale: f32,
    },
    /// There are not as many slopes as heads, or there are too many.
    Slopes {
        /// Slopes.
        slopes: usize,
        /// Heads of queries.
        heads: usize,
    },
    /// The extents of the matrices do not belong together.
    Extents {
        /// Rows and columns of the queries.
        queries: [usize; 2],
        /// Those of the keys.
        keys: [usize; 2],
        /// Those of the values.
        values: [usize; 2],
        /// Those of the result.
        out: [usize; 2],
        /// Elements of a head.
        head: usize,
        /// Sequences.
        sequences: usize,
    },
    /// What decoding takes does not belong together.
    Cache {
        /// Rows and columns of the queries.
        queries: [usize; 2],
        /// Those of the keys.
        keys: [usize; 2],
        /// Those of the values.
        values: [usize; 2],
        /// Those of the result.
        out: [usize; 2],
        /// Elements of a head.
        head: usize,
        /// Sequences.
        sequences: usize,
        /// Rows of a sequence or of a page.
        rows: usize,
    },
    /// The rows at which packed sequences begin are not in order, or not as many of both.
    Offsets {
        /// Of what: `queries` or `keys`.
        what: &'static str,
        /// The first number that cannot be.
        at: usize,
        /// It; `None` if it is missing.
        row: Option<usize>,
    },
    /// What was asked for is not there with something else that was.
    Without {
        /// What: `decoding`, `unordered gradient` or `attention of packed sequences`.
        what: &'static str,
        /// With what.
        with: &'static str,
    },
    /// A matrix besides queries, keys, values and result is of another size.
    Matrix {
        /// Which one.
        what: &'static str,
        /// Its rows and columns.
        given: [usize; 2],
        /// Those that it should have.
        wanted: [usize; 2],
    },
    /// What the launch says.
    Launch(Error),
}

impl fmt::Display for AttentionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |[rows, columns]: [usize; 2]| format!("{rows} x {columns}");
        match self {
            AttentionError::Head { head } => {
                write!(f, "there is no kernel for heads of {head} elements: they have a multiple of 8, up to 256")
            }
            AttentionError::Scale { what, scale } => {
                write!(f, "attention takes no {what} of {scale}: the number is positive and finite")
            }
            AttentionError::Slopes { slopes, heads } => write!(
                f,
                "no attention of {heads} heads with {slopes} slopes: there is one for each head of queries, and at most {MOST_HEADS}"
            ),
            AttentionError::Extents { queries, keys, values, out, head, sequences } => write!(
                f,
                "no attention of {} queries, {} keys and {} values to a {} matrix with heads of {head} and {sequences} sequences: the result is \
                 as large as the queries, the values as the keys, columns are whole heads, there is a whole number of heads of queries for each \
                 one of keys, and rows are sequences of one length",
                text(*queries),
                text(*keys),
                text(*values),
                text(*out),
            ),
            AttentionError::Cache { queries, keys, values, out, head, sequences, rows } => write!(
                f,
                "no attention of {} queries to a {} matrix, with {} keys and {} values in sequences or pages of {rows}, heads of {head} and \
                 {sequences} sequences: the result is as large as the queries, the values as the keys, columns are whole heads, at most \
                 {SHARED_HEADS} heads of queries share one of keys, rows are whole sequences or pages, pages are of a multiple of 64 tokens, and \
                 each sequence has as many queries and pages as the others",
                text(*queries),
                text(*out),
                text(*keys),
                text(*values),
            ),
            AttentionError::Offsets { what, at, row } => {
                let row = row.map_or("missing".to_owned(), |row| row.to_string());
                write!(
                    f,
                    "no packed sequences whose {what} begin at these rows: number {at} is {row}. The first is 0, none is less than the one \
                     before, the last one, where the last sequence ends, is not 0, and there are as many for queries and for keys"
                )
            }
            AttentionError::Without { what, with } => write!(f, "there is no {what} with {with}"),
            AttentionError::Matrix { what, given, wanted } => {
                write!(f, "{what} has {} elements, and should have {}", text(*given), text(*wanted))
            }
            AttentionError::Launch(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for AttentionError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            AttentionError::Launch(error) => error.source(),
            _ => None,
        }
    }
}

impl From<Error> for AttentionError {
    fn from(error: Error) -> Self {
        AttentionError::Launch(error)
    }
}

/// Refuses a matrix of other extents than it should have.
pub(super) fn expect(what: &'static str, given: [usize; 2], wanted: [usize; 2]) -> Result<(), AttentionError> {
    if given == wanted { Ok(()) } else { Err(AttentionError::Matrix { what, given, wanted }) }
}

/// Refuses what is not there with the first of these that was asked for.
pub(super) fn refuse<const N: usize>(
    what: &'static str,
    asked: [(bool, &'static str); N],
) -> Result<(), AttentionError> {
    let first = asked.into_iter().find(|(is_asked, _)| *is_asked);
    first.map_or(Ok(()), |(_, with)| Err(AttentionError::Without { what, with }))
}
