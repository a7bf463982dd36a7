//! The parsed file before it means anything: places of keys, and the checks no type can do.

use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Finding, Report};
use super::key::{KeyPath, Segment};
use super::limits::{NESTING_MAX, RECOVERY_BYTES_MAX, SYNTAX_ERRORS_MAX};

/// A value with its place in the file.
pub type Value<'a> = Spanned<DeValue<'a>>;

/// Parses TOML; syntax errors go to the report.
pub fn parse<'a>(text: &'a str, report: &mut Report) -> DeTable<'a> {
    let errors = if text.len() <= RECOVERY_BYTES_MAX {
        let (root, errors) = DeTable::parse_recoverable(text);
        if errors.is_empty() {
            return root.into_inner();
        }
        errors
    } else {
        match DeTable::parse(text) {
            Ok(root) => return root.into_inner(),
            Err(error) => vec![error],
        }
    };
    let mut last: Option<usize> = None;
    for error in errors.into_iter().take(SYNTAX_ERRORS_MAX) {
        let span = error.span().unwrap_or(0..0);
        // One slip makes several errors on its line; the first says it best.
        let start = span.start.min(text.len());
        let same_line = last.is_some_and(|last| {
            let between = last.min(start)..last.max(start);
            !text.as_bytes()[between].contains(&b'\n')
        });
        last = Some(start);
        if same_line {
            continue;
        }
        let (what, allowed) = match error.message().split_once(", expected ") {
            Some((what, allowed)) => (what.to_owned(), allowed.to_owned()),
            None => (error.message().to_owned(), String::new()),
        };
        report.push(|| Finding {
            path: KeyPath::default(),
            span: Some(span),
            what,
            allowed,
            elsewhere: None,
        });
    }
    DeTable::default()
}

/// Reports what TOML can write and a scenario cannot mean: infinities, dates, deep nesting.
pub fn refuse_unusable(root: &DeTable<'_>, report: &mut Report) {
    refuse_in_table(root, &mut KeyPath::default(), report);
}

fn refuse_in_table(table: &DeTable<'_>, path: &mut KeyPath, report: &mut Report) {
    for (key, value) in table {
        path.segments.push(Segment::Key(Cow::Owned(key.get_ref().to_string())));
        refuse_in(value, path, report);
        path.segments.pop();
    }
}

fn refuse_in(value: &Value<'_>, path: &mut KeyPath, report: &mut Report) {
    if path.segments.len() > NESTING_MAX {
        return report.push(|| Finding {
            path: KeyPath { segments: path.segments.iter().take(2).cloned().collect() },
            span: Some(value.span()),
            what: "tables and arrays are nested too deep".to_owned(),
            allowed: format!("{NESTING_MAX} levels"),
            elsewhere: None,
        });
    }
    match value.get_ref() {
        DeValue::Float(number) if !number.as_str().parse().is_ok_and(f64::is_finite) => {
            report.at(
                path,
                format!("{} is not a number to compute with", number.as_str()),
                "a finite number",
            );
        }
        DeValue::Datetime(_) => {
            report.at(path, "dates are not used in scenarios", "times as seconds since the start");
        }
        DeValue::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.segments.push(Segment::Index(index));
                refuse_in(item, path, report);
                path.segments.pop();
            }
        }
        DeValue::Table(table) => refuse_in_table(table, path, report),
        DeValue::Float(_) | DeValue::Integer(_) | DeValue::String(_) | DeValue::Boolean(_) => {}
    }
}

/// `true` if a table of the document has a key.
pub fn has_key(root: &DeTable<'_>, table: &str, key: &str) -> bool {
    let table = root.get(table).map(|value| value.get_ref());
    matches!(table, Some(DeValue::Table(table)) if table.contains_key(key))
}

/// Bytes of the deepest part of `path` that exists: of a table written with a header, the
/// header.
pub fn span_of(root: &DeTable<'_>, path: &KeyPath) -> Range<usize> {
    let mut segments = path.segments.iter();
    let Some(Segment::Key(first)) = segments.next() else {
        return 0..0;
    };
    let Some(mut value) = root.get(first.as_ref()) else {
        return 0..0;
    };
    for segment in segments {
        match step(value, segment) {
            Some(inner) => value = inner,
            None => break,
        }
    }
    value.span()
}

/// The value one segment further in.
fn step<'t, 'a>(value: &'t Value<'a>, segment: &Segment) -> Option<&'t Value<'a>> {
    match (value.get_ref(), segment) {
        (DeValue::Table(table), Segment::Key(key)) => table.get(key.as_ref()),
        (DeValue::Array(items), Segment::Index(index)) => items.get(*index),
        _ => None,
    }
}

/// The path, below `value`, of the smallest key or value that contains `span`; the tables that
/// follow a header are not inside it, so all are searched.
pub(crate) fn path_at(value: &Value<'_>, span: &Range<usize>) -> KeyPath {
    let mut search = Search { span, best: usize::MAX, found: KeyPath::default() };
    search.visit(value, &KeyPath::default());
    search.found
}

struct Search<'s> {
    span: &'s Range<usize>,
    best: usize,
    found: KeyPath,
}

impl Search<'_> {
    fn offer(&mut self, candidate: &Range<usize>, path: &KeyPath) {
        let contains = candidate.start <= self.span.start && self.span.end <= candidate.end;
        if contains && candidate.len() <= self.best {
            self.best = candidate.len();
            self.found = path.clone();
        }
    }

    fn visit(&mut self, value: &Value<'_>, path: &KeyPath) {
        self.offer(&value.span(), path);
        match value.get_ref() {
            DeValue::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.visit(item, &path.index(index));
                }
            }
            DeValue::Table(table) => {
                for (key, item) in table {
                    let path = path.owned_key(key.get_ref());
                    self.offer(&key.span(), &path);
                    self.visit(item, &path);
                }
            }
            _ => {}
        }
    }
}

/// Takes the value at `path` out of `value`; whether there was one in a table.
pub(crate) fn remove(value: &mut Value<'_>, path: &[Segment]) -> bool {
    match (value.get_mut(), path) {
        (DeValue::Table(table), [Segment::Key(key)]) => table.remove(key.as_ref()).is_some(),
        (DeValue::Table(table), [Segment::Key(key), rest @ ..]) => {
            table.get_mut(key.as_ref()).is_some_and(|inner| remove(inner, rest))
        }
        (DeValue::Array(items), [Segment::Index(index), rest @ ..]) if !rest.is_empty() => {
            items.get_mut(*index).is_some_and(|inner| remove(inner, rest))
        }
        _ => false,
    }
}
