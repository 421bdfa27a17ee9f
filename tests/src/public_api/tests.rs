use super::*;

/// A token as the library's: branded, made by `unsafe` code alone.
const TOKEN: &str = "
use core::marker::PhantomData;
pub struct Token<'k>(PhantomData<fn(&'k ()) -> &'k ()>);
impl Token<'_> {
    pub unsafe fn assume() -> Self { Token(PhantomData) }
    pub fn rank(&self) -> usize { 0 }
    pub(crate) fn own() -> Self { Token(PhantomData) }
}
";

/// The crate of the token and these items.
fn fixture(items: &str) -> Crate {
    document::of_source(&format!("{TOKEN}{items}")).unwrap_or_else(|error| panic!("{error}"))
}

/// What anybody can call of it.
fn found(items: &str) -> Vec<String> {
    unearned(&fixture(items))
}

/// A trait whose methods lie in a private supertrait, and an implementor.
const SEALED: &str = "
mod sealed {
    pub trait Meet {
        const CHEAP: bool;
        fn released(first: *const u8, bytes: usize);
        fn arrive(token: &crate::Token<'_>);
        unsafe fn launder();
    }
}
pub trait Meet: sealed::Meet {}
pub enum InBlock {}
impl Meet for InBlock {}
impl sealed::Meet for InBlock {
    const CHEAP: bool = false;
    fn released(_: *const u8, _: usize) {}
    fn arrive(_: &Token<'_>) {}
    unsafe fn launder() {}
}
";

#[test]
fn a_sealed_supertraits_safe_function_is_found() {
    assert_eq!(found(SEALED), ["sealed::Meet::released(*const u8, usize)"]);
}

#[test]
fn an_unsafe_function_or_one_that_takes_a_token_is_not_found() {
    let closed = SEALED.replace("fn released", "unsafe fn released");
    assert_eq!(found(&closed), [""; 0]);
}

#[test]
fn a_trait_that_nothing_public_leads_to_is_not_found() {
    let private = SEALED.replace("pub trait Meet: sealed::Meet", "pub trait Meet");
    assert_eq!(found(&private), [""; 0]);
}

#[test]
fn the_bound_of_an_associated_type_leads_to_its_traits() {
    let found = found(
        "mod sealed { pub trait Group { fn deal(); } }
        pub trait Setup { type Group: sealed::Group; }",
    );
    assert_eq!(found, ["sealed::Group::deal()"]);
}

#[test]
fn a_type_that_is_returned_or_handed_to_a_closure_can_be_called() {
    let found = found(
        "mod hidden {
            pub struct Returned; pub struct Handed; pub struct Unseen;
            impl Returned { pub fn write(&self) {} pub(crate) fn own(&self) {} }
            impl Handed { pub fn write(&self) {} }
            impl Unseen { pub fn write(&self) {} }
        }
        pub fn make() -> Option<hidden::Returned> { None }
        pub fn run<F: FnOnce(hidden::Handed)>(_: F) {}",
    );
    assert_eq!(
        found,
        ["hidden::Handed::write(&self)", "hidden::Returned::write(&self)", "make() -> Option<Returned>", "run(F)"]
    );
}

#[test]
fn what_is_exported_again_and_what_the_documentation_hides_is_found() {
    let found = found(
        "mod inner { pub fn one() {} pub fn two() {} pub fn three() {} }
        pub use inner::one;
        #[doc(hidden)] pub use inner::two as second;
        #[doc(hidden)] pub mod hidden { pub fn four() {} fn five() {} }",
    );
    assert_eq!(found, ["hidden::four()", "inner::one()", "inner::two()"]);
}

#[test]
fn a_token_in_a_tuple_or_behind_a_reference_is_earned_one_in_an_option_or_a_slice_is_not() {
    let found = found(
        "pub fn tuple(_: (usize, &mut Token<'_>)) {}
        pub fn option(_: Option<Token<'_>>) {}
        pub fn slice(_: &[Token<'_>]) {}
        pub fn parameter<T: Copy>(_: T) {}",
    );
    assert_eq!(found, ["option(Option<Token>)", "parameter(T)", "slice(&[Token])"]);
}

#[test]
fn a_type_around_a_token_is_earned() {
    let found = found(
        "pub struct Open<'k> { pub token: Token<'k> }
        pub struct Closed { value: usize }
        impl Closed { pub fn new(_: &Token<'_>) -> Self { Closed { value: 0 } } }
        pub fn open(_: Open<'_>) {}
        pub fn closed(closed: &Closed) -> usize { closed.value }",
    );
    assert_eq!(found, [""; 0]);
}

#[test]
fn a_token_that_a_safe_function_makes_is_not_earned() {
    let rank = "Token::rank(&self) -> usize";
    for (maker, shown) in [
        ("pub fn make() -> Token<'static> { Token::own() }", "make() -> Token"),
        ("pub fn make(_: impl for<'k> FnOnce(Token<'k>)) {}", "make(impl FnOnce(Token))"),
        ("pub fn make(_: &mut Option<Token<'_>>) {}", "make(&mut Option<Token>)"),
        (
            "pub struct Guard<'k> { pub token: Token<'k>, own: () } pub fn make() -> Guard<'static> { loop {} }",
            "make() -> Guard",
        ),
        ("pub trait Visit { fn visit(_: Token<'_>); } pub fn make<V: Visit>(_: V) {}", "make(V)"),
        (
            "pub trait Make: Sized { unsafe fn raw() -> Self; } impl Make for Token<'_> { unsafe fn raw() -> Self { loop {} } }
            pub fn make<M: Make>() -> M { loop {} }",
            "make() -> M",
        ),
    ] {
        let krate = fixture(maker);
        let found = unearned(&krate);
        assert!(found.iter().any(|own| own == rank) && found.iter().any(|own| own == shown), "{maker}: {found:?}");
        assert_eq!(unearned_brands(&krate), ["Token"], "{maker}");
    }
    assert_eq!(unearned_brands(&fixture("")), [""; 0]);
}

#[test]
fn implementations_of_foreign_traits_are_found_and_derived_ones_are_not() {
    let found = found(
        "#[derive(Clone, Debug, Default, PartialEq)] pub struct Count(u32);
        impl core::ops::Deref for Count { type Target = u32; fn deref(&self) -> &u32 { &self.0 } }",
    );
    assert_eq!(found, ["<Count as Deref>::deref(&self) -> &u32"]);
}

#[test]
fn macros_make_no_difference() {
    let found = found(
        "pub trait Float { fn abs(self) -> Self; }
        macro_rules! floats { ($($float:ident $make:ident)*) => {$(
            impl Float for $float { fn abs(self) -> Self { self } }
            pub fn $make() -> $float { 0.0 }
        )*} }
        floats!(f32 single f64 double);",
    );
    assert_eq!(found, ["Float::abs(self) -> Self", "double() -> f64", "single() -> f32"]);
}

#[test]
fn another_format_is_a_clear_error() {
    let error = document::parse("{\"format_version\": 12}").unwrap_err();
    assert!(error.contains("format 12, `rustdoc-types` reads 57"), "{error}");
    assert!(document::parse("{}").unwrap_err().contains("format none"));
    assert!(document::parse("no").unwrap_err().contains("no JSON"));
}

#[test]
fn a_list_that_differs_is_refused_line_by_line() {
    let found = ["a()".to_owned(), "b(u8, u8) -> u8".to_owned()];
    let list = "# Why.\n\na()    returns a constant\nb(u8, u8) -> u8    pure arithmetic\n";
    assert_eq!(review::compare(&found, list), Ok(()));
    let error = |list: &str| review::compare(&found, list).unwrap_err();
    assert_eq!(error("a()    returns a constant\n"), "new: b(u8, u8) -> u8");
    assert_eq!(error("a()    returns a constant\nb(u8, u8) -> u8    REVIEW\n"), "no reason: b(u8, u8) -> u8");
    assert_eq!(error("a()\nb(u8, u8) -> u8    pure arithmetic\n"), "no reason: a()");
    assert_eq!(error(&format!("{list}c()    gone\n")), "gone: c()");
    assert_eq!(error("b(u8, u8) -> u8    pure arithmetic\na()    returns a constant\n"), "not in order: a()");
}

#[test]
fn a_rewritten_list_keeps_reasons_and_asks_for_new_ones() {
    let list = "# Why.\n\na()    returns a constant\ngone()    not any more\n";
    let rewritten = review::rewrite(&["a()".to_owned(), "b()".to_owned()], list);
    assert_eq!(rewritten, "# Why.\n\na()    returns a constant\nb()    REVIEW\n");
}

#[test]
fn auto_traits_are_as_fields_and_written_impls_say() {
    let source = "
#![feature(auto_traits, negative_impls)]
pub unsafe auto trait Calm {}
pub struct Denied;
impl !Calm for Denied {}
pub struct Holds(Denied);
pub struct Plain(u8);
pub struct Generic<T, U>(T, Option<U>);
pub struct Written<T>(Denied, T);
unsafe impl<T: Copy> Calm for Written<T> {}
pub struct Declared<T: Copy>(Denied, T);
unsafe impl<T: Copy> Calm for Declared<T> {}
struct Hidden;
";
    let krate = document::of_source(source).unwrap_or_else(|error| panic!("{error}"));
    let found = auto_traits::lines(&krate, &["Calm"]);
    let wanted = [
        "Declared    yes",
        "Denied    no",
        "Generic    if T, U",
        "Holds    no",
        "Plain    yes",
        "Written    if T: Copy",
    ];
    assert_eq!(found, wanted);
    assert_eq!(auto_traits::compare(&found, &format!("# a comment\n\n{}\n", wanted.join("\n"))), Ok(()));
    let wrong = auto_traits::compare(&found, &wanted.join("\n").replace("Plain    yes", "Plain    no")).unwrap_err();
    assert!(
        wrong.starts_with("new: Plain    yes\ngone: Plain    no\n") && wrong.ends_with(&wanted.join("\n")),
        "{wrong}"
    );
}
