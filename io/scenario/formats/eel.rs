//! Event logs of EMANE: `30.0 nem:1 pathloss nem:2,69.2`, `30.0 nem:4 location gps 40.0,-74.5,3.0`.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use groundwave_model::radio::Pointing;
use groundwave_model::terrain::GeoPoint;
use groundwave_simulation::WorldView;
use groundwave_simulation::link::LinkView;
use groundwave_simulation::measure::Measured;
use groundwave_simulation::site::NodeId;
use groundwave_simulation::site::NodeView;

use super::dataset::{Dataset, Event};
use super::error::FormatError;
use super::extremes::CLOCK_SET_UNIX_S;
use super::recording::{Assumed, Output, RecordingWriter};
use super::{Content, Datum, Format, ReadOptions, Source};

/// The format.
pub static FORMAT: Format = Format {
    name: "eel",
    label: "EMANE",
    description: "EMANE event log: positions, heights and path losses over time",
    extensions: &["eel"],
    contents: &[Content::Tracks, Content::Measurements],
    sniff: |sample| sample.lines().take(100).any(is_event),
    read: Some(read),
    write_recording: Some(write),
    ..Format::NONE
};

/// Path loss of links that are down and of nodes that have failed, dB.
const LOSS_DB_DOWN: f64 = 300.0;

/// Maximum number of NEMs in the lists of a line.
const NEMS_MAX: usize = 100_000;

fn is_event(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let time = words.next().and_then(|word| word.parse::<f64>().ok());
    time.is_some() && words.next().is_some_and(|word| word.starts_with("nem:"))
}

/// Reads the events. `30.0 nem:1 pathloss nem:2,69.2 nem:3,72.8` are the losses towards 1 from 2 and
/// 3; the reverse, where the second value is given, is read too. The time `-Inf` is that of the
/// initial state. The grammar is that of EMANE's EEL generator, with the lists of NEMs and the
/// `allinformedpathloss` of its test environment.
fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, FormatError> {
    let mut dataset = Dataset::default();
    // Lines of the initial state, whose time is that of the first event, and those of events.
    let (mut initial, mut events) = (Vec::new(), Vec::new());
    for (index, line) in source.bytes().split(|byte| *byte == b'\n').enumerate() {
        let at = index + 1;
        let line = String::from_utf8_lossy(line);
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        match line.split_whitespace().next().map(str::parse::<f64>) {
            Some(Ok(at_s)) if at_s.is_finite() => events.push((at_s, line.to_owned(), at)),
            Some(Ok(f64::NEG_INFINITY)) => initial.push((line.to_owned(), at)),
            _ if line.split_whitespace().nth(2).is_none() => {
                dataset.drop("a line without time, NEM and event", at);
            }
            _ => dataset.drop("a time that is not a number", at),
        }
    }
    let first_s = events.iter().map(|event| event.0).fold(f64::INFINITY, f64::min);
    let begin_s = if first_s.is_finite() { first_s.min(begin_of(first_s)) } else { 0.0 };
    let initial = initial.into_iter().map(|(line, at)| (begin_s, line, at));
    // Without a datum an altitude is above mean sea level, as EMANE has it.
    let datum = options.datum.unwrap_or(Datum::Sea);
    let mut state = State { attitudes: BTreeMap::new(), datum };
    for (at_s, line, at) in initial.chain(events) {
        event(&mut dataset, &mut state, at_s, line.split_whitespace().skip(1), at);
    }
    // Most logs count from their beginning, some have the time of day.
    dataset.drop_unset_clocks();
    dataset.begin_with_clock();
    Ok(dataset)
}

/// Time of the initial state, s: second 0 of a recording that counts its seconds, the first event of
/// one with dates.
fn begin_of(first_s: f64) -> f64 {
    if first_s < CLOCK_SET_UNIX_S { 0.0 } else { first_s }
}

/// State of the reader.
struct State {
    /// Attitudes of the platforms by the keys of their nodes.
    attitudes: BTreeMap<String, Attitude>,
    /// Datum of altitudes that state none.
    datum: Datum,
}

/// Reads an event whose time was read.
fn event<'l>(
    dataset: &mut Dataset,
    state: &mut State,
    at_s: f64,
    mut words: impl Iterator<Item = &'l str>,
    line: usize,
) {
    let (Some(nems), Some(event)) = (words.next(), words.next()) else {
        return dataset.drop("a line without time, NEM and event", line);
    };
    let Some(nems) = numbers(nems) else {
        return dataset.drop("invalid NEMs: allowed nem:1, nem:1-5 or nem:2,4-7", line);
    };
    let nems: Vec<String> = nems.into_iter().map(key).collect();
    let mut words = words.peekable();
    if words.peek().is_none() {
        return dataset.drop(&format!("an event without values: {}", printable(event)), line);
    }
    match event {
        "pathloss" => words.for_each(|word| path_loss(dataset, at_s, &nems, word, line)),
        "allinformedpathloss" => {
            let Some(loss) = words.next().and_then(loss) else {
                return dataset.drop("an invalid path loss", line);
            };
            let pairs = nems.iter().flat_map(|to| nems.iter().map(move |from| (from, to)));
            for (from, to) in pairs.filter(|(from, to)| from != to) {
                observe(dataset, at_s, (from, to), loss, line);
            }
        }
        "location" => {
            let words: Vec<&str> = words.collect();
            nems.iter().for_each(|nem| location(dataset, state.datum, at_s, (nem, &words), line));
        }
        "orientation" | "velocity" | "antennaprofile" => {
            let numbers = words.next().map(|word| word.split(',').map(|part| part.parse().ok()));
            let numbers: Vec<Option<f64>> = numbers.into_iter().flatten().take(3).collect();
            let [Some(one), Some(two), Some(three)] = numbers[..] else {
                return dataset.drop(&format!("an invalid {event}: allowed three numbers"), line);
            };
            for nem in &nems {
                let attitude = state.attitudes.entry(nem.clone()).or_default();
                attitude.turn(event, [one, two, three]);
                let Some(pointing) = attitude.pointing() else {
                    let what = format!("event {event} without a direction of an antenna: not used");
                    dataset.drop(&what, line);
                    continue;
                };
                if let Some(node) = dataset.node(nem, line) {
                    dataset.event(at_s, Event::Point(node, pointing), line);
                }
            }
            match event {
                "orientation" if two != 0.0 => {
                    dataset.drop("the roll of an orientation: not used", line);
                }
                "antennaprofile" => dataset.drop(
                    "an antenna profile: its pointing is read, its pattern is that of the station",
                    line,
                ),
                _ => {}
            }
        }
        other => dataset.drop(&format!("event {}: not used", printable(other)), line),
    }
}

/// Attitude of a platform and the pointing of its antenna, degrees.
#[derive(Debug, Clone, Copy, Default)]
struct Attitude {
    /// Azimuth and elevation of the velocity, in which the platform looks.
    velocity_deg: [f64; 2],
    /// Yaw and pitch beside that.
    orientation_deg: [f64; 2],
    /// Azimuth and elevation of the antenna on the platform.
    antenna_deg: [f64; 2],
    /// True once an orientation or a profile was stated: a velocity alone points no antenna.
    is_stated: bool,
}

impl Attitude {
    /// Takes the values of an event.
    fn turn(&mut self, event: &str, [one, two, three]: [f64; 3]) {
        match event {
            // Pitch, roll and yaw.
            "orientation" => self.orientation_deg = [three, one],
            // Azimuth, elevation and speed: a platform that stands looks north.
            "velocity" => self.velocity_deg = if three == 0.0 { [0.0; 2] } else { [one, two] },
            // Number of the profile, azimuth and elevation.
            _ => self.antenna_deg = [two, three],
        }
        self.is_stated |= event != "velocity";
    }

    /// The direction of the antenna: EMANE adds the angles of platform and antenna.
    fn pointing(&self) -> Option<Pointing> {
        let sum = |axis: usize| {
            self.velocity_deg[axis] + self.orientation_deg[axis] + self.antenna_deg[axis]
        };
        let (azimuth_deg, elevation_deg) = (sum(0).rem_euclid(360.0), sum(1));
        let is_valid = azimuth_deg < 360.0 && (-90.0..=90.0).contains(&elevation_deg);
        (self.is_stated && is_valid).then_some(Pointing { azimuth_deg, elevation_deg })
    }
}

fn printable(word: &str) -> String {
    word.chars().take(40).collect()
}

/// The numbers of `nem:4`, `nem:1-5` and `nem:2,4-7`.
fn numbers(word: &str) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for part in word.strip_prefix("nem:")?.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if last < first || (last - first) as usize >= NEMS_MAX - all.len().min(NEMS_MAX - 1) {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all)
}

/// A NEM as a name.
fn key(number: u32) -> String {
    format!("nem-{number}")
}

/// A path loss, dB: infinite where there is no link.
fn loss(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|db| !db.is_nan())
}

/// Takes `nem:2,80.5` or `nem:2-4,80.5,81.0`: losses from others to `nems`, and back.
fn path_loss(dataset: &mut Dataset, at_s: f64, nems: &[String], word: &str, line: usize) {
    // Lists of NEMs have commas too: they end with their last range, or leave one or two losses.
    let parts: Vec<&str> = word.split(',').collect();
    let is_range = |part: &&str| part.split_once('-').is_some_and(|(first, _)| !first.is_empty());
    let count = match parts.iter().skip(1).rposition(|part| is_range(part) && loss(part).is_none())
    {
        Some(range) => range + 2,
        None if parts.len() > 3 => parts.len() - 1,
        None => 1,
    };
    let (list, values) = parts.split_at(count);
    let others = numbers(&list.join(","));
    let losses: Option<Vec<f64>> = values.iter().map(|text| loss(text)).collect();
    let (Some(others), Some(losses)) =
        (others, losses.filter(|losses| (1..=2).contains(&losses.len())))
    else {
        return dataset.drop("an invalid path loss", line);
    };
    for other in others.into_iter().map(key) {
        for nem in nems {
            observe(dataset, at_s, (&other, nem), losses[0], line);
            if let Some(backward) = losses.get(1) {
                observe(dataset, at_s, (nem, &other), *backward, line);
            }
        }
    }
}

/// Takes a loss of a direction.
fn observe(dataset: &mut Dataset, at_s: f64, link: (&str, &str), db: f64, line: usize) {
    let values = match db {
        // No link: nothing arrives.
        db if db.is_infinite() || db >= LOSS_DB_DOWN => {
            Measured { delivery_prob: Some(0.0), ..Measured::default() }
        }
        db => Measured { path_loss_db: Some(db), ..Measured::default() },
    };
    dataset.observe(at_s, link, values, line);
}

/// Takes `gps 40.03,-74.52,3.0,agl`; the altitude and its datum may be left out, which then is `datum`.
fn location(
    dataset: &mut Dataset,
    datum: Datum,
    at_s: f64,
    (nem, words): (&str, &[&str]),
    line: usize,
) {
    let place = match words {
        ["gps", place, ..] => place,
        _ => return dataset.drop("an invalid location", line),
    };
    let parts: Vec<&str> = place.split(',').collect();
    let number = |index: usize| parts.get(index).and_then(|text| text.parse::<f64>().ok());
    let (Some(lat), Some(lon)) = (number(0), number(1)) else {
        return dataset.drop("an invalid location", line);
    };
    let Ok(position) = GeoPoint::new(lat, lon) else {
        return dataset.drop("invalid latitude or longitude", line);
    };
    let Some(node) = dataset.node(nem, line) else { return };
    dataset.event(at_s, Event::Fix(node, position), line);
    let Some(altitude) = parts.get(2) else { return };
    let datum = parts.get(3).map_or(Some(datum), |name| Datum::named(name));
    match (altitude.parse().ok(), datum) {
        (Some(m), Some(datum)) => dataset.altitude(at_s, node, datum.height()(m), line),
        _ => dataset.drop("an invalid altitude: allowed metres and agl, msl or hae", line),
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
        places: BTreeMap::new(),
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
    /// Positions and heights above ground, tenths of a metre.
    places: BTreeMap<NodeId, (GeoPoint, i64)>,
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
            let height_m = node.station.height_agl_m;
            let place = (node.position, (height_m * 10.0).round() as i64);
            if self.places.insert(node.id, place) != Some(place) {
                let (lat, lon) = (node.position.lat_deg(), node.position.lon_deg());
                writeln!(
                    self.out,
                    "{at_s:.3} nem:{number} location gps {lat:.7},{lon:.7},{height_m:.1},agl"
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
