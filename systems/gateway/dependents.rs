//! State that belongs to a node and leaves with it, whichever feature has it.

use bevy_ecs::prelude::*;
use groundwave_simulation::site::NodeId;

/// Removes the state of one feature that belongs to a node; returns the names of objects that stay,
/// changed.
pub(crate) type Removal = fn(&mut World, NodeId) -> Vec<String>;

#[derive(Resource, Default)]
struct Removals(Vec<Removal>);

/// Adds the state of a feature.
pub(crate) fn register(world: &mut World, removal: Removal) {
    world.get_resource_or_init::<Removals>().0.push(removal);
}

/// Removes the state of all features that belongs to `node`; returns the names of objects that stay,
/// changed.
pub(crate) fn remove(world: &mut World, node: NodeId) -> Vec<String> {
    let removals = world.get_resource_or_init::<Removals>().0.clone();
    removals.into_iter().flat_map(|removal| removal(world, node)).collect()
}

#[cfg(test)]
mod tests {
    use groundwave_engine::Id;
    use groundwave_sensor::ScannedDevice;
    use serde_json::{Value, json};

    use super::*;
    use crate::automation::Automation;
    use crate::camera::Camera;
    use crate::config::{ConfigObject, Expected, Put};
    use crate::fleet::FleetEventKind;
    use crate::onboarding::DeregisterNode;
    use crate::peripheral::{RecordScan, SensorAssignment};
    use crate::test_world::{does_at, engine, let_in};

    const AT_NS: u64 = 1_800_000_000_000_000_000;

    fn put<T: ConfigObject>(name: &str, object: Value) -> Put<T> {
        let object = serde_json::from_value(object).unwrap();
        Put { id: Id::named(name), object, expected: Expected::Absent }
    }

    fn flow(name: &str, trigger: &str, params: Value) -> Put<Automation> {
        let step = |id: &str, role: &str, kind: &str, params: Value| json!({ "step_id": id, "type": role, "kind": kind, "params": params });
        let alert = json!({ "message": "x" });
        let each = json!({ "action": { "kind": "alert", "params": alert }, "node_ids": params });
        let first = match trigger {
            "manual" => step("go", "trigger", "manual", json!({})),
            _ => step("go", "trigger", trigger, params),
        };
        let second = match trigger {
            "manual" => step("act", "action", "for_each_node", each),
            _ => step("act", "action", "alert", alert),
        };
        let edges = json!([{ "from": "go", "to": "act", "when": "true" }]);
        put(name, json!({ "name": name, "steps": [first, second], "edges": edges }))
    }

    #[test]
    fn removed_node_leaves_neither_sensors_nor_cameras_nor_flows_that_wait_for_it() {
        let mut engine = engine();
        let [one, two] = [1, 2].map(NodeId::from_u128);
        for (number, node) in [(1, one), (2, two)] {
            let_in(&mut engine, AT_NS, number, node);
            let sensor =
                json!({ "node_id": node, "bus": 1, "address": 0x48, "template_id": "lm75" });
            let name = number.to_string();
            does_at(&mut engine, AT_NS, put::<SensorAssignment>(&name, sensor)).unwrap();
            let camera = json!({
                "name": name, "source": "node", "node_id": node, "url": ":8080/", "device": null,
                "sealed_auth": null, "width": 640, "height": 480, "fps": 5,
            });
            does_at(&mut engine, AT_NS, put::<Camera>(&name, camera)).unwrap();
            let devices: Vec<ScannedDevice> = Vec::new();
            let scan = RecordScan { node: Some(node), bus: 1, devices };
            does_at(&mut engine, AT_NS, scan).unwrap();
        }
        let events = json!(["offline"]);
        for flow in [
            flow("own", "node_event", json!({ "events": events, "node_id": one })),
            flow("other", "node_event", json!({ "events": events, "node_id": two })),
            flow("both", "manual", json!([one, two])),
            flow("all", "node_event", json!({ "events": events })),
        ] {
            does_at(&mut engine, AT_NS, flow).unwrap();
        }
        let command = DeregisterNode { node: one, cascade: true, by: "ada".to_owned() };
        does_at(&mut engine, AT_NS, command).unwrap();
        let view = engine.view();
        let sensors = view.config.sensor_assignments.iter();
        assert_eq!(sensors.map(|(_, one)| one.object.node_id).collect::<Vec<_>>(), [Some(two)]);
        let cameras = view.config.cameras.iter();
        assert_eq!(cameras.map(|(_, one)| one.object.node_id).collect::<Vec<_>>(), [Some(two)]);
        let scans = view.peripherals.scans.iter();
        assert_eq!(scans.map(|scan| scan.0.node).collect::<Vec<_>>(), [Some(two)]);
        let flow = |name: &str| {
            let versioned = view.config.automations.get(Id::named(name)).unwrap();
            (versioned.object.0.enabled, versioned.revision)
        };
        assert_eq!(
            ["own", "other", "both", "all"].map(flow),
            [(false, 2), (true, 1), (true, 2), (true, 1)]
        );
        let both = view.config.automations.get(Id::named("both")).unwrap();
        assert_eq!(both.object.0.steps[1].params["node_ids"], json!([two]));
        let alerts = view.events.iter().filter(|event| event.kind == FleetEventKind::Alert);
        let objects: Vec<_> = alerts.filter_map(|event| event.data.get("object")).collect();
        assert_eq!(objects.len(), 2, "{objects:?}");
    }
}
