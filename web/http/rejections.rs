//! Entries of a body that are left out, each with the reason.

use serde_json::{Map, Value};

/// Longest message of a rejected entry, characters.
const MESSAGE_CHARS_MAX: usize = 160;

/// Entries left out: JSON pointer and reason of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rejections(pub Vec<(String, String)>);

/// Adds a key to a JSON pointer.
#[must_use]
pub fn pointer_at(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

impl Rejections {
    /// Notes an entry that is left out, and why.
    pub fn add(&mut self, pointer: String, reason: &str) {
        self.0.push((pointer, reason.chars().take(MESSAGE_CHARS_MAX).collect()));
    }

    /// Leaves out the fields of an object for which it does not fit, except those required. Numbers
    /// with a fraction are rounded down where a whole number fits.
    ///
    /// # Errors
    /// The mistake, when the required fields alone do not fit; then nothing was left out.
    pub fn fields(
        &mut self,
        pointer: &str,
        object: &mut Map<String, Value>,
        required: &[&str],
        fits: impl Fn(&Value) -> Result<(), String>,
    ) -> Result<(), String> {
        if fits(&Value::Object(object.clone())).is_ok() {
            return Ok(());
        }
        let (base, others): (Map<_, _>, Map<_, _>) =
            object.clone().into_iter().partition(|(key, _)| required.contains(&key.as_str()));
        let mut remainder = Value::Object(base);
        fits(&remainder)?;
        for (key, value) in others {
            let below = whole(&value);
            remainder[&key] = value;
            let Err(reason) = fits(&remainder) else { continue };
            if let Some(below) = below {
                remainder[&key] = below;
                if fits(&remainder).is_ok() {
                    continue;
                }
            }
            self.add(pointer_at(pointer, &key), &reason);
            if let Value::Object(remainder) = &mut remainder {
                remainder.remove(&key);
            }
        }
        if let Value::Object(remainder) = remainder {
            *object = remainder;
        }
        Ok(())
    }

    /// Leaves out what does not fit of an array, and what exceeds `count_max`.
    pub fn items(
        &mut self,
        pointer: &str,
        array: Option<&mut Value>,
        count_max: usize,
        mut fits: impl FnMut(&mut Self, &str, &mut Value) -> Result<(), String>,
    ) {
        let Some(Value::Array(items)) = array else { return };
        let count = items.len();
        let mut remaining = Vec::new();
        for (index, mut item) in std::mem::take(items).into_iter().enumerate() {
            let at = format!("{pointer}/{index}");
            let outcome = match remaining.len() < count_max {
                true => fits(self, &at, &mut item),
                false => Err(format!("too many entries: found {count}, allowed 0 to {count_max}")),
            };
            match outcome {
                Ok(()) => remaining.push(item),
                Err(reason) => self.add(at, &reason),
            }
        }
        *items = remaining;
    }

    /// Leaves out what does not fit of an object of entries, and what exceeds `count_max`; entries
    /// `is_first` count before others.
    pub fn entries(
        &mut self,
        pointer: &str,
        object: Option<&mut Value>,
        count_max: usize,
        is_first: impl Fn(&str) -> bool,
        fits: impl Fn(&str, &Value) -> Result<(), String>,
    ) {
        let Some(Value::Object(entries)) = object else { return };
        let count = entries.len();
        let (first, others): (Vec<_>, Vec<_>) =
            std::mem::take(entries).into_iter().partition(|(key, _)| is_first(key));
        for (key, value) in first.into_iter().chain(others) {
            let outcome = match entries.len() < count_max {
                true => fits(&key, &value),
                false => Err(format!("too many entries: found {count}, allowed 0 to {count_max}")),
            };
            match outcome {
                Ok(()) => drop(entries.insert(key, value)),
                Err(reason) => self.add(pointer_at(pointer, &key), &reason),
            }
        }
    }
}

/// Whole number at or below a positive number with a fraction.
fn whole(value: &Value) -> Option<Value> {
    let number = value.as_f64().filter(|number| (0.0..9e15).contains(number))?;
    value.is_f64().then(|| Value::from(number as u64))
}
