//! MSI/Planet patterns (`.msi`, `.pla`, `.pln`, `.ant`, `.txt`).
//!
//! Keys and values, then `HORIZONTAL n` and `VERTICAL n`, each with `n` lines of an angle and a loss, dB. Angles
//! go clockwise from the boresight, in the vertical cut downwards: 90 is the nadir, 270 the zenith. A gain
//! without a unit is dBd (RF::Antenna::Planet::MSI::Format, Perl, documentation). A `TILT` is part of the
//! vertical cut.

use super::lines::{Line, Lines, frequency_mhz, number, quoted, without_comment, words};
use super::turn::{Point, ends_db, is_ahead, mirrored, turn};
use super::{DIPOLE_DBI, PatternError, Raw, polarization};

/// Fewest points of a cut.
const POINTS_MIN: usize = 4;

/// Sections of a file.
const SECTIONS: &str = "one HORIZONTAL and one VERTICAL";

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
            if !points[cut].is_empty() {
                return Err(lines.error_at(line, "section", "a second one", SECTIONS));
            }
            let own = section_points(lines, (line, text), index)?;
            index += own.len();
            points[cut] = own;
            continue;
        }
        let (key, value) = text.split_once([' ', '\t', ':', '=']).unwrap_or((text, ""));
        let value = value.trim_start_matches([' ', '\t', ':', '=']).trim();
        match key.to_ascii_uppercase().as_str() {
            "NAME" => raw.name = Some(value.to_owned()).filter(|name| !name.is_empty()),
            "FREQUENCY" => raw.frequency_mhz = frequency_mhz(value),
            "POLARIZATION" | "POLARISATION" => raw.polarization = polarization(value),
            "GAIN" => raw.gain_dbi = gain_dbi(lines, line, value)?,
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
    let horizontal_db = turn(&points[0]);
    let [_, vertical] = &points;
    let is_front = is_ahead(vertical) && vertical.iter().any(|(deg, _)| *deg < 0.0);
    raw.vertical_db = match is_front {
        true => mirrored(vertical, ends_db(&horizontal_db).1),
        false => turn(vertical),
    };
    raw.horizontal_db = horizontal_db;
    Ok(raw)
}

/// Number of the cut whose section a line begins: 0 horizontal, 1 vertical.
fn section(line: &str) -> Option<usize> {
    let mut words = words(line);
    let name = words.next()?.trim_end_matches(':').to_ascii_uppercase();
    let cut = ["HORIZONTAL", "VERTICAL"].iter().position(|own| *own == name)?;
    let is_count = words.next().is_none_or(|word| count_of(word).is_some());
    let is_unit = |word: &str| word.to_ascii_lowercase().starts_with("point");
    (is_count && words.next().is_none_or(is_unit) && words.next().is_none()).then_some(cut)
}

/// A whole number, `360` or `360.0`.
fn count_of(word: &str) -> Option<usize> {
    number(word).filter(|count| *count >= 0.0 && count.fract() == 0.0).map(|count| count as usize)
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
        let Some([angle, loss]) = pair(without_remark(text)) else {
            return Err(lines.error_at(*line, "point", quoted(text), "an angle and a loss"));
        };
        points.push((lines.angle_deg(*line, angle)?, lines.level_db(*line, loss)?));
    }
    let count = words(head.1).nth(1).and_then(count_of);
    match count {
        Some(count) if count != points.len() && count + 1 != points.len() => {
            let allowed = format!("{count} points as the line says");
            Err(lines.error_at(head.0, "section", format!("{} points", points.len()), &allowed))
        }
        _ => Ok(points),
    }
}

/// A line without a comment behind `//`, `#` or `!`.
fn without_remark(line: &str) -> &str {
    let line = line.split("//").next().unwrap_or_default();
    without_comment(without_comment(line, '#'), '!')
}

/// The two words of a line; a comma is between them where nothing else is.
fn pair(line: &str) -> Option<[&str; 2]> {
    let mut words = words(line);
    let first = words.next()?;
    let Some(second) = words.next() else {
        let commas: Vec<usize> = first.match_indices(',').map(|(at, _)| at).collect();
        let at = match commas[..] {
            [at] | [_, at, _] => at,
            _ => return None,
        };
        return Some([&first[..at], &first[at + 1..]]);
    };
    words.next().is_none().then_some([first, second])
}

/// Gain, dBi, of the first number: `16.5 dBi`, `14.35 dBd (typ.)`, `dBi 17`, or `14.35`, which is dBd; none without a
/// value.
fn gain_dbi(lines: &Lines<'_>, line: usize, value: &str) -> Result<Option<f64>, PatternError> {
    let is_mark = |letter: char| "\"'()[];".contains(letter);
    let lower = value.to_ascii_lowercase().replace(is_mark, " ");
    let text = lower.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let refused =
        || lines.error_at(line, "gain", quoted(value), "a number, with dBi or dBd behind it");
    let is_part = |letter: char| letter.is_ascii_digit() || "+-.,".contains(letter);
    let (before, rest) = text.split_at(text.find(is_part).ok_or_else(refused)?);
    let end = rest.find(|letter: char| !is_part(letter)).unwrap_or(rest.len());
    let (digits, behind) = rest.split_at(end);
    let gain = number(digits).ok_or_else(refused)?;
    let unit = if behind.trim().is_empty() { before } else { behind }.trim();
    let of_dipole = match (unit.find("dbi"), unit.find("dbd")) {
        (Some(dbi), Some(dbd)) => dbd < dbi,
        (Some(_), None) => false,
        (None, None) if unit.starts_with("db") => return Err(refused()),
        (None, _) => true,
    };
    Ok(Some(if of_dipole { gain + DIPOLE_DBI } else { gain }))
}
