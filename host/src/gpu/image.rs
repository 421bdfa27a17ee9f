//! Built code as a GPU is offered it: PTX, the cubins made of it, and what each of them runs on.

use std::path::PathBuf;

/// PTX and its cubins, wherever they came from.
pub(crate) struct Image<'a> {
    /// Where it came from, for messages.
    pub(crate) path: PathBuf,
    pub(crate) ptx: &'a str,
    pub(crate) cubins: Vec<(Architecture, &'a [u8])>,
}

impl<'a> Image<'a> {
    /// Returns the best cubin for a compute capability: same major, the highest minor that is not
    /// newer.
    pub(crate) fn cubin_for(&self, capability: (u32, u32)) -> Option<&'a [u8]> {
        let fitting = self.cubins.iter().filter(|(architecture, _)| architecture.runs_on(capability));
        fitting.max_by_key(|(architecture, _)| (architecture.sm, architecture.only)).map(|(_, bytes)| *bytes)
    }

    /// Whether there is a cubin for a compute capability, or PTX that can be compiled for it.
    pub(crate) fn runs_on(&self, capability: (u32, u32)) -> bool {
        // PTX that names no architecture is left to the driver, which says what is wrong with it.
        let compiles = || Architecture::parse(self.target()).is_none_or(|target| target.compiles_for(capability));
        self.cubin_for(capability).is_some() || compiles()
    }

    /// Returns the architecture that the text is for, such as `sm_80`.
    pub(crate) fn target(&self) -> &'a str {
        let target = self.ptx.lines().find_map(|line| line.trim().strip_prefix(".target"));
        target.map_or("unknown", |target| target.split(',').next().unwrap_or_default().trim())
    }

    /// Returns the symbols of the image's kernels.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &'a str> {
        let name = |rest: &'a str| rest.split(|c: char| c == '(' || c.is_whitespace()).next();
        self.ptx
            .lines()
            .filter_map(|line| line.split_once(".entry "))
            .filter_map(move |(_, rest)| name(rest.trim_start()))
    }

    /// Returns the PTX version that the text asks for, such as `8.0`.
    pub(crate) fn ptx_version(&self) -> &'a str {
        let version = self.ptx.lines().find_map(|line| line.trim().strip_prefix(".version"));
        version.map_or("unknown", str::trim)
    }
}

/// The architecture of a cubin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Architecture {
    /// As in `sm_90`.
    sm: u32,
    /// For this architecture alone (`sm_90a`).
    only: bool,
}

impl Architecture {
    /// Reads `sm_90` or `sm_90a`.
    pub(crate) fn parse(name: &str) -> Option<Architecture> {
        let sm = name.strip_prefix("sm_")?;
        let (digits, only) = match sm.strip_suffix(['a', 'f']) {
            Some(digits) => (digits, true),
            None => (sm, false),
        };
        Some(Architecture { sm: digits.parse().ok()?, only })
    }

    /// Whether PTX for this architecture can be compiled for a GPU.
    fn compiles_for(self, (major, minor): (u32, u32)) -> bool {
        let other = major * 10 + minor;
        if self.only { other == self.sm } else { other >= self.sm }
    }

    /// Whether machine code for this architecture runs on a GPU.
    fn runs_on(self, (major, minor): (u32, u32)) -> bool {
        let (own_major, own_minor) = (self.sm / 10, self.sm % 10);
        own_major == major && if self.only { own_minor == minor } else { own_minor <= minor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_runs_where_it_has_code_or_can_be_compiled() {
        let image = |ptx, cubins| Image { path: PathBuf::new(), ptx, cubins };
        let for_90a = image(".version 8.0\n.target sm_90a\n", vec![]);
        assert!(for_90a.runs_on((9, 0)) && !for_90a.runs_on((10, 0)) && !for_90a.runs_on((8, 0)));
        let for_90 = image(".version 8.0\n.target sm_90, debug\n", vec![]);
        assert!(for_90.runs_on((9, 0)) && for_90.runs_on((10, 0)) && !for_90.runs_on((8, 9)));
        assert_eq!(for_90.target(), "sm_90");
        let with_code = image(".target sm_90a\n", vec![(Architecture { sm: 100, only: false }, &b""[..])]);
        assert!(with_code.runs_on((10, 0)) && !with_code.runs_on((8, 0)));
        assert!(image("nothing", vec![]).runs_on((8, 0)));
    }

    #[test]
    fn entries_are_found_in_ptx() {
        let ptx = ".visible .entry a$one__1(\n)\n{\n}\n.func f()\n.entry two\n(\n";
        let image = Image { path: PathBuf::new(), ptx, cubins: Vec::new() };
        assert_eq!(image.entries().collect::<Vec<_>>(), ["a$one__1", "two"]);
    }

    #[test]
    fn an_architecture_for_itself_alone_runs_nowhere_else() {
        assert!(Architecture { sm: 90, only: true }.runs_on((9, 0)));
        assert!(!Architecture { sm: 86, only: true }.runs_on((8, 9)));
        assert!(!Architecture { sm: 89, only: false }.runs_on((8, 6)));
    }
}
