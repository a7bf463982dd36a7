//! Positions from which links are computed.

use bevy_ecs::prelude::*;
use groundwave_model::terrain::{GeoPoint, geodesic};

use super::commands::Limits;
use super::components::{LinkPosition, LinksIn, LinksOut, Predicted};
use crate::site::{Placed, Position};

/// Lets [`LinkPosition`] follow the nodes that moved further than the update distance.
pub(super) fn follow_positions(
    mut nodes: ParamSet<(
        Query<(&Position, &mut LinkPosition), Changed<Position>>,
        Query<(&Position, &mut LinkPosition)>,
    )>,
    limits: Res<Limits>,
) {
    let distance_m = limits.update_distance_m;
    for (position, mut at) in &mut nodes.p0() {
        // Without a distance a position that is written is looked at, even one that is equal.
        if distance_m == 0.0 || is_beyond(at.0, position.0, distance_m) {
            at.0 = Some(position.0);
        }
    }
    if limits.is_changed() {
        for (position, mut at) in &mut nodes.p1() {
            if is_beyond(at.0, position.0, distance_m) {
                at.0 = Some(position.0);
            }
        }
    }
}

/// Ends the links of a node that had no position: those in range of its place are made from there.
pub(super) fn leave_placeholder(
    placed: On<Placed>,
    nodes: Query<(Option<&LinksOut>, Option<&LinksIn>)>,
    mut commands: Commands,
) {
    commands.entity(placed.entity).insert(LinkPosition(None));
    let Ok((out, into)) = nodes.get(placed.entity) else { return };
    let out = out.map(|links| links.iter()).into_iter().flatten();
    let into = into.map(|links| links.iter()).into_iter().flatten();
    for link in out.chain(into) {
        commands.entity(link).remove::<Predicted>();
    }
}

/// `true` if a node is more than `distance_m` from where it was looked at last.
fn is_beyond(last: Option<GeoPoint>, now: GeoPoint, distance_m: f64) -> bool {
    last.is_none_or(|last| last != now && geodesic::inverse(last, now).distance_m > distance_m)
}
