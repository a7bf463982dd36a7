//! Bilinear heights, eight positions at a time.
//!
//! The heights of a profile lie scattered over a tile, and fetching them is most of what a
//! profile costs. Processors with AVX2 or AVX-512 fetch eight at once; the arithmetic is the
//! same in the same order as one by one in [`super::hgt`], so the bits are too.

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector loads and gathers by address")]
mod narrow;
mod track;
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector loads and gathers by address")]
mod wide;

pub(super) use track::Track;

/// The value of a post without a height.
pub const VOID: i16 = i16::MIN;

/// Positions handled together.
pub(super) const LANES: usize = 8;

/// The posts of a tile and the position of its south-western corner, in any unit.
#[derive(Clone, Copy)]
pub(super) struct Square<'a> {
    /// Each post but those of the southernmost row with the one south of it, row by row from the
    /// north: four posts around a position are neighbours.
    pub pairs: &'a [[i16; 2]],
    /// Posts along one side.
    pub side: usize,
    /// Posts in a unit of positions.
    pub scale: f64,
    pub south: f64,
    pub west: f64,
    /// True if any post may be a void.
    pub has_voids: bool,
}

impl Square<'_> {
    /// True if `len` positions can be handled together, and indices fit.
    fn suits(&self, len: usize) -> bool {
        let Self { pairs, side, .. } = *self;
        len >= LANES && (2..=4096).contains(&side) && pairs.len() >= side * (side - 1)
    }
}

/// True if the processor has vectors of eight.
#[cfg(target_arch = "x86_64")]
pub(super) fn is_wide() -> bool {
    use std::arch::is_x86_feature_detected;
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
}

/// True if the processor has vectors of eight.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn is_wide() -> bool {
    false
}

/// Fills heights from the first position on, up to the first block of [`LANES`] that has a
/// position outside the half-open square or a void at hand, and returns how many are filled.
/// The slices have one length; where it is no multiple of [`LANES`] the last block overlaps the
/// one before it. Returns 0 where the processor has no such vectors.
pub(super) fn fill(square: Square<'_>, north: &[f64], east: &[f64], out: &mut [f64]) -> usize {
    let len = north.len().min(east.len()).min(out.len());
    if !square.suits(len) {
        return 0;
    }
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "vector loads and gathers by address")]
    {
        use std::arch::is_x86_feature_detected;
        let (north, east, out) = (&north[..len], &east[..len], &mut out[..len]);
        let has_avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        if is_wide() {
            // SAFETY: the processor has the features, the slices have one length, at least
            // `LANES`, and the posts hold a whole square of two by two to 4096 by 4096.
            return unsafe {
                if square.has_voids {
                    wide::fill::<true>(square, north, east, out)
                } else {
                    wide::fill::<false>(square, north, east, out)
                }
            };
        }
        if has_avx2 {
            // SAFETY: likewise.
            return unsafe { narrow::fill(square, north, east, out) };
        }
    }
    0
}

/// As [`fill`] at the positions of `track` from number `first` on, `wanted` of them or a few more;
/// `out` ends with the last. Fills nothing where the processor has no vectors of eight or fewer than
/// [`LANES`] positions remain.
pub(super) fn follow(
    square: Square<'_>,
    track: &Track,
    first: usize,
    out: &mut [f64],
    wanted: usize,
) -> usize {
    if !square.suits(out.len()) || first + out.len() != track.last + 1 || !is_wide() {
        return 0;
    }
    #[cfg(target_arch = "x86_64")]
    #[expect(
        unsafe_code,
        clippy::needless_return,
        reason = "vector loads and gathers by address; elsewhere more follows"
    )]
    {
        let follow = match (square.has_voids, track.degree, track.is_in_posts) {
            (true, ..) => wide::follow::<true, 5, false>,
            (false, 3, false) => wide::follow::<false, 3, false>,
            (false, 4, false) => wide::follow::<false, 4, false>,
            (false, _, false) => wide::follow::<false, 5, false>,
            (false, 3, true) => wide::follow::<false, 3, true>,
            (false, 4, true) => wide::follow::<false, 4, true>,
            (false, _, true) => wide::follow::<false, 5, true>,
        };
        // SAFETY: the processor has the features, there are at least `LANES` places, the posts are
        // a whole square of two by two to 4096 by 4096, and a track in posts lies in its square.
        return unsafe { follow(square, track, first, out, wanted) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = wanted;
        0
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// Both widths against the arithmetic they stand for.
    #[test]
    #[expect(unsafe_code, reason = "calls both widths where the processor has them")]
    fn every_width_gives_the_same_bits() {
        let side = 61_usize;
        let posts: Vec<i16> = (0..side * side)
            .map(|i| (i * 7919 % 30_011) as i16 - 9_000)
            .collect();
        let pairs: Vec<[i16; 2]> = (0..side * (side - 1))
            .map(|i| [posts[i], posts[i + side]])
            .collect();
        let square = Square {
            pairs: &pairs,
            side,
            scale: 60.0,
            south: -3.0,
            west: 7.0,
            has_voids: false,
        };
        let lat: Vec<f64> = (0..77)
            .map(|k| -3.0 + f64::from(k * 37 % 77) / 77.0)
            .collect();
        let lon: Vec<f64> = (0..77)
            .map(|k| 7.0 + f64::from(k * 53 % 77) / 77.0)
            .collect();
        let want: Vec<f64> = lat
            .iter()
            .zip(&lon)
            .map(|(lat, lon)| {
                let (y, x) = ((lat + 3.0) * 60.0, (lon - 7.0) * 60.0);
                let (row, column) = (y.floor(), x.floor());
                let post = |up: usize, right: usize| {
                    f64::from(posts[(60 - row as usize - up) * side + column as usize + right])
                };
                let along = |up| f64::mul_add(post(up, 1) - post(up, 0), x - column, post(up, 0));
                f64::mul_add(along(1) - along(0), y - row, along(0))
            })
            .collect();
        let mut out = vec![0.0; 77];
        let has_fma = std::arch::is_x86_feature_detected!("fma");
        if has_fma && std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: AVX2 and FMA were found; the slices have one length, the posts are a square.
            assert_eq!(unsafe { narrow::fill(square, &lat, &lon, &mut out) }, 77);
            assert_eq!(out, want);
        }
        if is_wide() {
            for voids in [false, true] {
                out.fill(0.0);
                // SAFETY: likewise with AVX-512.
                let filled = unsafe {
                    if voids {
                        wide::fill::<true>(square, &lat, &lon, &mut out)
                    } else {
                        wide::fill::<false>(square, &lat, &lon, &mut out)
                    }
                };
                assert_eq!(filled, 77);
                assert_eq!(out, want);
            }
        }
    }
}
