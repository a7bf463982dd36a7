//! Spellings with the positions they mean.

use super::*;

#[track_caller]
fn near(text: &str, lat_deg: f64, lon_deg: f64, within_deg: f64) {
    let point = parse(text).unwrap_or_else(|error| panic!("{error}"));
    let apart = [point.lat_deg() - lat_deg, point.lon_deg() - lon_deg];
    assert!(apart.iter().all(|deg| deg.abs() <= within_deg), "{text}: {point:?}");
}

#[test]
fn degrees_are_read_in_the_spellings_of_people() {
    let [lat, lon] = [57.0 + 42.0 / 60.0 + 51.0 / 3600.0, 11.0 + 56.0 / 60.0 + 12.0 / 3600.0];
    for text in [
        "57°42'51\"N 11°56'12\"E",
        "57°42′51″N, 11°56′12″E",
        "57° 42' 51\" N 11° 56' 12\" E",
        "N57°42'51\" E11°56'12\"",
        "11°56'12\"E 57°42'51\"N",
        "57:42:51, 11:56:12",
        "57 42 51 11 56 12",
        "57 42 51N 11 56 12E",
        "57°42'51\"N11°56'12\"E",
    ] {
        near(text, lat, lon, 1e-12);
    }
    for text in [
        "57.7142,11.9367",
        "57.7142, 11.9367",
        "57.7142 11.9367",
        "57.7142;11.9367",
        "57,7142;11,9367",
        "57,7142 11,9367",
        "57,7142, 11,9367",
        "57,7142,11,9367",
        "57.7142N,11.9367E",
        "57.7142° N, 11.9367° E",
        "N57.7142 E11.9367",
        "E11.9367 N57.7142",
        "(57.7142, 11.9367)",
        "geo:57.7142,11.9367",
        "57°42.852'N 11°56.202'E",
    ] {
        near(text, 57.7142, 11.9367, 1e-9);
    }
    near("33.8688S 151.2093E", -33.8688, 151.2093, 1e-12);
    near("45N 12 30E", 45.0, 12.5, 1e-12);
    near("51°30', -0°7'", 51.5, -7.0 / 60.0, 1e-12);
    near("-33.8688,151.2093", -33.8688, 151.2093, 1e-12);
    near("40.7128N 74.0060W", 40.7128, -74.006, 1e-12);
}

#[test]
fn grids_are_read_as_the_centres_of_their_squares() {
    // PROJ: EPSG:4326 to EPSG:32632 gives 674955.4, 6400292.6 for 57.7142, 11.9367.
    let utm = groundwave_model::terrain::Utm::zone(32, false).project(57.7142, 11.9367);
    near(&format!("32V {:.2} {:.2}", utm[0], utm[1]), 57.7142, 11.9367, 1e-6);
    near(&format!("32 V {:.0}mE {:.0}mN", utm[0], utm[1]), 57.7142, 11.9367, 1e-4);
    // Statue of Liberty, White House, Sydney: of published examples.
    near("18TWL8073104684", 40.689_18, -74.044_41, 2e-4);
    near("18S UJ 23394 07395", 38.897_6, -77.036_4, 2e-4);
    near("56H LH 34369 50948", -33.868_8, 151.209_3, 1e-4);
    near("32VPK7493400683", 57.7142, 11.9367, 2e-5);
    near("9F9HPW7P+MM", 57.7142, 11.9367, 1e-4);
    near("JO57", 57.5, 11.0, 1e-9);
    near("JO57xr", 57.729_166_667, 11.958_333_333, 1e-6);
    near("8FVC9G8F+6X", 47.365_562_5, 8.524_937_5, 1e-9);
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
fn what_has_no_meaning_or_two_is_refused_with_the_way_out() {
    for (text, part) in [
        ("", "Maidenhead"),
        ("Gothenburg", "Maidenhead"),
        ("57.7142", "LAT,LON"),
        ("57.7142N,11.9367N", "one latitude"),
        ("-57.7142S,11.9367E", "LAT,LON"),
        ("57°61'N 11°E", "LAT,LON"),
        ("157.7142,11.9367", "swapped"),
        ("32S 674955 6400292", "a band, not a hemisphere"),
        ("32V 50000 6400292", "easting"),
        ("32VAK7495500292", "a column of zone 32"),
        ("PW7P+MM", "whole plus code"),
        ("nan,1", "LAT,LON"),
        ("1e400,1", "LAT,LON"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn columns_have_one_angle_each() {
    assert_eq!(latitude_deg("57,7142"), Some(57.7142));
    assert_eq!(latitude_deg("57.7142 N"), Some(57.7142));
    assert_eq!(longitude_deg("11°30'W"), Some(-11.5));
    assert_eq!(latitude_deg("11.5E"), None);
    assert_eq!(longitude_deg("east"), None);
}
