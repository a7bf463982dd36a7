//! Motion of ns-2 as `setdest` and BonnMotion write it, in metres around an origin.

use groundwave_model::terrain::GeoPoint;

use super::dataset::{Dataset, Event};
use super::error::{Fault, FormatError, Location, quoted};
use super::plane::Plane;
use super::text::{Lines, text};
use super::{Content, Format, ReadOptions, Source};
use crate::ns2::{self, Start};
use crate::setdest;
use crate::setdest::{Action, Dialect};

/// The format.
pub static FORMAT: Format = Format {
    name: "ns2",
    label: "ns-2",
    description: "ns-2 motion (setdest, BonnMotion): nodes that move on a plane (--origin)",
    extensions: &["scen", "tcl", "ns_movements", "ns2"],
    contents: &[Content::Tracks],
    sniff: |sample| sample.lines().any(is_motion),
    read: Some(read),
    ..Format::NONE
};

/// True for a statement about motion.
fn is_motion(line: &str) -> bool {
    line.starts_with("$node_(")
        || (line.starts_with("$ns") && line.contains("$node_(") && line.contains("set"))
}

fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, FormatError> {
    let mut dataset = Dataset::default();
    let plane = Plane::of(options, &mut dataset);
    let place = Place {
        position: &|x_m, y_m| plane.position(x_m, y_m),
        key: &|number| format!("node-{number}"),
        unit_m: 1.0,
        start_s: 0.0,
        begin_s: 0.0,
        dialect: options.dialect,
    };
    let heights = take(source.bytes(), &place, &mut dataset)?;
    dataset.heights_above_plane(heights);
    Ok(dataset)
}

/// Place and time of motion, and the nodes that move.
pub(super) struct Place<'p> {
    /// The position of a point of the document.
    pub position: &'p dyn Fn(f64, f64) -> Option<GeoPoint>,
    /// The key of a node by its number.
    pub key: &'p dyn Fn(u32) -> String,
    /// Length of a unit of the document, m.
    pub unit_m: f64,
    /// Time from which on nodes are at their starts, s.
    pub start_s: f64,
    /// Time of its second 0, s.
    pub begin_s: f64,
    /// Meaning of a speed of 0.
    pub dialect: Option<Dialect>,
}

/// Takes the motion of a document; its heights: time, s, node, z and line.
///
/// # Errors
/// Numbers with a decimal comma, and octets that are not text.
pub(super) fn take(
    bytes: &[u8],
    place: &Place<'_>,
    dataset: &mut Dataset,
) -> Result<Vec<(f64, u32, f64, usize)>, FormatError> {
    let lossy = String::from_utf8_lossy(bytes);
    let text = text(&FORMAT, lossy.as_bytes())?;
    let begin_s = place.begin_s;
    let lines = Lines::of(text);
    let mut comma = None;
    let mut trace = ns2::read(text, |bad| {
        let line = lines.line(bad.span.start);
        if bad.has_comma && comma.is_none() {
            comma = Some((text[bad.span.clone()].to_owned(), line));
        }
        dataset.drop(&format!("a line of another kind ({})", bad.what), line);
    });
    if let Some((actual, line)) = comma {
        // Leaving it out would leave a node standing.
        let fault = Fault::new("", quoted(&actual), "numbers with a decimal point, not a comma");
        return Err(fault.at(&FORMAT, Location::line(line)));
    }
    let position = place.position;
    for order in &trace.moves {
        trace.start.entry(order.node).or_insert_with(|| {
            let what = "motion of a node without a start: 0, 0 is taken, as ns-2 does";
            dataset.drop(what, lines.line(order.offset));
            Start { x_m: Some(0.0), y_m: Some(0.0), offset: order.offset }
        });
    }
    for (number, start) in &trace.start {
        let line = lines.line(start.offset);
        if start.x_m.is_none() || start.y_m.is_none() {
            dataset.drop("a start with only one of X_ and Y_: 0 is taken for the other", line);
        }
        let Some(at) = position(start.x_m.unwrap_or(0.0), start.y_m.unwrap_or(0.0)) else {
            dataset.drop("a start beyond the Earth", line);
            continue;
        };
        if let Some(node) = dataset.node(&(place.key)(*number), line) {
            dataset.event(place.start_s, Event::Move(node, at), line);
        }
    }
    let orders = setdest::orders(&trace, place.dialect);
    for offset in &orders.doubtful {
        let what = "speed 0 with another destination: read as a stop (--dialect core reads a jump)";
        dataset.drop(what, lines.line(*offset));
    }
    for (order, action) in &orders.orders {
        let line = lines.line(order.offset);
        if trace.stop_s.is_some_and(|stop_s| order.at_s > stop_s) {
            dataset.drop("motion after the end of the trace", line);
            continue;
        }
        let Some(target) = position(order.x_m, order.y_m) else {
            dataset.drop("a destination beyond the Earth", line);
            continue;
        };
        if let Some(node) = dataset.node(&(place.key)(order.node), line) {
            let event = match action {
                Action::Jump => Event::Move(node, target),
                Action::Head | Action::Stop => {
                    Event::GoTo(node, target, order.speed_m_s * place.unit_m)
                }
            };
            dataset.event(begin_s + order.at_s, event, line);
        }
    }
    let mut heights = Vec::new();
    for height in &trace.heights {
        let line = lines.line(height.offset);
        if trace.stop_s.is_some_and(|stop_s| height.at_s > stop_s) {
            dataset.drop("motion after the end of the trace", line);
        } else if let Some(node) = dataset.node(&(place.key)(height.node), line) {
            heights.push((begin_s + height.at_s, node, height.z_m, line));
        }
    }
    dataset.end_s = Some(begin_s + orders.end_s).filter(|_| !dataset.events.is_empty());
    Ok(heights)
}
