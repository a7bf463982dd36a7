//! Bilinear heights, four or eight positions at a time.
//!
//! The heights of a profile lie scattered over a tile, and fetching them is most of what a
//! profile costs. Processors with AVX2 or AVX-512 take four or eight together; the arithmetic is the
//! same in the same order as one by one in [`super::hgt`], so the bits are too.

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "blocks and posts by address")]
mod ring;
mod track;
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector loads by address")]
mod x86;

#[cfg(target_arch = "x86_64")]
use std::sync::LazyLock;

pub(super) use track::Track;
#[cfg(target_arch = "x86_64")]
use x86::{narrow, wide};

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

/// Vectors that the processor has.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Width {
    /// None that this module is compiled for.
    Plain,
    /// Of four, with AVX2.
    Narrow,
    /// Of eight, with AVX-512 F, BW and VL.
    Wide,
}

#[cfg(target_arch = "x86_64")]
impl Width {
    fn detected() -> Self {
        // Asking for each feature takes longer than a short run of positions.
        static DETECTED: LazyLock<Width> = LazyLock::new(Width::detect);
        *DETECTED
    }

    fn detect() -> Self {
        use std::arch::is_x86_feature_detected;
        if !is_x86_feature_detected!("avx2") {
            Self::Plain
        } else if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
        {
            Self::Wide
        } else {
            Self::Narrow
        }
    }
}

/// Fills heights from the first position on, up to the first block of positions that has one outside
/// the half-open square or a void at hand, and returns how many are filled. The slices have one
/// length; where it is no multiple of a block the last overlaps the one before it. Returns 0 where the
/// processor has no such vectors.
pub(super) fn fill(square: Square<'_>, north: &[f64], east: &[f64], out: &mut [f64]) -> usize {
    let len = north.len().min(east.len()).min(out.len());
    if !square.suits(len) {
        return 0;
    }
    #[cfg(target_arch = "x86_64")]
    {
        let (north, east, out) = (&north[..len], &east[..len], &mut out[..len]);
        let fill = match (Width::detected(), square.has_voids) {
            (Width::Plain, _) => return 0,
            (Width::Narrow, false) => narrow::fill::<false>,
            (Width::Narrow, true) => narrow::fill::<true>,
            (Width::Wide, false) => wide::fill::<false>,
            (Width::Wide, true) => wide::fill::<true>,
        };
        // SAFETY: the processor has the features, the slices have one length, at least `LANES`, and
        // the posts are a whole square of two by two to 4096 by 4096.
        #[expect(unsafe_code, reason = "vector loads by address")]
        return unsafe { fill(square, north, east, out) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}

/// As [`fill`] at the positions of `track` from number `first` on, `count` of them or a few more;
/// `out` ends with the last. Fills nothing where the processor has no such vectors or fewer than
/// [`LANES`] positions remain.
pub(super) fn follow(
    square: Square<'_>,
    track: &Track,
    first: usize,
    out: &mut [f64],
    count: usize,
) -> usize {
    if !square.suits(out.len()) || first + out.len() != track.last + 1 {
        return 0;
    }
    #[cfg(target_arch = "x86_64")]
    {
        macro_rules! follow {
            ($width:ident) => {
                match (square.has_voids, track.degree, track.is_in_posts) {
                    (true, _, false) => $width::follow::<true, 5, false>,
                    (true, 3, true) => $width::follow::<true, 3, true>,
                    (true, 4, true) => $width::follow::<true, 4, true>,
                    (true, _, true) => $width::follow::<true, 5, true>,
                    (false, 3, false) => $width::follow::<false, 3, false>,
                    (false, 4, false) => $width::follow::<false, 4, false>,
                    (false, _, false) => $width::follow::<false, 5, false>,
                    (false, 3, true) => $width::follow::<false, 3, true>,
                    (false, 4, true) => $width::follow::<false, 4, true>,
                    (false, _, true) => $width::follow::<false, 5, true>,
                }
            };
        }
        let follow = match Width::detected() {
            Width::Plain => return 0,
            Width::Narrow => follow!(narrow),
            Width::Wide => follow!(wide),
        };
        // SAFETY: the processor has the features, there are at least `LANES` places, the posts are
        // a whole square of two by two to 4096 by 4096, and a track in posts lies in its square.
        #[expect(unsafe_code, reason = "vector loads by address")]
        return unsafe { follow(square, track, first, out, count) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = count;
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
        let posts: Vec<i16> =
            (0..side * side).map(|i| (i * 7919 % 30_011) as i16 - 9_000).collect();
        let pairs: Vec<[i16; 2]> =
            (0..side * (side - 1)).map(|i| [posts[i], posts[i + side]]).collect();
        let square =
            Square { pairs: &pairs, side, scale: 60.0, south: -3.0, west: 7.0, has_voids: false };
        let lat: Vec<f64> = (0..77).map(|k| -3.0 + f64::from(k * 37 % 77) / 77.0).collect();
        let lon: Vec<f64> = (0..77).map(|k| 7.0 + f64::from(k * 53 % 77) / 77.0).collect();
        let want: Vec<f64> = lat
            .iter()
            .zip(&lon)
            .map(|(lat, lon)| {
                let (y, x) = ((lat + 3.0) * 60.0, (lon - 7.0) * 60.0);
                let (row, column) = (y.floor(), x.floor());
                let post = |up: usize, right: usize| {
                    f64::from(posts[(60 - row as usize - up) * side + column as usize + right])
                };
                let along = |up| (post(up, 1) - post(up, 0)) * (x - column) + post(up, 0);
                (along(1) - along(0)) * (y - row) + along(0)
            })
            .collect();
        type Fill = unsafe fn(Square<'_>, &[f64], &[f64], &mut [f64]) -> usize;
        let fills: [(Width, Fill); 4] = [
            (Width::Narrow, narrow::fill::<false>),
            (Width::Narrow, narrow::fill::<true>),
            (Width::Wide, wide::fill::<false>),
            (Width::Wide, wide::fill::<true>),
        ];
        for (_, fill) in fills.into_iter().filter(|(width, _)| has(*width)) {
            let mut out = vec![0.0; 77];
            // SAFETY: the processor has such vectors; the slices have one length, the posts are a
            // square.
            let filled = unsafe { fill(square, &lat, &lon, &mut out) };
            assert_eq!(filled, 77);
            assert_eq!(out, want);
        }
    }

    fn has(width: Width) -> bool {
        let own = Width::detected();
        own == width || (own, width) == (Width::Wide, Width::Narrow)
    }

    const SIDE: usize = 61;
    const COUNT: usize = 203;

    /// Height at a position in posts, one by one; none at a void.
    fn height_m(pairs: &[[i16; 2]], y: f64, x: f64) -> Option<f64> {
        let (row, column) = (y.floor(), x.floor());
        let start = (SIDE - 2 - row as usize) * SIDE + column as usize;
        let [[nw, sw], [ne, se]] = [pairs[start], pairs[start + 1]];
        let along = |west: i16, east: i16| {
            let rise = f64::from(east) - f64::from(west);
            rise * (x - column) + f64::from(west)
        };
        let (top, bottom) = (along(nw, ne), along(sw, se));
        let is_void = [nw, sw, ne, se].contains(&VOID);
        (!is_void).then_some((top - bottom) * (y - row) + bottom)
    }

    /// A track in degrees or in posts that ends at `end`, deg.
    fn track(end: [f64; 2], is_in_posts: bool) -> Track {
        let cells = (SIDE - 1) as f64;
        let pace = 1.0 / COUNT as f64;
        let axis = |end: f64| {
            let mut powers = [0.05, end - 0.06, 0.01, -1e-4, 1e-5, -1e-6];
            let mut scale = cells;
            for power in powers.iter_mut().filter(|_| is_in_posts) {
                *power *= scale;
                scale *= pace;
            }
            powers
        };
        Track {
            powers: end.map(axis),
            pace: if is_in_posts { 1.0 } else { pace },
            end: end.map(|end| if is_in_posts { end * cells } else { end }),
            last: COUNT,
            degree: 5,
            is_in_posts,
        }
    }

    /// Each width along a track, and where it meets an edge or a void.
    #[test]
    #[expect(unsafe_code, reason = "calls both widths where the processor has them")]
    fn every_width_follows_a_track() {
        type Follow = unsafe fn(Square<'_>, &Track, usize, &mut [f64], usize) -> usize;
        let cases: [([f64; 2], bool, bool, [(Width, Follow); 2]); 5] = [
            (
                [0.95, 0.9],
                false,
                false,
                [
                    (Width::Narrow, narrow::follow::<false, 5, false>),
                    (Width::Wide, wide::follow::<false, 5, false>),
                ],
            ),
            (
                [0.95, 1.2],
                false,
                false,
                [
                    (Width::Narrow, narrow::follow::<false, 5, false>),
                    (Width::Wide, wide::follow::<false, 5, false>),
                ],
            ),
            (
                [0.95, 0.9],
                true,
                false,
                [
                    (Width::Narrow, narrow::follow::<true, 5, false>),
                    (Width::Wide, wide::follow::<true, 5, false>),
                ],
            ),
            (
                [0.95, 0.9],
                false,
                true,
                [
                    (Width::Narrow, narrow::follow::<false, 5, true>),
                    (Width::Wide, wide::follow::<false, 5, true>),
                ],
            ),
            (
                [0.95, 0.9],
                true,
                true,
                [
                    (Width::Narrow, narrow::follow::<true, 5, true>),
                    (Width::Wide, wide::follow::<true, 5, true>),
                ],
            ),
        ];
        let post = |i: usize| (i * 7919 % 30_011) as i16 - 9_000;
        let pairs: Vec<[i16; 2]> =
            (0..SIDE * (SIDE - 1)).map(|i| [post(i), post(i + SIDE)]).collect();
        for (end, has_voids, is_in_posts, follows) in cases {
            let (mut north, mut east) = (vec![0.0; COUNT], vec![0.0; COUNT]);
            track(end, false).positions(1, &mut north, &mut east);
            let posts = |i: usize| (north[i] * 60.0, east[i] * 60.0);
            let mut pairs = pairs.clone();
            if has_voids {
                let (y, x) = posts(COUNT / 2);
                pairs[(SIDE - 2 - y as usize) * SIDE + x as usize][0] = VOID;
            }
            let want = |i: usize| {
                let (y, x) = posts(i);
                (y < 60.0 && x < 60.0).then(|| height_m(&pairs, y, x))?
            };
            let valid = (0..COUNT).take_while(|i| want(*i).is_some()).count();
            assert_eq!(valid == COUNT, end[1] < 1.0 && !has_voids);
            let square = Square {
                pairs: &pairs,
                side: SIDE,
                scale: if is_in_posts { 1.0 } else { 60.0 },
                south: 0.0,
                west: 0.0,
                has_voids,
            };
            let track = track(end, is_in_posts);
            let mut all = Vec::new();
            for (_, follow) in follows.into_iter().filter(|(width, _)| has(*width)) {
                let mut heights = vec![f64::NAN; COUNT];
                // SAFETY: the processor has such vectors, the posts are a square, and the track lies
                // in it if it is one in posts.
                let filled = unsafe { follow(square, &track, 1, &mut heights, COUNT) };
                assert!(valid < filled + LANES && filled <= valid, "{filled} of {valid}");
                for i in 0..filled {
                    let (height_m, want) = (heights[i], want(i).unwrap());
                    assert!((height_m - want).abs() < 1e-6, "{i}: {height_m} {want}");
                }
                // From the middle, and not as far as the end.
                let mut rest = vec![f64::NAN; COUNT - 20];
                // SAFETY: likewise.
                let few = unsafe { follow(square, &track, 21, &mut rest, 24) };
                assert!((24..24 + LANES).contains(&few));
                assert_eq!(rest[..few], heights[20..20 + few]);
                all.push(heights[..valid - valid % LANES].to_vec());
            }
            if let [one, other] = &all[..] {
                let bits = |of: &[f64]| of.iter().map(|m| m.to_bits()).collect::<Vec<_>>();
                let both = one.len().min(other.len()) - LANES;
                assert_eq!(bits(&one[..both]), bits(&other[..both]));
            }
        }
    }
}
