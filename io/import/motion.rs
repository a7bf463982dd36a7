//! Motion as ns-2 writes it, and the rate of a link as Mahimahi does.

use groundwave_systems::measure::Measured;
use groundwave_systems::terrain::{GeoPoint, geodesic};

use super::{ImportError, Recording, What};
use crate::impair::mahimahi;
use crate::scenario::ns2;
use crate::tracks::Tracks;

/// Reads motion. Coordinates are metres east and north of `origin`.
pub(super) fn ns2(text: &str, origin: GeoPoint, recording: &mut Recording) {
    let mut bad = Vec::new();
    let trace = ns2::read(text, |line| bad.push(line));
    for line in bad {
        let number = text[..line.span.start].matches('\n').count() + 1;
        recording.drop(
            &format!("a line that is none of motion ({})", line.what),
            number,
        );
    }
    let place = |x_m: f64, y_m: f64| {
        let azimuth_deg = x_m.atan2(y_m).to_degrees();
        geodesic::direct(origin, azimuth_deg, x_m.hypot(y_m)).ok()
    };
    let line_of = |offset: usize| text[..offset].matches('\n').count() + 1;
    for (number, start) in &trace.start {
        let line = line_of(start.offset);
        let position = start.x_m.zip(start.y_m).and_then(|(x, y)| place(x, y));
        let Some(position) = position else {
            recording.drop("a start without X_ and Y_", line);
            continue;
        };
        if let Some(node) = recording.node(&format!("node-{number}"), line) {
            recording.event(0.0, What::Move(node, position), line);
        }
    }
    for order in &trace.moves {
        let line = line_of(order.offset);
        let Some(target) = place(order.x_m, order.y_m) else {
            recording.drop("a destination beyond the Earth", line);
            continue;
        };
        if !trace.start.contains_key(&order.node) {
            recording.drop("motion of a node without a start", line);
            continue;
        }
        if let Some(node) = recording.node(&format!("node-{}", order.node), line) {
            recording.event(order.at_s, What::GoTo(node, target, order.speed_m_s), line);
        }
    }
}

/// Reads a packet-delivery trace of Mahimahi as the rate of one link, `client` to `server`, in
/// windows of a second.
///
/// # Errors
/// See [`ImportError`].
pub fn trace(title: &str, text: &str) -> Result<Recording, ImportError> {
    let rates = mahimahi::rates(text, 1000).map_err(|err| ImportError::Syntax {
        place: "the trace".to_owned(),
        what: err.to_string(),
    })?;
    let mut recording = Recording::new(title, 1.0);
    for (second, bps) in rates.bps.iter().enumerate() {
        let values = Measured {
            rate_bps: Some(*bps as f64),
            ..Measured::default()
        };
        recording.observe(second as f64, ("client", "server"), values, 0);
    }
    recording.finish()
}

/// Tracks of receivers as a recording.
///
/// # Errors
/// See [`ImportError`].
pub fn tracks(title: &str, found: Tracks) -> Result<Recording, ImportError> {
    let mut recording = Recording::new(found.title.as_deref().unwrap_or(title), 1.0);
    recording.dropped = found.dropped;
    for (name, fixes) in &found.nodes {
        for fix in fixes {
            if let Some(node) = recording.node(name, 0) {
                recording.event(fix.at_s, What::Move(node, fix.position), 0);
            }
        }
    }
    recording.finish()
}
