//! What `#[kernel]` checks of a function itself, so that `cargo check` reports it, once, at the
//! kernel's own lines and with its name. The library checks the same where the code is
//! instantiated: at its own lines, in a build.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, ExprMethodCall, FnArg, GenericArgument, ItemFn, Pat, PathArguments, Type};

use crate::instances::Instance;
use crate::parts;
use crate::signature::{Signature, with_static_lifetimes};

/// The checks, as items of the module beside the kernel.
pub(crate) fn of(signature: &Signature, function: &ItemFn, instances: &[Instance]) -> TokenStream {
    let parameters = signature.parameters.iter().map(|parameter| {
        let ty = with_static_lifetimes(parameter.ty);
        quote_spanned!(parameter.ty.span() => ::tilepipe::entry::is_parameter::<#ty>();)
    });
    let (generics, predicates) = (signature.launch_generics(), signature.predicates());
    let calls = checks_of_calls(signature, function, instances);
    quote! {
        #[cfg(not(target_arch = "nvptx64"))]
        const _: () = {
            #[allow(dead_code, clippy::extra_unused_type_parameters, clippy::extra_unused_lifetimes)]
            fn parameters<#generics>() where #predicates {
                #(#parameters)*
            }
            #(#calls)*
        };
    }
}

/// Checks of what is called on the block and on tiles: each a function, and a constant that calls
/// it for every instance. All are tracked, so that a failure is at the place of the constant, which
/// is that of the call.
fn checks_of_calls(signature: &Signature, function: &ItemFn, instances: &[Instance]) -> Vec<TokenStream> {
    let Some((block, threads)) = block(function) else { return Vec::new() };
    let mut calls = Calls { block, found: Vec::new(), is_certain: true };
    calls.visit_block(&function.block);
    if !calls.is_certain {
        return Vec::new();
    }
    let kernel = signature.name.to_string();
    let (generics, predicates) = (signature.generics().collect::<Vec<_>>(), signature.predicates());
    let of_block = calls.found.into_iter().filter_map(|call| {
        let check = match call.turbofish.as_ref().map(|turbofish| &turbofish.args) {
            None if call.method == "warps" => quote!(check_warps(#kernel, #threads)),
            Some(arguments) if call.method == "partition" && arguments.len() == 1 => {
                quote!(check_roles::<#arguments>(#kernel, #threads))
            }
            _ => return None,
        };
        Some((call.method.span(), check))
    });
    let of_tiles = signature.shared.iter().flat_map(|shared| {
        let kernel = &kernel;
        let ty = with_static_lifetimes(shared.ty);
        parts::read_by(function, &shared.name).into_iter().map(move |own| {
            let number = own.number();
            let check = quote!(check_own(#kernel, #threads, #number, ::core::marker::PhantomData::<#ty>));
            (own.method.span(), check)
        })
    });
    let check = |(span, check): (Span, TokenStream)| {
        let values = instances.iter().map(|instance| {
            let values = instance.values.iter().map(|(_, value)| value);
            quote_spanned!(span => check::<#(#values),*>();)
        });
        quote_spanned! { span =>
            const _: () = {
                #[allow(clippy::extra_unused_type_parameters)]
                #[track_caller]
                const fn check<#(#generics),*>() where #predicates {
                    ::tilepipe::launch::#check;
                }
                #(#values)*
            };
        }
    };
    of_block.chain(of_tiles).map(check).collect()
}

/// The name of the block, and the number of its threads as written in its type.
fn block(function: &ItemFn) -> Option<(&Ident, &GenericArgument)> {
    let FnArg::Typed(typed) = function.sig.inputs.first()? else { return None };
    let (Pat::Ident(name), Type::Path(path)) = (&*typed.pat, &*typed.ty) else { return None };
    let PathArguments::AngleBracketed(arguments) = &path.path.segments.last()?.arguments else { return None };
    let threads = arguments.args.iter().filter(|argument| !matches!(argument, GenericArgument::Lifetime(_)));
    Some((&name.ident, threads.last()?))
}

/// Finds the methods that are called on the block.
struct Calls<'a> {
    block: &'a Ident,
    found: Vec<&'a ExprMethodCall>,
    /// Whether the block's name and the types that the calls name mean the same all over the body:
    /// nothing else is bound to the name, and no item is declared.
    is_certain: bool,
}

impl<'a> Visit<'a> for Calls<'a> {
    fn visit_expr_method_call(&mut self, call: &'a ExprMethodCall) {
        if matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident(self.block)) {
            self.found.push(call);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_pat_ident(&mut self, pattern: &'a syn::PatIdent) {
        self.is_certain &= pattern.ident != *self.block;
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_item(&mut self, _: &'a syn::Item) {
        self.is_certain = false;
    }
}
