//! Ranges of values, stated once: `#[garde(range(...))]` on a field is its check, and `schemars`
//! reads the same attribute into the schema.
//!
//! The check itself is compiled code. Only a value that fails it is serialised and walked beside
//! its schema, to name the key as the document spells it, the value found and the range allowed.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use garde::Validate;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Number, Value};

/// A value outside its range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid {key}: found {found}, allowed {allowed}")]
pub struct BadValue {
    /// Dotted path of the value inside its document, e.g. `radio.frequency_mhz`.
    pub key: String,
    /// The value found.
    pub found: String,
    /// The values allowed, e.g. `[10, 100000]`; a round bracket excludes its end.
    pub allowed: String,
}

impl BadValue {
    /// A refusal of `found` at `key`, where `allowed` is accepted.
    pub fn new(
        key: impl Into<String>,
        found: impl fmt::Display,
        allowed: impl fmt::Display,
    ) -> Self {
        Self { key: key.into(), found: found.to_string(), allowed: allowed.to_string() }
    }
}

/// Checks every field of `value` against its attributes. `key` is the path of the value inside
/// its document, empty for the document itself.
///
/// # Errors
/// The first [`BadValue`], in the order of the serialised keys.
pub fn check<T>(value: &T, key: &str) -> Result<(), BadValue>
where
    T: Validate<Context = ()> + Serialize + JsonSchema,
{
    value.validate().map_err(|report| explain(value, key, &report))
}

/// Every value that a check of `value` refused, in the order of their keys, which are those of the
/// check: for a type that renames no field.
///
/// Parts that the type does not check are left out, although the schema may state their ranges.
pub fn explain_all<T: Serialize + JsonSchema>(value: &T, report: &garde::Report) -> Vec<BadValue> {
    let (value, refusals) = walk(value, "");
    // Of two alternatives of a schema that both refuse a value, the first counts.
    let by_key = refusals.into_iter().rev().map(|bad| (bad.key.clone(), bad));
    let mut by_key: BTreeMap<String, BadValue> = by_key.collect();
    let errors = report.iter().map(|(path, error)| (path.to_string(), error));
    let errors: BTreeMap<String, &garde::Error> = errors.collect();
    let explained = errors.into_iter().map(|(path, error)| {
        let by_schema = by_key.remove(&path);
        by_schema.unwrap_or_else(|| unexplained(&value, "", &path, error))
    });
    explained.collect()
}

/// Gives each type a `validate` of its own, which names keys below the path given.
#[macro_export]
macro_rules! bounded {
    ($($type:ty: $key:literal),+ $(,)?) => {$(
        impl $type {
            /// Checks every field against the range it states.
            ///
            /// # Errors
            /// The first value out of its range, with its key.
            pub fn validate(&self) -> Result<(), $crate::bounds::BadValue> {
                $crate::bounds::check(self, $key)
            }
        }
    )+};
}
pub use bounded;

/// Accepts a number that is neither infinite nor NaN; `range` alone lets NaN pass.
///
/// # Errors
/// When `value` is not finite.
pub fn finite<T: Copy + Into<f64>>(value: &T, _: &()) -> garde::Result {
    if Into::<f64>::into(*value).is_finite() {
        return Ok(());
    }
    Err(garde::Error::new("not a finite number"))
}

/// [`finite`] for a value that may be absent.
///
/// # Errors
/// When `value` is present and not finite.
pub fn finite_if_some<T: Copy + Into<f64>>(value: &Option<T>, cx: &()) -> garde::Result {
    value.as_ref().map_or(Ok(()), |value| finite(value, cx))
}

/// [`finite_each`] for an optional pair.
///
/// # Errors
/// When an element is not finite.
pub fn finite_pair_if_some(value: &Option<[f64; 2]>, cx: &()) -> garde::Result {
    value.as_ref().map_or(Ok(()), |pair| finite_each(pair, cx))
}

/// [`finite`] for every element of a pair.
///
/// # Errors
/// When an element is not finite.
pub fn finite_each<T: Copy + Into<f64>, const N: usize>(value: &[T; N], cx: &()) -> garde::Result {
    value.iter().try_for_each(|value| finite(value, cx))
}

/// Accepts a number above 0, for `extend("exclusiveMinimum" = 0.0)`; NaN is refused.
///
/// # Errors
/// When `value` is 0, below 0 or NaN.
pub fn above_zero(value: &f64, _: &()) -> garde::Result {
    if *value > 0.0 {
        return Ok(());
    }
    Err(garde::Error::new("above 0"))
}

/// Accepts a number in `[min, max]`; NaN and infinities are refused.
pub fn within(key: &str, value: f64, min: f64, max: f64) -> Result<(), BadValue> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(BadValue::new(key, value, format_args!("[{min}, {max}]")))
}

#[cold]
fn explain<T: Serialize + JsonSchema>(value: &T, key: &str, report: &garde::Report) -> BadValue {
    let (value, refusals) = walk(value, key);
    refusals.into_iter().next().unwrap_or_else(|| {
        let (path, error) = report.iter().next().expect("a failed check has an error");
        unexplained(&value, key, &path.to_string(), error)
    })
}

/// A value as its document has it, and what its schema refuses of it.
fn walk<T: Serialize + JsonSchema>(value: &T, key: &str) -> (Value, Vec<BadValue>) {
    let schema = SchemaGenerator::default().into_root_schema_for::<T>();
    let value = serde_json::to_value(value).unwrap_or_default();
    let mut walk = Walk { root: schema.as_value(), refusals: Vec::new() };
    walk.value(walk.root, &value, key);
    let refusals = walk.refusals;
    (value, refusals)
}

/// The error of a custom check, absent from the schema: its own path and message.
fn unexplained(value: &Value, key: &str, path: &str, error: &garde::Error) -> BadValue {
    let pointer = path.replace(['.', '['], "/").replace(']', "");
    let actual = value.pointer(&format!("/{pointer}")).unwrap_or(&Value::Null);
    BadValue::new(join(key, path), actual, allowed_by(error.message()))
}

/// Allowed lengths, by the message of a check; other messages as they are.
fn allowed_by(message: &str) -> String {
    let after = |start: &str| message.strip_prefix(start);
    match (after("length is lower than "), after("length is greater than ")) {
        (Some(min), _) => format!("a length of {min} or more"),
        (_, Some(max)) => format!("a length of 0 to {max}"),
        _ => message.to_owned(),
    }
}

fn join(key: &str, next: &str) -> String {
    match (key, next) {
        ("", next) => next.to_owned(),
        (key, "") => key.to_owned(),
        (key, next) => format!("{key}.{next}"),
    }
}

/// A walk along a value beside its schema, for the numbers and lengths out of bounds.
struct Walk<'s> {
    root: &'s Value,
    refusals: Vec<BadValue>,
}

impl Walk<'_> {
    fn value(&mut self, schema: &Value, value: &Value, key: &str) {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            if let Some(target) = self.root.pointer(reference.trim_start_matches('#')) {
                self.value(target, value, key);
            }
            return;
        }
        for alternatives in ["oneOf", "anyOf", "allOf"] {
            let of = schema.get(alternatives).and_then(Value::as_array);
            let is_null = |one: &Value| one.get("type").is_some_and(|kind| kind == "null");
            if value.is_null() && of.is_some_and(|of| of.iter().any(is_null)) {
                // An absent value, whatever the other alternatives allow.
                return;
            }
            for one in of.into_iter().flatten().filter(|one| fits(one, value)) {
                self.value(one, value, key);
            }
        }
        match value {
            Value::Null if schema.get("minimum").is_some() && !allows_null(schema) => {
                // JSON has no NaN and no infinity: both are serialised as null.
                self.refuse(key, "not a number", interval(schema));
            }
            Value::Number(number) => {
                let bound = |name| Some(compare(number, schema.get(name)?.as_number()?));
                let bad = bound("minimum").is_some_and(Ordering::is_lt)
                    || bound("maximum").is_some_and(Ordering::is_gt)
                    || bound("exclusiveMinimum").is_some_and(Ordering::is_le)
                    || bound("exclusiveMaximum").is_some_and(Ordering::is_ge);
                if bad {
                    self.refuse(key, text_of(number), interval(schema));
                }
            }
            Value::String(text) => {
                let count = text.chars().count();
                if let Some(allowed) = out_of_length(schema, "Length", count) {
                    self.refuse(key, format_args!("{count} characters"), allowed);
                }
            }
            Value::Array(items) => {
                if let Some(allowed) = out_of_length(schema, "Items", items.len()) {
                    self.refuse(key, format_args!("{} items", items.len()), allowed);
                }
                if let Some(of) = schema.get("items") {
                    for (i, item) in items.iter().enumerate() {
                        self.value(of, item, &format!("{key}[{i}]"));
                    }
                }
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    if let Some(of) = schema.get("properties").and_then(|all| all.get(name)) {
                        self.value(of, field, &join(key, name));
                    }
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn refuse(&mut self, key: &str, actual: impl fmt::Display, allowed: impl fmt::Display) {
        self.refusals.push(BadValue::new(key, actual, allowed));
    }
}

/// Whole numbers are compared exactly: those above 2^53 are no `f64`.
fn compare(a: &Number, b: &Number) -> Ordering {
    match (a.as_u64(), b.as_u64()) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => {
            let float = |number: &Number| number.as_f64().unwrap_or(f64::NAN);
            float(a).total_cmp(&float(b))
        }
    }
}

/// A number without the `.0` of a whole `f64`.
fn text_of(number: &Number) -> String {
    match (number.as_u64(), number.as_f64()) {
        (None, Some(float)) => float.to_string(),
        _ => number.to_string(),
    }
}

/// The alternatives of a tagged enum are distinguished by the constants of their tags.
fn fits(schema: &Value, value: &Value) -> bool {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return true;
    };
    properties.iter().all(|(name, of)| {
        let tag = of.get("const");
        tag.is_none() || tag == value.get(name)
    })
}

fn allows_null(schema: &Value) -> bool {
    let null = |one: &Value| one == "null";
    match schema.get("type") {
        Some(Value::Array(types)) => types.iter().any(null),
        Some(one) => null(one),
        None => true,
    }
}

fn out_of_length(schema: &Value, of: &str, count: usize) -> Option<String> {
    let bound = |end: &str| schema.get(format!("{end}{of}")).and_then(Value::as_u64);
    let (min, max) = (bound("min"), bound("max"));
    let bad =
        min.is_some_and(|min| (count as u64) < min) || max.is_some_and(|max| count as u64 > max);
    bad.then(|| match (min.unwrap_or(0), max) {
        (min, Some(max)) => format!("{min} to {max}"),
        (min, None) => format!("{min} or more"),
    })
}

/// The interval a schema of a number states, in the notation of mathematics.
fn interval(schema: &Value) -> String {
    let bound = |name| Some(text_of(schema.get(name)?.as_number()?));
    let low = match (bound("exclusiveMinimum"), bound("minimum")) {
        (Some(min), _) => format!("({min}"),
        (None, Some(min)) => format!("[{min}"),
        (None, None) if schema["format"].as_str().is_some_and(|f| f.starts_with('u')) => {
            "[0".into()
        }
        (None, None) => "(-inf".into(),
    };
    let high = match (bound("exclusiveMaximum"), bound("maximum")) {
        (Some(max), _) => format!("{max})"),
        (None, Some(max)) => format!("{max}]"),
        (None, None) => "inf)".into(),
    };
    format!("{low}, {high}")
}

#[cfg(test)]
mod tests {
    use garde::Validate;
    use schemars::JsonSchema;
    use serde::Serialize;

    use super::*;

    #[derive(Serialize, JsonSchema, Validate)]
    struct Document {
        #[garde(range(min = -1.0, max = 2.0), custom(finite))]
        level_dbm: f64,
        #[serde(rename = "duration")]
        #[garde(range(max = i64::MAX as u64))]
        duration_ns: u64,
        #[garde(dive)]
        shape: Option<Shape>,
        #[garde(length(max = 2), dive)]
        points: Vec<Point>,
        #[garde(length(chars, min = 1, max = 3))]
        name: String,
        // The schema lacks lengths of what may be absent.
        #[garde(inner(length(bytes, min = 1, max = 3)))]
        unit: Option<String>,
    }

    #[derive(Serialize, JsonSchema, Validate)]
    #[serde(tag = "kind", rename_all = "snake_case")]
    enum Shape {
        Near {
            #[garde(range(min = 1, max = 8))]
            size: u8,
        },
        Far {
            #[garde(range(min = 100, max = 200))]
            size: u8,
        },
        Unchecked {
            #[garde(skip)]
            #[schemars(range(min = 1, max = 8))]
            size: u8,
        },
    }

    #[derive(Serialize, JsonSchema, Validate)]
    struct Point {
        #[garde(range(min = 0.0), custom(below_ten))]
        #[schemars(extend("exclusiveMaximum" = 10.0))]
        x: f64,
        #[garde(range(min = 0.0), custom(finite_if_some))]
        y: Option<f64>,
    }

    fn below_ten(x: &f64, _: &()) -> garde::Result {
        if *x < 10.0 {
            return Ok(());
        }
        Err(garde::Error::new("below 10"))
    }

    fn document() -> Document {
        Document {
            level_dbm: 0.0,
            duration_ns: 5,
            shape: None,
            points: vec![Point { x: 1.0, y: None }],
            name: "abc".into(),
            unit: None,
        }
    }

    #[track_caller]
    fn refused(change: impl Fn(&mut Document), expected: &str) {
        let mut changed = document();
        change(&mut changed);
        let error = check(&changed, "file").unwrap_err();
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn errors_name_key_found_and_allowed_as_the_document_spells_them() {
        assert_eq!(check(&document(), "file"), Ok(()));
        refused(|d| d.level_dbm = 2.5, "invalid file.level_dbm: found 2.5, allowed [-1, 2]");
        refused(
            |d| d.duration_ns = 1 << 63,
            "invalid file.duration: found 9223372036854775808, allowed [0, 9223372036854775807]",
        );
        refused(
            |d| d.shape = Some(Shape::Near { size: 9 }),
            "invalid file.shape.size: found 9, allowed [1, 8]",
        );
        refused(
            |d| d.shape = Some(Shape::Far { size: 9 }),
            "invalid file.shape.size: found 9, allowed [100, 200]",
        );
        refused(
            |d| d.points.push(Point { x: 10.0, y: None }),
            "invalid file.points[1].x: found 10, allowed [0, 10)",
        );
        refused(
            |d| d.points[0].y = Some(-1.0),
            "invalid file.points[0].y: found -1, allowed [0, inf)",
        );
        refused(
            |d| d.name = "åäöå".into(),
            "invalid file.name: found 4 characters, allowed 1 to 3",
        );
        refused(
            |d| d.unit = Some(String::new()),
            "invalid file.unit: found \"\", allowed a length of 1 or more",
        );
        refused(
            |d| d.unit = Some("dBmV".into()),
            "invalid file.unit: found \"dBmV\", allowed a length of 0 to 3",
        );
    }

    #[test]
    fn all_that_the_checks_refuse_is_explained_and_nothing_else() {
        let mut document = document();
        // Checked nowhere, although the schema states its range.
        document.shape = Some(Shape::Unchecked { size: 9 });
        document.level_dbm = 2.5;
        document.points.push(Point { x: 10.0, y: None });
        document.points[0].y = Some(-1.0);
        let report = document.validate().unwrap_err();
        let explained = explain_all(&document, &report);
        let explained: Vec<String> = explained.iter().map(BadValue::to_string).collect();
        assert_eq!(
            explained,
            [
                "invalid level_dbm: found 2.5, allowed [-1, 2]",
                "invalid points[0].y: found -1, allowed [0, inf)",
                "invalid points[1].x: found 10, allowed [0, 10)",
            ]
        );
    }

    #[test]
    fn number_that_is_not_finite_is_refused() {
        refused(
            |d| d.level_dbm = f64::NAN,
            "invalid file.level_dbm: found not a number, allowed [-1, 2]",
        );
        let mut document = document();
        document.points[0].y = Some(f64::NAN);
        assert!(check(&document, "file").is_err());
    }
}
