//! What `#[kernel]` reads from a function's signature.

use proc_macro2::TokenStream;
use quote::quote;
use syn::visit_mut::VisitMut;
use syn::{FnArg, GenericParam, Ident, ItemFn, Pat, ReturnType, Type};

use crate::instances::Instance;

/// A kernel's signature, checked.
pub(crate) struct Signature<'a> {
    pub(crate) name: &'a Ident,
    /// The parameters between the block and the shared memory.
    pub(crate) parameters: Vec<Parameter<'a>>,
    pub(crate) shared: Option<Parameter<'a>>,
    function: &'a ItemFn,
}

/// One parameter: its name and its type as written.
pub(crate) struct Parameter<'a> {
    pub(crate) name: Ident,
    pub(crate) ty: &'a Type,
}

impl<'a> Signature<'a> {
    pub(crate) fn of(function: &'a ItemFn) -> syn::Result<Self> {
        let signature = &function.sig;
        for (found, what) in [
            (signature.asyncness.is_some(), "async"),
            (!matches!(signature.safety, syn::Safety::Default), "unsafe"),
            (signature.abi.is_some(), "extern"),
        ] {
            if found {
                return Err(error(signature, &format!("a kernel is an ordinary safe function, not `{what}`")));
            }
        }
        if let ReturnType::Type(_, ty) = &signature.output {
            return Err(error(ty, "a kernel returns nothing: write results through a `TilesMut`"));
        }
        let mut parameters = Vec::new();
        for input in &signature.inputs {
            let FnArg::Typed(typed) = input else {
                return Err(error(input, "a kernel takes no `self`"));
            };
            let Pat::Ident(pattern) = &*typed.pat else {
                return Err(error(&typed.pat, "give the parameter a plain name: the launch reports errors by it"));
            };
            if let Type::Reference(reference) = &*typed.ty {
                return Err(error(
                    reference,
                    "a kernel takes no references: take a view (`Tiles`, `TilesMut`), a value, or a `Constant` of a large one",
                ));
            }
            if let Some(lifetime) = static_lifetime(&typed.ty) {
                let message = "a kernel's parameters live for one launch only: leave this lifetime out";
                return Err(error(&lifetime, message));
            }
            parameters.push(Parameter { name: pattern.ident.clone(), ty: &typed.ty });
        }
        if parameters.is_empty() || !is_named(parameters[0].ty, "Block") {
            return Err(error(&signature.inputs, "a kernel's first parameter is its `Block<THREADS>`"));
        }
        parameters.remove(0);
        let position = parameters.iter().position(|parameter| is_named(parameter.ty, "Shared"));
        let mut shared = None;
        if let Some(position) = position {
            if position + 1 < parameters.len() {
                let message = "a kernel has one `Shared`, its last parameter: lay out two to four things as a tuple, \
                               `Shared<(A, B)>`, and `split` it";
                return Err(error(parameters[position].ty, message));
            }
            shared = parameters.pop();
        }
        if let Some(second) = parameters.iter().find(|parameter| is_named(parameter.ty, "Block")) {
            return Err(error(second.ty, "a kernel has one `Block`"));
        }
        Ok(Signature { name: &signature.ident, parameters, shared, function })
    }

    /// The generic parameters, without lifetimes.
    pub(crate) fn generics(&self) -> impl Iterator<Item = &'a GenericParam> {
        let parameters = self.function.sig.generics.params.iter();
        parameters.filter(|parameter| !matches!(parameter, GenericParam::Lifetime(_)))
    }

    /// The function with an instance's generic arguments.
    pub(crate) fn instance_path(&self, instance: &Instance) -> TokenStream {
        let name = self.name;
        let values = instance.values.iter().map(|(_, value)| value);
        if instance.values.is_empty() { quote!(super::#name) } else { quote!(super::#name::<#(#values),*>) }
    }

    /// The generic parameters of the launch function, as written.
    pub(crate) fn launch_generics(&self) -> TokenStream {
        let parameters = self.function.sig.generics.params.iter();
        quote!(#(#parameters),*)
    }

    /// The function's where clause, without the keyword.
    pub(crate) fn predicates(&self) -> TokenStream {
        let predicates = self.function.sig.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
        quote!(#(#predicates),*)
    }

    /// The generics, the arguments and the field of a type that stands for a choice of generic
    /// arguments.
    pub(crate) fn key(&self) -> (TokenStream, TokenStream, TokenStream) {
        let (mut generics, mut arguments, mut types) = (Vec::new(), Vec::new(), Vec::new());
        for parameter in self.generics() {
            match parameter {
                GenericParam::Type(parameter) => {
                    let name = &parameter.ident;
                    generics.push(quote!(#name));
                    types.push(name);
                    arguments.push(name);
                }
                GenericParam::Const(parameter) => {
                    let (name, ty) = (&parameter.ident, &parameter.ty);
                    generics.push(quote!(const #name: #ty));
                    arguments.push(name);
                }
                _ => {}
            }
        }
        let marker = quote!(::core::marker::PhantomData<fn() -> (#(#types,)*)>);
        (quote!(#(#generics),*), quote!(#(#arguments),*), marker)
    }
}

/// Whether a type's last path segment is `name`.
fn is_named(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|segment| segment.ident == name))
}

/// The type with `'static` for every lifetime that the kernel's author elided: what an argument is
/// bound to, whatever lifetime the launch gives it.
pub(crate) fn with_static_lifetimes(ty: &Type) -> Type {
    struct Static;

    impl VisitMut for Static {
        fn visit_lifetime_mut(&mut self, lifetime: &mut syn::Lifetime) {
            if lifetime.ident == "_" {
                lifetime.ident = Ident::new("static", lifetime.ident.span());
            }
        }

        fn visit_path_segment_mut(&mut self, segment: &mut syn::PathSegment) {
            let is_view = VIEWS.iter().any(|view| segment.ident == view);
            if let (true, syn::PathArguments::AngleBracketed(arguments)) = (is_view, &mut segment.arguments)
                && !matches!(arguments.args.first(), Some(syn::GenericArgument::Lifetime(_)))
            {
                arguments.args.insert(0, syn::parse_quote!('static));
            }
            syn::visit_mut::visit_path_segment_mut(self, segment);
        }
    }

    let mut ty = ty.clone();
    Static.visit_type_mut(&mut ty);
    ty
}

/// The first `'static` that a type of a parameter is given.
fn static_lifetime(ty: &Type) -> Option<syn::Lifetime> {
    struct Find(Option<syn::Lifetime>);

    impl VisitMut for Find {
        fn visit_generic_argument_mut(&mut self, argument: &mut syn::GenericArgument) {
            match argument {
                syn::GenericArgument::Lifetime(lifetime) if lifetime.ident == "static" => {
                    self.0.get_or_insert_with(|| lifetime.clone());
                }
                _ => syn::visit_mut::visit_generic_argument_mut(self, argument),
            }
        }
    }

    let mut find = Find(None);
    find.visit_type_mut(&mut ty.clone());
    find.0
}

/// The types of `tilepipe` whose lifetime may be left out in a signature: views and constants.
const VIEWS: [&str; 18] = [
    "Tiles",
    "TilesMut",
    "Halos",
    "TileView",
    "TileViewMut",
    "Tiles2D",
    "ColumnTiles2D",
    "TilesMut2D",
    "Halos2D",
    "Input",
    "Input2D",
    "Tensor",
    "TensorMut",
    "TileReduction",
    "Reduction",
    "BulkTilesMut",
    "RowValuesMut",
    "Constant",
];

fn error(tokens: &impl quote::ToTokens, message: &str) -> syn::Error {
    syn::Error::new_spanned(tokens, message)
}
