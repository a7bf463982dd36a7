//! Places that cannot be.

use std::collections::BTreeSet;

use super::{Found, Spot};

/// How far from the middle of a map a node may stand, km: the largest communities span 300.
const FAR_KM: f64 = 500.0;
/// A degree of latitude, km.
const DEGREE_KM: f64 = 111.2;

/// Drops impossible places, turns swapped ones round, drops those far from all others, and gives
/// each node a name of its own.
pub(super) fn sift(found: &mut Found) {
    let spots = std::mem::take(&mut found.spots);
    let (mut sound, mut odd) = (Vec::new(), Vec::new());
    for spot in spots {
        if [spot.lat_deg, spot.lon_deg] == [0.0, 0.0] {
            found.drop("latitude and longitude 0: dropped", &spot.place);
        } else if possible(spot.lat_deg, spot.lon_deg) {
            sound.push(spot);
        } else {
            odd.push(spot);
        }
    }
    let middle = [
        median(&sound, |spot| spot.lat_deg),
        median(&sound, |spot| spot.lon_deg),
    ];
    let near = |lat: f64, lon: f64| possible(lat, lon) && distance_km(middle, [lat, lon]) <= FAR_KM;
    for spot in sound.into_iter().chain(odd) {
        let (lat, lon) = (spot.lat_deg, spot.lon_deg);
        if near(lat, lon) {
            found.spots.push(spot);
        } else if near(lon, lat) {
            let what = "latitude and longitude swapped: taken the other way round";
            found.drop(what, &spot.place);
            found.spots.push(Spot {
                lat_deg: lon,
                lon_deg: lat,
                ..spot
            });
        } else if possible(lat, lon) {
            let what = format!("more than {FAR_KM} km from the middle of the map: dropped");
            found.drop(&what, &spot.place);
        } else {
            found.drop("no such latitude and longitude: dropped", &spot.place);
        }
    }
    number(found);
}

fn possible(lat: f64, lon: f64) -> bool {
    (-90.0..=90.0).contains(&lat) && (-180.0..=180.0).contains(&lon)
}

fn median(spots: &[Spot], of: impl Fn(&Spot) -> f64) -> f64 {
    let mut all: Vec<f64> = spots.iter().map(of).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(0.0)
}

/// Good enough to tell a town from a continent.
fn distance_km(a: [f64; 2], b: [f64; 2]) -> f64 {
    let narrow = ((a[0] + b[0]) / 2.0).to_radians().cos();
    let east = (a[1] - b[1] + 540.0).rem_euclid(360.0) - 180.0;
    DEGREE_KM * (a[0] - b[0]).hypot(east * narrow)
}

/// Names that several nodes have get a number.
fn number(found: &mut Found) {
    let mut taken = BTreeSet::new();
    let mut again = Vec::new();
    for spot in &mut found.spots {
        let first = spot.name.clone();
        let mut count = 1;
        while !taken.insert(spot.name.clone()) {
            count += 1;
            spot.name = format!("{first} {count}");
        }
        if count > 1 {
            again.push(spot.place.clone());
        }
    }
    for place in again {
        found.drop("a name that another node has: numbered", &place);
    }
}
