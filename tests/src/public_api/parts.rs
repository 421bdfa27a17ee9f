//! What a type mentions.

use rustdoc_types::{AssocItemConstraintKind, GenericArg, GenericArgs, GenericBound, Id, Term, Type};

/// One thing that a type mentions.
#[derive(Clone, Copy)]
pub enum Part<'a> {
    /// A struct, an enum, a union or an alias.
    Adt(Id),
    /// The trait of an `impl Trait`, or of a bound.
    Bound(Id),
    /// The trait of a `dyn Trait`.
    Object(Id),
    /// A type parameter, or `Self`.
    Generic(&'a str),
    /// An associated type of a trait.
    Projection(Id, &'a str),
}

/// Everything that a type mentions, however deep.
#[derive(Default)]
pub struct Parts<'a>(pub Vec<Part<'a>>);

impl<'a> Parts<'a> {
    /// Takes a type apart.
    pub fn of(type_: &'a Type) -> Vec<Part<'a>> {
        let mut parts = Parts::default();
        parts.type_(type_);
        parts.0
    }

    fn type_(&mut self, type_: &'a Type) {
        match type_ {
            Type::ResolvedPath(path) => {
                self.0.push(Part::Adt(path.id));
                self.arguments(path.args.as_deref());
            }
            Type::DynTrait(object) => {
                for one in &object.traits {
                    self.0.push(Part::Object(one.trait_.id));
                    self.arguments(one.trait_.args.as_deref());
                }
            }
            Type::Generic(name) => self.0.push(Part::Generic(name)),
            Type::FunctionPointer(pointer) => {
                pointer.sig.inputs.iter().for_each(|(_, input)| self.type_(input));
                pointer.sig.output.iter().for_each(|output| self.type_(output));
            }
            Type::Tuple(types) => types.iter().for_each(|one| self.type_(one)),
            Type::Slice(type_) | Type::Array { type_, .. } | Type::Pat { type_, .. } => self.type_(type_),
            Type::RawPointer { type_, .. } | Type::BorrowedRef { type_, .. } => self.type_(type_),
            Type::ImplTrait(bounds) => self.bounds(bounds),
            Type::QualifiedPath { name, args, self_type, trait_ } => {
                let mut of_type = Parts::default();
                of_type.type_(self_type);
                of_type.arguments(args.as_deref());
                // `T::Item` is no `T`.
                self.0.extend(of_type.0.into_iter().filter(|part| !matches!(part, Part::Generic(_))));
                if let Some(of) = trait_ {
                    self.0.push(Part::Projection(of.id, name));
                    self.arguments(of.args.as_deref());
                }
            }
            Type::Primitive(_) | Type::Infer => {}
        }
    }

    /// Takes the traits of bounds apart.
    pub fn bounds(&mut self, bounds: &'a [GenericBound]) {
        for bound in bounds {
            if let GenericBound::TraitBound { trait_, .. } = bound {
                self.0.push(Part::Bound(trait_.id));
                self.arguments(trait_.args.as_deref());
            }
        }
    }

    fn arguments(&mut self, arguments: Option<&'a GenericArgs>) {
        match arguments {
            Some(GenericArgs::AngleBracketed { args, constraints }) => {
                for argument in args {
                    if let GenericArg::Type(type_) = argument {
                        self.type_(type_);
                    }
                }
                for constraint in constraints {
                    match &constraint.binding {
                        AssocItemConstraintKind::Equality(Term::Type(type_)) => self.type_(type_),
                        AssocItemConstraintKind::Constraint(bounds) => self.bounds(bounds),
                        AssocItemConstraintKind::Equality(_) => {}
                    }
                }
            }
            Some(GenericArgs::Parenthesized { inputs, output }) => {
                inputs.iter().for_each(|input| self.type_(input));
                output.iter().for_each(|output| self.type_(output));
            }
            Some(GenericArgs::ReturnTypeNotation) | None => {}
        }
    }
}
