//! Formulas: values and errors.

use proptest::prelude::*;

use super::expr::{Expr, Fault, SyntaxError, TEXT_MAX};

fn value(text: &str) -> Result<f64, Fault> {
    let known = |name: &str| match name {
        "raw" => Some(f64::from(0x0ABC_DEFF_u32)),
        "x" => Some(2.0),
        "half" => Some(0.5),
        "zero" => Some(0.0),
        _ => None,
    };
    let parsed = Expr::parse(text);
    parsed.unwrap_or_else(|err| panic!("{text}: {err}")).evaluate(known)
}

fn syntax_error(text: &str) -> SyntaxError {
    Expr::parse(text).expect_err(text)
}

#[test]
fn operator_precedence_is_that_of_c() {
    for (text, expected) in [
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("8 - 3 - 2", 3.0),
        ("64 / 4 / 2", 8.0),
        ("-x * -3", 6.0),
        ("--2", 2.0),
        ("1 + 1 << 3", 16.0),
        ("0xF0 | 0x0F & 0x3", 243.0),
        ("6 ^ 3 | 8", 13.0),
        ("raw >> 4 & 0xFF", 239.0),
        ("-16 >> 2", -4.0),
        ("1 << 63", 9_223_372_036_854_775_808.0),
        (".5 + 1. + 1e2 + 2.5E-1", 101.75),
        ("0x10", 16.0),
    ] {
        assert_eq!(value(text), Ok(expected), "{text}");
    }
}

#[test]
fn functions_have_their_values() {
    for (text, expected) in [
        ("clamp(120, 0, 100)", 100.0),
        ("clamp(-1, 0, 100)", 0.0),
        ("min(3, 1, x)", 1.0),
        ("max(3, 1, x)", 3.0),
        ("abs(-x)", 2.0),
        ("poly(x, 1, 2, 3)", 17.0),
        ("poly(zero, 4, 5)", 4.0),
    ] {
        assert_eq!(value(text), Ok(expected), "{text}");
    }
}

#[test]
fn failed_evaluations_have_a_cause() {
    for (text, fault) in [
        ("1 / 0", Fault::Zero),
        ("1 / (x - 2)", Fault::Zero),
        ("what + 1", Fault::Name("what".to_owned())),
        ("half << 1", Fault::Whole(0.5)),
        ("1e300 & 1", Fault::Whole(1e300)),
        ("1 << 64", Fault::Shift(64.0)),
        ("1 >> -1", Fault::Shift(-1.0)),
        ("1e300 * 1e300", Fault::Infinite),
        ("clamp(1, 3, 2)", Fault::Clamp { low: 3.0, high: 2.0 }),
    ] {
        assert_eq!(value(text), Err(fault), "{text}");
    }
}

#[test]
fn syntax_errors_have_a_position() {
    for (text, at, found) in [
        ("", 1, "the end"),
        ("1 +", 4, "the end"),
        ("1 + * 2", 5, "\"*\""),
        ("(1 + 2", 7, "the end"),
        ("1 2", 3, "2"),
        ("2x", 2, "\"x\""),
        ("x ? 1", 3, "'?'"),
        ("x + ä", 5, "'ä'"),
        ("sqrt(2)", 1, "\"sqrt\""),
        ("abs(1, 2)", 1, "\"abs\" of 2"),
        ("min(1", 6, "the end"),
        ("0x", 1, "'0'"),
        (".", 1, "'.'"),
        ("1 < 2", 3, "'<'"),
    ] {
        let reported = syntax_error(text);
        assert_eq!((reported.at, reported.found.as_str()), (at, found), "{text}: {reported}");
    }
    assert_eq!(
        syntax_error("abs(").to_string(),
        "character 5 of the formula: found the end, expected a number, a name, \"-\" or \"(\""
    );
}

#[test]
fn length_and_depth_have_bounds() {
    let flat = vec!["1"; TEXT_MAX / 2].join("+");
    assert_eq!(value(&flat), Ok((TEXT_MAX / 2) as f64));
    assert_eq!(syntax_error(&"1".repeat(TEXT_MAX + 1)).at, TEXT_MAX + 1);
    let nested = |depth: usize| format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(value(&nested(63)), Ok(1.0));
    assert_eq!(syntax_error(&nested(64)).expected, "at most 64 levels");
    assert_eq!(syntax_error(&format!("{}1", "-".repeat(900))).at, 65);
}

#[test]
fn names_are_listed_in_order() {
    let formula = Expr::parse("a + max(b, -a) * (c >> 2)").unwrap();
    assert_eq!(formula.names(), ["a", "b", "a", "c"]);
}

proptest! {
    #[test]
    fn no_text_panics(text in ".{0,80}", words in "([0-9.eEx]{1,4}|[a-c]|[-+*/&^|(),]|<<|>>| |min\\(|poly\\(){0,60}") {
        for text in [text, words] {
            if let Ok(formula) = Expr::parse(&text) {
                let found = formula.evaluate(|name| (name == "a").then_some(-3.0));
                prop_assert!(found.is_err() || found.is_ok_and(f64::is_finite));
            }
        }
    }
}
