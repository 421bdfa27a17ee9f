//! Stepping through a symbol of Rust's: the grammar of the "v0" mangling, as far as it takes to
//! step over a type.

/// How deep paths and types may nest. References back may form a ring, which no compiler writes.
const DEEPEST: u32 = 500;

/// The primitive types' letters, with those of `_`, `!` and `...`.
const BASIC_TYPES: &[u8] = b"abcdefhijlmnopstuvxyz";

/// A place in a symbol.
#[derive(Clone)]
pub(super) struct Scanner<'a> {
    /// The symbol without `_R`: references back count from here.
    text: &'a str,
    at: usize,
    depth: u32,
}

impl<'a> Scanner<'a> {
    /// The beginning of a symbol without its `_R`.
    pub(super) fn new(text: &'a str) -> Self {
        Scanner { text, at: 0, depth: 0 }
    }

    /// The next character.
    pub(super) fn next(&mut self) -> Option<u8> {
        let next = self.peek()?;
        self.at += 1;
        Some(next)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Whether the next character is this one, which is then taken.
    fn takes(&mut self, character: u8) -> bool {
        let found = self.peek() == Some(character);
        self.at += usize::from(found);
        found
    }

    /// One level deeper, or none if that is too deep.
    pub(super) fn deeper(&mut self) -> Option<()> {
        self.depth += 1;
        (self.depth <= DEEPEST).then_some(())
    }

    /// Takes one part, a level deeper.
    fn nested(&mut self, part: fn(&mut Self) -> Option<()>) -> Option<()> {
        self.deeper()?;
        part(self)?;
        self.depth -= 1;
        Some(())
    }

    /// A number in base 62 with its `_`, as written.
    fn base_62(&mut self) -> Option<&'a str> {
        let start = self.at;
        while self.next()? != b'_' {}
        let number = &self.text[start..self.at];
        number[..number.len() - 1].bytes().all(|c| c.is_ascii_alphanumeric()).then_some(number)
    }

    /// The optional disambiguator of an identifier or `impl`, as written; empty if there is none.
    pub(super) fn disambiguator(&mut self) -> Option<&'a str> {
        let start = self.at;
        if self.takes(b's') {
            self.base_62()?;
        }
        Some(&self.text[start..self.at])
    }

    /// An identifier without disambiguator: `u` before Punycode, the length, `_` where the name
    /// begins with a digit or `_`.
    pub(super) fn identifier(&mut self) -> Option<&'a str> {
        self.takes(b'u');
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        let length: usize = self.text[start..self.at].parse().ok()?;
        self.takes(b'_');
        let name = self.text.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(name)
    }

    /// Where a reference, whose `B` was just taken, points to: always before it.
    pub(super) fn back(&mut self) -> Option<Scanner<'a>> {
        let from = self.at - 1;
        let digits = self.base_62()?.strip_suffix('_')?;
        let value = digits.bytes().try_fold(0usize, |value, digit| {
            let digit = match digit {
                b'0'..=b'9' => digit - b'0',
                b'a'..=b'z' => digit - b'a' + 10,
                _ => digit - b'A' + 36,
            };
            value.checked_mul(62)?.checked_add(digit.into())
        })?;
        let to = if digits.is_empty() { 0 } else { value.checked_add(1)? };
        (to < from).then_some(Scanner { text: self.text, at: to, depth: self.depth })
    }

    fn skip_path(&mut self) -> Option<()> {
        self.nested(Self::one_path)
    }

    fn one_path(&mut self) -> Option<()> {
        match self.next()? {
            b'C' => self.disambiguator().and(self.identifier()).map(drop),
            b'M' => {
                self.disambiguator()?;
                self.skip_path()?;
                self.skip_type()
            }
            b'X' => {
                self.disambiguator()?;
                self.skip_path()?;
                self.skip_type()?;
                self.skip_path()
            }
            b'Y' => {
                self.skip_type()?;
                self.skip_path()
            }
            b'N' => {
                self.next().filter(u8::is_ascii_alphabetic)?;
                self.skip_path()?;
                self.disambiguator()?;
                self.identifier().map(drop)
            }
            b'I' => {
                self.skip_path()?;
                self.skip_until_end(Self::skip_argument)
            }
            b'B' => self.base_62().map(drop),
            _ => None,
        }
    }

    /// Steps over a type.
    pub(super) fn skip_type(&mut self) -> Option<()> {
        self.nested(Self::one_type)
    }

    fn one_type(&mut self) -> Option<()> {
        match self.peek()? {
            b'A' => {
                self.at += 1;
                self.skip_type()?;
                self.skip_constant()
            }
            b'S' | b'P' | b'O' => {
                self.at += 1;
                self.skip_type()
            }
            b'R' | b'Q' => {
                self.at += 1;
                self.skip_lifetime()?;
                self.skip_type()
            }
            b'T' => {
                self.at += 1;
                self.skip_until_end(Self::skip_type)
            }
            b'F' => {
                self.at += 1;
                self.skip_binder()?;
                self.takes(b'U');
                if self.takes(b'K') && !self.takes(b'C') {
                    self.identifier()?;
                }
                self.skip_until_end(Self::skip_type)?;
                self.skip_type()
            }
            b'D' => {
                self.at += 1;
                self.skip_binder()?;
                self.skip_until_end(Self::skip_dyn_trait)?;
                self.skip_lifetime()
            }
            basic if BASIC_TYPES.contains(&basic) => {
                self.at += 1;
                Some(())
            }
            _ => self.skip_path(),
        }
    }

    /// A trait of a trait object, with its associated types.
    fn skip_dyn_trait(&mut self) -> Option<()> {
        self.skip_path()?;
        while self.takes(b'p') {
            self.identifier()?;
            self.skip_type()?;
        }
        Some(())
    }

    fn skip_argument(&mut self) -> Option<()> {
        match self.peek()? {
            b'L' => self.skip_lifetime(),
            b'K' => {
                self.at += 1;
                self.skip_constant()
            }
            _ => self.skip_type(),
        }
    }

    fn skip_constant(&mut self) -> Option<()> {
        self.nested(Self::one_constant)
    }

    fn one_constant(&mut self) -> Option<()> {
        match self.next()? {
            b'p' => Some(()),
            b'B' => self.base_62().map(drop),
            b'R' | b'Q' => self.skip_constant(),
            b'A' | b'T' => self.skip_until_end(Self::skip_constant),
            b'V' => {
                self.skip_path()?;
                match self.next()? {
                    b'U' => Some(()),
                    b'T' => self.skip_until_end(Self::skip_constant),
                    b'S' => self.skip_until_end(Self::skip_field),
                    _ => None,
                }
            }
            // A type, `n` before a negative number, and hexadecimal digits.
            basic if BASIC_TYPES.contains(&basic) => {
                self.takes(b'n');
                self.base_62().map(drop)
            }
            _ => None,
        }
    }

    fn skip_field(&mut self) -> Option<()> {
        self.disambiguator()?;
        self.identifier()?;
        self.skip_constant()
    }

    fn skip_lifetime(&mut self) -> Option<()> {
        if self.takes(b'L') { self.base_62().map(drop) } else { Some(()) }
    }

    fn skip_binder(&mut self) -> Option<()> {
        if self.takes(b'G') { self.base_62().map(drop) } else { Some(()) }
    }

    fn skip_until_end(&mut self, one: fn(&mut Self) -> Option<()>) -> Option<()> {
        while !self.takes(b'E') {
            one(self)?;
        }
        Some(())
    }
}
