//! Positions of generated stations: a small generator and three distributions.
//!
//! The generator is SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom
//! number generators", OOPSLA 2014): the state grows by 0x9e3779b97f4a7c15, and each state is
//! mixed into a number. Table `i` of `[[generate]]` draws from a generator of its own, whose state
//! starts at the first number of a generator started at `seed + i` (wrapping): so adding a table
//! at the end moves no station of the tables before.

use std::collections::BTreeMap;

use groundwave_model::terrain::geodesic::curvature_radii_m;

use super::file_motion::Area;
use super::limits::PLACEMENT_TRIES_MAX;

/// SplitMix64.
#[derive(Debug, Clone)]
pub(super) struct SplitMix64(u64);

impl SplitMix64 {
    /// The generator of the `index`-th table of a scenario with this seed.
    pub(super) fn for_table(seed: u64, index: usize) -> Self {
        let mut first = Self(seed.wrapping_add(index as u64));
        Self(first.next_u64())
    }

    /// The next number.
    pub(super) fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// The next number in [0, 1), a multiple of 2^-53.
    pub(super) fn next_prob(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / 9_007_199_254_740_992.0
    }
}

/// A latitude and a longitude, deg, rounded to 1e-7 (a centimetre), so that the last bits of a
/// platform's cosine stay out of the record.
pub(super) type Place = (f64, f64);

/// `count` places, each equally likely per square metre.
pub(super) fn uniform(area: &Area, count: usize, random: &mut SplitMix64) -> Vec<Place> {
    (0..count).map(|_| draw(area, random)).collect()
}

/// `count` places in rows from the north-west, in cells as square as the count allows.
pub(super) fn grid(area: &Area, count: usize) -> Vec<Place> {
    let (height_m, width_m) = sides_m(area);
    let ideal = (count as f64 * width_m / height_m).sqrt().round();
    // Between one column and one row; the cast saturates and the clamp bounds it.
    let columns = (ideal as usize).clamp(1, count.max(1));
    let rows = count.div_ceil(columns).max(1);
    let (lat_step, lon_step) = (
        (area.north_deg - area.south_deg) / rows as f64,
        (area.east_deg - area.west_deg) / columns as f64,
    );
    (0..count)
        .map(|index| {
            let (row, column) = ((index / columns) as f64, (index % columns) as f64);
            (
                rounded(area.north_deg - (row + 0.5) * lat_step),
                rounded(area.west_deg + (column + 0.5) * lon_step),
            )
        })
        .collect()
}

/// `count` places at least `spacing_m` apart, or how many fitted before the area seemed full.
pub(super) fn poisson_disc(
    area: &Area,
    count: usize,
    spacing_m: f64,
    random: &mut SplitMix64,
) -> Result<Vec<Place>, usize> {
    let middle_deg = f64::midpoint(area.south_deg, area.north_deg);
    let (m_per_lat, m_per_lon) = metres_per_degree(middle_deg);
    let mut places: Vec<Place> = Vec::with_capacity(count);
    let mut cells: BTreeMap<(i64, i64), Vec<usize>> = BTreeMap::new();
    let plane = |(lat, lon): Place| {
        (
            (lat - area.south_deg) * m_per_lat / spacing_m,
            (lon - area.west_deg) * m_per_lon / spacing_m,
        )
    };
    while places.len() < count {
        let free = (0..PLACEMENT_TRIES_MAX).find_map(|_| {
            let place = draw(area, random);
            let (y, x) = plane(place);
            let near = neighbours(&cells, y, x).any(|other: usize| {
                let (oy, ox) = plane(places[other]);
                (oy - y).powi(2) + (ox - x).powi(2) < 1.0
            });
            (!near).then_some((place, y, x))
        });
        let Some((place, y, x)) = free else {
            return Err(places.len());
        };
        cells.entry((y as i64, x as i64)).or_default().push(places.len());
        places.push(place);
    }
    Ok(places)
}

/// Places in the cell of a point and the eight around it; cells are one spacing wide.
fn neighbours(
    cells: &BTreeMap<(i64, i64), Vec<usize>>,
    y: f64,
    x: f64,
) -> impl Iterator<Item = usize> + '_ {
    let (row, column) = (y as i64, x as i64);
    (row - 1..=row + 1)
        .flat_map(move |r| (column - 1..=column + 1).map(move |c| (r, c)))
        .filter_map(|cell| cells.get(&cell))
        .flatten()
        .copied()
}

/// One place, equally likely per square metre: a degree of longitude shrinks polewards, so a
/// latitude is kept with a chance proportional to its cosine.
fn draw(area: &Area, random: &mut SplitMix64) -> Place {
    let nearest_equator = if area.south_deg <= 0.0 && area.north_deg >= 0.0 {
        0.0
    } else {
        area.south_deg.abs().min(area.north_deg.abs())
    };
    let widest = nearest_equator.to_radians().cos();
    let mut lat = area.south_deg;
    for _ in 0..PLACEMENT_TRIES_MAX {
        lat = area.south_deg + random.next_prob() * (area.north_deg - area.south_deg);
        if random.next_prob() * widest <= lat.to_radians().cos() {
            break;
        }
    }
    let lon = area.west_deg + random.next_prob() * (area.east_deg - area.west_deg);
    (rounded(lat), rounded(lon))
}

/// Height and width of an area at its middle, m.
fn sides_m(area: &Area) -> (f64, f64) {
    let (lat, lon) = metres_per_degree(f64::midpoint(area.south_deg, area.north_deg));
    ((area.north_deg - area.south_deg) * lat, (area.east_deg - area.west_deg) * lon)
}

/// Length of a degree of latitude and of longitude, m; the latter at least a metre.
fn metres_per_degree(lat_deg: f64) -> (f64, f64) {
    let (along, across) = curvature_radii_m(lat_deg);
    (along.to_radians(), (across * lat_deg.to_radians().cos()).to_radians().max(1.0))
}

/// To 1e-7 deg.
fn rounded(deg: f64) -> f64 {
    (deg * 1e7).round() / 1e7
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: Area = Area { south_deg: 57.6, west_deg: 11.7, north_deg: 57.9, east_deg: 12.0 };

    #[test]
    fn splitmix64_gives_the_published_numbers() {
        // The sequence for seed 1234567 in the reference C implementation by S. Vigna.
        let mut random = SplitMix64(1_234_567);
        let numbers = [
            6_457_827_717_110_365_317_u64,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(numbers.map(|_| random.next_u64()), numbers);
    }

    #[test]
    fn places_lie_inside_and_repeat() {
        let mut one = SplitMix64::for_table(7, 0);
        let places = uniform(&AREA, 2_000, &mut one);
        assert_eq!(places, uniform(&AREA, 2_000, &mut SplitMix64::for_table(7, 0)));
        assert_ne!(places, uniform(&AREA, 2_000, &mut SplitMix64::for_table(7, 1)));
        let inside =
            |&(lat, lon): &Place| (57.6..=57.9).contains(&lat) && (11.7..=12.0).contains(&lon);
        assert!(places.iter().all(inside));
        assert!(grid(&AREA, 2_000).iter().all(inside));
    }

    #[test]
    fn uniform_is_uniform_per_square_metre() {
        // From the equator to 60 N, sin 30 = 0.577 of sin 60 lies below 30 N.
        let area = Area { south_deg: 0.0, west_deg: 0.0, north_deg: 60.0, east_deg: 10.0 };
        let places = uniform(&area, 20_000, &mut SplitMix64::for_table(1, 0));
        let below = places.iter().filter(|(lat, _)| *lat < 30.0).count() as f64 / 20_000.0;
        assert!((below - 0.577_35).abs() < 0.015, "{below}");
    }

    #[test]
    fn grids_fill_rows_from_the_north_west() {
        let area = Area { south_deg: 0.0, west_deg: 0.0, north_deg: 1.0, east_deg: 2.0 };
        let places = grid(&area, 8);
        assert_eq!(places[0], (0.75, 0.25));
        assert_eq!(places[7], (0.25, 1.75));
    }

    #[test]
    fn discs_keep_their_distance_or_give_the_number_that_fits() {
        use groundwave_model::terrain::GeoPoint;
        use groundwave_model::terrain::geodesic::inverse;
        let places = poisson_disc(&AREA, 100, 1_000.0, &mut SplitMix64::for_table(3, 0)).unwrap();
        let points: Vec<GeoPoint> =
            places.iter().map(|&(lat, lon)| GeoPoint::new(lat, lon).unwrap()).collect();
        for (i, a) in points.iter().enumerate() {
            for b in &points[..i] {
                // Half a percent: one scale holds for the whole area.
                assert!(inverse(*a, *b).distance_m > 995.0);
            }
        }
        let full = poisson_disc(&AREA, 10_000, 5_000.0, &mut SplitMix64::for_table(3, 0));
        assert!(matches!(full, Err(10..60)), "{full:?}");
    }
}
