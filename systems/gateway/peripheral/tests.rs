use groundwave_engine::{Engine, Id, Recorded, Refusal};
use groundwave_sensor::{Board, ScannedDevice, SensorTemplate};
use groundwave_simulation::site::NodeId;
use serde_json::json;

use super::*;
use crate::Snapshot;
use crate::config::{Expected, Put, Remove};
use crate::test_world::{does_at, engine};

fn does<C: Recorded>(engine: &mut Engine<Snapshot>, command: C) -> Result<C::Reply, Refusal> {
    does_at(engine, 7_000_000_000, command)
}

fn template(id: &str, expr: &str) -> SensorTemplate {
    serde_json::from_value(json!({
        "template_id": id,
        "addresses": [0x20],
        "read": [{ "name": "raw", "reg": 0 }],
        "metrics": [{ "name": "value", "expr": expr }],
    }))
    .unwrap()
}

fn put_template(id: &str, object: SensorTemplate) -> Put<SensorTemplate> {
    Put { id: Id::named(id), object, expected: Expected::Absent }
}

fn assign(id: &str, template: &str, address: u16) -> Put<SensorAssignment> {
    let object = json!({ "bus": 1, "address": address, "template_id": template });
    Put {
        id: Id::named(id),
        object: serde_json::from_value(object).unwrap(),
        expected: Expected::Absent,
    }
}

#[test]
fn templates_are_checked_and_built_in_ones_stay() {
    let mut engine = engine();
    does(&mut engine, put_template("own", template("own", "raw * 2"))).unwrap();
    let refusal = does(&mut engine, put_template("bad", template("bad", "other"))).unwrap_err();
    let Refusal::Invalid { key, allowed, .. } = refusal else { panic!("{refusal}") };
    assert_eq!((key.as_str(), allowed.as_str()), ("metrics[0].expr", "raw"));
    let refusal = does(&mut engine, put_template("bme280", template("bme280", "raw")));
    assert!(matches!(refusal, Err(Refusal::Conflict { .. })), "{refusal:?}");
    let refusal = does(&mut engine, put_template("own2", template("own3", "raw")));
    assert!(matches!(refusal, Err(Refusal::Invalid { key, .. }) if key == "template_id"));
    let board: Board = serde_json::from_value(json!({
        "board_id": "own", "name": "Own", "pins": [{ "header": "J1", "pin": 1, "function": "gpio" }],
    }))
    .unwrap();
    let command = Put { id: Id::named("own"), object: board, expected: Expected::Absent };
    let refusal = does(&mut engine, command);
    assert!(matches!(refusal, Err(Refusal::Invalid { key, .. }) if key == "pins[0].header"));
}

#[test]
fn an_assignment_needs_a_template_and_an_address_of_its_own() {
    let mut engine = engine();
    let refusal = does(&mut engine, assign("a", "own", 0x20));
    assert!(matches!(refusal, Err(Refusal::Invalid { key, .. }) if key == "template_id"));
    does(&mut engine, put_template("own", template("own", "raw"))).unwrap();
    does(&mut engine, assign("a", "own", 0x20)).unwrap();
    let refusal = does(&mut engine, assign("b", "lm75", 0x20));
    assert!(matches!(refusal, Err(Refusal::Conflict { .. })), "{refusal:?}");
    let mut foreign = assign("c", "lm75", 0x48);
    foreign.object.node_id = Some(NodeId::from_u128(7));
    let refusal = does(&mut engine, foreign);
    assert!(matches!(refusal, Err(Refusal::Invalid { key, .. }) if key == "node_id"));
    let remove = Remove::<SensorTemplate> { id: Id::named("own"), expected: Expected::Present };
    let refusal = does(&mut engine, remove.clone());
    assert!(matches!(refusal, Err(Refusal::Conflict { .. })), "{refusal:?}");
    let view = engine.view();
    let plan = plan_of(&view.config.sensor_assignments, &view.config.sensor_templates, None);
    assert_eq!((plan.sensors.len(), plan.templates.len()), (1, 1));
    for number in 1..16 {
        let name = number.to_string();
        does(&mut engine, assign(&name, "lm75", 0x20 + number)).unwrap();
    }
    let refusal = does(&mut engine, assign("many", "lm75", 0x50));
    assert!(matches!(refusal, Err(Refusal::Conflict { .. })), "{refusal:?}");
    let removal = Remove::<SensorAssignment> { id: Id::named("a"), expected: Expected::Present };
    does(&mut engine, removal).unwrap();
    does(&mut engine, remove).unwrap();
}

#[test]
fn observations_are_kept_and_leave_a_fresh_world_as_it_was() {
    let mut engine = engine();
    engine.tick(Some(1)).unwrap();
    let fresh = serde_json::to_value(&*engine.view()).unwrap();
    assert!(fresh.get("peripherals").is_none());
    let device = ScannedDevice {
        bus: 1,
        address: 0x76,
        in_use: false,
        template_id: None,
        identified_by: None,
    };
    let scan = RecordScan { node: None, bus: 1, devices: vec![device.clone()] };
    does(&mut engine, scan).unwrap();
    let other = RecordScan { node: None, bus: 2, devices: vec![device.clone()] };
    assert!(does(&mut engine, other).is_err());
    let foreign = RecordScan { node: Some(NodeId::from_u128(7)), bus: 1, devices: Vec::new() };
    assert!(does(&mut engine, foreign).is_err());
    let readings = |name: &str| RecordHostReadings {
        readings: [(name.to_owned(), 25.0)].into(),
        partial: false,
    };
    does(&mut engine, readings("i2c.lm75.temperature_c")).unwrap();
    assert!(does(&mut engine, readings("sys.load1")).is_err());
    let view = engine.view();
    let peripherals = &view.peripherals;
    assert_eq!(peripherals.scans[0].0.devices, [device]);
    let reading = peripherals.readings["i2c.lm75.temperature_c"];
    assert_eq!((reading.value, reading.ts_ms), (25.0, 7_000));
}

#[test]
fn invalid_reading_of_the_machine_is_left_out_alone() {
    let mut engine = engine();
    let values = [
        ("i2c.bme280.temp_c", 21.5),
        ("i2c.bme280.pressure_pa", f64::NAN),
        ("sys.load1", 1.0),
        ("i2c.lm75.temperature_c", -4.0),
    ];
    let readings = values.map(|(name, value)| (name.to_owned(), value)).into();
    let refusals = does(&mut engine, RecordHostReadings { readings, partial: true }).unwrap();
    assert_eq!(refusals.len(), 2, "{refusals:?}");
    let view = engine.view();
    let names: Vec<_> = view.peripherals.readings.keys().map(|name| &**name).collect();
    assert_eq!(names, ["i2c.bme280.temp_c", "i2c.lm75.temperature_c"]);
}
