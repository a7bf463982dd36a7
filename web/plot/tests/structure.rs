//! Required elements of a picture and their positions.

use super::cases::{Case, hill, level, rainy, rough};
use super::xml::Element;

/// Edges of the drawing, px.
const LEFT: f64 = 80.0;
const RIGHT: f64 = 1_164.0;

fn of_class<'a>(elements: &'a [Element], class: &str) -> Vec<&'a Element> {
    elements.iter().filter(|element| element.class() == class).collect()
}

fn only<'a>(elements: &'a [Element], class: &str) -> &'a Element {
    let matches = of_class(elements, class);
    assert_eq!(matches.len(), 1, "{class}: {matches:?}");
    matches[0]
}

#[test]
fn a_picture_scales_and_can_be_read_aloud() {
    let case = Case::over(&level(101, 100.0), 5_000.0, [30.0, 20.0], "wifi_5g_mesh");
    let elements = case.elements();
    let root = &elements[0];
    assert_eq!(root.name, "svg");
    assert_eq!(root.attributes["viewBox"], "0 0 1200 640");
    assert_eq!(root.attributes["role"], "img");
    assert_eq!((elements[1].name.as_str(), elements[1].text.as_str()), ("title", "Alpha → Bravo"));
    assert_eq!(elements[2].name, "desc");
    assert!(elements[2].text.starts_with("Terrain profile over 5.00 km from Alpha to Bravo."));
    let outside = ["script", "image", "style", "foreignObject", "use"];
    assert!(elements.iter().all(|e| !outside.contains(&e.name.as_str())));
    assert!(!case.svg().contains("href"));
}

#[test]
fn both_masts_stand_where_they_should() {
    let case = Case::over(&hill(60, 160.0), 8_000.0, [30.0, 20.0], "lora_868_eu");
    let elements = case.elements();
    let masts = of_class(&elements, "mast");
    assert_eq!(masts.iter().map(|m| m.number("x1")).collect::<Vec<_>>(), [LEFT, RIGHT]);
    let (px_per_m, _) = heights(&elements);
    for (mast, height_m) in masts.iter().zip([30.0, 20.0]) {
        let px = mast.number("y1") - mast.number("y2");
        assert!((px - height_m * px_per_m).abs() < 0.2, "{mast:?}");
    }
    assert_eq!(of_class(&elements, "antenna").len(), 2);
    let names: Vec<_> = of_class(&elements, "name").iter().map(|e| e.text.trim()).collect();
    assert_eq!(names, ["Alpha", "Bravo"]);
    let label = &of_class(&elements, "heights")[0].text;
    assert_eq!(label, "antenna 130.0 m MSL · ground 100.0 m · mast 30.0 m");
    let aims: Vec<_> = elements.iter().filter(|e| e.name == "tspan").map(|e| &e.text).collect();
    let tilt = case.result.geometry.tx_elevation_angle_deg;
    assert_eq!(*aims[0], format!("bearing 30.0°, tilt −{:.2}°", -tilt));
    assert!(aims[1].starts_with("bearing 210.5°, tilt +"), "{}", aims[1]);
}

/// Scale of the height axis and the row of 0 m, from its first and last tick.
fn heights(elements: &[Element]) -> (f64, f64) {
    let ticks = of_class(elements, "tick-height");
    let read =
        |e: &Element| (e.text.replace('−', "-").parse::<f64>().unwrap(), e.number("y") - 4.0);
    let ((low_m, low_y), (high_m, high_y)) = (read(ticks[0]), read(ticks[ticks.len() - 1]));
    let px_per_m = (low_y - high_y) / (high_m - low_m);
    (px_per_m, low_y + low_m * px_per_m)
}

#[test]
fn ground_is_drawn_over_the_bulging_earth() {
    // 40 km at k = 4/3: 20 km * 20 km / (2 * 4/3 * 6371 km) = 23.544 m half-way, 17.658 m at a
    // quarter of the way.
    let case = Case::over(&level(101, 100.0), 40_000.0, [60.0; 2], "uhf_mobile_25w");
    let elements = case.elements();
    let (px_per_m, zero_y) = heights(&elements);
    let ground = only(&elements, "ground").points();
    let at = |x: f64| ground.iter().find(|p| (p[0] - x).abs() < 0.06).expect("a sample there")[1];
    let width = RIGHT - LEFT;
    for (share, up_m) in [(0.0, 100.0), (0.25, 117.658), (0.5, 123.544), (1.0, 100.0)] {
        let y = at(LEFT + share * width);
        let expect = zero_y - up_m * px_per_m;
        assert!((y - expect).abs() < 0.25, "at {share}: {y} for {expect}");
    }
    let ray = only(&elements, "ray");
    assert!((ray.number("y1") - (zero_y - 160.0 * px_per_m)).abs() < 0.25);
    assert_eq!(ray.number("y1"), ray.number("y2"));
}

#[test]
fn curves_of_equal_height_run_beside_the_ground() {
    let case = Case::over(&level(101, 100.0), 80_000.0, [60.0; 2], "uhf_mobile_25w");
    let elements = case.elements();
    let (px_per_m, _) = heights(&elements);
    let levels = of_class(&elements, "grid-height");
    assert_eq!(levels.len(), of_class(&elements, "tick-height").len());
    for (level, tick) in levels.iter().zip(of_class(&elements, "tick-height")) {
        let points = level.points();
        assert!((points[0][1] - (tick.number("y") - 4.0)).abs() < 0.01);
        let rise = points[0][1] - points[points.len() / 2][1];
        assert!((rise - 94.176 * px_per_m).abs() < 0.2, "{rise}");
    }
}

#[test]
fn the_obstruction_is_marked_where_it_is() {
    for at in [3, 37, 60, 97] {
        let case = Case::over(&hill(at, 160.0), 8_000.0, [30.0, 20.0], "lora_868_eu");
        let obstruction = case.result.clearance.obstruction.expect("a hill in the way");
        assert!((obstruction.distance_m - 80.0 * at as f64).abs() < 1e-9);
        let elements = case.elements();
        let top = only(&elements, "obstruction").points()[0];
        let expect = LEFT + (RIGHT - LEFT) * obstruction.distance_m / 8_000.0;
        assert!((top[0] - expect).abs() <= 0.1, "{} for {expect}", top[0]);
        let drop = only(&elements, "clearance");
        assert!((drop.number("x1") - expect).abs() <= 0.1);
        assert!(drop.number("y2") > drop.number("y1"), "the ray is below the hill");
        let ratio = case.result.clearance.fresnel_clearance_ratio.unwrap();
        let label = format!("obstruction −{:.2} F1 at ", -ratio);
        assert!(elements.iter().any(|e| e.text.starts_with(&label)), "{label}");
    }
}

#[test]
fn a_clear_path_has_its_tightest_point_and_no_obstruction() {
    let case = Case::over(&hill(30, 105.0), 5_000.0, [30.0, 20.0], "wifi_5g_mesh");
    let elements = case.elements();
    assert!(of_class(&elements, "obstruction").is_empty());
    assert!(of_class(&elements, "intrusion").is_empty());
    let x = only(&elements, "tightest").points()[0][0];
    assert!((x - (LEFT + 0.3 * (RIGHT - LEFT))).abs() <= 0.1, "{x}");
}

#[test]
fn a_blocked_ray_is_dashed_and_an_open_one_is_not() {
    for (top_m, blocked) in [(100.0, false), (122.0, false), (160.0, true)] {
        let case = Case::over(&hill(60, top_m), 8_000.0, [30.0, 20.0], "lora_868_eu");
        assert_eq!(!case.result.clearance.line_of_sight, blocked);
        let elements = case.elements();
        let ray = only(&elements, "ray");
        assert_eq!(ray.attributes.contains_key("stroke-dasharray"), blocked, "{top_m}");
        assert_eq!(of_class(&elements, "horizon-ray").len(), if blocked { 2 } else { 0 });
        let badge = only(&elements, "verdict").text.clone();
        assert!(badge.ends_with(if blocked { "blocked" } else { "in sight" }), "{badge}");
    }
}

#[test]
fn ground_in_the_zone_is_picked_out_exactly_where_there_is_an_obstruction() {
    let (mut with, mut without) = (0, 0);
    for seed in 0..60 {
        let ground = rough(90, 0.0, 60.0, seed);
        let case = Case::over(&ground, 6_000.0, [40.0, 35.0], "wifi_2g4_mesh");
        let obstructed = case.result.clearance.obstruction.is_some();
        let drawn = !of_class(&case.elements(), "intrusion").is_empty();
        assert_eq!(drawn, obstructed, "seed {seed}");
        if obstructed { with += 1 } else { without += 1 }
    }
    assert!(with > 5 && without > 5, "{with} with, {without} without");
}

#[test]
fn zone_has_the_width_of_fresnel() {
    let case = Case::over(&level(101, 100.0), 10_000.0, [80.0; 2], "lora_868_eu");
    let elements = case.elements();
    let (px_per_m, _) = heights(&elements);
    // sqrt(wavelength * 10 km / 4) at 868.1 MHz is 29.383 m.
    let extent = |points: &[[f64; 2]]| {
        let (low, high) = points
            .iter()
            .fold((f64::MAX, f64::MIN), |(low, high), p| (low.min(p[1]), high.max(p[1])));
        high - low
    };
    let whole = extent(&only(&elements, "fresnel").points());
    assert!((whole - 2.0 * 29.383 * px_per_m).abs() < 0.3, "{whole}");
    let inner = of_class(&elements, "fresnel-06");
    let half = extent(&inner[0].points());
    assert!((half - 0.6 * 29.383 * px_per_m).abs() < 0.3, "{half}");
}

#[test]
fn axes_have_a_readable_number_of_round_ticks() {
    let case = Case::over(&level(101, 100.0), 5_000.0, [30.0, 20.0], "wifi_5g_mesh");
    let labels: Vec<_> =
        of_class(&case.elements(), "tick-distance").iter().map(|e| e.text.clone()).collect();
    let expect = ["0", "0.5", "1", "1.5", "2", "2.5", "3", "3.5", "4", "4.5", "5"];
    assert_eq!(labels, expect);
    for (name, case) in super::cases::all() {
        let elements = case.elements();
        let heights = of_class(&elements, "tick-height").len();
        assert!((2..=8).contains(&heights), "{name}: {heights} heights");
        let distances = of_class(&elements, "tick-distance").len();
        let least = if case.profile.distance_m > 0.0 { 4 } else { 1 };
        assert!((least..=11).contains(&distances), "{name}: {distances} distances");
    }
}

#[test]
fn every_figure_of_the_result_is_in_the_picture() {
    let case = Case::within(&rainy(), &level(64, 50.0), 1_500.0, [60.0; 2], "ptp_5g8");
    let elements = case.elements();
    let values: Vec<_> = of_class(&elements, "value").iter().map(|e| e.text.clone()).collect();
    let figure = |value: f64| format!("{value:.1}").replace('-', "−");
    let result = &case.result;
    assert_eq!(values.len(), 8);
    assert_eq!(values[0], "1.50 km");
    assert_eq!(values[1], format!("{} dB", figure(result.losses.total_path_loss_db)));
    assert_eq!(values[2], format!("{} dBm", figure(result.receiver.rx_power_dbm)));
    assert_eq!(values[3], format!("{} dB", figure(result.receiver.sinr_db)));
    let availability = result.availability.availability_percent.expect("predicted");
    let printed_value: f64 = values[7].trim_end_matches(" %").parse().unwrap();
    assert!(
        (0.0..=1.01e-4).contains(&(availability - printed_value)),
        "{printed_value} for {availability}"
    );
    let conditions = &only(&elements, "conditions").text;
    assert!(conditions.starts_with("5.8 GHz · 80 MHz wide · vertical · ITM (NTIA ITM 1.4"));
    let dry = Case::over(&level(64, 50.0), 1_500.0, [60.0; 2], "ptp_5g8").elements();
    assert_eq!(of_class(&dry, "value").len(), 7);
}
