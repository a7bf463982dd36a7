//! Sensors on simulated buses, and the built-in templates.

use std::collections::BTreeMap;

use groundwave_protocol::check_metric;
use groundwave_sensor::{AssignedDevice, IdentifiedBy, SensorPlan};

use super::fake::Fake;
use super::load::{built_in_templates, load, template};
use super::scan::scan;
use super::{AssignedSensor, ProbeBuses, SKIPPED_READINGS, SensorSelection, Sensors};

/// Example of the BMP280's datasheet, section 3.12: `dig_T1` to `dig_P9`.
const CALIBRATION: [i32; 12] =
    [27_504, 26_435, -1_000, 36_477, -10_685, 3_024, 2_855, 140, -7, 15_500, -14_600, 6_000];
const ADC_T: u32 = 519_888;
const ADC_P: u32 = 415_148;

/// A sensor with the registers of the datasheet's example.
fn bosch(fake: &Fake, bus: u32, address: u16, id: u8) {
    fake.set(bus, address, 0xD0, &[id]);
    for (at, value) in CALIBRATION.into_iter().enumerate() {
        let bytes = (value as u16).to_le_bytes();
        fake.set(bus, address, 0x88 + 2 * at as u8, &bytes);
    }
    fake.set(bus, address, 0xF7, &(ADC_P << 12).to_be_bytes()[..3]);
    fake.set(bus, address, 0xFA, &(ADC_T << 12).to_be_bytes()[..3]);
}

fn sensors(fake: &Fake, probe: ProbeBuses, named: &[&str]) -> Sensors {
    let assigned = named.iter().map(|name| name.parse().unwrap()).collect();
    let selection = SensorSelection { probe, assigned };
    let templates = load(None).unwrap();
    Sensors::new(selection, templates, Box::new(fake.clone())).unwrap()
}

fn near(found: Option<&f64>, expected: f64, by: f64) {
    let found = *found.unwrap_or_else(|| panic!("no reading where {expected} was expected"));
    assert!((found - expected).abs() <= by, "{found}, not {expected}");
}

#[test]
fn the_datasheets_example_is_read() {
    let fake = Fake::default();
    bosch(&fake, 1, 0x77, 0x58);
    let mut sensors = sensors(&fake, ProbeBuses::All, &[]);
    assert_eq!(sensors.detect(), [""; 0]);
    assert!(fake.written.lock().unwrap().is_empty(), "looking only reads");
    let (readings, faults) = sensors.read(0);
    assert_eq!(faults, [""; 0]);
    near(readings.get("i2c.bmp280.temperature_c"), 25.08, 0.005);
    near(readings.get("i2c.bmp280.pressure_hpa"), 1_006.532_7, 5e-5);
    assert_eq!(readings.len(), 2);
    for (name, value) in &readings {
        check_metric(name, *value).unwrap();
    }
    let found = sensors.found();
    assert_eq!((found[0].bus, found[0].address), (1, 0x77));
    let written = fake.written.lock().unwrap();
    assert_eq!(*written, [(1, 0x77, 0xF4, vec![0x25])]);
}

/// Relative humidity by the datasheet's floating point formula.
fn humidity(t_fine: f64, adc: f64, h: [f64; 6]) -> f64 {
    let var = t_fine - 76_800.0;
    let offset = h[3] * 64.0 + h[4] / 16_384.0 * var;
    let cubic = 1.0 + h[2] / 67_108_864.0 * var;
    let slope = h[1] / 65_536.0 * (1.0 + h[5] / 67_108_864.0 * var * cubic);
    let var = (adc - offset) * slope;
    (var * (1.0 - h[0] * var / 524_288.0)).clamp(0.0, 100.0)
}

#[test]
fn a_bme280_has_humidity() {
    let fake = Fake::default();
    bosch(&fake, 0, 0x76, 0x60);
    // H1 75, H2 362, H3 0, H4 328, H5 50, H6 30; H4 and H5 share a register.
    fake.set(0, 0x76, 0xA1, &[75]);
    fake.set(0, 0x76, 0xE1, &[0x6A, 0x01, 0, 0x14, 0x28, 0x03, 30]);
    fake.set(0, 0x76, 0xFD, &27_960_u16.to_be_bytes());
    let (readings, faults) = sensors(&fake, ProbeBuses::These(vec![0]), &[]).read(0);
    assert_eq!(faults, [""; 0]);
    near(readings.get("i2c.bme280.temperature_c"), 25.08, 0.005);
    near(readings.get("i2c.bme280.pressure_hpa"), 1_006.532_7, 5e-5);
    let expected = humidity(128_422.287, 27_960.0, [75.0, 362.0, 0.0, 328.0, 50.0, 30.0]);
    assert!((38.0..39.0).contains(&expected), "{expected}");
    near(readings.get("i2c.bme280.humidity_pct"), expected, 1e-5);
}

#[test]
fn an_assigned_sensor_needs_no_identification() {
    let fake = Fake::default();
    fake.set(2, 0x48, 0x00, &[0xE7, 0x00]);
    // Registers of two bytes each, which overlap here.
    fake.set(2, 0x40, 0x01, &[0x03, 0x1F, 0x42]);
    let (readings, _) = sensors(&fake, ProbeBuses::All, &[]).read(0);
    assert!(readings.is_empty());
    let named = ["lm75@2:0x48", "ina219@2:0x40"];
    let (readings, faults) = sensors(&fake, ProbeBuses::None, &named).read(0);
    assert_eq!(faults, [""; 0]);
    near(readings.get("i2c.lm75.temperature_c"), -25.0, 0.0);
    near(readings.get("i2c.ina219.shunt_mv"), 7.99, 1e-9);
    near(readings.get("i2c.ina219.current_ma"), 79.9, 1e-9);
    near(readings.get("i2c.ina219.bus_v"), 4.0, 1e-9);
}

#[test]
fn two_sensors_of_a_template_have_different_names() {
    let fake = Fake::default();
    bosch(&fake, 1, 0x76, 0x58);
    bosch(&fake, 1, 0x77, 0x58);
    bosch(&fake, 2, 0x76, 0x58);
    fake.taken.lock().unwrap().push((2, 0x76));
    let mut sensors = sensors(&fake, ProbeBuses::All, &[]);
    let (readings, faults) = sensors.read(0);
    assert_eq!(faults, [""; 0], "what a driver has is no fault");
    let names: Vec<&str> = readings.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "i2c.bmp280.pressure_hpa",
            "i2c.bmp280.temperature_c",
            "i2c.bmp280_2.pressure_hpa",
            "i2c.bmp280_2.temperature_c",
        ]
    );
}

#[test]
fn a_failed_sensor_is_reported_once_and_recovers() {
    let fake = Fake::default();
    bosch(&fake, 1, 0x76, 0x58);
    // Another device, so that the bus exists.
    fake.set(1, 0x50, 0, &[0]);
    let mut sensors = sensors(&fake, ProbeBuses::All, &[]);
    assert_eq!(sensors.read(0).0.len(), 2);
    fake.unplug(1, 0x76);
    let (readings, faults) = sensors.read(0);
    assert!(readings.is_empty());
    assert_eq!(faults, ["bmp280 at 1:0x76: no answer; it is tried again later"]);
    for _ in 0..3 * SKIPPED_READINGS {
        assert_eq!(sensors.read(0), (BTreeMap::new(), Vec::new()));
    }
    bosch(&fake, 1, 0x76, 0x58);
    let back = (0..=SKIPPED_READINGS).find(|_| !sensors.read(0).0.is_empty());
    assert!(back.is_some(), "it comes back");
    assert!(sensors.found()[0].answers);
}

#[test]
fn out_of_range_metrics_are_omitted_and_reported_once() {
    let fake = Fake::default();
    fake.set(1, 0x48, 0x00, &[0x7F, 0xFF]);
    let mut sensors = sensors(&fake, ProbeBuses::None, &["lm75@1:0x48"]);
    let (readings, faults) = sensors.read(0);
    assert!(readings.is_empty());
    assert_eq!(
        faults,
        ["lm75 at 1:0x48: temperature_c: 127.5 °C is left out; allowed: -55 to 125"]
    );
    assert_eq!(sensors.read(0).1, [""; 0]);
    fake.set(1, 0x48, 0x00, &[0x19, 0x00]);
    near(sensors.read(0).0.get("i2c.lm75.temperature_c"), 25.0, 0.0);
    fake.set(1, 0x48, 0x00, &[0x7F, 0xFF]);
    assert_eq!(sensors.read(0).1.len(), 1, "it began anew");
}

#[test]
fn a_wrong_device_and_an_absent_bus_are_reported() {
    let fake = Fake::default();
    bosch(&fake, 1, 0x76, 0x58);
    let mut named = sensors(&fake, ProbeBuses::None, &["bme280@1:0x76"]);
    let (readings, faults) = named.read(0);
    assert!(readings.is_empty() && faults[0].contains("0xd0 identifies another"), "{faults:?}");
    let mut absent = sensors(&fake, ProbeBuses::These(vec![7]), &[]);
    assert_eq!(absent.read(0).1, ["I2C bus 7: /dev/i2c-7 is absent"]);
    assert_eq!(absent.detect(), [""; 0], "once");
}

#[test]
fn invalid_selections_are_refused() {
    let refused = |named: &[&str]| {
        let assigned: Vec<AssignedSensor> =
            named.iter().map(|name| name.parse().unwrap()).collect();
        let selection = SensorSelection { probe: ProbeBuses::None, assigned };
        let templates = load(None).unwrap();
        Sensors::new(selection, templates, Box::new(Fake::default())).unwrap_err()
    };
    let reported = refused(&["bme28@1:0x76"]);
    assert!(reported.contains("did you mean \"bme280\"?"), "{reported}");
    let reported = refused(&["lm75@1:0x48", "bme280@1:0x48"]);
    assert_eq!(reported, "two sensors at 1:0x48; allowed: one");
    let many: Vec<String> = (0..17).map(|bus| format!("lm75@{bus}:0x48")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert!(refused(&many).contains("16 sensors"));
}

const OWN: &str = r#"
template_id = "own"
addresses = [0x20]
read = [{ name = "a", reg = 0, len = 2, signed = true }]
let = [{ name = "b", expr = "a / 4" }]
metrics = [{ name = "b_c", expr = "b + 1", min = 0 }]
"#;

#[test]
fn template_errors_have_line_and_key() {
    template(OWN, "own.toml").unwrap();
    for (from, to, says) in [
        ("\"own\"", "\"Own\"", "own.toml:2:15: template_id: \"Own\" is not a template name"),
        ("0x20", "0x78", "addresses[0]: 120; allowed: [8, 119]"),
        ("len = 2", "len = 5", "read[0].len: 5; allowed: [1, 4]"),
        ("len = 2", "length = 2", "unknown key \"length\""),
        ("\"a / 4\"", "\"a / \"", "found the end"),
        ("\"a / 4\"", "\"c / 4\"", "let[0].expr: undefined name \"c\"; allowed: a"),
        ("\"b\"", "\"a\"", "let[0].name: \"a\" is a duplicate"),
        ("min = 0", "min = 2, max = 1", "metrics[0].min: 2 is more than max, 1"),
        ("\"b_c\"", "\"b-c\"", "metrics[0].name: \"b-c\" is not a metric name"),
        (
            "0x20",
            "0x20]\ninit = [{ delay_ms = 2000 }",
            "init[0].delay_ms: 2000; allowed: [0, 1000]",
        ),
        ("0x20", "0x20]\nstart = [{ wait = 1 }", "start[0]"),
        (
            "0x20",
            "0x20]\ninit = [{ write = { reg = 1, bytes = [] } }",
            "init[0].write.bytes: 0 items",
        ),
    ] {
        let text = OWN.replacen(from, to, 1);
        let reported = template(&text, "own.toml").unwrap_err().to_string();
        assert!(reported.contains(says), "{to}: {reported}");
    }
}

#[test]
fn templates_come_from_a_folder_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.toml");
    std::fs::write(&path, OWN).unwrap();
    std::fs::write(folder.path().join("notes.txt"), "no template").unwrap();
    let templates = load(Some(folder.path())).unwrap();
    assert_eq!(templates.len(), built_in_templates().len() + 1);
    std::fs::write(&path, OWN.replacen("own", "bme280", 1)).unwrap();
    let reported = load(Some(folder.path())).unwrap_err();
    assert!(reported.contains("there is a template \"bme280\" already"), "{reported}");
    assert!(load(Some(&folder.path().join("absent"))).is_err());
}

#[test]
fn the_template_of_the_handbook_is_valid() {
    let (_, text) = include_str!("../../../docs/gateway.md").split_once("```toml\n").unwrap();
    let (text, _) = text.split_once("```").unwrap();
    let found = template(text, "gateway.md").unwrap();
    let known = [("gain".to_owned(), 2.0), ("raw".to_owned(), 2_621_440.0)];
    let computed = found.compute(BTreeMap::from(known));
    assert_eq!(computed.metrics.len(), 1, "{computed:?}");
}

#[test]
fn a_frame_with_a_wrong_checksum_is_no_reading() {
    let fake = Fake::default();
    fake.set(1, 0x44, 0x24, &[0]);
    let send = |bytes: &[u8]| {
        fake.frames.lock().unwrap().insert((1, 0x44), bytes.to_vec());
    };
    send(&[0xBE, 0xEF, 0x92, 0xBE, 0xEF, 0x92]);
    let mut sensors = sensors(&fake, ProbeBuses::None, &["sht3x@1:0x44"]);
    near(sensors.read(0).0.get("i2c.sht3x.temperature_c"), 85.523, 0.001);
    send(&[0xBE, 0xEF, 0x92, 0xBE, 0xEF, 0x91]);
    let (readings, faults) = sensors.read(0);
    assert!(readings.is_empty());
    assert!(faults[0].contains("measurement: wrong checksum of group 2"), "{faults:?}");
}

#[test]
fn a_gateway_replaces_its_assignments_and_no_others() {
    let fake = Fake::default();
    fake.set(1, 0x48, 0x00, &[0x19, 0x00]);
    fake.set(1, 0x49, 0x00, &[0x32, 0x00]);
    let mut sensors = sensors(&fake, ProbeBuses::None, &["lm75@1:0x48"]);
    let device = |template: &str, address, interval_s| AssignedDevice {
        template_id: template.to_owned(),
        bus: 1,
        address,
        interval_s,
    };
    let own = template(&OWN.replace("0x20", "0x49"), "own.toml").unwrap();
    let plan = SensorPlan {
        sensors: vec![
            device("own", 0x49, Some(10)),
            device("lm75", 0x48, None),
            device("absent", 0x4A, None),
        ],
        templates: vec![own],
    };
    let refused = sensors.replace(&plan);
    assert_eq!(refused.len(), 2, "{refused:?}");
    assert!(refused[0].contains("two sensors at 1:0x48"), "{refused:?}");
    let (readings, faults) = sensors.read(0);
    assert_eq!(faults, [""; 0]);
    near(readings.get("i2c.lm75.temperature_c"), 25.0, 0.0);
    near(readings.get("i2c.own.b_c"), 3_201.0, 0.0);
    assert!(!sensors.read(9_999).0.contains_key("i2c.own.b_c"), "it is not due");
    assert!(sensors.read(10_000).0.contains_key("i2c.own.b_c"));
    assert_eq!(sensors.replace(&SensorPlan::default()), [""; 0]);
    let names: Vec<String> = sensors.read(20_000).0.into_keys().collect();
    assert_eq!(names, ["i2c.lm75.temperature_c"]);
}

#[test]
fn a_scan_only_reads_and_names_what_it_can() {
    let fake = Fake::default();
    bosch(&fake, 1, 0x76, 0x60);
    bosch(&fake, 1, 0x77, 0x11);
    fake.set(1, 0x44, 0, &[0]);
    fake.set(1, 0x48, 0, &[0]);
    fake.set(1, 0x50, 0, &[0]);
    fake.taken.lock().unwrap().push((1, 0x50));
    let templates = built_in_templates();
    let found = scan(&fake, 1, &templates, false).unwrap();
    let shown: Vec<_> = found
        .iter()
        .map(|one| (one.address, one.in_use, one.template_id.as_deref(), one.identified_by))
        .collect();
    assert_eq!(
        shown,
        [
            // An INA219 may have this address too.
            (0x44, false, None, None),
            (0x48, false, None, None),
            (0x50, true, None, None),
            (0x76, false, Some("bme280"), Some(IdentifiedBy::IdRegister)),
            (0x77, false, None, None),
        ]
    );
    fake.set(1, 0x68, 0, &[0]);
    let found = scan(&fake, 1, &templates, false).unwrap();
    let clock = found.iter().find(|one| one.address == 0x68).unwrap();
    assert_eq!(clock.template_id.as_deref(), Some("ds3231"));
    assert_eq!(clock.identified_by, Some(IdentifiedBy::Address));
    assert!(fake.written.lock().unwrap().is_empty());
    assert!(scan(&fake, 7, &templates, false).is_err());
}

#[test]
fn the_frames_of_the_handbook_are_valid() {
    let (_, text) = include_str!("../../../docs/sensors.md").split_once("```toml\n").unwrap();
    let (text, _) = text.split_once("```").unwrap();
    assert_eq!(template(text, "sensors.md").unwrap().frames[0].fields.len(), 1);
}
