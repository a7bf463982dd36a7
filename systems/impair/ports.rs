//! Ports in the world: desired state, observed state, and the effect that connects them.

use std::sync::LazyLock;

use bevy_ecs::prelude::*;
use groundwave_engine::{Effect, Outbox, Section};
use serde::{Deserialize, Serialize};

use super::observed::{Applied, Failure};
use super::{Direction, Impairment};

/// A port. A world has the two of a link, and each further one from the first command about it on.
#[derive(Component, Debug, Clone, Copy, PartialEq, Eq)]
#[require(Desired, Observed)]
pub struct Port(pub Direction);

/// Desired impairment of a port. Written by `impairment.shape`.
#[derive(Component, Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Desired {
    /// Number of `impairment.shape` commands; 0 before the first.
    pub generation: u64,
    /// Desired impairment; `None` leaves the port alone.
    pub impairment: Option<Impairment>,
}

/// Last observed state of a port. Written by `impairment.observe`.
#[derive(Component, Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Observed {
    /// The last generation that was tried.
    pub generation: u64,
    /// Impairment in force, as read back.
    pub applied: Option<Applied>,
    /// Cause for which that generation is not in force.
    pub failure: Option<Failure>,
}

/// Entities of the ports, in order.
#[derive(Resource, Debug)]
pub struct Ports(Vec<Entity>);

impl Ports {
    /// Spawns the two ports of a link in a world.
    pub fn spawn(world: &mut World) -> Self {
        Self(Direction::BOTH.map(|direction| world.spawn(Port(direction)).id()).to_vec())
    }

    /// The port of this direction; `None` before the first command about it.
    #[must_use]
    pub fn entity(&self, direction: Direction) -> Option<Entity> {
        self.0.get(direction.index()).copied()
    }

    /// All ports, in order.
    #[must_use]
    pub fn all(&self) -> &[Entity] {
        &self.0
    }
}

/// The port of this direction, which is made with those before it where the world does not have them yet.
pub(super) fn provide(world: &mut World, direction: Direction) -> Entity {
    let present = world.resource::<Ports>().0.len();
    for new in Direction::first(direction.index() + 1).skip(present) {
        let entity = world.spawn(Port(new)).id();
        world.resource_mut::<Ports>().0.push(entity);
    }
    world.resource::<Ports>().0[direction.index()]
}

/// Effect for the driver: apply the desired impairment to a port.
#[derive(Debug, Clone, PartialEq)]
pub struct ShapePort {
    /// Port.
    pub direction: Direction,
    /// Generation of the desired impairment, to be named in the report.
    pub generation: u64,
    /// Desired impairment; `None` leaves the port alone.
    pub impairment: Option<Impairment>,
}

impl Effect for ShapePort {
    type Key = Direction;
    fn key(&self) -> Direction {
        self.direction
    }
}

/// View of a port.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PortView {
    /// Port.
    pub direction: Direction,
    /// Generation of the desired impairment; 0 before the first.
    pub generation: u64,
    /// Desired impairment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired: Option<Impairment>,
    /// The last generation that was tried: from that of a command on, its result is shown.
    pub observed_generation: u64,
    /// Impairment in force, as read back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied: Option<Applied>,
    /// Cause for which `observed_generation` is not in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// Ports before their first impairment.
static UNTOUCHED: LazyLock<Vec<PortView>> = LazyLock::new(|| {
    let untouched = |direction| PortView {
        direction,
        generation: 0,
        desired: None,
        observed_generation: 0,
        applied: None,
        failure: None,
    };
    Direction::first(Direction::COUNT_MAX).map(untouched).collect()
});

/// The ports of the world, in order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Impairments(pub Vec<PortView>);

impl Default for Impairments {
    fn default() -> Self {
        Self(UNTOUCHED[..Direction::BOTH.len()].to_vec())
    }
}

impl Impairments {
    /// The port of this direction.
    #[must_use]
    pub fn port(&self, direction: Direction) -> &PortView {
        self.0.get(direction.index()).unwrap_or(&UNTOUCHED[direction.index()])
    }

    /// `true` if there was never a desired or an observed impairment: most worlds use no ports.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        *self == Self::default()
    }
}

/// Emits the desired impairments that changed.
pub(super) fn mirror_impairments(
    requests: Query<(&Port, &Desired), Changed<Desired>>,
    ports: Res<Ports>,
    mut outbox: ResMut<Outbox<ShapePort>>,
) {
    for entity in ports.all() {
        let Ok((port, desired)) = requests.get(*entity) else {
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

/// Redraws the ports when a desired or an observed state changed.
pub(super) fn publish_impairments(
    changed: Query<(), Or<(Changed<Desired>, Changed<Observed>)>>,
    all: Query<(&Port, &Desired, &Observed)>,
    ports: Res<Ports>,
    mut section: ResMut<Section<Impairments>>,
) {
    if changed.is_empty() {
        return;
    }
    let views = ports.all().iter().map(|entity| {
        let (port, desired, observed) = all.get(*entity).expect("ports stay");
        PortView {
            direction: port.0,
            generation: desired.generation,
            desired: desired.impairment.clone(),
            observed_generation: observed.generation,
            applied: observed.applied.clone(),
            failure: observed.failure.clone(),
        }
    });
    section.redraw(Impairments(views.collect()));
}
