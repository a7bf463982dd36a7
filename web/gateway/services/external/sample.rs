//! Numbers in the answers of other systems: at a JSON pointer, or in the Prometheus text format.

use axum::http::StatusCode;
use groundwave_gateway::external::Check;
use serde_json::Value;

/// Number at a place of a JSON text; truth values are 1 and 0, texts that hold a number count.
#[must_use]
pub fn at_pointer(body: &[u8], pointer: &str) -> Option<f64> {
    let document: Value = serde_json::from_slice(body).ok()?;
    let value = match document.pointer(pointer)? {
        Value::Number(number) => number.as_f64()?,
        Value::Bool(truth) => f64::from(u8::from(*truth)),
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    value.is_finite().then_some(value)
}

/// Value of a sample in the Prometheus text format.
#[must_use]
pub fn in_exposition(body: &[u8], sample: &str) -> Option<f64> {
    let text = std::str::from_utf8(body).ok()?;
    let rest = text.lines().find_map(|line| {
        let rest = line.strip_prefix(sample)?;
        rest.starts_with([' ', '\t']).then_some(rest)
    })?;
    let value: f64 = rest.split_whitespace().next()?.parse().ok()?;
    value.is_finite().then_some(value)
}

/// Value of a check by an answer; `None` where the answer lacks it.
#[must_use]
pub fn value_of(check: &Check, status: StatusCode, body: &[u8]) -> Option<f64> {
    match (&check.json_pointer, &check.sample) {
        (Some(pointer), _) => at_pointer(body, pointer),
        (None, Some(sample)) => in_exposition(body, sample),
        (None, None) => Some(f64::from(u8::from(status.is_success()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_from_json() {
        let body = br#"{"a": {"b": [1, 2.5, true, "7.25", "x", null]}, "c/d": -1e3}"#;
        let cases = [
            ("/a/b/0", Some(1.0)),
            ("/a/b/1", Some(2.5)),
            ("/a/b/2", Some(1.0)),
            ("/a/b/3", Some(7.25)),
            ("/a/b/4", None),
            ("/a/b/5", None),
            ("/a/b/9", None),
            ("/a", None),
            ("/c~1d", Some(-1000.0)),
        ];
        for (pointer, value) in cases {
            assert_eq!(at_pointer(body, pointer), value, "{pointer}");
        }
        assert_eq!(at_pointer(b"no json", "/a"), None);
        assert_eq!(at_pointer(b"12", ""), Some(12.0));
    }

    #[test]
    fn samples_are_read_from_the_text_format() {
        let body = b"# HELP node_load1 Load.\nnode_load1 0.25\nnode_load15 9\n\
                     http_requests_total{method=\"post\",code=\"200\"} 1027 1395066363000\nbad NaN\n";
        assert_eq!(in_exposition(body, "node_load1"), Some(0.25));
        assert_eq!(in_exposition(body, "node_load15"), Some(9.0));
        let labelled = "http_requests_total{method=\"post\",code=\"200\"}";
        assert_eq!(in_exposition(body, labelled), Some(1027.0));
        for absent in ["node_load", "http_requests_total", "bad", "nothing"] {
            assert_eq!(in_exposition(body, absent), None, "{absent}");
        }
    }
}
