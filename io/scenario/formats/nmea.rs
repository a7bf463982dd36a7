//! NMEA 0183: fixes of a receiver (`GGA`, `RMC`), a node for each document.

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
    description: "NMEA 0183 log of a GPS receiver (GGA, RMC): a node that moves",
    extensions: &["nmea", "nma"],
    contents: &[Content::Tracks],
    sniff: |sample| {
        let mut lines = sample.lines().take(20);
        lines.any(|line| sentence(line).is_ok_and(|(kind, _)| ["GGA", "RMC"].contains(&kind)))
    },
    read: Some(read),
    ..Format::NONE
};

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
    // The last date, s since the Unix epoch, and the last time of the day, s.
    let (mut date_s, mut last_s): (Option<f64>, Option<f64>) = (None, None);
    let mut days = 0.0;
    for (index, line) in source.bytes().split(|byte| *byte == b'\n').enumerate() {
        let (line, at) = (String::from_utf8_lossy(line), index + 1);
        if line.trim().is_empty() {
            continue;
        }
        let (kind, fields) = match sentence(&line) {
            Ok(sentence) => sentence,
            Err(what) => {
                dataset.drop(what, at);
                continue;
            }
        };
        let field = |index: usize| fields.get(index).copied().unwrap_or_default();
        let (place, is_valid) = match kind {
            "RMC" => ([2, 3, 4, 5], field(1) == "A"),
            "GGA" => ([1, 2, 3, 4], !["", "0"].contains(&field(5))),
            _ => continue,
        };
        if !is_valid {
            dataset.drop("a sentence without a fix", at);
            continue;
        }
        let Some(time_s) = time_of_day(field(0)) else {
            dataset.drop("a sentence without a time", at);
            continue;
        };
        let (lat, lon) = (degrees(field(place[0]), 2), degrees(field(place[2]), 3));
        let signs = [sign(field(place[1]), "N", "S"), sign(field(place[3]), "E", "W")];
        let position = match (lat, lon, signs) {
            (Some(lat), Some(lon), [Some(north), Some(east)]) => {
                GeoPoint::new(lat * north, lon * east).ok()
            }
            _ => None,
        };
        let Some(position) = position else {
            dataset.drop("invalid latitude or longitude", at);
            continue;
        };
        if kind == "RMC"
            && let Some(next_s) = date(field(8))
        {
            (date_s, days) = (Some(next_s), 0.0);
        } else if last_s.is_some_and(|last_s| time_s + DAY_S / 2.0 < last_s) {
            // Midnight, before a sentence with the next date.
            days += DAY_S;
        }
        last_s = Some(time_s);
        // Until the first date, fixes have a time of the day alone.
        let at_s = date_s.unwrap_or(0.0) + days + time_s;
        dataset.event(at_s, Event::Fix(node, position), at);
        if kind == "GGA"
            && let Ok(altitude_m) = field(8).parse()
        {
            dataset.altitude(at_s, node, Height::Sea(altitude_m), at);
        }
    }
    if date_s.is_some() {
        dataset.drop_unset_clocks();
        dataset.begin_with_first();
        return Ok(dataset);
    }
    dataset.has_times_of_day = true;
    Ok(dataset)
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
    let two = |from: usize| text.get(from..from + 2)?.parse::<i8>().ok();
    let (day, month, year) = (two(0)?, two(2)?, i16::from(two(4)?));
    let year = if year >= 80 { 1900 + year } else { 2000 + year };
    let date = Date::new(year, month, day).ok()?;
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
