//! Sensors and GPIO lines of a stock kernel: a bridge in user space, everything behind it is the
//! kernel's own. A camera of its own.

mod camera;
mod mcp2221;
mod sensors;

use std::process::Command;
use std::thread;
use std::time::Duration;

use groundwave_host::gpio::{GpioError, GpioLines, LineDirection, LineName, LineSetting};
use groundwave_host::i2c::bus::MachineBuses;
use groundwave_host::i2c::load::built_in_templates;
use groundwave_host::i2c::scan::scan;
use groundwave_sensor::IdentifiedBy;
use serde_json::Value;

mod sensors_and_lines_of_a_bridge {
    #[groundwave_needs::needs(virtual_machine)]
    #[test]
    fn vm() {
        if crate::guest::inside() {
            super::sensors_and_lines_of_a_bridge();
        } else {
            super::super::DEVICES.assert("devices::sensors_and_lines_of_a_bridge::vm");
        }
    }
}

fn sensors_and_lines_of_a_bridge() {
    mcp2221::plug_in();
    let bus = wait_for(bus);
    // The driver requests the directions of the lines while it cannot read the answers.
    let chip = wait_for(chip);
    println!("bus {bus}, {chip}");
    scanned(bus);
    read_by_the_program(bus);
    lines(&chip);
}

fn wait_for<T>(probe: impl Fn() -> Option<T>) -> T {
    for _ in 0..600 {
        if let Some(probe) = probe() {
            return probe;
        }
        thread::sleep(Duration::from_millis(100));
    }
    panic!("the driver made nothing of the bridge");
}

fn bus() -> Option<u32> {
    let buses = std::fs::read_dir("/sys/class/i2c-dev").ok()?;
    let mut buses = buses.filter_map(|entry| {
        let path = entry.ok()?.path();
        let name = std::fs::read_to_string(path.join("name")).ok()?;
        let number = path.file_name()?.to_str()?.strip_prefix("i2c-")?;
        name.contains("MCP2221").then(|| number.parse().ok())?
    });
    buses.next()
}

fn chip() -> Option<String> {
    let mut chips =
        GpioLines::default().inventory().ok()?.into_iter().filter(|chip| chip.lines.len() == 4);
    chips.next().map(|chip| chip.chip)
}

fn scanned(bus: u32) {
    let devices = scan(&MachineBuses::default(), bus, &built_in_templates(), false).unwrap();
    let kinds: Vec<_> = devices
        .iter()
        .map(|one| (one.address, one.template_id.as_deref(), one.identified_by))
        .collect();
    assert_eq!(
        kinds,
        [
            (0x40, Some("ina219"), Some(IdentifiedBy::Address)),
            (0x44, None, None),
            (0x48, None, None),
            (0x68, Some("ds3231"), Some(IdentifiedBy::Address)),
            (0x76, Some("bme280"), Some(IdentifiedBy::IdRegister)),
        ]
    );
}

fn read_by_the_program(bus: u32) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groundwave"));
    command.args(["agent", "--once", "--json"]);
    for (template, address) in
        [("ina219", 0x40), ("sht3x", 0x44), ("ads1115", 0x48), ("ds3231", 0x68), ("bme280", 0x76)]
    {
        command.args(["--sensor", &format!("{template}@{bus}:{address:#04x}")]);
    }
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["sensors"]["faults"], Value::Array(Vec::new()), "{document}");
    for (metric, expected, by) in [
        ("ina219.shunt_mv", 20.0, 1e-9),
        ("ina219.bus_v", 11.98, 1e-9),
        ("sht3x.temperature_c", 85.523, 0.001),
        ("ads1115.ain0_v", 4.095_875, 1e-9),
        ("ads1115.ain1_v", 2.048, 1e-9),
        ("ads1115.ain2_v", 0.000_125, 1e-9),
        ("ads1115.ain3_v", 0.0, 0.0),
        ("ds3231.temperature_c", 25.25, 0.0),
        ("bme280.temperature_c", 25.08, 0.005),
        ("bme280.pressure_hpa", 1_006.53, 0.005),
    ] {
        let value = document["readings"][format!("i2c.{metric}")]
            .as_f64()
            .unwrap_or_else(|| panic!("no {metric}: {document}"));
        println!("{metric}: {value}");
        assert!((value - expected).abs() <= by, "{metric}: {value}, not {expected}");
    }
}

fn lines(chip: &str) {
    let name = |offset| LineName { chip: chip.to_owned(), offset };
    let lines = GpioLines::new(vec![name(0), name(1)]);
    let input = LineSetting { direction: LineDirection::Input, value: None, bias: None };
    let output =
        |value| LineSetting { direction: LineDirection::Output, value: Some(value), bias: None };
    lines.set(chip, 1, input).unwrap();
    for value in [true, false, true] {
        let set = lines.set(chip, 0, output(value)).unwrap();
        assert_eq!(set.direction, LineDirection::Output);
        assert_eq!(set.consumer.as_deref(), Some("groundwave"));
        let wired = lines.line(chip, 1).unwrap();
        assert_eq!(wired.value, Some(u8::from(value)), "line 0 is wired to line 1");
    }
    let refused = lines.set(chip, 2, output(true)).unwrap_err();
    assert_eq!(refused, GpioError::NotAllowed(format!("{chip}:2")));
    assert_eq!(lines.line(chip, 2).unwrap().value, None);
    assert!(matches!(lines.line(chip, 9), Err(GpioError::NoLine(_))));
    // A second process: the line has a consumer.
    let other = GpioLines::new(vec![name(0)]);
    let error = other.set(chip, 0, output(false)).unwrap_err();
    assert!(matches!(error, GpioError::Held { .. }), "{error:?}");
    assert_eq!(lines.line(chip, 1).unwrap().value, Some(1), "it is as it was");
    let reports = lines.inventory().unwrap();
    let own = reports.iter().find(|report| report.chip == chip).unwrap();
    let reserved: Vec<bool> = own.lines.iter().map(|line| line.reserved).collect();
    assert_eq!(reserved, [false, false, true, true]);
}
