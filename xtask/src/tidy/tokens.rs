//! Tokens of Rust code, and the paths that it imports.

/// A word, a lifetime, `::`, `->`, or one other character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// Where it begins.
    pub at: usize,
    pub text: &'a str,
}

/// Splits code, in which comments and literals are blanked.
pub fn tokens(code: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = code[at..].chars().next() {
        let rest = &code[at..];
        let after_first = first.len_utf8();
        let word = |from: usize| rest[from..].find(|c: char| !is_of_word(c)).map_or(rest.len(), |end| from + end);
        let length = match first {
            '\'' | '$' => word(after_first),
            _ if is_of_word(first) => word(0),
            _ if rest.starts_with("::") || rest.starts_with("->") => 2,
            _ => after_first,
        };
        if !first.is_whitespace() {
            found.push(Token { at, text: &rest[..length] });
        }
        at += length;
    }
    found
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The place behind the bracket that closes the one at `open`.
pub fn closed(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0;
    for (place, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return place + 1;
        }
    }
    tokens.len()
}

/// A path of a `use`, without the name that it gets.
#[derive(Debug, PartialEq, Eq)]
pub struct Import<'a> {
    /// Where the `use` begins.
    pub at: usize,
    pub path: Vec<&'a str>,
    /// Whether it is an export too: `pub use`, with or without a restriction.
    pub exports: bool,
    /// How many modules of the same file it stands in.
    pub inside: usize,
}

/// Everything that code imports by `use`.
pub fn imports(code: &str) -> Vec<Import<'_>> {
    let tokens = tokens(code);
    let text = |place: usize| tokens.get(place).map_or("", |token| token.text);
    let mut found = Vec::new();
    // For each brace that is open, whether it is that of a module.
    let mut open = Vec::new();
    for place in 0..tokens.len() {
        match text(place) {
            "{" => open.push(place >= 2 && text(place - 2) == "mod"),
            "}" => drop(open.pop()),
            // Not the list of captured lifetimes, `use<'a>`.
            "use" if text(place + 1) != "<" => {
                let exports = place > 0 && (text(place - 1) == "pub" || text(place - 1) == ")");
                let inside = open.iter().filter(|is_module| **is_module).count();
                let mut paths = Vec::new();
                tree(&tokens, place + 1, &mut Vec::new(), &mut paths);
                let at = tokens[place].at;
                found.extend(paths.into_iter().map(|path| Import { at, path, exports, inside }));
            }
            _ => {}
        }
    }
    found
}

/// Reads a path or a list of paths from a place on, and returns the place behind it.
fn tree<'a>(tokens: &[Token<'a>], mut place: usize, path: &mut Vec<&'a str>, found: &mut Vec<Vec<&'a str>>) -> usize {
    let depth = path.len();
    while let Some(token) = tokens.get(place) {
        match token.text {
            "{" => {
                place += 1;
                while tokens.get(place).is_some_and(|token| token.text != "}") {
                    place = tree(tokens, place, path, found);
                    place += usize::from(tokens.get(place).is_some_and(|token| token.text == ","));
                }
                path.truncate(depth);
                return place + 1;
            }
            "," | "}" | ";" => break,
            "::" => {}
            "as" => place += 1,
            name => path.push(name),
        }
        place += 1;
    }
    if path.len() > depth {
        found.push(path.iter().copied().filter(|name| *name != "self" || path.first() == Some(name)).collect());
    }
    path.truncate(depth);
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(code: &str) -> Vec<String> {
        imports(code).iter().map(|import| import.path.join("::")).collect()
    }

    #[test]
    fn code_is_split_into_words_and_marks() {
        let found: Vec<&str> = tokens("fn $f<'a>(x: &'a u8) -> a::B_1 {}").iter().map(|token| token.text).collect();
        let expected = "fn $f < 'a > ( x : & 'a u8 ) -> a :: B_1 { }";
        assert_eq!(found.join(" "), expected);
        let tokens = tokens("f(a, [b]) c");
        assert_eq!(tokens[closed(&tokens, 1)].text, "c");
    }

    #[test]
    fn every_path_of_a_list_is_found() {
        assert_eq!(paths("use crate::isa;"), ["crate::isa"]);
        assert_eq!(paths("use crate::isa::{self, WARP};"), ["crate::isa", "crate::isa::WARP"]);
        assert_eq!(
            paths("use super::{\n    a::{b as c, d::*},\n    e,\n};\nuse self::x as _;"),
            ["super::a::b", "super::a::d::*", "super::e", "self::x"]
        );
        assert_eq!(paths("fn f() -> impl X + use<'a> { use crate::y; }"), ["crate::y"]);
    }

    #[test]
    fn exports_and_modules_of_the_same_file_are_told() {
        let code = "pub use a::A;\npub(crate) use b::B;\nmod m {\n    fn f() {}\n    use super::C;\n}\nuse d::D;\n";
        let found: Vec<(&str, bool, usize)> =
            imports(code).iter().map(|import| (import.path[0], import.exports, import.inside)).collect();
        assert_eq!(found, [("a", true, 0), ("b", true, 0), ("super", false, 1), ("d", false, 0)]);
    }
}
