//! Sensors on I2C buses, read as their templates say.
//!
//! Nothing is touched that nobody asked for: a sensor is looked for only on buses that were named,
//! only by reading, and only where a template knows a register that says what the device is.

pub mod bus;
mod check;
mod choice;
pub mod expr;
#[cfg(test)]
mod expr_tests;
mod parse;
mod sensor;
pub mod template;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bus::{Adapters, Bus};
pub use choice::{Assigned, Choice, Place, Probe};
use sensor::Sensor;
use template::{ID_BYTES_MAX, Identify, SensorTemplate};

use crate::toml_document::suggest;

/// What names of readings begin with.
pub const NAMESPACE: &str = "i2c.";
/// Most readings at one time: a heartbeat carries 64, of which the agent's own are 16.
pub const READINGS_MAX: usize = 48;
/// Most sensors.
const SENSORS_MAX: usize = 16;
/// Readings that a sensor is left alone for after it failed.
const REST: u32 = 12;
/// Readings between looks for sensors that were not there.
const LOOKS_APART: u32 = 60;

/// What a sensor that is read is called, what it is, and where.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Found {
    /// What its metrics are called after.
    pub name: String,
    /// Its template.
    pub template: String,
    /// The number of its bus.
    pub bus: u32,
    /// Its address.
    pub address: u16,
    /// Whether it answered last.
    pub answers: bool,
}

/// The sensors of a node.
#[derive(Debug)]
pub struct Sensors {
    choice: Choice,
    templates: Vec<Arc<SensorTemplate>>,
    adapters: Box<dyn Adapters>,
    buses: BTreeMap<u32, Box<dyn Bus>>,
    sensors: Vec<Sensor>,
    until_look: u32,
    /// What was told and has not ended.
    told: BTreeSet<String>,
}

impl Sensors {
    /// Sensors of which nothing is known yet; no bus is touched.
    ///
    /// # Errors
    /// A named sensor whose template there is not, a place that is named twice, too many of them.
    pub fn new(
        choice: Choice,
        templates: Vec<SensorTemplate>,
        adapters: Box<dyn Adapters>,
    ) -> Result<Self, String> {
        let mut sensors = Self {
            choice: Choice::default(),
            templates: templates.into_iter().map(Arc::new).collect(),
            adapters,
            buses: BTreeMap::new(),
            sensors: Vec::new(),
            until_look: 0,
            told: BTreeSet::new(),
        };
        for Assigned { template, place } in &choice.assigned {
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
        sensors.choice = choice;
        Ok(sensors)
    }

    /// What was asked for.
    #[must_use]
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// The sensors that are known.
    #[must_use]
    pub fn found(&self) -> Vec<Found> {
        let found = self.sensors.iter().map(|one| Found {
            name: one.label.clone(),
            template: one.template.template_id.clone(),
            bus: one.place.bus,
            address: one.place.address,
            answers: one.is_ready(),
        });
        found.collect()
    }

    /// Looks for sensors, only by reading; answers what stood in the way and was not told yet.
    pub fn detect(&mut self) -> Vec<String> {
        let numbers = match &self.choice.probe {
            Probe::Nowhere => Vec::new(),
            Probe::Everywhere => self.adapters.numbers(),
            Probe::Buses(numbers) => numbers.clone(),
        };
        let mut faults = Vec::new();
        for number in numbers {
            let seen = self.look_on(number);
            self.tell(&format!("bus {number}"), seen.err(), &mut faults);
        }
        faults
    }

    /// What all sensors say, by the names of the metrics, and what went wrong that was not told yet.
    pub fn read(&mut self) -> (BTreeMap<String, f64>, Vec<String>) {
        let (mut readings, mut faults) = (BTreeMap::new(), Vec::new());
        if self.until_look == 0 {
            faults = self.detect();
            self.until_look = LOOKS_APART;
        }
        self.until_look -= 1;
        let mut sensors = std::mem::take(&mut self.sensors);
        for sensor in &mut sensors {
            if sensor.rests() {
                continue;
            }
            let number = sensor.place.bus;
            let heard = sensor.read(self.bus(number));
            let silent = heard.as_ref().err().map(|why| {
                sensor.rest(REST);
                format!("{sensor}: {why}; it is tried again later")
            });
            self.tell(&sensor.label, silent, &mut faults);
            if let Ok(known) = heard {
                self.take_in(sensor, known, &mut readings, &mut faults);
            }
        }
        self.sensors = sensors;
        (readings, faults)
    }

    /// What a sensor's registers mean.
    fn take_in(
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
        self.told
            .retain(|key| !key.starts_with(&of_sensor) || failing.contains(key));
        for (name, why) in computed.faults {
            self.tell(&key(name), Some(format!("{sensor}: {name}: {why}")), faults);
        }
    }

    /// Tells a fault when it begins; the next of its kind is told after it ended.
    fn tell(&mut self, key: &str, fault: Option<String>, faults: &mut Vec<String>) {
        match fault {
            None => {
                self.told.remove(key);
            }
            Some(fault) => {
                if self.told.insert(key.to_owned()) {
                    faults.push(fault);
                }
            }
        }
    }

    fn at(&self, place: Place) -> bool {
        self.sensors.iter().any(|one| one.place == place)
    }

    fn bus(&mut self, number: u32) -> &mut dyn Bus {
        let adapters = &self.adapters;
        let bus = self.buses.entry(number);
        bus.or_insert_with(|| adapters.open(number)).as_mut()
    }

    /// Looks for sensors on one bus.
    fn look_on(&mut self, number: u32) -> Result<(), String> {
        for template in self.templates.clone() {
            let Some(identify) = template.identify else {
                continue;
            };
            for &address in &template.addresses {
                let place = Place {
                    bus: number,
                    address,
                };
                if !self.at(place) && self.is_there(place, identify)? {
                    self.add(Arc::clone(&template), place)?;
                }
            }
        }
        Ok(())
    }

    /// Whether the device at a place says that it is the one; who does not answer, or belongs to a
    /// driver, is not.
    fn is_there(&mut self, place: Place, identify: Identify) -> Result<bool, String> {
        match sensor::identified(self.bus(place.bus), place.address, identify) {
            Ok(fits) => Ok(fits),
            Err(err) if err.is_of_bus() => Err(format!("I2C bus {}: {err}", place.bus)),
            Err(err) => {
                tracing::trace!("{place}: {err}");
                Ok(false)
            }
        }
    }

    fn add(&mut self, template: Arc<SensorTemplate>, place: Place) -> Result<(), String> {
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

    /// A name for one more sensor of a template: its own, then with a number.
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
