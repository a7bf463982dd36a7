//! Spellings with the positions they mean.

use serde_json::Value;

use super::*;

/// Vectors of this parser and of that of the page: degrees, UTM, MGRS, Maidenhead, plus codes; texts that are refused.
const SPELLINGS: &str = include_str!("../../tests/fixtures/coordinate/spellings.json");

#[track_caller]
fn near(text: &str, lat_deg: f64, lon_deg: f64, within_deg: f64) {
    let point = parse(text).unwrap_or_else(|error| panic!("{error}"));
    let apart = [point.lat_deg() - lat_deg, point.lon_deg() - lon_deg];
    assert!(apart.iter().all(|deg| deg.abs() <= within_deg), "{text}: {point:?}");
}

#[test]
fn spellings_are_read_and_refused_as_on_the_page() {
    let vectors: Value = serde_json::from_str(SPELLINGS).unwrap();
    let list = |name: &str| vectors[name].as_array().unwrap();
    for vector in list("positions") {
        let [lat_deg, lon_deg, within_deg] =
            ["lat_deg", "lon_deg", "within_deg"].map(|name| vector[name].as_f64().unwrap());
        near(vector["text"].as_str().unwrap(), lat_deg, lon_deg, within_deg);
    }
    for vector in list("refusals") {
        let [text, reason] = ["text", "reason"].map(|name| vector[name].as_str().unwrap());
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
    assert!(list("positions").len() > 35 && list("refusals").len() > 10);
}

#[test]
fn grids_are_read_as_the_centres_of_their_squares() {
    // The series of Krüger gives 674934.01, 6400683.20 for 57.7142, 11.9367.
    let utm = groundwave_projection::Utm::zone(32, false).project(57.7142, 11.9367);
    near(&format!("32V {:.2} {:.2}", utm[0], utm[1]), 57.7142, 11.9367, 1e-6);
    near(&format!("32 V {:.0}mE {:.0}mN", utm[0], utm[1]), 57.7142, 11.9367, 1e-4);
}

#[test]
fn a_height_may_follow() {
    let (point, height_m) = parse_with_height("57.71,11.94,20").unwrap();
    assert_eq!((point.lat_deg(), point.lon_deg(), height_m), (57.71, 11.94, Some(20.0)));
    let (point, height_m) = parse_with_height("57°42'51\"N 11°56'12\"E,20 m").unwrap();
    assert!((point.lat_deg() - 57.714_166).abs() < 1e-5 && height_m == Some(20.0));
    let (_, height_m) = parse_with_height("JO57XR, 30").unwrap();
    assert_eq!(height_m, Some(30.0));
    for text in ["57,71;11,94;2,5", "57.71;11.94;2.5", "57.71,11.94;2.5", "57,71 ; 11,94 ; 2,5 m"] {
        let (point, height_m) = parse_with_height(text).unwrap();
        assert_eq!(
            (point.lat_deg(), point.lon_deg(), height_m),
            (57.71, 11.94, Some(2.5)),
            "{text}"
        );
    }
    assert_eq!(parse_with_height("57,71;11,94").unwrap().1, None);
    assert_eq!(parse_with_height("57.71,11.94").unwrap().1, None);
}

#[test]
fn columns_have_one_angle_each() {
    assert_eq!(latitude_deg("57,7142"), Some(57.7142));
    assert_eq!(latitude_deg("57.7142 N"), Some(57.7142));
    assert_eq!(longitude_deg("11°30'W"), Some(-11.5));
    assert_eq!(latitude_deg("11.5E"), None);
    assert_eq!(longitude_deg("east"), None);
}

#[test]
fn uris_of_places_are_read_and_their_altitude_is_no_height() {
    for text in [
        "geo:57.7,11.9",
        "GEO:57.7,11.9;u=35",
        "geo:57.7,11.9;crs=WGS84;u=10",
        "geo:57.7,11.9?z=17&q=57.7,11.9(mast)",
    ] {
        let (point, height_m) = parse_with_height(text).unwrap();
        assert_eq!((point.lat_deg(), point.lon_deg(), height_m), (57.7, 11.9, None), "{text}");
    }
    let error = parse_with_height("geo:57.7,11.9,145").unwrap_err();
    assert!(error.allowed.contains("above the ellipsoid"), "{error}");
    let error = parse_with_height("geo:57.7,11.9;crs=moon-2011").unwrap_err();
    assert!(error.allowed.contains("wgs84"), "{error}");
    // A height has one unit.
    assert_eq!(parse_with_height("57.7,11.9,30m").unwrap().1, Some(30.0));
    assert_eq!(parse_with_height("57.7,11.9,100 ft").unwrap().1, Some(30.48));
    assert!(parse_with_height("57.7,11.9,30 yd").unwrap_err().allowed.contains("m or ft"));
    assert!(parse_with_height("57.7,11.9,30mm").is_err());
}

#[test]
fn utm_in_columns_has_a_zone_with_its_band_or_hemisphere() {
    let near = |zone: &str, hemisphere: &str, [east_m, north_m]: [f64; 2], [lat, lon]: [f64; 2]| {
        let degrees = utm_degrees(zone, hemisphere, east_m, north_m).unwrap();
        let is_near = (degrees[0] - lat).abs() < 1e-4 && (degrees[1] - lon).abs() < 1e-4;
        assert!(is_near, "{zone} {hemisphere}: {degrees:?}");
    };
    let (gothenburg, sydney) = ([674_934.0, 6_400_683.2], [334_369.0, 6_250_948.0]);
    for (zone, hemisphere) in [
        ("32V", ""),
        ("32 V", ""),
        ("32N", ""),
        ("32", "N"),
        ("32", "v"),
        ("UTM zone 32V", "north"),
        ("32V", "N"),
    ] {
        near(zone, hemisphere, gothenburg, [57.7142, 11.9367]);
    }
    for (zone, hemisphere) in [("56H", ""), ("56S", ""), ("56", "South"), ("56S", "S")] {
        near(zone, hemisphere, sydney, [-33.8688, 151.2093]);
    }
    // Washington: the S is its band.
    near("18S", "N", [323_394.0, 4_307_395.0], [38.8977, -77.0365]);
    for (zone, hemisphere, [east_m, north_m], reason) in [
        ("32", "", gothenburg, "32V or 32N"),
        ("", "", gothenburg, "a zone of 1 to 60"),
        ("61V", "", gothenburg, "a zone of 1 to 60"),
        ("32I", "", gothenburg, "a zone of 1 to 60"),
        ("32V", "upper", gothenburg, "a zone of 1 to 60"),
        ("32V", "S", gothenburg, "one side of the equator"),
        ("32S", "N", gothenburg, "one side of the equator"),
        ("32T", "", gothenburg, "band T, 40 to 48 deg"),
        ("18S", "", [323_394.0, 4_307_395.0], "18S is a band of the north, or the south"),
        ("32V", "", [57.7, 11.9], "an easting of 100000"),
        ("32V", "", [f64::NAN, 6.4e6], "an easting of 100000"),
    ] {
        let error = utm_degrees(zone, hemisphere, east_m, north_m).unwrap_err();
        assert!(error.allowed.contains(reason), "{error}");
    }
}
