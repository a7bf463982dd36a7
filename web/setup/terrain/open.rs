//! Opening of files of terrain, and their identity.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groundwave_files::address::is_address;
use groundwave_files::hex::hex;
use groundwave_http::Failure;
use groundwave_http::option_value::{refuse_folder, require_existing};
use groundwave_model::EVALUATION;
use groundwave_model::terrain::{Flat, Posts, Terrain};
use groundwave_simulation::evaluation;
use groundwave_terrain::cache::{Client, Index, Proxy, Windows};
use groundwave_terrain::memory::usual_budget_bytes;
use groundwave_terrain::{LandCover, OffTiles, Supplying, TerrainStack};
use rayon::prelude::*;

use super::{Fallbacks, OpenTerrain, REMEDY, TerrainOptions};

/// Key of a log header: height between posts; absent for interpolated ones.
pub(super) const POSTS: &str = "posts";
/// Value of [`POSTS`].
pub(super) const NEAREST: &str = "nearest";

/// Key of a log header: the terrain has no tiles, and no input declares flat ground.
pub(super) const NO_TERRAIN: &str = "no_terrain";
/// Key of a log header: ground without a tile counts as ground at sea level.
pub(super) const FLAT_EARTH: &str = "flat_earth";

/// Key of a log header: data sets of the land cover; absent without it.
pub(super) const LAND_COVER: &str = "land_cover";

/// Key of the digest of the geoid among the inputs of a log.
pub(super) const GEOID_DIGEST: &str = "geoid_sha256";
/// The value of [`GEOID_DIGEST`] without a geoid.
pub(super) const NONE: &str = "none";
/// The geoid of `make data`.
pub(super) const GEOID_FILE: &str = "geoid/WW15MGH.DAC";

/// A file or folder of `make data`, if it is there.
pub(super) fn downloaded(name: &str) -> Option<PathBuf> {
    let data = std::env::var_os("GROUNDWAVE_DATA").map_or(PathBuf::from(".data"), PathBuf::from);
    Some(data.join(name)).filter(|path| path.exists())
}

pub(super) fn absolute(path: Option<PathBuf>) -> Option<PathBuf> {
    path.map(|path| path.canonicalize().unwrap_or(path))
}

/// Folder of fetched terrain of the user.
pub(super) fn user_cache() -> Option<PathBuf> {
    let from =
        |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = |below: &str| from("HOME").map(|home| home.join(below));
    let caches = if cfg!(windows) {
        from("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        home("Library/Caches")
    } else {
        from("XDG_CACHE_HOME").or_else(|| home(".cache"))
    };
    caches.map(|caches| caches.join("groundwave").join("terrain"))
}

/// Content of a folder of terrain, for messages.
pub const TERRAIN_CONTENT: &str = "a folder of .hgt tiles or GeoTIFF files";
/// Content of a file of the geoid, for messages.
pub const GEOID_CONTENT: &str = "EGM96 as WW15MGH.DAC or egm96_15.gtx";
/// Key of the geoid in documents.
const GEOID_KEY: &str = "geoid";
/// Content of land cover, for messages.
pub(super) const COVER_CONTENT: &str =
    "a folder of GeoTIFF files of land cover, or the address (https://) of one";
/// Content of the folder of fetched terrain, for messages.
pub(super) const CACHE_CONTENT: &str = "the folder of `groundwave terrain fetch`";

/// Refuses a path of terrain with nothing there, by the option where it is that of the option, else by the `key` of a
/// document.
pub(super) fn require(
    path: Option<&Path>,
    own: Option<&PathBuf>,
    [option, key]: [&str; 2],
    allowed: &str,
) -> Result<(), Failure> {
    let Some(path) = path.filter(|path| address_of(path).is_none()) else {
        return Ok(());
    };
    let is_own = own.is_some_and(|own| own == path);
    let name = if is_own { option } else { key };
    require_existing(name, path, allowed)?;
    // The others are folders.
    match key {
        GEOID_KEY => refuse_folder(name, path, allowed),
        _ => Ok(()),
    }
}

impl TerrainOptions {
    /// Refuses a folder of tiles, a geoid or a folder of fetched terrain that is not there.
    pub(super) fn require_existing(
        &self,
        [folder, geoid, cache]: [Option<&Path>; 3],
    ) -> Result<(), Failure> {
        let names = ["--srtm-dir", "folder of terrain"];
        require(folder, self.srtm_dir.as_ref(), names, TERRAIN_CONTENT)?;
        require(geoid, self.geoid.as_ref(), ["--geoid", GEOID_KEY], GEOID_CONTENT)?;
        let names = ["--terrain-cache", "folder of fetched terrain"];
        require(cache, self.terrain_cache.as_ref(), names, CACHE_CONTENT)
    }
}

/// Where terrain comes from.
#[derive(Default)]
pub(super) struct Sources {
    pub folder: Option<PathBuf>,
    pub cache: Option<PathBuf>,
    pub geoid: Option<PathBuf>,
    pub land_cover: Option<PathBuf>,
    pub is_offline: bool,
    pub flat_earth: bool,
    pub posts: Posts,
    pub memory_mb: Option<u64>,
}

/// Memory of decoded terrain, bytes.
pub fn budget_bytes(memory_mb: Option<u64>) -> u64 {
    memory_mb.map_or_else(usual_budget_bytes, |mb| mb.saturating_mul(1_000_000))
}

/// Name of the folder of windows in a cache; folders of terrain are read past it.
const WINDOWS: &str = ".windows";

/// Land cover that is named: a folder, or the address of a file.
#[derive(Debug, Clone, Copy)]
pub struct NamedCover<'a> {
    /// The folder or address; `None` without land cover.
    pub place: Option<&'a Path>,
    /// Folder of fetched terrain that is named, in place of the user's.
    pub cache: Option<&'a Path>,
    /// `true` if nothing may be fetched.
    pub is_offline: bool,
}

/// The address of a file, where a path is one.
#[must_use]
pub fn address_of(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| is_address(text))
}

/// Opens land cover, where it is named.
///
/// # Errors
/// When it cannot be used.
pub fn cover(named: NamedCover<'_>) -> Result<Option<LandCover>, Failure> {
    let Some(place) = named.place else {
        return Ok(None);
    };
    let Some(address) = address_of(place) else {
        require_existing("--land-cover", place, COVER_CONTENT)?;
        return LandCover::open(place).map(Some).map_err(Failure::input);
    };
    let own = || user_cache().map(|folder| folder.with_file_name("land-cover"));
    let folder = named.cache.map(Path::to_owned).or_else(own).ok_or_else(|| {
        let what = "no folder for windows of land cover: name one with --terrain-cache";
        Failure::Input(what.to_owned())
    })?;
    let proxy = || Proxy::from_variables(|name| std::env::var(name).ok());
    let client = match named.is_offline {
        true => None,
        false => Some(Client::new(proxy().map_err(Failure::input)?)),
    };
    let windows = Windows { folder: folder.join(WINDOWS), client };
    let invalid = |error| Failure::Input(format!("land cover: {error}"));
    let file = windows.open(address).map_err(invalid)?;
    LandCover::open_remote(file).map(Some).map_err(Failure::input)
}

/// Opens tiles, a geoid and land cover. Ground without a tile is unknown, or at sea level with `flat_earth`.
pub(super) fn open(sources: Sources) -> Result<OpenTerrain, Failure> {
    let Sources { folder, cache, geoid, land_cover, is_offline, flat_earth, posts, memory_mb } =
        sources;
    let named = NamedCover { place: land_cover.as_deref(), cache: cache.as_deref(), is_offline };
    let folders: Vec<_> = folder.iter().chain(&cache).cloned().collect();
    let stack =
        TerrainStack::open_folders(&folders, geoid.as_deref(), posts).map_err(Failure::input)?;
    let stack = stack.with_budget(budget_bytes(memory_mb)).off_tiles(match flat_earth {
        true => OffTiles::SeaLevel,
        false => OffTiles::Unknown,
    });
    let stack = stack.with_cover(cover(named)?);
    let inputs = inputs_of(&stack, flat_earth);
    let stack = Arc::new(stack);
    Ok(OpenTerrain {
        terrain: stack.clone(),
        stack: Some(stack),
        source: TerrainOptions {
            srtm_dir: absolute(folder),
            geoid: absolute(geoid),
            land_cover: absolute(land_cover),
            flat_earth,
            terrain_cache: absolute(cache),
            posts: Some(posts),
            fetch: false,
            is_offering: false,
            offline: is_offline,
            memory_mb,
            fallbacks: Fallbacks::default(),
        },
        inputs,
        remedy: REMEDY.to_owned(),
    })
}

/// Inputs of the header of a log: no paths, which mean nothing elsewhere and describe a machine.
pub fn inputs_of(stack: &TerrainStack, flat_earth: bool) -> BTreeMap<String, String> {
    let mut inputs = BTreeMap::from([
        ("terrain".to_owned(), stack.describe().name),
        (evaluation::INPUT.to_owned(), EVALUATION.to_string()),
    ]);
    let off_tiles = match (stack.has_folder(), flat_earth) {
        (true, false) => None,
        (true, true) => Some((FLAT_EARTH, "")),
        (false, true) => Some(("flat_msl_m", "0")),
        (false, false) => Some((NO_TERRAIN, "")),
    };
    if let Some(cover) = stack.cover() {
        let names: Vec<_> = cover.sources().iter().map(|source| source.name.as_str()).collect();
        inputs.insert(LAND_COVER.to_owned(), names.join(", "));
    }
    if stack.posts() == Posts::Nearest {
        inputs.insert(POSTS.to_owned(), NEAREST.to_owned());
    }
    if let Some((key, value)) = off_tiles {
        inputs.insert(key.to_owned(), value.to_owned());
    }
    let digest = stack.geoid_digest();
    inputs.insert(GEOID_DIGEST.to_owned(), digest.unwrap_or_else(|| NONE.to_owned()));
    inputs
}

/// SHA-256 of files of terrain, by their names; of those fetched into one of the folders, that of their
/// receipt.
pub(super) fn digests<'a>(
    files: &[Supplying],
    folders: impl Iterator<Item = &'a PathBuf>,
) -> Result<BTreeMap<String, String>, Failure> {
    let mut receipts = BTreeMap::new();
    for folder in folders {
        let index = Index::read(folder).map_err(Failure::input)?;
        let entries = index.into_iter().flat_map(|index| index.files.into_values());
        receipts.extend(entries.map(|entry| (folder.join(entry.file), entry.sha256)));
    }
    // In parallel: this dominates the start of a sweep over many tiles.
    let digest = |file: &Supplying| {
        if let Some(digest) = &file.digest {
            return Ok((file.name.clone(), digest.clone()));
        }
        let path = file.path.canonicalize()?;
        let digest = match receipts.get(&path) {
            Some(digest) => digest.clone(),
            None => sha256(&path)?,
        };
        Ok((file.name.clone(), digest))
    };
    files.par_iter().map(digest).collect()
}

/// SHA-256 of a file.
fn sha256(path: &Path) -> io::Result<String> {
    use sha2::{Digest, Sha256};
    /// Size of a read, bytes.
    const CHUNK_BYTES: usize = 1 << 16;
    let mut file = std::fs::File::open(path)?;
    let (mut digest, mut chunk) = (Sha256::new(), vec![0; CHUNK_BYTES]);
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(hex(&digest.finalize())),
            read => digest.update(&chunk[..read]),
        }
    }
}

/// Flat ground. Land cover is read over that at sea level.
pub(super) fn flat(elevation_msl_m: f64, sources: Sources) -> Result<OpenTerrain, Failure> {
    if sources.land_cover.is_some() {
        if elevation_msl_m == 0.0 {
            return open(Sources { flat_earth: true, ..sources });
        }
        return Err(Failure::Input(format!(
            "invalid flat_msl_m: found {elevation_msl_m} with land cover, allowed 0, or tiles"
        )));
    }
    let terrain = Flat { elevation_msl_m };
    let inputs = BTreeMap::from([
        ("flat_msl_m".to_owned(), elevation_msl_m.to_string()),
        ("terrain".to_owned(), terrain.describe().name),
        (evaluation::INPUT.to_owned(), EVALUATION.to_string()),
    ]);
    Ok(OpenTerrain {
        terrain: Arc::new(terrain),
        stack: None,
        source: TerrainOptions::default(),
        inputs,
        remedy: REMEDY.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_folders_and_files_give_the_option_that_names_them() {
        let folder = tempfile::tempdir().unwrap();
        let none = || Some(folder.path().join("none"));
        let options =
            |own: TerrainOptions| own.open().err().map(|error| error.message().to_owned());
        for (own, expected) in [
            (TerrainOptions { srtm_dir: none(), ..Default::default() }, "invalid --srtm-dir: "),
            (TerrainOptions { geoid: none(), ..Default::default() }, "invalid --geoid: "),
            (TerrainOptions { land_cover: none(), ..Default::default() }, "invalid --land-cover: "),
            (
                TerrainOptions { terrain_cache: none(), ..Default::default() },
                "invalid --terrain-cache: ",
            ),
        ] {
            let error = options(own).unwrap();
            assert!(error.starts_with(expected) && error.contains("found nothing at"), "{error}");
            assert!(error.contains("none, allowed ") && !error.contains("os error"), "{error}");
        }
        // The first fetch makes the folder.
        let fetch =
            TerrainOptions { terrain_cache: none(), fetch: true, ..TerrainOptions::default() };
        assert_eq!(fetch.open().err().map(|error| error.message().to_owned()), None);
    }
}
