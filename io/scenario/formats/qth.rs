//! Site files of SPLAT! (`.qth`), which Radio Mobile's exports and other programs write too: a site each.
//!
//! Four lines (SPLAT! 1.4.2, documentation, "Site location files"): name, latitude, longitude counted
//! westwards, height of the antenna above ground, in feet unless `m` or `meters` follows. Both angles are
//! decimal degrees, or degrees, minutes and seconds; letters of hemispheres count where they stand. A line
//! without a height means the ground. In place of both angles a line may have a whole position with letters:
//! UTM, MGRS, well-known text and the like.
//!
//! Files of the same name belong to a site: its antenna pattern (`.az`, `.el`) and its radio parameters
//! (`.lrp`), in place of which SPLAT! takes `splat.lrp`.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::dataset::Dataset;
use super::error::{Fault, FormatError, Location, quoted};
use super::limits::SOURCE_BYTES_MAX;
use super::lrp;
use super::plan::collect::Collector;
use super::plan::draft::Draft;
use super::plan::values;
use super::text::text;
use super::{Content, Format, ReadOptions, Sample, Source};
use crate::encoding::to_utf8;

/// The format.
pub static FORMAT: Format = Format {
    name: "qth",
    label: "SPLAT! site",
    description: "site files of SPLAT! with .az, .el and .lrp of their name; a folder of them",
    extensions: &["qth"],
    contents: &[Content::Plan],
    sniff: is_site,
    companions: &["az", "el", "lrp"],
    read: Some(read),
    ..Format::NONE
};

/// Metres of a foot.
const FOOT_M: f64 = 0.3048;

/// Endings of a height in metres.
const METRES: [&str; 5] = ["meters", "metres", "meter", "metre", "m"];

/// Name, latitude and longitude, and the height if there is one.
const LINES: std::ops::RangeInclusive<usize> = 3..=4;

/// Angle in decimal degrees, or in degrees, minutes and seconds, deg; with a decimal point or comma.
fn angle_deg(text: &str) -> Option<f64> {
    let number = |part: &str| match part.contains('.') {
        true => part.parse().ok(),
        false => part.replacen(',', ".", 1).parse().ok(),
    };
    let parts: Vec<f64> = text
        .split([' ', '\t', ':', '°', '\'', '"'])
        .filter(|part| !part.is_empty())
        .map(number)
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

/// A position of a site.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Place {
    /// Latitude and longitude, deg, east positive.
    degrees: [f64; 2],
    /// `true` for a longitude that counts westwards.
    is_westward: bool,
    /// Lines that it takes.
    lines: usize,
}

/// Spellings that are read, for messages.
const ANGLES: &str = "degrees, or degrees, minutes and seconds; a whole position has letters, as UTM (32V 674934 6400683), \
                      MGRS or POINT(LON LAT) have";

/// The position that lines begin with, or the line at fault, from 0, with what is allowed.
fn place(lines: &[(usize, &str)]) -> Result<Place, (usize, String)> {
    let text = |at: usize| lines.get(at).map_or("", |(_, line)| *line);
    let has_letters = |text: &str| text.chars().any(char::is_alphabetic);
    let (first, second) = (text(0), text(1));
    let lat_deg = angle_deg(first).or_else(|| groundwave_coordinate::latitude_deg(first));
    let Some(lat_deg) = lat_deg else {
        let whole = groundwave_coordinate::degrees(first);
        let whole = whole.map_err(|bad| bad.allowed);
        return match whole {
            Ok(degrees) if has_letters(first) => {
                Ok(Place { degrees, is_westward: false, lines: 1 })
            }
            Err(allowed) if allowed != groundwave_coordinate::ALLOWED => Err((0, allowed)),
            _ => Err((0, ANGLES.to_owned())),
        };
    };
    let lon_deg = angle_deg(second).or_else(|| groundwave_coordinate::longitude_deg(second));
    let lon_deg = lon_deg.ok_or_else(|| (1, ANGLES.to_owned()))?;
    // A letter states east or west; without one SPLAT! counts to the west.
    let is_westward = !has_letters(second);
    let lon_deg = if is_westward { -lon_deg } else { lon_deg };
    Ok(Place { degrees: [lat_deg, lon_deg], is_westward, lines: 2 })
}

/// Lines of a document that are not empty, each with its number.
fn lines(text: &str) -> Vec<(usize, &str)> {
    let numbered = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    numbered.filter(|(_, line)| !line.is_empty()).collect()
}

fn is_site(sample: &Sample<'_>) -> bool {
    let lines = lines(sample.text());
    if !LINES.contains(&lines.len()) || angle_deg(lines[0].1).is_some() {
        return false;
    }
    let Ok(Place { degrees: [lat_deg, lon_deg], lines: count, .. }) = place(&lines[1..]) else {
        return false;
    };
    lat_deg.abs() <= 90.0
        && lon_deg.abs() <= 360.0
        && lines.len() <= count + 2
        && lines.get(count + 1).is_none_or(|(_, line)| height_m(line).is_ok())
}

fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, FormatError> {
    let mut collector = Collector::new(&FORMAT, &options.station);
    for document in &source.documents {
        let text = text(&FORMAT, document)?;
        site(text, &Companions::beside(source), options, &mut collector)?;
    }
    collector.finish().map(Dataset::of_plan)
}

/// Adds the site of a document.
fn site(
    text: &str,
    companions: &Companions,
    options: &ReadOptions,
    collector: &mut Collector<'_>,
) -> Result<(), FormatError> {
    let lines = lines(text);
    let invalid = |line: usize, fault: Fault| fault.at(&FORMAT, Location::line(line));
    let short = || {
        let allowed = "a name, a latitude, a longitude and a height, a line each";
        invalid(lines.len(), Fault::new("", format!("{} lines", lines.len()), allowed))
    };
    let [(_, name), place_lines @ ..] = &lines[..] else { return Err(short()) };
    let place = place(place_lines).map_err(|(at, allowed)| match place_lines.get(at) {
        Some((line, text)) => invalid(*line, Fault::new("", quoted(text), allowed)),
        None => short(),
    })?;
    let [lat_deg, lon_deg] = place.degrees;
    let (lat_line, lon_line) = (place_lines[0].0, place_lines[place.lines - 1].0);
    let rest = &place_lines[place.lines..];
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
    if place.is_westward {
        let note = "longitude counted westwards, as SPLAT! does";
        collector.report.add(note, || Location::line(lon_line));
    }
    let at = |key: &str| match key {
        "lat" => Location::new(lat_line as u64, "lat"),
        "lon" => Location::new(lon_line as u64, "lon"),
        key => Location::path(key),
    };
    companions.complete(&mut draft, options, collector)?;
    collector.node(&mut draft, (lat_deg, lon_deg), &at)
}

/// Files of a site.
#[derive(Default)]
struct Companions {
    /// Pattern of the antenna: one of both cuts, which brings the other.
    pattern: Option<PathBuf>,
    /// Radio parameters.
    parameters: Option<PathBuf>,
    /// `true` for parameters of this site, or of all sites without their own.
    has_own_power: bool,
}

/// Radio parameters of sites without their own.
const SHARED: &str = "splat.lrp";

impl Companions {
    /// The files beside a document on disk; none where its name comes from a client.
    fn beside(source: &Source) -> Self {
        let Some(folder) = &source.folder else { return Self::default() };
        let paths = [folder.join(&source.path), source.path.clone()];
        let Some(path) = paths.into_iter().find(|path| path.is_file()) else {
            return Self::default();
        };
        let beside = |ending: &str| {
            let endings = [ending.to_owned(), ending.to_ascii_uppercase()];
            let paths = endings.map(|ending| path.with_extension(ending));
            paths.into_iter().find(|path| path.is_file())
        };
        let shared = Some(path.with_file_name(SHARED)).filter(|path| path.is_file());
        let own = beside("lrp").or(shared);
        let has_own_power = own.is_some();
        let only = || only_parameters(path.parent()?);
        Self {
            pattern: beside("az").or_else(|| beside("el")),
            parameters: own.or_else(only),
            has_own_power,
        }
    }

    /// Sets what the files have.
    fn complete(
        &self,
        draft: &mut Draft,
        options: &ReadOptions,
        collector: &mut Collector<'_>,
    ) -> Result<(), FormatError> {
        let report = &mut collector.report;
        if let Some(path) = &self.pattern {
            let file = crate::antenna::load(path).map_err(|error| {
                let place = Location::path(format!("{}: {}", error.file, error.what));
                Fault::new("", error.actual, error.allowed).at(&FORMAT, place)
            })?;
            draft.take("antenna_pattern", &json!(file.pattern.cuts()).to_string(), &mut |_| ());
            draft.take("pointing_azimuth_deg", "0", &mut |_| ());
            let what = "antenna pattern beside the site (.az, .el): used, its 0 degrees are north";
            report.add(what, || Location::path(file_name(path)));
        }
        let Some(path) = &self.parameters else { return Ok(()) };
        let name = file_name(path);
        let parameters = lrp::read(&text_of(path, &name)?).map_err(|(line, fault)| {
            fault.at(&FORMAT, Location::new(line as u64, name.as_str()))
        })?;
        draft.take("frequency_mhz", &parameters.frequency_mhz.to_string(), &mut |_| ());
        draft.take("polarization", parameters.polarization, &mut |_| ());
        let what = "radio parameters beside the site (.lrp): used, with ground, climate and shares";
        report.add(what, || Location::path(name.as_str()));
        if let Some(eirp_dbm) = parameters.eirp_dbm.filter(|_| self.has_own_power) {
            let (radio, antenna) = (&options.station.radio, &options.station.antenna);
            let tx_power_dbm = eirp_dbm - antenna.gain_dbi + radio.feeder_loss_db;
            draft.take("tx_power_dbm", &tx_power_dbm.to_string(), &mut |_| ());
            let what = format!(
                "radiated power (.lrp): as transmitter power before an antenna of {} dBi",
                antenna.gain_dbi
            );
            report.add(&what, || Location::path(name.as_str()));
        }
        collector.deployment.environment.get_or_insert(parameters.environment);
        Ok(())
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The parameters of a folder that has one such file: those of its transmitter, of which SPLAT! takes the
/// frequency at both ends.
fn only_parameters(folder: &Path) -> Option<PathBuf> {
    let folder = if folder == Path::new("") { Path::new(".") } else { folder };
    let paths = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let is_one = |path: &PathBuf| {
        path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("lrp")) && path.is_file()
    };
    let mut paths = paths.filter(is_one);
    paths.next().filter(|_| paths.next().is_none())
}

/// Text of a file beside a site.
fn text_of(path: &Path, name: &str) -> Result<String, FormatError> {
    let invalid = |actual: String, allowed: &str| {
        Fault::new("", actual, allowed).at(&FORMAT, Location::path(name))
    };
    let bytes = std::fs::metadata(path).map_or(0, |about| about.len());
    if bytes > SOURCE_BYTES_MAX {
        return Err(invalid(format!("{bytes} bytes"), "a file of radio parameters"));
    }
    let octets = std::fs::read(path)
        .map_err(|error| invalid(error.to_string(), "a file that can be read"))?;
    String::from_utf8(to_utf8(octets).0).map_err(|_| invalid("no text".to_owned(), "text"))
}
