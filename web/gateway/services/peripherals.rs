//! Sensors and GPIO lines of the gateway's own machine, and the sensor plans of all machines.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use groundwave_gateway::Snapshot;
use groundwave_gateway::config::ConfigObjects;
use groundwave_gateway::peripheral::{SensorAssignment, plan_of};
use groundwave_host::gpio::{ChipReport, GpioError, GpioLines, LineReport, LineSetting};
use groundwave_host::i2c::bus::{BusError, MachineBuses};
use groundwave_host::i2c::load::{built_in_boards, built_in_templates};
use groundwave_host::i2c::scan::scan;
use groundwave_host::i2c::{SensorSelection, Sensors};
use groundwave_host::readings::board::Board as MachineBoard;
use groundwave_http::Problem;
use groundwave_http::problem::ProblemKind;
use groundwave_sensor::board::board_of;
use groundwave_sensor::{Board, ScannedDevice, SensorPlan, SensorTemplate, is_prefix_of};
use groundwave_simulation::site::NodeId;
use sha2::{Digest, Sha256};

use super::kernel::absent;

/// Revisions of the sensor plans that the last seen configuration has.
#[derive(Debug, Default)]
struct PlanRevisions {
    assignments: Arc<ConfigObjects<SensorAssignment>>,
    templates: Arc<ConfigObjects<SensorTemplate>>,
    revisions: BTreeMap<Option<NodeId>, u64>,
}

/// Sensors being read, and the revision of their plan.
#[derive(Debug)]
struct OwnSensors {
    sensors: Sensors,
    applied: Option<u64>,
}

/// Peripherals of the gateway's own machine.
#[derive(Debug)]
pub struct PeripheralHost {
    /// Built-in sensor templates.
    pub templates: Vec<SensorTemplate>,
    /// Built-in boards.
    pub boards: Vec<Board>,
    gpio: GpioLines,
    own: Mutex<OwnSensors>,
    plans: Mutex<PlanRevisions>,
}

impl PeripheralHost {
    /// Peripherals of which these GPIO lines may be set; no bus is accessed.
    #[must_use]
    pub fn new(gpio: GpioLines) -> Self {
        let templates = built_in_templates();
        let nothing = SensorSelection::default();
        let sensors = Sensors::new(nothing, templates.clone(), Box::new(MachineBuses::default()));
        let own = OwnSensors { sensors: sensors.expect("nothing is selected"), applied: None };
        Self {
            boards: built_in_boards(),
            gpio,
            own: Mutex::new(own),
            plans: Mutex::default(),
            templates,
        }
    }

    /// Revision of the sensor plan of a node, or of the gateway's own machine; `None` without
    /// assigned sensors.
    #[must_use]
    pub fn revision(&self, view: &Snapshot, node: Option<NodeId>) -> Option<u64> {
        let config = &view.config;
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        let is_present = Arc::ptr_eq(&plans.assignments, &config.sensor_assignments)
            && Arc::ptr_eq(&plans.templates, &config.sensor_templates);
        if !is_present {
            let enabled = config
                .sensor_assignments
                .iter()
                .filter(|(_, assignment)| assignment.object.enabled);
            let mut revisions = BTreeMap::new();
            for (_, assignment) in enabled {
                let node = assignment.object.node_id;
                revisions.entry(node).or_insert_with(|| revision_of(&plan(view, node)));
            }
            *plans = PlanRevisions {
                assignments: Arc::clone(&config.sensor_assignments),
                templates: Arc::clone(&config.sensor_templates),
                revisions,
            };
        }
        plans.revisions.get(&node).copied()
    }

    /// `true` if sensors of this machine are assigned, or were until now.
    #[must_use]
    pub fn has_sensors(&self, view: &Snapshot) -> bool {
        let applied = self.own.lock().unwrap_or_else(PoisonError::into_inner).applied;
        applied.is_some() || self.revision(view, None).is_some()
    }

    /// Readings of the assigned sensors of this machine that are due, and new faults. Blocks.
    pub fn read(&self, view: &Snapshot, now_ms: u64) -> (BTreeMap<String, f64>, Vec<String>) {
        let revision = self.revision(view, None);
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let mut refused = Vec::new();
        if own.applied != revision {
            refused = own.sensors.replace(&plan(view, None));
            own.applied = revision;
        }
        let (readings, faults) = own.sensors.read(now_ms);
        refused.extend(faults);
        (readings, refused)
    }

    /// Devices of a bus of this machine. Blocks.
    ///
    /// # Errors
    /// 503 when the bus is absent, busy or may not be opened.
    pub fn scan(
        &self,
        view: &Snapshot,
        bus: u32,
        reserved: bool,
    ) -> Result<Vec<ScannedDevice>, Problem> {
        let own = view.config.sensor_templates.iter().map(|(_, template)| template.object.clone());
        let templates: Vec<SensorTemplate> = self.templates.iter().cloned().chain(own).collect();
        scan(&MachineBuses::default(), bus, &templates, reserved).map_err(|err| match err {
            BusError::Locked(_) => Problem::unavailable(err.to_string()).retry_after(1),
            other => absent(format!("I2C bus {bus}: {other}")),
        })
    }

    /// GPIO chips with their lines. Blocks.
    ///
    /// # Errors
    /// 503 without a chip.
    pub fn gpio(&self) -> Result<Vec<ChipReport>, Problem> {
        self.gpio.inventory().map_err(of_gpio)
    }

    /// A GPIO line. Blocks.
    ///
    /// # Errors
    /// 404 for an unknown line, 503 without a chip.
    pub fn gpio_line(&self, chip: &str, offset: u32) -> Result<LineReport, Problem> {
        self.gpio.line(chip, offset).map_err(of_gpio)
    }

    /// Sets a GPIO line and reads it back. Blocks.
    ///
    /// # Errors
    /// As [`Self::gpio_line`]; 403 for a line that is not allowed, 409 for one of another consumer.
    pub fn set_gpio(
        &self,
        chip: &str,
        offset: u32,
        setting: LineSetting,
    ) -> Result<LineReport, Problem> {
        self.gpio.set(chip, offset, setting).map_err(of_gpio)
    }

    /// Board of a machine, built in or created.
    #[must_use]
    pub fn board_of(&self, view: &Snapshot, machine: &MachineBoard) -> Option<Board> {
        let own: Vec<Board> =
            view.config.boards.iter().map(|(_, board)| board.object.clone()).collect();
        // A created board takes precedence over a built-in one of the same machines.
        let all = own.iter().chain(&self.boards);
        board_of(all, &machine.compatible, machine.model.as_deref()).cloned()
    }

    /// Template of the metrics with a prefix, as in `i2c.PREFIX.METRIC`.
    #[must_use]
    pub fn template_of<'v>(
        &'v self,
        view: &'v Snapshot,
        prefix: &str,
    ) -> Option<&'v SensorTemplate> {
        let own = view.config.sensor_templates.iter().map(|(_, template)| &template.object);
        let mut all: Vec<&SensorTemplate> = self.templates.iter().chain(own).collect();
        // `own_2` may be a template, or the second sensor of the template `own`.
        all.sort_by_key(|template| std::cmp::Reverse(template.template_id.len()));
        all.into_iter().find(|template| is_prefix_of(&template.template_id, prefix))
    }
}

/// Sensor plan of a node, or of the gateway's own machine.
#[must_use]
pub fn plan(view: &Snapshot, node: Option<NodeId>) -> SensorPlan {
    let config = &view.config;
    plan_of(&config.sensor_assignments, &config.sensor_templates, node)
}

/// Revision of a plan: 48 bits of its digest, which a JSON number holds.
fn revision_of(plan: &SensorPlan) -> u64 {
    let text = serde_json::to_vec(plan).unwrap_or_default();
    let digest = Sha256::digest(&text);
    digest[..6].iter().fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
}

fn of_gpio(err: GpioError) -> Problem {
    let detail = err.to_string();
    match err {
        GpioError::NoChip | GpioError::Permission => absent(detail),
        GpioError::NoLine(_) => {
            Problem::new(axum::http::StatusCode::NOT_FOUND, detail).of_kind(ProblemKind::NotFound)
        }
        GpioError::NotAllowed(_) => {
            Problem::new(axum::http::StatusCode::FORBIDDEN, detail).of_kind(ProblemKind::Forbidden)
        }
        GpioError::Held { .. } | GpioError::Busy => {
            Problem::new(axum::http::StatusCode::CONFLICT, detail).of_kind(ProblemKind::Conflict)
        }
        GpioError::Unsupported => {
            Problem::new(axum::http::StatusCode::UNPROCESSABLE_ENTITY, detail)
                .of_kind(ProblemKind::InvalidBody)
        }
        GpioError::Other(_) => Problem::internal(detail),
    }
}
