//! Latest frame of a camera and the counts of its upstream.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

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
    /// Counts and time of the last measurement.
    measured: std::sync::Mutex<(u64, u64, u64)>,
}

impl Default for Feed {
    fn default() -> Self {
        Self {
            frames: watch::Sender::new(None),
            viewers: AtomicUsize::new(0),
            count: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            measured: std::sync::Mutex::default(),
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

impl Feed {
    /// Publishes a frame.
    pub(super) fn publish(&self, jpeg: Bytes) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(jpeg.len() as u64, Ordering::Relaxed);
        let frame = Frame { jpeg, at_ns: monotonic_ns(), wall_ns: wall_ns() };
        self.frames.send_replace(Some(Arc::new(frame)));
    }

    /// Forgets the frame and the counts: the upstream is closed.
    pub(super) fn clear(&self) {
        self.frames.send_replace(None);
        let mut measured = self.measured.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *measured = (
            monotonic_ns(),
            self.count.load(Ordering::Relaxed),
            self.bytes.load(Ordering::Relaxed),
        );
    }

    /// Rates since the last measurement that is a second old or more.
    pub(super) fn rates(&self) -> Rates {
        let now = (
            monotonic_ns(),
            self.count.load(Ordering::Relaxed),
            self.bytes.load(Ordering::Relaxed),
        );
        let mut measured = self.measured.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let took_ns = now.0.saturating_sub(measured.0);
        let took_s = took_ns as f64 / 1e9;
        let rates = Rates {
            fps: (now.1 - measured.1) as f64 / took_s.max(1e-3),
            bps: (now.2 - measured.2) as f64 * 8.0 / took_s.max(1e-3),
        };
        if took_ns >= MEASURED_NS {
            *measured = now;
        }
        rates
    }
}
