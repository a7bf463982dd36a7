//! Terrain that is fetched on first use.

use groundwave_http::Failure;
use groundwave_model::terrain::{GeoPoint, TileId};
use groundwave_terrain::cache::INDEX_FILE;

use super::super::fetch::{Fetching, squares_between};
use super::{OpenTerrain, TerrainOptions};

impl TerrainOptions {
    /// These options with the folder of fetched terrain, and in it the squares that `ground` lacks.
    pub(super) fn fetched(
        &self,
        squares: &[TileId],
        ground: &OpenTerrain,
    ) -> Result<Self, Failure> {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let (source, url) =
            (variable("GROUNDWAVE_TERRAIN_SOURCE"), variable("GROUNDWAVE_TERRAIN_URL"));
        let fetching =
            Fetching::new(self.cache_folder()?, source.as_deref(), url.as_deref(), None)?;
        let missing = fetching.lacking(squares, &*ground.terrain)?;
        if !missing.is_empty() {
            anstream::eprintln!("fetching {}", fetching.terms(&missing));
        }
        for square in missing {
            fetching.fetch(square, |_| {})?;
            anstream::eprintln!("fetched {square}");
        }
        let mut options = self.clone();
        if fetching.cache.folder().join(INDEX_FILE).is_file() {
            options.terrain_cache = Some(fetching.cache.folder().to_owned());
        }
        Ok(options)
    }

    /// The requested terrain under positions, else that of `make data`, else what was fetched, else none.
    ///
    /// # Errors
    /// When input is invalid or the machine fails.
    pub fn open_under(&self, positions: &[GeoPoint]) -> Result<OpenTerrain, Failure> {
        let ground = self.open()?;
        if !self.fetch {
            return Ok(ground);
        }
        let squares = squares_between(positions)?;
        self.fetched(&squares, &ground)?.open()
    }
}
