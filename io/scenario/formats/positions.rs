//! Checks of the positions of maps, which many people keep by hand.

use groundwave_model::terrain::GeoPoint;

/// Longest distance of a node from the median position of its map, km: the largest communities
/// span 300.
const DISTANCE_KM_MAX: f64 = 500.0;
/// A degree of latitude, km.
const DEGREE_KM: f64 = 111.2;

/// The positions of raw latitudes and longitudes, degrees: swapped ones are turned round; impossible
/// ones, those at 0 N 0 E and those far from all others are dropped. `report` gets index and reason.
pub(super) fn checked(
    raw: &[Option<[f64; 2]>],
    mut report: impl FnMut(usize, &str),
) -> Vec<Option<GeoPoint>> {
    let valid = raw.iter().flatten().copied().filter(|at| *at != [0.0, 0.0] && possible(*at));
    let valid: Vec<[f64; 2]> = valid.collect();
    let median = [
        median(valid.iter().map(|at| at[0]).collect()),
        median_longitude(valid.iter().map(|at| at[1])),
    ];
    let near = |at: [f64; 2]| possible(at) && distance_km(median, at) <= DISTANCE_KM_MAX;
    let mut check = |(index, at): (usize, &Option<[f64; 2]>)| {
        let [lat, lon] = (*at)?;
        if [lat, lon] == [0.0, 0.0] {
            report(index, "latitude and longitude 0: dropped");
            return None;
        }
        if near([lat, lon]) {
            return GeoPoint::new(lat, lon).ok();
        }
        if near([lon, lat]) {
            let what = "latitude and longitude swapped: read the other way round";
            report(index, what);
            return GeoPoint::new(lon, lat).ok();
        }
        if possible([lat, lon]) {
            let far = "from the median position of the map: dropped";
            report(index, &format!("more than {DISTANCE_KM_MAX} km {far}"));
        } else {
            report(index, "invalid latitude or longitude: dropped");
        }
        None
    };
    raw.iter().enumerate().map(&mut check).collect()
}

fn possible([lat, lon]: [f64; 2]) -> bool {
    (-90.0..=90.0).contains(&lat) && (-180.0..=180.0).contains(&lon)
}

/// Median; of an even number the mean of the two in the middle, of none 0.
fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    let middle = |index: usize| all.get(index).copied().unwrap_or(0.0);
    match all.len() % 2 {
        0 => f64::midpoint(middle((all.len() / 2).saturating_sub(1)), middle(all.len() / 2)),
        _ => middle(all.len() / 2),
    }
}

/// Median of longitudes, degrees: counted from their mean direction, since those of a map may be on both sides of 180.
fn median_longitude(all: impl Iterator<Item = f64> + Clone) -> f64 {
    let sum = |of: fn(f64) -> f64| all.clone().map(|lon| of(lon.to_radians())).sum::<f64>();
    let middle = libm::atan2(sum(libm::sin), sum(libm::cos)).to_degrees();
    middle + median(all.map(|lon| turned(lon - middle)).collect())
}

/// A difference of longitudes within half a turn, degrees.
fn turned(difference: f64) -> f64 {
    (difference + 540.0).rem_euclid(360.0) - 180.0
}

/// Distance on a cylinder: accurate enough to distinguish a town from a continent.
fn distance_km(a: [f64; 2], b: [f64; 2]) -> f64 {
    let narrow = ((a[0] + b[0]) / 2.0).to_radians().cos();
    let east = turned(a[1] - b[1]);
    DEGREE_KM * (a[0] - b[0]).hypot(east * narrow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn map_on_both_sides_of_180_degrees_keeps_its_nodes() {
        let raw = [[-17.0, 179.9], [-17.1, -179.9], [-17.2, 179.8], [-17.3, -179.8]].map(Some);
        let mut reasons = Vec::new();
        let all = checked(&raw, |index, what| reasons.push((index, what.to_owned())));
        assert!(all.iter().all(Option::is_some), "{reasons:?}");
        // One on the other side of the Earth is dropped there as well.
        let raw = [[-17.0, 179.9], [-17.1, -179.9], [-17.2, 179.8], [-17.3, 0.1]].map(Some);
        let all = checked(&raw, |_, _| {});
        assert_eq!(all.iter().filter(|at| at.is_some()).count(), 3);
    }

    #[test]
    fn median_of_an_even_number_is_between_the_two_in_the_middle() {
        assert_eq!(median(vec![4.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!((median(vec![7.0]), median(Vec::new())), (7.0, 0.0));
        // Two groups of two, 8 degrees apart, are both near the middle of the map.
        let raw = [[50.0, 8.0], [50.1, 8.0], [58.0, 8.0], [58.1, 8.0]].map(Some);
        let mut reasons = Vec::new();
        let checked = checked(&raw, |index, what| reasons.push((index, what.to_owned())));
        assert!(checked.iter().all(Option::is_some), "{reasons:?}");
    }
}
