//! From places to a plan: every hop in full.

use groundwave_values::parallel;

use super::greedy::Solution;
use super::plan::{ChainNode, ChainRole, RelayPlan, RelaySegment, Shortfall};
use super::request::RelayRequest;
use super::stretch::{Place, Task, link_margin_db, rate_bps};
use crate::radio::antenna::is_omnidirectional;
use crate::radio::result::Geometry;
use crate::radio::{BadValue, Pointing, Station};

/// Evaluates the hops of `solution`, each in the direction in which its search did, so that both see
/// the same numbers.
///
/// # Errors
/// A [`BadValue`] in the ground under a hop.
pub(super) fn complete(
    task: &Task<'_>,
    request: &RelayRequest<'_>,
    solution: Solution,
) -> Result<RelayPlan, BadValue> {
    let relays = solution.relays.iter().map(|&relay| (relay, task.relay));
    let places: Vec<Place<'_>> =
        std::iter::once(task.tx).chain(relays).chain(std::iter::once(task.rx)).collect();
    let segments = segments(task, &places, &solution.ranks)?;
    let rates = segments.iter().map(|segment| segment.data_rate_bps);
    let omnidirectional = is_omnidirectional(&task.relay.antenna);
    Ok(RelayPlan {
        strategy: request.strategy,
        chain: nodes(&places, &segments),
        bottleneck_rate_bps: rates.fold(f64::INFINITY, f64::min),
        target_data_rate_bps: task.target_bps,
        margin_db: task.margin_db,
        meets_target: segments.iter().all(|segment| segment.closes),
        shortfall: solution
            .shortfall
            .or_else(|| low_margin(task, &segments))
            .or_else(|| unknown_ground(&segments)),
        antennas_per_relay: if omnidirectional { 1 } else { 2 },
        relay_station: Station::clone(task.relay),
        segments,
    })
}

/// The hop that leaves the least margin; `None` where that is enough.
fn low_margin(task: &Task<'_>, segments: &[RelaySegment]) -> Option<Shortfall> {
    let margins_db = segments.iter().map(|segment| segment.link_margin_db).enumerate();
    let weaker = |least: (usize, f64), other: (usize, f64)| {
        if other.1 < least.1 { other } else { least }
    };
    let (segment, link_margin_db) = margins_db.reduce(weaker)?;
    (!task.leaves_margin(link_margin_db))
        .then_some(Shortfall::LowMargin { segment, link_margin_db })
}

/// Hops over unknown ground; `None` without one.
fn unknown_ground(segments: &[RelaySegment]) -> Option<Shortfall> {
    let is_unknown = |segment: &RelaySegment| !segment.forward.terrain.ground.is_enough();
    Some(Shortfall::UnknownGround {
        segment: segments.iter().position(is_unknown)?,
        segments: segments.iter().filter(|segment| is_unknown(segment)).count(),
    })
}

fn segments(
    task: &Task<'_>,
    places: &[Place<'_>],
    ranks: &[usize],
) -> Result<Vec<RelaySegment>, BadValue> {
    let rank = |place: usize| match place {
        0 => 0,
        place => ranks.get(place - 1).copied().unwrap_or(usize::MAX),
    };
    let mut work: Vec<_> = (0..places.len() - 1).map(|hop| (hop, None)).collect();
    parallel::for_each(&mut work, 1, |(hop, both)| {
        let (from, to) = (places[*hop], places[*hop + 1]);
        let turned = rank(*hop) > rank(*hop + 1);
        *both = Some(if turned {
            let both = task.evaluate(to, from);
            both.map(|(backward, forward)| (forward, backward))
        } else {
            task.evaluate(from, to)
        });
    });
    let segment = |(_, both): (_, Option<Result<_, BadValue>>)| {
        let both = both.expect("every hop was evaluated")?;
        let (data_rate_bps, link_margin_db) = (rate_bps(&both), link_margin_db(&both));
        let is_enough = data_rate_bps >= task.target_bps && task.leaves_margin(link_margin_db);
        let (forward, backward) = both;
        Ok(RelaySegment {
            distance_m: forward.geometry.distance_m,
            data_rate_bps,
            link_margin_db,
            closes: is_enough && forward.terrain.ground.is_enough(),
            forward,
            backward,
        })
    };
    work.into_iter().map(segment).collect()
}

fn nodes(places: &[Place<'_>], segments: &[RelaySegment]) -> Vec<ChainNode> {
    let last = places.len() - 1;
    let node = |(i, &(position, station)): (usize, &Place<'_>)| {
        // A hop away from this node is seen from its transmitter, one toward it likewise backward.
        let previous = i.checked_sub(1).map(|i| &segments[i].backward.geometry);
        let next = segments.get(i).map(|segment| &segment.forward.geometry);
        let geometry = next.or(previous).expect("a chain has two nodes or more");
        ChainNode {
            role: match i {
                0 => ChainRole::Transmitter,
                i if i == last => ChainRole::Receiver,
                _ => ChainRole::Relay,
            },
            position,
            ground_msl_m: geometry.tx_ground_msl_m,
            height_agl_m: station.height_agl_m,
            antenna_msl_m: geometry.tx_antenna_msl_m,
            to_previous: previous.map(toward),
            to_next: next.map(toward),
        }
    };
    places.iter().enumerate().map(node).collect()
}

fn toward(geometry: &Geometry) -> Pointing {
    Pointing { azimuth_deg: geometry.azimuth_deg, elevation_deg: geometry.tx_elevation_angle_deg }
}
