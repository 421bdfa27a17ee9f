//! Which crate a function's body is from, by its symbol.
//!
//! Rust's symbols (the "v0" mangling, rustc's book, chapter "Symbol Mangling") spell a function's
//! path with the crate at its root, and a crate with its id: a hash of its name and of what cargo
//! passes to tell crates of one name apart. A crate can choose its name, but not its id.

use super::scanner::Scanner;

/// A crate: its name, and what tells it from others of that name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CrateId<'a> {
    pub name: &'a str,
    /// As written in symbols, in base 62.
    disambiguator: &'a str,
}

impl<'a> CrateId<'a> {
    /// What tells the crate from others of its name, as written in symbols.
    pub(crate) fn disambiguator(self) -> &'a str {
        self.disambiguator
    }
}

/// The crate whose source has the body of a function: of a method's its `impl`, of a trait's
/// default method the trait, of a closure the function around it; generic arguments and the crate
/// that asked for an instance do not matter.
///
/// None if the symbol is none of Rust's, or of a shape that is not known.
pub(crate) fn owner(symbol: &str) -> Option<CrateId<'_>> {
    Scanner::new(symbol.strip_prefix("_R")?).owner()
}

impl<'a> Scanner<'a> {
    /// The owner of the path that begins here. What follows in the path is left where it is.
    fn owner(&mut self) -> Option<CrateId<'a>> {
        self.deeper()?;
        match self.next()? {
            b'C' => {
                let disambiguator = self.disambiguator()?;
                Some(CrateId { name: self.identifier()?, disambiguator })
            }
            b'M' | b'X' => {
                self.disambiguator()?;
                self.owner()
            }
            b'Y' => {
                self.skip_type()?;
                self.owner()
            }
            b'N' => {
                self.next().filter(u8::is_ascii_alphabetic)?;
                self.owner()
            }
            b'I' => self.owner(),
            b'B' => self.back()?.owner(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::owner;

    /// Symbols that rustc 1.96 made, with the crate in whose source the body is.
    const MADE_BY_RUSTC: [(&str, &str, &str); 18] = [
        // Functions: at a crate's root, in modules, the panic handler.
        ("_RNvCsfgHYwM92fyn_7___rustc17rust_begin_unwind", "__rustc", "sfgHYwM92fyn_"),
        ("_RNvNtNtCstXWu7NcRaJ_8tilepipe3isa5nvptx11block_index", "tilepipe", "stXWu7NcRaJ_"),
        ("_RNvNtCslCf4CDNQWeK_4core3fmt5write", "core", "slCf4CDNQWeK_"),
        // A generic function, instantiated for another crate.
        (
            "_RINvNtNtNtCstXWu7NcRaJ_8tilepipe3isa5nvptx8mbarrier10meet_againKj80_ECs3x6OBt37c1n_24tilepipe_codegen_kernels",
            "tilepipe",
            "stXWu7NcRaJ_",
        ),
        // Closures, and a closure's in a generic function.
        (
            "_RNCNvNtCs3x6OBt37c1n_24tilepipe_codegen_kernels5roles8role_all0B5_",
            "tilepipe_codegen_kernels",
            "s3x6OBt37c1n_",
        ),
        (
            "_RNCINvNtCs3x6OBt37c1n_24tilepipe_codegen_kernels5maths5applydNtB4_3AbsE0B6_",
            "tilepipe_codegen_kernels",
            "s3x6OBt37c1n_",
        ),
        // Inherent methods, of a type of the crate's own and of a primitive one.
        ("_RNvMsa_NtCslCf4CDNQWeK_4core3fmtNtB5_9Formatter12pad_integral", "core", "slCf4CDNQWeK_"),
        ("_RINvMNtCslCf4CDNQWeK_4core5sliceSj9as_chunksKj4_EB5_", "core", "slCf4CDNQWeK_"),
        ("_RNvMs0_NtNtNtCstXWu7NcRaJ_8tilepipe3isa5nvptx7threadsINtB5_7PerLanebE3all", "tilepipe", "stXWu7NcRaJ_"),
        (
            "_RNCNvMs1_NtNtNtCstXWu7NcRaJ_8tilepipe3isa5nvptx7threadsINtB7_7PerLaneAmj3_E7of_lane0Cs3x6OBt37c1n_24tilepipe_codegen_kernels",
            "tilepipe",
            "stXWu7NcRaJ_",
        ),
        // Methods of a trait that an `impl` has.
        ("_RNvXss_NtCslCf4CDNQWeK_4core3fmtuNtB5_5Debug3fmt", "core", "slCf4CDNQWeK_"),
        (
            "_RINvXs0_NtCstXWu7NcRaJ_8tilepipe6engineNtB6_7CpAsyncNtNtB6_6sealed6Engine4waitINtNtNtB8_8pipeline5count8InFlightKj1_EECs3x6OBt37c1n_24tilepipe_codegen_kernels",
            "tilepipe",
            "stXWu7NcRaJ_",
        ),
        // Methods that the trait itself has: after a primitive type, a path, an array, a
        // function's and a closure's type.
        (
            "_RNvYdNtNtCs9mYcWKz1aT4_8bytemuck8zeroable8Zeroable6zeroedCs3x6OBt37c1n_24tilepipe_codegen_kernels",
            "bytemuck",
            "s9mYcWKz1aT4_",
        ),
        ("_RNvYNtNtNtCslCf4CDNQWeK_4core3fmt8builders10PadAdapterNtB6_5Write9write_fmtB8_", "core", "slCf4CDNQWeK_"),
        (
            "_RNvYNvYAmj3_NtNtCs3x6OBt37c1n_24tilepipe_codegen_kernels11collectives4Word4plusINtNtNtCslCf4CDNQWeK_4core3ops8function2FnTB5_B5_EE4callBe_",
            "core",
            "slCf4CDNQWeK_",
        ),
        (
            "_RNvYNvMs6_NtCslCf4CDNQWeK_4core3numm12wrapping_addINtNtNtBa_3ops8function2FnTmmEE4callCs3x6OBt37c1n_24tilepipe_codegen_kernels",
            "core",
            "slCf4CDNQWeK_",
        ),
        (
            "_RINvYINtNtNtCslCf4CDNQWeK_4core5slice4iter4IterhENtNtNtNtBa_4iter6traits8iterator8Iterator3mapjNCINvNvXs1_NtNtBR_8adapters6filterINtB1G_6FilterppEBL_5count8to_usizeRhNCNvNtNtBa_3str5count23char_count_general_case0E0EBa_",
            "core",
            "slCf4CDNQWeK_",
        ),
        (
            "_RNvYNCNvMs1_NtNtCstXWu7NcRaJ_8tilepipe4role9partitionINtBa_9PartitionINtNtBc_3map9WarpRolesKj20_Kj60_EuTTuINtBa_8AssigneduNCNvNtCs3x6OBt37c1n_24tilepipe_codegen_kernels5roles9role_sync0uEEIB1H_uNCB1Y_s_0uEEKj80_E3run0INtNtNtCslCf4CDNQWeK_4core3ops8function6FnOnceuE9call_onceB22_",
            "core",
            "slCf4CDNQWeK_",
        ),
    ];

    #[test]
    fn a_body_belongs_to_the_crate_whose_source_has_it() {
        for (symbol, name, disambiguator) in MADE_BY_RUSTC {
            let owner = owner(symbol).unwrap_or_else(|| panic!("{symbol}"));
            assert_eq!((owner.name, owner.disambiguator), (name, disambiguator), "{symbol}");
        }
    }

    #[test]
    fn crates_of_one_name_differ() {
        let [ours, other] = ["_RNvCstXWu7NcRaJ_8tilepipe4rank", "_RNvCs9mYcWKz1aT4_8tilepipe4rank"].map(owner);
        assert_eq!(ours.unwrap().name, other.unwrap().name);
        assert_ne!(ours, other);
    }

    #[test]
    fn a_name_inside_of_a_path_is_no_crates() {
        // `user::tilepipe::rank`, `<tilepipe::Block as user::Rank>::rank` with the user's own
        // `impl`, and with the user's default method.
        for symbol in [
            "_RNvNtCs3x6OBt37c1n_4user8tilepipe4rank",
            "_RNvXCs3x6OBt37c1n_4userNtCstXWu7NcRaJ_8tilepipe5BlockNtB2_4Rank4rank",
            "_RNvYNtCstXWu7NcRaJ_8tilepipe5BlockNtCs3x6OBt37c1n_4user4Rank4rank",
            "_RINvCs3x6OBt37c1n_4user4rankNtCstXWu7NcRaJ_8tilepipe5BlockECstXWu7NcRaJ_8tilepipe",
        ] {
            assert_eq!(owner(symbol).unwrap().name, "user", "{symbol}");
        }
    }

    #[test]
    fn what_is_not_known_belongs_to_nobody() {
        for symbol in [
            "tilepipe_thread_rank",
            "_ZN8tilepipe4rank17h0123456789abcdefE",
            "_R",
            "_RNv",
            "_RNvC",
            "_RNvCs_",
            "_RNvCstXWu7NcRaJ_9tilepipe",
            "_RNvCstXWu7NcRaJ_99999999999999999999999tilepipe",
            "_R0NvCstXWu7NcRaJ_8tilepipe4rank",
            "_RNvB_",
            "_RNvB9_",
            "_RNvYB1_B1_",
            "_RNvY%NtCstXWu7NcRaJ_8tilepipe4Rank4rank",
        ] {
            assert_eq!(owner(symbol), None, "{symbol}");
        }
    }
}
