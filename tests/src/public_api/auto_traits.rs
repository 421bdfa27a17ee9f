//! Which types have an auto trait of the crate's own.
//!
//! An auto trait holds for a type by what its fields hold, unless somebody writes an `impl`. So a
//! new field, or a new type whose author did not think of the trait, changes what safe code may do
//! without a line that says so. The lines here are compared with a list.

use rustdoc_types::{
    Crate, GenericBound, GenericParamDefKind, Generics, Id, Impl, Item, ItemEnum, Type, WherePredicate,
};

use super::items::{implementations, local, path};
use super::reach::Surface;
use super::signature::{bound, shown};

/// Returns a line for each type that a dependent crate can reach, sorted: its path, and for each of
/// the traits `yes`, `no`, or `if` with the parameters that must have it, and other bounds.
pub fn lines(krate: &Crate, traits: &[&str]) -> Vec<String> {
    let surface = Surface::of(krate);
    let mut lines: Vec<String> = surface
        .types()
        .map(|id| {
            let cells = traits.iter().map(|own| format!("    {}", of_type(krate, id, own)));
            format!("{}{}", path(krate, id), cells.collect::<String>())
        })
        .collect();
    lines.sort();
    lines
}

/// Compares lines with those of a list, in which `#` begins a comment.
///
/// # Errors
///
/// What differs, and the lines as they should be.
pub fn compare(found: &[String], list: &str) -> Result<(), String> {
    let listed: Vec<&str> = list.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()).collect();
    if listed == found {
        return Ok(());
    }
    let new = found.iter().filter(|line| !listed.contains(&line.as_str())).map(|line| format!("new: {line}\n"));
    let gone = listed.iter().filter(|line| !found.iter().any(|own| own == *line)).map(|line| format!("gone: {line}\n"));
    Err(format!("{}\nThe wanted lines:\n\n{}", new.chain(gone).collect::<String>(), found.join("\n")))
}

/// What a type's `impl` of a trait says, be it written or the compiler's own.
fn of_type(krate: &Crate, id: Id, name: &str) -> String {
    let Some(item) = local(krate, id) else { return "no".to_owned() };
    let blocks = implementations(item).iter().filter_map(|id| match &krate.index.get(id)?.inner {
        ItemEnum::Impl(block) => Some(block),
        _ => None,
    });
    let own: Vec<&Impl> = blocks.filter(|block| block.trait_.as_ref().is_some_and(|of| of.path == name)).collect();
    match own.as_slice() {
        [] => "no".to_owned(),
        [block] if block.is_negative => "no".to_owned(),
        [block] => {
            let asked = conditions(&block.generics, name);
            let declared = generics(item).map_or_else(Vec::new, |generics| conditions(generics, name));
            let more: Vec<String> = asked.into_iter().filter(|one| !declared.contains(one)).collect();
            if more.is_empty() { "yes".to_owned() } else { format!("if {}", more.join(", ")) }
        }
        several => panic!("{} has {} implementations of {name}", path(krate, id), several.len()),
    }
}

fn generics(item: &Item) -> Option<&Generics> {
    match &item.inner {
        ItemEnum::Struct(own) => Some(&own.generics),
        ItemEnum::Enum(own) => Some(&own.generics),
        ItemEnum::Union(own) => Some(&own.generics),
        _ => None,
    }
}

/// The bounds of type parameters and `where` clauses: `T` for one by the trait itself, else
/// `T: Bound`.
fn conditions(generics: &Generics, name: &str) -> Vec<String> {
    let of = |type_: String, bounds: &[GenericBound]| -> Vec<String> {
        let traits = bounds.iter().filter_map(bound);
        traits.map(|one| if one == name { type_.clone() } else { format!("{type_}: {one}") }).collect()
    };
    let parameters = generics.params.iter().flat_map(|parameter| match &parameter.kind {
        GenericParamDefKind::Type { bounds, .. } => of(shown(&Type::Generic(parameter.name.clone())), bounds),
        _ => Vec::new(),
    });
    let predicates = generics.where_predicates.iter().flat_map(|predicate| match predicate {
        WherePredicate::BoundPredicate { type_, bounds, .. } => of(shown(type_), bounds),
        _ => Vec::new(),
    });
    parameters.chain(predicates).collect()
}
