//! Horizontal coordinate reference systems by their EPSG codes.

use super::grid::Frame;
use groundwave_model::terrain::{Albers, Azimuthal, Origin, Projection, Utm};

/// Geographic systems whose latitudes and longitudes are those of WGS84 within two metres: WGS84,
/// NAD83 and its realisation of 2011, ETRS89, GDA94 and GDA2020, NZGD2000, SIRGAS 2000, RGF93, JGD2011.
const GEOGRAPHIC: [u16; 12] =
    [4326, 4979, 4269, 6318, 4258, 4283, 7844, 4167, 4674, 4171, 6668, 4612];

/// Systems that are allowed, for messages.
pub(super) const ALLOWED: &str = "EPSG:4326 and geographic systems like it, UTM (EPSG:32601 to 32660, \
                                  32701 to 32760, 25828 to 25838, 26901 to 26923, 6330 to 6348, 3006, \
                                  3067), Albers (EPSG:5070, 6350, 3338, 3577, or its parameters), Lambert azimuthal \
                                  (EPSG:3035, or its parameters), Mollweide (ESRI:54009), Web Mercator (EPSG:3857); \
                                  `gdalwarp -t_srs EPSG:4326` converts others";

/// Methods of GeoTIFF (`ProjCoordTransGeoKey`).
const AZIMUTHAL: u16 = 10;
const ALBERS: u16 = 11;

/// True for a geographic system.
pub(super) fn is_geographic(code: u16) -> bool {
    GEOGRAPHIC.contains(&code)
}

fn albers(parallels_deg: [f64; 2], lat_deg: f64, lon_deg: f64) -> Option<Frame> {
    let origin = Origin { lat_deg, lon_deg, false_m: [0.0; 2] };
    Albers::new(parallels_deg, origin).map(|albers| Frame::Projected(Projection::Albers(albers)))
}

/// A projected system.
pub(super) fn projected(code: u16) -> Option<Frame> {
    let (zone, is_south) = match code {
        32_601..=32_660 => (code - 32_600, false),
        32_701..=32_760 => (code - 32_700, true),
        // ETRS89.
        25_828..=25_838 => (code - 25_800, false),
        // NAD83.
        26_901..=26_923 => (code - 26_900, false),
        // NAD83(2011).
        6_330..=6_348 => (code - 6_329, false),
        // SWEREF99 TM and ETRS-TM35FIN: zones 33 and 35 of ETRS89, wider.
        3_006 => (33, false),
        3_067 => (35, false),
        // NLCD: the conterminous United States, and Alaska. Land cover of Australia.
        5_070 | 6_350 => return albers([29.5, 45.5], 23.0, -96.0),
        3_338 => return albers([55.0, 65.0], 50.0, -154.0),
        3_577 => return albers([-18.0, -36.0], 0.0, 132.0),
        // CORINE.
        3_035 => {
            let false_m = [4_321_000.0, 3_210_000.0];
            let origin = Origin { lat_deg: 52.0, lon_deg: 10.0, false_m };
            let azimuthal = Azimuthal::new(origin)?;
            return Some(Frame::Projected(Projection::Azimuthal(azimuthal)));
        }
        // The code of ESRI for the GHSL's projection.
        54_009 => return Some(Frame::Projected(Projection::Mollweide)),
        3_857 => return Some(Frame::Projected(Projection::WebMercator)),
        _ => return None,
    };
    Some(Frame::Projected(Projection::Utm(Utm::zone(zone, is_south))))
}

/// A projected system that a file describes by a method and the numbers of its keys instead of a code.
pub(super) fn described(method: u16, number: impl Fn(u16) -> Option<f64>) -> Option<Frame> {
    let either = |first: u16, second: u16| number(first).or_else(|| number(second));
    let false_m = [number(3082).unwrap_or(0.0), number(3083).unwrap_or(0.0)];
    match method {
        ALBERS => {
            let (lat_deg, lon_deg) = (either(3081, 3089)?, either(3080, 3088)?);
            let origin = Origin { lat_deg, lon_deg, false_m };
            let albers = Albers::new([number(3078)?, number(3079)?], origin)?;
            Some(Frame::Projected(Projection::Albers(albers)))
        }
        AZIMUTHAL => {
            let (lat_deg, lon_deg) = (either(3089, 3081)?, either(3088, 3080)?);
            let azimuthal = Azimuthal::new(Origin { lat_deg, lon_deg, false_m })?;
            Some(Frame::Projected(Projection::Azimuthal(azimuthal)))
        }
        _ => None,
    }
}

/// Mollweide's projection of a text of GDAL (`ESRI PE String`), which GeoTIFF has neither code nor method for.
pub(super) fn of_text(text: &str) -> Option<Frame> {
    let text = text.split_once("ESRI PE String = ")?.1.to_ascii_lowercase();
    let zero = |name: &str| {
        let value = text.split_once(&format!("parameter[\"{name}\","))?.1.split_once(']')?.0;
        value.trim().parse::<f64>().ok().filter(|value| *value == 0.0)
    };
    let is_metre = text.contains("unit[\"meter\",1.0]") || text.contains("unit[\"metre\",1.0]");
    let is_plain = ["central_meridian", "false_easting", "false_northing"]
        .iter()
        .all(|name| zero(name).is_some());
    let is_own = text.contains("projection[\"mollweide\"]") && text.contains("6378137");
    (is_own && is_plain && is_metre).then_some(Frame::Projected(Projection::Mollweide))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_follow_from_the_codes() {
        let zone =
            |zone, is_south| Some(Frame::Projected(Projection::Utm(Utm::zone(zone, is_south))));
        assert_eq!(projected(32_632), zone(32, false));
        assert_eq!(projected(32_760), zone(60, true));
        assert_eq!(projected(25_832), zone(32, false));
        assert_eq!(projected(26_910), zone(10, false));
        assert_eq!(projected(6_330), zone(1, false));
        assert_eq!(projected(6_348), zone(19, false));
        assert_eq!(projected(3_006), zone(33, false));
        for other in [0, 2_056, 27_700, 32_600, 32_661, 32_700, 32_761] {
            assert_eq!(projected(other), None, "{other}");
        }
    }

    #[test]
    fn land_cover_has_its_published_projections_by_code_and_by_description() {
        for code in [5_070, 6_350, 3_338, 3_577, 3_035, 54_009, 3_857] {
            assert!(matches!(projected(code), Some(Frame::Projected(_))), "{code}");
        }
        let keys = [(3078, 29.5), (3079, 45.5), (3080, -96.0), (3081, 23.0)];
        let number = |key: u16| keys.iter().find(|(id, _)| *id == key).map(|(_, value)| *value);
        assert_eq!(described(ALBERS, number), projected(5_070));
        assert_eq!(described(ALBERS, |key| number(key).filter(|_| key != 3079)), None);
        assert_eq!(described(7, number), None);
        let europe = [(3088, 10.0), (3089, 52.0), (3082, 4_321_000.0), (3083, 3_210_000.0)];
        let number = |key: u16| europe.iter().find(|(id, _)| *id == key).map(|(_, value)| *value);
        assert_eq!(described(AZIMUTHAL, number), projected(3_035));
        let text = "ESRI PE String = PROJCS[\"World_Mollweide\",GEOGCS[\"GCS_WGS_1984\",\
                    DATUM[\"D_WGS_1984\",SPHEROID[\"WGS_1984\",6378137.0,298.257223563]],\
                    PRIMEM[\"Greenwich\",0.0],UNIT[\"Degree\",0.0174532925199433]],\
                    PROJECTION[\"Mollweide\"],PARAMETER[\"False_Easting\",0.0],\
                    PARAMETER[\"False_Northing\",0.0],PARAMETER[\"Central_Meridian\",0.0],UNIT[\"Meter\",1.0]]|";
        assert_eq!(of_text(text), projected(54_009));
        let moved = text.replace("\"Central_Meridian\",0.0", "\"Central_Meridian\",11.0");
        assert_eq!(of_text(&moved), None);
        assert_eq!(of_text(&text.replace("Mollweide\"]", "Eckert_IV\"]")), None);
    }
}
