//! Radio Mobile patterns (`.ant`): a relative gain in dB a line.
//!
//! 360 lines are the horizontal cut clockwise from the boresight; 180 or 181 more are the vertical one from +90
//! degrees, the zenith, over the boresight to -90; 360 more go on over the back to +91 (Radio Mobile, file formats,
//! `.ant` V1, V2 and V3, <http://radiomobile.pe1mew.nl>). Without a vertical cut the antenna is alike at all
//! elevations.

use super::lines::{Lines, numbers};
use super::turn::{Point, ends_db, mirrored, turn};
use super::{PatternError, Raw};

/// Lines of the horizontal cut.
const TURN: usize = 360;

/// Numbers of lines: without, with half and with all of the vertical cut.
const LINES: [usize; 4] = [360, 540, 541, 720];

/// True for a file of lines of one number, as many as a cut has at least.
pub(super) fn is_radio_mobile(lines: &Lines<'_>) -> bool {
    lines.len() >= TURN && lines.iter().take(TURN).all(|(_, line)| numbers::<1>(line).is_some())
}

/// Reads a file.
pub(super) fn read(lines: &Lines<'_>) -> Result<Raw, PatternError> {
    if !LINES.contains(&lines.len()) {
        let count = format!("{} lines", lines.len());
        return Err(lines.error("content", count, "360, 540, 541 or 720 lines of one number"));
    }
    let mut levels_db = Vec::new();
    for (line, text) in lines.iter() {
        levels_db.push(lines.level_db(line, text)?);
    }
    // Gains, as a rule; losses where no value is below zero.
    let sign = if levels_db.iter().all(|db| *db >= 0.0) { 1.0 } else { -1.0 };
    levels_db.iter_mut().for_each(|db| *db *= sign);
    let (horizontal, vertical) = levels_db.split_at(TURN);
    let horizontal_db = horizontal.to_vec();
    let (ahead_db, behind_db) = ends_db(&horizontal_db);
    // From the zenith down.
    let points: Vec<Point> =
        vertical.iter().enumerate().map(|(index, db)| (index as f64 - 90.0, *db)).collect();
    let vertical_db = match points.len() {
        0 => mirrored(&[(0.0, ahead_db)], behind_db),
        TURN => turn(&points),
        _ => mirrored(&points, behind_db),
    };
    Ok(Raw { horizontal_db, vertical_db, ..Raw::default() })
}
