//! Timelines: impairments over time, to be played.
//!
//! A timeline is a TOML file, a CSV table, or a packet-delivery trace; [`super::timeline_file`] reads
//! each by its content. A step is the complete
//! state of a direction from its time on; between two steps nothing changes.

use std::collections::BTreeSet;

use groundwave_impair::{Direction, Impairment, Rate, Refusal};
use groundwave_toml_document::{TomlDocument, TomlErrors};
use serde::Deserialize;

use super::impairment_spec::{ImpairmentSpec, KNOBS, ParseError};
use super::{mahimahi, presets, quantity, rate_table, trace_rates};

/// Steps in one timeline: a day in steps of 100 ms, for both directions.
pub const STEPS_MAX: usize = 2_000_000;

/// Longest timeline, ns: a hundred days.
pub const LENGTH_NS_MAX: u64 = 8_640_000_000_000_000;

/// Windows of a trace are at least this long: a shaper's bucket holds 16 ms.
pub const WINDOW_NS_MIN: u64 = 10_000_000;

/// One change of one direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Time since the start, ns.
    pub at_ns: u64,
    /// Direction.
    pub direction: Direction,
    /// The state from then on.
    pub impairment: Impairment,
}

/// Impairments of directions over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// One line about it; may be empty.
    pub title: String,
    /// The steps by time, at most one for a time and direction.
    pub steps: Vec<Step>,
    /// Length, ns: at or after the last step. A repeated timeline starts again there.
    pub length_ns: u64,
}

/// Settings of a reader.
#[derive(Debug, Clone, PartialEq)]
pub struct TimelineOptions {
    /// Directions of steps without one.
    pub directions: Vec<Direction>,
    /// Window over which a packet-delivery trace is averaged, ns.
    pub window_ns: u64,
    /// Playback speed of a packet-delivery trace, times real time: its shaper depends on the time
    /// between two steps.
    pub speed: f64,
    /// Impairment of a packet-delivery trace besides its rate.
    pub base: ImpairmentSpec,
}

/// An invalid timeline.
#[derive(Debug, thiserror::Error)]
pub enum TimelineError {
    /// An unreadable or invalid TOML file.
    #[error(transparent)]
    File(#[from] TomlErrors),
    /// An invalid row of a table.
    #[error("{file}:{line}: {what}")]
    Row {
        /// File name.
        file: String,
        /// From 1.
        line: u64,
        /// Value found and values allowed.
        what: String,
    },
    /// An impairment beside a timeline, or one beside a trace that the trace gives.
    #[error("invalid {option}: found beside {file}, allowed {allowed}")]
    Beside {
        /// Option, `--delay`.
        option: String,
        /// File name.
        file: String,
        /// Use of the option.
        allowed: &'static str,
    },
    /// An invalid packet-delivery trace.
    #[error("{file}: {cause}")]
    Trace {
        /// File name.
        file: String,
        /// The reason.
        cause: mahimahi::TraceError,
    },
    /// An invalid table of rates.
    #[error("{file}: {cause}")]
    RateTable {
        /// File name.
        file: String,
        /// The reason.
        cause: rate_table::RateTableError,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    title: String,
    /// Length of the timeline; the last step is held until then.
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
    set: ImpairmentSpec,
}

/// Reads a TOML timeline.
///
/// # Errors
/// All invalid keys and values.
pub fn from_toml(
    text: &str,
    name: &str,
    options: &TimelineOptions,
) -> Result<Timeline, TimelineError> {
    let (file, mut document) = TomlDocument::read::<File>(name, text)?;
    let mut steps = Vec::new();
    if file.step.is_empty() {
        document.invalid("step", "no step", "[[step]] with at, and set or preset");
    }
    for (index, step) in file.step.iter().enumerate() {
        let at = quantity::duration_ns(&step.at).and_then(bounded);
        let directions = directions_of(step.direction.as_deref(), options);
        match (at, directions) {
            (Err(what), _) => document.invalid(&format!("step[{index}].at"), what, ""),
            (_, Err(what)) => document.invalid(&format!("step[{index}].direction"), what, ""),
            (Ok(at_ns), Ok(directions)) => {
                for direction in directions {
                    match resolve(step.preset.as_deref(), &step.set, direction) {
                        Ok(impairment) => steps.push(Step { at_ns, direction, impairment }),
                        Err((key, what)) => {
                            document.invalid(&format!("step[{index}].{key}"), what, "");
                            break;
                        }
                    }
                }
            }
        }
    }
    let length = file.length.as_deref().map(quantity::duration_ns).transpose();
    let length = length.and_then(|length| length.map(bounded).transpose());
    let length_ns = length.unwrap_or_else(|what| {
        document.invalid("length", what, "");
        None
    });
    document.finish()?;
    let line = Timeline::of(file.title, steps, length_ns);
    line.map_err(|what| TimelineError::Row { file: name.to_owned(), line: 1, what })
}

/// Reads a packet-delivery trace: one rate a window, as [`trace_rates::steps`] shapes it.
///
/// # Errors
/// The first invalid line.
pub fn from_trace(
    text: &str,
    name: &str,
    options: &TimelineOptions,
) -> Result<Timeline, TimelineError> {
    let window_ms = options.window_ns.max(WINDOW_NS_MIN) / 1_000_000;
    let rates = mahimahi::rates(text, window_ms)
        .map_err(|cause| TimelineError::Trace { file: name.to_owned(), cause })?;
    of_rates(trace_rates::steps(&rates, options.speed), rates.length_ms, name, options)
}

/// Reads a table of seconds and Mbit/s.
///
/// # Errors
/// The first invalid row.
pub fn from_rate_table(
    text: &str,
    name: &str,
    options: &TimelineOptions,
) -> Result<Timeline, TimelineError> {
    let (rates, length_ms) = rate_table::steps(text)
        .map_err(|cause| TimelineError::RateTable { file: name.to_owned(), cause })?;
    of_rates(rates, length_ms, name, options)
}

/// Rates from their times on, ms, with the other impairments of the options.
fn of_rates(
    rates: Vec<(u64, Rate)>,
    length_ms: u64,
    name: &str,
    options: &TimelineOptions,
) -> Result<Timeline, TimelineError> {
    let bad = |what: String| TimelineError::Row { file: name.to_owned(), line: 1, what };
    let base = options.base.impairment().map_err(|error| bad(error.to_string()))?;
    let steps = rates.into_iter().flat_map(|(at_ms, rate)| {
        let impairment = Impairment { rate: Some(rate), ..base.clone() };
        let at_ns = at_ms * 1_000_000;
        options.directions.iter().map(move |&direction| Step {
            at_ns,
            direction,
            impairment: impairment.clone(),
        })
    });
    let length_ns = length_ms * 1_000_000;
    Timeline::of(String::new(), steps.collect(), Some(length_ns)).map_err(bad)
}

/// The directions a step names, or those of the options.
pub(super) fn directions_of(
    name: Option<&str>,
    options: &TimelineOptions,
) -> Result<Vec<Direction>, String> {
    match name {
        None | Some("") => Ok(options.directions.clone()),
        Some("both") => Ok(Direction::BOTH.to_vec()),
        Some(name) => name
            .parse()
            .map(|direction| vec![direction])
            .map_err(|_| format!("found {name:?}, allowed both, port1 to {}", Direction::LAST)),
    }
}

/// The impairment of a preset with `spec` over it, for a direction.
///
/// # Errors
/// The invalid key, and the reason.
pub fn resolve(
    preset: Option<&str>,
    spec: &ImpairmentSpec,
    direction: Direction,
) -> Result<Impairment, (String, String)> {
    let below = match preset {
        None => ImpairmentSpec::default(),
        Some(id) => preset_spec(id, direction).map_err(|what| ("preset".to_owned(), what))?,
    };
    let whole = below.with(spec);
    let fault = |error: ParseError| (format!("set.{}", error.key), error.reason);
    let impairment = whole.impairment().map_err(fault)?;
    impairment.validate().map_err(|refusal| place(&whole, &refusal))?;
    Ok(impairment)
}

/// Key and reason of a value that is not allowed: the knob whose text gave it.
fn place(spec: &ImpairmentSpec, refusal: &Refusal) -> (String, String) {
    if let Refusal::Invalid { key, found, allowed } = refusal
        && let Some(knob) = knob_of(spec, key)
    {
        return (format!("set.{knob}"), format!("found {found}, allowed {allowed}"));
    }
    ("set".to_owned(), refusal.to_string())
}

/// The knob whose text gave the value at a key of an impairment.
fn knob_of(spec: &ImpairmentSpec, key: &str) -> Option<&'static str> {
    let (field, rest) = key.split_once('.').unwrap_or((key, ""));
    let texts = KNOBS.iter().zip(spec.texts());
    let of_field = texts.filter(|(knob, text)| text.is_some() && knob.field.name() == field);
    let knobs: Vec<&'static str> = of_field.map(|(knob, _)| knob.key).collect();
    knobs.iter().find(|knob| rest.contains(**knob)).or(knobs.first()).copied()
}

/// The spec of a preset for a direction: ports with odd numbers carry what goes down, the others what
/// goes up, unless the name ends in `:down` or `:up`.
///
/// # Errors
/// When there is no such preset.
pub fn preset_spec(name: &str, direction: Direction) -> Result<ImpairmentSpec, String> {
    let (id, side) = name.split_once(':').unwrap_or((name, ""));
    let preset = presets::find(id)?;
    match (side, direction) {
        ("down", _) => Ok(preset.down.spec()),
        ("up", _) => Ok(preset.up.spec()),
        ("", _) if direction.index().is_multiple_of(2) => Ok(preset.down.spec()),
        ("", _) => Ok(preset.up.spec()),
        _ => Err(format!("found {name:?}, allowed {id}:down, {id}:up")),
    }
}

pub(super) fn bounded(ns: u64) -> Result<u64, String> {
    if ns <= LENGTH_NS_MAX {
        return Ok(ns);
    }
    let found = quantity::print_duration(ns);
    Err(format!("found {found}, allowed up to 100 days"))
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
            return Err(format!("found {count} steps, allowed {STEPS_MAX}"));
        }
        steps.sort_by_key(|step| (step.at_ns, step.direction));
        let twice = steps
            .windows(2)
            .find(|pair| (pair[0].at_ns, pair[0].direction) == (pair[1].at_ns, pair[1].direction));
        if let Some([step, _]) = twice {
            let at = quantity::print_duration(step.at_ns);
            return Err(format!("found two steps of {} at {at}, allowed one", step.direction));
        }
        let last_ns = steps.last().map_or(0, |step| step.at_ns);
        let length_ns = length_ns.unwrap_or(last_ns);
        if length_ns < last_ns {
            let at = quantity::print_duration(last_ns);
            return Err(format!("found the last step at {at}, allowed a length of {at} or more"));
        }
        Ok(Self { title, steps, length_ns })
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
        let directions = self.steps.iter().map(|step| step.direction);
        directions.collect::<BTreeSet<_>>().into_iter().collect()
    }
}

#[cfg(test)]
#[path = "timeline_tests.rs"]
mod tests;
