//! Time lines: impairments that follow one another, to be played.
//!
//! A time line is a TOML file, a CSV table, or a packet-delivery trace. A step is the complete
//! state of a direction from its time on; between two steps nothing changes.

use std::path::Path;

use groundwave_systems::impair::{Direction, Impairment, Rate};
use serde::Deserialize;

use super::words::{BadWord, Words, derived_burst_bytes};
use super::{mahimahi, presets, quantity, timeline_csv};
use crate::toml_document::{self, TomlDocument, TomlErrors};

/// Steps in one time line: a day in steps of 100 ms, for both directions.
pub const STEPS_MAX: usize = 2_000_000;

/// Longest time line, ns: a hundred days.
pub const LENGTH_NS_MAX: u64 = 8_640_000_000_000_000;

/// Windows of a trace are at least this long: a shaper's bucket holds 16 ms.
pub const WINDOW_NS_MIN: u64 = 10_000_000;

/// One change of one direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// When, ns since the start.
    pub at_ns: u64,
    /// Of which direction.
    pub direction: Direction,
    /// The state from then on.
    pub impairment: Impairment,
}

/// What to play.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// One line about it; may be empty.
    pub title: String,
    /// The steps, by time; of one time and direction there is one.
    pub steps: Vec<Step>,
    /// When it ends, or begins again, ns since the start: at or after the last step.
    pub length_ns: u64,
}

/// How a file is read.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The directions of what names none.
    pub directions: Vec<Direction>,
    /// Window over which a packet-delivery trace is averaged, ns.
    pub window_ns: u64,
    /// What a packet-delivery trace does not say: everything but the rate.
    pub beside: Words,
}

/// Why there is nothing to play.
#[derive(Debug, thiserror::Error)]
pub enum BadTimeline {
    /// The file cannot be read, or says something wrong.
    #[error(transparent)]
    File(#[from] TomlErrors),
    /// A row of a table is wrong.
    #[error("{file}:{line}: {what}")]
    Row {
        /// Which file.
        file: String,
        /// From 1.
        line: u64,
        /// What is wrong, and what is allowed.
        what: String,
    },
    /// A packet-delivery trace is wrong.
    #[error("{file}: {cause}")]
    Trace {
        /// Which file.
        file: String,
        /// What is wrong.
        #[source]
        cause: mahimahi::BadTrace,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    title: String,
    /// When it ends; the last step is held until then.
    #[serde(default)]
    length: Option<String>,
    #[serde(default)]
    step: Vec<StepFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StepFile {
    at: String,
    #[serde(default)]
    direction: Option<String>,
    #[serde(default)]
    preset: Option<String>,
    #[serde(default)]
    set: Words,
}

/// Reads a file: by its ending `.toml` or `.csv`, else by its first line.
///
/// # Errors
/// What is wrong, with its line.
pub fn load(path: &Path, reading: &Reading) -> Result<Timeline, BadTimeline> {
    let text = toml_document::text(path)?;
    let name = path.display().to_string();
    let ending = path.extension().and_then(|ending| ending.to_str());
    match ending.map(str::to_lowercase).as_deref() {
        Some("toml") => from_toml(&text, &name, reading),
        Some("csv") => timeline_csv::read(&text, &name, reading),
        _ if mahimahi::looks_like_one(&text) => from_trace(&text, &name, reading),
        _ if text.trim_start().starts_with("at,") => timeline_csv::read(&text, &name, reading),
        _ => from_toml(&text, &name, reading),
    }
}

/// Reads a TOML time line.
///
/// # Errors
/// All that is wrong with it.
pub fn from_toml(text: &str, name: &str, reading: &Reading) -> Result<Timeline, BadTimeline> {
    let (file, mut document) = TomlDocument::read::<File>(name, text)?;
    let mut steps = Vec::new();
    if file.step.is_empty() {
        document.invalid(
            "step",
            "nothing to play",
            "[[step]] with at, and set or preset",
        );
    }
    for (index, step) in file.step.iter().enumerate() {
        let at = quantity::duration_ns(&step.at).and_then(bounded);
        let sides = sides(step.direction.as_deref(), reading);
        match (at, sides) {
            (Err(what), _) => document.invalid(&format!("step[{index}].at"), what, ""),
            (_, Err(what)) => document.invalid(&format!("step[{index}].direction"), what, ""),
            (Ok(at_ns), Ok(sides)) => {
                for direction in sides {
                    match meaning(step.preset.as_deref(), &step.set, direction) {
                        Ok(impairment) => steps.push(Step {
                            at_ns,
                            direction,
                            impairment,
                        }),
                        Err((key, what)) => {
                            document.invalid(&format!("step[{index}].{key}"), what, "");
                            break;
                        }
                    }
                }
            }
        }
    }
    let length = file
        .length
        .as_deref()
        .map(quantity::duration_ns)
        .transpose();
    let length = length.and_then(|length| length.map(bounded).transpose());
    let length_ns = length.unwrap_or_else(|what| {
        document.invalid("length", what, "");
        None
    });
    document.finish()?;
    let line = Timeline::of(file.title, steps, length_ns);
    line.map_err(|what| BadTimeline::Row {
        file: name.to_owned(),
        line: 1,
        what,
    })
}

/// Reads a packet-delivery trace: one rate a window.
///
/// # Errors
/// What is wrong with it.
pub fn from_trace(text: &str, name: &str, reading: &Reading) -> Result<Timeline, BadTimeline> {
    let window_ms = reading.window_ns.max(WINDOW_NS_MIN) / 1_000_000;
    let rates = mahimahi::rates(text, window_ms).map_err(|cause| BadTimeline::Trace {
        file: name.to_owned(),
        cause,
    })?;
    let bad = |what: String| BadTimeline::Row {
        file: name.to_owned(),
        line: 1,
        what,
    };
    let beside = reading.beside.impairment();
    let beside = beside.map_err(|word| bad(word.to_string()))?;
    let windows = rates.bps.iter().enumerate();
    let steps = windows.flat_map(|(window, &bps)| {
        let impairment = Impairment {
            // A window without an opportunity lets nothing pass; the shaper's slowest rate is one
            // byte a second.
            rate: Some(Rate {
                bps: bps.max(8),
                burst_bytes: derived_burst_bytes(bps),
            }),
            ..beside.clone()
        };
        let at_ns = window as u64 * rates.window_ms * 1_000_000;
        reading.directions.iter().map(move |&direction| Step {
            at_ns,
            direction,
            impairment: impairment.clone(),
        })
    });
    let length_ns = rates.length_ms * 1_000_000;
    Timeline::of(String::new(), steps.collect(), Some(length_ns)).map_err(bad)
}

/// The directions a step names, or those of the reading.
pub(super) fn sides(name: Option<&str>, reading: &Reading) -> Result<Vec<Direction>, String> {
    match name {
        None | Some("") => Ok(reading.directions.clone()),
        Some("both") => Ok(Direction::ALL.to_vec()),
        Some(name) => name
            .parse()
            .map(|direction| vec![direction])
            .map_err(|_| format!("{name:?} is no direction; allowed: port1, port2, both")),
    }
}

/// What a preset and words over it mean for a direction.
///
/// # Errors
/// The key at fault, and what is wrong with it.
pub fn meaning(
    preset: Option<&str>,
    words: &Words,
    direction: Direction,
) -> Result<Impairment, (String, String)> {
    let below = match preset {
        None => Words::default(),
        Some(id) => chosen(id, direction).map_err(|what| ("preset".to_owned(), what))?,
    };
    let whole = below.with(words);
    let fault = |word: BadWord| (format!("set.{}", word.key), word.what);
    let impairment = whole.impairment().map_err(fault)?;
    let checked = impairment.validate();
    checked.map_err(|refusal| ("set".to_owned(), refusal.to_string()))?;
    Ok(impairment)
}

/// The words of a preset for a direction: port1 carries what goes down, port2 what goes up, unless
/// the name ends in `:down` or `:up`.
///
/// # Errors
/// When there is no such preset.
pub fn chosen(name: &str, direction: Direction) -> Result<Words, String> {
    let (id, side) = name.split_once(':').unwrap_or((name, ""));
    let preset = presets::find(id)?;
    match (side, direction) {
        ("down", _) | ("", Direction::Port1) => Ok(preset.down.words()),
        ("up", _) | ("", Direction::Port2) => Ok(preset.up.words()),
        _ => Err(format!(
            "{side:?} is no side of {id}; allowed: {id}:down, {id}:up"
        )),
    }
}

pub(super) fn bounded(ns: u64) -> Result<u64, String> {
    if ns <= LENGTH_NS_MAX {
        return Ok(ns);
    }
    let found = quantity::print_duration(ns);
    Err(format!("{found} is too late; allowed: up to 100 days"))
}

impl Timeline {
    /// Puts steps in order.
    ///
    /// # Errors
    /// When there are too many, two for one direction at one time, or steps after the end.
    pub(super) fn of(
        title: String,
        mut steps: Vec<Step>,
        length_ns: Option<u64>,
    ) -> Result<Self, String> {
        if steps.len() > STEPS_MAX {
            let count = steps.len();
            return Err(format!("{count} steps are too many; allowed: {STEPS_MAX}"));
        }
        steps.sort_by_key(|step| (step.at_ns, step.direction));
        let twice = steps
            .windows(2)
            .find(|pair| (pair[0].at_ns, pair[0].direction) == (pair[1].at_ns, pair[1].direction));
        if let Some([step, _]) = twice {
            let at = quantity::print_duration(step.at_ns);
            return Err(format!(
                "two steps of {} at {at}; allowed: one",
                step.direction
            ));
        }
        let last_ns = steps.last().map_or(0, |step| step.at_ns);
        let length_ns = length_ns.unwrap_or(last_ns);
        if length_ns < last_ns {
            let at = quantity::print_duration(last_ns);
            return Err(format!(
                "the last step is at {at}; allowed: a length of {at} or more"
            ));
        }
        Ok(Self {
            title,
            steps,
            length_ns,
        })
    }

    /// The state of a direction at a time: that of its last step at or before it.
    #[must_use]
    pub fn state(&self, direction: Direction, at_ns: u64) -> Option<&Impairment> {
        let upto = self.steps.partition_point(|step| step.at_ns <= at_ns);
        let before = self.steps[..upto].iter().rev();
        let mut of_it = before.filter(|step| step.direction == direction);
        of_it.next().map(|step| &step.impairment)
    }

    /// The directions it changes.
    #[must_use]
    pub fn directions(&self) -> Vec<Direction> {
        let changes = |direction: &Direction| {
            let mut steps = self.steps.iter();
            steps.any(|step| step.direction == *direction)
        };
        Direction::ALL.into_iter().filter(changes).collect()
    }
}

#[cfg(test)]
#[path = "timeline_tests.rs"]
mod tests;
