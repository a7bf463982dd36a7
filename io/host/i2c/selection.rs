//! Selection of sensors: assigned ones, and buses to probe.

use std::str::FromStr;

use groundwave_sensor::BusAddress;
use groundwave_sensor::template::ADDRESSES;

/// Format of an assigned sensor.
const FORMAT: &str = "TEMPLATE@BUS:ADDRESS with an address of 0x08 to 0x77, such as bme280@1:0x76";
/// Most buses to probe.
const BUSES_MAX: usize = 32;

/// A sensor assigned to an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssignedSensor {
    /// Name of its template.
    pub template: String,
    /// Bus and address.
    pub place: BusAddress,
}

impl FromStr for AssignedSensor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?}; allowed: {FORMAT}");
        let (template, place) = text.split_once('@').ok_or_else(wrong)?;
        let (bus, address) = place.split_once(':').ok_or_else(wrong)?;
        let bus = bus.parse().map_err(|_| wrong())?;
        // Only as 0x76: i2cdetect prints 76, which is another address in decimal digits.
        let digits = address.strip_prefix("0x").ok_or_else(wrong)?;
        let address = u16::from_str_radix(digits, 16).map_err(|_| wrong())?;
        if template.is_empty() || !ADDRESSES.contains(&address) {
            return Err(wrong());
        }
        Ok(Self { template: template.to_owned(), place: BusAddress { bus, address } })
    }
}

/// Buses to probe.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ProbeBuses {
    /// None.
    #[default]
    None,
    /// All buses.
    All,
    /// These buses.
    These(Vec<u32>),
}

impl FromStr for ProbeBuses {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self::All);
        }
        let wrong = || format!("{text:?}; allowed: auto, or numbers of buses such as 1 or 0,1");
        let numbers: Result<Vec<u32>, _> = text.split(',').map(str::parse).collect();
        let mut numbers = numbers.map_err(|_| wrong())?;
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.len() > BUSES_MAX {
            return Err(wrong());
        }
        Ok(Self::These(numbers))
    }
}

/// Selection of sensors.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SensorSelection {
    /// Buses to probe.
    pub probe: ProbeBuses,
    /// Assigned sensors.
    pub assigned: Vec<AssignedSensor>,
}

impl SensorSelection {
    /// Absence of any bus access.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.probe == ProbeBuses::None && self.assigned.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sensors_are_named_by_place() {
        let named: AssignedSensor = "bme280@1:0x76".parse().unwrap();
        let place = BusAddress { bus: 1, address: 0x76 };
        assert_eq!((named.template.as_str(), named.place), ("bme280", place));
        assert_eq!(place.to_string(), "1:0x76");
        for bad in [
            "",
            "bme280",
            "bme280@1",
            "bme280@1:76",
            "bme280@1:0x07",
            "bme280@1:0x78",
            "bme280@1:0x",
            "bme280@-1:0x76",
            "@1:0x76",
        ] {
            let reported = bad.parse::<AssignedSensor>().unwrap_err();
            assert!(reported.contains("allowed: TEMPLATE@BUS:ADDRESS"), "{reported}");
        }
    }

    #[test]
    fn buses_are_numbers_or_all() {
        assert_eq!("auto".parse(), Ok(ProbeBuses::All));
        assert_eq!("1,0,1".parse(), Ok(ProbeBuses::These(vec![0, 1])));
        for bad in ["", "all", "1,", "-1", "1;2"] {
            let reported = bad.parse::<ProbeBuses>().unwrap_err();
            assert!(reported.contains("allowed: auto"), "{reported}");
        }
    }
}
