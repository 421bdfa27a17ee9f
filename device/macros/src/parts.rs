//! Where a kernel reads tiles by parts: its calls of `own` and `own_of`, as far as the text tells
//! that the receiver is a tile of the stages that the kernel's `Shared` holds.
//!
//! Names are followed from the `Shared` on, over the whole body at once: a name counts as a
//! pipeline or a tile only if every binding of it is one. What is not certain is left to the
//! library, which checks all calls of `own` where they are instantiated.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::quote;
use syn::visit::{self, Visit};
use syn::{Expr, ExprClosure, ExprMethodCall, GenericArgument, Ident, ItemFn, Pat};

/// A call of `own`, or of `own_of` with the tile's number.
#[derive(Clone)]
pub(crate) struct Own {
    pub(crate) method: Ident,
    number: Option<GenericArgument>,
}

impl Own {
    /// The number as an optional one.
    pub(crate) fn number(&self) -> TokenStream {
        match &self.number {
            Some(number) => quote!(::core::option::Option::Some(#number)),
            None => quote!(::core::option::Option::None),
        }
    }

    fn of(call: &ExprMethodCall) -> Option<Self> {
        let method = call.method.clone();
        match &call.turbofish {
            None if method == "own" => Some(Own { method, number: None }),
            Some(numbers) if method == "own_of" && numbers.args.len() == 1 => {
                Some(Own { method, number: numbers.args.first().cloned() })
            }
            _ => None,
        }
    }
}

/// The calls of `own` and `own_of` on tiles of the stages in `shared`.
pub(crate) fn read_by(function: &ItemFn, shared: &Ident) -> Vec<Own> {
    let mut walk = Walk { names: Names::new(), calls: Vec::new(), has_items: false };
    function.sig.inputs.iter().for_each(|input| walk.visit_fn_arg(input));
    walk.names.insert(shared.to_string(), Some(Kind::Shared));
    loop {
        let before = walk.names.clone();
        walk.calls.clear();
        walk.visit_block(&function.block);
        // A name's kind is found once, and lost once at most: this ends.
        if walk.names == before {
            return if walk.has_items { Vec::new() } else { walk.calls };
        }
    }
}

/// What a name or an expression is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The memory.
    Shared,
    /// A pipeline, in any state or between two steps.
    Pipeline,
    /// A pipeline and a tile of it.
    Pair,
    /// A tile that was waited for.
    Tile,
}

/// Each name's kind, or `None` if it is bound to anything else too.
type Names = BTreeMap<String, Option<Kind>>;

/// Walks over the body in the order of the text.
struct Walk {
    names: Names,
    calls: Vec<Own>,
    has_items: bool,
}

impl Walk {
    fn kind(&self, expression: &Expr) -> Option<Kind> {
        match expression {
            Expr::Path(path) => self.names.get(&path.path.get_ident()?.to_string()).copied().flatten(),
            Expr::MethodCall(call) => match (self.kind(&call.receiver)?, call.method.to_string().as_str()) {
                (Kind::Shared, "pipeline") => Some(Kind::Pipeline),
                (Kind::Pipeline, "wait" | "publish") => Some(Kind::Pair),
                (
                    Kind::Pipeline,
                    "acquire" | "copy" | "commit" | "release" | "weaken" | "published" | "idle" | "for_each"
                    | "for_each_tile" | "map_tiles",
                ) => Some(Kind::Pipeline),
                _ => None,
            },
            _ => None,
        }
    }

    /// What a method's closure at this place takes first.
    fn given(&self, call: &ExprMethodCall, position: usize) -> Option<Kind> {
        match (self.kind(&call.receiver)?, call.method.to_string().as_str(), position) {
            (Kind::Shared, "with_pipeline", 1) => Some(Kind::Pipeline),
            (Kind::Pipeline, "map_tiles" | "for_each", 2) | (Kind::Pipeline, "for_each_tile", 1) => Some(Kind::Tile),
            _ => None,
        }
    }

    /// Binds the names of a pattern to a value of a kind.
    fn bind(&mut self, pattern: &Pat, kind: Option<Kind>) {
        match (pattern, kind) {
            (Pat::Ident(name), kind) => {
                let name = name.ident.to_string();
                let kinds = self.names.entry(name).or_insert(kind);
                if *kinds != kind {
                    *kinds = None;
                }
            }
            (Pat::Tuple(pair), Some(Kind::Pair)) if pair.elems.len() == 2 => {
                self.bind(&pair.elems[0], Some(Kind::Pipeline));
                self.bind(&pair.elems[1], Some(Kind::Tile));
            }
            _ => self.visit_pat(pattern),
        }
    }
}

impl<'a> Visit<'a> for Walk {
    fn visit_local(&mut self, local: &'a syn::Local) {
        let kind = local.init.as_ref().and_then(|init| self.kind(&init.expr));
        self.bind(&local.pat, kind);
        if let Some(init) = &local.init {
            self.visit_local_init(init);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'a ExprMethodCall) {
        if call.args.len() == 1 && self.kind(&call.receiver) == Some(Kind::Tile) {
            self.calls.extend(Own::of(call));
        }
        self.visit_expr(&call.receiver);
        for (position, argument) in call.args.iter().enumerate() {
            match (argument, self.given(call, position)) {
                (Expr::Closure(ExprClosure { inputs, body, .. }), Some(kind)) if !inputs.is_empty() => {
                    self.bind(&inputs[0], Some(kind));
                    inputs.iter().skip(1).for_each(|input| self.visit_pat(input));
                    self.visit_expr(body);
                }
                _ => self.visit_expr(argument),
            }
        }
    }

    /// A name in any other pattern.
    fn visit_pat_ident(&mut self, pattern: &'a syn::PatIdent) {
        self.names.insert(pattern.ident.to_string(), None);
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_item(&mut self, _: &'a syn::Item) {
        self.has_items = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many calls of `own` are found in a kernel with this body.
    fn found(body: &str) -> usize {
        let text = format!("fn kernel(block: Block<64>, tile: Own, shared: Shared<X>) {{ {body} }}");
        let function: ItemFn = syn::parse_str(&text).expect("a function");
        read_by(&function, &Ident::new("shared", proc_macro2::Span::call_site())).len()
    }

    #[test]
    fn tiles_are_followed_through_steps_drivers_and_scopes() {
        assert_eq!(found("shared.pipeline(&block).map_tiles(&a, &mut b, |one, dst| one.own(&t));"), 1);
        assert_eq!(found("shared.pipeline(&block).map_tiles(&a, &mut b, |one, dst| one.own_of::<1>(&t));"), 1);
        assert_eq!(found("let p = shared.pipeline(&block); p.published().for_each_tile(&a, |one, i| one.own(&t));"), 1);
        assert_eq!(found("shared.pipeline(&block).for_each(n, |s, i| s.copy(x), |one, i| one.own(&t));"), 1);
        assert_eq!(found("shared.with_pipeline(&block, |p| { let (q, one) = p.wait(); one.own(&t) });"), 1);
        let by_hand = "let mut p = shared.pipeline(&block).weaken();
            for i in 0..n { let (q, one) = p.acquire().copy(x).commit().wait(); one.own(&t); p = q.release(one); }";
        assert_eq!(found(by_hand), 1);
    }

    #[test]
    fn names_that_may_mean_something_else_are_left_alone() {
        // A parameter, a name bound twice, a pipeline of other memory, a name bound by a pattern,
        // and whatever items may change.
        assert_eq!(found("let (p, tile) = shared.pipeline(&block).wait(); tile.own(&t);"), 0);
        assert_eq!(found("let (p, one) = shared.pipeline(&block).wait(); let one = other; one.own(&t);"), 0);
        assert_eq!(found("let (p, one) = first.pipeline(&block).wait(); one.own(&t);"), 0);
        assert_eq!(
            found("let p = shared.pipeline(&block); { let p = other; } let (q, one) = p.wait(); one.own(&t);"),
            0
        );
        assert_eq!(found("let (p, one) = shared.pipeline(&block).wait(); if let Some(one) = x { one.own(&t); }"), 0);
        assert_eq!(found("fn f() {} let (p, one) = shared.pipeline(&block).wait(); one.own(&t);"), 0);
        assert_eq!(found("let (p, one) = shared.pipeline(&block).wait(); one.other(&t); one.own();"), 0);
    }
}
