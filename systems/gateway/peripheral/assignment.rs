//! Assignments of sensors to addresses.

use std::collections::BTreeSet;

use bevy_ecs::prelude::*;
use garde::Validate;
use groundwave_engine::{Id, Kind, Refusal};
use groundwave_sensor::{AssignedDevice, BUILT_IN_TEMPLATES, SensorPlan, SensorTemplate};
use groundwave_simulation::site::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::{self, ConfigObject, ConfigObjects, WithoutNode};
use crate::fleet::approved_node;

/// Maximum number of assigned sensors of a machine.
pub const SENSORS_MAX: usize = 16;

/// A sensor that is read at an address of a node, or of the gateway's own machine. Written by
/// `sensor_assignment.put`.
#[derive(Component, Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct SensorAssignment {
    /// Node; absent for the gateway's own machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<uuid::Uuid>")]
    #[garde(skip)]
    pub node_id: Option<NodeId>,
    /// Bus number.
    #[garde(range(max = 1023))]
    pub bus: u32,
    /// Address, 0x08 to 0x77.
    #[garde(range(min = 8, max = 119))]
    pub address: u16,
    /// Template.
    #[garde(length(min = 1, max = 32))]
    pub template_id: String,
    /// Text for people.
    #[serde(default)]
    #[garde(length(chars, max = 64))]
    pub label: String,
    /// Interval of readings, s; absent: that of the template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(range(min = 1, max = 86_400))]
    pub interval_s: Option<u32>,
    /// The sensor is read.
    #[serde(default = "yes")]
    #[garde(skip)]
    pub enabled: bool,
}

fn yes() -> bool {
    true
}

impl Kind for SensorAssignment {
    const NAME: &'static str = "sensor assignment";
}

impl ConfigObject for SensorAssignment {
    const KIND: &'static str = "sensor_assignment";
    const COUNT_MAX: usize = 4_096;

    fn check(&self, id: Id<Self>, world: &World) -> Result<(), Refusal> {
        let template = self.template_id.as_str();
        let is_known = BUILT_IN_TEMPLATES.contains(&template)
            || config::find::<SensorTemplate>(world, Id::named(template)).is_some();
        if !is_known {
            return Err(Refusal::invalid(
                "template_id",
                format!("{template:?}"),
                "the name of a sensor template",
            ));
        }
        if let Some(node) = self.node_id
            && approved_node(world, node).is_err()
        {
            return Err(Refusal::invalid("node_id", node, "the id of an approved node"));
        }
        let mut of_machine = config::all::<Self>(world)
            .filter(|(other, _)| *other != id)
            .filter(|(_, other)| other.node_id == self.node_id);
        let mut count = 0;
        let conflict = of_machine.find(|(_, other)| {
            count += 1;
            (other.bus, other.address) == (self.bus, self.address)
        });
        if let Some((_, other)) = conflict {
            return Err(Refusal::conflict(format!(
                "a sensor of the template {:?} is assigned to address {:#04x} of bus {}",
                other.template_id, self.address, self.bus
            )));
        }
        if count >= SENSORS_MAX {
            let what = format!("the machine has {SENSORS_MAX} assigned sensors, the maximum");
            return Err(Refusal::conflict(what));
        }
        Ok(())
    }

    fn without_node(&self, node: NodeId) -> WithoutNode<Self> {
        match self.node_id == Some(node) {
            true => WithoutNode::Nothing,
            false => WithoutNode::Same,
        }
    }
}

/// Sensors that a node is to read, or the gateway's own machine, with the templates that are not built
/// in.
#[must_use]
pub fn plan_of(
    assignments: &ConfigObjects<SensorAssignment>,
    templates: &ConfigObjects<SensorTemplate>,
    node: Option<NodeId>,
) -> SensorPlan {
    let own = assignments
        .iter()
        .filter(|(_, assignment)| assignment.object.enabled)
        .filter(|(_, assignment)| assignment.object.node_id == node);
    let sensors: Vec<AssignedDevice> = own
        .map(|(_, assignment)| AssignedDevice {
            template_id: assignment.object.template_id.clone(),
            bus: assignment.object.bus,
            address: assignment.object.address,
            interval_s: assignment.object.interval_s,
        })
        .collect();
    let names: BTreeSet<&str> = sensors.iter().map(|one| one.template_id.as_str()).collect();
    let templates = names.into_iter().filter_map(|name| {
        let template = templates.get(Id::named(name))?;
        Some(template.object.clone())
    });
    SensorPlan { templates: templates.collect(), sensors }
}
