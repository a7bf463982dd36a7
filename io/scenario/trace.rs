//! ns-2 traces in a scenario: where the text is, which nodes it moves, and where to.

use std::collections::BTreeMap;
use std::f64::consts::FRAC_PI_2;
use std::ops::Range;

use groundwave_model::terrain::{GeoPoint, geodesic};
use groundwave_toml_document::error::{Finding, TomlError};
use groundwave_toml_document::key::KeyPath;
use groundwave_toml_document::source::Source;
use groundwave_toml_document::{file as text_file, tree};
use serde_json::json;

use super::check;
use super::file_motion::MotionFile;
use super::limits::SPEED_M_S;
use super::lowering::{Lowering, NewNode, position, to_json};
use super::ns2::{self, BadLine, Start, Trace};
use super::setdest::{self, Action};

/// Prefix of node names when none is given.
const PREFIX_DEFAULT: &str = "node-";

/// The traces that could be read, by position in `[[motion]]`.
pub(super) type Traces = BTreeMap<usize, Read>;

/// A trace with what is needed to place it.
pub(super) struct Read {
    trace: Trace,
    text: TraceText,
    origin: GeoPoint,
}

/// The lines of a trace, and how to point at them.
struct TraceText {
    text: String,
    /// Name of the file; `None` when the text is inside the scenario.
    file: Option<String>,
}

/// Reads the trace of a motion and adds its nodes when it brings a station for them.
pub(super) fn read(lowering: &mut Lowering<'_>, index: usize, motion: &MotionFile) -> Option<Read> {
    let path = KeyPath::item("motion", index);
    let keys = [
        (motion.node.is_some(), "node"),
        (motion.nodes.is_some(), "nodes"),
        (motion.at_s.is_some(), "at_s"),
        (motion.until_s.is_some(), "until_s"),
    ];
    for (_, key) in keys.into_iter().filter(|(keys, _)| *keys) {
        lowering.report.at(
            &path.key(key),
            "does not go with ns-2 lines, which say it themselves",
            "nothing here",
        );
    }
    check::name(&name(motion, 0), &path.key("prefix"), &mut lowering.report);
    let Some(origin) = &motion.origin else {
        lowering.report.at(
            &path.key("origin"),
            "missing key",
            "{ lat_deg, lon_deg } of the point (0, 0)",
        );
        return None;
    };
    let origin = GeoPoint::new(origin.lat_deg, origin.lon_deg).ok()?;
    let Some(text) = text(lowering, motion, &path) else {
        if motion.station.is_some() {
            // References to the nodes of the trace are no second error.
            lowering.nodes.note_unread(motion.prefix.as_deref().unwrap_or(PREFIX_DEFAULT));
        }
        return None;
    };
    let mut bad = Vec::new();
    let trace = ns2::read(&text.text, |line| bad.push(line));
    for line in bad {
        refuse(lowering, &text, line, &path);
    }
    let read = Read { trace, text, origin };
    if let Some(spec) = &motion.station {
        let station = lowering.station(spec, &path.key("station"))?;
        let station = to_json(&station);
        for (&number, start) in &read.trace.start {
            let name = name(motion, number);
            let Some(at) = starting_place(lowering, &read, number, start, &path) else {
                continue;
            };
            let (lat_deg, lon_deg) = at;
            let (station, role) = (&station, spec.role);
            let new =
                NewNode { at_ns: 0, name: &name, label: &name, role, lat_deg, lon_deg, station };
            lowering.add_node(&new, &path);
        }
    }
    Some(read)
}

/// Lowers the orders of a trace: `node.move` to the start for nodes that were there before, and
/// `motion.goto`, `motion.stop` or `node.move` for each order.
pub(super) fn moves(lowering: &mut Lowering<'_>, read: &Read, motion: &MotionFile, path: &KeyPath) {
    if motion.station.is_none() {
        for (&number, start) in &read.trace.start {
            let name = name(motion, number);
            let Some(since_ns) = start_ns(lowering, read, &name, start.offset, path) else {
                continue;
            };
            if let Some((lat_deg, lon_deg)) = starting_place(lowering, read, number, start, path) {
                let body = json!({ "node": name, "position": position(lat_deg, lon_deg) });
                lowering.record(since_ns, "node.move", body, path);
            }
        }
    }
    for (order, action) in setdest::orders(&read.trace, motion.dialect).orders {
        let name = name(motion, order.node);
        let fault = |what: String, allowed: String| {
            let line = line_at(&read.text.text, order.offset);
            BadLine { span: line, what, allowed, has_comma: false }
        };
        let Some(since_ns) = start_ns(lowering, read, &name, order.offset, path) else {
            continue;
        };
        let end_s = lowering.clock.duration_s;
        let at_ns = check::nanoseconds(order.at_s).filter(|_| (0.0..=end_s).contains(&order.at_s));
        let Some(at_ns) = at_ns.filter(|at_ns| *at_ns >= since_ns) else {
            let allowed = format!("[{}, {end_s}] (duration_s = {end_s})", check::seconds(since_ns));
            let line = fault(format!("{} s is out of range", order.at_s), allowed);
            refuse(lowering, &read.text, line, path);
            continue;
        };
        let (slowest, fastest) = SPEED_M_S;
        if order.speed_m_s != 0.0 && !(slowest..=fastest).contains(&order.speed_m_s) {
            let allowed = format!("0, or [{slowest}, {fastest}]");
            let line = fault(format!("{} m/s is out of range", order.speed_m_s), allowed);
            refuse(lowering, &read.text, line, path);
            continue;
        }
        if action == Action::Stop {
            lowering.record(at_ns, "motion.stop", json!({ "node": name }), path);
            continue;
        }
        let Some((lat_deg, lon_deg)) = place(read.origin, order.x_m, order.y_m) else {
            continue;
        };
        let destination = position(lat_deg, lon_deg);
        let (command, body) = match action {
            Action::Jump => ("node.move", json!({ "node": name, "position": destination })),
            _ => {
                let speed_m_s = order.speed_m_s;
                let body =
                    json!({ "node": name, "destination": destination, "speed_m_s": speed_m_s });
                ("motion.goto", body)
            }
        };
        lowering.record(at_ns, command, body, path);
    }
}

/// The text of a trace, from the scenario or from a file beside it.
fn text(lowering: &mut Lowering<'_>, motion: &MotionFile, path: &KeyPath) -> Option<TraceText> {
    if let Some(text) = &motion.ns2 {
        return Some(TraceText { text: text.clone(), file: None });
    }
    let name = motion.ns2_file.as_deref()?;
    let Some(base_dir) = lowering.base_dir else {
        let what = "names a file, and this scenario came without its folder";
        let allowed = "the lines themselves, as ns2";
        lowering.report.at(&path.key("ns2_file"), what, allowed);
        return None;
    };
    let file = base_dir.join(name);
    match text_file::text(&file) {
        Ok(text) => Some(TraceText { text, file: Some(file.display().to_string()) }),
        Err(fault) => {
            let name_of_file = file.display();
            lowering.report.at(
                &path.key("ns2_file"),
                format!("{name_of_file}: {}", fault.what),
                fault.allowed,
            );
            None
        }
    }
}

/// Time of joining of a node of the trace, ns; a command for an unknown node is an error.
fn start_ns(
    lowering: &mut Lowering<'_>,
    read: &Read,
    name: &str,
    offset: usize,
    path: &KeyPath,
) -> Option<u64> {
    let since_ns = lowering.nodes.get(name).map(|stay| stay.since_ns);
    if since_ns.is_none() {
        let allowed = "nodes of this scenario (see prefix), or nodes placed with X_ and Y_ when station is given";
        let what = format!("unknown node {name:?}");
        let line = BadLine {
            span: line_at(&read.text.text, offset),
            what,
            allowed: allowed.to_owned(),
            has_comma: false,
        };
        refuse(lowering, &read.text, line, path);
    }
    since_ns
}

/// Initial position of a node of the trace: both coordinates are needed.
fn starting_place(
    lowering: &mut Lowering<'_>,
    read: &Read,
    number: u32,
    start: &Start,
    path: &KeyPath,
) -> Option<(f64, f64)> {
    let (Some(x_m), Some(y_m)) = (start.x_m, start.y_m) else {
        let what = format!("$node_({number}) has only one of X_ and Y_");
        let span = line_at(&read.text.text, start.offset);
        refuse(
            lowering,
            &read.text,
            BadLine { span, what, allowed: "both".to_owned(), has_comma: false },
            path,
        );
        return None;
    };
    place(read.origin, x_m, y_m)
}

/// Name of a node of the trace.
fn name(motion: &MotionFile, number: u32) -> String {
    format!("{}{number}", motion.prefix.as_deref().unwrap_or(PREFIX_DEFAULT))
}

/// Latitude and longitude, deg, of a point east and north of the origin: along the geodesic that
/// leaves in its direction, for its distance; rounded to 1e-8 (a millimetre).
fn place(origin: GeoPoint, east_m: f64, north_m: f64) -> Option<(f64, f64)> {
    let azimuth_deg = (FRAC_PI_2 - north_m.atan2(east_m)).to_degrees();
    let point = geodesic::direct(origin, azimuth_deg, east_m.hypot(north_m)).ok()?;
    let round = |deg: f64| (deg * 1e8).round() / 1e8;
    Some((round(point.lat_deg()), round(point.lon_deg())))
}

/// Bytes of the line that begins at `offset`, without its end.
fn line_at(text: &str, offset: usize) -> Range<usize> {
    let line = text.get(offset..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    offset..offset + line.trim_end().len()
}

/// Reports a line of a trace at its own place.
fn refuse(lowering: &mut Lowering<'_>, text: &TraceText, line: BadLine, path: &KeyPath) {
    let (what, allowed) = (line.what, line.allowed);
    if let Some(file) = &text.file {
        let path = path.key("ns2_file");
        lowering.report.push(|| {
            let finding =
                Finding { path: KeyPath::default(), span: None, what, allowed, elsewhere: None };
            let error: TomlError =
                finding.clone().located(&Source::new(file, &text.text), &line.span);
            Finding { path, elsewhere: Some(error), ..finding }
        });
        return;
    }
    let path = path.key("ns2");
    let value = tree::span_of(lowering.root, &path);
    let number = text.text[..line.span.start].matches('\n').count() + 1;
    let span = inside(lowering.source.text, &value, &text.text, &line.span);
    let what = format!("ns-2 line {number}: {what}");
    lowering.report.push(|| Finding {
        path,
        span: Some(span.unwrap_or(value)),
        what,
        allowed,
        elsewhere: None,
    });
}

/// Bytes of the scenario where a part of an inline trace stands, if the text is written there
/// without escapes.
fn inside(
    source: &str,
    value: &Range<usize>,
    text: &str,
    part: &Range<usize>,
) -> Option<Range<usize>> {
    let written = source.get(value.clone())?;
    let begins = value.start + written.find(text).filter(|_| !text.is_empty())?;
    Some(begins + part.start..begins + part.end)
}
