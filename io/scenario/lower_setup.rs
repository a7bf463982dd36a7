//! The header, the ground, the surroundings, and commands written out.

use std::path::Path;

use groundwave_model::radio::environment::Environment;
use groundwave_toml_document::error::Report;
use groundwave_toml_document::key::KeyPath;
use serde_json::{Map, Value as Json, json};

use super::check::{self, nanoseconds};
use super::file::{HeaderFile, OutputFile, OutputTable, TerrainFile};
use super::limits::{DESCRIPTION_CHARS_MAX, TICKS_MAX, TILES_MAX, TITLE_CHARS_MAX, WEATHER_MAX};
use super::lowering::{Lowering, to_json};
use super::{Output, Terrain};

/// Step and duration, ns.
pub(super) fn times(header: &HeaderFile, report: &mut Report) -> (u64, u64) {
    let path = KeyPath::section("scenario");
    let title = &header.title;
    let length = title.chars().count();
    if title.trim().is_empty() || length > TITLE_CHARS_MAX || title.chars().any(char::is_control) {
        let allowed = format!("1 to {TITLE_CHARS_MAX} characters, saying what the scenario shows");
        report.at(&path.key("title"), "not one line", allowed);
    }
    if header.description.chars().count() > DESCRIPTION_CHARS_MAX {
        let allowed = format!("at most {DESCRIPTION_CHARS_MAX} characters");
        report.at(&path.key("description"), "too long", allowed);
    }
    let good = check::ranges(header, &path, report);
    let step_ns = nanoseconds(header.step_s).unwrap_or(1).max(1);
    let duration_ns = nanoseconds(header.duration_s).unwrap_or(1).max(1);
    if good && duration_ns / step_ns > TICKS_MAX {
        let ticks = duration_ns / step_ns;
        report.at(
            &path.key("duration_s"),
            format!("{ticks} steps"),
            format!("at most {TICKS_MAX} steps of step_s"),
        );
    }
    (step_ns, duration_ns)
}

/// The ground under the stations.
pub(super) fn terrain(file: &TerrainFile, base_dir: &Path, report: &mut Report) -> Terrain {
    let path = KeyPath::section("terrain");
    check::ranges(file, &path, report);
    let tiled = file.names_tiles();
    if let Some(elevation_msl_m) = file.flat_msl_m {
        if tiled {
            report.at(
                &path.key("flat_msl_m"),
                "the ground is flat and made of tiles",
                "flat_msl_m alone, or tiles without it",
            );
        }
        return Terrain::Flat { elevation_msl_m };
    }
    if !tiled {
        return Terrain::Flat { elevation_msl_m: 0.0 };
    }
    if file.tiles.len() > TILES_MAX {
        report.at(
            &path.key("tiles"),
            format!("{} tiles", file.tiles.len()),
            format!("at most {TILES_MAX}"),
        );
    }
    for (index, tile) in file.tiles.iter().enumerate().take(TILES_MAX) {
        let at = path.key("tiles").index(index);
        if !is_tile(tile) {
            let what = format!("invalid tile {:?}", check::shortened(tile));
            report.at(&at, what, "south-west corners from S90W180 to N89E179, such as N57E011");
        } else if file.tiles[..index].contains(tile) {
            report.at(&at, format!("{tile} is listed twice"), "each tile once");
        }
    }
    let from = |name: &String| base_dir.join(name);
    let (directory, geoid) = (file.directory.as_ref().map(from), file.geoid.as_ref().map(from));
    Terrain::Tiles { names: file.tiles.clone(), directory, geoid, posts: file.posts }
}

/// `true` if a name is that of a one-degree tile.
fn is_tile(name: &str) -> bool {
    let degrees = |text: Option<&str>, last: u16| {
        let digits = text.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        digits.and_then(|digits| digits.parse::<u16>().ok()).is_some_and(|value| value <= last)
    };
    let hemisphere =
        |at: usize, letters: &str| name.get(at..=at).is_some_and(|c| letters.contains(c));
    name.len() == 7
        && hemisphere(0, "NS")
        && hemisphere(3, "EW")
        && degrees(name.get(1..3), if name.starts_with('N') { 89 } else { 90 })
        && degrees(name.get(4..7), if name.get(3..4) == Some("E") { 179 } else { 180 })
}

/// Output of a run; `base_dir` is the folder of the scenario.
pub(super) fn output(
    file: &OutputFile,
    header: &HeaderFile,
    base_dir: &Path,
    report: &mut Report,
) -> Output {
    use OutputTable::{Flows, Links, Nodes, Routes};
    let (step_s, duration_s) = (header.step_s, header.duration_s);
    if let Some(every_s) = file.every_s.filter(|s| !(step_s..=duration_s).contains(s)) {
        report.at(
            &KeyPath::section("output").key("every_s"),
            format!("{every_s} is out of range"),
            format!("[{step_s}, {duration_s}]"),
        );
    }
    let mut tables = if file.tables.is_empty() {
        vec![Nodes, Links, Routes, Flows]
    } else {
        file.tables.clone()
    };
    tables.sort_unstable();
    tables.dedup();
    Output {
        directory: file.directory.as_ref().map(|name| base_dir.join(name)),
        tables,
        every_ns: file.every_s.and_then(nanoseconds),
    }
}

/// `environment.set` and `mesh.limits`, each when its section is there.
pub(super) fn surroundings(lowering: &mut Lowering<'_>) {
    if let Some(environment) = &lowering.file.environment {
        let path = KeyPath::section("environment");
        check::ranges(environment, &path, &mut lowering.report);
        let body = json!({ "environment": to_json(environment) });
        lowering.record(0, "environment.set", body, &path);
    }
    if let Some(mesh) = &lowering.file.mesh {
        let path = KeyPath::section("mesh");
        check::ranges(mesh, &path, &mut lowering.report);
        let mut body = json!({
            "link_range_max_m": mesh.link_range_max_m,
            "sample_spacing_m": mesh.sample_spacing_m,
            "metric": mesh.metric,
            "packet_bytes": mesh.packet_bytes,
        });
        if mesh.update_distance_m != 0.0 {
            body["update_distance_m"] = mesh.update_distance_m.into();
        }
        if let Some(probe) = &mesh.probe {
            body["probe"] = to_json(probe);
        }
        lowering.record(0, "mesh.limits", body, &path);
    }
}

/// Changes of the environment. Each sets what it names over all that came before it in time, and
/// is recorded complete.
pub(super) fn weather(lowering: &mut Lowering<'_>) {
    let file = lowering.file;
    let mut now = fields(file.environment.as_ref().unwrap_or(&Environment::default()));
    if file.weather.len() > WEATHER_MAX {
        let actual = format!("{} changes", file.weather.len());
        lowering.report.at(&KeyPath::section("weather"), actual, format!("at most {WEATHER_MAX}"));
        return;
    }
    let mut changes: Vec<_> = file.weather.iter().enumerate().collect();
    changes.sort_by(|(_, a), (_, b)| a.at_s.total_cmp(&b.at_s));
    for (index, change) in changes {
        let path = KeyPath::item("weather", index);
        check::ranges(&change.environment, &path, &mut lowering.report);
        if change.named.is_empty() {
            lowering.report.at(
                &path,
                "changes nothing",
                "at_s and at least one field of [environment]",
            );
        }
        let mut named = fields(&change.environment);
        for key in &change.named {
            now.insert(key.clone(), named.remove(key).unwrap_or_default());
        }
        if let Some(at_ns) = lowering.at(change.at_s, &path.key("at_s")) {
            lowering.record(at_ns, "environment.set", json!({ "environment": now.clone() }), &path);
        }
    }
}

/// The environment as a JSON table.
fn fields(environment: &Environment) -> Map<String, Json> {
    match to_json(environment) {
        Json::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// Commands written out, passed through as they are.
pub(super) fn commands(lowering: &mut Lowering<'_>) {
    let file = lowering.file;
    for (index, command) in file.command.iter().enumerate() {
        let path = KeyPath::item("command", index);
        if !is_command(&command.command) {
            let what = format!("invalid command {:?}", check::shortened(&command.command));
            lowering.report.at(
                &path.key("command"),
                what,
                "a name of two parts, such as \"node.fail\"",
            );
        }
        if let Some(at_ns) = lowering.at(command.at_s, &path.key("at_s")) {
            let body = Json::Object(command.body.clone().into_iter().collect());
            lowering.record(at_ns, &command.command, body, &path);
        }
    }
}

/// `true` if a name has the form of a command's: lowercase words joined by dots.
fn is_command(name: &str) -> bool {
    let word = |word: &str| {
        word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
            && word.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase())
    };
    check::is_name(name) && name.contains('.') && name.split('.').all(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_named_by_their_corner() {
        for name in ["N57E011", "S46W066", "N00E000", "N89E179", "S90W180"] {
            assert!(is_tile(name), "{name}");
        }
        for name in [
            "",
            "N57E11",
            "n57e011",
            "N90E011",
            "N57E180",
            "N5éE011",
            "S91W000",
            "N+7E011",
            "N57E011.hgt",
        ] {
            assert!(!is_tile(name), "{name}");
        }
    }

    #[test]
    fn commands_have_two_parts() {
        for name in ["node.fail", "mesh.limits", "node.set_station", "a.b.c"] {
            assert!(is_command(name), "{name}");
        }
        for name in ["", "node", "node.", ".fail", "Node.fail", "node fail", "node..fail", "1.2"] {
            assert!(!is_command(name), "{name}");
        }
    }
}
