//! Single positions and files, for grounds that have other sources too.

use super::super::about::ABOUT_FILE;
use super::super::hgt::Reading;
use super::super::sea::{DOUBTFUL_M, has_lowland};
use super::*;

impl Slot {
    /// Decodes the file, see [`read_tile`]; a doubt about its posts is logged once.
    pub(super) fn read(&self, id: TileId, latitudes: Option<[f64; 2]>) -> Result<Tile, HgtError> {
        let tile = read_tile(&self.path, id, self.packing, latitudes)?;
        self.doubt_logged.call_once(|| {
            let path = self.path.display();
            if let Some(doubt) = tile.census().doubt(id, tile.resolution()) {
                warn!("terrain tile {path}: {doubt}");
            }
            let deep = tile.census().deep;
            if deep > 0 && !self.sea_bed && !has_lowland(id) {
                warn!(
                    "terrain tile {path}: {deep} posts are below {DOUBTFUL_M} m; where they are the sea bed, say \
                     `sea_bed = true` in {ABOUT_FILE}, so that water counts as ground at 0 m"
                );
            }
        });
        let tile = tile.of_kind(self.kind);
        Ok(if self.sea_bed { tile.with_water(id) } else { tile })
    }

    /// Resolution that the file claims.
    pub(super) fn claimed(&self, id: TileId) -> Option<Resolution> {
        let claimed = || probe(&self.path, id, self.packing);
        *self.claimed.get_or_init(claimed)
    }
}

impl TileDirectory {
    /// Numbers of the data sets of all tiles.
    pub(in super::super) fn sources(&self) -> impl Iterator<Item = usize> {
        self.tiles.values().map(|slot| slot.source)
    }

    /// Path, name, number of the data set and square of each tile.
    pub(in super::super) fn tile_files(
        &self,
    ) -> impl Iterator<Item = (&Path, &str, usize, TileId)> {
        let tiles = self.tiles.iter();
        tiles.map(|(id, slot)| (slot.path.as_path(), slot.name.as_str(), slot.source, *id))
    }

    /// Height at one position; none where no readable tile lies.
    pub(in super::super) fn reading(
        &self,
        lat_deg: f64,
        lon_deg: f64,
        posts: Posts,
    ) -> Option<Reading> {
        let cell = self.cell(lat_deg, lon_deg, [lat_deg; 2]);
        let (_, tile) = cell.tile?;
        let (north, east) = (lat_deg - cell.south_deg, lon_deg - cell.west_deg);
        if posts == Posts::Nearest {
            let elevation_msl_m = tile.nearest(north, east);
            let has_void = elevation_msl_m.is_nan();
            return Some(Reading { elevation_msl_m, has_void });
        }
        let corner = [cell.south_deg, cell.west_deg];
        let mut height_m = [0.0];
        let run = tile.bilinear_run(corner, &[lat_deg], &[lon_deg], &mut height_m);
        // On an edge that the tile has and does not own.
        if run.positions == 0 {
            return Some(tile.bilinear(north, east));
        }
        Some(Reading { elevation_msl_m: height_m[0], has_void: run.voids > 0 })
    }

    /// Spacing that the tile of a position claims, arc-seconds; the tile is not decoded.
    pub(in super::super) fn spacing_arcsec(&self, lat_deg: f64, lon_deg: f64) -> Option<f64> {
        let id = TileId::containing(lat_deg, lon_deg)?;
        let slot = self.tiles.get(&id)?;
        Some(slot.claimed(id)?.arcsec())
    }

    /// Notes that the tile of a position supplied a height.
    pub(in super::super) fn note(&self, lat_deg: f64, lon_deg: f64, used: &mut TerrainUse) {
        if let Some((id, tile)) = self.cell(lat_deg, lon_deg, [lat_deg; 2]).tile {
            self.note_use(id);
            used.note(id, tile.resolution().arcsec(), tile.kind());
        }
    }
}
