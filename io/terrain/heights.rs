//! Heights that posts of terrain may have, the same for files of every format.

/// Lowest height of a post, m: the deepest place of the Earth is at -10,935 m, and data sets with the
/// sea bed go down to it.
pub(super) const LOWEST_M: i16 = -12_000;

/// Highest height of a post, m: the highest place of the Earth is at 8,849 m.
pub(super) const HIGHEST_M: i16 = 9_000;

/// Values of whole metres that mean a post without a height: -32768 in SRTM, -32767 in products of USGS,
/// 32767 in Terrain Tiles, -9999 in conversions of grids of Esri.
pub(super) const VOIDS: [i16; 4] = [i16::MIN, -i16::MAX, i16::MAX, -9_999];

/// True for a height, m, that a place of the Earth may have; not for NaN.
#[inline]
pub(super) fn is_height(height_m: f64) -> bool {
    let [.., esri] = VOIDS;
    (f64::from(LOWEST_M)..=f64::from(HIGHEST_M)).contains(&height_m) && height_m != f64::from(esri)
}

/// True for a post of whole metres that a place of the Earth may have.
#[inline]
pub(super) fn is_post(post_m: i16) -> bool {
    let [.., esri] = VOIDS;
    (LOWEST_M..=HIGHEST_M).contains(&post_m) & (post_m != esri)
}

/// True for a value that means a post without a height.
#[inline]
pub(super) fn is_void(post: i16) -> bool {
    let [srtm, usgs, terrain_tiles, esri] = VOIDS;
    (post == srtm) | (post == usgs) | (post == terrain_tiles) | (post == esri)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn posts_and_heights_have_one_range() {
        for post in i16::MIN..=i16::MAX {
            assert_eq!(is_post(post), is_height(f64::from(post)), "{post}");
            assert!(!(is_post(post) && is_void(post)), "{post}");
        }
        for (height_m, expected) in [
            (-12_000.0, true),
            (-12_000.5, false),
            (-9_999.0, false),
            (-9_998.0, true),
            (-430.0, true),
            (8_849.0, true),
            (9_000.5, false),
            (f64::NAN, false),
            (f64::NEG_INFINITY, false),
        ] {
            assert_eq!(is_height(height_m), expected, "{height_m}");
        }
    }
}
