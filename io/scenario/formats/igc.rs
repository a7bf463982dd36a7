//! IGC flight logs (FAI): a receiver that flies, with its altitudes of GNSS.

use groundwave_model::terrain::GeoPoint;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::clock::DAY_S;
use super::dataset::{Dataset, Event, Node};
use super::error::FormatError;
use super::plan::name_of;
use super::{Content, Datum, Format, ReadOptions, Source};

/// The format.
pub static FORMAT: Format = Format {
    name: "igc",
    label: "IGC",
    description: "IGC flight log: a receiver that flies, with its altitude of GNSS",
    extensions: &["igc"],
    contents: &[Content::Tracks],
    sniff: |sample| {
        let is_head = sample.lines().next().is_some_and(|line| line.starts_with('A'));
        is_head && sample.lines().any(|line| fix(line).is_some())
    },
    read: Some(read),
    ..Format::NONE
};

/// A fix: time of the day, s, latitude and longitude, degrees, and altitude, m, where it has one.
type Fix = (f64, [f64; 2], Option<f64>);

/// The fix of a record `B1101355206343N00006198WA0058700558`.
fn fix(line: &str) -> Option<Fix> {
    let record = line.strip_prefix('B').filter(|_| line.is_ascii())?;
    let digits = |begin: usize, end: usize| -> Option<f64> {
        let text = record.get(begin..end)?;
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|_| is_number)
    };
    let (hours, minutes, seconds) = (digits(0, 2)?, digits(2, 4)?, digits(4, 6)?);
    if hours >= 24.0 || minutes >= 60.0 || seconds >= 61.0 {
        return None;
    }
    // Degrees, and minutes with three decimals.
    let angle = |begin: usize, end: usize, negative: &str, positive: &str| {
        let minutes = digits(end, end + 5)? / 1_000.0;
        let angle_deg = digits(begin, end)? + minutes / 60.0;
        match record.get(end + 5..end + 6)? {
            letter if letter == positive => Some(angle_deg),
            letter if letter == negative => Some(-angle_deg),
            _ => None,
        }
    };
    let at_deg = [angle(6, 8, "S", "N")?, angle(14, 17, "W", "E")?];
    // The altitude of a fix in the plane is not one; those below the ellipsoid have a sign.
    let is_spatial = record.get(23..24)? == "A";
    let altitude_m = record.get(29..34).and_then(|text| text.parse::<f64>().ok());
    let altitude_m = altitude_m.filter(|altitude_m| is_spatial && *altitude_m != 0.0);
    Some((hours * 3_600.0 + minutes * 60.0 + seconds, at_deg, altitude_m))
}

/// Beginning of the day of a record `HFDTE150622` or `HFDTEDATE:150622,01`, s since the Unix epoch.
fn day(line: &str) -> Option<f64> {
    let text = line.get(..5).filter(|head| ["HFDTE", "HODTE", "HPDTE"].contains(head))?;
    let rest = &line[text.len()..];
    let digits: String = rest.chars().filter(char::is_ascii_digit).take(6).collect();
    let part = |begin: usize| digits.get(begin..begin + 2)?.parse::<i16>().ok();
    let (day, month, year) = (part(0)?, part(2)?, part(4)?);
    // Flight recorders are of 1990 and later.
    let year = if year >= 90 { 1900 + year } else { 2000 + year };
    let date = Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?;
    Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second() as f64)
}

/// Text of a header record of a kind, `HFPLTPILOTINCHARGE:Bloggs`.
fn header(line: &str, kind: &str) -> Option<String> {
    let is_own = line.starts_with('H') && line.get(2..5) == Some(kind);
    let (_, text) = line.split_once(':').filter(|_| is_own)?;
    name_of(text.trim())
}

/// Reads the fixes. Altitudes of GNSS are above the ellipsoid unless a record states the geoid.
fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, FormatError> {
    let text = String::from_utf8_lossy(source.bytes());
    let mut dataset = Dataset::default();
    let (mut name, mut datum, mut day_s) = (None, Datum::Ellipsoid, None::<f64>);
    let (mut fixes, mut last_s) = (Vec::new(), 0.0);
    for (index, line) in text.lines().enumerate() {
        let (number, line) = (index + 1, line.trim());
        // Some recorders repeat the date, also that of the begin after midnight.
        if let Some(begin_s) = day(line).filter(|own_s| day_s.is_none_or(|day_s| *own_s > day_s)) {
            (day_s, last_s) = (Some(begin_s), 0.0);
        }
        if line.starts_with("HFALG") && line.contains("GEO") {
            datum = Datum::Sea;
        }
        name = name.or_else(|| header(line, "PLT")).or_else(|| header(line, "GID"));
        if !line.starts_with('B') {
            continue;
        }
        let Some((time_s, at_deg, altitude_m)) = fix(line) else {
            dataset.drop("an invalid fix", number);
            continue;
        };
        if time_s < last_s - DAY_S / 2.0 {
            day_s = Some(day_s.unwrap_or(0.0) + DAY_S);
        }
        last_s = time_s;
        fixes.push((day_s.unwrap_or(0.0) + time_s, at_deg, altitude_m, number));
    }
    let stem = name_of(&source.stem());
    let name = name.or(stem).unwrap_or_else(|| "flight".to_owned());
    let Some(node) = dataset.push(Node::named(&name)) else { return Ok(dataset) };
    let datum = options.datum.unwrap_or(datum);
    for (at_s, [lat_deg, lon_deg], altitude_m, line) in fixes {
        let Ok(position) = GeoPoint::new(lat_deg, lon_deg) else {
            dataset.drop("invalid latitude or longitude", line);
            continue;
        };
        dataset.event(at_s, Event::Fix(node, position), line);
        if let Some(altitude_m) = altitude_m {
            dataset.altitude(at_s, node, datum.height()(altitude_m), line);
        }
    }
    dataset.has_times_of_day = day_s.is_none_or(|day_s| day_s <= DAY_S);
    dataset.drop_unset_clocks();
    dataset.begin_with_clock();
    Ok(dataset)
}
