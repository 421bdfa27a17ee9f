//! A function's signature in one line.

use rustdoc_types::{AssocItemConstraintKind, GenericArg, GenericArgs, GenericBound, Path, Term, Type};

use super::reach::Call;

/// Returns the path of a function with the types of its arguments and its result, without
/// lifetimes.
pub fn of(call: &Call) -> String {
    let signature = &call.function.sig;
    let inputs = signature.inputs.iter().map(|(name, type_)| match (name.as_str(), type_) {
        ("self", Type::Generic(_)) => "self".to_owned(),
        ("self", Type::BorrowedRef { is_mutable: false, .. }) => "&self".to_owned(),
        ("self", Type::BorrowedRef { is_mutable: true, .. }) => "&mut self".to_owned(),
        _ => shown(type_),
    });
    let inputs = inputs.collect::<Vec<_>>().join(", ");
    let output = signature.output.as_ref().map_or_else(String::new, |output| format!(" -> {}", shown(output)));
    format!("{}({inputs}){output}", call.path)
}

/// Returns a type without lifetimes, each path as its last segment.
pub fn shown(type_: &Type) -> String {
    match type_ {
        Type::ResolvedPath(path) => named(path),
        Type::DynTrait(object) => {
            let traits: Vec<String> = object.traits.iter().map(|one| named(&one.trait_)).collect();
            format!("dyn {}", traits.join(" + "))
        }
        Type::Generic(name) | Type::Primitive(name) => match name.as_str() {
            "never" => "!".to_owned(),
            "unit" => "()".to_owned(),
            _ => name.clone(),
        },
        Type::FunctionPointer(pointer) => {
            let output =
                pointer.sig.output.as_ref().map_or_else(String::new, |output| format!(" -> {}", shown(output)));
            format!("fn({}){output}", list(pointer.sig.inputs.iter().map(|(_, input)| input)))
        }
        Type::Tuple(types) if types.len() == 1 => format!("({},)", shown(&types[0])),
        Type::Tuple(types) => format!("({})", list(types)),
        Type::Slice(type_) => format!("[{}]", shown(type_)),
        Type::Array { type_, len } => format!("[{}; {len}]", shown(type_)),
        Type::Pat { type_, .. } => shown(type_),
        Type::ImplTrait(bounds) => format!("impl {}", bounded(bounds)),
        Type::Infer => "_".to_owned(),
        Type::RawPointer { is_mutable, type_ } => {
            format!("*{} {}", if *is_mutable { "mut" } else { "const" }, shown(type_))
        }
        Type::BorrowedRef { is_mutable, type_, .. } => {
            format!("&{}{}", if *is_mutable { "mut " } else { "" }, shown(type_))
        }
        Type::QualifiedPath { name, self_type, trait_, .. } => match (&**self_type, trait_) {
            (Type::Generic(own), _) => format!("{own}::{name}"),
            (own, Some(of)) => format!("<{} as {}>::{name}", shown(own), named(of)),
            (own, None) => format!("<{}>::{name}", shown(own)),
        },
    }
}

fn list<'a>(types: impl IntoIterator<Item = &'a Type>) -> String {
    types.into_iter().map(shown).collect::<Vec<_>>().join(", ")
}

fn bounded(bounds: &[GenericBound]) -> String {
    bounds.iter().filter_map(bound).collect::<Vec<_>>().join(" + ")
}

/// Returns the trait of a bound; one by a lifetime has none.
pub fn bound(bound: &GenericBound) -> Option<String> {
    match bound {
        GenericBound::TraitBound { trait_, .. } => Some(named(trait_)),
        _ => None,
    }
}

/// The last segment of a path, with its arguments.
fn named(path: &Path) -> String {
    let name = path.path.rsplit("::").next().unwrap_or_default();
    match path.args.as_deref() {
        Some(GenericArgs::Parenthesized { inputs, output }) => {
            let output = output.as_ref().map_or_else(String::new, |output| format!(" -> {}", shown(output)));
            format!("{name}({}){output}", list(inputs))
        }
        Some(GenericArgs::AngleBracketed { args, constraints }) => {
            let mut shown_arguments: Vec<String> = args
                .iter()
                .filter_map(|argument| match argument {
                    GenericArg::Type(type_) => Some(shown(type_)),
                    GenericArg::Const(constant) => Some(constant.expr.clone()),
                    GenericArg::Infer => Some("_".to_owned()),
                    GenericArg::Lifetime(_) => None,
                })
                .collect();
            shown_arguments.extend(constraints.iter().map(|constraint| match &constraint.binding {
                AssocItemConstraintKind::Equality(Term::Type(type_)) => {
                    format!("{} = {}", constraint.name, shown(type_))
                }
                AssocItemConstraintKind::Equality(Term::Constant(value)) => {
                    format!("{} = {}", constraint.name, value.expr)
                }
                AssocItemConstraintKind::Constraint(bounds) => format!("{}: {}", constraint.name, bounded(bounds)),
            }));
            match shown_arguments.is_empty() {
                true => name.to_owned(),
                false => format!("{name}<{}>", shown_arguments.join(", ")),
            }
        }
        _ => name.to_owned(),
    }
}
