//! A sensor on a bus of the kernel: its registers are memory (i2c-stub), the rest is real.

use std::process::Command;

use groundwave_host::i2c::bus::{Bus, BusError, MachineBus};
use serde_json::Value;

use crate::SENSORS;

/// Where the module puts its device.
const ADDRESS: u16 = 0x76;
/// The example of the BMP280's datasheet, section 3.12: `dig_T1` to `dig_P9`.
const CALIBRATION: [i32; 12] =
    [27_504, 26_435, -1_000, 36_477, -10_685, 3_024, 2_855, 140, -7, 15_500, -14_600, 6_000];
const ADC_T: u32 = 519_888;
const ADC_P: u32 = 415_148;

mod a_bmp280_is_read_by_the_program {
    #[groundwave_needs::needs(virtual_machine)]
    #[test]
    fn vm() {
        if crate::guest::inside() {
            super::a_bmp280_is_read_by_the_program();
        } else {
            super::SENSORS.assert("sensors::a_bmp280_is_read_by_the_program::vm");
        }
    }
}

fn a_bmp280_is_read_by_the_program() {
    let number = bus();
    let mut bus = MachineBus::at(format!("/dev/i2c-{number}").into());

    // Checks of the bus itself first.
    let mut byte = [0];
    assert_eq!(bus.read(0x07, 0, &mut byte), Err(BusError::Reserved(0x07)));
    assert_eq!(bus.read(0x50, 0, &mut byte), Err(BusError::NoAnswer));
    let absent = MachineBus::at("/dev/i2c-99".into()).read(ADDRESS, 0, &mut byte);
    assert_eq!(absent, Err(BusError::Absent("/dev/i2c-99".to_owned())));

    bus.write(ADDRESS, 0xD0, &[0x58]).unwrap();
    for (at, value) in CALIBRATION.into_iter().enumerate() {
        // The stub keeps words apart from bytes: what is written as a word is read as one.
        let bytes = (value as u16).to_le_bytes();
        bus.write(ADDRESS, 0x88 + 2 * at as u8, &bytes).unwrap();
    }
    let block = |adc: u32| (adc << 12).to_be_bytes();
    bus.write(ADDRESS, 0xF7, &block(ADC_P)[..3]).unwrap();
    bus.write(ADDRESS, 0xFA, &block(ADC_T)[..3]).unwrap();

    let nothing = program(&[]);
    assert_eq!(nothing["sensors"]["probed"], false, "{nothing}");
    let named = format!("bmp280@{number}:0x76");
    for words in [["--i2c", "auto"], ["--i2c", &number.to_string()], ["--sensor", &named]] {
        let bmp280 = program(&words);
        assert_eq!(bmp280["sensors"]["faults"], Value::Array(Vec::new()), "{bmp280}");
        let reading = |name: &str| bmp280["readings"][name].as_f64().unwrap();
        let temperature = reading("i2c.bmp280.temperature_c");
        let pressure = reading("i2c.bmp280.pressure_hpa");
        println!("{words:?}: {temperature} °C, {pressure} hPa");
        assert!((temperature - 25.08).abs() < 0.005, "{bmp280}");
        assert!((pressure - 1_006.532_7).abs() < 5e-5, "{bmp280}");
    }
    let mut started = [0];
    bus.read(ADDRESS, 0xF4, &mut started).unwrap();
    assert_eq!(started, [0x25], "a measurement was started");
}

/// Output of the program about the machine.
fn program(words: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groundwave"));
    command.args(["agent", "--once", "--json"]).args(words);
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Number of the bus of the module.
fn bus() -> u32 {
    let buses = std::fs::read_dir("/sys/class/i2c-dev").unwrap();
    let mut numbers = buses.filter_map(|entry| {
        let path = entry.unwrap().path();
        let name = std::fs::read_to_string(path.join("name")).unwrap();
        let number = path.file_name()?.to_str()?.strip_prefix("i2c-")?;
        name.contains("stub").then(|| number.parse().ok())?
    });
    numbers.next().expect("a bus")
}
