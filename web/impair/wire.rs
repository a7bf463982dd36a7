//! Request and response types.
//!
//! Impairment and counters are those of the model.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use groundwave_http::tag::revision_of;
use groundwave_impair::{
    Applied, Capabilities, Direction, DivergenceItem, Impairment, ImpairmentField, LinkStats,
    Missing, Warning,
};
use groundwave_io_impair::impairment_spec::fit_derived_burst;
use groundwave_io_impair::leases::{Lease, LeasedFields, Leases, Moment, Owner};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::ports::mtu_bytes;
use super::state::Ports;

groundwave_http::schema_refs!(DirectionName);

/// Complete impairment of a direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct NewImpairment(pub Impairment);

/// Direction of the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct DirectionName(pub Direction);

/// Cumulative counters at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct LinkSample(pub LinkStats);

/// Impairment of a direction, read back from the kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AppliedState {
    /// Direction.
    pub direction: Direction,
    /// Impairment in force.
    pub impairment: Impairment,
    /// Impairment that was requested last, also if it was refused; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested: Option<Impairment>,
    /// Monotonic clock of the reading, ns.
    pub captured_at: u64,
    /// Wall clock of the reading, ns since the Unix epoch.
    pub captured_at_wall: u64,
    /// Differences from the last request; absent without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub divergence: Vec<DivergenceItem>,
    /// Side effects in the kernel; absent without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Numbers of the leases that set something in the direction; absent without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leases: Vec<u64>,
    /// State beneath the leases, which is in force when they have ended; absent without leases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Impairment>,
}

impl AppliedState {
    /// Response of a reading.
    #[must_use]
    pub fn of(direction: Direction, applied: Applied, requested: Option<Impairment>) -> Self {
        Self {
            direction,
            impairment: applied.impairment,
            requested,
            captured_at: applied.captured_at_ns,
            captured_at_wall: applied.captured_at_wall_ns,
            divergence: applied.divergence,
            warnings: applied.warnings,
            leases: Vec::new(),
            base: None,
        }
    }

    /// Revision of the state in force and of that beneath the leases.
    #[must_use]
    pub fn revision(&self) -> String {
        let content = serde_json::to_vec(&(&self.impairment, &self.base));
        revision_of(content.unwrap_or_default())
    }

    /// This response with the leases of its direction.
    #[must_use]
    pub fn with_leases(mut self, leases: &Leases) -> Self {
        self.leases = leases.of(self.direction).map(|lease| lease.id).collect();
        if !self.leases.is_empty() {
            let base = leases.base(self.direction).flatten();
            self.base = Some(base.cloned().unwrap_or_default());
        }
        self
    }
}

/// Fields of a direction that a lease sets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeaseChange {
    /// Values of the fields; absent ones are not impaired.
    pub impairment: Impairment,
    /// The fields; default all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<Vec<ImpairmentField>>,
    /// Names of the rules that the field `rules` sets, in order; one without a rule here is removed. Absent,
    /// it sets all rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Vec<String>>,
}

/// Changes of a lease, by direction; absent ones are left.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(transparent)]
pub struct LeaseChanges(BTreeMap<Direction, LeaseChange>);

impl<'de> Deserialize<'de> for LeaseChanges {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Changes;
        impl<'de> Visitor<'de> for Changes {
            type Value = LeaseChanges;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("changes by direction")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LeaseChanges, A::Error> {
                let mut changes = BTreeMap::new();
                while let Some(direction) = map.next_key::<Direction>()? {
                    if changes.insert(direction, map.next_value::<Option<_>>()?).is_some() {
                        let what = format!("duplicate direction {direction}, allowed once");
                        return Err(de::Error::custom(what));
                    }
                }
                let changes = changes.into_iter();
                let changes = changes.filter_map(|(direction, change)| Some((direction, change?)));
                Ok(LeaseChanges(changes.collect()))
            }
        }
        from.deserialize_map(Changes)
    }
}

impl JsonSchema for LeaseChanges {
    fn schema_name() -> Cow<'static, str> {
        "LeaseChanges".into()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        let change = schemas.subschema_for::<Option<LeaseChange>>();
        json_schema!({
            "description": "Changes of a lease, by direction.",
            "type": "object",
            "additionalProperties": change,
        })
    }
}

/// Shortest duration of a lease, ns.
pub const DURATION_NS_MIN: u64 = 1_000_000;
/// Longest duration of a lease, ns: a year.
pub const DURATION_NS_MAX: u64 = 366 * 86_400 * 1_000_000_000;

/// New lease.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewLease {
    /// Time until its end, ns, 1 ms to a year.
    #[serde(rename = "duration")]
    #[schemars(range(min = DURATION_NS_MIN, max = DURATION_NS_MAX))]
    pub duration_ns: u64,
    /// Name of the holder, 1 to 64 characters; absent, the holder is the process that asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub owner: Option<String>,
    /// Changes.
    pub changes: LeaseChanges,
}

/// Renewal of a lease.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenewedLease {
    /// Time from now until its end, ns, 1 ms to a year.
    #[serde(rename = "duration")]
    #[schemars(range(min = DURATION_NS_MIN, max = DURATION_NS_MAX))]
    pub duration_ns: u64,
    /// Changes from now on in the directions that are named; the others stay.
    #[serde(default)]
    pub changes: LeaseChanges,
}

/// A lease: a change that ends by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LeaseRecord {
    /// Number, from 1.
    pub id: u64,
    /// Holder.
    pub owner: Owner,
    /// Wall clock of its begin, ns since the Unix epoch.
    pub starts_at_wall: u64,
    /// Wall clock of its end, ns since the Unix epoch.
    pub ends_at_wall: u64,
    /// Time until its end, ns.
    pub remaining: u64,
    /// Changes.
    pub changes: LeaseChanges,
}

impl LeaseChanges {
    /// Changes by direction.
    #[must_use]
    pub fn by_direction(self) -> BTreeMap<Direction, LeasedFields> {
        let changes = self.0.into_iter().map(|(direction, change)| {
            let LeaseChange { impairment, fields, rules } = change;
            let fields = fields.unwrap_or(ImpairmentField::ALL.to_vec());
            (direction, LeasedFields { impairment, fields, rules })
        });
        changes.collect()
    }

    /// Sets the change of a direction.
    pub fn set(&mut self, direction: Direction, change: LeaseChange) {
        self.0.insert(direction, change);
    }

    /// The change of a direction.
    #[must_use]
    pub fn get(&self, direction: Direction) -> Option<&LeaseChange> {
        self.0.get(&direction)
    }

    /// Directions with a change, in order.
    pub fn directions(&self) -> impl Iterator<Item = Direction> {
        self.0.keys().copied()
    }
}

impl LeaseRecord {
    /// Record of a lease at a moment.
    #[must_use]
    pub fn of(lease: &Lease, now: &Moment) -> Self {
        let mut changes = LeaseChanges::default();
        for (direction, change) in &lease.changes {
            changes.set(
                *direction,
                LeaseChange {
                    impairment: change.impairment.clone(),
                    fields: Some(change.fields.clone()),
                    rules: change.rules.clone(),
                },
            );
        }
        Self {
            id: lease.id,
            owner: lease.owner.clone(),
            starts_at_wall: lease.starts_wall_ns,
            ends_at_wall: lease.ends_wall_ns(now),
            remaining: lease.left_ns(now),
            changes,
        }
    }
}

/// Version, ports and capabilities of the daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SystemRecord {
    /// Version of the daemon.
    pub version: String,
    /// Ports, one for each direction.
    pub ports: Vec<PortRecord>,
    /// Capabilities of the backend.
    pub capabilities: CapabilityRecord,
}

/// Port: direction and interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PortRecord {
    /// Direction.
    pub direction: Direction,
    /// Name of the interface.
    pub interface: String,
    /// Incoming traffic of the interface; absent for leaving traffic.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub incoming: bool,
    /// Network namespace, such as `netns:blue`, `pid:12` or `container:web`; absent for that of the daemon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Bus address of the device, such as `0000:03:00.0`; `virtual` for an interface on no bus,
    /// empty for one that sysfs did not show at the start.
    pub bdf: String,
    /// MTU of the interface at present, bytes; absent where it cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<u32>,
}

/// Capabilities of the backend on the running kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapabilityRecord {
    /// Latency; duplication, reordering and corruption come with it.
    pub supports_latency: bool,
    /// Independent loss.
    pub supports_loss_bernoulli: bool,
    /// Two-state loss.
    pub supports_loss_gilbert_elliott: bool,
    /// Rate limit.
    pub supports_rate: bool,
    /// Kinds of latency distributions.
    pub supports_distributions: Vec<DistributionRecord>,
    /// Rules of a direction.
    #[serde(default)]
    pub supports_rules: bool,
    /// Incoming traffic of an interface as a port.
    #[serde(default)]
    pub supports_incoming: bool,
    /// Name of the backend.
    pub backend_name: String,
    /// Version of the backend.
    pub backend_version: String,
    /// Missing kernel features; absent without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Missing>,
}

/// Kind of distribution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DistributionRecord {
    /// Name.
    pub kind: String,
}

impl SystemRecord {
    /// Record of these ports.
    #[must_use]
    pub fn of(ports: &Ports) -> Self {
        let record = |direction: Direction| PortRecord {
            direction,
            interface: ports.names[direction.index()].interface.clone(),
            incoming: ports.names[direction.index()].incoming,
            namespace: ports.names[direction.index()].namespace.as_ref().map(ToString::to_string),
            bdf: ports.addresses[direction.index()].clone(),
            mtu: mtu_bytes(&ports.names[direction.index()]),
        };
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ports: ports.directions().map(record).collect(),
            capabilities: CapabilityRecord::of(&ports.capabilities),
        }
    }
}

impl SystemRecord {
    /// Raises a burst that was derived from its rate to a frame of the interface of a direction.
    pub fn fit_derived_burst(&self, direction: Direction, impairment: &mut Impairment) {
        let port = self.ports.iter().find(|port| port.direction == direction);
        if let Some(mtu_bytes) = port.and_then(|port| port.mtu) {
            fit_derived_burst(impairment, mtu_bytes);
        }
    }
}

impl CapabilityRecord {
    fn of(can: &Capabilities) -> Self {
        let kinds = can.distributions().into_iter();
        let record = |kind: &str| DistributionRecord { kind: kind.to_owned() };
        Self {
            supports_latency: can.netem,
            supports_loss_bernoulli: can.netem,
            supports_loss_gilbert_elliott: can.netem && can.extensions.gilbert_elliott,
            supports_rate: can.tbf,
            supports_distributions: kinds.map(record).collect(),
            supports_rules: can.rules,
            supports_incoming: can.incoming,
            backend_name: can.backend_name.clone(),
            backend_version: can.backend_version.clone(),
            missing: can.missing.clone(),
        }
    }
}
