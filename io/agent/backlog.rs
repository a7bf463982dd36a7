//! Unreported readings of the last hour, in memory of bounded size.
//!
//! Their times are those since boot: the wall clock of a node without a battery is set after some of them.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use groundwave_host::i2c::READINGS_MAX;
use groundwave_sensor::NAMESPACE;

/// Names that readings can have, in the order of a row; those of sensors come after them.
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
/// Retention of a reading, ms.
pub const KEEP_MS: u64 = 3_600_000;

/// Readings of a moment by name; a name that was not read is absent.
pub type Readings = BTreeMap<Cow<'static, str>, f64>;

/// Readings of a moment.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    /// Time since boot, ms.
    boot_ms: u64,
    /// In the order of [`NAMES`]; NaN for what was not read.
    values: [f64; NAMES.len()],
    /// In the order of [`Backlog::sensed`], as far as that went then; NaN for what was not read.
    sensed: Vec<f64>,
}

/// Reading to report.
#[derive(Debug, Clone, PartialEq)]
pub struct UnreportedReading {
    /// Time since boot, ms.
    pub boot_ms: u64,
    /// Name of the metric.
    pub metric: Cow<'static, str>,
    /// Value, in the unit of the metric.
    pub value: f64,
}

/// Unreported readings, the oldest first.
#[derive(Debug)]
pub struct Backlog {
    rows: VecDeque<Row>,
    /// Names of sensors' readings, in the order in which they first came.
    sensed: Vec<String>,
    most: usize,
}

impl Backlog {
    /// One for readings every `period_ms`. All its memory is taken now, 160 bytes a moment;
    /// sensors take 8 bytes more for each of their readings.
    #[must_use]
    pub fn new(period_ms: u64) -> Self {
        let most = usize::try_from(KEEP_MS / period_ms.max(500)).unwrap_or(1).max(1);
        Self { rows: VecDeque::with_capacity(most), sensed: Vec::new(), most }
    }

    /// Moments that are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// `true` if every reading was reported.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Keeps readings of a moment; the oldest go when there are too many, or when they are older
    /// than an hour. Names that are neither in [`NAMES`] nor a sensor's, and values that are no
    /// numbers, are left out.
    pub fn push(&mut self, boot_ms: u64, readings: &Readings) {
        let old = |row: &Row| row.boot_ms + KEEP_MS < boot_ms;
        while self.rows.front().is_some_and(old) || self.rows.len() >= self.most {
            self.rows.pop_front();
        }
        for name in readings.keys().filter(|name| name.starts_with(NAMESPACE)) {
            let is_present = self.sensed.iter().any(|one| *one == **name);
            if !is_present && self.sensed.len() < READINGS_MAX {
                self.sensed.push(name.to_string());
            }
        }
        let value = |name: &str| {
            let value = readings.get(name).copied();
            value.filter(|value| value.is_finite()).unwrap_or(f64::NAN)
        };
        self.rows.push_back(Row {
            boot_ms,
            values: std::array::from_fn(|at| value(NAMES[at])),
            sensed: self.sensed.iter().map(|name| value(name)).collect(),
        });
    }

    /// The moment kept last, ms since boot.
    #[must_use]
    pub fn last_ms(&self) -> Option<u64> {
        self.rows.back().map(|row| row.boot_ms)
    }

    /// Removes the readings of this moment: they were reported.
    pub fn remove(&mut self, boot_ms: u64) {
        if let Some(place) = self.rows.iter().rposition(|row| row.boot_ms == boot_ms) {
            self.rows.remove(place);
        }
    }

    /// The oldest readings, at most `most` of whole moments, and of how many moments they are.
    #[must_use]
    pub fn oldest(&self, most: usize) -> (Vec<UnreportedReading>, usize) {
        let mut readings = Vec::new();
        let mut moments = 0;
        for row in &self.rows {
            let more = self.of_row(row);
            if readings.len() + more.len() > most {
                break;
            }
            readings.extend(more);
            moments += 1;
        }
        (readings, moments)
    }

    /// Readings of a row.
    fn of_row(&self, row: &Row) -> Vec<UnreportedReading> {
        let own = NAMES.into_iter().map(Cow::Borrowed);
        let sensed = self.sensed.iter().map(|name| Cow::Owned(name.clone()));
        let values = row.values.iter().chain(&row.sensed);
        let read = own.chain(sensed).zip(values);
        read.filter(|(_, value)| !value.is_nan())
            .map(|(metric, value)| UnreportedReading {
                boot_ms: row.boot_ms,
                metric,
                value: *value,
            })
            .collect()
    }

    /// Removes the oldest moments: they were reported.
    pub fn remove_oldest(&mut self, moments: usize) {
        self.rows.drain(..moments.min(self.rows.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(value: f64) -> Readings {
        Readings::from(
            [
                ("mesh.tx_mbps", value),
                ("sys.load1", 1.0),
                ("sys.temp_c", f64::NAN),
                ("foreign", 3.0),
            ]
            .map(|(name, value)| (Cow::Borrowed(name), value)),
        )
    }

    #[test]
    fn an_hour_is_kept_with_its_times_and_not_more() {
        let mut backlog = Backlog::new(5_000);
        let capacity = backlog.rows.capacity();
        for beat in 0..10_000u64 {
            backlog.push(beat * 5_000, &readings(beat as f64));
        }
        assert_eq!((backlog.len(), backlog.rows.capacity()), (720, capacity));
        let (oldest, moments) = backlog.oldest(512);
        assert_eq!((oldest.len(), moments), (512, 256));
        let first = UnreportedReading {
            boot_ms: 9_280 * 5_000,
            metric: Cow::Borrowed("mesh.tx_mbps"),
            value: 9_280.0,
        };
        assert_eq!(oldest[0], first);
        backlog.remove_oldest(moments);
        assert_eq!(backlog.oldest(2).0[0].boot_ms, 9_536 * 5_000);
        let last_ms = backlog.last_ms().unwrap();
        backlog.push(last_ms + 1, &readings(0.0));
        backlog.remove(last_ms);
        assert_eq!(backlog.last_ms(), Some(last_ms + 1));
        backlog.remove(last_ms + 1);
        assert_eq!(backlog.len(), 720 - 256 - 1);
    }

    #[test]
    fn what_sensors_say_is_kept_by_their_names() {
        let mut backlog = Backlog::new(5_000);
        backlog.push(0, &readings(1.0));
        let mut with = readings(2.0);
        with.insert(Cow::Owned("i2c.lm75.temperature_c".to_owned()), 20.5);
        backlog.push(5_000, &with);
        backlog.push(10_000, &readings(3.0));
        let (oldest, moments) = backlog.oldest(512);
        assert_eq!((oldest.len(), moments), (7, 3));
        let sensed: Vec<&UnreportedReading> =
            oldest.iter().filter(|one| one.value == 20.5).collect();
        assert_eq!((sensed[0].boot_ms, sensed.len()), (5_000, 1));
        assert_eq!(sensed[0].metric, "i2c.lm75.temperature_c");
        for number in 0..100 {
            with.insert(Cow::Owned(format!("i2c.t{number}.a")), 1.0);
        }
        backlog.push(15_000, &with);
        assert_eq!(backlog.sensed.len(), READINGS_MAX);
    }

    #[test]
    fn what_is_older_than_an_hour_goes_however_few_there_are() {
        let mut backlog = Backlog::new(5_000);
        backlog.push(0, &readings(1.0));
        backlog.push(KEEP_MS + 1, &readings(2.0));
        assert_eq!(backlog.oldest(100).1, 1);
        backlog.remove_oldest(7);
        assert!(backlog.is_empty());
    }
}
