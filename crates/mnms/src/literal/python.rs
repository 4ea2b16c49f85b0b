//! Python literals, parsed by Ruff's parser.

use ruff_python_ast::{Expr, ModModule, Number, Stmt, UnaryOp};

use super::quick::{self, Language};
use super::{Literal, LiteralError, NESTED_MAX};
use crate::python::big::decimal_of_literal;
use crate::python::source::{SyntaxError, parse};

pub(super) fn read(text: &str) -> Result<Literal, LiteralError> {
    quick::read(text, Language::Python).map_or_else(|| read_any(text), Ok)
}

/// Parses the whole text.
pub(super) fn read_any(text: &str) -> Result<Literal, LiteralError> {
    // As Python does before it evaluates a text.
    let text = text.trim_start_matches([' ', '\t']);
    let module: ModModule = parse(text).map_err(|SyntaxError { offset, what }| {
        LiteralError::new(format!("no literal of Python: {what}, at byte {offset}"))
    })?;
    match &module.body[..] {
        [Stmt::Expr(statement)] => value(&statement.value, 0),
        _ => Err(LiteralError::new("no literal of Python")),
    }
}

fn value(expression: &Expr, depth: usize) -> Result<Literal, LiteralError> {
    // Only containers count, as for JSON: a scalar in the innermost one is fine.
    if depth >= NESTED_MAX && matches!(expression, Expr::List(_) | Expr::Tuple(_) | Expr::Dict(_)) {
        return Err(LiteralError::new(format!("it is nested more than {NESTED_MAX} deep")));
    }
    let all = |elements: &[Expr]| -> Result<Vec<Literal>, LiteralError> {
        elements.iter().map(|element| value(element, depth + 1)).collect()
    };
    Ok(match expression {
        Expr::NoneLiteral(_) => Literal::None,
        Expr::BooleanLiteral(it) => Literal::Bool(it.value),
        Expr::StringLiteral(it) => Literal::Text(it.value.to_str().to_owned()),
        Expr::NumberLiteral(it) => number(&it.value, false)?,
        Expr::UnaryOp(it) => match (it.op, &*it.operand) {
            (UnaryOp::USub, Expr::NumberLiteral(it)) => number(&it.value, true)?,
            (UnaryOp::UAdd, Expr::NumberLiteral(it)) => number(&it.value, false)?,
            _ => return Err(refused(expression)),
        },
        Expr::List(it) => Literal::List(all(&it.elts)?),
        Expr::Tuple(it) => Literal::Tuple(all(&it.elts)?),
        Expr::Dict(it) => {
            let entry = |item: &ruff_python_ast::DictItem| {
                let key = item.key.as_ref().ok_or_else(|| refused(&item.value))?;
                Ok((value(key, depth + 1)?, value(&item.value, depth + 1)?))
            };
            Literal::mapping(it.items.iter().map(entry).collect::<Result<_, LiteralError>>()?)
        }
        _ => return Err(refused(expression)),
    })
}

fn refused(expression: &Expr) -> LiteralError {
    use ruff_text_size::Ranged as _;
    LiteralError::new(format!("no literal of Python from byte {} on", expression.start().to_usize()))
}

fn number(number: &Number, is_negative: bool) -> Result<Literal, LiteralError> {
    match number {
        Number::Int(value) => {
            let digits = match value.as_u64() {
                Some(value) => value.to_string(),
                None => decimal_of_literal(&value.to_string())
                    .ok_or_else(|| LiteralError::new("a whole number is longer than Python reads"))?,
            };
            // To Python, `-0` is the whole number 0.
            Ok(Literal::Integer(if is_negative && digits != "0" { format!("-{digits}") } else { digits }))
        }
        Number::Float(value) => Ok(Literal::Float(if is_negative { -value } else { *value })),
        Number::Complex { .. } => Err(LiteralError::new("a complex number is no part of a plan")),
    }
}
