//! TIA/EIA-804 and NSMA WG16.99.050 patterns (`.adf`, `.nsm`).
//!
//! Lines `KEY:,value`, and behind each `PATCUT` lines of an angle and a level. `AZ` and `H` are horizontal cuts,
//! clockwise from the boresight, `EL` and `V` vertical ones, positive above the horizon (annexes A and C of
//! WG16.99.050). `GUNITS` names the unit of the gain and that of the levels: `DBI/DBR` by default; `LIN` is a ratio
//! of powers as a gain, and of fields as a level. Of several cuts of a plane the first whose polarisations agree counts, as in `V/V`.

use groundwave_propagation::numeric::log10;
use groundwave_propagation::polarization::Polarization;

use super::lines::{Lines, frequency_mhz, number, quoted, without_comment};
use super::turn::{Point, ends_db, is_ahead, mirrored, turn};
use super::{DIPOLE_DBI, PatternError, Raw, polarization};

/// Fewest points of a cut.
const POINTS_MIN: usize = 4;

/// Minimum field ratio of a level.
const RATIO_MIN: f64 = 0.000_5;

/// Keys that begin a file.
const KEYS: [&str; 5] = ["REVNUM", "ANTMAN", "MODNUM", "GUNITS", "PATCUT"];

/// A cut of the file.
struct Cut {
    is_vertical: bool,
    is_copolar: bool,
    polarization: Option<Polarization>,
    /// Frequency, MHz, where the file states one for its cuts.
    frequency_mhz: Option<f64>,
    /// Line of its `PATCUT`.
    line: usize,
    /// Number of points that the file states, and its line.
    count: Option<(usize, usize)>,
    /// Lines, angles, deg, and levels in the unit of the file.
    points: Vec<(usize, f64, f64)>,
}

/// Keys of the file that count.
#[derive(Default)]
struct Header {
    maker: String,
    model: String,
    units: Option<(usize, String)>,
    gain: Option<Gain>,
    /// Gains at the ends of the band.
    edge_gains: [Option<Gain>; 2],
    frequency_mhz: [Option<f64>; 2],
    /// Frequency of the cuts that follow, MHz.
    pattern_mhz: Option<f64>,
}

/// A gain, with its unit above dBi, dB, where it has one of its own.
#[derive(Clone, Copy)]
struct Gain {
    value: f64,
    above_dbi: Option<f64>,
}

/// True for a file with a key of the format and a cut.
pub(super) fn is_adf(lines: &Lines<'_>) -> bool {
    let has = |name: &str| lines.iter().any(|(_, line)| key(line).is_some_and(|(k, _)| k == name));
    has("PATCUT") && KEYS.iter().any(|name| has(name))
}

/// Key and value of a line.
fn key(line: &str) -> Option<(String, &str)> {
    let (key, value) = line.split_once([':', ','])?;
    let is_key = key.starts_with(|first: char| first.is_ascii_alphabetic());
    let value = value.trim_start_matches([',', ' ', '\t']);
    is_key.then(|| (key.trim().to_ascii_uppercase(), value.trim()))
}

/// Reads a file.
pub(super) fn read(lines: &Lines<'_>) -> Result<Raw, PatternError> {
    let (mut header, mut cuts) = (Header::default(), Vec::<Cut>::new());
    for (line, text) in lines.iter() {
        let text = without_comment(text, '!');
        let Some((key, value)) = key(text) else {
            let Some(cut) = cuts.last_mut() else {
                return Err(lines.error_at(line, "point", quoted(text), "a PATCUT before points"));
            };
            cut.points.push(point(lines, line, text)?);
            continue;
        };
        match key.as_str() {
            "ANTMAN" => header.maker = value.to_owned(),
            "MODNUM" => header.model = value.to_owned(),
            "GUNITS" => header.units = Some((line, value.to_ascii_uppercase())),
            "MDGAIN" => header.gain = gain(lines, line, value)?,
            "LWGAIN" => header.edge_gains[0] = gain(lines, line, value)?,
            "HGGAIN" => header.edge_gains[1] = gain(lines, line, value)?,
            "LOWFRQ" => header.frequency_mhz[0] = frequency_mhz(value),
            "HGHFRQ" => header.frequency_mhz[1] = frequency_mhz(value),
            "PATFRE" => header.pattern_mhz = frequency_mhz(value),
            "PATCUT" => {
                cuts.push(Cut { frequency_mhz: header.pattern_mhz, ..cut(lines, line, value)? })
            }
            "POLARI" => {
                let agrees = value.split_once('/').is_none_or(|(a, b)| a.trim() == b.trim());
                let own = polarization(value.split('/').next().unwrap_or_default());
                cuts.iter_mut().last().into_iter().for_each(|cut| {
                    (cut.is_copolar, cut.polarization) = (agrees, own.filter(|_| agrees));
                });
            }
            "NUPOIN" => {
                let count = value.parse::<usize>().ok().map(|count| (line, count));
                cuts.iter_mut().last().into_iter().for_each(|cut| cut.count = count);
            }
            _ => {}
        }
    }
    raw(lines, header, &cuts)
}

fn cut(lines: &Lines<'_>, line: usize, value: &str) -> Result<Cut, PatternError> {
    let is_vertical = match value.to_ascii_uppercase().as_str() {
        "AZ" | "AZIMUTH" | "H" | "HORIZONTAL" => false,
        "EL" | "ELEVATION" | "V" | "VERTICAL" => true,
        _ => return Err(lines.error_at(line, "PATCUT", quoted(value), "AZ, EL, H or V")),
    };
    Ok(Cut {
        is_vertical,
        is_copolar: true,
        polarization: None,
        frequency_mhz: None,
        line,
        count: None,
        points: Vec::new(),
    })
}

/// A gain: `17`, `17 dBi`, or `17,0.5` with its tolerance behind it.
fn gain(lines: &Lines<'_>, line: usize, value: &str) -> Result<Option<Gain>, PatternError> {
    let lower = value.split([',', ';']).next().unwrap_or_default().trim().to_ascii_lowercase();
    if lower.is_empty() {
        return Ok(None);
    }
    let of_unit =
        |(unit, above_dbi): (&str, f64)| Some((lower.strip_suffix(unit)?, Some(above_dbi)));
    let (text, above_dbi) =
        [("dbi", 0.0), ("dbd", DIPOLE_DBI)].into_iter().find_map(of_unit).unwrap_or((&lower, None));
    let refused = || lines.error_at(line, "gain", quoted(value), "a number");
    Ok(Some(Gain { value: number(text).ok_or_else(refused)?, above_dbi }))
}

/// Angle and level of a line, apart by commas, semicolons, tabs or spaces; a phase behind them does not count.
fn point(lines: &Lines<'_>, line: usize, text: &str) -> Result<(usize, f64, f64), PatternError> {
    let separator = [';', '\t'].into_iter().find(|mark| text.contains(*mark));
    let parts: Vec<&str> = match separator {
        Some(mark) => text.split(mark).map(str::trim).collect(),
        None => text.split([',', ' ']).filter(|part| !part.is_empty()).collect(),
    };
    let [angle, level, ..] = parts[..] else {
        return Err(lines.error_at(line, "point", quoted(text), "an angle and a level"));
    };
    Ok((line, lines.angle_deg(line, angle)?, lines.level_db(line, level)?))
}

/// The antenna of its cuts.
fn raw(lines: &Lines<'_>, header: Header, cuts: &[Cut]) -> Result<Raw, PatternError> {
    let (units_line, units) = header.units.unwrap_or((0, "DBI/DBR".to_owned()));
    let (gain_unit, level_unit) = units.split_once(['/', ',']).unwrap_or((&units, "DBR"));
    let above_dbi = |unit: &str| match unit.trim() {
        "DBI" | "DBR" => Ok(0.0),
        "DBD" => Ok(DIPOLE_DBI),
        _ => {
            let allowed = "DBI or DBD, then DBR, DBI, DBD or LIN behind a /";
            Err(lines.error_at(units_line, "GUNITS", quoted(&units), allowed))
        }
    };
    let is_power_ratio = gain_unit.trim() == "LIN";
    let gain_above_dbi = if is_power_ratio { 0.0 } else { above_dbi(gain_unit)? };
    let gain_dbi = |gain: Gain| match gain.above_dbi {
        None if is_power_ratio => 10.0 * log10(gain.value.max(f64::MIN_POSITIVE)),
        own => gain.value + own.unwrap_or(gain_above_dbi),
    };
    let [low_dbi, high_dbi] = header.edge_gains.map(|gain| gain.map(gain_dbi));
    let middle_dbi = low_dbi.zip(high_dbi).map(|(low, high)| f64::midpoint(low, high));
    let stated_dbi = header.gain.map(gain_dbi).or(middle_dbi).or(low_dbi).or(high_dbi);
    let horizontal = plane(lines, cuts, false)?;
    let vertical = plane(lines, cuts, true)?;
    let polarization = horizontal.polarization.filter(|own| Some(*own) == vertical.polarization);
    let is_ratio = level_unit.trim() == "LIN";
    let is_relative = is_ratio || level_unit.trim() == "DBR";
    let level_above_dbi = if is_ratio { 0.0 } else { above_dbi(level_unit)? };
    let levels = || horizontal.points.iter().chain(&vertical.points).map(|(_, _, level)| *level);
    // Levels of which none is below zero are losses.
    let are_losses = is_relative && !is_ratio && levels().all(|level| level >= 0.0);
    let highest_dbi = levels().fold(f64::NEG_INFINITY, f64::max) + level_above_dbi;
    let gain_dbi = if is_relative { stated_dbi } else { stated_dbi.or(Some(highest_dbi)) };
    let loss_db = |level: f64| match (is_relative, is_ratio) {
        (_, true) => -20.0 * log10(level.max(RATIO_MIN)),
        (true, _) if are_losses => level,
        (true, _) => -level,
        _ => gain_dbi.unwrap_or(0.0) - (level + level_above_dbi),
    };
    let points = |cut: &Cut, sign: f64| -> Vec<Point> {
        cut.points.iter().map(|(_, deg, level)| (sign * deg, loss_db(*level))).collect()
    };
    let horizontal_db = turn(&points(horizontal, 1.0));
    let vertical = points(vertical, -1.0);
    let vertical_db = match is_ahead(&vertical) {
        true => mirrored(&vertical, ends_db(&horizontal_db).1),
        false => turn(&vertical),
    };
    let name = format!("{} {}", header.maker, header.model).trim().to_owned();
    let [low, high] = header.frequency_mhz;
    let middle = low.zip(high).map(|(low, high)| (low + high) / 2.0);
    let frequency_mhz = horizontal.frequency_mhz.or(middle).or(low).or(high);
    let name = Some(name).filter(|name| !name.is_empty());
    Ok(Raw { name, gain_dbi, frequency_mhz, polarization, horizontal_db, vertical_db })
}

/// The cut of a plane.
fn plane<'c>(
    lines: &Lines<'_>,
    cuts: &'c [Cut],
    is_vertical: bool,
) -> Result<&'c Cut, PatternError> {
    let own = || cuts.iter().filter(|cut| cut.is_vertical == is_vertical);
    let Some(cut) = own().find(|cut| cut.is_copolar).or_else(|| own().next()) else {
        let allowed = if is_vertical { "a PATCUT of EL or V" } else { "a PATCUT of AZ or H" };
        return Err(lines.error("content", "none", allowed));
    };
    let count = cut.points.len();
    if count < POINTS_MIN {
        let points = format!("{count} points");
        return Err(lines.error_at(cut.line, "PATCUT", points, "at least 4 points"));
    }
    match cut.count {
        // The example of the standard itself is one short.
        Some((line, stated)) if stated.abs_diff(count) > 1 => {
            let allowed = format!("{count} as there are points");
            Err(lines.error_at(line, "NUPOIN", stated.to_string(), &allowed))
        }
        _ => Ok(cut),
    }
}
