//! Parser of formulas.

use thiserror::Error;

use super::syntax::{Function, Node, Operator};

/// Longest formula, bytes.
pub const TEXT_MAX: usize = 1024;
/// Deepest nesting.
pub const DEPTH_MAX: usize = 64;
/// Expected tokens at an operand.
const OPERAND: &str = "a number, a name, \"-\" or \"(\"";

/// Syntax error of a formula.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("character {at} of the formula: found {found}, expected {expected}")]
pub struct SyntaxError {
    /// Character position, from 1.
    pub at: usize,
    /// Token found.
    pub found: String,
    /// Expected tokens.
    pub expected: String,
}

/// Functions with their least and most arguments.
const FUNCTIONS: [(&str, Function, usize, usize); 5] = [
    ("abs", Function::Abs, 1, 1),
    ("clamp", Function::Clamp, 3, 3),
    ("max", Function::Max, 2, 16),
    ("min", Function::Min, 2, 16),
    ("poly", Function::Poly, 2, 17),
];

/// Operators, longer ones first.
const OPERATORS: [(&str, Operator); 9] = [
    ("<<", Operator::Left),
    (">>", Operator::Right),
    ("|", Operator::Or),
    ("^", Operator::Xor),
    ("&", Operator::And),
    ("+", Operator::Add),
    ("-", Operator::Subtract),
    ("*", Operator::Multiply),
    ("/", Operator::Divide),
];

/// Parses a formula.
pub(super) fn parse(text: &str) -> Result<Node, SyntaxError> {
    if text.len() > TEXT_MAX {
        return Err(SyntaxError {
            at: TEXT_MAX + 1,
            found: "more".to_owned(),
            expected: format!("at most {TEXT_MAX} characters"),
        });
    }
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0 };
    let root = parser.expression(0)?;
    match parser.take() {
        (_, Token::End) => Ok(root),
        found => Err(syntax_error(found, "an operator or the end")),
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Token<'a> {
    Number(f64),
    Name(&'a str),
    Operator(Operator),
    Open,
    Close,
    Comma,
    End,
}

/// A token and its position, bytes from 0.
type PositionedToken<'a> = (usize, Token<'a>);

fn syntax_error((at, token): PositionedToken<'_>, expected: &str) -> SyntaxError {
    let found = match token {
        Token::Number(value) => value.to_string(),
        Token::Name(name) => format!("{name:?}"),
        Token::Operator(operator) => {
            let known = OPERATORS.iter().find(|(_, one)| *one == operator);
            format!("{:?}", known.map_or("", |(text, _)| *text))
        }
        Token::Open => "\"(\"".to_owned(),
        Token::Close => "\")\"".to_owned(),
        Token::Comma => "\",\"".to_owned(),
        Token::End => "the end".to_owned(),
    };
    SyntaxError { at: at + 1, found, expected: expected.to_owned() }
}

/// The tokens of a text, with an end token.
fn tokens(text: &str) -> Result<Vec<PositionedToken<'_>>, SyntaxError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    // All text before `at` is ASCII, so `at` is a character boundary.
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let Some((token, bytes)) = token(first, rest) else {
            return Err(SyntaxError {
                at: at + 1,
                found: format!("{first:?}"),
                expected: "a number, a name, an operator or a parenthesis".to_owned(),
            });
        };
        tokens.push((at, token));
        at += bytes;
    }
    tokens.push((at, Token::End));
    Ok(tokens)
}

/// The first token of `rest` and its length, bytes.
fn token(first: char, rest: &str) -> Option<(Token<'_>, usize)> {
    let of_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    match first {
        '0'..='9' | '.' => number(rest).map(|(value, bytes)| (Token::Number(value), bytes)),
        'a'..='z' | 'A'..='Z' | '_' => {
            let bytes = rest.bytes().take_while(of_name).count();
            Some((Token::Name(&rest[..bytes]), bytes))
        }
        '(' => Some((Token::Open, 1)),
        ')' => Some((Token::Close, 1)),
        ',' => Some((Token::Comma, 1)),
        _ => {
            let mut all = OPERATORS.iter();
            let (text, operator) = all.find(|(text, _)| rest.starts_with(*text))?;
            Some((Token::Operator(*operator), text.len()))
        }
    }
}

/// The number at the start of `rest` and its length, bytes.
fn number(rest: &str) -> Option<(f64, usize)> {
    let hex = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X"));
    if let Some(digits) = hex {
        let bytes = digits.bytes().take_while(u8::is_ascii_hexdigit).count();
        let value = u64::from_str_radix(&digits[..bytes], 16).ok()?;
        return Some((value as f64, bytes + 2));
    }
    let digits = |from: usize| {
        let rest = rest.bytes().skip(from);
        rest.take_while(u8::is_ascii_digit).count()
    };
    let mut end = digits(0);
    if rest[end..].starts_with('.') {
        end += 1 + digits(end + 1);
    }
    if rest[end..].starts_with(['e', 'E']) {
        let sign = usize::from(rest[end + 1..].starts_with(['+', '-']));
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    let value: f64 = rest[..end].parse().ok()?;
    value.is_finite().then_some((value, end))
}

struct Parser<'a> {
    tokens: Vec<PositionedToken<'a>>,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    /// The current token; after the end, the end token.
    fn peek(&self) -> PositionedToken<'a> {
        self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn take(&mut self) -> PositionedToken<'a> {
        let token = self.peek();
        self.at += 1;
        token
    }

    /// Operands joined by operators of at least the precedence `least`.
    fn expression(&mut self, least: u8) -> Result<Node, SyntaxError> {
        let mut left = self.operand()?;
        while let (_, Token::Operator(operator)) = self.peek()
            && operator.rank() >= least
        {
            self.at += 1;
            let right = self.expression(operator.rank() + 1)?;
            left = Node::Two(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn operand(&mut self) -> Result<Node, SyntaxError> {
        let found = self.take();
        if self.depth == DEPTH_MAX {
            return Err(syntax_error(found, &format!("at most {DEPTH_MAX} levels")));
        }
        self.depth += 1;
        let node = match found.1 {
            Token::Number(value) => Node::Number(value),
            Token::Operator(Operator::Subtract) => Node::Negative(Box::new(self.operand()?)),
            Token::Open => {
                let inner = self.expression(0)?;
                match self.take() {
                    (_, Token::Close) => inner,
                    other => return Err(syntax_error(other, "an operator or \")\"")),
                }
            }
            Token::Name(name) if self.peek().1 == Token::Open => self.call(found.0, name)?,
            Token::Name(name) => Node::Name(name.to_owned()),
            _ => return Err(syntax_error(found, OPERAND)),
        };
        self.depth -= 1;
        Ok(node)
    }

    /// Arguments of the function `name`, whose name was taken.
    fn call(&mut self, at: usize, name: &str) -> Result<Node, SyntaxError> {
        let known = FUNCTIONS.iter().find(|(text, ..)| *text == name);
        let Some((_, function, least, most)) = known else {
            let names: Vec<&str> = FUNCTIONS.iter().map(|(text, ..)| *text).collect();
            let expected = format!("a function: {}", names.join(", "));
            return Err(syntax_error((at, Token::Name(name)), &expected));
        };
        self.at += 1;
        let mut given = Vec::new();
        loop {
            given.push(self.expression(0)?);
            match self.take() {
                (_, Token::Comma) => {}
                (_, Token::Close) => break,
                other => return Err(syntax_error(other, "an operator, \",\" or \")\"")),
            }
        }
        if (*least..=*most).contains(&given.len()) {
            return Ok(Node::Call(*function, given));
        }
        Err(SyntaxError {
            at: at + 1,
            found: format!("{name:?} of {}", given.len()),
            expected: format!("{least} to {most} arguments"),
        })
    }
}
