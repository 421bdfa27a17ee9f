//! Values of generic parameters that are computed from others: `LEN = [4 * THREADS]`.

use proc_macro2::{Literal, TokenStream};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::{BinOp, Expr, ExprBinary, GenericArgument, Ident, Lit, LitInt, Token, Type};

/// A value as the user wrote it.
pub(crate) enum Value {
    /// A type or a constant.
    Given(TokenStream),
    /// An expression of other generic parameters, perhaps of one alone.
    Computed(Expr),
}

impl Parse for Value {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ahead = input.fork();
        let is_argument = ahead.parse::<GenericArgument>().is_ok() && (ahead.is_empty() || ahead.peek(Token![,]));
        if !is_argument {
            return Ok(Value::Computed(input.parse()?));
        }
        let argument: GenericArgument = input.parse()?;
        Ok(match &argument {
            // A name may be that of a type or of a generic parameter.
            GenericArgument::Type(Type::Path(path)) if path.qself.is_none() && path.path.get_ident().is_some() => {
                Value::Computed(syn::parse2(argument.into_token_stream())?)
            }
            _ => Value::Given(argument.into_token_stream()),
        })
    }
}

impl Value {
    /// The value in a combination in which the other generic parameters have `values`.
    pub(crate) fn in_combination(&self, values: &[(Ident, &Value)]) -> syn::Result<TokenStream> {
        match self {
            Value::Given(tokens) => Ok(tokens.clone()),
            Value::Computed(expression) if is_name_of_a_type(expression, values) => Ok(expression.to_token_stream()),
            Value::Computed(expression) => {
                let number = number(expression, values, values.len())?;
                Ok(Literal::u128_unsuffixed(number).into_token_stream())
            }
        }
    }
}

/// Whether the expression is a name, and none of a generic parameter: that of a type or a constant.
fn is_name_of_a_type(expression: &Expr, values: &[(Ident, &Value)]) -> bool {
    let Expr::Path(path) = expression else { return false };
    !path.path.get_ident().is_some_and(|name| values.iter().any(|(other, _)| other == name))
}

/// The value of an expression, in which a name stands for the value of a generic parameter; `depth`
/// bounds how many stand for one another.
fn number(expression: &Expr, values: &[(Ident, &Value)], depth: usize) -> syn::Result<u128> {
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => number.base10_parse(),
            other => Err(syn::Error::new_spanned(other, ALLOWED)),
        },
        Expr::Paren(inner) => number(&inner.expr, values, depth),
        Expr::Group(inner) => number(&inner.expr, values, depth),
        Expr::Binary(binary) => operation(binary, values, depth),
        Expr::Path(path) => {
            let found = path.path.get_ident().and_then(|name| values.iter().find(|(other, _)| other == name));
            let Some((name, value)) = found else { return Err(syn::Error::new_spanned(path, ALLOWED)) };
            if depth == 0 {
                return Err(syn::Error::new_spanned(path, format!("`{name}` is computed from itself")));
            }
            let tokens = match value {
                Value::Computed(expression) if !is_name_of_a_type(expression, values) => {
                    return number(expression, values, depth - 1);
                }
                Value::Computed(expression) => expression.to_token_stream(),
                Value::Given(tokens) => tokens.clone(),
            };
            syn::parse2::<LitInt>(tokens.clone())
                .and_then(|literal| literal.base10_parse())
                .map_err(|_| syn::Error::new_spanned(path, format!("`{name}` is no number here, but `{tokens}`")))
        }
        other => Err(syn::Error::new_spanned(other, ALLOWED)),
    }
}

/// What `number` takes.
const ALLOWED: &str = "a value is a type, a constant, or computed from numbers and other generic parameters with \
                       `+`, `-`, `*`, `/`, `%` and parentheses";

fn operation(binary: &ExprBinary, values: &[(Ident, &Value)], depth: usize) -> syn::Result<u128> {
    let (left, right) = (number(&binary.left, values, depth)?, number(&binary.right, values, depth)?);
    let result = match binary.op {
        BinOp::Add(_) => left.checked_add(right),
        BinOp::Sub(_) => left.checked_sub(right),
        BinOp::Mul(_) => left.checked_mul(right),
        BinOp::Div(_) => left.checked_div(right),
        BinOp::Rem(_) => left.checked_rem(right),
        _ => return Err(syn::Error::new_spanned(binary.op, ALLOWED)),
    };
    result.ok_or_else(|| {
        let operation = binary.op.to_token_stream();
        syn::Error::new_spanned(binary, format!("`{left} {operation} {right}` is no number from 0 on"))
    })
}
