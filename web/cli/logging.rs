//! Log of the program: filter, colour, sampling of repeated events, rotation of a log file.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use groundwave::serve::Failure;
use groundwave_io::rotated::{Bounds, RotatedFile};
use groundwave_io::wall::monotonic_ns;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use super::output;

/// Variable with the filter.
const FILTER: &str = "RUST_LOG";
/// Period of the counts of a sampler, ns.
const PERIOD_NS: u64 = 1_000_000_000;
/// Events at DEBUG and TRACE of one place in the code, a second.
const VERBOSE_PER_S: u64 = 50;
/// Events at INFO and above of one place in the code, a second.
const EVENTS_PER_S: u64 = 200;
/// Target that is never sampled: changes of impairments, and who made them.
const AUDIT: &str = "audit";

/// Starts the log: on stderr, or in a file that is rotated.
///
/// # Errors
/// For an invalid filter or a file that cannot be written.
pub fn start(default_filter: &str, file: Option<&Path>) -> Result<(), Failure> {
    let (writer, has_colour) = match file {
        None => (
            BoxMakeWriter::new(std::io::stderr),
            output::has_colour(&std::io::stderr()),
        ),
        Some(path) => {
            let opened = RotatedFile::open(path, Bounds::USUAL);
            let file = opened
                .map_err(|err| Failure::Input(format!("--log-file {}: {err}", path.display())))?;
            (BoxMakeWriter::new(Mutex::new(file)), false)
        }
    };
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(writer)
        .with_ansi(has_colour);
    tracing_subscriber::registry()
        .with(filter(default_filter)?)
        .with(Sampler::default())
        .with(lines)
        .init();
    Ok(())
}

/// The filter of the environment, else the default.
fn filter(default_filter: &str) -> Result<EnvFilter, Failure> {
    let text = match std::env::var(FILTER) {
        Ok(text) if !text.trim().is_empty() => text,
        Err(std::env::VarError::NotUnicode(_)) => {
            let what = format!("invalid {FILTER}: found no UTF-8, allowed text");
            return Err(Failure::Input(what));
        }
        _ => default_filter.to_owned(),
    };
    EnvFilter::builder().parse(&text).map_err(|err| {
        Failure::Input(format!(
            "invalid {FILTER}: found {text:?} ({err}), allowed LEVEL or TARGET=LEVEL, comma-separated"
        ))
    })
}

/// Place of an event in the code.
type Place = (&'static str, u32);

/// Events of a place in a period.
#[derive(Debug, Default, Clone, Copy)]
struct Count {
    since_ns: u64,
    written: u64,
    suppressed: u64,
}

/// Layer that writes a bounded number of events of each place in the code and counts the rest.
#[derive(Debug, Default)]
struct Sampler(Mutex<BTreeMap<Place, Count>>);

impl Sampler {
    /// True for an event that is written, and the number of those before it that were not.
    fn admit(&self, place: Place, level: Level, now_ns: u64) -> (bool, u64) {
        let most = match level > Level::INFO {
            true => VERBOSE_PER_S,
            false => EVENTS_PER_S,
        };
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(place).or_default();
        let mut before = 0;
        if now_ns.saturating_sub(count.since_ns) >= PERIOD_NS {
            before = count.suppressed;
            *count = Count {
                since_ns: now_ns,
                ..Count::default()
            };
        }
        let is_written = count.written < most;
        match is_written {
            true => count.written += 1,
            false => count.suppressed += 1,
        }
        (is_written, before)
    }
}

impl<S: Subscriber> Layer<S> for Sampler {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        let about = event.metadata();
        let (Some(file), Some(line)) = (about.file(), about.line()) else {
            return true;
        };
        if about.target() == AUDIT {
            return true;
        }
        let (is_written, before) = self.admit((file, line), *about.level(), monotonic_ns());
        if before > 0 {
            tracing::warn!(
                events = before,
                file,
                line,
                "events were left out of the log"
            );
        }
        is_written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_one_event_is_bounded_and_counted() {
        let sampler = Sampler::default();
        let place = ("a.rs", 1);
        let flood = |level: Level, now_ns: u64| {
            let written = (0..10_000).filter(|_| sampler.admit(place, level, now_ns).0);
            written.count() as u64
        };
        assert_eq!(flood(Level::DEBUG, PERIOD_NS), VERBOSE_PER_S);
        // Another place is not concerned.
        assert_eq!(
            sampler.admit(("a.rs", 2), Level::DEBUG, PERIOD_NS),
            (true, 0)
        );
        let next = sampler.admit(place, Level::DEBUG, 2 * PERIOD_NS);
        assert_eq!(next, (true, 10_000 - VERBOSE_PER_S));
        assert_eq!(flood(Level::ERROR, 9 * PERIOD_NS), EVENTS_PER_S);
    }
}
