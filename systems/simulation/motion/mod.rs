//! Motion: waypoints, ns-2-style destinations and random waypoint walks.

mod commands;
mod state;

use bevy_ecs::prelude::*;
use groundwave_engine::{Builder, Clock, Phase, Seed, Stream};
use serde::{Deserialize, Serialize};

pub use commands::{Follow, GoTo, StopMotion, WAYPOINTS_MAX, Wander, set_time};

use crate::site::{NodeId, Position, Relocated};
use groundwave_model::terrain::{GeoPoint, geodesic};

/// Moving nodes.
pub fn motion(engine: &mut Builder) {
    engine.world().add_observer(stop_relocated);
    engine
        .state::<state::Walks>()
        .command::<Follow>()
        .command::<GoTo>()
        .command::<Wander>()
        .command::<StopMotion>()
        .systems(Phase::Ingest, move_nodes);
}

/// Position of a node at a time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waypoint {
    /// Simulated time of arrival, ns.
    pub at_ns: u64,
    /// Place of arrival.
    pub position: GeoPoint,
}

/// A latitude-longitude box to walk in.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Area {
    /// Southern edge, deg north.
    pub south_deg: f64,
    /// Western edge, deg east.
    pub west_deg: f64,
    /// Northern edge, deg north.
    pub north_deg: f64,
    /// Eastern edge, deg east. Below `west_deg` the area spans the antimeridian.
    pub east_deg: f64,
}

impl Area {
    /// A uniformly drawn point: uniform in area on the sphere, not in latitude.
    fn draw(&self, chance: &mut Stream) -> GeoPoint {
        let (south, north) = (self.south_deg.to_radians().sin(), self.north_deg.to_radians().sin());
        let lat_deg = chance.between(south, north).clamp(-1.0, 1.0).asin().to_degrees();
        let width = (self.east_deg - self.west_deg).rem_euclid(360.0);
        let lon_deg = self.west_deg + chance.unit_prob() * width;
        GeoPoint::wrapping(lat_deg.clamp(self.south_deg, self.north_deg), lon_deg)
            .expect("commands check the area")
    }
}

/// A straight walk at constant speed along one geodesic.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Leg {
    from: GeoPoint,
    to: GeoPoint,
    start_ns: u64,
    end_ns: u64,
    azimuth_deg: f64,
    distance_m: f64,
}

impl Leg {
    fn new(from: GeoPoint, to: GeoPoint, start_ns: u64, end_ns: u64) -> Self {
        let way = geodesic::inverse(from, to);
        let (azimuth_deg, distance_m) = (way.azimuth_deg, way.distance_m);
        Self { from, to, start_ns, end_ns, azimuth_deg, distance_m }
    }

    /// A walk of at least `least_ns`.
    fn at_speed(
        from: GeoPoint,
        to: GeoPoint,
        start_ns: u64,
        speed_m_s: f64,
        least_ns: u64,
    ) -> Self {
        let mut leg = Self::new(from, to, start_ns, start_ns);
        // Saturates for a walk that outlasts the simulated time.
        let duration_ns = (leg.distance_m / speed_m_s * 1e9).ceil() as u64;
        leg.end_ns = start_ns.saturating_add(duration_ns.max(least_ns));
        leg
    }

    fn position(&self, now_ns: u64) -> GeoPoint {
        if now_ns >= self.end_ns {
            return self.to;
        }
        if now_ns <= self.start_ns {
            return self.from;
        }
        let share = (now_ns - self.start_ns) as f64 / (self.end_ns - self.start_ns) as f64;
        geodesic::direct(self.from, self.azimuth_deg, share * self.distance_m).unwrap_or(self.to)
    }
}

/// Shortest drawn walk, ns: bounds how many walks of no length fit into a tick.
const LEG_NS_MIN: u64 = 1_000_000;

/// Motion of a node. Written by motion commands; advanced by `move_nodes` only.
#[derive(Component, Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Motion {
    leg: Leg,
    then: Then,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Then {
    /// The leg was the last.
    Rest,
    /// More waypoints, the next one last, so that taking it is cheap.
    Waypoints(Vec<Waypoint>),
    /// Draw another destination after a pause.
    Draw { area: Area, speed_min_m_s: f64, speed_max_m_s: f64, pause_ns: u64, legs: u64 },
}

impl Motion {
    /// Position at a time, ns, and that time: the begin of the leg where the leg begins later.
    fn at(mut self, at_ns: u64, id: NodeId, seed: Seed) -> (GeoPoint, u64) {
        self.advance(at_ns, id, seed);
        (self.leg.position(at_ns), at_ns.max(self.leg.start_ns))
    }

    /// Moves on to the leg that covers `now_ns`; false when there is nowhere left to go.
    fn advance(&mut self, now_ns: u64, id: NodeId, seed: Seed) -> bool {
        loop {
            if let Then::Draw { area, speed_min_m_s, speed_max_m_s, pause_ns, legs } =
                &mut self.then
            {
                // The first walk begins at once: a pause follows a walk.
                let pause_ns = if *legs == 0 { 0 } else { *pause_ns };
                let start_ns = self.leg.end_ns.saturating_add(pause_ns);
                if now_ns < start_ns {
                    return true;
                }
                *legs += 1;
                // Drawn by leg, not by tick: a walk does not depend on the step's length.
                let mut chance = seed.stream("motion.wander", id.as_u128(), *legs);
                let to = area.draw(&mut chance);
                let speed_m_s = chance.between(*speed_min_m_s, *speed_max_m_s);
                self.leg = Leg::at_speed(self.leg.to, to, start_ns, speed_m_s, LEG_NS_MIN);
                continue;
            }
            if now_ns < self.leg.end_ns {
                return true;
            }
            let Then::Waypoints(waypoints) = &mut self.then else {
                return false;
            };
            let Some(next) = waypoints.pop() else {
                return false;
            };
            self.leg = Leg::new(self.leg.to, next.position, self.leg.end_ns, next.at_ns);
        }
    }
}

/// Ends the motion of a node that a command put elsewhere.
fn stop_relocated(relocated: On<Relocated>, mut commands: Commands) {
    commands.entity(relocated.entity).remove::<Motion>();
}

/// Puts every moving node where it should be now.
fn move_nodes(
    mut moving: Query<(Entity, &NodeId, &mut Motion, &mut Position)>,
    clock: Res<Clock>,
    seed: Res<Seed>,
    mut commands: Commands,
) {
    let now_ns = clock.now_ns();
    let mut arrived = Vec::new();
    for (entity, id, mut motion, mut position) in &mut moving {
        let goes_on = motion.bypass_change_detection().advance(now_ns, *id, *seed);
        position.set_if_neq(Position(motion.leg.position(now_ns)));
        if !goes_on {
            arrived.push((*id, entity));
        }
    }
    // In id order, because query order is history.
    arrived.sort_unstable_by_key(|(id, _)| *id);
    for (_, entity) in arrived {
        commands.entity(entity).remove::<Motion>();
    }
}

#[cfg(test)]
mod tests;
