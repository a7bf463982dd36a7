//! No step where a model ends: at its longest distance and at its antenna heights.

use super::super::{Basis, Environment, LinkResult, Model, Station, Surroundings, Warning};
use super::{at_1800_mhz, flat, link, near, ridge, station};

fn loss_db(model: Model, distance_m: f64, heights_m: [f64; 2]) -> (f64, bool) {
    let [tx, rx] = heights_m.map(|height_m| Station {
        surroundings: Surroundings::Open,
        ..station("lora_868_eu", "omni_2_15", height_m)
    });
    let environment = Environment { model, ..Environment::default() };
    let result = link(&flat(distance_m), &tx, &rx, &environment);
    (result.losses.total_path_loss_db, result.warnings.contains(Warning::ModelsBlended))
}

#[test]
fn the_far_end_of_a_model_has_no_step() {
    for (model, longest_m, heights_m) in
        [(Model::ExtendedHata, 100e3, [100.0, 1.5]), (Model::P528, 1_800e3, [1_000.0, 12_000.0])]
    {
        let at = |distance_m| loss_db(model, distance_m, heights_m);
        let (before_db, is_blended) = at(longest_m * (1.0 - 1e-6));
        let (beyond_db, _) = at(longest_m * (1.0 + 1e-6));
        assert!(is_blended, "{model}");
        assert!((beyond_db - before_db).abs() < 0.1, "{model}: {before_db} {beyond_db}");
        let (_, is_blended) = at(longest_m * 0.95);
        assert!(!is_blended, "{model}");
    }
}

/// A mast and a meter in a city at 1.8 GHz, and hills that the fallback model finds higher than roofs.
#[test]
fn loss_beyond_the_longest_distance_of_a_model_is_not_below_that_at_it() {
    let mast = at_1800_mhz(50.0, Surroundings::Open);
    let meter = at_1800_mhz(1.5, Surroundings::Urban);
    // Over 100 km the diffraction of the Earth takes over.
    for (model, longest_km, rise_db_max) in
        [(Model::Cost231Hata, 20.0, 0.5), (Model::ExtendedHata, 100.0, 10.0)]
    {
        let environment = Environment { model, ..Environment::default() };
        let mut before: Option<LinkResult> = None;
        for step in 0..80 {
            let distance_m = longest_km * 1e3 * (0.9 + 0.005 * f64::from(step));
            let result = link(&flat(distance_m), &mast, &meter, &environment);
            if let Some(before) = &before {
                let rise_db = result.losses.total_path_loss_db - before.losses.total_path_loss_db;
                assert!((0.0..rise_db_max).contains(&rise_db), "{model} {distance_m}: {rise_db}");
                let rise_db = result.prediction.path_loss_db - before.prediction.path_loss_db;
                assert!((0.0..rise_db_max).contains(&rise_db), "{model} {distance_m}: {rise_db}");
                assert!(result.prediction.link_prob <= before.prediction.link_prob);
            }
            let is_beyond = distance_m > longest_km * 1e3;
            assert_eq!(result.model == Model::DeltaBullington, is_beyond);
            assert_eq!(result.warnings.contains(Warning::ModelOutOfRange), is_beyond);
            near(result.losses.sum_db(), result.losses.total_path_loss_db, 1e-9);
            before = Some(result);
        }
        // A ridge costs more than the model has: the fallback model counts alone.
        let ridge = ridge(1.1 * longest_km * 1e3, 4_000.0);
        let [own, fallback] = [model, Model::DeltaBullington].map(|model| {
            link(&ridge, &mast, &meter, &Environment { model, ..environment.clone() })
        });
        assert_eq!(own.losses, fallback.losses);
    }
}

#[test]
fn the_minimum_height_of_a_model_has_no_step() {
    for (model, heights_m) in [
        (Model::P528, [1_000.0, 1.5]),
        (Model::P528, [1_000.0, 0.75]),
        (Model::P1812, [30.0, 1.0]),
        (Model::P1812, [30.0, 0.5]),
        (Model::ExtendedHata, [10.0, 1.5]),
        (Model::ExtendedHata, [5.0, 1.5]),
    ] {
        let nearer = |factor: f64| {
            // The base station of Hata is the higher one.
            let end = usize::from(model != Model::ExtendedHata);
            let mut heights_m = heights_m;
            heights_m[end] *= factor;
            loss_db(model, 8_000.0, heights_m).0
        };
        let [below_db, above_db] = [1.0 - 1e-5, 1.0 + 1e-5].map(nearer);
        assert!((below_db - above_db).abs() < 0.05, "{model} {heights_m:?}: {below_db} {above_db}");
    }
}

/// COST 231-Hata and extended Hata where antennas below their minimum height change rank: each is the mobile in part.
#[test]
fn antennas_that_change_rank_give_a_link_loss_without_a_step() {
    for (model, other_m) in [
        (Model::Cost231Hata, 7.0),
        (Model::Cost231Hata, 10.0),
        (Model::Cost231Hata, 30.0),
        (Model::ExtendedHata, 7.0),
        (Model::ExtendedHata, 30.0),
    ] {
        let links = |height_m: f64| {
            let [a, b] = [(height_m, Surroundings::Suburban), (other_m, Surroundings::Urban)]
                .map(|(height_m, around)| at_1800_mhz(height_m, around));
            let environment = Environment { model, ..Environment::default() };
            let ground = flat(8_000.0);
            [link(&ground, &a, &b, &environment), link(&ground, &b, &a, &environment)]
                .map(|link| link.losses.total_path_loss_db)
        };
        for factor in [1.0 / 1.2, 0.9, 1.0, 1.1, 1.2] {
            let [below_db, above_db] =
                [1.0 - 1e-5, 1.0 + 1e-5].map(|nearer| links(other_m * factor * nearer));
            near(below_db[0], above_db[0], 0.05);
            near(below_db[0], below_db[1], 1e-9);
        }
        let [there_db, back_db] = links(other_m);
        near(there_db, back_db, 1e-9);
    }
}

/// An antenna that reaches the tops of its surroundings: the model has their loss on both sides, and as little is sure.
#[test]
fn antenna_at_the_tops_of_its_surroundings_gives_a_probability_without_a_step() {
    let mast = at_1800_mhz(50.0, Surroundings::Open);
    for model in [Model::Cost231Hata, Model::ExtendedHata] {
        let environment = Environment { model, ..Environment::default() };
        let [below, above] = [9.999, 10.0].map(|height_m| {
            let end = at_1800_mhz(height_m, Surroundings::Urban);
            link(&flat(15_000.0), &mast, &end, &environment)
        });
        assert!(above.clearance.is_clear() && above.losses.excess_loss_db > 20.0, "{model}");
        assert_eq!(above.prediction.basis, Basis::Terrain);
        near(below.prediction.sigma_db(), above.prediction.sigma_db(), 0.01);
        near(below.prediction.link_prob, above.prediction.link_prob, 1e-3);
    }
}
