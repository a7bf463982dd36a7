//! What was measured, in words and tables.

use groundwave::plot::{FadesPicture, fades_svg};
use groundwave::text::{Align, Table};
use groundwave_systems::Snapshot;
use groundwave_systems::history::{LevelHistory, LevelsHistory};
use groundwave_systems::measure::{Quantity, Way};
use serde::Serialize;

/// How far below its median a link counts as faded, dB.
const FADE_DB: f64 = 15.0;
/// In which stretch fades are counted, s.
const STRETCH_S: f64 = 1800.0;
/// Stretches of the picture.
const STRETCHES: f64 = 180.0;
/// Most directions in a table: those that fell deepest.
const WAYS_MAX: usize = 40;

/// What was measured in all, for `--json`.
#[derive(Serialize)]
pub struct Summary {
    directions: usize,
    measurements: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    excess_loss_median_db: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worst: Option<Worst>,
}

/// The half hour in which most links faded.
#[derive(Serialize)]
struct Worst {
    at_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_unix_s: Option<f64>,
    within_s: f64,
    depth_db: f64,
    links: usize,
}

impl Summary {
    /// `None` where nothing was measured.
    pub fn of(levels: &LevelsHistory, begin_unix_s: Option<f64>) -> Option<Self> {
        if levels.ways.is_empty() {
            return None;
        }
        let worst = levels.worst(FADE_DB, STRETCH_S).map(|(at_s, links)| Worst {
            at_s,
            at_unix_s: begin_unix_s.map(|begin| begin + at_s),
            within_s: STRETCH_S,
            depth_db: FADE_DB,
            links,
        });
        let mut excess: Vec<f64> = levels
            .ways
            .values()
            .filter_map(|way| way.excess.median_db())
            .collect();
        excess.sort_by(f64::total_cmp);
        Some(Self {
            directions: levels.ways.len(),
            measurements: levels.ways.values().map(|way| way.count).sum(),
            excess_loss_median_db: excess.get(excess.len() / 2).copied(),
            worst,
        })
    }

    /// In sentences.
    pub fn words(&self) -> String {
        let (directions, measurements) = (self.directions, self.measurements);
        let mut out = format!("{measurements} measurements of {directions} directions.");
        if let Some(db) = self.excess_loss_median_db {
            out += &format!(" Beside the model half of them lost {db:+.1} dB or more beyond it.");
        }
        if let Some(Worst {
            at_s,
            at_unix_s,
            links,
            ..
        }) = &self.worst
        {
            let when = at_unix_s.map_or_else(|| format!("{at_s:.0} s"), utc);
            out += &format!(
                " At worst {links} links fell more than {FADE_DB} dB below their median within half \
                 an hour, from {when} on."
            );
        }
        out
    }
}

/// A time as people read it.
fn utc(unix_s: f64) -> String {
    let day_s = unix_s.rem_euclid(86_400.0);
    // Days to a date: Howard Hinnant, "chrono-compatible low-level date algorithms".
    let days = (unix_s / 86_400.0).floor() as i64 + 719_468;
    let era = days.div_euclid(146_097);
    let doe = days.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let month_from_march = (5 * doy + 2) / 153;
    let day = doy - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = yoe + era * 400 + i64::from(month <= 2);
    let (hour, minute) = ((day_s / 3600.0) as u32, (day_s % 3600.0 / 60.0) as u32);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

/// How many links were faded over time; `None` where no level was told twice.
pub fn picture(levels: &LevelsHistory) -> Option<String> {
    let times = levels.ways.values().flat_map(|way| way.levels.buckets());
    let (first_s, last_s) = times.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), one| {
        (a.min(one.at_s), b.max(one.at_s))
    });
    if last_s <= first_s {
        return None;
    }
    let stretch_s = ((last_s - first_s) / STRETCHES).max(1.0);
    let count = ((last_s - first_s) / stretch_s).ceil() as usize;
    let counts: Vec<(f64, usize)> = (0..count)
        .map(|at| first_s + at as f64 * stretch_s)
        .map(|at_s| (at_s, levels.faded(FADE_DB, at_s, at_s + stretch_s)))
        .collect();
    Some(fades_svg(&FadesPicture {
        counts: &counts,
        stretch_s,
        depth_db: FADE_DB,
    }))
}

/// The directions that fell deepest below their median.
pub fn table(levels: &LevelsHistory, view: &Snapshot) -> Table {
    let mut table = Table::new(&[
        ("from", Align::Left),
        ("to", Align::Left),
        ("measured", Align::Left),
        ("times", Align::Right),
        ("median", Align::Right),
        ("least", Align::Right),
        ("at s", Align::Right),
        ("model", Align::Right),
        ("beyond it dB", Align::Right),
        ("arrived %", Align::Right),
    ]);
    let mut all: Vec<(&Way, &LevelHistory)> = levels.ways.iter().collect();
    all.sort_by(|(_, a), (_, b)| depth_db(b).total_cmp(&depth_db(a)));
    let name = |id| {
        view.node(id)
            .map_or_else(|| format!("{id}"), |node| node.name.clone())
    };
    let shown = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.1}"));
    for ((from, to), way) in all.into_iter().take(WAYS_MAX) {
        let quantity = match way.quantity {
            Some(Quantity::RxPower) => "power dBm",
            Some(Quantity::PathLoss) => "−path loss dB",
            Some(Quantity::Snr) => "SNR dB",
            None => "–",
        };
        let least = way.levels.least();
        let sign = if way.quantity == Some(Quantity::PathLoss) {
            -1.0
        } else {
            1.0
        };
        table.row([
            name(*from),
            name(*to),
            quantity.to_owned(),
            way.count.to_string(),
            shown(way.levels.median_db()),
            shown(least.map(|one| one.min_db)),
            least.map_or("–".to_owned(), |one| format!("{:.0}", one.at_s)),
            shown(way.last.map(|last| sign * last.predicted)),
            way.excess
                .median_db()
                .map_or("–".to_owned(), |db| format!("{db:+.1}")),
            shown(way.shares.median_db()),
        ]);
    }
    table
}

fn depth_db(way: &LevelHistory) -> f64 {
    let least = way.levels.least().map(|one| one.min_db);
    way.levels
        .median_db()
        .zip(least)
        .map_or(0.0, |(median, least)| median - least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_by_people() {
        assert_eq!(utc(1_660_812_480.0), "2022-08-18 08:48 UTC");
        assert_eq!(utc(0.0), "1970-01-01 00:00 UTC");
        assert_eq!(utc(951_782_400.0), "2000-02-29 00:00 UTC");
        assert_eq!(utc(1_735_689_599.0), "2024-12-31 23:59 UTC");
    }
}
