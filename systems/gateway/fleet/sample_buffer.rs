//! Samples of the current minute and of the one before: durable with the node, not yet part of the
//! history.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Effect, Outbox};
use groundwave_protocol::metrics::{CORE_METRICS, NAMES_MAX};
use groundwave_simulation::site::NodeId;
use serde::{Deserialize, Serialize};

use super::gateway_clock::GatewayClock;
use super::reading_refusal::{ReadingRefusal, SAMPLES_MAX};

/// Samples of one node and minute with those of its heartbeats.
pub(super) const MINUTE_SAMPLES_MAX: usize = 2 * SAMPLES_MAX;
/// Metrics of a node with the core ones.
pub(super) const ALL_NAMES_MAX: usize = NAMES_MAX + CORE_METRICS.len();

/// Lead of a node's clock that is allowed, minutes.
const LEAD_MINUTES: u64 = 1;
/// Age of a completed minute from which on it no longer waits for the history, minutes.
const OLD_MINUTES: u64 = 60;
const MINUTE_MS: u64 = 60_000;
const MINUTE_NS: u64 = MINUTE_MS * 1_000_000;
/// Packed size of a sample: index of the metric (2), ms within the minute (2), value (8).
const SAMPLE_BYTES: usize = 12;

/// The samples of one minute, packed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleMinute {
    /// Minutes since the Unix epoch.
    pub minute: u64,
    /// Samples in order of arrival: index of the metric, ms within the minute, value.
    #[serde(with = "serde_bytes")]
    packed: Vec<u8>,
}

impl SampleMinute {
    /// A minute without samples, in minutes since the Unix epoch.
    pub(super) const fn of(minute: u64) -> Self {
        let packed = Vec::new();
        Self { minute, packed }
    }

    /// Number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.packed.len() / SAMPLE_BYTES
    }

    /// `true` if there are no samples.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.packed.is_empty()
    }

    /// Index of the metric, ms since the Unix epoch, value, in order of arrival.
    pub fn samples(&self) -> impl Iterator<Item = (usize, u64, f64)> + '_ {
        self.packed.chunks_exact(SAMPLE_BYTES).map(|sample| {
            let index = u16::from_le_bytes([sample[0], sample[1]]);
            let within_ms = u16::from_le_bytes([sample[2], sample[3]]);
            let value = f64::from_le_bytes(sample[4..].try_into().expect("8 of 12"));
            let ts_ms = self.minute * MINUTE_MS + u64::from(within_ms);
            (usize::from(index), ts_ms, value)
        })
    }

    pub(super) fn push(&mut self, index: usize, ts_ms: u64, value: f64) {
        // Both fit: names are bounded, and a minute has 60,000 ms.
        self.packed.extend_from_slice(&(index as u16).to_le_bytes());
        let within_ms = (ts_ms % MINUTE_MS) as u16;
        self.packed.extend_from_slice(&within_ms.to_le_bytes());
        self.packed.extend_from_slice(&value.to_le_bytes());
    }
}

/// Samples of a node that the history does not have yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleBuffer {
    /// Metrics the node reported, by index.
    pub names: Vec<String>,
    /// Current minute.
    pub current: SampleMinute,
    /// Last completed minute.
    pub previous: SampleMinute,
    /// Samples refused: too many in a minute, or too many metrics.
    pub dropped: u64,
}

/// Samples of the current and the last minute. Written by `fleet.hear`, `fleet.samples` and
/// `roll_over_minutes`.
#[derive(Component, Debug, Clone, Default, PartialEq, Eq)]
pub struct RecentSamples(pub Arc<SampleBuffer>);

/// A completed minute for the history. Storing it twice has the effect of storing it once.
#[derive(Debug, Clone, PartialEq)]
pub struct StoreMinute {
    pub node: NodeId,
    /// Metrics by index.
    pub names: Vec<String>,
    /// Completed minute.
    pub minute: SampleMinute,
}

impl Effect for StoreMinute {
    type Key = (NodeId, u64);

    fn key(&self) -> Self::Key {
        (self.node, self.minute.minute)
    }
}

impl SampleBuffer {
    /// Gives a metric an index unless it has one. A core metric always gets one, another while there
    /// is space, or in place of one that `is_idle` and has no sample here of the last hour: that is
    /// returned. `now_ms` is the wall clock of the gateway, ms since the Unix epoch.
    ///
    /// # Errors
    /// [`ReadingRefusal::NamesFull`], counted.
    pub fn admit(
        &mut self,
        name: &str,
        now_ms: u64,
        is_idle: impl Fn(&str) -> bool,
    ) -> Result<Option<String>, ReadingRefusal> {
        if self.names.iter().any(|other| other == name) {
            return Ok(None);
        }
        let is_core = |name: &str| CORE_METRICS.contains(&name);
        let others = self.names.iter().filter(|name| !is_core(name)).count();
        if is_core(name) || others < NAMES_MAX {
            self.names.push(name.to_owned());
            return Ok(None);
        }
        if self.previous.minute + OLD_MINUTES <= now_ms / MINUTE_MS {
            // It left for the history long ago.
            self.previous = SampleMinute::default();
        }
        let both = self.previous.samples().chain(self.current.samples());
        let used: BTreeSet<usize> = both.map(|(index, ..)| index).collect();
        let mut names = self.names.iter_mut().enumerate();
        let idle =
            names.find(|(index, name)| !used.contains(index) && !is_core(name) && is_idle(name));
        let Some((_, idle)) = idle else {
            self.dropped += 1;
            return Err(ReadingRefusal::NamesFull);
        };
        Ok(Some(std::mem::replace(idle, name.to_owned())))
    }

    /// Adds an uploaded sample of the current minute or a later one; returns whether it did. Earlier
    /// samples, and those of minutes before the last one, belong to the history: the buffer has space
    /// for two minutes. `now_ms` is the wall clock of the gateway, ms since the Unix epoch: a
    /// minute that is to come was begun by a clock that was ahead, and ends.
    ///
    /// # Errors
    /// The bound that it exceeds, counted; its metric is to be [admitted](Self::admit).
    pub fn push(
        &mut self,
        name: &str,
        ts_ms: u64,
        value: f64,
        now_ms: u64,
    ) -> Result<bool, ReadingRefusal> {
        self.push_below(SAMPLES_MAX, name, (ts_ms, value), now_ms)
    }

    fn push_below(
        &mut self,
        samples_max: usize,
        name: &str,
        (ts_ms, value): (u64, f64),
        now_ms: u64,
    ) -> Result<bool, ReadingRefusal> {
        let minute = ts_ms / MINUTE_MS;
        if minute + 2 <= now_ms / MINUTE_MS {
            return Ok(false);
        }
        if minute < self.current.minute && self.current.minute > now_ms / MINUTE_MS + LEAD_MINUTES {
            self.begin(minute);
        }
        if minute < self.current.minute {
            return Ok(false);
        }
        self.roll_over_to(minute);
        let index = self.index_of(name)?;
        if self.current.len() >= samples_max {
            self.dropped += 1;
            return Err(ReadingRefusal::MinuteFull);
        }
        self.current.push(index, ts_ms, value);
        Ok(true)
    }

    fn index_of(&mut self, name: &str) -> Result<usize, ReadingRefusal> {
        let index = self.names.iter().position(|other| other == name);
        index.ok_or_else(|| {
            self.dropped += 1;
            ReadingRefusal::NamesFull
        })
    }

    /// Adds a sample of the present, as heartbeats carry them: uploads leave space for them. Once a
    /// clock that is ahead began the minute to come, it belongs to a minute that is complete already.
    ///
    /// # Errors
    /// The bound that it exceeds, counted.
    pub fn push_present(
        &mut self,
        name: &str,
        now_ms: u64,
        value: f64,
    ) -> Result<(), ReadingRefusal> {
        if self.push_below(MINUTE_SAMPLES_MAX, name, (now_ms, value), now_ms)? {
            return Ok(());
        }
        let minute = now_ms / MINUTE_MS;
        if self.previous.minute != minute {
            self.previous = SampleMinute::of(minute);
        }
        let index = self.index_of(name)?;
        if self.previous.len() >= MINUTE_SAMPLES_MAX {
            self.dropped += 1;
            return Err(ReadingRefusal::MinuteFull);
        }
        self.previous.push(index, now_ms, value);
        Ok(())
    }

    /// Completes the current minute if it is before `minute`.
    pub fn roll_over_to(&mut self, minute: u64) {
        if minute > self.current.minute {
            self.begin(minute);
        }
    }

    /// Completes the current minute and begins another.
    fn begin(&mut self, minute: u64) {
        let over = std::mem::replace(&mut self.current, SampleMinute::of(minute));
        if !over.is_empty() {
            self.previous = over;
        }
    }

    /// Samples of one metric in both minutes: ms since the Unix epoch, value.
    pub fn of<'a>(&'a self, name: &str) -> impl Iterator<Item = (u64, f64)> + use<'a> {
        let index = self.names.iter().position(|other| other == name);
        let both = self.previous.samples().chain(self.current.samples());
        both.filter(move |(name_index, ..)| Some(*name_index) == index)
            .map(|(_, ts_ms, value)| (ts_ms, value))
    }
}

/// Ends the current minute of buffers that have had no sample for a minute of wall time. Runs when
/// the gateway clock is set; none end while the history takes no writes.
pub(super) fn roll_over_minutes(
    clock: Res<Clock>,
    gateway: Res<GatewayClock>,
    mut last_minute: Local<u64>,
    mut nodes: Query<&mut RecentSamples>,
) {
    if gateway.holds_minutes {
        // Those that would have ended meanwhile end afterwards.
        *last_minute = 0;
        return;
    }
    let minute = (clock.wall_ns / MINUTE_NS).saturating_sub(1);
    let next = std::mem::replace(&mut *last_minute, minute) != minute;
    for mut samples in &mut nodes {
        let candidate = next || samples.is_changed();
        if candidate && !samples.0.current.is_empty() && samples.0.current.minute < minute {
            Arc::make_mut(&mut samples.0).roll_over_to(minute);
        }
    }
}

/// Emits completed minutes for the history, each once, and again when it has further samples.
pub(super) fn emit_complete_minutes(
    changed: Query<(&NodeId, Ref<RecentSamples>), Changed<RecentSamples>>,
    mut last: Local<BTreeMap<NodeId, (u64, usize)>>,
    mut outbox: ResMut<Outbox<StoreMinute>>,
) {
    for (id, samples) in &changed {
        let complete = &samples.0.previous;
        let extent = (complete.minute, complete.len());
        if complete.is_empty() || last.get(id) == Some(&extent) {
            continue;
        }
        last.insert(*id, extent);
        outbox.emit(StoreMinute {
            node: *id,
            names: samples.0.names.clone(),
            minute: complete.clone(),
        });
    }
}
