//! Key paths such as `node[3].radio`: how errors say where they are.

use std::borrow::Cow;
use std::fmt;

/// A path from the root of a document to a value; array positions count from zero.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyPath {
    pub(crate) segments: Vec<Segment>,
}

/// One step of a [`KeyPath`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// Into a table.
    Key(Cow<'static, str>),
    /// Into an array.
    Index(usize),
}

impl KeyPath {
    /// The path of a top-level section.
    pub fn section(name: &'static str) -> Self {
        Self { segments: vec![Segment::Key(Cow::Borrowed(name))] }
    }

    /// The path of one table of a repeated section.
    pub fn item(section: &'static str, index: usize) -> Self {
        Self::section(section).index(index)
    }

    /// One step into an array.
    pub fn index(&self, index: usize) -> Self {
        self.then(Segment::Index(index))
    }

    /// One step into a table.
    pub fn key(&self, key: &'static str) -> Self {
        self.then(Segment::Key(Cow::Borrowed(key)))
    }

    /// One step into a table whose keys are not known beforehand.
    pub fn owned_key(&self, key: &str) -> Self {
        self.then(Segment::Key(Cow::Owned(key.to_owned())))
    }

    /// Several steps into nested tables and arrays, written `table.array[0].key`.
    pub fn dotted(&self, keys: &str) -> Self {
        let mut path = self.clone();
        for part in keys.split('.') {
            let mut steps = part.split(['[', ']']).filter(|step| !step.is_empty());
            let key = steps.next().unwrap_or_default();
            path.segments.push(Segment::Key(Cow::Owned(key.to_owned())));
            path.segments.extend(steps.flat_map(str::parse).map(Segment::Index));
        }
        path
    }

    fn then(&self, segment: Segment) -> Self {
        let mut path = self.clone();
        path.segments.push(segment);
        path
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.segments.iter().enumerate() {
            match segment {
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Key(key) => {
                    if position > 0 {
                        f.write_str(".")?;
                    }
                    if is_bare(key) {
                        f.write_str(key)?;
                    } else {
                        write!(f, "{key:?}")?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// `true` if TOML allows the key without quotes.
fn is_bare(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_read_like_the_file() {
        let path = KeyPath::item("node", 3).key("radio").dotted("waveform.kind");
        assert_eq!(path.to_string(), "node[3].radio.waveform.kind");
        let path = KeyPath::section("environment").dotted("classes[2].loss_db");
        assert_eq!(path.to_string(), "environment.classes[2].loss_db");
        let path = KeyPath::section("node").owned_key("a b\u{1b}");
        assert_eq!(path.to_string(), "node.\"a b\\u{1b}\"");
    }
}
