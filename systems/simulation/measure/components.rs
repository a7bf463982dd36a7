//! The component of a link that holds what was measured of it.

use bevy_ecs::prelude::*;

use super::values::LevelView;
use crate::link::Retained;

/// The last measurement of each direction, from the lower id to the higher first. Written by
/// `link.observe`.
#[derive(Component, Debug, Clone, Copy, Default, PartialEq)]
#[component(storage = "SparseSet")]
#[require(Retained)]
pub struct LinkMeasurements(pub [Option<LevelView>; 2]);
