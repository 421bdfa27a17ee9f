//! Reading rlibs: on `nvptx64` their object members are LLVM bitcode.

use std::path::Path;

use crate::Error;

/// The bitcode members of an rlib (a Unix archive), in order.
///
/// # Errors
///
/// [`Error::Io`] if the file cannot be read or is no archive.
pub(crate) fn bitcode_members(path: &Path) -> Result<Vec<Vec<u8>>, Error> {
    let bytes = std::fs::read(path).map_err(Error::io("read", path))?;
    parse(&bytes).ok_or_else(|| {
        let reason =
            std::io::Error::new(std::io::ErrorKind::InvalidData, "it is no intact archive; remove it and build again");
        Error::io("read", path)(reason)
    })
}

/// An archive is a magic word, then members: a header of 60 bytes with the size in decimal at 48,
/// then the content, padded to an even length.
fn parse(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    const HEADER: usize = 60;
    let mut rest = bytes.strip_prefix(b"!<arch>\n")?;
    let mut members = Vec::new();
    while !rest.is_empty() {
        let header = rest.get(..HEADER)?;
        let size: usize = std::str::from_utf8(&header[48..58]).ok()?.trim().parse().ok()?;
        let content = rest.get(HEADER..HEADER.checked_add(size)?)?;
        if is_bitcode(content) {
            members.push(content.to_vec());
        }
        let next = HEADER + size + size % 2;
        rest = rest.get(next..).unwrap_or_default();
    }
    Some(members)
}

/// Bitcode begins with `BC` and 0xC0DE.
fn is_bitcode(content: &[u8]) -> bool {
    content.starts_with(b"BC\xC0\xDE")
}

#[cfg(test)]
mod tests {
    use super::parse;

    fn member(name: &str, content: &[u8]) -> Vec<u8> {
        let mut bytes = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 644, content.len()).into_bytes();
        bytes.extend_from_slice(content);
        if content.len() % 2 == 1 {
            bytes.push(b'\n');
        }
        bytes
    }

    #[test]
    fn only_bitcode_is_returned() {
        let code = b"BC\xC0\xDEx";
        let archive =
            [b"!<arch>\n".to_vec(), member("lib.rmeta/", b"rust"), member("a.o/", code), member("b.o/", code)].concat();
        assert_eq!(parse(&archive), Some(vec![code.to_vec(), code.to_vec()]));
    }

    #[test]
    fn damaged_archives_are_none() {
        assert_eq!(parse(b"ELF"), None);
        let whole = [b"!<arch>\n".to_vec(), member("a.o/", b"BC\xC0\xDE")].concat();
        assert_eq!(parse(&whole[..whole.len() - 1]), None);
    }
}
