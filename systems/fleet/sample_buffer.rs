//! Readings of the minute under way and of the one before: what a kill must not lose and the
//! history does not have yet.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Effect, Outbox};
use serde::{Deserialize, Serialize};

use super::metrics::NAMES_MAX;
use crate::site::NodeId;

/// Samples of one node and minute; more are dropped and counted.
pub const SAMPLES_MAX: usize = 4096;

const MINUTE_MS: u64 = 60_000;
/// A sample: which name (2), when in the minute in ms (2), how much (8).
const SAMPLE_BYTES: usize = 12;

/// The samples of one minute, packed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleMinute {
    /// Which minute, minutes since the Unix epoch.
    pub minute: u64,
    /// Samples in order of arrival: place of the name, ms of the minute, value.
    #[serde(with = "serde_bytes")]
    packed: Vec<u8>,
}

impl SampleMinute {
    /// How many samples there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.packed.len() / SAMPLE_BYTES
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.packed.is_empty()
    }

    /// Place of the name, ms since the Unix epoch, value, in order of arrival.
    pub fn samples(&self) -> impl Iterator<Item = (usize, u64, f64)> + '_ {
        self.packed.chunks_exact(SAMPLE_BYTES).map(|sample| {
            let place = u16::from_le_bytes([sample[0], sample[1]]);
            let within_ms = u16::from_le_bytes([sample[2], sample[3]]);
            let value = f64::from_le_bytes(sample[4..].try_into().expect("8 of 12"));
            let ts_ms = self.minute * MINUTE_MS + u64::from(within_ms);
            (usize::from(place), ts_ms, value)
        })
    }

    fn push(&mut self, place: usize, ts_ms: u64, value: f64) {
        // Both fit: names are bounded, and a minute has 60,000 ms.
        self.packed.extend_from_slice(&(place as u16).to_le_bytes());
        let within_ms = (ts_ms % MINUTE_MS) as u16;
        self.packed.extend_from_slice(&within_ms.to_le_bytes());
        self.packed.extend_from_slice(&value.to_le_bytes());
    }
}

/// What [`RecentSamples`] hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleBuffer {
    /// Names the node ever used, by place.
    pub names: Vec<String>,
    /// The minute under way.
    pub current: SampleMinute,
    /// The one before it.
    pub previous: SampleMinute,
    /// Samples dropped because there were too many, or too many names.
    pub dropped: u64,
}

/// Readings of late. Written by `fleet.*`.
#[derive(Component, Debug, Clone, Default, PartialEq, Eq)]
pub struct RecentSamples(pub Arc<SampleBuffer>);

/// A minute that is over, for the history. Keeping it twice is keeping it once.
#[derive(Debug, Clone, PartialEq)]
pub struct StoreMinute {
    /// Whose.
    pub node: NodeId,
    /// Names by place.
    pub names: Vec<String>,
    /// The minute.
    pub minute: SampleMinute,
}

impl Effect for StoreMinute {
    type Key = (NodeId, u64);

    fn key(&self) -> Self::Key {
        (self.node, self.minute.minute)
    }
}

impl SampleBuffer {
    /// Takes a sample of the minute under way or a later one; tells whether it did. Earlier ones
    /// are the history's.
    pub fn push(&mut self, name: &str, ts_ms: u64, value: f64) -> bool {
        let minute = ts_ms / MINUTE_MS;
        if minute < self.current.minute {
            return false;
        }
        self.roll_over_to(minute);
        let known = self.names.iter().position(|known| known == name);
        let place = match known {
            Some(place) => place,
            None if self.names.len() < NAMES_MAX => {
                self.names.push(name.to_owned());
                self.names.len() - 1
            }
            None => {
                self.dropped += 1;
                return true;
            }
        };
        if self.current.len() >= SAMPLES_MAX {
            self.dropped += 1;
            return true;
        }
        self.current.push(place, ts_ms, value);
        true
    }

    /// Ends the minute under way if it is before `minute`.
    pub fn roll_over_to(&mut self, minute: u64) {
        if minute <= self.current.minute {
            return;
        }
        let over = std::mem::replace(
            &mut self.current,
            SampleMinute {
                minute,
                packed: Vec::new(),
            },
        );
        if !over.is_empty() {
            self.previous = over;
        }
    }

    /// Samples of both minutes of one name, ms since the Unix epoch and value.
    pub fn of<'a>(&'a self, name: &str) -> impl Iterator<Item = (u64, f64)> + use<'a> {
        let place = self.names.iter().position(|known| known == name);
        let both = self.previous.samples().chain(self.current.samples());
        both.filter(move |(found, ..)| Some(*found) == place)
            .map(|(_, ts_ms, value)| (ts_ms, value))
    }
}

/// Sends minutes that are over to the history.
pub(super) fn emit_complete_minutes(
    changed: Query<(&NodeId, Ref<RecentSamples>), Changed<RecentSamples>>,
    mut sent: Local<std::collections::BTreeMap<NodeId, u64>>,
    mut outbox: ResMut<Outbox<StoreMinute>>,
) {
    for (id, sample_buffer) in &changed {
        let over = &sample_buffer.0.previous;
        if over.is_empty() || sent.get(id) == Some(&over.minute) {
            continue;
        }
        sent.insert(*id, over.minute);
        outbox.emit(StoreMinute {
            node: *id,
            names: sample_buffer.0.names.clone(),
            minute: over.clone(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_ends_with_the_first_sample_of_the_next() {
        let mut buffer = SampleBuffer::default();
        assert!(buffer.push("mesh.tx_mbps", 120_500, 1.5));
        assert!(buffer.push("mesh.rx_mbps", 179_999, 2.5));
        assert!(buffer.push("mesh.tx_mbps", 180_000, 3.5));
        assert!(!buffer.push("mesh.tx_mbps", 179_000, 9.0));
        assert_eq!((buffer.previous.minute, buffer.previous.len()), (2, 2));
        let found: Vec<_> = buffer.of("mesh.tx_mbps").collect();
        assert_eq!(found, [(120_500, 1.5), (180_000, 3.5)]);
    }

    #[test]
    fn a_flood_is_bounded_and_counted() {
        let mut buffer = SampleBuffer::default();
        for place in 0..NAMES_MAX + 10 {
            buffer.push(&format!("sys.m{place}"), 1, 0.0);
        }
        assert_eq!((buffer.names.len(), buffer.dropped), (NAMES_MAX, 10));
        for _ in 0..SAMPLES_MAX {
            buffer.push("sys.m0", 1, 0.0);
        }
        assert_eq!(buffer.current.len(), SAMPLES_MAX);
        assert_eq!(buffer.dropped, 10 + NAMES_MAX as u64);
    }
}
