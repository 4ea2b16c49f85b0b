//! The meaning of expressions, apart from names.

use ruff_python_ast::{
    ConversionFlag, Expr, ExprFString, ExprSubscript, FStringPart, InterpolatedStringElement, Number, UnaryOp,
};
use ruff_text_size::{Ranged, TextRange};
use serde_json::{Number as JsonNumber, Value as Json};

/// The value of an argument before the ids of the calls are known.
#[derive(Debug, Clone)]
pub(super) enum Draft {
    Json(Json),
    Text(Vec<DraftPart>),
}

#[derive(Debug, Clone)]
pub(super) enum DraftPart {
    Words(String),
    Output(Source, String),
}

/// Whose output it is.
#[derive(Debug, Clone)]
pub(super) enum Source {
    /// That of a call, by its place.
    Call(usize),
    /// The value of a name that has not been assigned yet.
    Name(String),
}

impl Draft {
    /// Some measure of the bytes it takes.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Json(json) => json.to_string().len(),
            Self::Text(parts) => {
                let sizes = parts.iter().map(|part| match part {
                    DraftPart::Words(words) | DraftPart::Output(_, words) => {
                        words.len() + size_of::<DraftPart>()
                    }
                });
                sizes.sum()
            }
        }
    }
}

/// A piece of an f-string.
pub(super) enum Piece<'e> {
    Words(String),
    Expr(&'e Expr),
}

/// The pieces of an f-string, if none of its fields has a conversion or a format.
pub(super) fn pieces<'e>(text: &'e ExprFString, source: &str) -> Option<Vec<Piece<'e>>> {
    let mut pieces = Vec::new();
    for part in &text.value {
        match part {
            FStringPart::Literal(literal) => {
                pieces.push(Piece::Words(kept(&literal.value, literal.range, source)?));
            }
            FStringPart::FString(part) => {
                for element in &part.elements {
                    match element {
                        InterpolatedStringElement::Literal(words) => {
                            pieces.push(Piece::Words(kept(&words.value, words.range, source)?));
                        }
                        InterpolatedStringElement::Interpolation(field) => {
                            // `{x!r}`, `{x=}` and `{x:>8}` change the text, which no reference can express.
                            let is_plain = field.debug_text.is_none()
                                && field.conversion == ConversionFlag::None
                                && field.format_spec.is_none();
                            pieces.push(is_plain.then_some(Piece::Expr(&field.expression))?);
                        }
                    }
                }
            }
        }
    }
    Some(pieces)
}

/// The text of a literal.
pub(super) fn literal(expr: &Expr, source: &str) -> Option<String> {
    let Expr::StringLiteral(literal) = expr else { return None };
    kept(literal.value.to_str(), literal.range(), source)
}

/// The text, unless the parser replaced an escape of half a character.
fn kept(text: &str, range: TextRange, source: &str) -> Option<String> {
    let is_replaced = text.contains(char::REPLACEMENT_CHARACTER)
        && !source.get(range.to_std_range())?.contains(char::REPLACEMENT_CHARACTER);
    (!is_replaced).then(|| text.to_owned())
}

/// A literal that is not a text: a number, a truth value, `None`, or a list or dictionary with texts for keys.
pub(super) fn json(expr: &Expr, source: &str) -> Option<Json> {
    Some(match expr {
        Expr::NoneLiteral(_) => Json::Null,
        Expr::BooleanLiteral(it) => Json::Bool(it.value),
        Expr::NumberLiteral(_) => number(expr, false)?,
        Expr::UnaryOp(operation) if operation.op == UnaryOp::USub => number(&operation.operand, true)?,
        Expr::List(list) => {
            let item = |item| literal(item, source).map(Json::String).or_else(|| json(item, source));
            Json::Array(list.elts.iter().map(item).collect::<Option<_>>()?)
        }
        Expr::Dict(dict) => {
            let mut object = serde_json::Map::new();
            for item in &dict.items {
                let value = literal(&item.value, source).map(Json::String);
                let value = value.or_else(|| json(&item.value, source))?;
                object.insert(literal(item.key.as_ref()?, source)?, value);
            }
            Json::Object(object)
        }
        _ => return None,
    })
}

/// A number, if it can be kept exactly.
fn number(expr: &Expr, is_negative: bool) -> Option<Json> {
    let Expr::NumberLiteral(number) = expr else { return None };
    match &number.value {
        Number::Int(int) => {
            let int = int.as_u64()?;
            // Subtracted from 0, because the magnitude of `i64::MIN` does not fit into an `i64`.
            if is_negative { Some(0_i64.checked_sub_unsigned(int)?.into()) } else { Some(int.into()) }
        }
        Number::Float(float) => {
            let float = if is_negative { -float } else { *float };
            JsonNumber::from_f64(float).map(Json::Number)
        }
        Number::Complex { .. } => None,
    }
}

/// A whole number from 0.
pub(super) fn whole_number(expr: &Expr) -> Option<u64> {
    match expr {
        Expr::NumberLiteral(number) => match &number.value {
            Number::Int(int) => int.as_u64(),
            _ => None,
        },
        _ => None,
    }
}

/// The name in `globals()["name"]`.
pub(super) fn name_among_globals(subscript: &ExprSubscript) -> Option<String> {
    let (Expr::Call(call), Expr::StringLiteral(name)) = (&*subscript.value, &*subscript.slice) else {
        return None;
    };
    let is_globals = matches!(&*call.func, Expr::Name(function) if function.id == "globals");
    (is_globals && call.arguments.is_empty()).then(|| name.value.to_str().to_owned())
}

/// Whether evaluating an expression calls nothing.
pub(super) fn is_idle(expr: &Expr) -> bool {
    match expr {
        Expr::Name(_)
        | Expr::StringLiteral(_)
        | Expr::NumberLiteral(_)
        | Expr::BooleanLiteral(_)
        | Expr::NoneLiteral(_) => true,
        Expr::Subscript(subscript) => is_idle(&subscript.value) && is_idle(&subscript.slice),
        Expr::Tuple(tuple) => tuple.elts.iter().all(is_idle),
        Expr::List(list) => list.elts.iter().all(is_idle),
        Expr::Dict(dict) => {
            dict.items.iter().all(|item| item.key.iter().all(is_idle) && is_idle(&item.value))
        }
        Expr::FString(text) => text.value.elements().all(|element| match element {
            InterpolatedStringElement::Literal(_) => true,
            InterpolatedStringElement::Interpolation(field) => is_idle(&field.expression),
        }),
        _ => false,
    }
}
