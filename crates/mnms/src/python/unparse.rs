//! Expressions as `ast.unparse` of Python 3.11 writes them: the form in which values are compared.

use planproof_measure::python::{QUOTES, float, push_repr, repr_bytes, with_few_escapes};
use ruff_python_ast::{
    BoolOp, Comprehension, Expr, ExprBytesLiteral, ExprCall, ExprStringLiteral, Number, Operator, Parameters,
    UnaryOp,
};

use super::big::decimal_of_literal;

/// An expression that cannot be written in Python 3.11, such as an f-string with an escape sequence in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unwritable;

/// How tightly a context binds. An expression that binds less tightly gets parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Precedence {
    Named,
    Tuple,
    Yield,
    Test,
    Or,
    And,
    Not,
    Comparison,
    BitOr,
    BitXor,
    BitAnd,
    Shift,
    Arithmetic,
    Term,
    Factor,
    Power,
    Await,
    Atom,
}

impl Precedence {
    const ALL: [Self; 18] = [
        Self::Named,
        Self::Tuple,
        Self::Yield,
        Self::Test,
        Self::Or,
        Self::And,
        Self::Not,
        Self::Comparison,
        Self::BitOr,
        Self::BitXor,
        Self::BitAnd,
        Self::Shift,
        Self::Arithmetic,
        Self::Term,
        Self::Factor,
        Self::Power,
        Self::Await,
        Self::Atom,
    ];

    /// The next tighter level.
    pub(crate) fn tighter(self) -> Self {
        Self::ALL.get(self as usize + 1).copied().unwrap_or(Self::Atom)
    }
}

/// Writes the expression as text.
///
/// # Errors
/// Python cannot write it.
pub(crate) fn unparse(expression: &Expr) -> Result<String, Unwritable> {
    let mut writer = Writer { out: String::new(), avoids_backslashes: false };
    writer.expression(expression, Precedence::Test)?;
    Ok(writer.out)
}

/// Writes one expression. The parser limits the depth of the source, which bounds the recursion.
pub(crate) struct Writer {
    pub(crate) out: String,
    /// Set within a field of an f-string, where no escape sequence is allowed.
    pub(crate) avoids_backslashes: bool,
}

type Written = Result<(), Unwritable>;

impl Writer {
    pub(crate) fn expression(&mut self, expression: &Expr, place: Precedence) -> Written {
        let own = precedence(expression);
        let has_parentheses = own.is_some_and(|own| place > own);
        if has_parentheses {
            self.out.push('(');
        }
        self.bare(expression)?;
        if has_parentheses {
            self.out.push(')');
        }
        Ok(())
    }

    fn bare(&mut self, expression: &Expr) -> Written {
        match expression {
            Expr::BoolOp(it) => {
                let (mut place, word) = match it.op {
                    BoolOp::And => (Precedence::And, " and "),
                    BoolOp::Or => (Precedence::Or, " or "),
                };
                for (number, value) in it.values.iter().enumerate() {
                    if number > 0 {
                        self.out.push_str(word);
                    }
                    // Python requires each value to bind more tightly than the previous one.
                    place = place.tighter();
                    self.expression(value, place)?;
                }
                Ok(())
            }
            Expr::Named(it) => {
                self.expression(&it.target, Precedence::Atom)?;
                self.out.push_str(" := ");
                self.expression(&it.value, Precedence::Atom)
            }
            Expr::BinOp(it) => {
                // A power groups from the right, so its left operand has to bind more tightly. With other operators the
                // right one has to.
                let own = precedence_of(it.op);
                let is_power = it.op == Operator::Pow;
                self.expression(&it.left, if is_power { own.tighter() } else { own })?;
                self.out.push(' ');
                self.out.push_str(it.op.as_str());
                self.out.push(' ');
                self.expression(&it.right, if is_power { own } else { own.tighter() })
            }
            Expr::UnaryOp(it) => {
                let (word, place) = match it.op {
                    UnaryOp::Not => ("not ", Precedence::Not),
                    UnaryOp::Invert => ("~", Precedence::Factor),
                    UnaryOp::UAdd => ("+", Precedence::Factor),
                    UnaryOp::USub => ("-", Precedence::Factor),
                };
                self.out.push_str(word);
                self.expression(&it.operand, place)
            }
            Expr::Lambda(it) => {
                self.out.push_str("lambda");
                if let Some(parameters) = &it.parameters {
                    let before = self.out.len();
                    self.out.push(' ');
                    self.parameters(parameters)?;
                    // Without parameters there is no blank either.
                    if self.out.len() == before + 1 {
                        self.out.pop();
                    }
                }
                self.out.push_str(": ");
                self.expression(&it.body, Precedence::Test)
            }
            Expr::If(it) => {
                // Only the last part may be another conditional expression without parentheses.
                self.expression(&it.body, Precedence::Test.tighter())?;
                self.out.push_str(" if ");
                self.expression(&it.test, Precedence::Test.tighter())?;
                self.out.push_str(" else ");
                self.expression(&it.orelse, Precedence::Test)
            }
            Expr::Dict(it) => {
                self.out.push('{');
                for (number, item) in it.items.iter().enumerate() {
                    self.comma(number);
                    match &item.key {
                        Some(key) => {
                            self.expression(key, Precedence::Test)?;
                            self.out.push_str(": ");
                            self.expression(&item.value, Precedence::Test)?;
                        }
                        None => {
                            self.out.push_str("**");
                            self.expression(&item.value, Precedence::BitOr)?;
                        }
                    }
                }
                self.out.push('}');
                Ok(())
            }
            Expr::Set(it) => self.listed("{", &it.elts, "}"),
            Expr::List(it) => self.listed("[", &it.elts, "]"),
            Expr::Tuple(it) => self.items(&it.elts),
            Expr::ListComp(it) => self.comprehension("[", None, &it.elt, &it.generators, "]"),
            Expr::SetComp(it) => self.comprehension("{", None, &it.elt, &it.generators, "}"),
            Expr::Generator(it) => self.comprehension("(", None, &it.elt, &it.generators, ")"),
            Expr::DictComp(it) => self.comprehension("{", it.key.as_deref(), &it.value, &it.generators, "}"),
            Expr::Await(it) => {
                self.out.push_str("await ");
                self.expression(&it.value, Precedence::Atom)
            }
            Expr::Yield(it) => {
                self.out.push_str("yield");
                let Some(value) = &it.value else { return Ok(()) };
                self.out.push(' ');
                self.expression(value, Precedence::Atom)
            }
            Expr::YieldFrom(it) => {
                self.out.push_str("yield from ");
                self.expression(&it.value, Precedence::Atom)
            }
            Expr::Compare(it) => {
                // A comparison within a comparison gets parentheses; otherwise it would be a part of the chain.
                let place = Precedence::Comparison.tighter();
                self.expression(&it.left, place)?;
                for (operator, value) in it.ops.iter().zip(&it.comparators) {
                    self.out.push(' ');
                    self.out.push_str(operator.as_str());
                    self.out.push(' ');
                    self.expression(value, place)?;
                }
                Ok(())
            }
            Expr::Call(it) => self.call(it),
            Expr::FString(it) => self.f_string(it),
            Expr::StringLiteral(it) => {
                self.string(it);
                Ok(())
            }
            Expr::BytesLiteral(it) => {
                self.bytes(it);
                Ok(())
            }
            Expr::NumberLiteral(it) => self.number(&it.value),
            Expr::BooleanLiteral(it) => self.word(if it.value { "True" } else { "False" }),
            Expr::NoneLiteral(_) => self.word("None"),
            Expr::EllipsisLiteral(_) => self.word("..."),
            Expr::Attribute(it) => {
                self.expression(&it.value, Precedence::Atom)?;
                // `1.x` is not an expression, so Python puts a blank after an `int`, which to it includes truth values.
                let is_integer = match &*it.value {
                    Expr::NumberLiteral(number) => number.value.is_int(),
                    Expr::BooleanLiteral(_) => true,
                    _ => false,
                };
                if is_integer {
                    self.out.push(' ');
                }
                self.out.push('.');
                self.out.push_str(it.attr.as_str());
                Ok(())
            }
            Expr::Subscript(it) => {
                self.expression(&it.value, Precedence::Atom)?;
                self.out.push('[');
                match &*it.slice {
                    // A tuple as an index has no parentheses.
                    Expr::Tuple(tuple) if !tuple.elts.is_empty() => self.items(&tuple.elts)?,
                    slice => self.expression(slice, Precedence::Test)?,
                }
                self.out.push(']');
                Ok(())
            }
            Expr::Starred(it) => {
                self.out.push('*');
                self.expression(&it.value, Precedence::BitOr)
            }
            Expr::Name(it) => self.word(it.id.as_str()),
            Expr::Slice(it) => {
                if let Some(lower) = &it.lower {
                    self.expression(lower, Precedence::Test)?;
                }
                self.out.push(':');
                if let Some(upper) = &it.upper {
                    self.expression(upper, Precedence::Test)?;
                }
                if let Some(step) = &it.step {
                    self.out.push(':');
                    self.expression(step, Precedence::Test)?;
                }
                Ok(())
            }
            Expr::TString(_) | Expr::IpyEscapeCommand(_) => Err(Unwritable),
        }
    }

    fn word(&mut self, word: &str) -> Written {
        self.out.push_str(word);
        Ok(())
    }

    fn comma(&mut self, number: usize) {
        if number > 0 {
            self.out.push_str(", ");
        }
    }

    fn listed(&mut self, open: &str, elements: &[Expr], close: &str) -> Written {
        self.out.push_str(open);
        for (number, element) in elements.iter().enumerate() {
            self.comma(number);
            self.expression(element, Precedence::Test)?;
        }
        self.out.push_str(close);
        Ok(())
    }

    /// The elements of a tuple. Whether it gets parentheses depends on the context.
    fn items(&mut self, elements: &[Expr]) -> Written {
        self.listed("", elements, if elements.len() == 1 { "," } else { "" })
    }

    fn comprehension(
        &mut self,
        open: &str,
        key: Option<&Expr>,
        element: &Expr,
        parts: &[Comprehension],
        close: &str,
    ) -> Written {
        self.out.push_str(open);
        if let Some(key) = key {
            self.expression(key, Precedence::Test)?;
            self.out.push_str(": ");
        }
        self.expression(element, Precedence::Test)?;
        for part in parts {
            self.out.push_str(if part.is_async { " async for " } else { " for " });
            self.expression(&part.target, Precedence::Tuple)?;
            self.out.push_str(" in ");
            self.expression(&part.iter, Precedence::Test.tighter())?;
            for condition in &part.ifs {
                self.out.push_str(" if ");
                self.expression(condition, Precedence::Test.tighter())?;
            }
        }
        self.out.push_str(close);
        Ok(())
    }

    fn call(&mut self, call: &ExprCall) -> Written {
        self.expression(&call.func, Precedence::Atom)?;
        self.out.push('(');
        let mut number = 0;
        for argument in &call.arguments.args {
            self.comma(number);
            self.expression(argument, Precedence::Test)?;
            number += 1;
        }
        for keyword in &call.arguments.keywords {
            self.comma(number);
            match &keyword.arg {
                Some(name) => {
                    self.out.push_str(name.as_str());
                    self.out.push('=');
                }
                None => self.out.push_str("**"),
            }
            self.expression(&keyword.value, Precedence::Test)?;
            number += 1;
        }
        self.out.push(')');
        Ok(())
    }

    fn parameters(&mut self, parameters: &Parameters) -> Written {
        let mut number = 0;
        for parameter in parameters.posonlyargs.iter().chain(&parameters.args) {
            self.comma(number);
            self.parameter(parameter.name().as_str(), parameter.default())?;
            number += 1;
            // Never true if there are none, because `number` is at least 1 here.
            if number == parameters.posonlyargs.len() {
                self.out.push_str(", /");
            }
        }
        if parameters.vararg.is_some() || !parameters.kwonlyargs.is_empty() {
            self.comma(number);
            self.out.push('*');
            if let Some(parameter) = &parameters.vararg {
                self.out.push_str(parameter.name().as_str());
            }
            number += 1;
        }
        // A `*` precedes these, so a comma comes first in any case.
        for parameter in &parameters.kwonlyargs {
            self.comma(number);
            self.parameter(parameter.name().as_str(), parameter.default())?;
        }
        if let Some(parameter) = &parameters.kwarg {
            self.comma(number);
            self.out.push_str("**");
            self.out.push_str(parameter.name().as_str());
        }
        Ok(())
    }

    fn parameter(&mut self, name: &str, default: Option<&Expr>) -> Written {
        self.out.push_str(name);
        let Some(default) = default else { return Ok(()) };
        self.out.push('=');
        self.expression(default, Precedence::Test)
    }

    fn string(&mut self, literal: &ExprStringLiteral) {
        // Python's tree keeps this prefix and no other.
        if literal.value.first_literal_flags().prefix().is_unicode() {
            self.out.push('u');
        }
        let text = literal.value.to_str();
        if self.avoids_backslashes {
            let (text, quotes) = with_few_escapes(text, &QUOTES, false);
            self.quoted(&text, quotes[0]);
        } else {
            push_repr(text, &mut self.out);
        }
    }

    pub(crate) fn quoted(&mut self, text: &str, quote: &str) {
        for part in [quote, text, quote] {
            self.out.push_str(part);
        }
    }

    fn bytes(&mut self, literal: &ExprBytesLiteral) {
        let bytes: Vec<u8> = literal.value.bytes().collect();
        repr_bytes(&bytes, &mut self.out);
    }

    fn number(&mut self, number: &Number) -> Written {
        /// What Python writes for an infinite number: a literal that overflows again.
        const INFINITE: &str = "1e309";
        match number {
            Number::Int(value) => match value.as_u64() {
                Some(value) => self.out.push_str(&value.to_string()),
                None => self.out.push_str(&decimal_of_literal(&value.to_string()).ok_or(Unwritable)?),
            },
            Number::Float(value) if value.is_infinite() => self.out.push_str(INFINITE),
            Number::Float(value) => self.out.push_str(&float(*value)),
            Number::Complex { imag, .. } => {
                let text = if imag.is_infinite() { INFINITE.to_owned() } else { float(*imag) };
                // Unlike a float, an imaginary part is written without the `.0` of a whole number.
                self.out.push_str(text.strip_suffix(".0").unwrap_or(&text));
                self.out.push('j');
            }
        }
        Ok(())
    }
}

/// How tightly an expression binds; `None` if it never needs parentheses.
fn precedence(expression: &Expr) -> Option<Precedence> {
    Some(match expression {
        Expr::Named(_) => Precedence::Named,
        // An empty tuple always needs its parentheses.
        Expr::Tuple(it) if it.elts.is_empty() => return Some(Precedence::Named),
        Expr::Tuple(_) => Precedence::Tuple,
        Expr::Yield(_) | Expr::YieldFrom(_) => Precedence::Yield,
        Expr::If(_) | Expr::Lambda(_) => Precedence::Test,
        Expr::BoolOp(it) => match it.op {
            BoolOp::Or => Precedence::Or,
            BoolOp::And => Precedence::And,
        },
        Expr::UnaryOp(it) => match it.op {
            UnaryOp::Not => Precedence::Not,
            _ => Precedence::Factor,
        },
        Expr::Compare(_) => Precedence::Comparison,
        Expr::BinOp(it) => precedence_of(it.op),
        Expr::Await(_) => Precedence::Await,
        _ => return None,
    })
}

fn precedence_of(operator: Operator) -> Precedence {
    match operator {
        Operator::Add | Operator::Sub => Precedence::Arithmetic,
        Operator::Mult | Operator::MatMult | Operator::Div | Operator::Mod | Operator::FloorDiv => {
            Precedence::Term
        }
        Operator::Pow => Precedence::Power,
        Operator::LShift | Operator::RShift => Precedence::Shift,
        Operator::BitOr => Precedence::BitOr,
        Operator::BitXor => Precedence::BitXor,
        Operator::BitAnd => Precedence::BitAnd,
    }
}

#[cfg(test)]
mod tests;
