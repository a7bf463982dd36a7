//! Water above the sea bed: sources that hold the bed of the sea give its surface, and land below the sea
//! level stays as it is.

use groundwave_model::terrain::TileId;

/// Depth from which a post of a source without the sea bed is doubtful, m.
pub(super) const DOUBTFUL_M: i16 = -10;

/// Land below the sea level.
struct Lowland {
    /// South, west, north and east, deg.
    bounds_deg: [f64; 4],
    /// Height of its lowest place, m; what is lower lies under water.
    lowest_m: i16,
    /// Surface of that water, m.
    water_m: i16,
}

const fn lowland(bounds_deg: [f64; 4], lowest_m: i16) -> Lowland {
    Lowland { bounds_deg, lowest_m, water_m: 0 }
}

/// The land below the sea level, with some room, from the lowest places of the continents (CIA World Factbook,
/// "Elevation extremes"; SRTM). The first that holds a place counts.
const LOWLANDS: [Lowland; 22] = [
    // Dead Sea and the valley of the Jordan, Sea of Galilee.
    lowland([30.4, 35.1, 33.2, 35.9], -450),
    // Danakil, Lake Assal.
    lowland([11.4, 39.8, 15.0, 42.8], -170),
    // Turpan.
    lowland([42.2, 88.3, 43.3, 90.6], -165),
    // Qattara, Siwa, Faiyum.
    lowland([28.2, 24.9, 30.7, 31.2], -145),
    // Karagiye and Akchakaya beside the Caspian Sea.
    lowland([43.1, 51.2, 44.0, 52.3], -140),
    lowland([40.3, 56.8, 41.6, 58.7], -95),
    // The Caspian Sea and its lowland: its surface is at -28 m.
    Lowland { bounds_deg: [36.3, 44.3, 51.0, 55.2], lowest_m: -29, water_m: -28 },
    // Death Valley; Salton Sea, Imperial and Mexicali valleys.
    lowland([35.6, -117.4, 37.0, -116.2], -90),
    lowland([31.9, -116.4, 34.0, -114.9], -80),
    // Patagonia: Laguna del Carbon, Gualicho, Valdes.
    lowland([-50.0, -68.9, -49.0, -67.8], -110),
    lowland([-40.8, -65.8, -39.9, -64.6], -80),
    lowland([-42.9, -64.5, -42.3, -63.7], -45),
    // Lake Eyre.
    lowland([-29.7, 136.4, -27.4, 138.8], -20),
    // Chotts of Algeria and Tunisia.
    lowland([33.3, 5.6, 34.9, 8.4], -45),
    // Sebkha Tah, Sabkhat Ghuzayyil.
    lowland([27.3, -13.3, 28.3, -12.2], -60),
    lowland([29.4, 18.9, 30.4, 20.2], -55),
    // Lake Enriquillo.
    lowland([18.2, -72.1, 18.8, -71.2], -50),
    // Polders and marshes of the southern North Sea, from the Fens to the Lammefjord.
    lowland([50.6, -0.6, 56.2, 12.6], -8),
    // Po and Rhone deltas.
    lowland([43.2, 4.0, 45.7, 12.7], -6),
    // Mississippi delta; Sacramento delta.
    lowland([29.0, -91.5, 30.6, -88.9], -4),
    lowland([37.5, -122.2, 38.7, -121.2], -9),
    // Vistula delta.
    lowland([53.9, 18.6, 54.5, 19.9], -4),
];

/// Lowest land at a place, and the surface of water there, m.
fn at(lat_deg: f64, lon_deg: f64) -> [i16; 2] {
    let holds = |lowland: &&Lowland| {
        let [south, west, north, east] = lowland.bounds_deg;
        (south..=north).contains(&lat_deg) && (west..=east).contains(&lon_deg)
    };
    LOWLANDS.iter().find(holds).map_or([0, 0], |lowland| [lowland.lowest_m, lowland.water_m])
}

/// Height of the surface, m, where a source with the sea bed has `height_m`.
pub(super) fn surface_m(height_m: f64, lat_deg: f64, lon_deg: f64) -> f64 {
    // Most land is above the sea level.
    if height_m >= 0.0 {
        return height_m;
    }
    let [lowest_m, water_m] = at(lat_deg, lon_deg).map(f64::from);
    if height_m < lowest_m { water_m } else { height_m }
}

/// True if a tile has land below the sea level.
pub(super) fn has_lowland(id: TileId) -> bool {
    let [south, west] = [id.south_deg(), id.west_deg()].map(f64::from);
    LOWLANDS.iter().any(|lowland| {
        let [low, left, high, right] = lowland.bounds_deg;
        low < south + 1.0 && high > south && left < west + 1.0 && right > west
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sea_has_its_surface_and_land_below_it_stays() {
        for (name, lat_deg, lon_deg, height_m, expected_m) in [
            ("Kattegat", 57.5, 11.3, -40.0, 0.0),
            ("Atlantic", 30.0, -40.0, -5_000.0, 0.0),
            ("Gothenburg", 57.7, 12.0, 12.0, 12.0),
            ("Dead Sea", 31.5, 35.5, -430.0, -430.0),
            ("Death Valley", 36.2, -116.8, -85.0, -85.0),
            ("polder near Gouda", 52.0, 4.6, -6.7, -6.7),
            ("North Sea", 53.5, 3.5, -30.0, 0.0),
            ("Caspian lowland", 47.0, 49.0, -27.0, -27.0),
            ("Caspian Sea", 40.0, 51.0, -600.0, -28.0),
            ("Karagiye", 43.5, 51.7, -132.0, -132.0),
        ] {
            assert_eq!(surface_m(height_m, lat_deg, lon_deg), expected_m, "{name}");
        }
        assert!(surface_m(f64::NAN, 0.0, 0.0).is_nan());
    }

    #[test]
    fn tiles_with_land_below_the_sea_are_known() {
        let tile = |south, west| has_lowland(TileId::new(south, west).unwrap());
        assert!(tile(31, 35) && tile(52, 4));
        assert!(!tile(57, 11) && !tile(0, 0));
    }
}
