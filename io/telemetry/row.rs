//! Rows of the history.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::HistoryError;

/// Aggregate of a sample, a minute or an hour.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Time of the sample, or start of the interval, ms since the Unix epoch.
    pub ts_ms: u64,
    /// Number of samples.
    pub count: u32,
    /// Sum.
    pub sum: f64,
    /// Minimum.
    pub min: f64,
    /// Maximum.
    pub max: f64,
    /// Time and value of the last sample.
    pub last: (u64, f64),
}

impl Point {
    /// Aggregate of one sample.
    #[must_use]
    pub const fn one(ts_ms: u64, value: f64) -> Self {
        Self {
            ts_ms,
            count: 1,
            sum: value,
            min: value,
            max: value,
            last: (ts_ms, value),
        }
    }

    /// Merges another aggregate, later or earlier.
    pub fn fold(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        if other.last.0 >= self.last.0 {
            self.last = other.last;
        }
    }
}

/// Samples of a minute by metric.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Raw(BTreeMap<String, Vec<(u64, f64)>>);

impl Raw {
    /// Adds a sample, unless it is there.
    pub fn add(&mut self, name: &str, ts_ms: u64, value: f64) {
        let held = match self.0.get_mut(name) {
            Some(held) => held,
            None => self.0.entry(name.to_owned()).or_default(),
        };
        let same = |other: &(u64, f64)| other.0 == ts_ms && other.1.to_bits() == value.to_bits();
        if !held.iter().any(same) {
            held.push((ts_ms, value));
        }
    }

    pub fn points(&self, name: &str) -> impl Iterator<Item = Point> + use<'_> {
        let held = self.0.get(name).into_iter().flatten();
        held.map(|(ts_ms, value)| Point::one(*ts_ms, *value))
    }

    /// Aggregates of all samples by metric.
    pub fn folded(&self, ts_ms: u64) -> impl Iterator<Item = (&String, Point)> {
        self.0.iter().filter_map(move |(name, held)| {
            // Sums are taken in order of time, so that they do not depend on that of arrival.
            let mut held = held.clone();
            held.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            let mut points = held.iter().map(|(ts_ms, value)| Point::one(*ts_ms, *value));
            let mut all = points.next()?;
            points.for_each(|point| all.fold(&point));
            all.ts_ms = ts_ms;
            Some((name, all))
        })
    }
}

/// Aggregates of an hour or a day by metric and time.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Aggregates(BTreeMap<String, BTreeMap<u64, Point>>);

impl Aggregates {
    /// Merges an aggregate into that of `ts_ms`.
    pub fn add(&mut self, name: &str, ts_ms: u64, point: &Point) {
        let held = match self.0.get_mut(name) {
            Some(held) => held,
            None => self.0.entry(name.to_owned()).or_default(),
        };
        match held.get_mut(&ts_ms) {
            Some(other) => other.fold(point),
            None => {
                held.insert(ts_ms, Point { ts_ms, ..*point });
            }
        }
    }

    pub fn points(&self, name: &str) -> impl Iterator<Item = Point> + use<'_> {
        self.0
            .get(name)
            .into_iter()
            .flat_map(BTreeMap::values)
            .copied()
    }

    /// Aggregates of all points by metric.
    pub fn folded(&self, ts_ms: u64) -> impl Iterator<Item = (&String, Point)> {
        self.0.iter().filter_map(move |(name, held)| {
            let mut points = held.values();
            let mut all = *points.next()?;
            points.for_each(|point| all.fold(point));
            all.ts_ms = ts_ms;
            Some((name, all))
        })
    }
}

/// Decodes a row; `None` is an empty one.
pub(super) fn read<T: DeserializeOwned + Default>(
    bytes: Option<Vec<u8>>,
) -> Result<T, HistoryError> {
    let Some(bytes) = bytes else {
        return Ok(T::default());
    };
    let damaged = |cause: String| HistoryError::new(format!("a row is damaged: {cause}"));
    rmp_serde::from_slice(&bytes).map_err(|err| damaged(err.to_string()))
}

/// Encodes a row.
pub(super) fn write<T: Serialize>(row: &T) -> Vec<u8> {
    rmp_serde::to_vec(row).expect("a row is plain data")
}
