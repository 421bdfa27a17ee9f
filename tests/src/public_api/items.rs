//! Look-ups in rustdoc's description.

use rustdoc_types::{
    Crate, GenericBound, GenericParamDefKind, Generics, Id, Impl, Item, ItemEnum, StructKind, Type, VariantKind,
    Visibility, WherePredicate,
};

/// A field of a struct, a union or a variant.
pub struct Field<'a> {
    /// Its type.
    pub type_: &'a Type,
    /// Whether everybody can name it.
    pub is_public: bool,
}

/// Returns all fields of a type; those of variants are public.
pub fn fields<'a>(krate: &'a Crate, item: &'a Item) -> Vec<Field<'a>> {
    let of = |ids: &mut dyn Iterator<Item = Id>, all_public: bool| -> Vec<Field<'a>> {
        ids.filter_map(|id| krate.index.get(&id))
            .filter_map(|field| match &field.inner {
                ItemEnum::StructField(type_) => {
                    Some(Field { type_, is_public: all_public || field.visibility == Visibility::Public })
                }
                _ => None,
            })
            .collect()
    };
    match &item.inner {
        ItemEnum::Struct(own) => match &own.kind {
            StructKind::Unit => Vec::new(),
            StructKind::Tuple(ids) => of(&mut ids.iter().flatten().copied(), false),
            StructKind::Plain { fields, .. } => of(&mut fields.iter().copied(), false),
        },
        ItemEnum::Union(own) => of(&mut own.fields.iter().copied(), false),
        ItemEnum::Enum(own) => {
            own.variants.iter().filter_map(|id| krate.index.get(id)).flat_map(|one| fields(krate, one)).collect()
        }
        ItemEnum::Variant(own) => match &own.kind {
            VariantKind::Plain => Vec::new(),
            VariantKind::Tuple(ids) => of(&mut ids.iter().flatten().copied(), true),
            VariantKind::Struct { fields, .. } => of(&mut fields.iter().copied(), true),
        },
        _ => Vec::new(),
    }
}

/// Returns what all implementations of a trait say that its associated type is.
pub fn projections<'a>(krate: &'a Crate, of: Id, name: &str) -> Vec<&'a Type> {
    let blocks = implementors(krate, of);
    let items = blocks.flat_map(|block| &block.items).filter_map(|id| local(krate, *id));
    items
        .filter(|item| item.name.as_deref() == Some(name))
        .filter_map(|item| match &item.inner {
            ItemEnum::AssocType { type_, .. } => type_.as_ref(),
            _ => None,
        })
        .collect()
}

/// Returns the implementations of a trait of the crate's own.
pub fn implementors(krate: &Crate, of: Id) -> impl Iterator<Item = &Impl> {
    let blocks = match local(krate, of).map(|item| &item.inner) {
        Some(ItemEnum::Trait(trait_)) => trait_.implementations.as_slice(),
        _ => &[],
    };
    blocks.iter().filter_map(|id| implementation(krate, *id))
}

/// Returns the bounds of all type parameters.
pub fn bounds_of(generics: &Generics) -> impl Iterator<Item = &[GenericBound]> {
    let parameters = generics.params.iter().filter_map(|parameter| match &parameter.kind {
        GenericParamDefKind::Type { bounds, .. } => Some(bounds.as_slice()),
        _ => None,
    });
    let predicates = generics.where_predicates.iter().filter_map(|predicate| match predicate {
        WherePredicate::BoundPredicate { bounds, .. } => Some(bounds.as_slice()),
        _ => None,
    });
    parameters.chain(predicates)
}

/// Returns an item of the crate's own.
pub fn local(krate: &Crate, id: Id) -> Option<&Item> {
    let own = krate.index.get(&krate.root)?.crate_id;
    krate.index.get(&id).filter(|item| item.crate_id == own)
}

/// Returns where an item is declared, without the crate's name.
pub fn path(krate: &Crate, id: Id) -> String {
    match krate.paths.get(&id) {
        Some(summary) => summary.path[1..].join("::"),
        None => local(krate, id).and_then(|item| item.name.clone()).unwrap_or_else(|| "_".to_owned()),
    }
}

/// Returns an `impl` block of the crate's own that is no negative one.
pub fn implementation(krate: &Crate, id: Id) -> Option<&Impl> {
    match local(krate, id).map(|item| &item.inner) {
        Some(ItemEnum::Impl(block)) if !block.is_negative => Some(block),
        _ => None,
    }
}

/// Returns the `impl` blocks of a type.
pub fn implementations(item: &Item) -> &[Id] {
    match &item.inner {
        ItemEnum::Struct(own) => &own.impls,
        ItemEnum::Enum(own) => &own.impls,
        ItemEnum::Union(own) => &own.impls,
        _ => &[],
    }
}
