//! Which values only the crate itself makes.
//!
//! A type is *earned* if safe code of another crate cannot get a value of it without an earned
//! value before: its fields are not all public, and each safe function that returns it, hands it to
//! a closure or writes it through a `&mut` takes an earned argument. That is a least fixpoint: at
//! first no type can be made, and every function without an earned argument adds the types that it
//! makes. A branded token is earned if its brand is worth anything; so is every type whose
//! constructors are `unsafe` or private.
//!
//! What counts as an argument: a value of an earned type, a reference to one, and a tuple with one
//! in it. An `Option`, a slice, an array or a container may be empty, a pointer null, a type
//! parameter anything: none of them counts. What counts as made: every type that a result mentions,
//! however deep.

use std::collections::BTreeSet;

use rustdoc_types::{Crate, GenericArgs, GenericBound, GenericParamDefKind, Id, Item, ItemEnum, Type, WherePredicate};

use super::items::{bounds_of, fields, implementors, local, projections};
use super::parts::{Part, Parts};
use super::reach::{Call, Surface};

/// The types of which anybody can make values.
pub struct Earned<'a> {
    krate: &'a Crate,
    surface: &'a Surface<'a>,
    made: BTreeSet<Id>,
}

impl<'a> Earned<'a> {
    /// Finds out what the functions of a surface make.
    pub fn of(krate: &'a Crate, surface: &'a Surface<'a>) -> Self {
        let mut earned = Earned { krate, surface, made: BTreeSet::new() };
        surface.constants.iter().for_each(|type_| earned.make(type_, None));
        loop {
            let before = earned.made.len();
            // What a trait's function makes is what its implementations make, which are calls of
            // their own.
            let calls = surface.calls.iter().filter(|call| call.of_trait.is_none() || call.self_type.is_some());
            for call in calls {
                if earned.needs_nothing(call) {
                    earned.make_results(call);
                }
            }
            if earned.made.len() == before {
                return earned;
            }
        }
    }

    /// Whether a function is safe and takes no earned argument.
    pub fn needs_nothing(&self, call: &Call) -> bool {
        !call.function.header.is_unsafe
            && !call.function.sig.inputs.iter().any(|(_, input)| self.is_earned(input, call))
    }

    /// Whether a type has a brand and can be made by anybody.
    pub fn is_forgeable_brand(&self, id: Id) -> bool {
        let fields = local(self.krate, id).map(|item| fields(self.krate, item));
        let is_branded = fields.into_iter().flatten().any(|field| !field.is_public && self.is_brand(field.type_));
        is_branded && !self.is_earned_type(id, &mut BTreeSet::new(), None)
    }

    fn is_earned(&self, type_: &Type, call: &Call) -> bool {
        self.is_earned_within(type_, &mut BTreeSet::new(), Some(call))
    }

    fn is_earned_within(&self, type_: &Type, outer: &mut BTreeSet<Id>, call: Option<&Call>) -> bool {
        match type_ {
            Type::ResolvedPath(path) => self.is_earned_type(path.id, outer, call),
            Type::BorrowedRef { type_, .. } => self.is_earned_within(type_, outer, call),
            Type::Tuple(types) => types.iter().any(|one| self.is_earned_within(one, outer, call)),
            Type::Generic(name) if name == "Self" => match call {
                Some(Call { self_type: Some(type_), .. }) => self.is_earned_within(type_, outer, None),
                // Which implementation runs depends on a value that the caller must have.
                Some(Call { of_trait: Some(of), .. }) => {
                    let mut own = implementors(self.krate, *of).peekable();
                    own.peek().is_some() && own.all(|block| self.is_earned_within(&block.for_, outer, None))
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether a type's values are earned; `outer` are the types whose fields are being looked at.
    fn is_earned_type(&self, id: Id, outer: &mut BTreeSet<Id>, call: Option<&Call>) -> bool {
        let Some(item) = local(self.krate, id) else { return false };
        if let ItemEnum::TypeAlias(alias) = &item.inner {
            return self.is_earned_within(&alias.type_, outer, call);
        }
        if self.made.contains(&id) || !outer.insert(id) {
            return false;
        }
        let is_earned = match &item.inner {
            ItemEnum::Struct(_) => self.needs_private_or_earned(item, outer),
            // Of an enumeration without variants there are no values at all.
            ItemEnum::Enum(own) => own
                .variants
                .iter()
                .filter_map(|id| local(self.krate, *id))
                .all(|variant| self.needs_private_or_earned(variant, outer)),
            _ => false,
        };
        outer.remove(&id);
        is_earned
    }

    /// Whether a struct or a variant has a field that others cannot name, or can fill with an
    /// earned value only.
    fn needs_private_or_earned(&self, item: &Item, outer: &mut BTreeSet<Id>) -> bool {
        fields(self.krate, item).iter().any(|field| !field.is_public || self.is_earned_within(field.type_, outer, None))
    }

    /// Adds what a function gives to whoever calls it.
    fn make_results(&mut self, call: &'a Call<'a>) {
        let signature = &call.function.sig;
        signature.output.iter().for_each(|output| self.make(output, Some(call)));
        for (_, input) in &signature.inputs {
            match input {
                Type::BorrowedRef { is_mutable: true, type_, .. } => self.make(type_, Some(call)),
                Type::ImplTrait(bounds) => self.make_handed(bounds, call),
                _ => {}
            }
        }
        for generics in &call.generics {
            bounds_of(generics).for_each(|bounds| self.make_handed(bounds, call));
        }
    }

    /// Adds what the caller's own closures, or its own implementations of a trait, get as
    /// arguments.
    fn make_handed(&mut self, bounds: &'a [GenericBound], call: &'a Call<'a>) {
        for bound in bounds {
            let GenericBound::TraitBound { trait_, .. } = bound else { continue };
            if let Some(GenericArgs::Parenthesized { inputs, .. }) = trait_.args.as_deref() {
                inputs.iter().for_each(|input| self.make(input, Some(call)));
            }
            let Some(ItemEnum::Trait(own)) = local(self.krate, trait_.id).map(|item| &item.inner) else { continue };
            if !self.surface.can_be_implemented(trait_.id) {
                continue;
            }
            for item in own.items.iter().filter_map(|id| local(self.krate, *id)) {
                if let ItemEnum::Function(function) = &item.inner {
                    function.sig.inputs.iter().for_each(|(_, input)| self.make(input, None));
                }
            }
        }
    }

    /// Adds all types that a result mentions.
    fn make(&mut self, type_: &'a Type, call: Option<&'a Call<'a>>) {
        let krate = self.krate;
        let (mut projected, mut generic) = (BTreeSet::new(), BTreeSet::new());
        let mut left = vec![type_];
        while let Some(type_) = left.pop() {
            for part in Parts::of(type_) {
                match part {
                    Part::Adt(id) => {
                        let Some(item) = local(krate, id) else { continue };
                        match &item.inner {
                            ItemEnum::TypeAlias(alias) => left.push(&alias.type_),
                            // Who has a value has its public fields.
                            _ if self.made.insert(id) => {
                                let public = fields(krate, item).into_iter().filter(|field| field.is_public);
                                left.extend(public.map(|field| field.type_));
                            }
                            _ => {}
                        }
                    }
                    Part::Projection(of, name) if projected.insert((of, name)) => {
                        left.extend(projections(krate, of, name));
                    }
                    // Once each: what a parameter stands for may have parameters of the same name.
                    Part::Generic(name) if generic.insert(name) => match (name, call) {
                        ("Self", Some(Call { self_type: Some(own), .. })) => left.push(own),
                        (_, Some(call)) => left.extend(chosen(krate, call, name)),
                        (_, None) => {}
                    },
                    _ => {}
                }
            }
        }
    }

    /// Whether a type is an invariant lifetime: `PhantomData<fn(&'a ()) -> &'a ()>`, or an alias of
    /// it.
    fn is_brand(&self, type_: &Type) -> bool {
        match type_ {
            Type::ResolvedPath(path) => match local(self.krate, path.id).map(|item| &item.inner) {
                Some(ItemEnum::TypeAlias(alias)) => self.is_brand(&alias.type_),
                Some(_) => false,
                None => match path.args.as_deref() {
                    Some(GenericArgs::AngleBracketed { args, .. }) => args.iter().any(
                        |argument| matches!(argument, rustdoc_types::GenericArg::Type(type_) if self.is_brand(type_)),
                    ),
                    _ => false,
                },
            },
            Type::FunctionPointer(pointer) => match (pointer.sig.inputs.as_slice(), &pointer.sig.output) {
                (
                    [(_, Type::BorrowedRef { lifetime: Some(taken), .. })],
                    Some(Type::BorrowedRef { lifetime: Some(given), .. }),
                ) => taken == given,
                _ => false,
            },
            _ => false,
        }
    }
}

/// The types that a function's type parameter can stand for, if no argument says which: all
/// implementors of its bounds.
fn chosen<'a>(krate: &'a Crate, call: &'a Call<'a>, name: &str) -> Vec<&'a Type> {
    let is_own = call.self_type.is_some_and(|own| mentions(own, name));
    let takes = |type_: &Type| mentions(type_, name) || is_own && mentions(type_, "Self");
    let is_given = call.function.sig.inputs.iter().any(|(_, input)| takes(input))
        || call.generics.iter().flat_map(|generics| bounds_of(generics)).any(|bounds| {
            let mut parts = Parts::default();
            parts.bounds(bounds);
            parts.0.iter().any(|part| matches!(part, Part::Generic(own) if *own == name))
        });
    if is_given {
        return Vec::new();
    }
    let mut found = Vec::new();
    for generics in &call.generics {
        let parameters = generics.params.iter().filter(|parameter| parameter.name == name);
        let mut bounds: Vec<&GenericBound> = parameters
            .filter_map(|parameter| match &parameter.kind {
                GenericParamDefKind::Type { bounds, .. } => Some(bounds),
                _ => None,
            })
            .flatten()
            .collect();
        for predicate in &generics.where_predicates {
            match predicate {
                WherePredicate::BoundPredicate { type_: Type::Generic(own), bounds: more, .. } if own == name => {
                    bounds.extend(more)
                }
                _ => {}
            }
        }
        for bound in bounds {
            if let GenericBound::TraitBound { trait_, .. } = bound {
                found.extend(
                    implementors(krate, trait_.id)
                        .map(|block| &block.for_)
                        .filter(|own| !matches!(own, Type::Generic(_))),
                );
            }
        }
    }
    found
}

fn mentions(type_: &Type, name: &str) -> bool {
    Parts::of(type_).iter().any(|part| matches!(part, Part::Generic(own) if *own == name))
}
