//! Log of the program: filter, colour, sampling of repeated events, rotation of a log file.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use groundwave_files::rotated::{Bounds, RotatedFile};
use groundwave_files::wall::monotonic_ns;
use groundwave_http::Failure;
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
        None => (BoxMakeWriter::new(std::io::stderr), output::has_colour(&std::io::stderr())),
        Some(path) => {
            let opened = RotatedFile::open(path, Bounds::USUAL);
            let file = opened
                .map_err(|err| Failure::Input(format!("--log-file {}: {err}", path.display())))?;
            (BoxMakeWriter::new(Mutex::new(file)), false)
        }
    };
    subscriber(filter(default_filter)?, writer, has_colour, monotonic_ns).init();
    Ok(())
}

/// Subscriber that writes the events which pass the filter and the sampler, whose periods are those of a
/// clock.
fn subscriber(
    filter: EnvFilter,
    writer: BoxMakeWriter,
    has_colour: bool,
    now_ns: impl Fn() -> u64 + Send + Sync + 'static,
) -> impl Subscriber + Send + Sync {
    let lines = tracing_subscriber::fmt::layer().with_writer(writer).with_ansi(has_colour);
    let sampler = Sampler { counts: Mutex::default(), now_ns };
    tracing_subscriber::registry().with(filter).with(sampler).with(lines)
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
struct Sampler<C> {
    counts: Mutex<BTreeMap<Place, Count>>,
    /// Clock of the periods.
    now_ns: C,
}

impl<C: Fn() -> u64> Sampler<C> {
    /// True for an event that is written, and the number of those before it that were not.
    fn admit(&self, place: Place, level: Level) -> (bool, u64) {
        let now_ns = (self.now_ns)();
        let most = match level > Level::INFO {
            true => VERBOSE_PER_S,
            false => EVENTS_PER_S,
        };
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(place).or_default();
        let mut before = 0;
        if now_ns.saturating_sub(count.since_ns) >= PERIOD_NS {
            before = count.suppressed;
            *count = Count { since_ns: now_ns, ..Count::default() };
        }
        let is_written = count.written < most;
        match is_written {
            true => count.written += 1,
            false => count.suppressed += 1,
        }
        (is_written, before)
    }
}

impl<S: Subscriber, C: Fn() -> u64 + 'static> Layer<S> for Sampler<C> {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        let about = event.metadata();
        let (Some(file), Some(line)) = (about.file(), about.line()) else {
            return true;
        };
        if about.target() == AUDIT {
            return true;
        }
        let (is_written, before) = self.admit((file, line), *about.level());
        if before > 0 {
            tracing::warn!(events = before, file, line, "events were left out of the log");
        }
        is_written
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn a_flood_of_one_event_is_bounded_and_counted() {
        let now_ns = AtomicU64::new(PERIOD_NS);
        let sampler =
            Sampler { counts: Mutex::default(), now_ns: || now_ns.load(Ordering::Relaxed) };
        let place = ("a.rs", 1);
        let flood = |level: Level| {
            let written = (0..10_000).filter(|_| sampler.admit(place, level).0);
            written.count() as u64
        };
        assert_eq!(flood(Level::DEBUG), VERBOSE_PER_S);
        // Another place is not concerned.
        assert_eq!(sampler.admit(("a.rs", 2), Level::DEBUG), (true, 0));
        now_ns.store(2 * PERIOD_NS, Ordering::Relaxed);
        let next = sampler.admit(place, Level::DEBUG);
        assert_eq!(next, (true, 10_000 - VERBOSE_PER_S));
        now_ns.store(9 * PERIOD_NS, Ordering::Relaxed);
        assert_eq!(flood(Level::ERROR), EVENTS_PER_S);
    }

    #[test]
    fn a_flood_is_bounded_in_the_log_and_audit_entries_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let file = RotatedFile::open(&path, Bounds::USUAL).unwrap();
        let now_ns = Arc::new(AtomicU64::new(PERIOD_NS));
        let clock = Arc::clone(&now_ns);
        let subscriber = subscriber(
            EnvFilter::new("debug"),
            BoxMakeWriter::new(Mutex::new(file)),
            false,
            move || clock.load(Ordering::Relaxed),
        );
        tracing::subscriber::with_default(subscriber, || {
            for number in 0..1_000 {
                if number == 900 {
                    now_ns.store(2 * PERIOD_NS, Ordering::Relaxed);
                }
                tracing::debug!(number, "one of many");
                tracing::info!(target: AUDIT, number, "an entry");
            }
        });
        let log = std::fs::read_to_string(&path).unwrap();
        let lines = |text: &str| log.lines().filter(|line| line.contains(text)).count() as u64;
        assert_eq!(lines("one of many"), 2 * VERBOSE_PER_S, "two periods");
        assert_eq!(lines("an entry"), 1_000, "audit entries are not sampled");
    }
}
