//! Ports in the world: what is wished of them, what was seen of them, and the way between.

use bevy_ecs::prelude::*;
use groundwave_engine::{Effect, Outbox, Section};
use serde::{Deserialize, Serialize};

use super::observed::{Applied, Failure};
use super::{Direction, Impairment};

/// A port. There are two, from the beginning of the world to its end.
#[derive(Component, Debug, Clone, Copy, PartialEq, Eq)]
#[require(Desired, Observed)]
pub struct Port(pub Direction);

/// What is wished of a port. Written by `impairment.shape`.
#[derive(Component, Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Desired {
    /// Counts wishes; 0 before the first.
    pub generation: u64,
    /// The wish; `None` wants the port left alone.
    pub impairment: Option<Impairment>,
}

/// What was last seen of a port. Written by `impairment.observe`.
#[derive(Component, Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Observed {
    /// The last generation that was tried.
    pub generation: u64,
    /// What the port holds.
    pub applied: Option<Applied>,
    /// Why the wish of that generation is not in force.
    pub failure: Option<Failure>,
}

/// Where the two ports are.
#[derive(Resource, Debug)]
pub struct Ports([Entity; 2]);

impl Ports {
    /// Brings the two ports into a world.
    pub fn spawn(world: &mut World) -> Self {
        Self(Direction::ALL.map(|direction| world.spawn(Port(direction)).id()))
    }

    /// The port of this direction.
    #[must_use]
    pub fn entity(&self, direction: Direction) -> Entity {
        self.0[direction as usize]
    }
}

/// Work for the outside: make this port do that.
#[derive(Debug, Clone, PartialEq)]
pub struct ShapePort {
    /// Which port.
    pub direction: Direction,
    /// The generation of the wish, to be named in the report.
    pub generation: u64,
    /// The wish; `None` wants the port left alone.
    pub impairment: Option<Impairment>,
}

impl Effect for ShapePort {
    type Key = Direction;
    fn key(&self) -> Direction {
        self.direction
    }
}

/// A port as readers see it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PortView {
    /// Which port.
    pub direction: Direction,
    /// The generation of the latest wish; 0 before the first.
    pub generation: u64,
    /// The latest wish.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired: Option<Impairment>,
    /// The last generation that was tried: at or beyond one's own, one's answer is here.
    pub observed_generation: u64,
    /// What the port holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied: Option<Applied>,
    /// Why the wish of `observed_generation` is not in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// Both ports, in order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Impairments(pub [PortView; 2]);

impl Default for Impairments {
    fn default() -> Self {
        Self(Direction::ALL.map(|direction| PortView {
            direction,
            generation: 0,
            desired: None,
            observed_generation: 0,
            applied: None,
            failure: None,
        }))
    }
}

impl Impairments {
    /// The port of this direction.
    #[must_use]
    pub fn port(&self, direction: Direction) -> &PortView {
        &self.0[direction as usize]
    }

    /// Whether nobody ever wished or saw anything: most worlds have no ports to speak of.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        *self == Self::default()
    }
}

/// Emits the wishes that changed.
pub(super) fn mirror_impairments(
    wishes: Query<(&Port, &Desired), Changed<Desired>>,
    ports: Res<Ports>,
    mut outbox: ResMut<Outbox<ShapePort>>,
) {
    for entity in ports.0 {
        let Ok((port, desired)) = wishes.get(entity) else {
            continue;
        };
        if desired.generation > 0 {
            outbox.emit(ShapePort {
                direction: port.0,
                generation: desired.generation,
                impairment: desired.impairment.clone(),
            });
        }
    }
}

/// Redraws the ports when a wish or a sighting changed.
pub(super) fn publish_impairments(
    changed: Query<(), Or<(Changed<Desired>, Changed<Observed>)>>,
    all: Query<(&Port, &Desired, &Observed)>,
    ports: Res<Ports>,
    mut section: ResMut<Section<Impairments>>,
) {
    if changed.is_empty() {
        return;
    }
    section.redraw(Impairments(ports.0.map(|entity| {
        let (port, desired, observed) = all.get(entity).expect("ports stay");
        PortView {
            direction: port.0,
            generation: desired.generation,
            desired: desired.impairment.clone(),
            observed_generation: observed.generation,
            applied: observed.applied.clone(),
            failure: observed.failure.clone(),
        }
    })));
}
