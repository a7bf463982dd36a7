//! Scenarios of CORE's older editor (`.imn`): nodes with their places on a canvas, links.

use groundwave_model::terrain::GeoPoint;

use super::dataset::{Dataset, Node};
use super::error::{FormatError, Location};
use super::plane::{Canvas, Plane};
use super::text::text;
use super::{Content, Format, ReadOptions, Source};

/// The format.
pub static FORMAT: Format = Format {
    name: "imn",
    label: "CORE (imn)",
    description: "CORE scenario (.imn): positions of nodes by the canvas or --origin, links",
    extensions: &["imn"],
    contents: &[Content::Positions],
    sniff: |sample| {
        let mut lines = sample.lines();
        lines.any(|line| line.starts_with("node n") && line.ends_with('{'))
            && sample.text().contains("iconcoords {")
    },
    read: Some(read),
    ..Format::NONE
};

/// Types of nodes that are networks, not stations.
const NETWORKS: [&str; 7] = ["wlan", "hub", "lanswitch", "rj45", "tunnel", "ktunnel", "emane"];

/// Length of 100 pixels where the canvas has none, m: the default of CORE.
const SCALE_M: f64 = 150.0;

/// An open node.
#[derive(Default)]
struct Open {
    id: String,
    kind: String,
    name: Option<String>,
    place_px: Option<(f64, f64)>,
    line: usize,
}

/// The words of `KEY {A B}` or `KEY A`, without the key.
fn words<'l>(line: &'l str, key: &str) -> Option<Vec<&'l str>> {
    let rest = line.strip_prefix(key)?;
    if !rest.starts_with([' ', '\t']) {
        return None;
    }
    let rest = rest.trim().trim_start_matches('{').trim_end_matches('}');
    Some(rest.split_ascii_whitespace().collect())
}

fn numbers(words: &[&str]) -> Option<Vec<f64>> {
    words.iter().map(|word| word.parse().ok().filter(|number: &f64| number.is_finite())).collect()
}

fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, FormatError> {
    let text = text(&FORMAT, source.bytes())?;
    let mut dataset = Dataset::default();
    let mut nodes: Vec<Open> = Vec::new();
    let (mut reference, mut scale_m) = (None, SCALE_M);
    // The keyword of the open block; blocks end with a brace in the first column.
    let mut block = "";
    for (index, raw) in text.lines().enumerate() {
        let first = raw.split_ascii_whitespace().next().unwrap_or_default();
        if raw.starts_with(first) && raw.trim_end().ends_with('{') {
            block = first;
            match block {
                "node" => nodes.push(Open {
                    id: raw.split_ascii_whitespace().nth(1).unwrap_or_default().to_owned(),
                    line: index + 1,
                    ..Open::default()
                }),
                "link" => dataset.links += 1,
                _ => {}
            }
            continue;
        }
        let line = raw.trim();
        if block == "canvas" {
            if let Some([x, y, lat, lon, ..]) =
                words(line, "refpt").and_then(|all| numbers(&all)).as_deref()
            {
                reference = reference.or(GeoPoint::new(*lat, *lon).ok().map(|at| (at, (*x, *y))));
            }
            if let Some([scale]) = words(line, "scale").and_then(|all| numbers(&all)).as_deref() {
                scale_m = *scale;
            }
        }
        let Some(node) = nodes.last_mut().filter(|_| block == "node") else { continue };
        if let Some(kind) = words(line, "type") {
            node.kind = kind.concat();
        } else if let Some(name) = words(line, "hostname") {
            node.name.get_or_insert(name.join(" "));
        } else if let Some([x, y]) =
            words(line, "iconcoords").and_then(|all| numbers(&all)).as_deref()
        {
            node.place_px = Some((*x, *y));
        }
    }
    let (plane, origin_px) = match (options.origin, reference) {
        (None, Some((origin, origin_px))) => (Plane::around(origin), origin_px),
        _ => (Plane::of(options, &mut dataset), (0.0, 0.0)),
    };
    let canvas = Canvas { plane, origin_px, scale_m };
    for node in nodes {
        if NETWORKS.contains(&node.kind.as_str()) {
            dataset.drop("a network, not a station: not used", node.line);
            continue;
        }
        let name = node.name.as_deref().unwrap_or(&node.id);
        let position = node.place_px.and_then(|place_px| canvas.position(place_px));
        if position.is_none() {
            dataset.report.add("no position given", || Location::line(node.line));
        }
        if dataset.index.contains_key(&node.id) {
            dataset.drop("a node with the id of another: its first entry counts", node.line);
            continue;
        }
        match dataset.named(&node.id, name) {
            Some(index) => {
                let entry: &mut Node = &mut dataset.nodes[index as usize];
                entry.position = position;
            }
            None => dataset.drop("one node too many, or an empty name", node.line),
        }
    }
    Ok(dataset)
}
