//! Motion of ns-2 as `setdest` and BonnMotion write it, in metres around an origin.

use groundwave_model::terrain::{GeoPoint, geodesic};

use super::dataset::{Dataset, Event};
use super::error::{FormatError, Location};
use super::text::{line_of, text};
use super::{Content, Format, ReadOptions, Source};
use crate::ns2;
use crate::setdest;
use crate::setdest::Action;

/// The format.
pub static FORMAT: Format = Format {
    name: "ns2",
    label: "ns-2",
    description: "ns-2 motion (setdest, BonnMotion): nodes that move; --origin says where",
    extensions: &["scen", "tcl", "ns_movements", "ns2"],
    contents: &[Content::Tracks],
    sniff: |sample| sample.lines().any(|line| line.starts_with("$node_(")),
    read: Some(read),
    ..Format::NONE
};

fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, FormatError> {
    let lossy = String::from_utf8_lossy(source.bytes());
    let text = text(&FORMAT, lossy.as_bytes())?;
    let mut dataset = Dataset::default();
    let origin = options.origin.or_else(|| {
        let what = "no origin given: 0 N 0 E is taken";
        dataset.report.add(what, Location::default);
        GeoPoint::new(0.0, 0.0).ok()
    });
    let line_at = |offset: usize| line_of(&text.as_bytes()[..offset]) as usize;
    let trace = ns2::read(text, |bad| {
        let what = format!("a line of another kind ({})", bad.what);
        dataset.drop(&what, line_at(bad.span.start));
    });
    let position = |x_m: f64, y_m: f64| {
        let azimuth_deg = x_m.atan2(y_m).to_degrees();
        geodesic::direct(origin?, azimuth_deg, x_m.hypot(y_m)).ok()
    };
    for (number, start) in &trace.start {
        let line = line_at(start.offset);
        let at = start.x_m.zip(start.y_m).and_then(|(x, y)| position(x, y));
        let Some(at) = at else {
            dataset.drop("a start without X_ and Y_", line);
            continue;
        };
        if let Some(node) = dataset.node(&format!("node-{number}"), line) {
            dataset.event(0.0, Event::Move(node, at), line);
        }
    }
    let orders = setdest::orders(&trace, options.dialect);
    for offset in &orders.doubtful {
        let what = "speed 0 with another destination: read as a stop; --dialect core reads a jump";
        dataset.drop(what, line_at(*offset));
    }
    for (order, action) in &orders.orders {
        let line = line_at(order.offset);
        if trace.stop_s.is_some_and(|stop_s| order.at_s > stop_s) {
            dataset.drop("motion after the end of the trace", line);
            continue;
        }
        let Some(target) = position(order.x_m, order.y_m) else {
            dataset.drop("a destination beyond the Earth", line);
            continue;
        };
        if !trace.start.contains_key(&order.node) {
            dataset.drop("motion of a node without a start", line);
            continue;
        }
        if let Some(node) = dataset.node(&format!("node-{}", order.node), line) {
            let event = match action {
                Action::Jump => Event::Move(node, target),
                Action::Head | Action::Stop => Event::GoTo(node, target, order.speed_m_s),
            };
            dataset.event(order.at_s, event, line);
        }
    }
    dataset.end_s = Some(orders.end_s).filter(|_| !dataset.events.is_empty());
    Ok(dataset)
}
