//! Verdicts, limiting factors, availability and reserve.

use groundwave_propagation::polarization::Polarization;

use super::super::outcome::Costs;
use super::super::{
    Environment, LimitingFactor, Model, Multipath, Pointing, Vegetation, Verdict, Warning,
};
use super::{flat, link, near, ridge, station, under};

#[test]
fn verdicts_change_where_documented() {
    for (link_prob, verdict) in [
        (1.0, Verdict::Excellent),
        (0.99, Verdict::Excellent),
        (0.989, Verdict::Good),
        (0.9, Verdict::Good),
        (0.899, Verdict::Marginal),
        (0.5, Verdict::Marginal),
        (0.499, Verdict::Poor),
        (0.1, Verdict::Poor),
        (0.099, Verdict::NoLink),
        (0.0, Verdict::NoLink),
    ] {
        assert_eq!(Verdict::of(link_prob), verdict, "{link_prob}");
    }
}

#[test]
fn the_costliest_factor_is_named_from_three_decibels_on() {
    let none =
        Costs { terrain_db: 0.0, fresnel_db: 0.0, rain_db: 0.0, noise_db: 0.0, pointing_db: 0.0 };
    assert_eq!(LimitingFactor::of(&none), LimitingFactor::Distance);
    assert_eq!(LimitingFactor::of(&Costs { rain_db: 2.99, ..none }), LimitingFactor::Distance);
    assert_eq!(LimitingFactor::of(&Costs { rain_db: 3.0, ..none }), LimitingFactor::Rain);
    let two = Costs { rain_db: 9.0, terrain_db: 9.0, noise_db: 9.1, ..none };
    assert_eq!(LimitingFactor::of(&two), LimitingFactor::Noise);
    assert_eq!(LimitingFactor::of(&Costs { noise_db: 1.0, ..two }), LimitingFactor::Terrain);
}

#[test]
fn whole_links_name_what_limits_them() {
    let end = station("wifi_2g4_mesh", "omni_5", 15.0);
    let open = under(Model::DeltaBullington);
    let limit =
        |profile: &_, tx: &_, env: &_| link(profile, tx, &end, env).limiting_factor.unwrap();
    assert_eq!(limit(&flat(400.0), &end, &open), LimitingFactor::Distance);
    assert_eq!(limit(&ridge(8_000.0, 90.0), &end, &open), LimitingFactor::Terrain);
    // A ridge at nine tenths of the ray's height: visible, but well inside the first zone.
    assert_eq!(limit(&ridge(2_000.0, 14.0), &end, &open), LimitingFactor::Fresnel);
    let jammed = Environment { interference_dbm: Some(-80.0), ..open.clone() };
    assert_eq!(limit(&flat(400.0), &end, &jammed), LimitingFactor::Noise);
    let mut astray = station("wifi_2g4_mesh", "dish_24", 15.0);
    astray.pointing = Some(Pointing { azimuth_deg: 120.0, elevation_deg: 0.0 });
    assert_eq!(limit(&flat(400.0), &astray, &open), LimitingFactor::Pointing);
    let mut turned = end.clone();
    turned.antenna.polarization = Polarization::Horizontal;
    let crossed = link(&flat(400.0), &turned, &end, &open);
    assert_eq!(crossed.limiting_factor, Some(LimitingFactor::Pointing));
    assert!(crossed.warnings.contains(Warning::CrossPolarized));
    near(crossed.budget.polarization_loss_db, 20.0, 0.0);
    let microwave = station("ptp_11g", "dish_32", 80.0);
    let storm = Environment { rain_rate_mm_h: 60.0, ..open };
    let wet = link(&flat(15_000.0), &microwave, &microwave, &storm);
    assert_eq!(wet.limiting_factor, Some(LimitingFactor::Rain));
}

#[test]
fn interference_adds_as_power() {
    let end = station("wifi_2g4_mesh", "omni_5", 15.0);
    let clean = link(&flat(400.0), &end, &end, &under(Model::FreeSpace));
    let floor_dbm = clean.receiver.noise_floor_dbm;
    let env = Environment { interference_dbm: Some(floor_dbm), ..under(Model::FreeSpace) };
    let disturbed = link(&flat(400.0), &end, &end, &env);
    near(clean.receiver.sinr_db - disturbed.receiver.sinr_db, 3.010_3, 1e-4);
    near(disturbed.receiver.noise_floor_dbm, floor_dbm, 0.0);
}

#[test]
fn a_reserve_is_kept_in_hand() {
    let end = station("ptp_5g8", "dish_24", 50.0);
    let eager = link(&flat(9_000.0), &end, &end, &under(Model::FreeSpace));
    let env = Environment { required_margin_db: 12.0, ..under(Model::FreeSpace) };
    let careful = link(&flat(9_000.0), &end, &end, &env);
    assert!(careful.rate.mcs_index < eager.rate.mcs_index);
    assert!(careful.margin.fade_margin_db.unwrap() >= 12.0);
    near(careful.margin.link_margin_db, eager.margin.link_margin_db, 1e-12);
}

#[test]
fn woodland_and_other_losses_are_terms_of_the_sum() {
    let end = station("lora_868_eu", "omni_5", 5.0);
    let wood =
        Vegetation { depth_m: 1e5, specific_attenuation_db_m: 0.17, maximum_attenuation_db: 26.5 };
    let env = Environment { vegetation: Some(wood), other_loss_db: 4.0, ..under(Model::FreeSpace) };
    let result = link(&flat(5_000.0), &end, &end, &env);
    near(result.losses.vegetation_db, 26.5, 1e-9);
    let bare = link(&flat(5_000.0), &end, &end, &under(Model::FreeSpace));
    near(result.losses.total_path_loss_db - bare.losses.total_path_loss_db, 30.5, 1e-9);
}

#[test]
fn availability_is_predicted_only_from_a_stated_climate() {
    let end = station("ptp_11g", "dish_32", 90.0);
    let over = |env: &Environment| link(&flat(20_000.0), &end, &end, env).availability;
    let clear = under(Model::DeltaBullington);
    let unknown = over(&clear);
    assert_eq!(unknown.availability_percent, None);
    assert_eq!((unknown.rain_outage_percent, unknown.multipath_outage_percent), (None, None));
    let rainy = Environment { rain_rate_001_mm_h: Some(40.0), ..clear };
    let half = over(&rainy);
    assert!(half.rain_outage_percent.is_some() && half.availability_percent.is_none());
    let climate = Multipath { gradient_1_percent_n_units_km: -200.0, terrain_roughness_m: 50.0 };
    let full = Environment { multipath: Some(climate), ..rainy };
    let complete = over(&full);
    let (rain, fades) =
        (complete.rain_outage_percent.unwrap(), complete.multipath_outage_percent.unwrap());
    near(complete.availability_percent.unwrap(), 100.0 - rain - fades, 1e-12);
    assert!((1e-4..1.0).contains(&rain) && (0.0..1.0).contains(&fades), "{rain} {fades}");
    let tropics = over(&Environment { rain_rate_001_mm_h: Some(120.0), ..full.clone() });
    assert!(tropics.rain_outage_percent.unwrap() > rain);
    // A shower now is weather, not climate: the statistics stay.
    let shower = over(&Environment { rain_rate_mm_h: 10.0, ..full.clone() });
    near(shower.rain_outage_percent.unwrap(), rain, 1e-12);
    // P.530 says nothing about a path that is blocked.
    let blocked = link(&ridge(20_000.0, 95.0), &end, &end, &full).availability;
    assert_eq!(blocked.availability_percent, None);
}
