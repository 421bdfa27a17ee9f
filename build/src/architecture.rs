//! The names of GPU architectures, and what they ask of PTX and of `ptxas`.

use std::fmt;

use crate::Error;

/// `sm_90` or `sm_90a`.
/// In order: `sm_80`, `sm_90`, `sm_90a`, `sm_100`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Architecture {
    number: u32,
    suffix: Option<char>,
}

impl Architecture {
    /// `sm_90` and the like, whose code runs on newer GPUs too.
    pub(crate) const fn plain(number: u32) -> Architecture {
        Architecture { number, suffix: None }
    }

    /// `sm_90a` and the like, whose code runs on no other GPU.
    pub(crate) const fn alone(number: u32) -> Architecture {
        Architecture { number, suffix: Some('a') }
    }

    /// The architecture to assemble code for that is of architecture `self`, where `asked` is asked
    /// for: that one, or `sm_90a` for code of it where `sm_90` is asked for. None if the code does
    /// not run there.
    pub(crate) fn assembled_for(&self, asked: &Architecture) -> Option<Architecture> {
        match self.suffix {
            None => (asked.number >= self.number).then_some(*asked),
            Some(_) if asked.number != self.number => None,
            Some(_) => (asked.suffix.is_none() || asked == self).then_some(*self),
        }
    }

    /// Reads `sm_80`, `sm_90a`, `sm_100f` and the like.
    ///
    /// # Errors
    ///
    /// [`Error::Architecture`] for text of another form, and for what is below `sm_80`.
    pub(crate) fn parse(text: &str) -> Result<Architecture, Error> {
        let error = |reason: &str| Error::Architecture { arch: text.to_string(), reason: reason.to_string() };
        let rest = text.strip_prefix("sm_").ok_or_else(|| error("write it as `sm_80`"))?;
        let (digits, suffix) = match rest.strip_suffix(['a', 'f']) {
            Some(digits) => (digits, rest.chars().last()),
            None => (rest, None),
        };
        let number = digits.parse().map_err(|_| error("write it as `sm_80`"))?;
        if number < 80 {
            return Err(error("`sm_80` is the least that has asynchronous copies"));
        }
        Ok(Architecture { number, suffix })
    }

    /// Checks that code for `self` can be assembled for `other` by the `ptxas` of a CUDA release.
    ///
    /// # Errors
    ///
    /// [`Error::Architecture`] with `name`, which is `other` as the user wrote it.
    pub(crate) fn require_on(&self, other: &Architecture, name: &str, cuda: (u32, u32)) -> Result<(), Error> {
        let error = |reason: String| Err(Error::Architecture { arch: name.to_string(), reason });
        if other.number < self.number || (self.suffix.is_some() && other != self) {
            return error(format!("the code is for `{self}`; choose a lesser target or leave this one out"));
        }
        if other.number >= 100 && cuda < (12, 8) {
            return error(format!("it needs ptxas of CUDA 12.8 or newer, and this one is {}.{}", cuda.0, cuda.1));
        }
        Ok(())
    }

    /// The oldest PTX version, in tenths, that knows the architecture and the device crate's
    /// instructions.
    ///
    /// PTX knows `sm_80` since 7.0, and `mbarrier.test_wait.parity` and the operand `_` since 7.1.
    pub(crate) fn least_ptx_version(&self) -> u32 {
        match (self.number, self.suffix) {
            (..=86, _) => 71,
            (87, _) => 74,
            (88 | 110, _) => 90,
            (..=90, None) => 78,
            (..=90, Some(_)) => 80,
            (..=101, None | Some('a')) => 86,
            (120, None | Some('a')) => 87,
            _ => 88,
        }
    }

    /// Whether it has `mbarrier.try_wait`, which suspends a thread while it waits.
    pub(crate) fn suspends_waits(&self) -> bool {
        self.number >= 90
    }

    /// Whether a kernel can start before the one before it has ended (`griddepcontrol`).
    pub(crate) fn has_dependent_launches(&self) -> bool {
        self.number >= 90
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.number)?;
        self.suffix.map_or(Ok(()), |suffix| write!(f, "{suffix}"))
    }
}

#[cfg(test)]
mod tests {
    use super::Architecture;

    #[test]
    fn architectures_are_read_and_checked() {
        for (name, version) in [
            ("sm_80", 71),
            ("sm_86", 71),
            ("sm_87", 74),
            ("sm_88", 90),
            ("sm_89", 78),
            ("sm_90", 78),
            ("sm_90a", 80),
            ("sm_100", 86),
            ("sm_100a", 86),
            ("sm_100f", 88),
            ("sm_103", 88),
            ("sm_110", 90),
            ("sm_120", 87),
            ("sm_121", 88),
        ] {
            let architecture = Architecture::parse(name).unwrap();
            assert_eq!(architecture.to_string(), name);
            assert_eq!(architecture.least_ptx_version(), version, "{name}");
        }
        for wrong in ["90", "sm_", "sm_75", "sm_9x", "compute_90"] {
            assert!(Architecture::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn code_is_assembled_for_what_it_runs_on() {
        for (code, asked, expected) in [
            ("sm_80", "sm_90", Some("sm_90")),
            ("sm_80", "sm_90a", Some("sm_90a")),
            ("sm_90", "sm_80", None),
            ("sm_90", "sm_100", Some("sm_100")),
            ("sm_90a", "sm_90", Some("sm_90a")),
            ("sm_90a", "sm_90a", Some("sm_90a")),
            ("sm_90a", "sm_100", None),
            ("sm_90a", "sm_80", None),
            ("sm_100f", "sm_100a", None),
        ] {
            let [code, asked] = [code, asked].map(|name| Architecture::parse(name).unwrap());
            let found = code.assembled_for(&asked).map(|architecture| architecture.to_string());
            assert_eq!(found.as_deref(), expected, "{code} on {asked}");
        }
        let order = ["sm_80", "sm_89", "sm_90", "sm_90a", "sm_100"].map(|name| Architecture::parse(name).unwrap());
        assert!(order.is_sorted());
    }

    #[test]
    fn waits_are_suspended_from_sm_90_on() {
        for (name, suspends) in
            [("sm_80", false), ("sm_89", false), ("sm_90", true), ("sm_90a", true), ("sm_120", true)]
        {
            assert_eq!(Architecture::parse(name).unwrap().suspends_waits(), suspends, "{name}");
        }
    }
}
