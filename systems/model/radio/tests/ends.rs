//! No step where a model ends: at its longest distance and at its antenna heights.

use super::super::{Environment, Model, Station, Surroundings, Warning};
use super::{flat, link, station};

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
