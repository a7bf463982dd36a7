//! Formulas of sensor templates: a small language in which every evaluation terminates.
//!
//! Numbers (`12`, `0.5`, `1e-3`, `0xFF`), names of earlier values, `+ - * /`, for integers
//! `<< >> & ^ |`, parentheses and a few functions; operator precedence is that of C. There are no
//! loops, conditions or definitions: an evaluation takes one step for each token.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::parse::parse;
pub use super::parse::{DEPTH_MAX, SyntaxError, TEXT_MAX};
use super::syntax::{Function, Node, Operator};

/// Largest integer that a float represents exactly.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// Failed evaluation.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Fault {
    /// Undefined name.
    #[error("nothing is known of {0:?}")]
    Name(String),
    /// Division by zero.
    #[error("division by zero")]
    Zero,
    /// Bit operation on a number that is not an integer.
    #[error("{0} is not a whole number of at most 53 bits")]
    Whole(f64),
    /// Shift out of range.
    #[error("a shift by {0}; allowed: 0 to 63")]
    Shift(f64),
    /// Lower bound above the upper bound.
    #[error("clamp to {low} .. {high}: the lower bound is above the upper")]
    Clamp {
        /// Lower bound.
        low: f64,
        /// Upper bound.
        high: f64,
    },
    /// Overflow.
    #[error("the result is not a finite number")]
    Infinite,
}

/// A formula.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Expr {
    text: String,
    root: Node,
}

impl From<Expr> for String {
    fn from(expr: Expr) -> Self {
        expr.text
    }
}

impl JsonSchema for Expr {
    fn schema_name() -> Cow<'static, str> {
        "Formula".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "minLength": 1,
            "maxLength": TEXT_MAX,
            "description": "Formula of numbers, earlier names, + - * / << >> & ^ |, abs, clamp, \
                            max, min, poly.",
        })
    }
}

impl TryFrom<String> for Expr {
    type Error = SyntaxError;

    fn try_from(text: String) -> Result<Self, SyntaxError> {
        Self::parse(&text)
    }
}

impl Expr {
    /// Parses a formula.
    ///
    /// # Errors
    /// Position of the error, and the expected tokens.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        let root = parse(text)?;
        Ok(Self { text: text.to_owned(), root })
    }

    /// Evaluates the formula with the values `known` of names.
    ///
    /// # Errors
    /// The failure.
    pub fn evaluate(&self, known: impl Fn(&str) -> Option<f64>) -> Result<f64, Fault> {
        self.root.value(&known)
    }

    /// The names in the formula, with repetitions.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.root.collect_names(&mut names);
        names
    }
}

impl Node {
    fn value(&self, known: &dyn Fn(&str) -> Option<f64>) -> Result<f64, Fault> {
        let value = match self {
            Self::Number(value) => *value,
            Self::Name(name) => known(name).ok_or_else(|| Fault::Name(name.clone()))?,
            Self::Negative(inner) => -inner.value(known)?,
            Self::Two(operator, left, right) => {
                operator.apply(left.value(known)?, right.value(known)?)?
            }
            Self::Call(function, given) => {
                let given: Result<Vec<f64>, Fault> =
                    given.iter().map(|one| one.value(known)).collect();
                function.apply(&given?)?
            }
        };
        if value.is_finite() { Ok(value) } else { Err(Fault::Infinite) }
    }

    fn collect_names<'a>(&'a self, names: &mut Vec<&'a str>) {
        match self {
            Self::Number(_) => {}
            Self::Name(name) => names.push(name),
            Self::Negative(inner) => inner.collect_names(names),
            Self::Two(_, left, right) => {
                left.collect_names(names);
                right.collect_names(names);
            }
            Self::Call(_, given) => {
                for one in given {
                    one.collect_names(names);
                }
            }
        }
    }
}

fn whole(value: f64) -> Result<i64, Fault> {
    if value.fract() == 0.0 && value.abs() <= WHOLE_MAX {
        Ok(value as i64)
    } else {
        Err(Fault::Whole(value))
    }
}

fn shift(value: f64) -> Result<u32, Fault> {
    let by = u32::try_from(whole(value)?).ok().filter(|by| *by < 64);
    by.ok_or(Fault::Shift(value))
}

impl Operator {
    fn apply(self, left: f64, right: f64) -> Result<f64, Fault> {
        Ok(match self {
            Self::Or => (whole(left)? | whole(right)?) as f64,
            Self::Xor => (whole(left)? ^ whole(right)?) as f64,
            Self::And => (whole(left)? & whole(right)?) as f64,
            // 54 bits shifted by 63 fit in 128.
            Self::Left => (i128::from(whole(left)?) << shift(right)?) as f64,
            Self::Right => (whole(left)? >> shift(right)?) as f64,
            Self::Add => left + right,
            Self::Subtract => left - right,
            Self::Multiply => left * right,
            Self::Divide if right == 0.0 => return Err(Fault::Zero),
            Self::Divide => left / right,
        })
    }
}

impl Function {
    fn apply(self, given: &[f64]) -> Result<f64, Fault> {
        Ok(match (self, given) {
            (Self::Abs, [x]) => x.abs(),
            (Self::Clamp, [x, low, high]) if low <= high => x.max(*low).min(*high),
            (Self::Clamp, [_, low, high]) => {
                return Err(Fault::Clamp { low: *low, high: *high });
            }
            (Self::Max, all) => all.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            (Self::Min, all) => all.iter().copied().fold(f64::INFINITY, f64::min),
            (Self::Poly, [x, factors @ ..]) => {
                factors.iter().rev().fold(0.0, |sum, factor| sum * x + factor)
            }
            // The parser checks the number of arguments; a mismatch has no value.
            (Self::Abs | Self::Clamp | Self::Poly, _) => return Err(Fault::Infinite),
        })
    }
}
