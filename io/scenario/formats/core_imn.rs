//! Scenarios of CORE's older editor (`.imn`): nodes with their places on a canvas, links.

use groundwave_model::terrain::GeoPoint;

use super::core_settings::{Link, Model, Settings};
use super::dataset::{Dataset, Node};
use super::error::{FormatError, Location};
use super::plane::{Canvas, Plane};
use super::text::text;
use super::{Content, Format, ReadOptions, Source};

/// The format.
pub static FORMAT: Format = Format {
    name: "imn",
    label: "CORE (imn)",
    description: "CORE scenario (.imn): positions by the canvas (or --origin), impairments of links",
    extensions: &["imn"],
    contents: &[Content::Positions, Content::Tracks, Content::Measurements],
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
    let mut settings = Settings::default();
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
                "link" => settings.links.push(Link { line: index + 1, ..Link::default() }),
                _ => {}
            }
            continue;
        }
        let line = raw.trim();
        if let Some(link) = settings.links.last_mut().filter(|_| block == "link") {
            impair(link, line);
        }
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
        configure(node, line, index + 1, &mut settings);
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
            settings.networks.insert(node.id);
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
    settings.take(&mut dataset, Some(canvas), source, options)?;
    Ok(dataset)
}

/// Takes a line of a link: values of one or of both directions.
fn impair(link: &mut Link, line: &str) {
    if let Some([from, to]) = words(line, "nodes").as_deref() {
        link.ends = [from, to].map(|id| (*id).to_owned());
    }
    for key in ["delay", "jitter", "duplicate"] {
        let values = words(line, key).and_then(|all| numbers(&all)).unwrap_or_default();
        link.others.extend(values.iter().any(|value| *value != 0.0).then_some(key));
    }
    // What CORE called the bit error rate is a loss of frames in percent.
    for (at, key) in ["bandwidth", "ber"].into_iter().enumerate() {
        let Some(values) = words(line, key).and_then(|all| numbers(&all)) else { continue };
        link.forward[at] = values.first().copied();
        if let Some(backward) = values.get(1) {
            link.backward.get_or_insert_default()[at] = Some(*backward);
        }
    }
}

/// Takes a line of the configuration of a network: the name of a model, or a value of the last one.
fn configure(node: &Open, line: &str, number: usize, settings: &mut Settings) {
    if let Some([name]) = words(line, "custom-config-id").as_deref() {
        let (of, name) = (node.id.clone(), (*name).to_owned());
        settings.models.push(Model { of, name, line: number, ..Model::default() });
    } else if let (Some((key, value)), Some(model)) =
        (line.split_once('='), settings.models.last_mut().filter(|model| model.of == node.id))
    {
        model.values.insert(key.trim().to_owned(), value.trim().to_owned());
    }
}
