//! Text of what is known at compile time: messages of failed constants, and contracts of kernels.

/// Text that is put together at compile time.
#[derive(Clone, Copy)]
pub struct Text {
    bytes: [u8; Text::MOST],
    len: usize,
}

impl Text {
    /// The most bytes: of the contract of a kernel with eight parameters.
    pub(crate) const MOST: usize = 640;

    pub(crate) const fn new() -> Self {
        Text { bytes: [0; Text::MOST], len: 0 }
    }

    pub(crate) const fn text(mut self, text: &str) -> Self {
        let (bytes, mut at) = (text.as_bytes(), 0);
        while at < bytes.len() {
            self.bytes[self.len] = bytes[at];
            self.len += 1;
            at += 1;
        }
        self
    }

    pub(crate) const fn number(self, number: usize) -> Self {
        let next = if number >= 10 { self.number(number / 10) } else { self };
        let digit = [b'0' + (number % 10) as u8];
        match core::str::from_utf8(&digit) {
            Ok(digit) => next.text(digit),
            Err(_) => panic!("a digit"),
        }
    }

    /// All bytes, in use or not.
    pub(crate) const fn all(&self) -> &[u8; Text::MOST] {
        &self.bytes
    }

    /// The bytes that are in use.
    pub(crate) const fn as_bytes(&self) -> &[u8] {
        self.bytes.split_at(self.len).0
    }

    /// Ends the evaluation of a constant with this message.
    #[track_caller]
    pub(crate) const fn fail(&self) -> ! {
        match core::str::from_utf8(self.as_bytes()) {
            Ok(text) => panic!("{}", text),
            Err(_) => panic!("text"),
        }
    }
}
