//! Tracks as a scenario.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::Tracks;

/// A scenario in which a node moves as each track did. All have the same station, which the file
/// says once for each, to be changed.
#[must_use]
pub fn scenario(tracks: &Tracks) -> String {
    let last_s = tracks.nodes.values().filter_map(|fixes| fixes.last());
    let last_s = last_s.map(|fix| fix.at_s).fold(0.0, f64::max);
    let title = tracks.title.as_deref().unwrap_or("Imported tracks");
    let mut out = format!(
        "# Made from a recording. Stations are assumptions: recordings of places do not tell them.\n\
         \n[scenario]\ntitle = {}\nstep_s = 1\nduration_s = {}\n",
        quoted(title),
        last_s.ceil().max(1.0)
    );
    let mut taken = BTreeSet::new();
    for (label, fixes) in &tracks.nodes {
        let name = identifier(label, &mut taken);
        let Some(first) = fixes.first() else { continue };
        let position = first.position;
        let _ = write!(
            out,
            "\n[[node]]\nname = \"{name}\"\nlabel = {}\nrole = \"team\"\nlat_deg = {}\nlon_deg = {}\n\
             height_agl_m = 2\nradio = \"wifi_5g_mesh\"\nantenna = \"omni_9\"\n",
            quoted(label),
            position.lat_deg(),
            position.lon_deg(),
        );
        if fixes.len() < 2 {
            continue;
        }
        let _ = write!(out, "\n[[motion]]\nnode = \"{name}\"\nwaypoints = [\n");
        for fix in fixes {
            let (lat, lon) = (fix.position.lat_deg(), fix.position.lon_deg());
            let at_s = fix.at_s;
            let _ = writeln!(
                out,
                "  {{ at_s = {at_s}, lat_deg = {lat}, lon_deg = {lon} }},"
            );
        }
        out.push_str("]\n");
    }
    out
}

/// What a scenario calls a node: letters, digits, and dashes for everything else.
fn identifier(label: &str, taken: &mut BTreeSet<String>) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let plain: String = label.chars().map(safe).take(50).collect();
    let plain = plain.trim_matches('-');
    let plain = if plain.is_empty() { "track" } else { plain };
    let mut name = plain.to_owned();
    let mut count = 1;
    while !taken.insert(name.clone()) {
        count += 1;
        name = format!("{plain}-{count}");
    }
    name
}

/// A basic string: what JSON escapes, TOML reads alike.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text)
        .to_string()
        .replace('\u{7f}', "\\u007f")
}
