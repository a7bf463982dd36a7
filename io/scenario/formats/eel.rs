//! Event logs of EMANE: `30.0 nem:1 pathloss nem:2,69.2`, `30.0 nem:4 location gps 40.0,-74.5,3.0`.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use groundwave_model::terrain::GeoPoint;
use groundwave_simulation::WorldView;
use groundwave_simulation::link::LinkView;
use groundwave_simulation::measure::Measured;
use groundwave_simulation::site::NodeId;
use groundwave_simulation::site::NodeView;

use super::dataset::{Dataset, Event};
use super::error::FormatError;
use super::recording::{Assumed, Output, RecordingWriter};
use super::{Content, Format, ReadOptions, Source};

/// The format.
pub static FORMAT: Format = Format {
    name: "eel",
    label: "EMANE",
    description: "EMANE event log: positions and path losses over time",
    extensions: &["eel"],
    contents: &[Content::Tracks, Content::Measurements],
    sniff: |sample| sample.lines().take(100).any(is_event),
    read: Some(read),
    write_recording: Some(write),
    ..Format::NONE
};

/// EMANE writes a loss of 0 dB for links without events and where nothing was computed; no path
/// loses less than this, dB.
const LOSS_DB_MIN: f64 = 1.0;

/// Path loss of links that are down and of nodes that have failed, dB.
const LOSS_DB_DOWN: f64 = 300.0;

fn is_event(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let time = words.next().and_then(|word| word.parse::<f64>().ok());
    time.is_some() && words.next().is_some_and(|word| word.starts_with("nem:"))
}

/// Reads `pathloss` and `location` events. `30.0 nem:1 pathloss nem:2,69.2 nem:3,72.8` are the
/// losses towards 1 from 2 and 3; the reverse, where the second value is given, is read too.
fn read(source: &Source, _: &ReadOptions) -> Result<Dataset, FormatError> {
    let mut dataset = Dataset::default();
    for (index, line) in source.bytes().split(|byte| *byte == b'\n').enumerate() {
        let at = index + 1;
        let line = String::from_utf8_lossy(line);
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut words = line.split_whitespace();
        let (Some(time), Some(nem), Some(event)) = (words.next(), words.next(), words.next())
        else {
            dataset.drop("a line without time, NEM and event", at);
            continue;
        };
        let Some(at_s) = time.parse::<f64>().ok().filter(|s| s.is_finite()) else {
            dataset.drop("a time that is not a number", at);
            continue;
        };
        let nem = key(nem);
        match event {
            "pathloss" => words.for_each(|word| path_loss(&mut dataset, at_s, &nem, word, at)),
            "location" => location(&mut dataset, at_s, &nem, words, at),
            other => {
                let other: String = other.chars().take(40).collect();
                dataset.drop(&format!("event {other}: not used"), at);
            }
        }
    }
    // Most logs count from their beginning, some have the time of day.
    dataset.drop_unset_clocks();
    dataset.begin_with_clock();
    Ok(dataset)
}

/// `nem:4` as a name.
fn key(word: &str) -> String {
    word.replace(':', "-")
}

fn path_loss(dataset: &mut Dataset, at_s: f64, nem: &str, word: &str, line: usize) {
    let mut parts = word.split(',');
    let (Some(other), Some(forward)) = (parts.next(), parts.next()) else {
        return dataset.drop("an invalid path loss", line);
    };
    let other = key(other);
    let directions = [(other.as_str(), nem, Some(forward)), (nem, other.as_str(), parts.next())];
    for (from, to, text) in directions {
        let Some(text) = text else { continue };
        match text.parse::<f64>() {
            Ok(db) if db < LOSS_DB_MIN => {
                dataset.drop("a path loss below 1 dB: not measured", line);
            }
            Ok(db) => {
                let values = Measured { path_loss_db: Some(db), ..Measured::default() };
                dataset.observe(at_s, (from, to), values, line);
            }
            Err(_) => dataset.drop("an invalid path loss", line),
        }
    }
}

fn location<'a>(
    dataset: &mut Dataset,
    at_s: f64,
    nem: &str,
    mut words: impl Iterator<Item = &'a str>,
    line: usize,
) {
    let place = words.next().filter(|word| *word == "gps").and(words.next());
    let mut numbers = place.unwrap_or_default().split(',').map(str::parse::<f64>);
    let (Some(Ok(lat)), Some(Ok(lon))) = (numbers.next(), numbers.next()) else {
        return dataset.drop("an invalid location", line);
    };
    if numbers.next().is_some() {
        dataset.drop("an altitude: heights are above ground", line);
    }
    let Ok(position) = GeoPoint::new(lat, lon) else {
        return dataset.drop("invalid latitude or longitude", line);
    };
    if let Some(node) = dataset.node(nem, line) {
        dataset.event(at_s, Event::Move(node, position), line);
    }
}

fn write<'w>(out: Output<'w>) -> io::Result<Box<dyn RecordingWriter + 'w>> {
    Ok(Box::new(Writer {
        out,
        lines: 0,
        assumed: Assumed::default(),
        nodes: None,
        links: None,
        numbers: BTreeMap::new(),
        positions: BTreeMap::new(),
        losses: BTreeMap::new(),
    }))
}

/// A log under way, with the last values written: only changes are.
struct Writer<'w> {
    out: Output<'w>,
    lines: u64,
    assumed: Assumed,
    nodes: Option<Arc<Vec<NodeView>>>,
    links: Option<Arc<Vec<LinkView>>>,
    /// Numbers of NEMs, in the order of their appearance.
    numbers: BTreeMap<NodeId, usize>,
    positions: BTreeMap<NodeId, GeoPoint>,
    /// Path losses of directions, tenths of a dB.
    losses: BTreeMap<(NodeId, NodeId), i64>,
}

impl RecordingWriter for Writer<'_> {
    fn unit(&self) -> &'static str {
        "events"
    }

    fn write(&mut self, now: &WorldView) -> io::Result<()> {
        let same_nodes = self.nodes.as_ref().is_some_and(|nodes| Arc::ptr_eq(nodes, &now.nodes));
        let same_links = self.links.as_ref().is_some_and(|links| Arc::ptr_eq(links, &now.links));
        if same_nodes && same_links {
            return Ok(());
        }
        let at_s = now.now_ns as f64 / 1e9;
        if let Some(text) = self.assumed.changed(now) {
            writeln!(self.out, "# from {at_s:.3} on path losses assume: {text}")?;
        }
        for node in now.nodes.iter() {
            let next = self.numbers.len() + 1;
            let number = *self.numbers.entry(node.id).or_insert(next);
            if next == number {
                writeln!(self.out, "# nem:{number} is {}", node.name)?;
            }
            if self.positions.insert(node.id, node.position) != Some(node.position) {
                let (lat, lon) = (node.position.lat_deg(), node.position.lon_deg());
                let height_m = node.station.height_agl_m;
                writeln!(
                    self.out,
                    "{at_s:.3} nem:{number} location gps {lat:.7},{lon:.7},{height_m:.1}"
                )?;
                self.lines += 1;
            }
        }
        self.path_losses(now, at_s)?;
        self.nodes = Some(Arc::clone(&now.nodes));
        self.links = Some(Arc::clone(&now.links));
        Ok(())
    }

    fn finish(mut self: Box<Self>, _: &WorldView) -> io::Result<u64> {
        self.out.flush()?;
        Ok(self.lines)
    }
}

impl Writer<'_> {
    fn path_losses(&mut self, now: &WorldView, at_s: f64) -> io::Result<()> {
        let operating = |id| now.node(id).is_some_and(|node| node.operating);
        let mut losses = BTreeMap::new();
        for link in now.links.iter() {
            let up = !link.severed && operating(link.a) && operating(link.b);
            for (from, to, direction) in
                [(link.a, link.b, &link.budget.forward), (link.b, link.a, &link.budget.backward)]
            {
                let db = if up { direction.path_loss_db } else { LOSS_DB_DOWN };
                losses.insert((from, to), (db * 10.0).round() as i64);
            }
        }
        // Pairs that have come out of range lose everything.
        for direction in self.losses.keys() {
            losses.entry(*direction).or_insert((LOSS_DB_DOWN * 10.0) as i64);
        }
        // By receiver, as EMANE has them.
        let mut changed: BTreeMap<usize, Vec<(usize, f64)>> = BTreeMap::new();
        for ((from, to), tenths) in &losses {
            if self.losses.get(&(*from, *to)) == Some(tenths) {
                continue;
            }
            let number = |id| self.numbers.get(id).copied();
            if let (Some(from), Some(to)) = (number(from), number(to)) {
                let db = *tenths as f64 / 10.0;
                changed.entry(to).or_default().push((from, db));
            }
        }
        self.losses = losses;
        for (to, losses) in changed {
            write!(self.out, "{at_s:.3} nem:{to} pathloss")?;
            for (from, db) in losses {
                write!(self.out, " nem:{from},{db:.1}")?;
            }
            writeln!(self.out)?;
            self.lines += 1;
        }
        Ok(())
    }
}
