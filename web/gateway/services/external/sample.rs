//! Numbers in the answers of other systems: at a JSON pointer, or in the Prometheus text format.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use groundwave_gateway::external::Check;
use serde_json::Value;

/// Number at a place of a JSON text; truth values are 1 and 0, texts that hold a number count.
#[must_use]
pub fn at_pointer(body: &[u8], pointer: &str) -> Option<f64> {
    let body = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body);
    let document: Value = serde_json::from_slice(body).ok()?;
    let value = match document.pointer(pointer)? {
        Value::Number(number) => number.as_f64()?,
        Value::Bool(truth) => f64::from(u8::from(*truth)),
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    value.is_finite().then_some(value)
}

type Labels = BTreeMap<String, String>;

/// Text in quotation marks at the start of `text`, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut letters = text.strip_prefix('"')?.char_indices();
    let mut value = String::new();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, &text[at + 2..])),
            '\\' => match letters.next()?.1 {
                'n' => value.push('\n'),
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
    None
}

/// Name and labels of a sample, and what follows them; `None` for a comment and a malformed line.
fn series(line: &str) -> Option<(&str, Labels, &str)> {
    let line = line.trim_start();
    let ends_name = |letter: char| letter == '{' || letter.is_whitespace();
    let (name, rest) = line.split_at(line.find(ends_name).unwrap_or(line.len()));
    if name.is_empty() || name.starts_with('#') {
        return None;
    }
    let Some(mut rest) = rest.trim_start().strip_prefix('{') else {
        return Some((name, Labels::new(), rest));
    };
    let mut labels = Labels::new();
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        if let Some(after) = rest.strip_prefix('}') {
            return Some((name, labels, after));
        }
        let (label, value) = rest.split_once('=')?;
        let (value, after) = quoted(value.trim_start())?;
        labels.insert(label.trim_end().to_owned(), value);
        rest = after;
    }
}

/// Value of a sample in the Prometheus text format, which has labels in any order.
#[must_use]
pub fn in_exposition(body: &[u8], sample: &str) -> Option<f64> {
    let text = std::str::from_utf8(body).ok()?;
    let (name, labels, _) = series(sample)?;
    let rest =
        text.lines().filter(|line| line.trim_start().starts_with(name)).find_map(|line| {
            let (other, other_labels, rest) = series(line)?;
            (other == name && other_labels == labels).then_some(rest)
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
        assert_eq!(at_pointer(b"\xef\xbb\xbf{\"a\": 1}", "/a"), Some(1.0));
    }

    #[test]
    fn samples_are_read_from_the_text_format() {
        let body = b"# HELP node_load1 Load.\nnode_load1 0.25\nnode_load15 9\n\
                     http_requests_total{method=\"post\",code=\"200\"} 1027 1395066363000\nbad NaN\n";
        assert_eq!(in_exposition(body, "node_load1"), Some(0.25));
        assert_eq!(in_exposition(body, "node_load15"), Some(9.0));
        let labelled = "http_requests_total{method=\"post\",code=\"200\"}";
        assert_eq!(in_exposition(body, labelled), Some(1027.0));
        let ordered = "http_requests_total {code=\"200\", method=\"post\",}";
        assert_eq!(in_exposition(body, ordered), Some(1027.0));
        assert_eq!(in_exposition(body, "node_load1{}"), Some(0.25));
        let spaced = b"a{} 1\nb {x=\"}\\\"\\n\", y = \"2\" , } 3\n{broken} 1\nc{x 2\n";
        assert_eq!(in_exposition(spaced, "a"), Some(1.0));
        assert_eq!(in_exposition(spaced, "b{y=\"2\",x=\"}\\\"\\n\"}"), Some(3.0));
        for absent in ["b", "c", "c{x", "{broken}", "b{y=\"2\"}", ""] {
            assert_eq!(in_exposition(spaced, absent), None, "{absent}");
        }
        for absent in ["node_load", "http_requests_total", "bad", "nothing"] {
            assert_eq!(in_exposition(body, absent), None, "{absent}");
        }
    }
}
