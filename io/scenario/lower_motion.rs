//! Motion: waypoints, wandering, going somewhere, and ns-2 traces.

use groundwave_toml_document::key::KeyPath;
use serde_json::{Value as Json, json};

use super::check::{self, nanoseconds};
use super::file_motion::{Area, MotionFile, WanderFile, WaypointFile};
use super::limits::{NODES_MAX, SPEED_M_S, WAYPOINTS_MAX};
use super::lower_nodes;
use super::lowering::{Lowering, position};
use super::trace::{self, Traces};

/// Reads the ns-2 traces of all motions and adds the nodes they bring.
pub(super) fn traces(lowering: &mut Lowering<'_>) -> Traces {
    let file = lowering.file;
    let mut traces = Traces::new();
    for (index, motion) in file.motion.iter().enumerate() {
        if motion.ns2.is_some() || motion.ns2_file.is_some() {
            traces.extend(trace::read(lowering, index, motion).map(|trace| (index, trace)));
        }
    }
    traces
}

/// Motion of generated nodes.
pub(super) fn generated(lowering: &mut Lowering<'_>) {
    let file = lowering.file;
    for (index, spec) in file.generate.iter().enumerate() {
        let Some(wander) = &spec.wander else {
            continue;
        };
        let path = KeyPath::item("generate", index).key("wander");
        let Some(body) = wander_body(lowering, wander, Some(&spec.area), &path) else {
            continue;
        };
        // A table that was refused may have any count, and has no nodes to move.
        for number in 1..=NODES_MAX.min(spec.count as usize) {
            let name = lower_nodes::name(spec, number);
            if lowering.nodes.get(&name).is_some() {
                lowering.record(0, "motion.wander", with_node(&body, &name), &path);
            }
        }
    }
}

/// Motion written in the file.
pub(super) fn declared(lowering: &mut Lowering<'_>, mut traces: Traces) {
    let file = lowering.file;
    for (index, motion) in file.motion.iter().enumerate() {
        let path = KeyPath::item("motion", index);
        check::ranges(motion, &path, &mut lowering.report);
        let kinds = [
            motion.waypoints.is_some(),
            motion.wander.is_some(),
            motion.goto.is_some(),
            motion.ns2.is_some(),
            motion.ns2_file.is_some(),
        ];
        if kinds.iter().filter(|is_set| **is_set).count() != 1 {
            let allowed = "exactly one of waypoints, wander, goto, ns2 and ns2_file";
            lowering.report.at(&path, "does not say how to move", allowed);
            continue;
        }
        if motion.ns2.is_some() || motion.ns2_file.is_some() {
            if let Some(trace) = traces.remove(&index) {
                trace::moves(lowering, &trace, motion, &path);
            }
            continue;
        }
        let foreign = [
            (motion.origin.is_some(), "origin"),
            (motion.dialect.is_some(), "dialect"),
            (motion.prefix.is_some(), "prefix"),
            (motion.station.is_some(), "station"),
        ];
        for (_, key) in foreign.into_iter().filter(|(is_set, _)| *is_set) {
            lowering.report.at(&path.key(key), "belongs to ns2 and ns2_file", "nothing here");
        }
        for (name, at) in movers(lowering, motion, &path) {
            one(lowering, motion, &name, &at, &path);
        }
    }
}

/// The nodes a table moves, and the key that names each.
fn movers(
    lowering: &mut Lowering<'_>,
    motion: &MotionFile,
    path: &KeyPath,
) -> Vec<(String, KeyPath)> {
    match (&motion.node, &motion.nodes) {
        (Some(node), None) => vec![(node.clone(), path.key("node"))],
        (None, Some(nodes)) if !nodes.is_empty() => {
            let at = path.key("nodes");
            if motion.waypoints.is_some() {
                lowering.report.at(&at, "waypoints lead one node", "node = \"a\"");
                return Vec::new();
            }
            nodes.iter().enumerate().map(|(i, node)| (node.clone(), at.index(i))).collect()
        }
        _ => {
            lowering.report.at(
                path,
                "does not say what moves",
                "either node = \"a\" or nodes = [\"a\", \"b\"]",
            );
            Vec::new()
        }
    }
}

/// The motion of one node.
fn one(
    lowering: &mut Lowering<'_>,
    motion: &MotionFile,
    name: &str,
    named_at: &KeyPath,
    path: &KeyPath,
) {
    let Some(stay) = lowering.nodes.find(name, named_at, &mut lowering.report) else {
        return;
    };
    let at_ns = match motion.at_s {
        Some(at_s) => match lowering.at(at_s, &path.key("at_s")) {
            Some(at_ns) => at_ns,
            None => return,
        },
        None => stay.since_ns,
    };
    if !lowering.present(name, at_ns, named_at) {
        return;
    }
    let (command, body) = if let Some(waypoints) = &motion.waypoints {
        ("motion.follow", follow_body(lowering, waypoints, at_ns, &path.key("waypoints")))
    } else if let Some(wander) = &motion.wander {
        ("motion.wander", wander_body(lowering, wander, None, &path.key("wander")))
    } else if let Some(goto) = &motion.goto {
        let destination = position(goto.lat_deg, goto.lon_deg);
        let body = json!({ "destination": destination, "speed_m_s": goto.speed_m_s });
        ("motion.goto", Some(body))
    } else {
        return;
    };
    if let Some(body) = body {
        lowering.record(at_ns, command, with_node(&body, name), path);
    }
    if let Some(until_ns) = lowering.until(at_ns, motion.until_s, &path.key("until_s")) {
        lowering.record(until_ns, "motion.stop", json!({ "node": name }), path);
    }
}

/// The body of `motion.follow`, without the node.
fn follow_body(
    lowering: &mut Lowering<'_>,
    waypoints: &[WaypointFile],
    from_ns: u64,
    path: &KeyPath,
) -> Option<Json> {
    if !(1..=WAYPOINTS_MAX).contains(&waypoints.len()) {
        let allowed = format!("1 to {WAYPOINTS_MAX} of {{ at_s, lat_deg, lon_deg }}");
        lowering.report.at(path, format!("{} waypoints", waypoints.len()), allowed);
        return None;
    }
    let from_ns = lowering.clock.applied_ns(from_ns);
    let before = lowering.report.count();
    let mut bodies = Vec::with_capacity(waypoints.len());
    let mut last_ns = None;
    for (index, waypoint) in waypoints.iter().enumerate() {
        let at = path.index(index);
        let Some(at_ns) = lowering.at(waypoint.at_s, &at.key("at_s")) else {
            continue;
        };
        let earliest = last_ns.map_or(from_ns, |last: u64| last + 1);
        if at_ns < earliest {
            let after = check::seconds(last_ns.unwrap_or(from_ns));
            let allowed = match last_ns {
                Some(_) => format!("later than the waypoint before, {after} s"),
                None => format!("{after} s, when the motion begins, or later"),
            };
            lowering.report.at(
                &at.key("at_s"),
                format!("{} s is too early", waypoint.at_s),
                allowed,
            );
        }
        last_ns = Some(at_ns);
        let place = position(waypoint.lat_deg, waypoint.lon_deg);
        let mut body = json!({ "at_ns": at_ns, "position": place });
        let second = at.key("height_msl_m");
        if waypoint.height_agl_m.is_some()
            && waypoint.height_msl_m.is_some()
            && !lowering.report.names(&second)
        {
            let allowed = "one of height_agl_m and height_msl_m";
            lowering.report.at(&second, "a second height", allowed);
        }
        let heights =
            [("height_agl_m", waypoint.height_agl_m), ("height_msl_m", waypoint.height_msl_m)];
        for (key, height_m) in heights {
            if let Some(height_m) = height_m {
                body[key] = Json::from(height_m);
            }
        }
        bodies.push(body);
    }
    (lowering.report.count() == before).then(|| json!({ "waypoints": bodies }))
}

/// The body of `motion.wander`, without the node.
fn wander_body(
    lowering: &mut Lowering<'_>,
    wander: &WanderFile,
    home: Option<&Area>,
    path: &KeyPath,
) -> Option<Json> {
    let report = &mut lowering.report;
    let before = report.count();
    let Some(area) = wander.area.as_ref().or(home) else {
        report.at(&path.key("area"), "missing key", "{ south_deg, west_deg, north_deg, east_deg }");
        return None;
    };
    if wander.area.is_some() {
        check::area(area, &path.key("area"), report);
    }
    let (slow, fast) = (wander.speed_min_m_s, wander.speed_max_m_s);
    let at = path.key("speed_max_m_s");
    if fast < slow && !report.names(&at) {
        let what = format!("{fast} is below speed_min_m_s");
        report.at(&at, what, format!("[{slow}, {}]", SPEED_M_S.1));
    }
    let body = json!({
        "area": area,
        "speed_min_m_s": slow,
        "speed_max_m_s": fast,
        "pause_ns": nanoseconds(wander.pause_s),
    });
    (report.count() == before).then_some(body)
}

/// A body with the node it is about.
fn with_node(body: &Json, name: &str) -> Json {
    let mut body = body.clone();
    body["node"] = Json::from(name);
    body
}
