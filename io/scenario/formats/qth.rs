//! Site files of SPLAT! (`.qth`), which Radio Mobile's exports and other programs write too: a site each.
//!
//! Four lines (SPLAT! 1.4.2, documentation, "Site location files"): name, latitude, longitude counted
//! westwards, height of the antenna above ground, in feet unless `m` or `meters` follows. Both angles are
//! decimal degrees, or degrees, minutes and seconds. A line without a height means the ground.

use super::dataset::Dataset;
use super::error::{Fault, FormatError, Location, quoted};
use super::plan::collect::Collector;
use super::plan::draft::Draft;
use super::plan::values;
use super::text::text;
use super::{Content, Format, ReadOptions, Sample, Source};

/// The format.
pub static FORMAT: Format = Format {
    name: "qth",
    label: "SPLAT! site",
    description: "site files of SPLAT!: name, latitude, longitude west, height; a folder of them",
    extensions: &["qth"],
    contents: &[Content::Plan],
    sniff: is_site,
    read: Some(read),
    ..Format::NONE
};

/// Metres of a foot.
const FOOT_M: f64 = 0.3048;

/// Endings of a height in metres.
const METRES: [&str; 5] = ["meters", "metres", "meter", "metre", "m"];

/// Name, latitude and longitude, and the height if there is one.
const LINES: std::ops::RangeInclusive<usize> = 3..=4;

/// Angle in decimal degrees, or in degrees, minutes and seconds, deg.
fn angle_deg(text: &str) -> Option<f64> {
    let parts: Vec<f64> = text
        .split([' ', '\t', ':', '°', '\'', '"'])
        .filter(|part| !part.is_empty())
        .map(|part| part.parse().ok())
        .collect::<Option<_>>()?;
    let (&degrees, smaller) = parts.split_first()?;
    let is_sexagesimal =
        smaller.len() <= 2 && smaller.iter().all(|part| (0.0..60.0).contains(part));
    let share: f64 = smaller.iter().zip([60.0, 3600.0]).map(|(part, divisor)| part / divisor).sum();
    let value = degrees.abs() + share;
    (is_sexagesimal && value.is_finite()).then(|| value.copysign(degrees))
}

/// Height above ground, m; feet unless metres are named.
fn height_m(text: &str) -> Result<f64, Fault> {
    let lower = text.trim().to_ascii_lowercase();
    let metric = METRES.iter().find_map(|unit| lower.strip_suffix(unit));
    let feet = ["feet", "ft"].iter().find_map(|unit| lower.strip_suffix(unit));
    let number = metric.or(feet).unwrap_or(&lower);
    let value = values::parse(number).map_err(|_| {
        Fault::new("height_agl_m", quoted(text), "a height in feet, or in metres with m behind it")
    })?;
    Ok(if metric.is_some() { value } else { value * FOOT_M })
}

/// Lines of a document that are not empty, each with its number.
fn lines(text: &str) -> Vec<(usize, &str)> {
    let numbered = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    numbered.filter(|(_, line)| !line.is_empty()).collect()
}

fn is_site(sample: &Sample<'_>) -> bool {
    let lines = lines(sample.text());
    let angle = |index: usize| lines.get(index).and_then(|(_, line)| angle_deg(line));
    LINES.contains(&lines.len())
        && angle_deg(lines[0].1).is_none()
        && angle(1).is_some_and(|lat_deg| lat_deg.abs() <= 90.0)
        && angle(2).is_some_and(|lon_deg| lon_deg.abs() <= 360.0)
        && lines.get(3).is_none_or(|(_, line)| height_m(line).is_ok())
}

fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, FormatError> {
    let mut collector = Collector::new(&FORMAT, &options.station);
    for document in &source.documents {
        let text = text(&FORMAT, document)?;
        site(text, &mut collector)?;
    }
    collector.finish().map(Dataset::of_plan)
}

/// Adds the site of a document.
fn site(text: &str, collector: &mut Collector<'_>) -> Result<(), FormatError> {
    let lines = lines(text);
    let invalid = |line: usize, fault: Fault| fault.at(&FORMAT, Location::line(line));
    let [(_, name), (lat_line, lat), (lon_line, lon), rest @ ..] = &lines[..] else {
        let allowed = "a name, a latitude, a longitude and a height, a line each";
        return Err(invalid(
            lines.len(),
            Fault::new("", format!("{} lines", lines.len()), allowed),
        ));
    };
    let angle = |line: usize, text: &str| {
        let allowed = "degrees, or degrees, minutes and seconds";
        angle_deg(text).ok_or_else(|| invalid(line, Fault::new("", quoted(text), allowed)))
    };
    let (lat_deg, west_deg) = (angle(*lat_line, lat)?, angle(*lon_line, lon)?);
    let mut draft = Draft::default();
    draft.take("name", name, &mut |_| ());
    if let Some((line, height)) = rest.first() {
        let height_agl_m = height_m(height).map_err(|fault| invalid(*line, fault))?;
        draft.take("height_agl_m", &height_agl_m.to_string(), &mut |_| ());
    } else {
        draft.take("height_agl_m", "0", &mut |_| ());
    }
    if rest.len() > 1 {
        collector.report.add("line behind the height: dropped", || Location::line(rest[1].0));
    }
    let note = "longitude counted westwards, as SPLAT! does";
    collector.report.add(note, || Location::line(*lon_line));
    let at = |key: &str| match key {
        "lat" => Location::new(*lat_line as u64, "lat"),
        "lon" => Location::new(*lon_line as u64, "lon"),
        key => Location::path(key),
    };
    collector.node(&mut draft, (lat_deg, -west_deg), &at)
}
