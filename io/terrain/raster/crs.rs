//! Horizontal coordinate reference systems by their EPSG codes.

use super::grid::Frame;
use groundwave_model::terrain::Utm;

/// Geographic systems whose latitudes and longitudes are those of WGS84 within two metres: WGS84,
/// NAD83 and its realisation of 2011, ETRS89, GDA94 and GDA2020, NZGD2000, SIRGAS 2000, RGF93, JGD2011.
const GEOGRAPHIC: [u16; 12] =
    [4326, 4979, 4269, 6318, 4258, 4283, 7844, 4167, 4674, 4171, 6668, 4612];

/// Systems that are allowed, for messages.
pub(super) const ALLOWED: &str = "EPSG:4326 and geographic systems like it, UTM (EPSG:32601 to 32660, \
                                  32701 to 32760, 25828 to 25838, 26901 to 26923, 6330 to 6348, 3006, \
                                  3067); `gdalwarp -t_srs EPSG:4326` converts others";

/// True for a geographic system.
pub(super) fn is_geographic(code: u16) -> bool {
    GEOGRAPHIC.contains(&code)
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
        _ => return None,
    };
    Some(Frame::Utm(Utm::zone(zone, is_south)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_follow_from_the_codes() {
        let zone = |zone, is_south| Some(Frame::Utm(Utm::zone(zone, is_south)));
        assert_eq!(projected(32_632), zone(32, false));
        assert_eq!(projected(32_760), zone(60, true));
        assert_eq!(projected(25_832), zone(32, false));
        assert_eq!(projected(26_910), zone(10, false));
        assert_eq!(projected(6_330), zone(1, false));
        assert_eq!(projected(6_348), zone(19, false));
        assert_eq!(projected(3_006), zone(33, false));
        for other in [0, 2_056, 3_857, 27_700, 32_600, 32_661, 32_700, 32_761] {
            assert_eq!(projected(other), None, "{other}");
        }
    }
}
