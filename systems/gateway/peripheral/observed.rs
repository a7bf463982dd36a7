//! Observations of peripherals: scanned buses, and readings of the gateway's own machine.

use std::collections::BTreeMap;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Recorded, Refusal, Section, State};
use groundwave_protocol::{Reading, Readings, check_metric};
use groundwave_sensor::{NAMESPACE, ScannedDevice};
use groundwave_simulation::site::NodeId;
use serde::{Deserialize, Serialize};

use crate::fleet::approved_node;

/// Maximum number of recorded scans of buses; the oldest is dropped first.
const SCANS_MAX: usize = 4_096;
/// Maximum number of devices of a bus.
pub const DEVICES_MAX: usize = 128;
/// Maximum number of readings of the gateway's machine.
const READINGS_MAX: usize = 256;
/// Time after which the last reading of a metric is dropped, ms.
const READING_MS: u64 = 24 * 3_600 * 1_000;

/// Last scan of a bus.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusScan {
    /// Node; `None` for the gateway's own machine.
    pub node: Option<NodeId>,
    /// Bus number.
    pub bus: u32,
    /// Time of the scan, ns since the Unix epoch.
    pub at_ns: u64,
    /// Devices that answered.
    pub devices: Vec<ScannedDevice>,
}

/// Observations. Written by `peripheral.scan` and `peripheral.readings`.
#[derive(Resource, Debug, Clone, Default)]
pub(crate) struct Observed {
    scans: BTreeMap<(Option<NodeId>, u32), Arc<BusScan>>,
    readings: Arc<Readings>,
}

impl Observed {
    /// Latest reading of the gateway's own machine of a metric.
    pub(crate) fn host_reading(&self, metric: &str) -> Option<&Reading> {
        self.readings.get(metric)
    }
}

/// View of the observations.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Peripherals {
    /// Last scan of each bus, by node and bus.
    pub scans: Vec<SharedScan>,
    /// Latest readings of the gateway's own machine.
    #[serde(serialize_with = "whole")]
    pub readings: Arc<Readings>,
}

/// A scan that snapshots share.
#[derive(Debug, Clone)]
pub struct SharedScan(pub Arc<BusScan>);

impl Serialize for SharedScan {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.0.as_ref().serialize(out)
    }
}

fn whole<S: serde::Serializer>(readings: &Arc<Readings>, out: S) -> Result<S::Ok, S::Error> {
    readings.as_ref().serialize(out)
}

impl Peripherals {
    /// `true` if nothing was observed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.scans.is_empty() && self.readings.is_empty()
    }
}

/// Records the devices that answered on a bus.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordScan {
    /// Node; `None` for the gateway's own machine.
    pub node: Option<NodeId>,
    /// Bus number.
    pub bus: u32,
    /// Devices, all of this bus.
    pub devices: Vec<ScannedDevice>,
}

impl Command for RecordScan {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        if self.devices.len() > DEVICES_MAX {
            let allowed = format!("up to {DEVICES_MAX}");
            return Err(Refusal::invalid("devices", self.devices.len(), allowed));
        }
        if let Some(other) = self.devices.iter().find(|device| device.bus != self.bus) {
            return Err(Refusal::invalid("devices.bus", other.bus, self.bus.to_string()));
        }
        if let Some(node) = self.node {
            approved_node(world, node)?;
        }
        let at_ns = world.resource::<Clock>().wall_ns;
        let scans = &mut world.resource_mut::<Observed>().scans;
        let key = (self.node, self.bus);
        if scans.len() >= SCANS_MAX && !scans.contains_key(&key) {
            let oldest = scans.iter().min_by_key(|(_, scan)| scan.at_ns);
            if let Some(oldest) = oldest.map(|(key, _)| *key) {
                scans.remove(&oldest);
            }
        }
        let scan = BusScan { node: self.node, bus: self.bus, at_ns, devices: self.devices };
        scans.insert(key, Arc::new(scan));
        Ok(())
    }
}
impl Recorded for RecordScan {
    const NAME: &'static str = "peripheral.scan";
    type Reply = ();
}

/// Records readings of sensors of the gateway's own machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordHostReadings {
    /// Values by metric, `i2c.TEMPLATE.METRIC`.
    pub readings: BTreeMap<String, f64>,
    /// Invalid values are left out alone; in commands that were recorded before, one refuses all.
    #[serde(default)]
    pub partial: bool,
}

/// Checks a reading of a sensor of the gateway's own machine.
fn check(metric: &str, value: f64) -> Result<(), Refusal> {
    check_metric(metric, value)?;
    match metric.starts_with(NAMESPACE) {
        true => Ok(()),
        false => Err(Refusal::invalid("readings", format!("{metric:?}"), "i2c.TEMPLATE.METRIC")),
    }
}

impl Command for RecordHostReadings {
    /// Refusals of readings that were left out.
    type Out = Result<Vec<Refusal>, Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let mut refusals = Vec::new();
        let mut valid = BTreeMap::new();
        for (metric, value) in self.readings {
            match check(&metric, value) {
                Ok(()) => {
                    valid.insert(metric, value);
                }
                Err(refusal) if self.partial => refusals.push(refusal),
                Err(refusal) => return Err(refusal),
            }
        }
        let ts_ms = world.resource::<Clock>().wall_ns / 1_000_000;
        let mut observed = world.resource_mut::<Observed>();
        let readings = Arc::make_mut(&mut observed.readings);
        readings.retain(|_, reading| reading.ts_ms.saturating_add(READING_MS) > ts_ms);
        for (metric, value) in valid {
            if readings.len() < READINGS_MAX || readings.contains_key(&metric) {
                readings.insert(metric, Reading { value, ts_ms });
            } else if self.partial {
                let what = format!("{metric}: the machine has {READINGS_MAX} metrics, the maximum");
                refusals.push(Refusal::conflict(what));
            }
        }
        Ok(refusals)
    }
}
impl Recorded for RecordHostReadings {
    const NAME: &'static str = "peripheral.readings";
    type Reply = Vec<Refusal>;
}

/// Removes the scans of a node.
pub(super) fn remove_scans(world: &mut World, node: NodeId) -> Vec<String> {
    let is_of_node = |(owner, _): &(Option<NodeId>, u32)| *owner == Some(node);
    if world.resource::<Observed>().scans.keys().any(is_of_node) {
        world.resource_mut::<Observed>().scans.retain(|key, _| !is_of_node(key));
    }
    Vec::new()
}

/// Observations in the store.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PeripheralState {
    scans: Vec<BusScan>,
    readings: Readings,
}

impl State for PeripheralState {
    const TABLE: &'static str = "peripherals";

    fn save(world: &World) -> Self {
        let observed = world.resource::<Observed>();
        let scans = observed.scans.values();
        Self {
            scans: scans.map(|scan| BusScan::clone(scan)).collect(),
            readings: Readings::clone(&observed.readings),
        }
    }

    fn is_fresh(&self) -> bool {
        self.scans.is_empty() && self.readings.is_empty()
    }

    fn restore(self, world: &mut World) -> Result<(), Refusal> {
        let scans = self.scans.into_iter();
        world.insert_resource(Observed {
            scans: scans.map(|scan| ((scan.node, scan.bus), Arc::new(scan))).collect(),
            readings: Arc::new(self.readings),
        });
        Ok(())
    }
}

/// Publishes observations that changed.
pub(super) fn publish_peripherals(
    observed: Res<Observed>,
    mut section: ResMut<Section<Peripherals>>,
) {
    if !observed.is_changed() {
        return;
    }
    let scans = observed.scans.values().map(Arc::clone);
    let view = Peripherals {
        scans: scans.map(SharedScan).collect(),
        readings: Arc::clone(&observed.readings),
    };
    if !view.is_empty() || !section.share().is_empty() {
        section.redraw(view);
    }
}
