//! Sensors on I2C buses, read by templates.
//!
//! Only requested buses are accessed: a sensor is probed only on the given buses, only by reading,
//! and only where a template has a register that identifies the device.

pub mod bus;
#[cfg(test)]
mod datasheets;
#[cfg(test)]
mod fake;
pub mod load;
pub mod scan;
mod selection;
mod sensor;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use groundwave_sensor::template::{ID_BYTES_MAX, Identify};
use groundwave_sensor::{
    BusAddress, NAMESPACE, ScannedDevice, SensorPlan, SensorTemplate, metric_prefix,
};

use bus::{Adapters, Bus, MachineBuses};
use scan::identified;
pub use selection::{AssignedSensor, ProbeBuses, SensorSelection};
use sensor::Sensor;

use groundwave_toml_document::suggest;

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
    /// Sensors before the first that a gateway assigned.
    local: usize,
    /// Templates before the first that a gateway sent.
    local_templates: usize,
}

impl Default for Sensors {
    /// No sensors, with the built-in templates and the buses of this machine.
    fn default() -> Self {
        let templates = load::built_in_templates();
        let buses = Box::new(MachineBuses::default());
        Self::over(templates, buses)
    }
}

impl Sensors {
    /// No sensors.
    fn over(templates: Vec<SensorTemplate>, adapters: Box<dyn Adapters>) -> Self {
        let templates: Vec<_> = templates.into_iter().map(Arc::new).collect();
        Self {
            selection: SensorSelection::default(),
            local_templates: templates.len(),
            templates,
            adapters,
            buses: BTreeMap::new(),
            sensors: Vec::new(),
            until_probe: 0,
            reported: BTreeSet::new(),
            local: 0,
        }
    }

    /// The assigned sensors of a selection; no bus is accessed.
    ///
    /// # Errors
    /// For an unknown template, an address assigned twice, or too many sensors.
    pub fn new(
        selection: SensorSelection,
        templates: Vec<SensorTemplate>,
        adapters: Box<dyn Adapters>,
    ) -> Result<Self, String> {
        let mut sensors = Self::over(templates, adapters);
        for AssignedSensor { template, place } in &selection.assigned {
            sensors.assign(template, *place, None)?;
        }
        sensors.local = sensors.sensors.len();
        sensors.selection = selection;
        Ok(sensors)
    }

    /// Replaces the sensors that a gateway assigned; those named at the start stay, detected ones are
    /// looked for again. Returns the assignments that cannot be read, with the reason.
    pub fn replace(&mut self, plan: &SensorPlan) -> Vec<String> {
        self.sensors.truncate(self.local);
        self.until_probe = 0;
        self.templates.truncate(self.local_templates);
        for template in &plan.templates {
            let known = self.template(&template.template_id).is_some();
            if !known && template.problems().is_empty() {
                self.templates.push(Arc::new(template.clone()));
            }
        }
        let mut refused = Vec::new();
        for one in &plan.sensors {
            let place = BusAddress { bus: one.bus, address: one.address };
            if let Err(why) = self.assign(&one.template_id, place, one.interval_s) {
                refused.push(why);
            }
        }
        refused
    }

    fn template(&self, id: &str) -> Option<&Arc<SensorTemplate>> {
        let mut known = self.templates.iter();
        known.find(|one| one.template_id == id)
    }

    fn assign(
        &mut self,
        id: &str,
        place: BusAddress,
        interval_s: Option<u32>,
    ) -> Result<(), String> {
        if self.at(place) {
            return Err(format!("two sensors at {place}; allowed: one"));
        }
        let Some(found) = self.template(id) else {
            let names = self.templates.iter().map(|one| one.template_id.as_str());
            let allowed = suggest::one_of(id, names);
            return Err(format!("no template {id:?}; allowed: {allowed}"));
        };
        let found = Arc::clone(found);
        self.add(found, place, interval_s)
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

    /// Devices of a bus, only by reading.
    ///
    /// # Errors
    /// When the bus is absent, busy or may not be opened.
    pub fn scan(&self, number: u32, reserved: bool) -> Result<Vec<ScannedDevice>, String> {
        let found = scan::scan(self.adapters.as_ref(), number, &self.templates, reserved);
        found.map_err(|err| format!("I2C bus {number}: {err}"))
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

    /// Readings of the sensors that are due at `now_ms` of a monotonic clock, by metric, and new
    /// faults.
    pub fn read(&mut self, now_ms: u64) -> (BTreeMap<String, f64>, Vec<String>) {
        let (mut readings, mut faults) = (BTreeMap::new(), Vec::new());
        if self.until_probe == 0 {
            faults = self.detect();
            self.until_probe = PROBE_INTERVAL_READINGS;
        }
        self.until_probe -= 1;
        let mut sensors = std::mem::take(&mut self.sensors);
        for sensor in &mut sensors {
            if sensor.skips_reading(now_ms) {
                continue;
            }
            let number = sensor.place.bus;
            let heard = match self.adapters.lock(number) {
                Ok(_lock) => sensor.read(self.bus(number)),
                Err(err) => Err(err.into()),
            };
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
        self.reported.retain(|key| !key.starts_with(&of_sensor) || failing.contains(key));
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
        let locked = self.adapters.lock(number);
        let _lock = locked.map_err(|err| format!("I2C bus {number}: {err}"))?;
        for template in self.templates.clone() {
            let Some(identify) = template.identify else {
                continue;
            };
            for &address in &template.addresses {
                let place = BusAddress { bus: number, address };
                if !self.at(place) && self.identifies(place, identify)? {
                    self.add(Arc::clone(&template), place, None)?;
                }
            }
        }
        Ok(())
    }

    /// Identification of the device at an address; a silent device, or one of a driver, does not
    /// match.
    fn identifies(&mut self, place: BusAddress, identify: Identify) -> Result<bool, String> {
        match identified(self.bus(place.bus), place.address, identify) {
            Ok(fits) => Ok(fits),
            Err(err) if err.is_bus_failure() => Err(format!("I2C bus {}: {err}", place.bus)),
            Err(err) => {
                tracing::trace!("{place}: {err}");
                Ok(false)
            }
        }
    }

    fn add(
        &mut self,
        template: Arc<SensorTemplate>,
        place: BusAddress,
        interval_s: Option<u32>,
    ) -> Result<(), String> {
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
        self.sensors.push(Sensor::new(label, template, place, interval_s));
        Ok(())
    }

    /// Name for one more sensor of a template: its own, then with a number.
    fn label(&self, id: &str) -> Option<String> {
        metric_prefix(id, |label| {
            let used = self.sensors.iter().any(|one| one.label == label);
            let mut others = self.templates.iter().map(|one| &one.template_id);
            !used && (label == id || others.all(|one| one != label))
        })
    }
}
