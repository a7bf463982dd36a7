//! Rows of the history.

use std::collections::BTreeMap;
use std::io::Read;

use groundwave_files::short_form;
use groundwave_values::decimal::{read_integer, read_number, write_integer, write_number};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use zstd::stream::read::Decoder;

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
        Self { ts_ms, count: 1, sum: value, min: value, max: value, last: (ts_ms, value) }
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

fn same(one: &(u64, f64), other: &(u64, f64)) -> bool {
    one.0 == other.0 && one.1.to_bits() == other.1.to_bits()
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
        let sample = (ts_ms, value);
        if !held.iter().any(|other| same(&sample, other)) {
            held.push(sample);
        }
    }

    /// True with this sample.
    pub fn has(&self, name: &str, ts_ms: u64, value: f64) -> bool {
        let mut samples = self.0.get(name).into_iter().flatten();
        samples.any(|other| same(&(ts_ms, value), other))
    }

    /// True without a sample.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes the samples that another row has.
    pub fn remove_all(&mut self, other: &Self) {
        for (name, samples) in &mut self.0 {
            let known = other.0.get(name).map_or(&[][..], Vec::as_slice);
            samples.retain(|sample| !known.iter().any(|other| same(sample, other)));
        }
        self.0.retain(|_, samples| !samples.is_empty());
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
        self.0.get(name).into_iter().flat_map(BTreeMap::values).copied()
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

/// First bytes of a compressed row; rows of earlier versions are msgpack, which begins otherwise.
const COMPRESSED: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// zstd level.
const LEVEL: i32 = 3;
/// Longest row, bytes: an hour of 256 metrics with 4,096 samples a minute is shorter.
const ROW_BYTES_MAX: u64 = 256 << 20;

/// A row of the history.
pub(super) trait Row: Serialize + DeserializeOwned + Default {
    /// Form that is compressed.
    fn shorten(&self) -> Vec<u8>;
    /// The row of such a form; `None` if it is malformed.
    fn lengthen(short: &[u8]) -> Option<Self>;
}

/// Metrics with samples at the same times: names, times, and for each name its values in that order.
type SameTimes<S, B> = (Vec<S>, B, B);

impl Row for Raw {
    fn shorten(&self) -> Vec<u8> {
        let mut groups: BTreeMap<Vec<u64>, (Vec<&str>, Vec<u8>)> = BTreeMap::new();
        for (name, samples) in &self.0 {
            let times = samples.iter().map(|(ts_ms, _)| *ts_ms).collect();
            let (names, values) = groups.entry(times).or_default();
            names.push(name);
            samples.iter().for_each(|(_, value)| write_number(*value, values));
        }
        let groups: Vec<SameTimes<&str, ByteBuf>> = groups
            .into_iter()
            .map(|(times, (names, values))| {
                let mut packed = Vec::new();
                let mut last = 0u64;
                for ts_ms in times {
                    let step = ts_ms.wrapping_sub(last) as i64;
                    write_integer(((step << 1) ^ (step >> 63)) as u64, &mut packed);
                    last = ts_ms;
                }
                (names, ByteBuf::from(packed), ByteBuf::from(values))
            })
            .collect();
        rmp_serde::to_vec(&groups).expect("a row is plain data")
    }

    fn lengthen(short: &[u8]) -> Option<Self> {
        let groups: Vec<SameTimes<String, ByteBuf>> = rmp_serde::from_slice(short).ok()?;
        let mut row = Self::default();
        for (names, packed, values) in groups {
            let (mut packed, mut values) = (packed.as_slice(), values.as_slice());
            let (mut times, mut last) = (Vec::new(), 0u64);
            while !packed.is_empty() {
                let zigzag = read_integer(&mut packed)?;
                let step = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
                last = last.wrapping_add(step as u64);
                times.push(last);
            }
            for name in names {
                let samples = times.iter().map(|ts_ms| Some((*ts_ms, read_number(&mut values)?)));
                row.0.insert(name, samples.collect::<Option<_>>()?);
            }
        }
        Some(row)
    }
}

impl Row for Aggregates {
    fn shorten(&self) -> Vec<u8> {
        let row = rmp_serde::to_vec(self).expect("a row is plain data");
        short_form::shorten(&row).expect("msgpack has a short form")
    }

    fn lengthen(short: &[u8]) -> Option<Self> {
        let row = short_form::lengthen(short, ROW_BYTES_MAX as usize)?;
        rmp_serde::from_slice(&row).ok()
    }
}

fn damaged(cause: &str) -> HistoryError {
    HistoryError::new(format!("a row is damaged: {cause}"))
}

/// Decodes a row; `None` is an empty one.
pub(super) fn read<T: Row>(bytes: Option<&[u8]>) -> Result<T, HistoryError> {
    let Some(bytes) = bytes else {
        return Ok(T::default());
    };
    if !bytes.starts_with(&COMPRESSED) {
        return rmp_serde::from_slice(bytes).map_err(|err| damaged(&err.to_string()));
    }
    let mut short = Vec::new();
    let unpacked =
        Decoder::new(bytes).and_then(|from| from.take(ROW_BYTES_MAX).read_to_end(&mut short));
    unpacked.map_err(|err| damaged(&err.to_string()))?;
    T::lengthen(&short).ok_or_else(|| damaged("malformed"))
}

/// Encodes a row.
pub(super) fn write<T: Row>(row: &T) -> Result<Vec<u8>, HistoryError> {
    let packed = zstd::bulk::compress(&row.shorten(), LEVEL);
    packed.map_err(|err| HistoryError::new(format!("a row is not compressed: {err}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_and_rows_of_earlier_versions_are_read() {
        let mut raw = Raw::default();
        for beat in 0..12u64 {
            for metric in 0..24u64 {
                let value = ((beat * 7919 + metric * 104_729) % 10_007) as f64 / 100.0;
                raw.add(&format!("sys.reading_{metric}"), 1_700_000_000_123 + beat * 5_003, value);
            }
        }
        raw.add("gps.hdop", 5, 1.0 / 3.0);
        raw.add("gps.hdop", 3, -0.0);
        let plain = rmp_serde::to_vec(&raw).unwrap();
        let packed = write(&raw).unwrap();
        assert!(packed.len() < plain.len() / 4, "{} of {}", packed.len(), plain.len());
        for bytes in [&plain, &packed] {
            let read = read::<Raw>(Some(bytes)).unwrap();
            assert_eq!(rmp_serde::to_vec(&read).unwrap(), plain);
        }
        let mut minutes = Aggregates::default();
        for (name, point) in raw.folded(60_000) {
            minutes.add(name, 60_000, &point);
        }
        let plain = rmp_serde::to_vec(&minutes).unwrap();
        for bytes in [plain.clone(), write(&minutes).unwrap()] {
            let read = read::<Aggregates>(Some(&bytes)).unwrap();
            assert_eq!(rmp_serde::to_vec(&read).unwrap(), plain);
        }
    }

    #[test]
    fn damaged_rows_are_errors() {
        let mut raw = Raw::default();
        raw.add("sys.load1", 1, 0.5);
        let packed = write(&raw).unwrap();
        for cut in 1..packed.len() {
            assert!(read::<Raw>(Some(&packed[..cut])).is_err(), "{cut}");
        }
        assert!(read::<Aggregates>(Some(&packed)).is_err());
    }
}
