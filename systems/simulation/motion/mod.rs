//! Motion: waypoints, ns-2-style destinations and random waypoint walks.

mod commands;
mod state;

use bevy_ecs::prelude::*;
use groundwave_engine::{Builder, Clock, Phase, Seed, Stream};
use serde::{Deserialize, Serialize};

pub use commands::{Follow, GoTo, StopMotion, WAYPOINTS_MAX, Wander, set_time};

use crate::site::{NodeId, Position, Relocated, StationConfig, WorldTerrain};
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
    /// Height of the antenna above ground there, m, [0, 20000]; it changes evenly on the way. Absent, that of the
    /// waypoint before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height_agl_m: Option<f64>,
    /// Height of the antenna above mean sea level there, m, [-500, 29000], in place of the one above ground: it
    /// changes evenly on the way, and the height above ground follows the terrain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height_msl_m: Option<f64>,
}

impl Waypoint {
    /// The height of the antenna, where the waypoint has one.
    const fn height(&self) -> Option<Height> {
        match (self.height_msl_m, self.height_agl_m) {
            (Some(msl_m), _) => Some(Height::Sea(msl_m)),
            (None, Some(agl_m)) => Some(Height::Ground(agl_m)),
            (None, None) => None,
        }
    }
}

/// Height of an antenna, m, above its datum.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Height {
    Ground(f64),
    Sea(f64),
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
    /// Heights of the antenna above ground at both ends, m, where they are those of waypoints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    heights_agl_m: Option<[f64; 2]>,
    /// Heights of the antenna above mean sea level at both ends, m, in place of those above ground.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    heights_msl_m: Option<[f64; 2]>,
}

impl Leg {
    fn new(from: GeoPoint, to: GeoPoint, start_ns: u64, end_ns: u64) -> Self {
        let way = geodesic::inverse(from, to);
        let (azimuth_deg, distance_m) = (way.azimuth_deg, way.distance_m);
        Self {
            from,
            to,
            start_ns,
            end_ns,
            azimuth_deg,
            distance_m,
            heights_agl_m: None,
            heights_msl_m: None,
        }
    }

    /// The way to a waypoint from a place and a height: the height changes in the datum of the waypoint.
    fn to_waypoint(
        (from, height): (GeoPoint, Option<Height>),
        waypoint: &Waypoint,
        start_ns: u64,
        terrain: &WorldTerrain,
    ) -> Self {
        let mut leg = Self::new(from, waypoint.position, start_ns, waypoint.at_ns);
        match height.zip(waypoint.height()) {
            Some((Height::Ground(from_m), Height::Ground(to_m))) => {
                leg.heights_agl_m = Some([from_m, to_m]);
            }
            Some((Height::Sea(from_m), Height::Ground(to_m))) => {
                leg.heights_agl_m = Some([terrain.height_agl_m(from, from_m), to_m]);
            }
            Some((Height::Sea(from_m), Height::Sea(to_m))) => {
                leg.heights_msl_m = Some([from_m, to_m]);
            }
            Some((Height::Ground(from_m), Height::Sea(to_m))) => {
                leg.heights_msl_m = Some([terrain.ground_msl_m(from) + from_m, to_m]);
            }
            None => {}
        }
        leg
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
        let distance_m = self.share(now_ns) * self.distance_m;
        geodesic::direct(self.from, self.azimuth_deg, distance_m).unwrap_or(self.to)
    }

    /// Height of the antenna, where the leg has heights.
    fn height(&self, now_ns: u64) -> Option<Height> {
        let between = |[from_m, to_m]: [f64; 2]| match self.share(now_ns) {
            share if share >= 1.0 => to_m,
            share => from_m + share * (to_m - from_m),
        };
        match self.heights_msl_m {
            Some(heights_m) => Some(Height::Sea(between(heights_m))),
            None => Some(Height::Ground(between(self.heights_agl_m?))),
        }
    }

    /// Part of the leg that is behind, [0, 1].
    fn share(&self, now_ns: u64) -> f64 {
        match now_ns {
            now_ns if now_ns >= self.end_ns => 1.0,
            now_ns if now_ns <= self.start_ns => 0.0,
            now_ns => (now_ns - self.start_ns) as f64 / (self.end_ns - self.start_ns) as f64,
        }
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

/// State of a node when an event happens.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Here {
    position: GeoPoint,
    at_ns: u64,
    /// Height of the antenna, where the motion has one.
    height: Option<Height>,
}

impl Motion {
    /// The state at a time, ns: the time is the begin of the leg where the leg begins later.
    fn at(mut self, at_ns: u64, id: NodeId, seed: Seed, terrain: &WorldTerrain) -> Here {
        self.advance(at_ns, id, seed, terrain);
        Here {
            position: self.leg.position(at_ns),
            at_ns: at_ns.max(self.leg.start_ns),
            height: self.leg.height(at_ns),
        }
    }

    /// Moves on to the leg that covers `now_ns`; false when there is nowhere left to go.
    fn advance(&mut self, now_ns: u64, id: NodeId, seed: Seed, terrain: &WorldTerrain) -> bool {
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
            let from = (self.leg.to, self.leg.height(u64::MAX));
            self.leg = Leg::to_waypoint(from, &next, self.leg.end_ns, terrain);
        }
    }
}

/// Ends the motion of a node that a command put elsewhere.
fn stop_relocated(relocated: On<Relocated>, mut commands: Commands) {
    commands.entity(relocated.entity).remove::<Motion>();
}

/// Puts every moving node where it should be now, and its antenna at its height.
fn move_nodes(
    mut moving: Query<(Entity, &NodeId, &mut Motion, &mut Position, &mut StationConfig)>,
    clock: Res<Clock>,
    seed: Res<Seed>,
    terrain: Res<WorldTerrain>,
    mut commands: Commands,
) {
    let now_ns = clock.now_ns();
    let mut arrived = Vec::new();
    for (entity, id, mut motion, mut position, mut station) in &mut moving {
        let goes_on = motion.bypass_change_detection().advance(now_ns, *id, *seed, &terrain);
        let here = motion.leg.position(now_ns);
        position.set_if_neq(Position(here));
        let height_agl_m = match motion.leg.height(now_ns) {
            Some(Height::Ground(agl_m)) => agl_m,
            Some(Height::Sea(msl_m)) => terrain.height_agl_m(here, msl_m),
            None => station.0.height_agl_m,
        };
        if height_agl_m != station.0.height_agl_m {
            station.0.height_agl_m = height_agl_m;
        }
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
