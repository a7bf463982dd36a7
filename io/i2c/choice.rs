//! Which sensors are read: named ones, and those found on some buses.

use std::fmt;
use std::str::FromStr;

use super::template::ADDRESSES;

/// What a place can be.
const PLACE: &str = "TEMPLATE@BUS:ADDRESS with an address of 0x08 to 0x77, such as bme280@1:0x76";
/// Most buses that are named.
const BUSES_MAX: usize = 32;

/// Where a device is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The number of its bus.
    pub bus: u32,
    /// Its address, 0x08 to 0x77.
    pub address: u16,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{:#04x}", self.bus, self.address)
    }
}

/// A sensor that somebody named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assigned {
    /// Its template.
    pub template: String,
    /// Where it is.
    pub place: Place,
}

impl FromStr for Assigned {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?}; allowed: {PLACE}");
        let (template, place) = text.split_once('@').ok_or_else(wrong)?;
        let (bus, address) = place.split_once(':').ok_or_else(wrong)?;
        let bus = bus.parse().map_err(|_| wrong())?;
        // Only as 0x76: i2cdetect says 76 for it, which is another address in decimal digits.
        let digits = address.strip_prefix("0x").ok_or_else(wrong)?;
        let address = u16::from_str_radix(digits, 16).map_err(|_| wrong())?;
        if template.is_empty() || !ADDRESSES.contains(&address) {
            return Err(wrong());
        }
        Ok(Self {
            template: template.to_owned(),
            place: Place { bus, address },
        })
    }
}

/// Where sensors are looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Probe {
    /// Nowhere.
    #[default]
    Nowhere,
    /// On every bus there is.
    Everywhere,
    /// On these buses.
    Buses(Vec<u32>),
}

impl FromStr for Probe {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self::Everywhere);
        }
        let wrong = || format!("{text:?}; allowed: auto, or numbers of buses such as 1 or 0,1");
        let numbers: Result<Vec<u32>, _> = text.split(',').map(str::parse).collect();
        let mut numbers = numbers.map_err(|_| wrong())?;
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.len() > BUSES_MAX {
            return Err(wrong());
        }
        Ok(Self::Buses(numbers))
    }
}

/// Which sensors are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// Where they are looked for.
    pub probe: Probe,
    /// Those that are named.
    pub assigned: Vec<Assigned>,
}

impl Choice {
    /// Whether no bus is touched.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.probe == Probe::Nowhere && self.assigned.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sensors_are_named_by_place() {
        let named: Assigned = "bme280@1:0x76".parse().unwrap();
        let place = Place {
            bus: 1,
            address: 0x76,
        };
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
            let told = bad.parse::<Assigned>().unwrap_err();
            assert!(told.contains("allowed: TEMPLATE@BUS:ADDRESS"), "{told}");
        }
    }

    #[test]
    fn buses_are_numbers_or_all() {
        assert_eq!("auto".parse(), Ok(Probe::Everywhere));
        assert_eq!("1,0,1".parse(), Ok(Probe::Buses(vec![0, 1])));
        for bad in ["", "all", "1,", "-1", "1;2"] {
            let told = bad.parse::<Probe>().unwrap_err();
            assert!(told.contains("allowed: auto"), "{told}");
        }
    }
}
