//! Checks shared by all sections: ranges, times, names.

use std::collections::{BTreeMap, BTreeSet};

use garde::Validate;
use groundwave_toml_document::error::Report;
use groundwave_toml_document::key::KeyPath;
use groundwave_toml_document::suggest;
use groundwave_values::bounds;
use schemars::JsonSchema;
use serde::Serialize;

use super::file_motion::Area;
use super::limits::{LABEL_CHARS_MAX, NAME_CHARS_MAX};

/// Accepts what the attributes of the fields of a section allow; each value out of its range is an
/// error at its own key.
///
/// Infinities and NaN were refused before: `tree::refuse_unusable`.
pub(super) fn ranges<T>(section: &T, path: &KeyPath, report: &mut Report) -> bool
where
    T: Validate<Context = ()> + Serialize + JsonSchema,
{
    let Err(errors) = section.validate() else {
        return true;
    };
    if report.is_full() {
        // Nothing more is reported: count them and go on.
        errors.iter().for_each(|_| report.at(path, "", ""));
        return false;
    }
    for bad in bounds::explain_all(section, &errors) {
        let what = format!("{} is out of range", bad.found);
        report.at(&path.dotted(&bad.key), what, bad.allowed);
    }
    false
}

/// Accepts an area with an inside; edges out of range were reported.
pub(super) fn area(area: &Area, path: &KeyPath, report: &mut Report) -> bool {
    let good = area.south_deg < area.north_deg && area.west_deg < area.east_deg;
    if !good && !report.names(path) {
        report.at(path, "the area has no inside", "south_deg < north_deg and west_deg < east_deg");
    }
    good
}

/// `true` if `name` is 1 to 64 of `A-Z a-z 0-9 . - _`, not beginning with a punctuation mark.
pub(super) fn is_name(name: &str) -> bool {
    name.len() <= NAME_CHARS_MAX
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte))
        && name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric())
}

/// Accepts a name.
pub(super) fn name(name: &str, path: &KeyPath, report: &mut Report) -> bool {
    let good = is_name(name);
    if !good {
        let allowed = format!(
            "1 to {NAME_CHARS_MAX} of A-Z, a-z, 0-9, '.', '-' and '_', beginning with a letter or digit"
        );
        report.at(path, format!("invalid name {:?}", shortened(name)), allowed);
    }
    good
}

/// Accepts what people call a thing: a short printable line.
pub(super) fn label(text: &str, path: &KeyPath, report: &mut Report) {
    let length = 1..=LABEL_CHARS_MAX;
    if !length.contains(&text.chars().count()) || text.chars().any(char::is_control) {
        let allowed =
            format!("1 to {LABEL_CHARS_MAX} characters, none of them a control character");
        report.at(path, "not a short line", allowed);
    }
}

/// A text as long as an error message can bear.
pub(super) fn shortened(text: &str) -> String {
    if text.chars().count() <= NAME_CHARS_MAX {
        return text.to_owned();
    }
    text.chars().take(NAME_CHARS_MAX).chain(['…']).collect()
}

/// The times of a scenario: seconds as written, nanoseconds as recorded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    pub(super) duration_s: f64,
    pub(super) step_ns: u64,
}

impl Clock {
    /// A time in the run, ns.
    pub(super) fn at(self, at_s: f64, path: &KeyPath, report: &mut Report) -> Option<u64> {
        if at_s < 0.0 {
            report.at(path, format!("{at_s} s is before the start"), "0 or later");
            return None;
        }
        if at_s > self.duration_s {
            let end = self.duration_s;
            report.at(
                path,
                format!("{at_s} s is after the end"),
                format!("[0, {end}] (duration_s = {end})"),
            );
            return None;
        }
        nanoseconds(at_s)
    }

    /// Time at which an item due at `at_ns` is applied, ns: the first step that does not start
    /// before.
    pub(super) fn applied_ns(self, at_ns: u64) -> u64 {
        at_ns.div_ceil(self.step_ns).saturating_mul(self.step_ns)
    }

    /// An end after a begin, ns; nothing when no end is given.
    pub(super) fn until(
        self,
        at_ns: u64,
        until_s: Option<f64>,
        path: &KeyPath,
        report: &mut Report,
    ) -> Option<u64> {
        let until_ns = self.at(until_s?, path, report)?;
        if until_ns <= at_ns {
            report.at(path, "ends before it begins", format!("later than {} s", seconds(at_ns)));
            return None;
        }
        Some(until_ns)
    }
}

/// Seconds as nanoseconds, rounded to the nearest; `None` for what a `u64` cannot hold.
pub(super) fn nanoseconds(seconds: f64) -> Option<u64> {
    let ns = (seconds * 1e9).round();
    // Every whole f64 in this interval is a u64 of the same value.
    (0.0..1.8e19).contains(&ns).then_some(ns as u64)
}

/// Nanoseconds as seconds, for messages.
pub(super) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Names that are taken, and since when.
#[derive(Debug, Default)]
pub(super) struct Names {
    names: BTreeMap<String, Stay>,
    /// Names that are in the report as invalid: references to them are not wrong a second time.
    invalid: BTreeSet<String>,
    /// Prefixes of the names in traces that could not be read, which is in the report as well.
    unread_prefixes: BTreeSet<String>,
}

/// Time interval of a node's presence.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stay {
    pub(super) since_ns: u64,
    until_ns: Option<u64>,
}

impl Names {
    /// Reserves a name; a second time is an error.
    pub(super) fn add(
        &mut self,
        name: &str,
        since_ns: u64,
        path: &KeyPath,
        report: &mut Report,
    ) -> bool {
        if self.names.contains_key(name) {
            report.at(path, format!("{name:?} is taken"), "each name once");
            return false;
        }
        self.names.insert(name.to_owned(), Stay { since_ns, until_ns: None });
        true
    }

    /// Notes a name that is in the report as invalid.
    pub(super) fn note_invalid(&mut self, name: &str) {
        self.invalid.insert(name.to_owned());
    }

    /// Notes that names with a prefix are those of a trace that is in the report as not readable.
    pub(super) fn note_unread(&mut self, prefix: &str) {
        self.unread_prefixes.insert(prefix.to_owned());
    }

    /// True for a name whose absence follows from another error.
    pub(super) fn is_noted(&self, name: &str) -> bool {
        // Where all names are invalid, references to what they should be are no second error.
        self.invalid.contains(name)
            || (self.names.is_empty() && !self.invalid.is_empty())
            || self.unread_prefixes.iter().any(|prefix| name.starts_with(prefix))
    }

    /// Ends the presence of a name.
    pub(super) fn leaves(&mut self, name: &str, until_ns: u64) {
        if let Some(stay) = self.names.get_mut(name) {
            stay.until_ns = Some(until_ns);
        }
    }

    /// Presence of a node, if it exists.
    pub(super) fn get(&self, name: &str) -> Option<Stay> {
        self.names.get(name).copied()
    }

    /// Presence of a node; an unknown name is an error.
    pub(super) fn find(&self, name: &str, path: &KeyPath, report: &mut Report) -> Option<Stay> {
        let entry = self.get(name);
        if entry.is_none() && !self.is_noted(name) {
            let allowed = suggest::one_of(name, self.names.keys().map(String::as_str));
            report.at(path, format!("unknown node {:?}", shortened(name)), allowed);
        }
        entry
    }

    /// Accepts a node that is there at a time.
    pub(super) fn present(
        &self,
        name: &str,
        at_ns: u64,
        path: &KeyPath,
        report: &mut Report,
    ) -> bool {
        let Some(stay) = self.find(name, path, report) else {
            return false;
        };
        let at = seconds(at_ns);
        if at_ns < stay.since_ns {
            let joins = seconds(stay.since_ns);
            report.at(
                path,
                format!("{name:?} joins at {joins} s, after {at} s"),
                "a node that is there",
            );
        } else if let Some(until_ns) = stay.until_ns.filter(|until_ns| at_ns >= *until_ns) {
            let leaves = seconds(until_ns);
            report.at(
                path,
                format!("{name:?} leaves at {leaves} s, not after {at} s"),
                "a node that is there",
            );
        } else {
            return true;
        }
        false
    }
}
