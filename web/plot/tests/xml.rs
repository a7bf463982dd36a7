//! Just enough XML to read a picture back; panics at anything that is not well-formed.

use std::collections::BTreeMap;

/// An element with its own text.
#[derive(Debug, Clone)]
pub struct Element {
    pub name: String,
    pub attributes: BTreeMap<String, String>,
    pub text: String,
}

impl Element {
    pub fn class(&self) -> &str {
        self.attributes.get("class").map_or("", String::as_str)
    }

    /// A numeric attribute.
    pub fn number(&self, key: &str) -> f64 {
        let value = self.attributes.get(key).unwrap_or_else(|| panic!("{self:?} lacks {key}"));
        value.parse().unwrap_or_else(|_| panic!("invalid {key} of {self:?}: allowed a number"))
    }

    /// The pairs of `points`.
    pub fn points(&self) -> Vec<[f64; 2]> {
        let pair = |pair: &str| {
            let (x, y) = pair.split_once(',').expect("a pair");
            [x.parse().expect("a number"), y.parse().expect("a number")]
        };
        self.attributes["points"].split(' ').map(pair).collect()
    }
}

/// The elements of a document in the order they begin.
pub fn read(document: &str) -> Vec<Element> {
    let mut elements: Vec<Element> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut rest = document;
    while let Some(begin) = rest.find('<') {
        let text = unescape(&rest[..begin]);
        match open.last() {
            Some(&parent) => elements[parent].text.push_str(&text),
            None => assert!(text.trim().is_empty(), "text outside the root: {text}"),
        }
        let end = rest.find('>').expect("a tag ends");
        let tag = &rest[begin + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            let closes = open.pop().expect("something is open");
            assert_eq!(elements[closes].name, name);
            continue;
        }
        assert!(!open.is_empty() || elements.is_empty(), "a second root: {tag}");
        let (tag, closed) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        if !closed {
            open.push(elements.len());
        }
        elements.push(element(tag));
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "something stays open");
    elements
}

fn element(tag: &str) -> Element {
    let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
    assert!(name.bytes().all(|b| b.is_ascii_alphanumeric()), "strange tag {tag}");
    let mut attributes = BTreeMap::new();
    while !rest.trim().is_empty() {
        let (key, after) = rest.trim_start().split_once("=\"").expect("key=\"value\"");
        assert!(key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'), "key {key}");
        let (value, after) = after.split_once('"').expect("a closing quote");
        let twice = attributes.insert(key.to_owned(), unescape(value));
        assert!(twice.is_none(), "{key} twice in {tag}");
        rest = after;
    }
    Element { name: name.to_owned(), attributes, text: String::new() }
}

/// Resolves the five entities and decimal references; refuses what XML 1.0 cannot carry.
pub fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let end = at + rest[at..].find(';').expect("an entity ends");
        out.push(match &rest[at + 1..end] {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "#39" => '\'',
            other => panic!("unknown entity {other}"),
        });
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    let forbidden = |c: char| c.is_control() && c != '\n' || matches!(c, '\u{fffe}' | '\u{ffff}');
    assert!(!out.contains(forbidden), "forbidden characters in {out:?}");
    out
}
