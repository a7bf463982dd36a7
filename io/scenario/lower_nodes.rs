//! Nodes: written one by one, generated, or added by a command.

use std::collections::BTreeMap;

use groundwave_model::radio::environment::Environment;
use groundwave_toml_document::key::KeyPath;
use serde_json::json;

use super::aim::Aim;
use super::check;
use super::file::NodeFile;
use super::file_motion::{GenerateFile, Placement};
use super::limits::NODES_MAX;
use super::lowering::{Lowering, NewNode, to_json};
use super::placement::{self, Place, SplitMix64};
use super::station;

/// The nodes written one by one.
pub(super) fn declared(lowering: &mut Lowering<'_>) {
    let file = lowering.file;
    let by_name: BTreeMap<&str, &NodeFile> =
        file.node.iter().map(|node| (node.name.as_str(), node)).collect();
    let k_factor =
        file.environment.as_ref().map_or(Environment::default().k_factor, |e| e.k_factor);
    for (index, node) in file.node.iter().enumerate() {
        let path = KeyPath::item("node", index);
        let report = &mut lowering.report;
        let mut good = check::name(&node.name, &path.key("name"), report);
        let label = node.label.as_deref().unwrap_or(&node.name);
        check::label(label, &path.key("label"), report);
        good &= check::ranges(node, &path, report);
        if good && node.height_agl_m.is_some() == node.height_msl_m.is_some() {
            let (key, what) = match node.height_agl_m {
                Some(_) => ("height_msl_m", "a second height"),
                None => ("height_agl_m", "missing key"),
            };
            report.at(&path.key(key), what, "one of height_agl_m and height_msl_m, m");
            good = false;
        }
        let mut built = lowering.catalogue.station(
            // One above sea level follows by a command of its own, over the terrain of the run.
            node.height_agl_m.unwrap_or(0.0),
            &node.radio,
            &node.antenna,
            &path,
            report,
        );
        if let (Some(station), Some(pointing)) = (&mut built, &node.pointing) {
            let at = path.key("pointing");
            station.pointing = station::pointing(node, pointing, &by_name, k_factor, &at, report);
            let target = pointing.at.as_deref().filter(|_| pointing.elevation_deg.is_none());
            let target = target.and_then(|name| by_name.get(name));
            let aim = target.and_then(|target| Aim::new(node, target, k_factor));
            lowering.aims.extend(aim.map(|aim| (node.name.clone(), aim)));
        }
        if let Some(station) = &mut built {
            (station.surroundings, station.indoor) = (node.surroundings, node.indoor);
            station.woodland_depth_m = node.woodland_depth_m;
        }
        let at_ns = lowering.at(node.at_s, &path.key("at_s"));
        // A node that is wrong in other ways still has its name, so that references to it hold.
        let (Some(station), Some(at_ns), true) = (built, at_ns, good) else {
            if check::is_name(&node.name) {
                lowering.take_name(&node.name, at_ns.unwrap_or(0), &path.key("name"));
            } else {
                lowering.nodes.note_invalid(&node.name);
            }
            continue;
        };
        if lowering.nodes.get(&node.name).is_some() {
            lowering.take_name(&node.name, at_ns, &path.key("name"));
            continue;
        }
        let (lat_deg, lon_deg, role) = (node.lat_deg, node.lon_deg, node.role);
        let station = &to_json(&station);
        let new = NewNode { at_ns, name: &node.name, label, role, lat_deg, lon_deg, station };
        lowering.add_node(&new, &path);
        if let Some(height_msl_m) = node.height_msl_m {
            let body = json!({ "node": node.name, "height_msl_m": height_msl_m });
            lowering.record(at_ns, "node.update", body, &path.key("height_msl_m"));
        }
    }
}

/// Collects the times of removal, before anything refers to the nodes; recorded by [`removed`].
pub(super) fn leaving(lowering: &mut Lowering<'_>) {
    let file = lowering.file;
    for (index, node) in file.node.iter().enumerate() {
        let since_ns = lowering.nodes.get(&node.name).map_or(0, |stay| stay.since_ns);
        let path = KeyPath::item("node", index).key("until_s");
        if let Some(until_ns) = lowering.until(since_ns, node.until_s, &path) {
            lowering.nodes.leaves(&node.name, until_ns);
        }
    }
}

/// The nodes that leave.
pub(super) fn removed(lowering: &mut Lowering<'_>) {
    let file = lowering.file;
    for (index, node) in file.node.iter().enumerate() {
        if let Some(until_ns) = node.until_s.and_then(check::nanoseconds) {
            let path = KeyPath::item("node", index);
            lowering.record(until_ns, "node.remove", json!({ "node": node.name }), &path);
        }
    }
}

/// Names taken by `node.add` commands written out, so that other sections may refer to them.
pub(super) fn added_by_commands(lowering: &mut Lowering<'_>) {
    let file = lowering.file;
    for (index, command) in file.command.iter().enumerate() {
        let name = command.body.get("node").and_then(|node| node.as_str());
        if let ("node.add", Some(name)) = (command.command.as_str(), name) {
            let path = KeyPath::item("command", index).key("node");
            let since_ns = check::nanoseconds(command.at_s).unwrap_or(0);
            lowering.take_name(name, since_ns, &path);
        }
    }
}

/// The nodes placed by the seed.
pub(super) fn generated(lowering: &mut Lowering<'_>) {
    let file = lowering.file;
    for (index, spec) in file.generate.iter().enumerate() {
        let path = KeyPath::item("generate", index);
        let count = spec.count as usize;
        let free = NODES_MAX.saturating_sub(lowering.node_names.len());
        let mut good = check::ranges(spec, &path, &mut lowering.report);
        if count == 0 || count > free {
            let allowed = format!("[1, {free}] ({NODES_MAX} nodes in one scenario)");
            lowering.report.at(&path.key("count"), format!("{count} is out of range"), allowed);
            good = false;
        }
        good &= check::name(&name(spec, count), &path.key("prefix"), &mut lowering.report);
        good &= check::area(&spec.area, &path.key("area"), &mut lowering.report);
        let station = lowering.station(&spec.station, &path.key("station"));
        let (Some(station), true) = (station, good) else {
            continue;
        };
        let mut random = SplitMix64::for_table(file.scenario.seed, index);
        let Some(places) = places(lowering, spec, &path, &mut random) else {
            continue;
        };
        let (station, role) = (&to_json(&station), spec.station.role);
        for (number, (lat_deg, lon_deg)) in places.into_iter().enumerate() {
            let name = &name(spec, number + 1);
            lowering.add_node(
                &NewNode { at_ns: 0, name, label: name, role, lat_deg, lon_deg, station },
                &path,
            );
        }
    }
}

/// Positions of the nodes of one table.
fn places(
    lowering: &mut Lowering<'_>,
    spec: &GenerateFile,
    path: &KeyPath,
    random: &mut SplitMix64,
) -> Option<Vec<Place>> {
    let count = spec.count as usize;
    match spec.placement {
        Placement::Uniform => Some(placement::uniform(&spec.area, count, random)),
        Placement::Grid => Some(placement::grid(&spec.area, count)),
        Placement::PoissonDisc => {
            let at = path.key("spacing_m");
            let Some(spacing_m) = spec.spacing_m else {
                lowering.report.at(
                    &at,
                    "missing key",
                    "a distance, m, for placement = \"poisson_disc\"",
                );
                return None;
            };
            let places = placement::poisson_disc(&spec.area, count, spacing_m, random);
            if let Err(fitted) = places {
                let what = format!("only {fitted} of {count} nodes fit {spacing_m} m apart");
                lowering.report.at(&at, what, "a smaller spacing, a larger area or fewer nodes");
            }
            places.ok()
        }
    }
}

/// Name of the `number`-th generated node, from 1, as wide as the last.
pub(super) fn name(spec: &GenerateFile, number: usize) -> String {
    let width = spec.count.to_string().len();
    format!("{}{number:0width$}", spec.prefix)
}
