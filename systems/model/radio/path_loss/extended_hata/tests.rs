use groundwave_propagation::polarization::Polarization;
use groundwave_propagation::profile::PathClutter;

use super::super::Model;
use super::*;
use crate::radio::{Environment, Surroundings};

fn direction(frequency_mhz: f64, antenna_agl_m: [f64; 2], around: Surroundings) -> Direction {
    let values = Environment::default().setting_values();
    Direction::new(frequency_mhz, Polarization::Vertical, antenna_agl_m, values)
        .with_surroundings([around; 2])
}

fn prepared(antenna_agl_m: [f64; 2]) -> Box<dyn PreparedModel> {
    let direction = direction(868.0, antenna_agl_m, Surroundings::Suburban);
    Model::ExtendedHata.get().prepare(&direction).unwrap()
}

/// Hills over 12 km that rise towards the receiver.
fn hills() -> Vec<f64> {
    (0..=120).map(|i| f64::from(i) + 20.0 * (f64::from(i) * 0.3).sin()).collect()
}

#[test]
fn both_directions_have_one_loss() {
    let ground = hills();
    let back: Vec<f64> = ground.iter().rev().copied().collect();
    for [low_m, high_m] in [[2.0, 40.0], [20.0, 20.0], [9.0, 10.0], [29.0, 31.0], [25.0, 30.0]] {
        let there = prepared([low_m, high_m]).attenuation(&PathProfile::bare(100.0, &ground));
        let return_path = PathProfile::bare(100.0, &back);
        assert_eq!(there, prepared([high_m, low_m]).attenuation(&return_path));
        assert!(there.unwrap().total_db() > 20.0);
    }
}

/// Antennas that change rank among surroundings that differ: 18 dB apart by the two roles.
#[test]
fn antennas_of_about_one_height_give_a_loss_without_a_step() {
    let ground = [0.0; 121];
    let total_db = |tx_agl_m: f64| {
        let direction = direction(868.0, [tx_agl_m, 30.0], Surroundings::Open)
            .with_surroundings([Surroundings::Open, Surroundings::Suburban]);
        let model = Model::ExtendedHata.get().prepare(&direction).unwrap();
        model.attenuation(&PathProfile::bare(100.0, &ground)).unwrap().total_db()
    };
    let [lower_db, higher_db] = [24.0, 37.0].map(total_db);
    assert!(higher_db - lower_db > 15.0, "{lower_db} {higher_db}");
    for step in 0..200 {
        let height_m = 24.0 + 0.07 * f64::from(step);
        let [low_db, high_db] = [height_m, height_m + 0.07].map(total_db);
        assert!((low_db - high_db).abs() < 0.6, "{height_m}: {low_db} {high_db}");
    }
}

#[test]
fn heights_beyond_the_limits_give_a_warning_and_far_beyond_none_at_all() {
    let ground = [0.0; 51];
    let profile = PathProfile::bare(100.0, &ground);
    let at = |heights_m| prepared(heights_m).attenuation(&profile).unwrap();
    for (heights_m, is_limited) in
        [([30.0, 1.0], false), ([200.0, 10.0], false), ([15.0, 1.5], true), ([40.0, 12.0], true)]
    {
        let warned = at(heights_m).warnings.contains(Warning::HataAntennaHeight);
        assert_eq!(warned, is_limited, "{heights_m:?}");
    }
    let [low_db, limit_db] = [15.0, 30.0].map(|base_m| at([base_m, 2.0]).total_db());
    assert!((low_db - limit_db).abs() < 1e-3, "{low_db} {limit_db}");
    for (mhz, heights_m) in
        [(868.0, [9.0, 2.0]), (868.0, [1_001.0, 2.0]), (149.0, [30.0, 2.0]), (3_701.0, [30.0, 2.0])]
    {
        let direction = direction(mhz, heights_m, Surroundings::Open);
        let refusal = Model::ExtendedHata.get().prepare(&direction).err();
        assert_eq!(refusal, Some(Warning::ModelOutOfRange));
    }
}

#[test]
fn a_larger_share_of_places_costs_more_and_water_less() {
    let direction = |location_percent| {
        let environment = Environment { location_percent, ..Environment::default() };
        let values = environment.setting_values();
        Direction::new(868.0, Polarization::Vertical, [30.0, 2.0], values)
    };
    let ground = [0.0; 101];
    let bare = PathProfile::bare(100.0, &ground);
    let cover: Vec<GroundCover> = (0..101)
        .map(|point| if point > 60 { GroundCover::Water } else { GroundCover::Open })
        .collect();
    let clutter = PathClutter { height_agl_m: None, cover: Some(&cover) };
    let lake = PathProfile { clutter: Some(&clutter), ..bare };
    let at = |location_percent, profile: &PathProfile<'_>| {
        let prepared = Model::ExtendedHata.get().prepare(&direction(location_percent));
        prepared.unwrap().attenuation(profile).unwrap()
    };
    let [half, most] = [50.0, 90.0].map(|percent| at(percent, &bare));
    assert!(half.sigma_db > 8.0 && half.sigma_db < 9.0);
    assert!((most.total_db() - half.total_db() - 1.2816 * half.sigma_db).abs() < 0.01);
    assert_eq!(most.median_total_db(), half.total_db());
    let gain_db = half.total_db() - at(50.0, &lake).total_db();
    assert!(gain_db > 3.0 && gain_db < 11.0, "{gain_db}");
}
