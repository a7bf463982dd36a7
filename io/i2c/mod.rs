//! Sensors on I2C buses, read by templates.
//!
//! Only requested buses are accessed: a sensor is probed only on the given buses, only by reading,
//! and only where a template has a register that identifies the device.

pub mod bus;
mod check;
pub mod expr;
#[cfg(test)]
mod expr_tests;
pub mod load;
mod parse;
mod selection;
mod sensor;
mod syntax;
pub mod template;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bus::{Adapters, Bus};
pub use selection::{AssignedSensor, BusAddress, ProbeBuses, SensorSelection};
use sensor::Sensor;
use template::{ID_BYTES_MAX, Identify, SensorTemplate};

use crate::toml_document::suggest;

/// Prefix of the names of readings.
pub const NAMESPACE: &str = "i2c.";
/// Most readings at a time: a heartbeat carries 64, of which 16 are the agent's own.
pub const READINGS_MAX: usize = 48;
/// Most sensors.
const SENSORS_MAX: usize = 16;
/// Readings that skip a sensor after a failure.
const SKIPPED_READINGS: u32 = 12;
/// Readings between two probes for missing sensors.
const PROBE_INTERVAL_READINGS: u32 = 60;

/// State of a sensor.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct SensorStatus {
    /// Prefix of its metrics.
    pub name: String,
    /// Name of its template.
    pub template: String,
    /// Bus number.
    pub bus: u32,
    /// Address.
    pub address: u16,
    /// Success of the last reading.
    pub answers: bool,
}

/// The sensors of a node.
#[derive(Debug)]
pub struct Sensors {
    selection: SensorSelection,
    templates: Vec<Arc<SensorTemplate>>,
    adapters: Box<dyn Adapters>,
    buses: BTreeMap<u32, Box<dyn Bus>>,
    sensors: Vec<Sensor>,
    until_probe: u32,
    /// Reported faults that have not ended.
    reported: BTreeSet<String>,
}

impl Sensors {
    /// The assigned sensors of a selection; no bus is accessed.
    ///
    /// # Errors
    /// For an unknown template, an address assigned twice, or too many sensors.
    pub fn new(
        selection: SensorSelection,
        templates: Vec<SensorTemplate>,
        adapters: Box<dyn Adapters>,
    ) -> Result<Self, String> {
        let mut sensors = Self {
            selection: SensorSelection::default(),
            templates: templates.into_iter().map(Arc::new).collect(),
            adapters,
            buses: BTreeMap::new(),
            sensors: Vec::new(),
            until_probe: 0,
            reported: BTreeSet::new(),
        };
        for AssignedSensor { template, place } in &selection.assigned {
            if sensors.at(*place) {
                return Err(format!("two sensors at {place}; allowed: one"));
            }
            let mut known = sensors.templates.iter();
            let Some(found) = known.find(|one| one.template_id == *template) else {
                let names = sensors.templates.iter().map(|one| one.template_id.as_str());
                let allowed = suggest::one_of(template, names);
                return Err(format!("no template {template:?}; allowed: {allowed}"));
            };
            let found = Arc::clone(found);
            sensors.add(found, *place)?;
        }
        sensors.selection = selection;
        Ok(sensors)
    }

    /// The selection.
    #[must_use]
    pub fn selection(&self) -> &SensorSelection {
        &self.selection
    }

    /// The known sensors.
    #[must_use]
    pub fn found(&self) -> Vec<SensorStatus> {
        let found = self.sensors.iter().map(|one| SensorStatus {
            name: one.label.clone(),
            template: one.template.template_id.clone(),
            bus: one.place.bus,
            address: one.place.address,
            answers: one.is_ready(),
        });
        found.collect()
    }

    /// Probes for sensors, only by reading; returns new faults.
    pub fn detect(&mut self) -> Vec<String> {
        let numbers = match &self.selection.probe {
            ProbeBuses::None => Vec::new(),
            ProbeBuses::All => self.adapters.numbers(),
            ProbeBuses::These(numbers) => numbers.clone(),
        };
        let mut faults = Vec::new();
        for number in numbers {
            let seen = self.probe_bus(number);
            self.report(&format!("bus {number}"), seen.err(), &mut faults);
        }
        faults
    }

    /// Readings of all sensors by metric, and new faults.
    pub fn read(&mut self) -> (BTreeMap<String, f64>, Vec<String>) {
        let (mut readings, mut faults) = (BTreeMap::new(), Vec::new());
        if self.until_probe == 0 {
            faults = self.detect();
            self.until_probe = PROBE_INTERVAL_READINGS;
        }
        self.until_probe -= 1;
        let mut sensors = std::mem::take(&mut self.sensors);
        for sensor in &mut sensors {
            if sensor.skips_reading() {
                continue;
            }
            let number = sensor.place.bus;
            let heard = sensor.read(self.bus(number));
            let silent = heard.as_ref().err().map(|why| {
                sensor.skip_readings(SKIPPED_READINGS);
                format!("{sensor}: {why}; it is tried again later")
            });
            self.report(&sensor.label, silent, &mut faults);
            if let Ok(known) = heard {
                self.compute(sensor, known, &mut readings, &mut faults);
            }
        }
        self.sensors = sensors;
        (readings, faults)
    }

    /// Computes the metrics of a sensor from its registers.
    fn compute(
        &mut self,
        sensor: &Sensor,
        known: BTreeMap<String, f64>,
        readings: &mut BTreeMap<String, f64>,
        faults: &mut Vec<String>,
    ) {
        let label = &sensor.label;
        let computed = sensor.template.compute(known);
        for (metric, value) in computed.metrics {
            readings.insert(format!("{NAMESPACE}{label}.{metric}"), value);
        }
        let key = |name: &str| format!("{label}.{name}");
        let failing: BTreeSet<String> = computed.faults.iter().map(|(name, _)| key(name)).collect();
        let of_sensor = key("");
        self.reported
            .retain(|key| !key.starts_with(&of_sensor) || failing.contains(key));
        for (name, why) in computed.faults {
            self.report(&key(name), Some(format!("{sensor}: {name}: {why}")), faults);
        }
    }

    /// Reports a fault once until it ends.
    fn report(&mut self, key: &str, fault: Option<String>, faults: &mut Vec<String>) {
        match fault {
            None => {
                self.reported.remove(key);
            }
            Some(fault) => {
                if self.reported.insert(key.to_owned()) {
                    faults.push(fault);
                }
            }
        }
    }

    fn at(&self, place: BusAddress) -> bool {
        self.sensors.iter().any(|one| one.place == place)
    }

    fn bus(&mut self, number: u32) -> &mut dyn Bus {
        let adapters = &self.adapters;
        let bus = self.buses.entry(number);
        bus.or_insert_with(|| adapters.open(number)).as_mut()
    }

    /// Probes one bus for sensors.
    fn probe_bus(&mut self, number: u32) -> Result<(), String> {
        for template in self.templates.clone() {
            let Some(identify) = template.identify else {
                continue;
            };
            for &address in &template.addresses {
                let place = BusAddress {
                    bus: number,
                    address,
                };
                if !self.at(place) && self.identifies(place, identify)? {
                    self.add(Arc::clone(&template), place)?;
                }
            }
        }
        Ok(())
    }

    /// Identification of the device at an address; a silent device, or one of a driver, does not
    /// match.
    fn identifies(&mut self, place: BusAddress, identify: Identify) -> Result<bool, String> {
        match sensor::identified(self.bus(place.bus), place.address, identify) {
            Ok(fits) => Ok(fits),
            Err(err) if err.is_bus_failure() => Err(format!("I2C bus {}: {err}", place.bus)),
            Err(err) => {
                tracing::trace!("{place}: {err}");
                Ok(false)
            }
        }
    }

    fn add(&mut self, template: Arc<SensorTemplate>, place: BusAddress) -> Result<(), String> {
        let id = &template.template_id;
        let metrics = self.sensors.iter().map(|one| one.template.metrics.len());
        let readings = metrics.sum::<usize>() + template.metrics.len();
        if self.sensors.len() == SENSORS_MAX || readings > READINGS_MAX {
            return Err(format!(
                "{id} at {place} is not read; allowed: {SENSORS_MAX} sensors with {READINGS_MAX} \
                 metrics in all"
            ));
        }
        let label = self.label(id).ok_or_else(|| {
            format!("{id} at {place} is not read: no name of {ID_BYTES_MAX} characters is left")
        })?;
        self.sensors.push(Sensor::new(label, template, place));
        Ok(())
    }

    /// Name for one more sensor of a template: its own, then with a number.
    fn label(&self, id: &str) -> Option<String> {
        let free = |label: &String| {
            let used = self.sensors.iter().any(|one| one.label == *label);
            let mut others = self.templates.iter().map(|one| &one.template_id);
            label.len() <= ID_BYTES_MAX && !used && (label == id || others.all(|one| one != label))
        };
        let numbered = (2..=2 * SENSORS_MAX).map(|number| format!("{id}_{number}"));
        std::iter::once(id.to_owned()).chain(numbered).find(free)
    }
}
