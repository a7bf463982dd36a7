//! Readings of nodes: those of heartbeats, and samples with times of their own.

use std::collections::BTreeMap;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Recorded, Refusal};
use groundwave_model::terrain::GeoPoint;
use groundwave_protocol::metrics::{Reading, Readings, Sample, check_metric};
use groundwave_simulation::site::NodeId;
use serde::{Deserialize, Serialize};

use super::approved::approved_node;
use super::components::LatestReadings;
use super::reading_refusal::ReadingRefusal;
use super::sample_buffer::{RecentSamples, SampleBuffer};

/// Samples of one `fleet.samples` command.
pub const SAMPLES_AT_ONCE_MAX: usize = 512;

/// Lead of a reading after which it was taken by a clock that was ahead, ms.
const LEAD_MS: u64 = 60_000;
/// Lowest mode of a fix: that in the plane.
const FIX_MODE_MIN: f64 = 2.0;
/// Age of the latest reading from which on a metric makes space for others, ms: a day.
const IDLE_MS: u64 = 24 * 3_600_000;

/// Records the readings of a heartbeat; returns those that exceed a bound.
pub(super) fn record_readings(
    world: &mut World,
    entity: Entity,
    ts_ms: u64,
    metrics: &BTreeMap<String, f64>,
) -> Vec<(String, ReadingRefusal)> {
    let mut refused = Vec::new();
    if metrics.is_empty() {
        return refused;
    }
    change_readings(world, entity, |readings, buffer| {
        for (name, value) in metrics {
            let recorded = admit(buffer, readings, name, ts_ms)
                .and_then(|()| buffer.push_present(name, ts_ms, *value));
            match recorded {
                Ok(()) if !is_of_fix(name, readings, |name| metrics.get(name).copied()) => {}
                Ok(()) => record_reading(readings, name, (ts_ms, *value), ts_ms),
                Err(refusal) => refused.push((name.clone(), refusal)),
            }
        }
    });
    refused
}

fn change_readings(
    world: &mut World,
    entity: Entity,
    change: impl FnOnce(&mut Readings, &mut SampleBuffer),
) {
    let mut latest = world.get::<LatestReadings>(entity).expect("required").clone();
    let mut samples = world.get_mut::<RecentSamples>(entity).expect("required");
    change(Arc::make_mut(&mut latest.0), Arc::make_mut(&mut samples.0));
    *world.get_mut::<LatestReadings>(entity).expect("required") = latest;
}

/// Admits a metric; one without a reading of the last day may make space for it.
fn admit(
    buffer: &mut SampleBuffer,
    readings: &mut Readings,
    name: &str,
    now_ms: u64,
) -> Result<(), ReadingRefusal> {
    let is_idle = |name: &str| {
        readings.get(name).is_none_or(|reading| {
            reading.ts_ms.saturating_add(IDLE_MS) <= now_ms || reading.ts_ms > now_ms + LEAD_MS
        })
    };
    if let Some(idle) = buffer.admit(name, now_ms, is_idle)? {
        readings.remove(&idle);
    }
    Ok(())
}

/// Reach around 0, 0 in which a position is that of a receiver without a fix, deg: 100 m of open sea.
const NULL_ISLAND_DEG: f64 = 0.001;

/// False for a coordinate without a fix or a satellite, out of range or by 0, 0, where receivers without a fix are, and
/// for a latitude or longitude without the other one of its time: the latest coordinates stay those of the last fix.
/// Readings of the same time come before earlier ones.
fn is_of_fix(name: &str, readings: &Readings, at_once: impl Fn(&str) -> Option<f64>) -> bool {
    if !["gps.lat_deg", "gps.lon_deg", "gps.alt_m"].contains(&name) {
        return true;
    }
    let value =
        |name: &str| at_once(name).or_else(|| readings.get(name).map(|reading| reading.value));
    let has_fix = value("gps.fix_mode").is_none_or(|mode| mode >= FIX_MODE_MIN);
    let has_satellite = at_once("gps.sats_used").is_none_or(|count| count > 0.0);
    let fits = |lat_deg: f64, lon_deg: f64| {
        let is_by_zero = lat_deg.abs().max(lon_deg.abs()) < NULL_ISLAND_DEG;
        !is_by_zero && GeoPoint::new(lat_deg, lon_deg).is_ok()
    };
    let point = match name {
        "gps.alt_m" => value("gps.lat_deg").zip(value("gps.lon_deg")),
        _ => match at_once("gps.lat_deg").zip(at_once("gps.lon_deg")) {
            None => return false,
            both => both,
        },
    };
    has_fix && has_satellite && point.is_none_or(|(lat_deg, lon_deg)| fits(lat_deg, lon_deg))
}

/// Records a reading unless there is a later one that is not to come at `now_ms`.
fn record_reading(readings: &mut Readings, name: &str, (ts_ms, value): (u64, f64), now_ms: u64) {
    match readings.get_mut(name) {
        Some(reading) if reading.ts_ms <= ts_ms || reading.ts_ms > now_ms + LEAD_MS => {
            *reading = Reading { value, ts_ms }
        }
        Some(_) => {}
        None => {
            readings.insert(name.to_owned(), Reading { value, ts_ms });
        }
    }
}

/// Records samples that carry their own times.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordSamples {
    pub node: NodeId,
    /// Samples, in any order.
    pub samples: Vec<Sample>,
}

/// Result of recorded samples, by their indices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SamplesReply {
    /// Samples of completed minutes, which are not kept in the world but are for the history.
    pub late: Vec<usize>,
    /// Samples that exceed a bound.
    pub refused: Vec<(usize, ReadingRefusal)>,
}

impl Command for RecordSamples {
    type Out = Result<SamplesReply, Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        if self.samples.len() > SAMPLES_AT_ONCE_MAX {
            let allowed = format!("up to {SAMPLES_AT_ONCE_MAX}");
            return Err(Refusal::invalid("samples", self.samples.len(), allowed));
        }
        for sample in &self.samples {
            check_metric(&sample.metric, sample.value)?;
        }
        let entity = approved_node(world, self.node)?;
        let now_ms = world.resource::<Clock>().wall_ns / 1_000_000;
        let mut reply = SamplesReply::default();
        change_readings(world, entity, |readings, buffer| {
            for (index, Sample { ts_ms, metric, value }) in self.samples.iter().enumerate() {
                let recorded = admit(buffer, readings, metric, now_ms)
                    .and_then(|()| buffer.push(metric, *ts_ms, *value, now_ms));
                match recorded {
                    Ok(true) => {}
                    Ok(false) => reply.late.push(index),
                    Err(refusal) => {
                        reply.refused.push((index, refusal));
                        continue;
                    }
                }
                let at_once = |name: &str| {
                    let mut same = self.samples.iter().filter(|other| other.ts_ms == *ts_ms);
                    same.find(|other| other.metric == name).map(|other| other.value)
                };
                if is_of_fix(metric, readings, at_once) {
                    record_reading(readings, metric, (*ts_ms, *value), now_ms);
                }
            }
        });
        Ok(reply)
    }
}
impl Recorded for RecordSamples {
    const NAME: &'static str = "fleet.samples";
    type Reply = SamplesReply;
}

#[cfg(test)]
mod tests {
    use super::super::reading_refusal::SAMPLES_MAX;
    use super::*;
    use crate::test_world::{does_at, engine, let_in};

    const WALL_NS: u64 = 1_800_000_000_000_000_000;

    #[test]
    fn the_latest_coordinates_are_those_of_the_last_fix() {
        let mut engine = engine();
        let node = NodeId::from_u128(1);
        let_in(&mut engine, WALL_NS, 1, node);
        let mut located = |seconds: u64, fix: f64, lat_deg: f64, lon_deg: f64| {
            let at_ns = WALL_NS + seconds * 1_000_000_000;
            let sample = |metric: &str, value| Sample {
                ts_ms: at_ns / 1_000_000,
                metric: metric.to_owned(),
                value,
            };
            let mut samples = vec![
                sample("gps.lat_deg", lat_deg),
                sample("gps.lon_deg", lon_deg),
                sample("gps.fix_mode", fix),
            ];
            samples.retain(|sample| !sample.value.is_nan());
            does_at(&mut engine, at_ns, RecordSamples { node, samples }).unwrap();
            let view = engine.view();
            let place = view.fleet.nodes[&node].location();
            place.map(|place| (place.lat_deg, place.lon_deg, place.ts_ms - WALL_NS / 1_000_000))
        };
        assert_eq!(located(0, 3.0, 0.0, 0.0), None);
        assert_eq!(located(1, 3.0, 57.0, 0.0), Some((57.0, 0.0, 1_000)));
        assert_eq!(located(2, 0.0, 0.0, 0.0), Some((57.0, 0.0, 1_000)));
        assert_eq!(located(3, 1.0, 57.5, 11.0), Some((57.0, 0.0, 1_000)));
        assert_eq!(located(5, 2.0, 57.5, 11.0), Some((57.5, 11.0, 5_000)));
        // A latitude alone is not joined with the longitude before it.
        assert_eq!(located(6, 3.0, 58.0, f64::NAN), Some((57.5, 11.0, 5_000)));
        assert_eq!(located(7, 3.0, 58.0, 12.0), Some((58.0, 12.0, 7_000)));
    }

    #[test]
    fn what_is_accepted_is_recorded_and_the_rest_refused() {
        let mut engine = engine();
        let node = NodeId::from_u128(1);
        let_in(&mut engine, WALL_NS, 1, node);
        let ts_ms = WALL_NS / 1_000_000;
        let batch = |name: &dyn Fn(usize) -> String| RecordSamples {
            node,
            samples: (0..SAMPLES_AT_ONCE_MAX)
                .map(|index| Sample { ts_ms, metric: name(index), value: 1.0 })
                .collect(),
        };
        let mut refused = 0;
        for _ in 0..10 {
            let reply = does_at(&mut engine, WALL_NS, batch(&|_| "sys.a".to_owned())).unwrap();
            refused += reply.refused.len();
        }
        let recorded = |engine: &groundwave_engine::Engine<crate::Snapshot>| {
            engine.view().fleet.nodes[&node].recent_samples.current.len()
        };
        assert_eq!((recorded(&engine), refused), (SAMPLES_MAX, 5_120 - SAMPLES_MAX));

        let next_ns = WALL_NS + 60_000_000_000;
        let mut names = batch(&|index| format!("sys.m{index}"));
        names.samples.iter_mut().for_each(|sample| sample.ts_ms += 60_000);
        names.samples[511].metric = "mesh.tx_mbps".to_owned();
        let reply = does_at(&mut engine, next_ns, names).unwrap();
        assert_eq!(reply.refused.len(), 256);
        assert!(reply.refused.iter().all(|(_, why)| *why == ReadingRefusal::NamesFull));
        assert_eq!(recorded(&engine), 256);
        let latest = engine.view().fleet.nodes[&node].latest.clone();
        assert!(latest.contains_key("mesh.tx_mbps") && !latest.contains_key("sys.m300"));

        let after_ns = next_ns + 60_000_000_000;
        let metric = "mesh.tx_mbps".to_owned();
        let core = Sample { ts_ms: after_ns / 1_000_000, metric, value: 2.0 };
        let core = RecordSamples { node, samples: vec![core] };
        assert_eq!(does_at(&mut engine, after_ns, core).unwrap(), SamplesReply::default());
        // A day later other metrics take the place of those that were reported no more.
        let later_ns = next_ns + IDLE_MS * 1_000_000 + 120_000_000_000;
        let mut others = batch(&|index| format!("sys.n{}", index % 200));
        others.samples.iter_mut().for_each(|sample| sample.ts_ms = later_ns / 1_000_000);
        let reply = does_at(&mut engine, later_ns, others).unwrap();
        assert_eq!(reply, SamplesReply::default());
    }
}
