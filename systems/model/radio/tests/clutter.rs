//! Loss of clutter at the ends of links, and what is known where it has none.

use super::super::{
    Basis, Clutter, Environment, LinkResult, Model, Station, Surroundings, Vegetation, Warning,
};
use super::{flat, link, near, station};

const STATISTICAL: Clutter = Clutter::Statistical { below_height_m: 10.0, location_percent: 50.0 };

/// A mast of 30 m and a node of 1.5 m, tuned to `frequency_mhz`.
fn ends(frequency_mhz: f64, surroundings: Surroundings) -> [Station; 2] {
    let mut ends = [30.0, 1.5].map(|height_m| station("lora_868_eu", "omni_2_15", height_m));
    ends.iter_mut().for_each(|end| end.radio.frequency_mhz = frequency_mhz);
    let [mast, node] = ends;
    [mast, Station { surroundings, ..node }]
}

/// A link of 3 km over level ground.
fn over_3_km([tx, rx]: &[Station; 2], env: &Environment) -> LinkResult {
    link(&flat(3_000.0), tx, rx, env)
}

#[test]
fn clutter_beyond_the_frequencies_of_its_model_is_as_unknown_surroundings() {
    let asked = Environment { clutter: Some(STATISTICAL), ..Environment::default() };
    let unknown_at = |frequency_mhz| {
        over_3_km(&ends(frequency_mhz, Surroundings::Unknown), &Environment::default())
    };
    for frequency_mhz in [144.0, 499.0, 67_001.0, 80_000.0] {
        let unknown = unknown_at(frequency_mhz);
        let result = over_3_km(&ends(frequency_mhz, Surroundings::Unknown), &asked);
        assert!(result.warnings.contains(Warning::ClutterOutOfRange), "{frequency_mhz}");
        assert_eq!(result.prediction, unknown.prediction, "{frequency_mhz}");
        assert_eq!(result.losses, unknown.losses, "{frequency_mhz}");
    }
    for surroundings in [Surroundings::Suburban, Surroundings::Urban, Surroundings::DenseUrban] {
        let result = over_3_km(&ends(80_000.0, surroundings), &Environment::default());
        assert_eq!(result.prediction, unknown_at(80_000.0).prediction, "{surroundings:?}");
    }
    let known = over_3_km(&ends(500.0, Surroundings::Unknown), &asked);
    assert_eq!(known.prediction.basis, Basis::Terrain);
    assert!(known.losses.clutter_rx_db > 15.0);
}

#[test]
fn an_end_out_of_range_leaves_the_loss_of_the_other() {
    let [mast, node] = ends(5_500.0, Surroundings::Urban);
    let wood = Station { height_agl_m: 1.5, surroundings: Surroundings::Forest, ..mast.clone() };
    let result = over_3_km(&[wood, node.clone()], &Environment::default());
    let alone = over_3_km(&[mast, node], &Environment::default());
    near(result.losses.clutter_rx_db, alone.losses.clutter_rx_db, 1e-12);
    assert_eq!(result.losses.clutter_tx_db, 0.0);
    assert!(result.warnings.contains(Warning::ClutterOutOfRange));
    assert_eq!(result.prediction.basis, Basis::SurroundingsUnknown);
}

#[test]
fn surroundings_that_the_model_has_along_the_path_are_known() {
    let wood = ends(5_500.0, Surroundings::Forest);
    let by = |model| over_3_km(&wood, &Environment { model, ..Environment::default() });
    let along = by(Model::P1812);
    assert_eq!((along.model, along.prediction.basis), (Model::P1812, Basis::Terrain));
    assert!(!along.warnings.contains(Warning::ClutterOutOfRange));
    assert_eq!(by(Model::Itm).prediction.basis, Basis::SurroundingsUnknown);
    // Too near for P.1812: delta-Bullington has no trees.
    let [tx, rx] = &wood;
    let env = Environment { model: Model::P1812, ..Environment::default() };
    let near_by = link(&flat(200.0), tx, rx, &env);
    assert_eq!(near_by.model, Model::DeltaBullington);
    assert_eq!(near_by.prediction.basis, Basis::SurroundingsUnknown);
    // Trees that nobody described stay unknown under a model with surroundings of its own.
    let undescribed = ends(868.0, Surroundings::Unknown);
    let env = Environment { model: Model::ExtendedHata, ..Environment::default() };
    assert_eq!(over_3_km(&undescribed, &env).prediction.basis, Basis::SurroundingsUnknown);
}

#[test]
fn losses_that_are_known_count_among_unknown_surroundings() {
    let unknown = ends(868.0, Surroundings::Unknown);
    let plain = over_3_km(&unknown, &Environment::default());
    let wood =
        Vegetation { depth_m: 50.0, specific_attenuation_db_m: 0.17, maximum_attenuation_db: 26.5 };
    let other = Environment { other_loss_db: 7.0, ..Environment::default() };
    let woods = Environment { vegetation: Some(wood), ..Environment::default() };
    for env in [other, woods] {
        let result = over_3_km(&unknown, &env);
        let added_db = result.losses.total_path_loss_db - plain.losses.total_path_loss_db;
        assert!(added_db > 6.0);
        near(result.prediction.path_loss_db - plain.prediction.path_loss_db, added_db, 1e-9);
        assert!(result.prediction.link_prob < plain.prediction.link_prob);
    }
    let high = ends(24_000.0, Surroundings::Unknown);
    let dry = over_3_km(&high, &Environment::default());
    let wet = over_3_km(&high, &Environment { rain_rate_mm_h: 20.0, ..Environment::default() });
    let added_db = wet.prediction.path_loss_db - dry.prediction.path_loss_db;
    assert!(wet.losses.rain_loss_db > 3.0);
    near(added_db, wet.losses.rain_loss_db, 1e-9);
}
