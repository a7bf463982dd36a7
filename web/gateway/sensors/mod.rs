//! Sensor and GPIO endpoints: I2C devices, assignments, templates, readings, GPIO lines, boards.

pub mod assignments;
pub mod boards;
mod definition;
pub mod gpio;
pub mod i2c;
pub mod readings;
pub mod templates;

use groundwave_http::endpoints::Endpoints;
use groundwave_http::operations;

use crate::access::{Access, rule_of};
use crate::state::Gateway;

/// Endpoints of this category.
pub fn endpoints() -> Endpoints<Gateway, Access> {
    Endpoints::default().with(operations!(
        rule_of;
        i2c::sensor_devices,
        i2c::sensor_scan,
        assignments::sensor_assignments,
        assignments::sensor_assignment_create,
        assignments::sensor_assignment_replace,
        assignments::sensor_assignment_remove,
        templates::sensor_templates,
        templates::sensor_template_create,
        templates::sensor_template_fetch,
        templates::sensor_template_replace,
        templates::sensor_template_remove,
        templates::sensor_template_dry_run,
        readings::sensor_readings,
        readings::node_sensors,
        gpio::gpio_chips,
        gpio::gpio_line,
        gpio::gpio_line_set,
        boards::boards,
        boards::board_fetch,
        boards::board_create,
    ))
}
