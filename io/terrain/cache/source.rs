//! Sources of terrain: public buckets of tiles of a degree.

use groundwave_model::terrain::TileId;

use super::super::about::About;

/// Source of tiles of a degree.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    /// Short name, for commands and folders.
    pub id: &'static str,
    /// Address that names of files are appended to; another one is a mirror.
    pub base_url: &'static str,
    /// Size that a tile may have, MB.
    pub tile_mb: u64,
    /// Path of a tile below the address.
    pub path: fn(TileId) -> String,
    /// Data set.
    pub about: fn() -> About,
}

/// Sources, the default first.
pub const SOURCES: [Source; 2] = [
    Source {
        id: "glo30",
        base_url: "https://copernicus-dem-30m.s3.amazonaws.com",
        tile_mb: 45,
        path: glo_30_path,
        about: About::glo_30,
    },
    Source {
        id: "srtm",
        base_url: "https://elevation-tiles-prod.s3.amazonaws.com/skadi",
        tile_mb: 25,
        path: skadi_path,
        about: About::terrain_tiles,
    },
];

impl Source {
    /// The source of a name.
    #[must_use]
    pub fn of(id: &str) -> Option<&'static Self> {
        SOURCES.iter().find(|source| source.id == id)
    }
}

/// Hemisphere and degrees: `N57`, `E011`.
fn parts(tile: TileId) -> [String; 2] {
    let name = tile.to_string();
    let (lat, lon) = name.split_at(3);
    [lat.to_owned(), lon.to_owned()]
}

/// Readme of the bucket: `Copernicus_DSM_COG_10_N57_00_E011_00_DEM/<the same>.tif`.
fn glo_30_path(tile: TileId) -> String {
    let [lat, lon] = parts(tile);
    let name = format!("Copernicus_DSM_COG_10_{lat}_00_{lon}_00_DEM");
    format!("{name}/{name}.tif")
}

/// Documentation of Terrain Tiles, format skadi: `N57/N57E011.hgt.gz`.
fn skadi_path(tile: TileId) -> String {
    format!("{}/{tile}.hgt.gz", parts(tile)[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_lie_where_the_sources_publish_them() {
        let tile = TileId::new(57, 11).unwrap();
        let south_west = TileId::new(-34, -71).unwrap();
        let paths = |tile| SOURCES.map(|source| (source.path)(tile));
        assert_eq!(
            paths(tile),
            [
                "Copernicus_DSM_COG_10_N57_00_E011_00_DEM/Copernicus_DSM_COG_10_N57_00_E011_00_DEM.tif",
                "N57/N57E011.hgt.gz",
            ]
        );
        assert_eq!(paths(south_west)[1], "S34/S34W071.hgt.gz");
        assert_eq!(Source::of("srtm").unwrap().id, "srtm");
        assert!(Source::of("lidar").is_none());
    }
}
