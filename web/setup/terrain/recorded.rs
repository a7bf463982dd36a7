//! Terrain of logs and sweeps, as it was when they were recorded or planned.

use std::collections::BTreeMap;
use std::path::PathBuf;

use groundwave_engine::ReplayError;
use groundwave_http::Failure;
use groundwave_model::terrain::Posts;
use groundwave_scenario::limits::GROUND_MSL_M;
use groundwave_sweep::{Plan, TerrainFiles};
use groundwave_terrain::COVER_FILE;

use super::open::{
    FLAT_EARTH, GEOID_DIGEST, GEOID_FILE, LAND_COVER, NEAREST, NO_TERRAIN, NONE, POSTS, Sources,
    downloaded, flat, open,
};
use super::{OpenTerrain, TerrainOptions};

impl TerrainOptions {
    /// The terrain a log was recorded on. Logs name tiles by their digests, which a replay
    /// compares; those of earlier versions name folders, which are used where they still exist.
    ///
    /// # Errors
    /// When input is invalid or the machine fails.
    pub fn for_log(&self, inputs: &BTreeMap<String, String>) -> Result<OpenTerrain, Failure> {
        let path = |key: &str| inputs.get(key).map(PathBuf::from);
        let recorded = |key: &str| path(key).filter(|path| path.exists());
        let without_geoid = match inputs.get(GEOID_DIGEST) {
            Some(digest) => digest == NONE,
            None => inputs.contains_key("terrain") && !inputs.contains_key("geoid"),
        };
        let geoid = || {
            let given = self.geoid.clone().or_else(|| recorded("geoid"));
            given.or_else(|| downloaded(GEOID_FILE))
        };
        let geoid = (!without_geoid).then(geoid).flatten();
        self.require_existing([None, geoid.as_deref(), None])?;
        let land_cover = match inputs.get(LAND_COVER) {
            Some(names) => Some(self.land_cover_of(names, "log", None)?),
            None => None,
        };
        let (is_offline, memory_mb) = (self.is_offline(), self.memory_mb);
        if inputs.contains_key(NO_TERRAIN) {
            return open(Sources {
                geoid,
                land_cover,
                is_offline,
                memory_mb,
                ..Sources::default()
            });
        }
        let Some(flat_msl_m) = inputs.get("flat_msl_m") else {
            let flat_earth = self.flat_earth || inputs.contains_key(FLAT_EARTH);
            let folder = self.srtm_dir.clone().or_else(|| recorded("srtm_dir"));
            let is_nearest = inputs.get(POSTS).is_some_and(|way| way == NEAREST);
            let cache = self.cache(folder.is_some());
            self.require_existing([folder.as_deref(), None, cache.as_deref()])?;
            return open(Sources {
                cache,
                folder: folder.or_else(|| downloaded("srtm")),
                geoid,
                land_cover,
                is_offline,
                flat_earth,
                memory_mb: self.memory_mb,
                posts: if is_nearest { Posts::Nearest } else { Posts::Interpolated },
            });
        };
        let elevation_msl_m = flat_height_m(flat_msl_m, "log")?;
        // Flat ground with a geoid is always at 0 m.
        match geoid.filter(|_| elevation_msl_m == 0.0) {
            Some(geoid) => open(Sources {
                geoid: Some(geoid),
                land_cover,
                is_offline,
                flat_earth: true,
                ..Sources::default()
            }),
            None => flat(elevation_msl_m, Sources { land_cover, is_offline, ..Sources::default() }),
        }
    }

    /// Folder of the land cover that a document names: that of the options, else `noted`.
    fn land_cover_of(
        &self,
        names: &str,
        document: &str,
        noted: Option<&PathBuf>,
    ) -> Result<PathBuf, Failure> {
        self.land_cover.clone().or_else(|| noted.cloned()).ok_or_else(|| {
            Failure::Input(format!(
                "the {document} has land cover, {names}, and its folder is not named (--land-cover)"
            ))
        })
    }

    /// The terrain a sweep was planned on, in the files it was `found` in unless options name
    /// others; products of other terrain would not fit its cells.
    ///
    /// # Errors
    /// When input is invalid or the machine fails.
    pub fn for_sweep(&self, plan: &Plan, files: &TerrainFiles) -> Result<OpenTerrain, Failure> {
        let ground = self.open_for_sweep(plan, files)?;
        if ground.identity(plan)? != plan.terrain {
            let what =
                "the terrain differs from that of the sweep plan; name its folder with --srtm-dir";
            return Err(Failure::Input(what.to_owned()));
        }
        Ok(ground)
    }

    /// As [`TerrainOptions::for_sweep`], of files whose digests are known to be those of the plan.
    ///
    /// # Errors
    /// When input is invalid or the machine fails.
    pub fn open_for_sweep(
        &self,
        plan: &Plan,
        files: &TerrainFiles,
    ) -> Result<OpenTerrain, Failure> {
        let identity = &plan.terrain;
        let mut options = self.clone();
        options.flat_earth |= identity.contains_key(FLAT_EARTH);
        let names: Vec<_> =
            identity.keys().filter_map(|name| name.strip_prefix(COVER_FILE)).collect();
        options.land_cover = match names.is_empty() {
            true => None,
            false => Some(self.land_cover_of(
                &names.join(", "),
                "sweep plan",
                files.land_cover.as_ref(),
            )?),
        };
        let cover = options.cover_alone();
        let ground = match identity.get("flat_msl_m") {
            Some(height) => flat(flat_height_m(height, "sweep plan")?, cover)?,
            None if identity.contains_key(NO_TERRAIN) => open(cover)?,
            None => {
                options.terrain_cache = options.terrain_cache.or(files.cache.clone());
                let is_nearest = identity.get(POSTS).is_some_and(|way| way == NEAREST);
                let posts = is_nearest.then_some(Posts::Nearest);
                options.tiles(files.srtm_dir.as_deref(), files.geoid.as_deref(), posts)?
            }
        };
        ground.expect(plan.latitudes_deg());
        Ok(ground)
    }
}

/// Height of flat ground, m, as a document has it.
fn flat_height_m(text: &str, document: &str) -> Result<f64, Failure> {
    let (low, high) = GROUND_MSL_M;
    let height_m = text.parse().ok();
    let height_m = height_m.filter(|height_m| (low..=high).contains(height_m));
    height_m.ok_or_else(|| {
        Failure::Input(format!(
            "invalid flat_msl_m of the {document}: found {text:?}, allowed [{low}, {high}]"
        ))
    })
}

impl TerrainOptions {
    /// As [`replay_failure`]; where the replay was asked for over ground of its own, with the way to such a log.
    pub fn replay_failure(&self, error: ReplayError) -> Failure {
        let has_ground = self.srtm_dir.is_some() || self.flat_earth;
        match error {
            ReplayError::Diverged { .. } if has_ground => Failure::Input(format!(
                "{error}; the ground is that of the log: convert or record it again with --srtm-dir or --flat-earth"
            )),
            error => replay_failure(error),
        }
    }
}

/// The failure of a replay; where files of the terrain are others, with the options that name them.
pub fn replay_failure(error: ReplayError) -> Failure {
    match error {
        ReplayError::Files { .. } => Failure::Input(format!(
            "{error}; name the terrain of the log with --srtm-dir, --geoid and --land-cover"
        )),
        error => Failure::input(error),
    }
}
