//! A series of levels in bounded memory: all values of a short one, the extremes of buckets of a
//! long one.

use std::collections::BTreeMap;

use serde::Serialize;

/// Maximum number of buckets of a series; twice the pixels of a picture.
const BUCKETS_MAX: usize = 4096;

/// A bucket of a series.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bucket {
    /// Time of its first value, s.
    pub at_s: f64,
    /// Minimum value in it, dB or dBm.
    pub min_db: f64,
    /// Greatest value in it, dB or dBm.
    pub max_db: f64,
    /// Values in it.
    pub count: u32,
}

/// Levels over time, in dB or dBm.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    buckets: Vec<Bucket>,
    /// Values that share a bucket.
    width: u32,
    /// Number of values by level, tenths of a dB.
    tenths: BTreeMap<i16, u32>,
    count: u64,
}

impl Series {
    /// Adds a value. Times never fall.
    pub fn push(&mut self, at_s: f64, level_db: f64) {
        let tenth = (level_db * 10.0).round().clamp(-32_000.0, 32_000.0) as i16;
        *self.tenths.entry(tenth).or_default() += 1;
        self.count += 1;
        self.width = self.width.max(1);
        match self.buckets.last_mut().filter(|last| last.count < self.width) {
            Some(last) => {
                last.min_db = last.min_db.min(level_db);
                last.max_db = last.max_db.max(level_db);
                last.count += 1;
            }
            None => {
                self.buckets.push(Bucket { at_s, min_db: level_db, max_db: level_db, count: 1 })
            }
        }
        if self.buckets.len() > BUCKETS_MAX {
            self.halve();
        }
    }

    /// Merges neighbouring buckets.
    fn halve(&mut self) {
        let pairs = self.buckets.chunks(2);
        self.buckets = pairs
            .map(|pair| Bucket {
                at_s: pair[0].at_s,
                min_db: pair.iter().map(|one| one.min_db).fold(f64::INFINITY, f64::min),
                max_db: pair.iter().map(|one| one.max_db).fold(f64::NEG_INFINITY, f64::max),
                count: pair.iter().map(|one| one.count).sum(),
            })
            .collect();
        self.width *= 2;
    }

    /// Buckets in the order of time.
    #[must_use]
    pub fn buckets(&self) -> &[Bucket] {
        &self.buckets
    }

    /// Values in it.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The value that half of all do not exceed, to a tenth; `None` without any.
    #[must_use]
    pub fn median_db(&self) -> Option<f64> {
        let mut below = 0;
        for (tenth, times) in &self.tenths {
            below += u64::from(*times);
            if below * 2 >= self.count {
                return Some(f64::from(*tenth) / 10.0);
            }
        }
        None
    }

    /// Bucket with the least value; its time is that of the first value in it.
    #[must_use]
    pub fn minimum(&self) -> Option<Bucket> {
        let by_level = |a: &&Bucket, b: &&Bucket| a.min_db.total_cmp(&b.min_db);
        self.buckets.iter().min_by(by_level).copied()
    }

    /// `true` if a level between two times, s, is more than `depth_db` below the median.
    #[must_use]
    pub fn faded(&self, depth_db: f64, from_s: f64, to_s: f64) -> bool {
        let Some(median_db) = self.median_db() else {
            return false;
        };
        let within = |bucket: &&Bucket| (from_s..to_s).contains(&bucket.at_s);
        let mut within = self.buckets.iter().filter(within);
        within.any(|bucket| median_db - bucket.min_db > depth_db)
    }
}
