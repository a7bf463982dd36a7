//! The formulas of sensor templates: a small language in which everything comes to an end.
//!
//! Numbers (`12`, `0.5`, `1e-3`, `0xFF`), names of what is known already, `+ - * /`, for whole
//! numbers `<< >> & ^ |`, parentheses and a few functions; operators bind as in C. There are no
//! loops, no conditions and no definitions, so that a formula takes a step for each of its words.

use serde::Deserialize;
use thiserror::Error;

use super::parse::parse;
pub use super::parse::{DEPTH_MAX, Misread, TEXT_MAX};

/// Whole numbers beyond this one are not told apart.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// Why a formula has no value.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Fault {
    /// A name that stands for nothing.
    #[error("nothing is known of {0:?}")]
    Name(String),
    /// A division by zero.
    #[error("division by zero")]
    Zero,
    /// Bits of a number that has none.
    #[error("{0} is not a whole number of at most 53 bits")]
    Whole(f64),
    /// A shift that is too far.
    #[error("a shift by {0}; allowed: 0 to 63")]
    Shift(f64),
    /// Bounds the wrong way round.
    #[error("clamp to {low} .. {high}: the lower bound is above the upper")]
    Clamp {
        /// The lower bound.
        low: f64,
        /// The upper bound.
        high: f64,
    },
    /// Too much for a number.
    #[error("the result is not a finite number")]
    Infinite,
}

/// A formula.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Expr {
    root: Node,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Number(f64),
    Name(String),
    Negative(Box<Node>),
    Two(Operator, Box<Node>, Box<Node>),
    Call(Function, Vec<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    Xor,
    And,
    Left,
    Right,
    Add,
    Subtract,
    Multiply,
    Divide,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Abs,
    Clamp,
    Max,
    Min,
    Poly,
}

impl TryFrom<String> for Expr {
    type Error = Misread;

    fn try_from(text: String) -> Result<Self, Misread> {
        Self::parse(&text)
    }
}

impl Expr {
    /// Reads a formula.
    ///
    /// # Errors
    /// Where it cannot be understood, and what could stand there.
    pub fn parse(text: &str) -> Result<Self, Misread> {
        parse(text).map(|root| Self { root })
    }

    /// Its value, where `known` tells what names stand for.
    ///
    /// # Errors
    /// Why it has none.
    pub fn evaluate(&self, known: impl Fn(&str) -> Option<f64>) -> Result<f64, Fault> {
        self.root.value(&known)
    }

    /// The names it uses, each as often as it does.
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
        if value.is_finite() {
            Ok(value)
        } else {
            Err(Fault::Infinite)
        }
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
    /// How closely it binds.
    pub(super) fn rank(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::Xor => 2,
            Self::And => 3,
            Self::Left | Self::Right => 4,
            Self::Add | Self::Subtract => 5,
            Self::Multiply | Self::Divide => 6,
        }
    }

    fn apply(self, left: f64, right: f64) -> Result<f64, Fault> {
        Ok(match self {
            Self::Or => (whole(left)? | whole(right)?) as f64,
            Self::Xor => (whole(left)? ^ whole(right)?) as f64,
            Self::And => (whole(left)? & whole(right)?) as f64,
            // 54 bits and 63 more have room in 128.
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
                return Err(Fault::Clamp {
                    low: *low,
                    high: *high,
                });
            }
            (Self::Max, all) => all.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            (Self::Min, all) => all.iter().copied().fold(f64::INFINITY, f64::min),
            (Self::Poly, [x, factors @ ..]) => factors
                .iter()
                .rev()
                .fold(0.0, |sum, factor| sum * x + factor),
            // The parser counts arguments; what it let through by mistake has no value.
            (Self::Abs | Self::Clamp | Self::Poly, _) => return Err(Fault::Infinite),
        })
    }
}
