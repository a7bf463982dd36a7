//! Sensor templates and boards as configuration objects.

use bevy_ecs::prelude::*;
use groundwave_engine::{Id, Refusal};
use groundwave_sensor::{BUILT_IN_BOARDS, BUILT_IN_TEMPLATES, Board, SensorTemplate};
use groundwave_values::bounds::BadValue;

use super::assignment::SensorAssignment;
use crate::config::{self, ConfigObject};

/// Refusal of the first error.
fn refused(problems: Vec<BadValue>) -> Result<(), Refusal> {
    match problems.into_iter().next() {
        None => Ok(()),
        Some(bad) => Err(Refusal::invalid(bad.key, bad.found, bad.allowed)),
    }
}

/// Checks that the id of an object is that of its name, and that no built-in one has the name.
fn check_name<T: ConfigObject>(
    id: Id<T>,
    (key, name): (&str, &str),
    built_in: &[&str],
) -> Result<(), Refusal> {
    if built_in.contains(&name) {
        let what = format!("the {} {name:?} is built in", T::NAME);
        return Err(Refusal::conflict(what));
    }
    if id != Id::named(name) {
        return Err(Refusal::invalid(key, format!("{name:?}"), "the name in the path"));
    }
    Ok(())
}

impl ConfigObject for SensorTemplate {
    const KIND: &'static str = "sensor_template";
    const COUNT_MAX: usize = 256;

    fn check(&self, id: Id<Self>, _: &World) -> Result<(), Refusal> {
        refused(self.problems())?;
        check_name(id, ("template_id", &self.template_id), &BUILT_IN_TEMPLATES)
    }

    fn check_removal(&self, _: Id<Self>, world: &World) -> Result<(), Refusal> {
        let mut assignments = config::all::<SensorAssignment>(world);
        match assignments.find(|(_, one)| one.template_id == self.template_id) {
            None => Ok(()),
            Some((id, _)) => {
                Err(Refusal::conflict(format!("the sensor assignment {id} uses this template")))
            }
        }
    }
}

impl ConfigObject for Board {
    const KIND: &'static str = "board";
    const COUNT_MAX: usize = 64;

    fn check(&self, id: Id<Self>, _: &World) -> Result<(), Refusal> {
        refused(self.problems())?;
        check_name(id, ("board_id", &self.board_id), &BUILT_IN_BOARDS)
    }
}
