//! Sensors: templates of registers and formulas, and the boards that sensors are wired to.
//!
//! A [`SensorTemplate`] says where a sensor is found, which registers are read and how metrics
//! follow from them; its formulas ([`expr`]) always terminate.

mod address;
mod assignment;
pub mod board;
mod check;
pub mod decode;
pub mod dry_run;
pub mod expr;
#[cfg(test)]
mod expr_tests;
mod parse;
pub mod scan;
mod syntax;
pub mod template;

pub use address::BusAddress;
pub use assignment::{AssignedDevice, SensorPlan};
pub use board::Board;
pub use scan::{IdentifiedBy, ScannedDevice};
pub use template::SensorTemplate;

/// Prefix of the names of readings.
pub const NAMESPACE: &str = "i2c.";

/// Names of the templates that come with the program.
pub const BUILT_IN_TEMPLATES: [&str; 7] =
    ["ads1115", "bme280", "bmp280", "ds3231", "ina219", "lm75", "sht3x"];

/// Names of the boards that come with the program.
pub const BUILT_IN_BOARDS: [&str; 4] =
    ["generic", "raspberry_pi_3", "raspberry_pi_4", "raspberry_pi_5"];

/// Prefix of the metrics of one more sensor of the template `id`, where `is_free` says which names
/// are left: the template's own, then with a number.
pub fn metric_prefix(id: &str, is_free: impl Fn(&str) -> bool) -> Option<String> {
    let numbered = (2..=32).map(|number| format!("{id}_{number}"));
    std::iter::once(id.to_owned())
        .chain(numbered)
        .find(|name| name.len() <= template::ID_BYTES_MAX && is_free(name))
}

/// `true` if metrics with this prefix may be those of a sensor of the template `id`.
#[must_use]
pub fn is_prefix_of(id: &str, prefix: &str) -> bool {
    let Some(rest) = prefix.strip_prefix(id) else {
        return false;
    };
    let numbered = rest.strip_prefix('_').is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    rest.is_empty() || numbered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_have_the_name_of_their_template_and_a_number() {
        assert_eq!(metric_prefix("lm75", |_| true).unwrap(), "lm75");
        let second = metric_prefix("lm75", |name| name != "lm75").unwrap();
        assert_eq!(second, "lm75_2");
        assert!(is_prefix_of("lm75", "lm75") && is_prefix_of("lm75", "lm75_12"));
        for other in ["lm7", "lm75_", "lm75_x", "lm755"] {
            assert!(!is_prefix_of("lm75", other), "{other}");
        }
    }
}
