//! NMEA 0183: fixes of a receiver (`GGA`, `RMC`, `GNS`, `GLL`), a node for each document. `RMC` and `ZDA` give the date.

use groundwave_model::terrain::GeoPoint;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::clock::DAY_S;
use super::dataset::{Dataset, Event, Height, Node};
use super::error::FormatError;
use super::plan::name_of;
use super::{Content, Format, ReadOptions, Source};

/// The format.
pub static FORMAT: Format = Format {
    name: "nmea",
    label: "NMEA 0183",
    description: "NMEA 0183 log of a GPS receiver (GGA, RMC, GNS, GLL): a node that moves",
    extensions: &["nmea", "nma"],
    contents: &[Content::Tracks],
    sniff: |sample| {
        let mut lines = sample.lines().take(20);
        lines.any(|line| sentence(line).is_ok_and(|(kind, _)| FIXES.contains(&kind)))
    },
    read: Some(read),
    ..Format::NONE
};

/// Sentences of fixes.
const FIXES: [&str; 4] = ["GGA", "RMC", "GNS", "GLL"];

/// Fixes and dates read so far.
struct State {
    dataset: Dataset,
    node: u32,
    /// The last date, s since the Unix epoch.
    date_s: Option<f64>,
    /// Midnights since the last date, or since the first sentence, s.
    days_s: f64,
    /// The last time of the day, s.
    last_s: Option<f64>,
    /// Fixes before the first date.
    undated: Vec<Fix>,
}

/// A fix with its time since the last date or the midnight before the first sentence, s.
struct Fix {
    at_s: f64,
    position: GeoPoint,
    altitude_m: Option<f64>,
    line: usize,
}

impl State {
    /// Notes a time of the day, s, and the date beside it.
    fn pass(&mut self, time_s: f64, date_s: Option<f64>) {
        // Midnight, perhaps before a sentence with the next date.
        if self.last_s.is_some_and(|last_s| time_s + DAY_S / 2.0 < last_s) {
            self.days_s += DAY_S;
        }
        self.last_s = Some(time_s);
        if let Some(next_s) = date_s {
            let days_s = std::mem::take(&mut self.days_s);
            if self.date_s.replace(next_s).is_none() {
                self.settle(next_s - days_s);
            }
        }
    }

    /// Takes a fix of a sentence at the last time.
    fn fix(&mut self, position: GeoPoint, altitude_m: Option<f64>, line: usize) {
        let at_s = self.days_s + self.last_s.unwrap_or(0.0);
        let fix = Fix { at_s, position, altitude_m, line };
        match self.date_s {
            Some(date_s) => self.add(date_s, fix),
            None => self.undated.push(fix),
        }
    }

    /// Takes the fixes before the first date, whose times count from `begin_s`.
    fn settle(&mut self, begin_s: f64) {
        for fix in std::mem::take(&mut self.undated) {
            self.add(begin_s, fix);
        }
    }

    fn add(&mut self, begin_s: f64, Fix { at_s, position, altitude_m, line }: Fix) {
        self.dataset.event(begin_s + at_s, Event::Fix(self.node, position), line);
        if let Some(altitude_m) = altitude_m {
            self.dataset.altitude(begin_s + at_s, self.node, Height::Sea(altitude_m), line);
        }
    }
}

/// Kind and fields of a sentence, or the reason why it is none. A checksum must be right where there
/// is one.
fn sentence(line: &str) -> Result<(&str, Vec<&str>), &'static str> {
    let begin = line.find('$').ok_or("a line that is not a sentence of NMEA")?;
    let body = line[begin + 1..].trim_end();
    let (body, checksum) = match body.split_once('*') {
        Some((body, checksum)) => (body, Some(checksum)),
        None => (body, None),
    };
    let sum = body.bytes().fold(0_u8, |sum, byte| sum ^ byte);
    if checksum.is_some_and(|text| u8::from_str_radix(text.trim(), 16) != Ok(sum)) {
        return Err("a sentence with a wrong checksum");
    }
    let mut fields = body.split(',');
    let name = fields.next().unwrap_or_default();
    // Two letters of the talker, three of the kind.
    let kind = name.get(2..5).filter(|_| name.len() == 5).unwrap_or(name);
    Ok((kind, fields.collect()))
}

fn read(source: &Source, _: &ReadOptions) -> Result<Dataset, FormatError> {
    let mut dataset = Dataset::default();
    let name = name_of(&source.stem()).unwrap_or_else(|| "receiver".to_owned());
    let node = dataset.push(Node::named(&name)).unwrap_or_default();
    let (date_s, days_s, last_s, undated) = (None, 0.0, None, Vec::new());
    let mut state = State { dataset, node, date_s, days_s, last_s, undated };
    for (index, line) in source.bytes().split(|byte| *byte == b'\n').enumerate() {
        let (line, at) = (String::from_utf8_lossy(line), index + 1);
        if line.trim().is_empty() {
            continue;
        }
        match sentence(&line) {
            Ok((kind, fields)) => take(&mut state, kind, &fields, at),
            Err(what) => state.dataset.drop(what, at),
        }
    }
    if state.date_s.is_some() {
        state.dataset.drop_unset_clocks();
        state.dataset.begin_with_first();
        return Ok(state.dataset);
    }
    // Without a date, fixes have a time of the day alone.
    state.settle(0.0);
    state.dataset.has_times_of_day = true;
    Ok(state.dataset)
}

/// Takes a sentence of a line.
fn take(state: &mut State, kind: &str, fields: &[&str], line: usize) {
    let field = |index: usize| fields.get(index).copied().unwrap_or_default();
    // Letters of estimated, manual and simulated positions; N is none.
    let is_mode = |mode: char| !"NEMS".contains(mode);
    let is_measured = |mode: &str| mode.chars().all(is_mode);
    // Columns of the time and of the latitude, which the longitude follows.
    let (time, place, is_valid) = match kind {
        "RMC" => (0, 2, field(1) == "A" && is_measured(field(11))),
        // 6 to 8 are estimated, manual and simulated.
        "GGA" => (0, 1, !["", "0", "6", "7", "8"].contains(&field(5))),
        // A letter for each system of satellites.
        "GNS" => (0, 1, field(5).chars().any(is_mode)),
        "GLL" => (4, 0, field(5) == "A" && is_measured(field(6))),
        "ZDA" => {
            let date_s = [1, 2, 3].map(|index| field(index).parse::<i16>().ok());
            let date_s = match date_s {
                [Some(day), Some(month), Some(year)] => midnight(day, month, year),
                _ => None,
            };
            if let (Some(time_s), Some(date_s)) = (time_of_day(field(0)), date_s) {
                state.pass(time_s, Some(date_s));
            }
            return;
        }
        _ => return,
    };
    if !is_valid {
        return state.dataset.drop("a sentence without a fix", line);
    }
    let Some(time_s) = time_of_day(field(time)) else {
        return state.dataset.drop("a sentence without a time", line);
    };
    let (lat, lon) = (degrees(field(place), 2), degrees(field(place + 2), 3));
    let signs = [sign(field(place + 1), "N", "S"), sign(field(place + 3), "E", "W")];
    let position = match (lat, lon, signs) {
        (Some(lat), Some(lon), [Some(north), Some(east)]) => {
            GeoPoint::new(lat * north, lon * east).ok()
        }
        _ => None,
    };
    let Some(position) = position else {
        return state.dataset.drop("invalid latitude or longitude", line);
    };
    state.pass(time_s, date(field(8)).filter(|_| kind == "RMC"));
    let altitude_m = field(8).parse().ok().filter(|_| ["GGA", "GNS"].contains(&kind));
    state.fix(position, altitude_m, line);
}

/// `hhmmss.ss`, s.
fn time_of_day(text: &str) -> Option<f64> {
    let two = |from: usize| text.get(from..from + 2)?.parse::<u32>().ok();
    let (hours, minutes) = (two(0)?, two(2)?);
    let seconds: f64 = text.get(4..)?.parse().ok()?;
    let is_valid = hours < 24 && minutes < 60 && (0.0..61.0).contains(&seconds);
    is_valid.then(|| f64::from(hours * 3_600 + minutes * 60) + seconds)
}

/// `ddmmyy`, s since the Unix epoch; years from 80 on are of the last century.
fn date(text: &str) -> Option<f64> {
    let two = |from: usize| text.get(from..from + 2)?.parse::<i16>().ok();
    let (day, month, year) = (two(0)?, two(2)?, two(4)?);
    midnight(day, month, if year >= 80 { 1900 + year } else { 2000 + year })
}

/// Beginning of a day, s since the Unix epoch.
fn midnight(day: i16, month: i16, year: i16) -> Option<f64> {
    let date = Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?;
    Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second() as f64)
}

/// `ddmm.mmm` with so many digits of degrees.
fn degrees(text: &str, digits: usize) -> Option<f64> {
    let degrees: f64 = text.get(..digits)?.parse().ok()?;
    let minutes: f64 = text.get(digits..)?.parse().ok()?;
    (0.0..60.0).contains(&minutes).then_some(degrees + minutes / 60.0)
}

fn sign(text: &str, positive: &str, negative: &str) -> Option<f64> {
    match text {
        text if text == positive => Some(1.0),
        text if text == negative => Some(-1.0),
        _ => None,
    }
}
