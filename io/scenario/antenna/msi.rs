//! MSI/Planet patterns (`.msi`, `.pla`, `.pln`, `.ant`, `.txt`).
//!
//! Keys and values, then `HORIZONTAL n` and `VERTICAL n`, each with `n` lines of an angle and a loss, dB. Angles
//! go clockwise from the boresight, in the vertical cut downwards: 90 is the nadir, 270 the zenith. A gain
//! without a unit is dBd (RF::Antenna::Planet::MSI::Format, Perl, documentation). A `TILT` is part of the
//! vertical cut.

use super::lines::{Line, Lines, number, numbers, quoted, words};
use super::turn::{Point, turn};
use super::{DIPOLE_DBI, PatternError, Raw, polarization};

/// Fewest points of a cut.
const POINTS_MIN: usize = 4;

/// Gain beyond the stated one that a cut of losses may have, dB: rounding of makers. More is a wrong sign.
const OVERSHOOT_DB: f64 = 1.0;

/// True for a file with a section of points.
pub(super) fn is_msi(lines: &Lines<'_>) -> bool {
    lines.iter().any(|(_, line)| section(line).is_some())
}

/// Reads a file.
pub(super) fn read(lines: &Lines<'_>) -> Result<Raw, PatternError> {
    let mut raw = Raw::default();
    let mut points: [Vec<Point>; 2] = [Vec::new(), Vec::new()];
    let mut index = 0;
    while let Some((line, text)) = lines.from(index).first().copied() {
        index += 1;
        if let Some(cut) = section(text) {
            let own = section_points(lines, (line, text), index)?;
            index += own.len();
            points[cut] = own;
            continue;
        }
        let (key, value) = text.split_once([' ', '\t', ':', '=']).unwrap_or((text, ""));
        let value = value.trim();
        match key.to_ascii_uppercase().as_str() {
            "NAME" => raw.name = Some(value.to_owned()).filter(|name| !name.is_empty()),
            "FREQUENCY" => raw.frequency_mhz = frequency_mhz(value),
            "POLARIZATION" | "POLARISATION" => raw.polarization = polarization(value),
            "GAIN" => raw.gain_dbi = Some(gain_dbi(lines, line, value)?),
            _ => {}
        }
    }
    for (cut, name) in ["HORIZONTAL", "VERTICAL"].into_iter().enumerate() {
        let count = points[cut].len();
        if count < POINTS_MIN {
            let what = format!("section {name}");
            return Err(lines.error(&what, format!("{count} points"), "at least 4 points"));
        }
    }
    // A minus sign before all losses is that of relative gains.
    let is_gain = points.iter().flatten().all(|(_, db)| *db <= 0.0);
    let minimum_db = points.iter().flatten().map(|(_, db)| *db).fold(0.0, f64::min);
    if !is_gain && minimum_db < -OVERSHOOT_DB {
        let what = format!("{minimum_db} dB beside losses above 0 dB");
        return Err(lines.error("loss", what, "losses of one sign"));
    }
    if is_gain {
        points.iter_mut().flatten().for_each(|(_, db)| *db = -*db);
    }
    (raw.horizontal_db, raw.vertical_db) = (turn(&points[0]), turn(&points[1]));
    Ok(raw)
}

/// Number of the cut whose section a line begins: 0 horizontal, 1 vertical.
fn section(line: &str) -> Option<usize> {
    let mut words = words(line);
    let name = words.next()?.trim_end_matches(':').to_ascii_uppercase();
    let cut = ["HORIZONTAL", "VERTICAL"].iter().position(|own| *own == name)?;
    let is_count = words.next().is_none_or(|word| word.parse::<usize>().is_ok());
    (is_count && words.next().is_none()).then_some(cut)
}

/// Points of the section that begins on `head`, from the line at `index` on.
fn section_points(
    lines: &Lines<'_>,
    head: Line<'_>,
    index: usize,
) -> Result<Vec<Point>, PatternError> {
    let mut points = Vec::new();
    for (line, text) in lines.from(index) {
        if text.starts_with(|first: char| first.is_alphabetic()) {
            break;
        }
        let Some([angle, loss]) = pair(text) else {
            return Err(lines.error_at(*line, "point", quoted(text), "an angle and a loss"));
        };
        points.push((lines.angle_deg(*line, angle)?, lines.level_db(*line, loss)?));
    }
    let count = words(head.1).nth(1).and_then(|word| word.parse::<usize>().ok());
    match count {
        Some(count) if count != points.len() && count + 1 != points.len() => {
            let allowed = format!("{count} points as the line says");
            Err(lines.error_at(head.0, "section", format!("{} points", points.len()), &allowed))
        }
        _ => Ok(points),
    }
}

/// The two words of a line.
fn pair(line: &str) -> Option<[&str; 2]> {
    let mut words = words(line);
    let pair = [words.next()?, words.next()?];
    words.next().is_none().then_some(pair)
}

/// Gain, dBi: `16.5 dBi`, `14.35 dBd` or `14.35`, which is dBd.
fn gain_dbi(lines: &Lines<'_>, line: usize, value: &str) -> Result<f64, PatternError> {
    let lower = value.to_ascii_lowercase();
    let (text, above_dbi) = match lower.strip_suffix("dbi") {
        Some(text) => (text, 0.0),
        None => (lower.strip_suffix("dbd").unwrap_or(&lower), DIPOLE_DBI),
    };
    let gain = number(text).ok_or_else(|| {
        lines.error_at(line, "gain", quoted(value), "a number, with dBi or dBd behind it")
    })?;
    Ok(gain + above_dbi)
}

/// Frequency, MHz, of `1900`, `1900 MHz` or `1.9 GHz`; another text has none.
fn frequency_mhz(value: &str) -> Option<f64> {
    let lower = value.to_ascii_lowercase();
    let (text, factor) = match lower.strip_suffix("ghz") {
        Some(text) => (text, 1e3),
        None => (lower.strip_suffix("mhz").unwrap_or(&lower), 1.0),
    };
    numbers::<1>(text).map(|[value]| value * factor)
}
