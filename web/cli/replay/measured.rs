//! Measured levels compared with the model.

use groundwave_plot::{FadesPicture, fades_svg};
use groundwave_simulation::history::{History, LevelHistory, LevelsHistory};
use groundwave_simulation::measure::{LinkDirection, Quantity};
use groundwave_text::{Align, Table, signed};
use serde::Serialize;

/// Depth below the median of a faded link, dB.
const FADE_DB: f64 = 15.0;
/// Interval in which fades are counted, s.
const INTERVAL_S: f64 = 1800.0;
/// Intervals of the picture.
const INTERVALS: f64 = 180.0;
/// Most directions in the table: those with the deepest fades.
const DIRECTIONS_MAX: usize = 40;

/// Summary of all measurements.
#[derive(Serialize)]
pub struct Summary {
    directions: usize,
    measurements: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    excess_loss_median_db: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delivery: Option<Delivery>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worst: Option<Worst>,
}

/// Shares that arrived, as routing protocols measured them, beside those of probes by the model.
#[derive(Serialize)]
struct Delivery {
    /// Directions with both.
    directions: usize,
    /// Mean of the medians of the directions, percent.
    measured_percent: f64,
    /// The same of the model.
    model_percent: f64,
    /// Mean distance between both, percentage points.
    apart_percent: f64,
}

impl Delivery {
    fn of(levels: &LevelsHistory) -> Option<Self> {
        let pairs = levels.ways.values().filter_map(shares);
        let (mut directions, mut sums) = (0_usize, [0.0; 3]);
        for (measured, model) in pairs {
            directions += 1;
            for (sum, value) in sums.iter_mut().zip([measured, model, (measured - model).abs()]) {
                *sum += value;
            }
        }
        let [measured_percent, model_percent, apart_percent] =
            sums.map(|sum| sum / directions as f64);
        (directions > 0).then_some(Self {
            directions,
            measured_percent,
            model_percent,
            apart_percent,
        })
    }
}

/// Medians of the measured shares and those of the model, percent.
fn shares(way: &LevelHistory) -> Option<(f64, f64)> {
    way.shares.median_db().zip(way.probed.median_db())
}

/// The half hour with the most faded links.
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
    /// Summary of `levels`; `None` without measurements.
    pub fn of(levels: &LevelsHistory, begin_unix_s: Option<f64>) -> Option<Self> {
        if levels.ways.is_empty() {
            return None;
        }
        let worst = levels.worst(FADE_DB, INTERVAL_S).map(|(at_s, links)| Worst {
            at_s,
            at_unix_s: begin_unix_s.map(|begin| begin + at_s),
            within_s: INTERVAL_S,
            depth_db: FADE_DB,
            links,
        });
        let mut excess: Vec<f64> =
            levels.ways.values().filter_map(|way| way.excess.median_db()).collect();
        excess.sort_by(f64::total_cmp);
        Some(Self {
            directions: levels.ways.len(),
            measurements: levels.ways.values().map(|way| way.count).sum(),
            excess_loss_median_db: excess.get(excess.len() / 2).copied(),
            delivery: Delivery::of(levels),
            worst,
        })
    }

    pub fn text(&self) -> String {
        let (directions, measurements) = (self.directions, self.measurements);
        let mut out = format!("{measurements} measurements of {directions} directions.");
        if let Some(db) = self.excess_loss_median_db {
            out += &format!(" Median excess loss over the model: {} dB.", signed(db));
        }
        if let Some(delivery) = &self.delivery {
            let Delivery { directions, measured_percent, model_percent, apart_percent } = delivery;
            out += &format!(
                " Of probes {measured_percent:.0} % arrived over {directions} directions, {model_percent:.0} % by \
                 the model; {apart_percent:.0} points apart in the mean."
            );
        }
        if let Some(Worst { at_s, at_unix_s, links, .. }) = &self.worst {
            let when = at_unix_s.map_or_else(|| format!("{at_s:.0} s"), utc);
            out += &format!(
                " Most fades: {links} links more than {FADE_DB} dB below their median in the half hour \
                 from {when}."
            );
        }
        out
    }
}

/// Unix time as `YYYY-MM-DD hh:mm UTC`.
fn utc(unix_s: f64) -> String {
    let time = jiff::Timestamp::from_second(unix_s.floor() as i64).unwrap_or_default();
    time.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// Number of faded links over time; `None` without two levels at different times.
pub fn picture(levels: &LevelsHistory) -> Option<String> {
    let times = levels.ways.values().flat_map(|way| way.levels.buckets());
    let (first_s, last_s) = times
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), one| (a.min(one.at_s), b.max(one.at_s)));
    if last_s <= first_s {
        return None;
    }
    let interval_s = ((last_s - first_s) / INTERVALS).max(1.0);
    let count = ((last_s - first_s) / interval_s).ceil() as usize;
    let counts: Vec<(f64, usize)> = (0..count)
        .map(|at| first_s + at as f64 * interval_s)
        .map(|at_s| (at_s, levels.faded(FADE_DB, at_s, at_s + interval_s)))
        .collect();
    Some(fades_svg(&FadesPicture { counts: &counts, interval_s, depth_db: FADE_DB }))
}

/// Directions with the deepest fades.
pub fn table(history: &History) -> Table {
    let mut table = Table::new(&[
        ("from", Align::Left),
        ("to", Align::Left),
        ("measured", Align::Left),
        ("count", Align::Right),
        ("median", Align::Right),
        ("least", Align::Right),
        ("at s", Align::Right),
        ("model", Align::Right),
        ("excess dB", Align::Right),
        ("arrived %", Align::Right),
        ("by the model %", Align::Right),
    ]);
    let mut all: Vec<(&LinkDirection, &LevelHistory)> = history.levels.ways.iter().collect();
    all.sort_by(|(_, a), (_, b)| depth_db(b).total_cmp(&depth_db(a)));
    let cell = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.1}"));
    for ((from, to), way) in all.into_iter().take(DIRECTIONS_MAX) {
        let quantity = match way.quantity {
            Some(Quantity::RxPower) => "power dBm",
            Some(Quantity::PathLoss) => "−path loss dB",
            Some(Quantity::Snr) => "SNR dB",
            None => "–",
        };
        let least = way.levels.minimum();
        let sign = if way.quantity == Some(Quantity::PathLoss) { -1.0 } else { 1.0 };
        table.row([
            history.name(*from),
            history.name(*to),
            quantity.to_owned(),
            way.count.to_string(),
            cell(way.levels.median_db()),
            cell(least.map(|one| one.min_db)),
            least.map_or("–".to_owned(), |one| format!("{:.0}", one.at_s)),
            cell(way.last.map(|last| sign * last.predicted)),
            way.excess.median_db().map_or("–".to_owned(), signed),
            cell(way.shares.median_db()),
            cell(way.probed.median_db()),
        ]);
    }
    table
}

fn depth_db(way: &LevelHistory) -> f64 {
    let least = way.levels.minimum().map(|one| one.min_db);
    way.levels.median_db().zip(least).map_or(0.0, |(median, least)| median - least)
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
