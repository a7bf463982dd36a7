//! Sources of terrain and land cover: public buckets of tiles of whole degrees.

use groundwave_model::terrain::TileId;

use super::super::about::About;
use super::super::raster::Contents;

/// Source of tiles of whole degrees.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    /// Short name, for commands and folders.
    pub id: &'static str,
    /// Address that names of files are appended to; another one is a mirror.
    pub base_url: &'static str,
    /// Side of a tile, degrees; edges are multiples of it.
    pub side_deg: i32,
    /// Meaning of the samples.
    pub(super) contents: Contents,
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
        side_deg: 1,
        contents: Contents::Ground,
        tile_mb: 45,
        path: glo_30_path,
        about: About::glo_30,
    },
    Source {
        id: "srtm",
        base_url: "https://elevation-tiles-prod.s3.amazonaws.com/skadi",
        side_deg: 1,
        contents: Contents::Ground,
        tile_mb: 25,
        path: skadi_path,
        about: About::terrain_tiles,
    },
];

/// Source of land cover.
pub const LAND_COVER: Source = Source {
    id: "worldcover",
    base_url: "https://esa-worldcover.s3.eu-central-1.amazonaws.com",
    side_deg: 3,
    contents: Contents::Cover,
    tile_mb: 130,
    path: world_cover_path,
    about: About::world_cover,
};

impl Source {
    /// South-western square degree of the tile that holds a square degree; `None` where tiles end.
    #[must_use]
    pub fn tile_of(&self, square: TileId) -> Option<TileId> {
        let edge = |deg: i32| deg.div_euclid(self.side_deg) * self.side_deg;
        TileId::new(edge(square.south_deg()), edge(square.west_deg()))
    }

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

/// Readme of the bucket: `v200/2021/map/ESA_WorldCover_10m_2021_v200_N57E009_Map.tif`.
fn world_cover_path(tile: TileId) -> String {
    format!("v200/2021/map/ESA_WorldCover_10m_2021_v200_{tile}_Map.tif")
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
        let cover = |tile| (LAND_COVER.path)(LAND_COVER.tile_of(tile).unwrap());
        assert_eq!(cover(tile), "v200/2021/map/ESA_WorldCover_10m_2021_v200_N57E009_Map.tif");
        assert!(cover(south_west).ends_with("_S36W072_Map.tif"));
        assert_eq!(SOURCES[0].tile_of(tile), Some(tile));
    }
}
