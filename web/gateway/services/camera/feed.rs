//! Latest frame of a camera and the counts of its upstream.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use groundwave_files::wall::{monotonic_ns, wall_ns};
use hyper::body::Bytes;
use tokio::sync::watch;

/// Frame of a camera.
#[derive(Debug, Clone)]
pub struct Frame {
    pub jpeg: Bytes,
    /// Monotonic time of arrival, ns.
    pub at_ns: u64,
    /// Wall clock of arrival, ns since the Unix epoch.
    pub wall_ns: u64,
}

/// Latest frame; viewers take it when they are ready and skip those in between.
#[derive(Debug)]
pub(super) struct Feed {
    pub(super) frames: watch::Sender<Option<Arc<Frame>>>,
    /// Number of viewers, snapshots included.
    pub(super) viewers: AtomicUsize,
    count: AtomicU64,
    bytes: AtomicU64,
    meter: Mutex<Meter>,
}

impl Default for Feed {
    fn default() -> Self {
        Self {
            frames: watch::Sender::new(None),
            viewers: AtomicUsize::new(0),
            count: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            meter: Mutex::default(),
        }
    }
}

/// Rates of an upstream.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Rates {
    /// Frames a second.
    pub(super) fps: f64,
    /// Bits a second.
    pub(super) bps: f64,
}

/// Shortest interval of a measurement, ns.
const MEASURED_NS: u64 = 1_000_000_000;

/// Measurement of rates over intervals of a second or more: a shorter one would take the time between
/// two frames for a rate.
#[derive(Debug, Default)]
struct Meter {
    /// Begin of the interval, ns; frames and bytes by then.
    begin: (u64, u64, u64),
    /// Rates of the interval before.
    rates: Rates,
}

impl Meter {
    /// Begins anew at a moment with these counts.
    fn reset(&mut self, now: (u64, u64, u64)) {
        *self = Self { begin: now, rates: Rates::default() };
    }

    /// Rates of the last complete interval; 0 before the first is complete.
    fn rates(&mut self, now: (u64, u64, u64)) -> Rates {
        let interval_ns = now.0.saturating_sub(self.begin.0);
        if interval_ns >= MEASURED_NS {
            let interval_s = interval_ns as f64 / 1e9;
            let per_second = |count: u64| (count as f64 / interval_s * 100.0).round() / 100.0;
            self.rates = Rates {
                fps: per_second(now.1 - self.begin.1),
                bps: per_second((now.2 - self.begin.2) * 8),
            };
            self.begin = now;
        }
        self.rates
    }
}

impl Feed {
    /// Publishes a frame.
    pub(super) fn publish(&self, jpeg: Bytes) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(jpeg.len() as u64, Ordering::Relaxed);
        let frame = Frame { jpeg, at_ns: monotonic_ns(), wall_ns: wall_ns() };
        self.frames.send_replace(Some(Arc::new(frame)));
    }

    /// Time and counts.
    fn now(&self) -> (u64, u64, u64) {
        let (count, bytes) = (&self.count, &self.bytes);
        (monotonic_ns(), count.load(Ordering::Relaxed), bytes.load(Ordering::Relaxed))
    }

    fn meter(&self) -> MutexGuard<'_, Meter> {
        self.meter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins the measurement of an upstream that opens.
    pub(super) fn open(&self) {
        self.meter().reset(self.now());
    }

    /// Removes the frame and the rates: the upstream is closed.
    pub(super) fn clear(&self) {
        self.frames.send_replace(None);
        self.meter().reset(self.now());
    }

    /// Rates of the last second or more.
    pub(super) fn rates(&self) -> Rates {
        self.meter().rates(self.now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_whole_seconds() {
        let mut meter = Meter::default();
        let at = |ms: u64, frames: u64| (ms * 1_000_000, frames, frames * 1_000);
        meter.reset(at(5_000, 10));
        // A frame 7 ms after the begin is no rate of 142 frames/s.
        assert_eq!(meter.rates(at(5_007, 11)).fps, 0.0);
        let rates = meter.rates(at(6_000, 25));
        assert_eq!((rates.fps, rates.bps), (15.0, 120_000.0));
        assert_eq!(meter.rates(at(6_007, 26)).fps, 15.0);
        assert_eq!(meter.rates(at(8_000, 55)).fps, 15.0);
        meter.reset(at(9_000, 60));
        assert_eq!(meter.rates(at(9_001, 61)).fps, 0.0);
    }
}
