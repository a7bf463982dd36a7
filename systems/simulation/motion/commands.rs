//! Commands on moving nodes.

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Recorded, Refusal, Seed};
use groundwave_model::radio::station::{HEIGHT_AGL_M_MAX, HEIGHT_MSL_M};
use groundwave_model::terrain::GeoPoint;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Area, Height, Here, LEG_NS_MIN, Leg, Motion, Then, Waypoint};
use crate::site::{NodeId, Position, StationConfig, WorldTerrain, node, place};

/// Maximum number of waypoints of a motion: a day at one a second.
pub const WAYPOINTS_MAX: usize = 86_400;

/// Fastest speed a node may have, m/s: low Earth orbit.
const SPEED_MAX_M_S: f64 = 8_000.0;

/// Slowest speed, m/s: a millimetre a second; below it a node stands.
const SPEED_MIN_M_S: f64 = 0.001;

/// Maximum pause, ns: a year, so that no sum of times can overflow.
const PAUSE_NS_MAX: u64 = 31_557_600_000_000_000;

fn check_speed(key: &str, speed_m_s: f64) -> Result<(), Refusal> {
    if (SPEED_MIN_M_S..=SPEED_MAX_M_S).contains(&speed_m_s) {
        return Ok(());
    }
    let allowed = format!("{SPEED_MIN_M_S} to {SPEED_MAX_M_S}");
    Err(Refusal::invalid(key, speed_m_s, allowed))
}

/// Completes the body of a motion command with the time of its event, ns, unless it has one;
/// leaves the bodies of other commands alone.
pub fn set_time(name: &str, body: &mut Value, at_ns: u64) {
    let timed = [Follow::NAME, GoTo::NAME, Wander::NAME, StopMotion::NAME].contains(&name);
    if let (true, Value::Object(body)) = (timed, body) {
        body.entry("at_ns").or_insert_with(|| at_ns.into());
    }
}

/// Starts a motion, replacing any before it.
fn start(world: &mut World, entity: Entity, motion: Motion) {
    place(world, entity);
    world.entity_mut(entity).insert(motion);
}

/// State of a node when an event happens. Events of one tick come in the
/// order of their times; one that comes late happens with the last before it.
///
/// Logs of earlier versions have no times: there the position of the tick before counts as that of
/// the present one.
fn here(
    world: &mut World,
    entity: Entity,
    id: NodeId,
    at_ns: Option<u64>,
) -> Result<Here, Refusal> {
    if at_ns.is_some() {
        // A jump before this event ends the motion by a deferred command, which must not end this one.
        world.flush();
    }
    let position = world.get::<Position>(entity).expect("every node has a position").0;
    let clock = world.resource::<Clock>();
    let now_ns = clock.now_ns();
    let Some(at_ns) = at_ns else {
        return Ok(Here { position, at_ns: now_ns, height: None });
    };
    let begin_ns = now_ns.saturating_sub(clock.step_ns);
    if !(begin_ns..=now_ns).contains(&at_ns) {
        let allowed = format!("{begin_ns} to {now_ns}, the time since the tick before");
        return Err(Refusal::invalid("at_ns", at_ns, allowed));
    }
    Ok(match world.get::<Motion>(entity) {
        Some(motion) => {
            let terrain = world.resource::<WorldTerrain>();
            motion.clone().at(at_ns, id, *world.resource::<Seed>(), terrain)
        }
        None => Here { position, at_ns, height: None },
    })
}

/// Follows waypoints, arriving at each at its time and walking geodesics between them. Where waypoints have heights,
/// those are the antenna's until the motion ends.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Follow {
    pub node: NodeId,
    /// Waypoints in rising time order, none of them past. The node leaves its present position for
    /// the first at once.
    pub waypoints: Vec<Waypoint>,
    /// Time of the event within the tick, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ns: Option<u64>,
}
impl Command for Follow {
    type Out = Result<(), Refusal>;
    fn apply(mut self, world: &mut World) -> Self::Out {
        let entity = node(world, self.node)?;
        let Here { position: from, at_ns: begin_ns, height } =
            here(world, entity, self.node, self.at_ns)?;
        if !(1..=WAYPOINTS_MAX).contains(&self.waypoints.len()) {
            let allowed = format!("1 to {WAYPOINTS_MAX} waypoints");
            return Err(Refusal::invalid("waypoints", self.waypoints.len(), allowed));
        }
        let mut last_ns = begin_ns;
        for (i, waypoint) in self.waypoints.iter().enumerate() {
            if waypoint.at_ns < last_ns {
                let key = format!("waypoints[{i}].at_ns");
                return Err(Refusal::invalid(key, waypoint.at_ns, format!("{last_ns} or later")));
            }
            last_ns = waypoint.at_ns;
            waypoint.check_height(i)?;
        }
        let mut from_height = None;
        if self.waypoints.iter().any(|waypoint| waypoint.height().is_some()) {
            let station = world.get::<StationConfig>(entity).expect("every node has a station");
            let mut last = height.unwrap_or(Height::Ground(station.0.height_agl_m));
            from_height = Some(last);
            for waypoint in &mut self.waypoints {
                last = waypoint.height().unwrap_or(last);
                match last {
                    Height::Ground(agl_m) => waypoint.height_agl_m = Some(agl_m),
                    Height::Sea(msl_m) => waypoint.height_msl_m = Some(msl_m),
                }
            }
        }
        self.waypoints.reverse();
        let first = self.waypoints.pop().expect("there is at least one");
        let terrain = world.resource::<WorldTerrain>();
        let leg = Leg::to_waypoint((from, from_height), &first, begin_ns, terrain);
        start(world, entity, Motion { leg, then: Then::Waypoints(self.waypoints) });
        Ok(())
    }
}
impl Recorded for Follow {
    const NAME: &'static str = "motion.follow";
    type Reply = ();
}

impl Waypoint {
    /// Refuses heights out of range and two heights at once; `index` is that of the waypoint.
    fn check_height(&self, index: usize) -> Result<(), Refusal> {
        let refuse = |name: &str, found: f64, allowed: String| {
            Err(Refusal::invalid(format!("waypoints[{index}].{name}"), found, allowed))
        };
        match (self.height_agl_m, self.height_msl_m) {
            (Some(_), Some(msl_m)) => {
                refuse("height_msl_m", msl_m, "one of height_agl_m and height_msl_m".to_owned())
            }
            (Some(agl_m), None) if !(0.0..=HEIGHT_AGL_M_MAX).contains(&agl_m) => {
                refuse("height_agl_m", agl_m, format!("0 to {HEIGHT_AGL_M_MAX}"))
            }
            (None, Some(msl_m)) if !(HEIGHT_MSL_M.0..=HEIGHT_MSL_M.1).contains(&msl_m) => {
                let (least_m, greatest_m) = HEIGHT_MSL_M;
                refuse("height_msl_m", msl_m, format!("{least_m} to {greatest_m}"))
            }
            _ => Ok(()),
        }
    }
}

/// Walks to a place at constant speed, as ns-2's `setdest` does.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoTo {
    pub node: NodeId,
    pub destination: GeoPoint,
    /// Speed, m/s, 0.001 to 8000.
    pub speed_m_s: f64,
    /// Time of the event within the tick, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ns: Option<u64>,
}
impl Command for GoTo {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        check_speed("speed_m_s", self.speed_m_s)?;
        let entity = node(world, self.node)?;
        let Here { position: from, at_ns: begin_ns, .. } =
            here(world, entity, self.node, self.at_ns)?;
        // Logs without times were recorded with a shortest walk.
        let least_ns = self.at_ns.map_or(LEG_NS_MIN, |_| 0);
        let leg = Leg::at_speed(from, self.destination, begin_ns, self.speed_m_s, least_ns);
        start(world, entity, Motion { leg, then: Then::Rest });
        Ok(())
    }
}
impl Recorded for GoTo {
    const NAME: &'static str = "motion.goto";
    type Reply = ();
}

/// Random waypoint walk: draw a place in the area and a speed, walk there, pause, repeat. Drawn
/// from the world's seed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wander {
    pub node: NodeId,
    /// Area of the walk.
    pub area: Area,
    /// Minimum speed, m/s. A value well above 0 keeps the mean speed from decaying (Yoon, Liu and
    /// Noble, "Random waypoint considered harmful", 2003).
    pub speed_min_m_s: f64,
    /// Greatest speed, m/s.
    pub speed_max_m_s: f64,
    /// Pause at each place, ns.
    pub pause_ns: u64,
    /// Time of the event within the tick, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ns: Option<u64>,
}
impl Command for Wander {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let speeds_m_s = [self.speed_min_m_s, self.speed_max_m_s];
        check_walk(&self.area, speeds_m_s, self.pause_ns)?;
        let entity = node(world, self.node)?;
        let Here { position: from, at_ns: begin_ns, .. } =
            here(world, entity, self.node, self.at_ns)?;
        let leg = Leg::new(from, from, begin_ns, begin_ns);
        let Self { area, speed_min_m_s, speed_max_m_s, pause_ns, .. } = self;
        let then = Then::Draw { area, speed_min_m_s, speed_max_m_s, pause_ns, legs: 0 };
        start(world, entity, Motion { leg, then });
        Ok(())
    }
}
impl Recorded for Wander {
    const NAME: &'static str = "motion.wander";
    type Reply = ();
}

/// Checks what walks are drawn from.
fn check_walk(
    area: &Area,
    [speed_min_m_s, speed_max_m_s]: [f64; 2],
    pause_ns: u64,
) -> Result<(), Refusal> {
    check_speed("speed_min_m_s", speed_min_m_s)?;
    check_speed("speed_max_m_s", speed_max_m_s)?;
    if speed_max_m_s < speed_min_m_s {
        let allowed = format!("{speed_min_m_s} (speed_min_m_s) or more");
        return Err(Refusal::invalid("speed_max_m_s", speed_max_m_s, allowed));
    }
    if pause_ns > PAUSE_NS_MAX {
        let allowed = format!("0 to {PAUSE_NS_MAX}");
        return Err(Refusal::invalid("pause_ns", pause_ns, allowed));
    }
    area.check()
}

impl Motion {
    /// Checks a motion that no command made, as that of a checkpoint.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        match &self.then {
            Then::Draw { area, speed_min_m_s, speed_max_m_s, pause_ns, .. } => {
                check_walk(area, [*speed_min_m_s, *speed_max_m_s], *pause_ns)
            }
            Then::Rest | Then::Waypoints(_) => Ok(()),
        }
    }
}

impl Area {
    fn check(&self) -> Result<(), Refusal> {
        let edges = [
            ("area.south_deg", self.south_deg, 90.0),
            ("area.north_deg", self.north_deg, 90.0),
            ("area.west_deg", self.west_deg, 180.0),
            ("area.east_deg", self.east_deg, 180.0),
        ];
        for (key, edge, bound) in edges {
            if !(-bound..=bound).contains(&edge) {
                return Err(Refusal::invalid(key, edge, format!("-{bound} to {bound}")));
            }
        }
        if self.north_deg < self.south_deg {
            let allowed = format!("{} (area.south_deg) or more", self.south_deg);
            return Err(Refusal::invalid("area.north_deg", self.north_deg, allowed));
        }
        Ok(())
    }
}

/// Stops a node where it is at that time.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopMotion {
    pub node: NodeId,
    /// Time of the event within the tick, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ns: Option<u64>,
}
impl Command for StopMotion {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let entity = node(world, self.node)?;
        let Here { position, .. } = here(world, entity, self.node, self.at_ns)?;
        let mut moved = world.entity_mut(entity);
        moved.remove::<Motion>();
        if let Some(mut at) = moved.get_mut::<Position>() {
            at.set_if_neq(Position(position));
        }
        Ok(())
    }
}
impl Recorded for StopMotion {
    const NAME: &'static str = "motion.stop";
    type Reply = ();
}
