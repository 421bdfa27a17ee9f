//! The launch bounds that `#[kernel]` is given beside the block size.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::ParseStream;
use syn::{Expr, Ident, Lit, Token};

use crate::instances::Instance;
use crate::signature::Signature;

/// The name of an argument, what its numbers mean, and which there are.
struct Kind {
    name: &'static str,
    least: u64,
    most: u64,
    reason: &'static str,
}

/// The arguments. The builder has the same limits, for numbers that are not literals.
const KINDS: [Kind; 2] = [
    Kind { name: "min_blocks", least: 1, most: 32, reason: "a multiprocessor has at most 32 blocks" },
    Kind {
        name: "max_registers",
        least: 24,
        most: 255,
        reason: "`ptxas` gives a thread no fewer than 24 registers, and an instruction can name 255",
    },
];

/// The values of the arguments, in the order of [`KINDS`].
#[derive(Default)]
pub(crate) struct Bounds([Option<Expr>; KINDS.len()]);

impl Bounds {
    /// Reads the rest of `min_blocks = 2` or the like, after the name.
    ///
    /// # Errors
    ///
    /// If there is no such argument, or it is given twice.
    pub(crate) fn read(&mut self, name: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        let error = |message: String| Err(syn::Error::new(name.span(), message));
        let Some(at) = KINDS.iter().position(|kind| name == kind.name) else {
            return error(
                "expected `instances(NAME = [value, ..], ..)`, `min_blocks = NUMBER`, `max_registers = NUMBER` or \
                 `module = NAME`"
                    .into(),
            );
        };
        input.parse::<Token![=]>()?;
        let value: Expr = input.parse()?;
        if self.0[at].replace(value).is_some() {
            return error(format!("`{name}` is given twice"));
        }
        Ok(())
    }

    /// Refuses literals that are out of range. Of other expressions the builder sees the value.
    ///
    /// # Errors
    ///
    /// The first of them.
    pub(crate) fn check(&self, signature: &Signature<'_>) -> syn::Result<()> {
        self.given().try_for_each(|(kind, value)| kind.check(value, signature.name))
    }

    /// Functions from the kernel's generic parameters to the values; empty if none is given.
    pub(crate) fn functions(&self, signature: &Signature<'_>) -> TokenStream {
        let (generics, predicates) = (signature.launch_generics(), signature.predicates());
        let functions = self.given().map(|(kind, value)| {
            let name = kind.function();
            quote! {
                #[allow(dead_code, unused_braces, unused_parens, non_snake_case)]
                const fn #name<#generics>() -> usize
                where
                    #predicates
                {
                    #value
                }
            }
        });
        functions.collect()
    }

    /// The call that makes an instance's constant.
    pub(crate) fn of(&self, signature: &Signature<'_>, instance: &Instance) -> TokenStream {
        let kernel = signature.instance_path(instance);
        let arguments: Vec<&TokenStream> = instance.values.iter().map(|(_, value)| value).collect();
        let values = KINDS.iter().zip(&self.0).map(|(kind, value)| match value {
            Some(_) => {
                let name = kind.function();
                quote!(::core::option::Option::Some(#name::<#(#arguments),*>()))
            }
            None => quote!(::core::option::Option::None),
        });
        quote!(::tilepipe::entry::bounds(&#kernel, #(#values),*))
    }

    /// The code on the host for all of this: the values are computed and not used.
    pub(crate) fn on_host(&self, signature: &Signature<'_>, instances: &[Instance]) -> TokenStream {
        if self.given().next().is_none() {
            return TokenStream::new();
        }
        let functions = self.functions(signature);
        let calls = instances.iter().map(|instance| self.of(signature, instance));
        quote! {
            #[cfg(not(target_arch = "nvptx64"))]
            const _: () = {
                #functions
                #(const _: [u32; 3] = #calls;)*
            };
        }
    }

    fn given(&self) -> impl Iterator<Item = (&'static Kind, &Expr)> {
        KINDS.iter().zip(&self.0).filter_map(|(kind, value)| Some((kind, value.as_ref()?)))
    }
}

impl Kind {
    /// The name of the function with the value, which no code of the kernel's author has.
    fn function(&self) -> Ident {
        quote::format_ident!("__tilepipe_{}", self.name)
    }

    /// Refuses a literal that is out of range.
    fn check(&self, value: &Expr, kernel: &Ident) -> syn::Result<()> {
        let (literal, negative) = match value {
            Expr::Lit(literal) => (&literal.lit, false),
            Expr::Unary(unary) => match (&unary.op, &*unary.expr) {
                (syn::UnOp::Neg(_), Expr::Lit(literal)) => (&literal.lit, true),
                _ => return Ok(()),
            },
            _ => return Ok(()),
        };
        let in_range = match literal {
            Lit::Int(number) => {
                let number = number.base10_parse::<u64>();
                !negative && number.is_ok_and(|number| (self.least..=self.most).contains(&number))
            }
            _ => false,
        };
        if in_range {
            return Ok(());
        }
        let Kind { name, least, most, reason } = self;
        let found = value.to_token_stream().to_string().replace(' ', "");
        let message = format!("the kernel `{kernel}` has `{name} = {found}`: it is {least} to {most}, as {reason}");
        Err(syn::Error::new_spanned(value, message))
    }
}
