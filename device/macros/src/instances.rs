//! The arguments of `#[kernel]`: its `instances(..)` lists with their combinations, and launch
//! bounds.

use proc_macro2::TokenStream;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{GenericParam, Ident, Token, bracketed, parenthesized, token};

use crate::bounds::Bounds;
use crate::computed::Value;
use crate::signature::Signature;

/// All arguments of one attribute.
pub(crate) struct Arguments {
    pub(crate) instances: Instances,
    pub(crate) bounds: Bounds,
    /// The name of the module beside the kernel, if it is not the kernel's.
    pub(crate) module: Option<Ident>,
}

/// All `instances(..)` lists of one attribute.
pub(crate) struct Instances(Vec<List>);

/// One list: values for each generic parameter.
struct List {
    keyword: Ident,
    axes: Vec<Axis>,
}

/// One generic parameter and its values, or several whose values go together:
/// `THREADS = [128, 256]`, `(THREADS, ROWS) = [(128, 64), (256, 128)]`.
struct Axis {
    names: Vec<Ident>,
    /// A value for each of the names.
    values: Vec<Vec<Value>>,
}

/// One combination of values.
pub(crate) struct Instance {
    /// The kernel's name with the values: `kernel__value_value`.
    pub(crate) name: String,
    /// Each generic parameter with its value, in the function's order.
    pub(crate) values: Vec<(Ident, TokenStream)>,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (mut lists, mut bounds, mut module) = (Vec::new(), Bounds::default(), None);
        while !input.is_empty() {
            let keyword: Ident = input.parse()?;
            if keyword == "instances" {
                lists.push(List::read(keyword, input)?);
            } else if keyword == "module" {
                input.parse::<Token![=]>()?;
                if module.replace(input.parse()?).is_some() {
                    return Err(syn::Error::new(keyword.span(), "`module` is given twice"));
                }
            } else {
                bounds.read(&keyword, input)?;
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(Arguments { instances: Instances(lists), bounds, module })
    }
}

impl List {
    /// Reads a list after its keyword.
    fn read(keyword: Ident, input: ParseStream<'_>) -> syn::Result<Self> {
        let content;
        parenthesized!(content in input);
        let axes = Punctuated::<Axis, Token![,]>::parse_terminated(&content)?.into_iter().collect();
        Ok(List { keyword, axes })
    }
}

impl Parse for Axis {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let together = input.peek(token::Paren);
        let names = if together { in_parentheses(input)? } else { vec![input.parse()?] };
        input.parse::<Token![=]>()?;
        let content;
        bracketed!(content in input);
        let mut values = Vec::new();
        while !content.is_empty() {
            let at = content.span();
            let of_names = if together { in_parentheses(&content)? } else { vec![content.parse()?] };
            if of_names.len() != names.len() {
                let (names_of, values_of) = (names.len(), of_names.len());
                return Err(syn::Error::new(at, format!("{values_of} values for {names_of} generic parameters")));
            }
            values.push(of_names);
            if !content.is_empty() {
                content.parse::<Token![,]>()?;
            }
        }
        if values.is_empty() {
            return Err(content.error("an empty list of values builds no instance"));
        }
        Ok(Axis { names, values })
    }
}

/// What stands in parentheses, with commas between.
fn in_parentheses<T: Parse>(input: ParseStream<'_>) -> syn::Result<Vec<T>> {
    let content;
    parenthesized!(content in input);
    Ok(Punctuated::<T, Token![,]>::parse_terminated(&content)?.into_iter().collect())
}

impl Instances {
    /// Forms all combinations, checked against the function's generic parameters.
    pub(crate) fn expand(&self, signature: &Signature<'_>) -> syn::Result<Vec<Instance>> {
        let generics: Vec<&Ident> = signature.generics().filter_map(name_of).collect();
        if self.0.is_empty() {
            if let Some(first) = generics.first() {
                let message = format!("a generic kernel lists what to build: `#[kernel(instances({first} = [..]))]`");
                return Err(syn::Error::new(first.span(), message));
            }
            return Ok(vec![Instance { name: signature.name.to_string(), values: Vec::new() }]);
        }
        let mut instances = Vec::new();
        for list in &self.0 {
            instances.extend(list.expand(signature, &generics)?);
        }
        for (index, instance) in instances.iter().enumerate() {
            if instances[..index].iter().any(|other| other.name == instance.name) {
                let message = format!("the instance `{}` is listed twice", instance.name);
                return Err(syn::Error::new(self.0[0].keyword.span(), message));
            }
        }
        Ok(instances)
    }
}

impl List {
    fn expand(&self, signature: &Signature<'_>, generics: &[&Ident]) -> syn::Result<Vec<Instance>> {
        let mut seen: Vec<&Ident> = Vec::new();
        for name in self.axes.iter().flat_map(|axis| &axis.names) {
            if !generics.contains(&name) {
                return Err(syn::Error::new(name.span(), format!("the kernel has no generic parameter `{name}`")));
            }
            if seen.contains(&name) {
                let message = format!("`{name}` has its values twice in one list of instances");
                return Err(syn::Error::new(name.span(), message));
            }
            seen.push(name);
        }
        let mut instances = vec![Vec::new()];
        for name in generics {
            let Some(axis) = self.axes.iter().find(|axis| axis.names.contains(name)) else {
                let message = format!("no values for the generic parameter `{name}`: add `{name} = [..]`");
                return Err(syn::Error::new(self.keyword.span(), message));
            };
            // Several that go together are there with the first of them.
            if instances[0].iter().any(|(other, _): &(Ident, &Value)| other == *name) {
                continue;
            }
            instances = instances
                .into_iter()
                .flat_map(|values| {
                    axis.values.iter().map(move |added| {
                        let mut values = values.clone();
                        values.extend(axis.names.iter().cloned().zip(added));
                        values
                    })
                })
                .collect();
        }
        let place = |name: &Ident| generics.iter().position(|other| *other == name);
        for values in &mut instances {
            values.sort_by_key(|(name, _)| place(name));
        }
        let instance = |values: Vec<(Ident, &Value)>| {
            let each = values.iter().map(|(name, value)| Ok((name.clone(), value.in_combination(&values)?)));
            let values = each.collect::<syn::Result<Vec<_>>>()?;
            Ok(Instance { name: name(signature.name, &values), values })
        };
        instances.into_iter().map(instance).collect()
    }
}

/// A value as the user wrote it, without blanks: `i32`, `Vec4<i32>`, `256`.
pub(crate) fn text_of(value: &TokenStream) -> String {
    value.to_string().replace(' ', "")
}

/// `kernel__value_value`, with only letters, digits and `_`.
fn name(kernel: &Ident, values: &[(Ident, TokenStream)]) -> String {
    let mut name = format!("{kernel}_");
    for (_, value) in values {
        name.push('_');
        name.extend(text_of(value).chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }));
    }
    name
}

fn name_of(parameter: &GenericParam) -> Option<&Ident> {
    match parameter {
        GenericParam::Type(parameter) => Some(&parameter.ident),
        GenericParam::Const(parameter) => Some(&parameter.ident),
        _ => None,
    }
}
