//! Vertical coordinate systems and units of heights, from wherever a GeoTIFF file states them.
//!
//! A file states its unit in the unit type of the band (GDAL), in VerticalUnitsGeoKey (4099), or by the
//! code of its vertical or compound system. Codes are those of the EPSG registry, version 12.

use groundwave_model::terrain::VerticalDatum;

/// Metres of an international foot.
const FOOT_M: f64 = 0.3048;

/// Metres of a US survey foot.
const US_FOOT_M: f64 = 1200.0 / 3937.0;

/// Vertical systems whose heights are in feet, and metres of their foot.
const FEET: [(u16, f64); 10] = [
    (5_702, US_FOOT_M),
    (6_130, FOOT_M),
    (6_131, FOOT_M),
    (6_132, FOOT_M),
    (6_360, US_FOOT_M),
    (8_050, FOOT_M),
    (8_052, US_FOOT_M),
    (8_228, FOOT_M),
    (10_919, US_FOOT_M),
    // Poolbeg, in the British foot of 1936.
    (5_754, 0.304_800_749_1),
];

/// Vertical systems of depths, which grow downwards.
const DEPTHS: [u16; 47] = [
    5_336, 5_612, 5_614, 5_706, 5_715, 5_734, 5_739, 5_789, 5_831, 5_861, 5_862, 5_863, 5_864,
    5_865, 5_866, 5_867, 5_873, 6_357, 6_358, 6_359, 7_976, 8_051, 8_053, 8_358, 9_287, 9_288,
    9_672, 10_150, 10_151, 10_349, 10_364, 10_370, 10_371, 10_372, 10_373, 10_374, 10_375, 10_376,
    10_377, 10_378, 10_379, 10_547, 10_548, 10_549, 10_550, 10_551, 10_552,
];

/// Compound systems, each with its horizontal and its vertical one.
const COMPOUND: [(u16, u16, u16); 38] = [
    (5_498, 4_269, 5_703),
    (5_554, 25_831, 5_783),
    (5_555, 25_832, 5_783),
    (5_556, 25_833, 5_783),
    (5_845, 3_006, 5_613),
    (6_349, 6_318, 5_703),
    (6_696, 4_612, 6_694),
    (6_697, 6_668, 6_695),
    (7_409, 4_258, 5_730),
    (7_416, 25_832, 5_799),
    (7_417, 25_833, 5_799),
    (7_423, 4_258, 5_621),
    (8_360, 4_258, 8_357),
    (9_286, 4_258, 5_709),
    (9_422, 4_258, 9_389),
    (9_423, 4_258, 9_390),
    (9_424, 4_258, 5_701),
    (9_426, 4_258, 5_740),
    (9_449, 4_258, 5_731),
    (9_450, 4_258, 5_732),
    (9_462, 7_844, 9_458),
    (9_463, 7_844, 5_711),
    (9_464, 4_283, 5_711),
    (9_505, 4_258, 5_782),
    (9_518, 4_326, 3_855),
    (9_522, 6_318, 6_641),
    (9_523, 6_318, 6_642),
    (9_527, 4_167, 4_440),
    (9_528, 4_167, 7_839),
    (9_705, 4_326, 5_714),
    (9_707, 4_326, 5_773),
    (9_723, 4_258, 5_214),
    (9_907, 4_258, 5_710),
    (9_924, 4_258, 7_837),
    (10_486, 4_258, 10_483),
    (10_488, 4_258, 10_485),
    (10_545, 4_258, 5_780),
    (10_774, 3_067, 3_900),
];

/// Unit types of a band, in small letters, and metres of each.
const UNIT_TYPES: [(&str, f64); 22] = [
    ("m", 1.0),
    ("metre", 1.0),
    ("metres", 1.0),
    ("meter", 1.0),
    ("meters", 1.0),
    ("ft", FOOT_M),
    ("foot", FOOT_M),
    ("feet", FOOT_M),
    ("international foot", FOOT_M),
    ("foot (international)", FOOT_M),
    ("us survey foot", US_FOOT_M),
    ("us survey feet", US_FOOT_M),
    ("us_survey_foot", US_FOOT_M),
    ("survey foot", US_FOOT_M),
    ("foot_us", US_FOOT_M),
    ("us-ft", US_FOOT_M),
    ("ftus", US_FOOT_M),
    ("us ft", US_FOOT_M),
    ("cm", 0.01),
    ("centimetre", 0.01),
    ("centimeter", 0.01),
    ("dm", 0.1),
];

/// Units that are allowed, for messages.
pub(super) const UNITS_ALLOWED: &str =
    "metre, foot, US survey foot, cm or dm, the same wherever the file states it";

/// The horizontal and the vertical system of a code: itself and none, or the parts of a compound system.
pub(super) fn parts(code: u16) -> (u16, Option<u16>) {
    let compound = COMPOUND.iter().find(|(compound, ..)| *compound == code);
    compound.map_or((code, None), |(_, horizontal, vertical)| (*horizontal, Some(*vertical)))
}

/// Geographic systems of three dimensions, whose heights are above the ellipsoid: WGS84, ETRS89, NAD83(2011),
/// GDA2020, JGD2011.
const GEOGRAPHIC_3D: [u16; 5] = [4_979, 4_937, 6_319, 7_843, 6_667];

/// The system of heights above an ellipsoid: by its own key (GeoTIFF 1.0, 6.3.4.1), or by that of a
/// geographic system of three dimensions without one.
pub(super) fn ellipsoidal(own: Option<u16>, geographic: Option<u16>) -> Option<u16> {
    match own.filter(|code| *code != 0) {
        Some(code) => (5_001..=5_033).contains(&code).then_some(code),
        None => geographic.filter(|code| GEOGRAPHIC_3D.contains(code)),
    }
}

/// The datum of a vertical system; `None` for a system of depths.
pub(super) fn datum(code: u16) -> Option<VerticalDatum> {
    Some(match code {
        5_773 => VerticalDatum::Egm96,
        3_855 => VerticalDatum::Egm2008,
        0 | 32_767 => VerticalDatum::Unknown,
        depth if DEPTHS.contains(&depth) => return None,
        _ => VerticalDatum::Local,
    })
}

/// Metres of the unit of the heights. `unit_type` is that of the band, `unit_key` that of
/// VerticalUnitsGeoKey, `code` the vertical system.
///
/// # Errors
/// The statement of the file: an unknown unit, or two that differ.
pub(super) fn unit_m(
    unit_type: Option<&str>,
    unit_key: Option<u16>,
    code: u16,
) -> Result<f64, String> {
    let of_band = match unit_type.map(str::trim).filter(|text| !text.is_empty()) {
        None => None,
        Some(text) => {
            let lower = text.to_ascii_lowercase();
            let unit = UNIT_TYPES.iter().find(|(name, _)| *name == lower);
            let (_, unit_m) = unit.ok_or_else(|| format!("unit type {text:?} of the band"))?;
            Some((*unit_m, format!("unit type {text:?} of the band")))
        }
    };
    let of_key = match unit_key {
        None | Some(0) => None,
        Some(9_001) => Some((1.0, "VerticalUnitsGeoKey (4099) 9001".to_owned())),
        Some(9_002) => Some((FOOT_M, "VerticalUnitsGeoKey (4099) 9002".to_owned())),
        Some(9_003) => Some((US_FOOT_M, "VerticalUnitsGeoKey (4099) 9003".to_owned())),
        Some(other) => return Err(format!("VerticalUnitsGeoKey (4099) {other}")),
    };
    // Files older than the codes in feet have the code in metres beside a key in feet: the key counts.
    let of_code = FEET.iter().find(|(feet, _)| *feet == code);
    let of_code = of_code.map(|(_, unit_m)| (*unit_m, format!("vertical system EPSG:{code}")));
    let mut stated = [of_band, of_key, of_code].into_iter().flatten();
    let Some((unit_m, first)) = stated.next() else { return Ok(1.0) };
    // Both feet differ by 2 ppm, 2 cm on the highest place of the Earth.
    let other = stated.find(|(other_m, _)| (other_m / unit_m - 1.0).abs() > 1e-5);
    match other {
        Some((_, second)) => Err(format!("{first} beside {second}")),
        None => Ok(unit_m),
    }
}

#[cfg(test)]
mod tests {
    use super::super::crs;
    use super::*;

    #[test]
    fn each_statement_gives_the_unit() {
        assert_eq!(unit_m(None, None, 0), Ok(1.0));
        assert_eq!(unit_m(Some(""), Some(0), 5_703), Ok(1.0));
        assert_eq!(unit_m(Some("ft"), None, 0), Ok(FOOT_M));
        assert_eq!(unit_m(Some(" US survey foot "), None, 5_703), Ok(US_FOOT_M));
        assert_eq!(unit_m(None, Some(9_002), 5_703), Ok(FOOT_M));
        assert_eq!(unit_m(None, None, 6_360), Ok(US_FOOT_M));
        assert_eq!(unit_m(Some("US survey foot"), Some(9_003), 6_360), Ok(US_FOOT_M));
    }

    #[test]
    fn statements_that_differ_are_refused_with_both() {
        let error = unit_m(Some("ft"), Some(9_001), 5_703).unwrap_err();
        assert_eq!(error, "unit type \"ft\" of the band beside VerticalUnitsGeoKey (4099) 9001");
        let error = unit_m(None, Some(9_001), 6_360).unwrap_err();
        assert_eq!(error, "VerticalUnitsGeoKey (4099) 9001 beside vertical system EPSG:6360");
        assert_eq!(unit_m(Some("dBm"), None, 0).unwrap_err(), "unit type \"dBm\" of the band");
        assert!(unit_m(None, Some(9_005), 0).is_err());
    }

    #[test]
    fn heights_above_an_ellipsoid_are_those_of_their_systems() {
        assert_eq!(ellipsoidal(None, Some(4_979)), Some(4_979));
        assert_eq!(ellipsoidal(Some(5_030), Some(4_326)), Some(5_030));
        // A vertical system of its own counts.
        assert_eq!(ellipsoidal(Some(5_773), Some(4_979)), None);
        assert_eq!(ellipsoidal(None, Some(4_326)), None);
    }

    #[test]
    fn compound_systems_have_parts_that_are_read() {
        for (code, horizontal, vertical) in COMPOUND {
            assert_eq!(parts(code), (horizontal, Some(vertical)));
            assert!(crs::is_geographic(horizontal) || crs::projected(horizontal).is_some());
            assert!(datum(vertical).is_some_and(|datum| datum != VerticalDatum::Unknown), "{code}");
        }
        assert_eq!(parts(4_326), (4_326, None));
        assert_eq!(datum(3_855), Some(VerticalDatum::Egm2008));
        assert_eq!(datum(5_703), Some(VerticalDatum::Local));
        assert_eq!(datum(5_715), None);
    }
}
