//! Readings of the last hour that nobody was told yet, in memory that does not grow.

use std::collections::{BTreeMap, VecDeque};

/// Names that readings can have, in the order of a row.
pub const NAMES: [&str; 16] = [
    "mesh.tx_mbps",
    "mesh.rx_mbps",
    "mesh.signal_dbm",
    "mesh.plink_estab",
    "mesh.neighbor_count",
    "mesh.tx_retries",
    "mesh.tx_failed",
    "mesh.tx_bitrate_mbps",
    "mesh.best_tq",
    "mesh.best_throughput_kbps",
    "gps.fix_mode",
    "gps.sats_used",
    "sys.load1",
    "sys.mem_available_bytes",
    "sys.temp_c",
    "sys.uptime_s",
];
/// How long a reading is kept, ms.
pub const KEEP_MS: u64 = 3_600_000;

/// Readings of a moment by name; what is not there was not read.
pub type Readings = BTreeMap<&'static str, f64>;

/// Readings of a moment.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    ts_ms: u64,
    /// In the order of [`NAMES`]; NaN for what was not read.
    values: [f64; NAMES.len()],
}

/// A reading.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Told {
    /// When, ms since the Unix epoch.
    pub ts_ms: u64,
    /// What.
    pub metric: &'static str,
    /// How much.
    pub value: f64,
}

/// Readings that nobody was told yet, the oldest first.
#[derive(Debug)]
pub struct Ring {
    rows: VecDeque<Row>,
    most: usize,
}

impl Ring {
    /// One for readings every `period_ms`. All its memory is taken now: 136 bytes a moment.
    #[must_use]
    pub fn new(period_ms: u64) -> Self {
        let most = usize::try_from(KEEP_MS / period_ms.max(500))
            .unwrap_or(1)
            .max(1);
        Self {
            rows: VecDeque::with_capacity(most),
            most,
        }
    }

    /// Moments that are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether everything was told.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Keeps readings of a moment; the oldest go when there are too many, or when they are older
    /// than an hour. Names that are not in [`NAMES`] and values that are no numbers are left out.
    pub fn push(&mut self, ts_ms: u64, readings: &Readings) {
        let old = |row: &Row| row.ts_ms + KEEP_MS < ts_ms;
        while self.rows.front().is_some_and(old) || self.rows.len() >= self.most {
            self.rows.pop_front();
        }
        let value = |name: &&str| {
            readings
                .get(*name)
                .copied()
                .filter(|value| value.is_finite())
        };
        let values = std::array::from_fn(|at| value(&NAMES[at]).unwrap_or(f64::NAN));
        self.rows.push_back(Row { ts_ms, values });
    }

    /// The moment kept last was told.
    pub fn told_last(&mut self) {
        self.rows.pop_back();
    }

    /// The oldest readings, at most `most` of whole moments, and of how many moments they are.
    #[must_use]
    pub fn oldest(&self, most: usize) -> (Vec<Told>, usize) {
        let mut told = Vec::new();
        let mut moments = 0;
        for row in &self.rows {
            let known = |at: &usize| !row.values[*at].is_nan();
            let many = (0..NAMES.len()).filter(known).count();
            if told.len() + many > most {
                break;
            }
            told.extend((0..NAMES.len()).filter(known).map(|at| Told {
                ts_ms: row.ts_ms,
                metric: NAMES[at],
                value: row.values[at],
            }));
            moments += 1;
        }
        (told, moments)
    }

    /// The oldest moments were told.
    pub fn told_oldest(&mut self, moments: usize) {
        self.rows.drain(..moments.min(self.rows.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(value: f64) -> Readings {
        Readings::from([
            ("mesh.tx_mbps", value),
            ("sys.load1", 1.0),
            ("sys.temp_c", f64::NAN),
            ("foreign", 3.0),
        ])
    }

    #[test]
    fn an_hour_is_kept_with_its_times_and_not_more() {
        let mut ring = Ring::new(5_000);
        let capacity = ring.rows.capacity();
        for beat in 0..10_000u64 {
            ring.push(beat * 5_000, &readings(beat as f64));
        }
        assert_eq!((ring.len(), ring.rows.capacity()), (720, capacity));
        let (told, moments) = ring.oldest(512);
        assert_eq!((told.len(), moments), (512, 256));
        let first = Told {
            ts_ms: 9_280 * 5_000,
            metric: "mesh.tx_mbps",
            value: 9_280.0,
        };
        assert_eq!(told[0], first);
        ring.told_oldest(moments);
        assert_eq!(ring.oldest(2).0[0].ts_ms, 9_536 * 5_000);
        ring.told_last();
        assert_eq!(ring.len(), 720 - 256 - 1);
    }

    #[test]
    fn what_is_older_than_an_hour_goes_however_few_there_are() {
        let mut ring = Ring::new(5_000);
        ring.push(0, &readings(1.0));
        ring.push(KEEP_MS + 1, &readings(2.0));
        assert_eq!(ring.oldest(100).1, 1);
        ring.told_oldest(7);
        assert!(ring.is_empty());
    }
}
