//! SPLAT! patterns: `.az` and `.el` (SPLAT! 1.4.2, documentation, "Antenna pattern files").
//!
//! Azimuth: a line with the rotation clockwise from true north, then an azimuth and a field ratio a line, [0, 1].
//! Elevation: a line with the mechanical tilt downwards and its azimuth, then an angle below the horizon, [-90,
//! 90], and a field ratio a line; what is above the first angle and below the last has their ratio. SPLAT! multiplies
//! both, and so does the pattern made of them. Its 0 degrees are north: a station points it at azimuth 0. A beam
//! elsewhere has the mechanical tilt in its own direction.

use groundwave_propagation::numeric::log10;

use super::lines::{Lines, numbers, quoted, without_comment, words};
use super::turn::{Point, ends_db, mirrored, turn};
use super::{PatternError, Raw};

/// Minimum field ratio: half of the last digit of files with three.
const RATIO_MIN: f64 = 0.000_5;

/// Fewest points of a file.
const POINTS_MIN: usize = 2;

/// The cut of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Azimuth,
    Elevation,
}

impl Kind {
    /// Ending of the file of the other cut.
    pub fn other_ending(self) -> &'static str {
        match self {
            Self::Azimuth => "el",
            Self::Elevation => "az",
        }
    }

    /// Content of the file of the other cut.
    pub fn other_content(self) -> &'static str {
        match self {
            Self::Azimuth => {
                "an elevation pattern of SPLAT!: tilt and its azimuth, then angle and field ratio"
            }
            Self::Elevation => {
                "an azimuth pattern of SPLAT!: rotation, then azimuth and field ratio"
            }
        }
    }
}

/// The cut of a file: its first line has one number or two, the second has two, the second of them a ratio.
pub(super) fn kind(lines: &Lines<'_>) -> Option<Kind> {
    let head = lines.from(0);
    let first = without_comment(head.first()?.1, ';');
    let [_, ratio] = numbers::<2>(without_comment(head.get(1)?.1, ';'))?;
    if !(0.0..=1.0).contains(&ratio) {
        return None;
    }
    match (numbers::<1>(first), numbers::<2>(first)) {
        (Some(_), _) => Some(Kind::Azimuth),
        (_, Some(_)) => Some(Kind::Elevation),
        _ => None,
    }
}

/// Reads one file or both.
pub(super) fn read(
    kind: Kind,
    lines: &Lines<'_>,
    other: Option<&Lines<'_>>,
) -> Result<Raw, PatternError> {
    let (azimuth, elevation) = match kind {
        Kind::Azimuth => (Some(lines), other),
        Kind::Elevation => (other, Some(lines)),
    };
    let horizontal_db = match azimuth {
        Some(lines) => azimuth_cut(lines)?,
        None => vec![0.0; 36],
    };
    let vertical_db = match elevation {
        Some(lines) => elevation_cut(lines, &horizontal_db)?,
        None => {
            let (ahead_db, behind_db) = ends_db(&horizontal_db);
            mirrored(&[(0.0, ahead_db)], behind_db)
        }
    };
    Ok(Raw { horizontal_db, vertical_db, ..Raw::default() })
}

fn azimuth_cut(lines: &Lines<'_>) -> Result<Vec<f64>, PatternError> {
    let (line, text) = lines.first().unwrap_or_default();
    let rotation_deg = lines.angle_deg(line, without_comment(text, ';'))?;
    let points = points(lines)?;
    let turned: Vec<Point> =
        points.into_iter().map(|(deg, db)| ((deg + rotation_deg) % 360.0, db)).collect();
    Ok(turn(&turned))
}

fn elevation_cut(lines: &Lines<'_>, horizontal_db: &[f64]) -> Result<Vec<f64>, PatternError> {
    let (line, text) = lines.first().unwrap_or_default();
    let head: Vec<&str> = words(without_comment(text, ';')).collect();
    let [tilt, azimuth] = head[..] else {
        return Err(lines.error_at(line, "tilt", quoted(text), "a tilt and its azimuth, degrees"));
    };
    let tilt_deg = lines.angle_deg(line, tilt)?;
    if tilt_deg.abs() > 90.0 {
        return Err(lines.error_at(line, "tilt", quoted(tilt), "-90 to 90 degrees"));
    }
    let azimuth_deg = lines.angle_deg(line, azimuth)?;
    let (ahead_db, behind_db) = ends_db(horizontal_db);
    let mut points = points(lines)?;
    for (deg, db) in &mut points {
        if deg.abs() > 90.0 {
            let allowed = "-90 to 90 degrees below the horizon";
            return Err(lines.error("elevation", deg.to_string(), allowed));
        }
        *db += ahead_db;
    }
    let beam_deg = peak_deg(horizontal_db);
    if tilt_deg != 0.0 && beam_deg != 0.0 {
        // The plane of the cut is the one through north, and the beam elsewhere: its own tilt, all around.
        let beam_tilt_deg = tilt_deg * cos_deg(azimuth_deg - beam_deg);
        points.iter_mut().for_each(|(deg, _)| *deg += beam_tilt_deg);
    }
    let level_db = mirrored(&points, behind_db);
    if tilt_deg == 0.0 || beam_deg != 0.0 {
        return Ok(level_db);
    }
    // As much of the tilt as lies in the plane of the cut: down on one side, up on the other.
    let share = cos_deg(azimuth_deg);
    let count = level_db.len() as f64;
    let tilted: Vec<Point> = level_db
        .iter()
        .enumerate()
        .map(|(index, db)| (index as f64 * 360.0 / count + tilt_deg * share, *db))
        .collect();
    Ok(turn(&tilted))
}

/// Angle of the sample with the least loss, the nearest to 0 of those alike, deg, (-180, 180].
fn peak_deg(horizontal_db: &[f64]) -> f64 {
    let step_deg = 360.0 / horizontal_db.len() as f64;
    let signed_deg = |index: usize| {
        let angle_deg = index as f64 * step_deg;
        if angle_deg > 180.0 { angle_deg - 360.0 } else { angle_deg }
    };
    let nearer = |a: &usize, b: &usize| {
        let by_loss = horizontal_db[*a].total_cmp(&horizontal_db[*b]);
        by_loss.then(signed_deg(*a).abs().total_cmp(&signed_deg(*b).abs()))
    };
    signed_deg((0..horizontal_db.len()).min_by(nearer).unwrap_or(0))
}

/// Cosine of an angle in degrees, the same on every machine.
fn cos_deg(angle_deg: f64) -> f64 {
    groundwave_propagation::numeric::sin_cos(angle_deg.to_radians()).1
}

/// Angles and losses of the lines behind the first.
fn points(lines: &Lines<'_>) -> Result<Vec<Point>, PatternError> {
    let mut points = Vec::new();
    for (line, text) in lines.from(1) {
        let own: Vec<&str> = words(without_comment(text, ';')).collect();
        let [angle, ratio] = own[..] else {
            let allowed = "an angle and a field ratio";
            return Err(lines.error_at(*line, "point", quoted(text), allowed));
        };
        let value = super::lines::number(ratio).filter(|ratio| (0.0..=1.0).contains(ratio));
        let Some(value) = value else {
            return Err(lines.error_at(*line, "field ratio", quoted(ratio), "0 to 1"));
        };
        let loss_db = -20.0 * log10(value.max(RATIO_MIN));
        points.push((lines.angle_deg(*line, angle)?, loss_db.max(0.0)));
    }
    if points.len() < POINTS_MIN {
        let count = format!("{} points", points.len());
        return Err(lines.error("content", count, "at least 2 points"));
    }
    Ok(points)
}
