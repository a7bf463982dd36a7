//! Built-in templates and boards over the examples of datasheets.

use std::collections::BTreeMap;

use groundwave_sensor::board::{PinFunction, board_of};
use groundwave_sensor::dry_run::Recording;
use groundwave_sensor::template::Crc8;
use groundwave_sensor::{BUILT_IN_BOARDS, BUILT_IN_TEMPLATES, SensorTemplate};

use super::load::{built_in_boards, built_in_templates};

fn template(id: &str) -> SensorTemplate {
    let mut all = built_in_templates().into_iter();
    all.find(|one| one.template_id == id).unwrap()
}

fn recording(entries: &[(&str, &str)]) -> Recording {
    let owned = |(key, hex): &(&str, &str)| ((*key).to_owned(), (*hex).to_owned());
    Recording::parse(&entries.iter().map(owned).collect()).unwrap()
}

/// Metrics of a built-in template over a recording without faults.
fn metrics(id: &str, entries: &[(&str, &str)]) -> BTreeMap<String, f64> {
    let template = template(id);
    let computed = template.dry_run(&recording(entries)).unwrap();
    assert_eq!(computed.faults, []);
    let owned = |(name, value): (&str, f64)| (name.to_owned(), value);
    computed.metrics.into_iter().map(owned).collect()
}

#[track_caller]
fn near(found: &BTreeMap<String, f64>, name: &str, expected: f64, by: f64) {
    let value = found[name];
    assert!((value - expected).abs() <= by, "{name}: {value}, not {expected}");
}

/// BMP280 datasheet, section 3.12, which the BME280 shares: 25.08 °C and 100,653 Pa.
#[test]
fn a_bme280_has_the_datasheets_values() {
    let calibration = "706b 4367 18fc 7d8e 43d6 d00b 270b 8c00 f9ff 8c3c f8c6 7017";
    let found = metrics(
        "bme280",
        &[
            ("0x88", calibration),
            ("0xa1", "4b"),
            ("0xe1", "6a01 00 14 28 03 1e"),
            ("0xf7", "655ac0 7eed00 6d38"),
        ],
    );
    near(&found, "temperature_c", 25.08, 0.005);
    near(&found, "pressure_hpa", 1_006.53, 0.005);
}

/// INA219 datasheet, section 8.5 and table 8: 20 mV, 11.98 V.
#[test]
fn an_ina219_has_the_datasheets_values() {
    let found = metrics("ina219", &[("0x01", "07d0"), ("0x02", "5d98")]);
    near(&found, "shunt_mv", 20.0, 1e-9);
    near(&found, "bus_v", 11.98, 1e-9);
    near(&found, "current_ma", 200.0, 1e-9);
    near(&found, "power_mw", 2_396.0, 1e-6);
    let negative = metrics("ina219", &[("0x01", "8300"), ("0x02", "5d98")]);
    near(&negative, "shunt_mv", -320.0, 1e-9);
}

/// SHT3x-DIS datasheet, sections 4.12 and 4.13, with the checksum of its example, 0xBEEF.
#[test]
fn an_sht3x_has_the_datasheets_values_and_checksum() {
    let crc8 = Crc8 { poly: 0x31, init: 0xFF, every: 2 };
    let word = |word: [u8; 2]| format!("{:02x}{:02x}{:02x}", word[0], word[1], crc8.of(&word));
    let frame = word([0x66, 0x66]) + &word([0x80, 0x00]);
    let found = metrics("sht3x", &[("measurement", &frame)]);
    near(&found, "temperature_c", 25.0, 1e-9);
    near(&found, "humidity_pct", 50.0, 0.001);
    let found = metrics("sht3x", &[("measurement", "beef92 beef92")]);
    near(&found, "temperature_c", 85.523, 0.001);
    let template = template("sht3x");
    let wrong =
        template.dry_run(&recording(&[("measurement", "beef92 beef93")])).unwrap_err().to_string();
    assert!(wrong.contains("wrong checksum of group 2"), "{wrong}");
    assert!(template.dry_run(&Recording::default()).is_err());
}

/// ADS1115 datasheet, table 3: codes at the ends of the range and beside zero.
#[test]
fn an_ads1115_has_the_datasheets_codes() {
    let found = metrics(
        "ads1115",
        &[("ain0", "7fff"), ("ain1", "8000"), ("ain2", "0001"), ("ain3", "ffff")],
    );
    near(&found, "ain0_v", 4.096 * 32_767.0 / 32_768.0, 1e-12);
    near(&found, "ain1_v", -4.096, 1e-12);
    near(&found, "ain2_v", 125e-6, 1e-12);
    near(&found, "ain3_v", -125e-6, 1e-12);
}

/// DS3231 datasheet, "Temperature Registers": 0001 1001 01 is +25.25 °C.
#[test]
fn a_ds3231_has_the_datasheets_temperature() {
    let found = metrics("ds3231", &[("0x0f", "88"), ("0x11", "1940")]);
    near(&found, "temperature_c", 25.25, 0.0);
    near(&found, "oscillator_stopped", 1.0, 0.0);
    let found = metrics("ds3231", &[("0x0f", "00 00 ffc0")]);
    near(&found, "temperature_c", -0.25, 0.0);
    near(&found, "oscillator_stopped", 0.0, 0.0);
}

#[test]
fn the_names_of_the_model_are_those_of_the_files() {
    let templates = built_in_templates();
    let ids: Vec<&str> = templates.iter().map(|one| one.template_id.as_str()).collect();
    assert_eq!(ids, BUILT_IN_TEMPLATES);
    let boards = built_in_boards();
    let ids: Vec<&str> = boards.iter().map(|one| one.board_id.as_str()).collect();
    assert_eq!(ids, BUILT_IN_BOARDS);
}

#[test]
fn templates_survive_json() {
    for template in built_in_templates() {
        let text = serde_json::to_string(&template).unwrap();
        assert_eq!(serde_json::from_str::<SensorTemplate>(&text).unwrap(), template);
    }
}

#[test]
fn a_raspberry_pi_is_found_by_its_device_tree() {
    let boards = built_in_boards();
    let compatible = ["raspberrypi,3-model-b", "brcm,bcm2837"].map(str::to_owned);
    let found = board_of(&boards, &compatible, Some("Raspberry Pi 3 Model B Rev 1.2")).unwrap();
    assert_eq!(found.board_id, "raspberry_pi_3");
    let pin = found.pin_of("pinctrl-bcm2835", 17).unwrap();
    assert_eq!((pin.pin, pin.function), (11, PinFunction::Gpio));
    let by_model = board_of(&boards, &[], Some("Raspberry Pi 5 Model B Rev 1.0")).unwrap();
    assert_eq!(by_model.board_id, "raspberry_pi_5");
    assert_eq!(board_of(&boards, &[], Some("QEMU Standard PC")), None);
}
