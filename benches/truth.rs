//! Predictions beside measured links: error, rank and share of the links inside the stated 90 % interval, place
//! by place, without and with links measured at the place itself.
//!
//! ```text
//! make truth
//! cargo bench --bench truth -- FOLDER
//! ```
//!
//! `FOLDER` has the surveys as `benches/README.md` lists them; by default it is `shared/data` beside the checkout.
//! No constant was fitted to the place in its row: ground is level, an end in the street stands among
//! buildings of 10 m, gains are those of two dipoles. Power is stated in Lyon alone; a star marks places where it is
//! assumed, 14 dBm and for NB-IoT the figures in `truth/places.rs`: their levels are uncertain by 7 dB.
//! With k local links a calibration is fitted to k links drawn at random, twelve times, and judged on the
//! others. A model that has no value for half of the links of a place has no row there. Where receivers are not
//! calibrated or gains unknown, the spread is that about the median of each receiver, the rank that among the links
//! of each, and levels and intervals are not judged. It prints the table of the README.

#![expect(clippy::print_stdout, reason = "its report is what it is run for")]

#[path = "truth/places.rs"]
mod places;

use std::collections::BTreeMap;
use std::path::PathBuf;

use groundwave_engine::Seed;
use groundwave_model::radio::{
    Calibration, Environment, LinkResult, Model, Prediction, Station, evaluate,
};
use groundwave_model::terrain::Profile;
use groundwave_simulation::measure::calibrate::{Prior, Sample, fit, profile};
use groundwave_simulation::site::NodeId;
use rayon::prelude::*;

use places::{Level, Link, Place, places};

/// Links of a place that are judged, spread evenly over all.
const LINKS_MAX: usize = 400;

/// Minimum links of a receiver whose level is unknown.
const GROUP_MIN: usize = 10;

/// Draws of local links.
const DRAWS: u64 = 12;

/// The prediction of a link over level ground.
fn evaluated(place: &Place, link: &Link, environment: &Environment) -> LinkResult {
    let samples = (link.distance_m / 30.0).ceil().clamp(32.0, 4_096.0) as usize;
    let ground = Profile {
        distance_m: link.distance_m,
        step_m: link.distance_m / (samples - 1) as f64,
        back_azimuth_deg: 180.0,
        lat_deg: vec![49.0; samples],
        lon_deg: vec![16.0; samples],
        elevation_msl_m: vec![0.0; samples],
        ..Profile::default()
    };
    let ends: [&Station; 2] = [&place.transmitter, &place.receiver];
    let result = evaluate(&ground, [0.0; 2], ends[0], ends[1], environment, 20);
    result.expect("a valid link")
}

fn prediction(place: &Place, link: &Link, environment: &Environment) -> Prediction {
    evaluated(place, link, environment).prediction
}

/// `true` if the model of the environment has a value for half of the links of a place or more.
fn is_valid(place: &Place, links: &[Link], environment: &Environment) -> bool {
    let is_own = |link: &&Link| evaluated(place, link, environment).model == environment.model;
    2 * links.iter().filter(is_own).count() >= links.len()
}

/// Errors of predictions at a place.
struct Errors {
    mean_db: f64,
    sigma_db: f64,
    rank: f64,
    inside_percent: f64,
    width_db: f64,
}

fn errors(links: &[Link], predictions: &[Prediction]) -> Errors {
    let count = links.len() as f64;
    let pairs = || links.iter().zip(predictions);
    let errors: Vec<f64> = pairs().map(|(link, p)| link.loss_db - p.path_loss_db).collect();
    let mean_db = errors.iter().sum::<f64>() / count;
    let variance = errors.iter().map(|db| (db - mean_db).powi(2)).sum::<f64>() / count;
    let inside = pairs().filter(|(link, p)| {
        let [low_db, high_db] = p.path_loss_interval_db;
        (low_db..=high_db).contains(&link.loss_db)
    });
    let inside_percent = 100.0 * inside.count() as f64 / count;
    let width = |p: &Prediction| p.path_loss_interval_db[1] - p.path_loss_interval_db[0];
    let measured: Vec<f64> = links.iter().map(|link| link.loss_db).collect();
    let predicted: Vec<f64> = predictions.iter().map(|p| p.path_loss_db).collect();
    Errors {
        mean_db,
        sigma_db: variance.sqrt(),
        rank: rank_correlation(&measured, &predicted),
        inside_percent,
        width_db: predictions.iter().map(width).sum::<f64>() / count,
    }
}

/// Spread about the median of each group and rank within it, both weighted by links; of groups of ten links or more.
fn of_groups(links: &[Link], predictions: &[Prediction]) -> [f64; 2] {
    let mut groups: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (at, link) in links.iter().enumerate() {
        groups.entry(link.group).or_default().push(at);
    }
    let (mut count, mut squares, mut ranks) = (0.0, 0.0, 0.0);
    for members in groups.values().filter(|members| members.len() >= GROUP_MIN) {
        let column = |value: &dyn Fn(usize) -> f64| members.iter().map(|at| value(*at)).collect();
        let measured: Vec<f64> = column(&|at| links[at].loss_db);
        let predicted: Vec<f64> = column(&|at| predictions[at].path_loss_db);
        let mut errors: Vec<f64> = measured.iter().zip(&predicted).map(|(a, b)| a - b).collect();
        errors.sort_by(f64::total_cmp);
        let middle_db = errors[errors.len() / 2];
        squares += errors.iter().map(|db| (db - middle_db).powi(2)).sum::<f64>();
        ranks += members.len() as f64 * rank_correlation(&measured, &predicted);
        count += members.len() as f64;
    }
    [(squares / count).sqrt(), ranks / count]
}

/// Spearman's rank correlation; equal values have the mean of their ranks.
fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let ranks = |values: &[f64]| {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|i, j| values[*i].total_cmp(&values[*j]));
        let mut ranks = vec![0.0; values.len()];
        let mut first = 0;
        for equal in order.chunk_by(|i, j| values[*i] == values[*j]) {
            let mean = first as f64 + (equal.len() as f64 - 1.0) / 2.0;
            equal.iter().for_each(|at| ranks[*at] = mean);
            first += equal.len();
        }
        ranks
    };
    let (a, b) = (ranks(a), ranks(b));
    let middle = (a.len() as f64 - 1.0) / 2.0;
    let sum = |x: &[f64], y: &[f64]| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - middle) * (y - middle)).sum()
    };
    sum(&a, &b) / (sum(&a, &a) * sum(&b, &b)).sqrt()
}

/// A profile fitted to links of a place.
fn calibration(local: &[Link], place: &Place, environment: &Environment) -> Calibration {
    let node = |number: usize| NodeId::named(&format!("node {number}"));
    let sample = |(number, link): (usize, &Link)| {
        let result = evaluated(place, link, environment);
        let (prediction, model_db) = (result.prediction, result.losses.total_path_loss_db);
        Sample {
            way: (node(number), NodeId::named("gateway")),
            place: Default::default(),
            frequency_mhz: place.transmitter.radio.frequency_mhz,
            distance_m: link.distance_m,
            excess_db: Some(link.loss_db - model_db),
            excess_at_most_db: None,
            prior: Prior {
                mean_db: prediction.path_loss_db - model_db,
                place_sigma_db: prediction.place_sigma_db,
                link_sigma_db: prediction.link_sigma_db,
            },
            limit_db: f64::INFINITY,
            sensitivity_dbm: f64::NEG_INFINITY,
            delivery_prob: None,
        }
    };
    let samples: Vec<Sample> = local.iter().enumerate().map(sample).collect();
    profile("local", &fit(&samples))
}

/// Mean share inside the interval, percent, and mean width, dB, with `count` local links.
fn calibrated(place: &Place, links: &[Link], count: usize, environment: &Environment) -> [f64; 2] {
    let draws = (0..DRAWS).into_par_iter().map(|draw| {
        let mut stream = Seed(draw).stream(place.name, u128::from(draw), count as u64);
        let mut order: Vec<usize> = (0..links.len()).collect();
        for at in 0..count {
            let other = at + (stream.unit_prob() * (order.len() - at) as f64) as usize;
            order.swap(at, other);
        }
        let local: Vec<Link> = order[..count].iter().map(|at| links[*at]).collect();
        let profile = calibration(&local, place, environment);
        let environment = Environment { calibration: Some(profile), ..environment.clone() };
        let others: Vec<Link> = order[count..].iter().map(|at| links[*at]).collect();
        let predictions: Vec<_> =
            others.iter().map(|link| prediction(place, link, &environment)).collect();
        let errors = errors(&others, &predictions);
        [errors.inside_percent, errors.width_db]
    });
    let sums = draws.reduce(|| [0.0; 2], |a, b| [a[0] + b[0], a[1] + b[1]]);
    sums.map(|sum| sum / DRAWS as f64)
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with('-'));
    let usual = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data"));
    let folder = arguments.next_back().map_or_else(usual, PathBuf::from);
    let places = places(&folder);
    if places.is_empty() {
        println!("no surveys in {}: nothing is measured", folder.display());
        return;
    }
    println!(
        "| place | links | model | measured less predicted | sigma | rank | inside the 90 % interval | width | k = 1 | k = 3 | k = 10 |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for place in &places {
        let name = match place.level {
            Level::Assumed => format!("{}*", place.name),
            Level::Known | Level::Unknown => place.name.to_owned(),
        };
        let stride = place.links.len().div_ceil(LINKS_MAX).max(1);
        let links: Vec<Link> = place.links.iter().step_by(stride).copied().collect();
        let described = [
            Model::P1812,
            Model::ExtendedHata,
            Model::Itm,
            Model::DeltaBullington,
            Model::FreeSpace,
        ];
        let described = described.map(|model| (model, model.get().label(), place));
        let unknown = place.without_surroundings();
        let unknown = (Model::Itm, "ITM, surroundings unknown", &unknown);
        for (model, label, place) in described.into_iter().chain([unknown]) {
            let environment = Environment { model, ..Environment::default() };
            if !is_valid(place, &links, &environment) {
                continue;
            }
            let predictions: Vec<_> =
                links.par_iter().map(|link| prediction(place, link, &environment)).collect();
            let mut error = errors(&links, &predictions);
            if place.level == Level::Unknown {
                [error.sigma_db, error.rank] = of_groups(&links, &predictions);
                println!(
                    "| {} | {} | {label} | – | {:.1} dB | {:.2} | – | {:.0} dB | – | – | – |",
                    name,
                    links.len(),
                    error.sigma_db,
                    error.rank,
                    error.width_db,
                );
                continue;
            }
            let locally = [1, 3, 10].map(|count| {
                if links.len() < count + 3 {
                    return "–".to_owned();
                }
                let [inside, width_db] = calibrated(place, &links, count, &environment);
                format!("{inside:.0} %, {width_db:.0} dB")
            });
            println!(
                "| {} | {} | {} | {:+.1} dB | {:.1} dB | {:.2} | **{:.0} %** | {:.0} dB | {} |",
                name,
                links.len(),
                label,
                error.mean_db,
                error.sigma_db,
                error.rank,
                error.inside_percent,
                error.width_db,
                locally.join(" | "),
            );
        }
    }
}
