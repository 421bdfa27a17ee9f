//! What a dependent crate can reach.
//!
//! It can name what public paths lead to. From there it reaches supertraits, also those in private
//! modules; the bounds of associated types; and each type whose values it can get hold of, which is
//! every type that a reachable signature, public field, constant or associated type mentions. Of a
//! reachable type it can call what is `pub` and what reachable or foreign traits give it; of a
//! reachable trait everything.

use std::collections::{BTreeMap, BTreeSet};

use rustdoc_types::{
    Attribute, Crate, Function, GenericBound, Generics, Id, Impl, Item, ItemEnum, Path, Type, Visibility,
    WherePredicate,
};

use super::items::{bounds_of, fields, implementation, implementations, local, path, projections};
use super::parts::{Part, Parts};

/// A function that a dependent crate can call.
#[derive(Clone)]
pub struct Call<'a> {
    /// Where it is declared, without the crate's name.
    pub path: String,
    /// Its signature and whether it is `unsafe`.
    pub function: &'a Function,
    /// What `Self` is, if it is not the implementor of a trait.
    pub self_type: Option<&'a Type>,
    /// The trait that declares it, if that is the crate's own.
    pub of_trait: Option<Id>,
    /// Its generic parameters and those of what it stands in.
    pub generics: Vec<&'a Generics>,
    /// Whether it stands for itself; a trait's function stands for all of its implementations.
    pub is_listed: bool,
}

/// All that a dependent crate can reach.
pub struct Surface<'a> {
    krate: &'a Crate,
    seen: BTreeSet<Id>,
    nameable: BTreeSet<Id>,
    projected: BTreeSet<(Id, &'a str)>,
    /// The functions that it can call.
    pub calls: Vec<Call<'a>>,
    /// The types of constants that it can read, and those that a trait's constructor without
    /// arguments makes.
    pub constants: Vec<&'a Type>,
}

impl<'a> Surface<'a> {
    /// Follows everything from the root of a crate.
    pub fn of(krate: &'a Crate) -> Self {
        let mut surface = Surface {
            krate,
            seen: BTreeSet::new(),
            nameable: BTreeSet::new(),
            projected: BTreeSet::new(),
            calls: Vec::new(),
            constants: Vec::new(),
        };
        surface.public(krate.root);
        surface
    }

    /// The crate's own types among what can be reached.
    pub fn types(&self) -> impl Iterator<Item = Id> + '_ {
        self.seen.iter().copied().filter(|id| {
            matches!(
                local(self.krate, *id).map(|item| &item.inner),
                Some(ItemEnum::Struct(_) | ItemEnum::Enum(_) | ItemEnum::Union(_))
            )
        })
    }

    /// Whether another crate can implement a trait: it can name the trait and its supertraits.
    pub fn can_be_implemented(&self, id: Id) -> bool {
        match local(self.krate, id).map(|item| &item.inner) {
            Some(ItemEnum::Trait(trait_)) => {
                self.nameable.contains(&id)
                    && trait_.bounds.iter().all(|bound| match bound {
                        GenericBound::TraitBound { trait_, .. } => self.can_be_implemented(trait_.id),
                        _ => true,
                    })
            }
            // Anybody can implement a trait of another crate for a type of their own.
            _ => true,
        }
    }

    /// Follows an item that a public path leads to.
    fn public(&mut self, id: Id) {
        let Some(item) = local(self.krate, id) else { return };
        self.nameable.insert(id);
        match &item.inner {
            ItemEnum::Module(module) if self.seen.insert(id) => {
                module.items.iter().for_each(|child| self.public_child(*child));
            }
            ItemEnum::Use(import) => {
                if let Some(target) = import.id {
                    self.public(target);
                }
            }
            ItemEnum::Function(function) if self.seen.insert(id) => {
                let path = path(self.krate, id);
                let generics = vec![&function.generics];
                self.call(Call { path, function, self_type: None, of_trait: None, generics, is_listed: true });
            }
            ItemEnum::Constant { type_, .. } => self.constant(type_),
            ItemEnum::Static(value) => self.constant(&value.type_),
            ItemEnum::TypeAlias(_) | ItemEnum::Struct(_) | ItemEnum::Enum(_) | ItemEnum::Union(_) => self.adt(id),
            ItemEnum::Trait(_) => self.trait_(id),
            _ => {}
        }
    }

    fn public_child(&mut self, id: Id) {
        if local(self.krate, id).is_some_and(|item| item.visibility == Visibility::Public) {
            self.public(id);
        }
    }

    /// Follows a type that can be named, or of which a value can be had.
    fn adt(&mut self, id: Id) {
        let Some(item) = local(self.krate, id) else { return };
        if let ItemEnum::TypeAlias(alias) = &item.inner {
            if self.seen.insert(id) {
                self.mention(&alias.type_, Side::Given);
            }
            return;
        }
        if !self.seen.insert(id) {
            return;
        }
        for field in fields(self.krate, item).into_iter().filter(|field| field.is_public) {
            self.mention(field.type_, Side::Given);
        }
        for id in implementations(item) {
            let Some(ItemEnum::Impl(block)) = local(self.krate, *id).map(|item| &item.inner) else { continue };
            match &block.trait_ {
                None => self.inherent(item, block),
                Some(of) if local(self.krate, of.id).is_none() => self.foreign(*id, item, block, of),
                Some(_) => {}
            }
        }
    }

    /// Follows the `pub` items of a type's own `impl` block.
    fn inherent(&mut self, of: &Item, block: &'a Impl) {
        for id in &block.items {
            let Some(item) = local(self.krate, *id).filter(|item| item.visibility == Visibility::Public) else {
                continue;
            };
            match &item.inner {
                ItemEnum::Function(function) => {
                    let path = format!("{}::{}", path(self.krate, of.id), item.name.as_deref().unwrap_or("_"));
                    self.member(path, function, block, None, true);
                }
                ItemEnum::AssocConst { type_, .. } => self.constant(type_),
                _ => {}
            }
        }
    }

    /// Follows an implementation of another crate's trait. What derives write is left out, but for
    /// the values that they make.
    fn foreign(&mut self, id: Id, of: &Item, block: &'a Impl, name: &Path) {
        if block.blanket_impl.is_some() || block.is_synthetic || block.is_negative {
            return;
        }
        let short = name.path.rsplit("::").next().unwrap_or_default();
        // Plain data can be made of nothing by what these traits provide.
        if short == "Zeroable" || short == "Default" {
            self.constants.push(&block.for_);
        }
        if local(self.krate, id).is_some_and(|item| item.attrs.contains(&Attribute::AutomaticallyDerived)) {
            return;
        }
        for id in &block.items {
            let Some(item) = local(self.krate, *id) else { continue };
            match &item.inner {
                ItemEnum::Function(function) => {
                    let name = item.name.as_deref().unwrap_or("_");
                    let path = format!("<{} as {short}>::{name}", path(self.krate, of.id));
                    self.member(path, function, block, None, true);
                }
                ItemEnum::AssocType { type_: Some(type_), .. } => self.mention(type_, Side::Given),
                _ => {}
            }
        }
    }

    /// Follows a trait whose functions can be called: one that can be named, or a bound of one.
    fn trait_(&mut self, id: Id) {
        let Some(ItemEnum::Trait(trait_)) = local(self.krate, id).map(|item| &item.inner) else { return };
        if !self.seen.insert(id) {
            return;
        }
        self.bounds(&trait_.bounds, Side::Given);
        for predicate in &trait_.generics.where_predicates {
            if let WherePredicate::BoundPredicate { bounds, .. } = predicate {
                self.bounds(bounds, Side::Given);
            }
        }
        let home = path(self.krate, id);
        let mut defaults = BTreeMap::new();
        for item in trait_.items.iter().filter_map(|id| local(self.krate, *id)) {
            match &item.inner {
                ItemEnum::Function(function) => {
                    let name = item.name.as_deref().unwrap_or("_");
                    defaults.insert(name, function);
                    let (path, generics) = (format!("{home}::{name}"), vec![&function.generics, &trait_.generics]);
                    self.call(Call { path, function, self_type: None, of_trait: Some(id), generics, is_listed: true });
                }
                ItemEnum::AssocType { bounds, .. } => self.bounds(bounds, Side::Given),
                ItemEnum::AssocConst { type_, .. } => self.constant(type_),
                _ => {}
            }
        }
        for block in trait_.implementations.iter().filter_map(|id| implementation(self.krate, *id)) {
            let mut provided = defaults.clone();
            for item in block.items.iter().filter_map(|id| local(self.krate, *id)) {
                match &item.inner {
                    ItemEnum::Function(function) => {
                        provided.insert(item.name.as_deref().unwrap_or("_"), function);
                    }
                    ItemEnum::AssocType { type_: Some(type_), .. } => self.mention(type_, Side::Given),
                    _ => {}
                }
            }
            for (name, function) in provided {
                self.member(format!("{home}::{name}"), function, block, Some(id), false);
            }
        }
    }

    fn member(&mut self, path: String, function: &'a Function, block: &'a Impl, of_trait: Option<Id>, is_listed: bool) {
        let generics = vec![&function.generics, &block.generics];
        self.call(Call { path, function, self_type: Some(&block.for_), of_trait, generics, is_listed });
    }

    /// Adds a function, and follows what its signature gives to a caller.
    fn call(&mut self, call: Call<'a>) {
        let signature = &call.function.sig;
        signature.inputs.iter().for_each(|(_, input)| self.mention(input, Side::Taken));
        signature.output.iter().for_each(|output| self.mention(output, Side::Given));
        for generics in &call.generics {
            for bounds in bounds_of(generics) {
                self.bounds(bounds, Side::Taken);
            }
        }
        self.calls.push(call);
    }

    fn constant(&mut self, type_: &'a Type) {
        self.constants.push(type_);
        self.mention(type_, Side::Given);
    }

    /// Follows all types in `type_`. What a caller passes does not give it the traits of the
    /// bounds.
    fn mention(&mut self, type_: &'a Type, side: Side) {
        let krate = self.krate;
        for part in Parts::of(type_) {
            match part {
                Part::Adt(id) => self.adt(id),
                Part::Bound(id) if side == Side::Given => self.trait_(id),
                Part::Object(id) => self.trait_(id),
                Part::Projection(of, name) => {
                    if self.projected.insert((of, name)) {
                        projections(krate, of, name).into_iter().for_each(|type_| self.mention(type_, Side::Given));
                    }
                }
                Part::Bound(_) | Part::Generic(_) => {}
            }
        }
    }

    fn bounds(&mut self, bounds: &'a [GenericBound], side: Side) {
        let mut parts = Parts::default();
        parts.bounds(bounds);
        for part in parts.0 {
            match part {
                Part::Bound(id) if side == Side::Given => self.trait_(id),
                Part::Object(id) => self.trait_(id),
                Part::Adt(id) => self.adt(id),
                _ => {}
            }
        }
    }
}

/// Whether a type in a signature is what a caller passes or gets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Taken,
    Given,
}
