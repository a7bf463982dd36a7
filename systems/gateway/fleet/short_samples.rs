//! Samples of a minute in the store: runs of samples of one time and consecutive metrics.
//!
//! ```text
//! ms within the minute | index of the first metric | number of samples | their values
//! ```
//!
//! All are variable-length integers, the values numbers in their short form
//! ([`groundwave_values::decimal`]): a heartbeat with 24 readings adds 80 bytes instead of 288.

use std::sync::Arc;

use groundwave_values::decimal::{read_integer, read_number, write_integer, write_number};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::sample_buffer::{ALL_NAMES_MAX, MINUTE_SAMPLES_MAX, SampleBuffer, SampleMinute};

/// Milliseconds of a minute.
const MINUTE_MS: u64 = 60_000;

#[derive(Serialize, Deserialize)]
struct Minute {
    minute: u64,
    #[serde(with = "serde_bytes")]
    runs: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
struct Buffer {
    names: Vec<String>,
    current: Minute,
    previous: Minute,
    dropped: u64,
}

fn short(minute: &SampleMinute) -> Minute {
    let samples: Vec<_> = minute.samples().collect();
    let follows = |a: &(usize, u64, f64), b: &(usize, u64, f64)| b.0 == a.0 + 1 && b.1 == a.1;
    let mut runs = Vec::new();
    for run in samples.chunk_by(follows) {
        let (first, ts_ms, _) = run[0];
        for part in [ts_ms % MINUTE_MS, first as u64, run.len() as u64] {
            write_integer(part, &mut runs);
        }
        for (.., value) in run {
            write_number(*value, &mut runs);
        }
    }
    Minute { minute: minute.minute, runs }
}

/// `None` if it is malformed.
fn whole(short: &Minute) -> Option<SampleMinute> {
    let mut minute = SampleMinute::of(short.minute);
    let mut rest = short.runs.as_slice();
    while !rest.is_empty() {
        let within_ms = read_integer(&mut rest)?;
        let first = usize::try_from(read_integer(&mut rest)?).ok()?;
        let count = usize::try_from(read_integer(&mut rest)?).ok()?;
        let fits = within_ms < MINUTE_MS && first < ALL_NAMES_MAX && count <= ALL_NAMES_MAX;
        if !fits || minute.len() + count > MINUTE_SAMPLES_MAX {
            return None;
        }
        for index in first..first + count {
            minute.push(index, within_ms, read_number(&mut rest)?);
        }
    }
    Some(minute)
}

pub(super) fn serialize<S: Serializer>(
    buffer: &Arc<SampleBuffer>,
    out: S,
) -> Result<S::Ok, S::Error> {
    let short_buffer = Buffer {
        names: buffer.names.clone(),
        current: short(&buffer.current),
        previous: short(&buffer.previous),
        dropped: buffer.dropped,
    };
    short_buffer.serialize(out)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Arc<SampleBuffer>, D::Error> {
    let buffer = Buffer::deserialize(from)?;
    let whole = |short| whole(short).ok_or_else(|| D::Error::custom("malformed samples"));
    Ok(Arc::new(SampleBuffer {
        current: whole(&buffer.current)?,
        previous: whole(&buffer.previous)?,
        names: buffer.names,
        dropped: buffer.dropped,
    }))
}
