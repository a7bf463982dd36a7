//! Loss of clutter at the ends of links, and what is known where it has none.

use groundwave_propagation::clutter::{slant_clutter_loss_db, terrestrial_clutter_loss_db};

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
    let environment = Environment { clutter: Some(STATISTICAL), ..Environment::default() };
    let unknown_at = |frequency_mhz| {
        over_3_km(&ends(frequency_mhz, Surroundings::Unknown), &Environment::default())
    };
    for frequency_mhz in [144.0, 499.0, 67_001.0, 80_000.0] {
        let unknown = unknown_at(frequency_mhz);
        let result = over_3_km(&ends(frequency_mhz, Surroundings::Unknown), &environment);
        assert!(result.warnings.contains(Warning::ClutterOutOfRange), "{frequency_mhz}");
        assert_eq!(result.prediction, unknown.prediction, "{frequency_mhz}");
        assert_eq!(result.losses, unknown.losses, "{frequency_mhz}");
    }
    for surroundings in [Surroundings::Suburban, Surroundings::Urban, Surroundings::DenseUrban] {
        let result = over_3_km(&ends(80_000.0, surroundings), &Environment::default());
        assert_eq!(result.prediction, unknown_at(80_000.0).prediction, "{surroundings:?}");
    }
    let computed = over_3_km(&ends(500.0, Surroundings::Unknown), &environment);
    assert_eq!(computed.prediction.basis, Basis::Terrain);
    assert!(computed.losses.clutter_rx_db > 15.0);
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

/// Nodes of a mesh in a suburb, 4 m and `height_agl_m` above ground, over level ground by free space.
fn mesh_loss_db(frequency_mhz: f64, height_agl_m: f64, distance_m: f64) -> f64 {
    let is_statistical = frequency_mhz == 2_400.0;
    let node = |height_agl_m| {
        let mut node = station("wifi_2g4_mesh", "omni_5", height_agl_m);
        node.radio.frequency_mhz = frequency_mhz;
        let surroundings =
            if is_statistical { Surroundings::Unknown } else { Surroundings::Suburban };
        Station { surroundings, ..node }
    };
    let clutter = is_statistical.then_some(STATISTICAL);
    let env = Environment { model: Model::FreeSpace, clutter, ..Environment::default() };
    let losses = link(&flat(distance_m), &node(4.0), &node(height_agl_m), &env).losses;
    losses.clutter_tx_db + losses.clutter_rx_db
}

#[test]
fn neighbouring_distances_and_heights_have_neighbouring_losses_of_clutter() {
    for frequency_mhz in [868.0, 2_400.0, 2_440.0, 5_500.0, 60_000.0] {
        for height_agl_m in [1.5, 4.0, 8.0, 9.9] {
            let mut last_db = 0.0;
            let mut distance_m = 1.0;
            while distance_m < 20e3 {
                let loss_db = mesh_loss_db(frequency_mhz, height_agl_m, distance_m);
                let step_db = loss_db - last_db;
                assert!(
                    (-1e-9..1.0).contains(&step_db),
                    "{frequency_mhz} MHz, {height_agl_m} m, {distance_m:.0} m: {step_db:.2} dB"
                );
                last_db = loss_db;
                distance_m *= 1.01;
            }
            assert!(last_db > 15.0, "{frequency_mhz} {height_agl_m}: {last_db}");
        }
        for distance_m in [240.0, 260.0, 990.0, 1_010.0, 5e3] {
            let at = |step: u32| mesh_loss_db(frequency_mhz, f64::from(step) * 0.1, distance_m);
            for step in 10..120 {
                let step_db = at(step) - at(step + 1);
                assert!(
                    (-1e-9..1.0).contains(&step_db),
                    "{frequency_mhz} MHz, {distance_m} m, {step}: {step_db:.2} dB"
                );
            }
        }
    }
    // Two nodes at 20 m see each other.
    assert!(mesh_loss_db(868.0, 1.5, 20.0) < 4.0 && mesh_loss_db(5_500.0, 1.5, 20.0) < 4.0);
    // Values of the Recommendation where it has them.
    let [one, both] = [250.0, 1_000.0].map(|distance_m| mesh_loss_db(5_500.0, 1.5, distance_m));
    let of = |km| terrestrial_clutter_loss_db(5.5, km, 50.0).unwrap();
    near(one, of(0.25), 1e-9);
    near(both, 2.0 * of(1.0), 1e-9);
}

#[test]
fn clutter_nearer_than_its_model_is_known_in_part() {
    let [mast, node] = ends(5_500.0, Surroundings::Urban);
    let at = |distance_m| link(&flat(distance_m), &mast, &node, &Environment::default()).prediction;
    let [near_by, half, whole] = [1.0, 125.0, 250.0].map(at);
    assert_eq!((half.basis, whole.basis), (Basis::SurroundingsUnknown, Basis::Terrain));
    near(near_by.sigma_db(), 331.25_f64.sqrt(), 0.1);
    assert!(whole.sigma_db() < half.sigma_db() && half.sigma_db() < near_by.sigma_db());
    near(at(249.999).sigma_db(), whole.sigma_db(), 1e-3);
}

#[test]
fn rays_from_above_have_the_clutter_loss_of_their_elevation() {
    let clutter_db = |frequency_mhz: f64, height_agl_m: f64, percent: f64| {
        let [mast, street] = ends(frequency_mhz, Surroundings::Unknown);
        let high = Station { height_agl_m, ..mast };
        let clutter = Clutter::Statistical { below_height_m: 10.0, location_percent: percent };
        let env = Environment { clutter: Some(clutter), ..Environment::default() };
        let result = link(&flat(2_000.0), &high, &street, &env);
        let up_deg = result.geometry.rx_elevation_angle_deg;
        let is_out = result.warnings.contains(Warning::ClutterOutOfRange);
        (result.losses.clutter_rx_db, up_deg, is_out)
    };
    // 5 km up at 2 km.
    let (loss_db, up_deg, is_out) = clutter_db(28_000.0, 5_000.0, 50.0);
    near(loss_db, slant_clutter_loss_db(28.0, up_deg, 50.0).unwrap(), 1e-9);
    assert!(up_deg > 60.0 && loss_db < 1.5 && !is_out, "{loss_db}");
    let (loss_db, up_deg, is_out) = clutter_db(5_500.0, 5_000.0, 50.0);
    near(loss_db, slant_clutter_loss_db(10.0, up_deg, 50.0).unwrap(), 1e-9);
    assert!(is_out);
    assert!(clutter_db(5_500.0, 5_000.0, 90.0).0 > loss_db);
    // A mast over a town has that of level paths.
    let (loss_db, _, is_out) = clutter_db(5_500.0, 40.0, 50.0);
    near(loss_db, terrestrial_clutter_loss_db(5.5, 2.0, 50.0).unwrap(), 1e-9);
    assert!(!is_out);
    for frequency_mhz in [2_440.0, 10_000.0, 60_000.0] {
        let heights_m = (0..600).map(|step| 12.0 * 1.01_f64.powi(step));
        let losses_db: Vec<f64> =
            heights_m.map(|height_m| clutter_db(frequency_mhz, height_m, 50.0).0).collect();
        for pair in losses_db.windows(2) {
            assert!((-1e-9..1.0).contains(&(pair[0] - pair[1])), "{frequency_mhz}: {pair:?}");
        }
    }
}

#[test]
fn a_metre_of_woodland_takes_no_surroundings_away() {
    let at = |surroundings, depth_m: f64| {
        let [mast, node] = ends(868.0, surroundings);
        over_3_km(&[mast, Station { woodland_depth_m: depth_m, ..node }], &Environment::default())
    };
    for surroundings in [
        Surroundings::Unknown,
        Surroundings::Open,
        Surroundings::Suburban,
        Surroundings::Urban,
        Surroundings::DenseUrban,
    ] {
        let [bare, thin, deep] = [0.0, 0.01, 100.0].map(|depth_m| at(surroundings, depth_m));
        let added_db = thin.prediction.path_loss_db - bare.prediction.path_loss_db;
        assert!((0.0..0.01).contains(&added_db), "{surroundings:?} {added_db}");
        assert_eq!(thin.losses.clutter_rx_db, bare.losses.clutter_rx_db, "{surroundings:?}");
        assert_eq!(thin.prediction.basis, bare.prediction.basis, "{surroundings:?}");
        assert!(thin.prediction.link_prob <= bare.prediction.link_prob, "{surroundings:?}");
        assert!(deep.losses.vegetation_db > 10.0);
        let added_db = deep.prediction.path_loss_db - bare.prediction.path_loss_db;
        match surroundings {
            // 32 dB are the larger.
            Surroundings::Unknown => near(added_db, 0.0, 1e-9),
            _ => near(added_db, deep.losses.vegetation_db, 1e-9),
        }
    }
    let town = Environment { clutter: Some(STATISTICAL), ..Environment::default() };
    let [mast, node] = ends(868.0, Surroundings::Unknown);
    let node = Station { woodland_depth_m: 0.01, ..node };
    assert!(over_3_km(&[mast, node], &town).losses.clutter_rx_db > 15.0);
}
