//! `#[derive(Element)]`: the checks and the implementations for one struct.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Fields};

/// Expands the derive.
///
/// # Errors
///
/// If the item is no struct, is generic, or has no layout that Rust defines.
pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let fields = fields(input)?;
    if !input.generics.params.is_empty() {
        let message = "a struct with `#[derive(Element)]` has no generic parameters, so that its layout can be checked";
        return Err(Error::new_spanned(&input.generics, message));
    }
    if !has_defined_layout(&input.attrs)? {
        let message = "`#[derive(Element)]` needs a layout that host and GPU agree on: add `#[repr(C)]` to the struct";
        return Err(Error::new(input.ident.span(), message));
    }
    let checks = [layout_check(input, fields), field_check(input, fields)];
    let implementations = implementations(input);
    Ok(quote!(#(#checks)* #implementations))
}

/// The struct's fields.
fn fields(input: &DeriveInput) -> syn::Result<&Fields> {
    match &input.data {
        Data::Struct(data) => Ok(&data.fields),
        Data::Enum(data) => {
            let message = "an enum can't be an element: most bit patterns are no value of it; keep its number in a field \
                           of a struct and convert it where it is used";
            Err(Error::new(data.enum_token.span, message))
        }
        Data::Union(data) => {
            let message =
                "`#[derive(Element)]` is for structs: whether a union has padding depends on the variant written";
            Err(Error::new(data.union_token.span, message))
        }
    }
}

/// Whether the struct is `repr(C)` or `repr(transparent)`.
fn has_defined_layout(attributes: &[Attribute]) -> syn::Result<bool> {
    let mut defined = false;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            defined |= meta.path.is_ident("C") || meta.path.is_ident("transparent");
            if meta.input.peek(syn::token::Paren) {
                // The number of `align(..)` or `packed(..)`; rustc checks it, and the layout check
                // sees its effect.
                let number;
                syn::parenthesized!(number in meta.input);
                number.parse::<syn::LitInt>()?;
            }
            Ok(())
        })?;
    }
    Ok(defined)
}

/// Constant assertions, at the struct's name: no padding, a byte at least, aligned to at most 16.
/// (More than 16 bytes are for a `Constant`; what has tiles of them says so.)
fn layout_check(input: &DeriveInput, fields: &Fields) -> TokenStream {
    let name = &input.ident;
    let types = fields.iter().map(|field| &field.ty);
    let padding = format!(
        "`{}` has padding, whose bytes no value defines: reorder its fields from the most to the least aligned, or add a \
         field such as `unused: [u8; N]` for the rest",
        name.unraw(),
    );
    let limits = format!(
        "`{}` is empty or too strictly aligned: an element has at least a byte and is aligned to at most 16",
        name.unraw(),
    );
    quote_spanned! { at(name.span()) =>
        const _: () = ::core::assert!(
            ::core::mem::size_of::<#name>() == 0 #(+ ::core::mem::size_of::<#types>())*,
            #padding
        );
        const _: () = ::core::assert!(
            ::core::mem::size_of::<#name>() >= 1 && ::core::mem::align_of::<#name>() <= 16,
            #limits
        );
    }
}

/// A function that compiles only if every field is an element. It takes the struct apart without
/// `..`, so it also proves that there is no field but those seen here: an attribute under the
/// derive could have added one.
fn field_check(input: &DeriveInput, fields: &Fields) -> TokenStream {
    let name = &input.ident;
    let members: Vec<_> = fields.members().collect();
    let values: Vec<_> = (0..members.len()).map(|index| format_ident!("field_{index}")).collect();
    let checks = fields.iter().zip(&values).map(|(field, value)| {
        let ty = &field.ty;
        quote_spanned!(at(ty.span()) => is_an_element::<#ty>(#value);)
    });
    quote! {
        const _: () = {
            #[allow(dead_code, deprecated)]
            fn every_field_is_an_element(value: #name) {
                fn is_an_element<T: ::tilepipe::Element>(_: T) {}
                let #name { #(#members: #values),* } = value;
                #(#checks)*
            }
        };
    }
}

/// The implementations themselves.
fn implementations(input: &DeriveInput) -> TokenStream {
    let name = &input.ident;
    quote! {
        // SAFETY: every field is an element, hence plain data, for which all zeros is valid
        // (`field_check`).
        #[automatically_derived]
        unsafe impl ::tilepipe::bytemuck::Zeroable for #name {}
        // SAFETY: every field is an element, hence plain data, and there are no others
        // (`field_check`); their sizes add up to the struct's, so there is no padding
        // (`layout_check`); `repr(C)` or `repr(transparent)` was seen; rustc checks `Copy` and
        // `'static`. So any bit pattern is valid and nothing can be written through a shared
        // reference.
        #[automatically_derived]
        unsafe impl ::tilepipe::bytemuck::Pod for #name {}
        #[automatically_derived]
        impl ::tilepipe::Element for #name {}
        // SAFETY: the size is what `size_of` says.
        #[automatically_derived]
        unsafe impl ::tilepipe::VectorLane<{ ::core::mem::size_of::<#name>() }> for #name {}
    }
}

/// The place of `span`, for tokens that are the macro's own.
fn at(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}
