//! What the model needs of a path, from the rays beside it.

use super::ray::{Ray, Rays};
use super::{NODE, TAIL};
use crate::numeric::{Kernel, vectorised};
use crate::propagation::itm::{self, Measured};

/// Longest ray that is looked back along, samples.
const LONGEST: usize = 2048;

/// A path made of the ground between two rays and, at its end, its own.
struct Composite<'a> {
    rays: [&'a Ray; 2],
    /// How far the path lies from the first ray towards the second, 0 to 1.
    share: f64,
    /// Samples taken from the rays.
    shared: usize,
    /// The path's own samples, the receiver's last.
    tail: &'a [f64; TAIL],
    distance_m: f64,
    /// Distance between samples of the tail.
    step_m: f64,
    /// Distance between samples of the rays.
    spacing_m: f64,
}

/// Measures the path to a cell `distance_m` away in `steps` steps, `turns` (0 to 1) around the
/// compass, whose last samples, one step apart, are `tail`. `None` where the rays do not say
/// enough.
pub(in super::super) fn measure(
    rays: &Rays,
    itm: &itm::Prepared,
    distance_m: f64,
    steps: usize,
    turns: f64,
    tail: &[f64; TAIL],
) -> Option<Measured> {
    let count = rays.rays.len();
    let place = turns * count as f64;
    let first = (place.floor() as usize).min(count - 1);
    let step_m = distance_m / steps as f64;
    let tail_at_m = distance_m - (TAIL - 1) as f64 * step_m;
    let path = Composite {
        rays: [&rays.rays[first], &rays.rays[(first + 1) % count]],
        share: place - first as f64,
        // The last of the rays is the one nearest to a step before the tail.
        shared: (tail_at_m / rays.spacing_m + 0.5) as usize,
        tail,
        distance_m,
        step_m,
        spacing_m: rays.spacing_m,
    };
    let known = path
        .rays
        .iter()
        .all(|ray| ray.clean && ray.elevation_msl_m.len() > path.shared);
    if !known || path.shared < 2 || path.shared >= LONGEST {
        return None;
    }
    Some(path.measure(itm))
}

impl Composite<'_> {
    fn measure(&self, itm: &itm::Prepared) -> Measured {
        let antenna_agl_m = itm.antenna_agl_m();
        let distance_m = self.distance_m;
        let last = self.shared + TAIL - 1;
        let tenth = (0.1 * last as f64) as usize;
        let (sum, _) = self.sums(tenth, last - tenth);
        let (n_s, earth_radius_m) = itm.air(sum / (last - 2 * tenth + 1) as f64);

        let ground_m = [self.at(0), self.tail[TAIL - 1]];
        let eyes_m = [
            ground_m[0] + antenna_agl_m[0],
            ground_m[1] + antenna_agl_m[1],
        ];
        let [tx, rx] = self.horizons(eyes_m, 0.5 / earth_radius_m);
        let [near_m, far_m] = [tx.distance_m, rx.distance_m];

        // Samples are counted from both ends, where they matter most.
        let from_site = |m: f64| m / self.spacing_m;
        let from_cell = |m: f64| last as f64 - m / self.step_m;
        let start = from_site((0.1 * near_m).min(15.0 * antenna_agl_m[0]));
        let end = from_cell((0.1 * far_m).min(15.0 * antenna_agl_m[1]));
        let [fit_tx, fit_rx] = if near_m + far_m > 1.5 * distance_m {
            self.line_ends(start, end)
        } else {
            [
                self.line_ends(start, from_site(0.9 * near_m))[0],
                self.line_ends(from_cell(0.9 * far_m), end)[1],
            ]
        };
        let (range_m, extent_m) = self.range(itm);
        Measured {
            distance_m,
            n_s,
            earth_radius_m,
            horizon_distance_m: [near_m, far_m],
            horizon_angle_rad: [tx.angle_rad, rx.angle_rad],
            raised_m: [
                (ground_m[0] - fit_tx).max(0.0),
                (ground_m[1] - fit_rx).max(0.0),
            ],
            range_m,
            extent_m,
        }
    }

    /// A number of the rays at the path, and of sample `index` there.
    fn between(&self, of: impl Fn(&Ray) -> f64) -> f64 {
        let [a, b] = self.rays.map(of);
        a + (b - a) * self.share
    }

    /// Height of a sample from the rays, m.
    fn at(&self, index: usize) -> f64 {
        self.between(|ray| ray.elevation_msl_m[index])
    }

    /// Height of any sample, m.
    fn height_m(&self, index: usize) -> f64 {
        if index < self.shared {
            self.at(index)
        } else {
            self.tail[index - self.shared]
        }
    }

    /// Sum of the heights of samples `from` to `to`, both included, and of their products with
    /// their numbers.
    fn sums(&self, from: usize, to: usize) -> (f64, f64) {
        let (a, b) = (from.min(self.shared), (to + 1).min(self.shared));
        let mut sum = self.between(|ray| ray.sum[b] - ray.sum[a]);
        let mut moment = self.between(|ray| ray.moment[b] - ray.moment[a]);
        for index in from.max(self.shared)..=to {
            let height_m = self.tail[index - self.shared];
            sum += height_m;
            moment += height_m * index as f64;
        }
        (sum, moment)
    }

    /// As [`itm`]'s fit of a line to whole samples between `start` and `end`: its heights at the
    /// first and the last sample.
    fn line_ends(&self, start: f64, end: f64) -> [f64; 2] {
        let last = self.shared + TAIL - 1;
        let (from, to) = itm::fit_interval(last, start, end);
        let length = (to - from) as f64;
        let middle = to as f64 - 0.5 * length;
        let (sum, moment) = self.sums(from, to);
        let (low, high) = (self.height_m(from), self.height_m(to));
        let sum = sum - 0.5 * (low + high);
        let about = moment - 0.5 * (low * from as f64 + high * to as f64) - middle * sum;
        let slope = about * 12.0 / ((length * length + 2.0) * length);
        let mean = sum / length;
        [mean - slope * middle, mean + slope * (last as f64 - middle)]
    }

    /// Both horizons between antennas `eyes_m` above mean sea level.
    fn horizons(&self, eyes_m: [f64; 2], bulge_per_m: f64) -> [Horizon; 2] {
        let distance_m = self.distance_m;
        let open = |from_m: f64, to_m: f64| Horizon {
            angle_rad: (to_m - from_m) / distance_m - distance_m * bulge_per_m,
            distance_m,
        };
        let (mut tx, mut rx) = (open(eyes_m[0], eyes_m[1]), open(eyes_m[1], eyes_m[0]));
        let angle_rad = self.between(|ray| ray.steepest_rad[self.shared - 1]);
        if angle_rad > tx.angle_rad {
            let nearer = self.rays[usize::from(self.share > 0.5)];
            let distance_m = f64::from(nearer.steepest_at[self.shared - 1]) * self.spacing_m;
            tx = Horizon {
                angle_rad,
                distance_m,
            };
        }
        let back = vectorised(LookBack {
            rays: self.rays.map(|ray| &ray.elevation_msl_m[1..self.shared]),
            share: self.share as f32,
            eye_m: eyes_m[1] as f32,
            distance: (distance_m / self.spacing_m) as f32,
            spacing_m: self.spacing_m as f32,
            bulge: (bulge_per_m * self.spacing_m) as f32,
        });
        if let Some((angle_rad, index)) = back
            && angle_rad > rx.angle_rad
        {
            rx = Horizon {
                angle_rad,
                distance_m: distance_m - (index + 1) as f64 * self.spacing_m,
            };
        }
        for (place, height_m) in self.tail[..TAIL - 1].iter().enumerate() {
            let back_m = (TAIL - 1 - place) as f64 * self.step_m;
            let at_m = distance_m - back_m;
            let angle_rad = (height_m - eyes_m[0]) / at_m - at_m * bulge_per_m;
            if angle_rad > tx.angle_rad {
                tx = Horizon {
                    angle_rad,
                    distance_m: at_m,
                };
            }
            let angle_rad = (height_m - eyes_m[1]) / back_m - back_m * bulge_per_m;
            // Of equals the nearest to the receiver counts, which comes later.
            if angle_rad >= rx.angle_rad {
                rx = Horizon {
                    angle_rad,
                    distance_m: back_m,
                };
            }
        }
        [tx, rx]
    }

    /// Interdecile range, m, from the nodes before and after the path's end, and the length it
    /// was found over.
    fn range(&self, itm: &itm::Prepared) -> (f64, f64) {
        let place = self.distance_m / self.spacing_m / NODE as f64;
        let node = (place.floor() as usize).min(self.rays[0].range_m.len() - 2);
        let share = (place - node as f64).min(1.0);
        let at = |node: usize| self.between(|ray| ray.range_m[node]);
        let range_m = at(node) + (at(node + 1) - at(node)) * share;
        (range_m, itm.usual_extent_m(self.distance_m))
    }
}

/// What a terminal sees at the edge of its view.
#[derive(Clone, Copy)]
struct Horizon {
    angle_rad: f64,
    distance_m: f64,
}

/// The steepest look back from a receiver along what lies between two rays.
struct LookBack<'a> {
    rays: [&'a [f64]; 2],
    share: f32,
    eye_m: f32,
    /// Distance of the receiver from the site, samples.
    distance: f32,
    spacing_m: f32,
    /// How the earth falls away, rad in one sample.
    bulge: f32,
}

impl Kernel for LookBack<'_> {
    /// Angle, rad, and number of the sample it belongs to.
    type Output = Option<(f64, usize)>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let count = self.rays[0].len().min(self.rays[1].len()).min(LONGEST);
        let (a, b) = (&self.rays[0][..count], &self.rays[1][..count]);
        let scale = 1.0 / self.spacing_m;
        let mut angles = [f32::NEG_INFINITY; LONGEST];
        for index in 0..count {
            let back = self.distance - (index as i32 + 1) as f32;
            let (one, other) = (a[index] as f32, b[index] as f32);
            let rise = one + (other - one) * self.share - self.eye_m;
            angles[index] = rise * scale / back - back * self.bulge;
        }
        // Bits of floats in the order of the numbers, so that a maximum is one of integers, which
        // is vector code.
        let mut top = i32::MIN;
        for angle in &angles[..count] {
            let bits = angle.to_bits() as i32;
            top = top.max(bits ^ ((bits >> 31) & i32::MAX));
        }
        let mut at = 0_u32;
        for index in 0..count {
            let bits = angles[index].to_bits() as i32;
            let here = if bits ^ ((bits >> 31) & i32::MAX) == top {
                index as u32
            } else {
                0
            };
            at = at.max(here);
        }
        (count > 0).then(|| (f64::from(angles[at as usize]), at as usize))
    }
}
