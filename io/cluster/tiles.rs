//! Terrain on an executor: the files near the units that it evaluates, fetched when a unit needs them.
//!
//! A continent has thousands of tiles, a unit needs a few. The driver lists the files of a plan with
//! their edges; an executor fetches those in the area of its unit and opens them as a folder of fetched
//! terrain, which grows.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use groundwave_files::hex::hex;
use groundwave_model::terrain::Terrain;
use groundwave_sweep::{Plan, Unit};
use groundwave_terrain::About;
use groundwave_terrain::cache::{Entry, Index};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::failed::{Failed, failed};
use super::keys;
use super::store::Store;

/// Terrain of a plan, opened.
pub trait Ground: Send + Sync {
    fn terrain(&self) -> &dyn Terrain;

    /// Fails once a file that was read turned out to be damaged.
    ///
    /// # Errors
    /// Which, and why.
    fn check(&self) -> Result<(), String>;
}

/// Opens the terrain of a plan in a folder of fetched terrain that has files of the plan.
pub type OpenGround = Box<dyn Fn(&Plan, &Path) -> Result<Box<dyn Ground>, String> + Send + Sync>;

/// Folder of files below that of a plan's terrain.
const FILES: &str = "files";

/// A file of terrain of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tile {
    /// Name it was published under.
    pub name: String,
    /// SHA-256 of its bytes, in hexadecimal: its name in the store.
    pub sha256: String,
    /// Edges of its posts: south, west, north, east, deg.
    pub bounds_deg: [f64; 4],
    /// Data set.
    pub about: About,
}

/// Files of a plan, and those of them that an executor has.
pub(super) struct Tiles {
    store: Store,
    /// Folder of files by their digests, for all plans.
    kept: PathBuf,
    /// Folder of fetched terrain of this plan.
    folder: PathBuf,
    all: Vec<Tile>,
    opened: Mutex<Opened>,
    /// Held while a file is fetched, by its digest: another thread waits instead of fetching it too.
    fetching: Mutex<BTreeMap<String, Arc<Mutex<()>>>>,
}

/// Files that are opened, by their places in the list.
#[derive(Default)]
struct Opened {
    files: BTreeSet<usize>,
    ground: Option<Arc<dyn Ground>>,
}

impl Opened {
    /// The terrain, if it has these files.
    fn with(&self, needed: &BTreeSet<usize>) -> Option<Arc<dyn Ground>> {
        let ground = self.ground.as_ref()?;
        needed.is_subset(&self.files).then(|| ground.clone())
    }
}

impl Tiles {
    /// The files that the plan with this digest has in the store; none is fetched.
    pub fn new(store: Store, kept: PathBuf, folder: PathBuf, digest: &str) -> Result<Self, Failed> {
        let key = keys::tiles(digest);
        let address = store.address().to_owned();
        let wrong = |what: String| Failed::Other(format!("{key} in the store {address}: {what}"));
        let json = store
            .get(&key)?
            .ok_or_else(|| wrong("not there; the driver puts it there".to_owned()))?;
        let all: Vec<Tile> = serde_json::from_slice(&json).map_err(|err| wrong(err.to_string()))?;
        let is_name = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if let Some(tile) = all.iter().find(|tile| !is_name(&tile.sha256)) {
            let Tile { name, sha256, .. } = tile;
            return Err(wrong(format!("{name}: found {sha256:?}, allowed a SHA-256")));
        }
        // What another process of the same folder left.
        match fs::remove_dir_all(&folder) {
            Err(err) if err.kind() != ErrorKind::NotFound => {
                return Err(failed("remove", &folder, &err));
            }
            _ => {}
        }
        for new in [&kept, &folder.join(FILES)] {
            fs::create_dir_all(new).map_err(|err| failed("create", new, &err))?;
        }
        Ok(Self { store, kept, folder, all, opened: Mutex::default(), fetching: Mutex::default() })
    }

    /// Terrain with all files that a unit needs.
    pub fn ground(
        &self,
        plan: &Plan,
        unit: Unit,
        open: &OpenGround,
    ) -> Result<Arc<dyn Ground>, Failed> {
        let area = plan.area_of(unit);
        let is_near = |tile: &Tile| area.is_none_or(|area| area.touches(tile.bounds_deg));
        let all = self.all.iter().enumerate();
        let needed: BTreeSet<usize> =
            all.filter(|(_, tile)| is_near(tile)).map(|(i, _)| i).collect();
        let missing: Vec<usize> = {
            let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(ground) = opened.with(&needed) {
                return Ok(ground);
            }
            needed.difference(&opened.files).copied().collect()
        };
        // Not locked: units whose files are there go on.
        for tile in missing.iter().map(|place| &self.all[*place]) {
            self.link(tile)?;
        }
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ground) = opened.with(&needed) {
            return Ok(ground);
        }
        let mut files = opened.files.clone();
        files.extend(missing);
        self.index(&files)?;
        let ground: Arc<dyn Ground> = open(plan, &self.folder).map_err(Failed::Other)?.into();
        *opened = Opened { files, ground: Some(ground.clone()) };
        Ok(ground)
    }

    /// Writes which files the folder of this plan has.
    fn index(&self, files: &BTreeSet<usize>) -> Result<(), Failed> {
        let mut index = Index::default();
        for tile in files.iter().map(|place| &self.all[*place]) {
            let file = Path::new(FILES).join(&tile.sha256);
            let path = self.folder.join(&file);
            let found = fs::metadata(&path).map_err(|err| failed("read", &path, &err))?;
            let entry = Entry {
                source: "store".to_owned(),
                name: tile.name.clone(),
                file,
                url: keys::terrain(&tile.sha256),
                length: found.len(),
                etag: None,
                sha256: tile.sha256.clone(),
                about: tile.about.clone(),
            };
            index.files.insert(format!("store/{}", tile.name), entry);
        }
        Ok(index.write(&self.folder)?)
    }

    /// Puts a file into the folder of this plan.
    fn link(&self, tile: &Tile) -> Result<(), Failed> {
        let link = self.folder.join(FILES).join(&tile.sha256);
        let gate = {
            let mut fetching = self.fetching.lock().unwrap_or_else(PoisonError::into_inner);
            fetching.entry(tile.sha256.clone()).or_default().clone()
        };
        let _gate = gate.lock().unwrap_or_else(PoisonError::into_inner);
        if link.exists() {
            return Ok(());
        }
        let kept = self.keep(tile)?;
        fs::hard_link(&kept, &link)
            .or_else(|_| fs::copy(&kept, &link).map(drop))
            .map_err(|err| failed("create", &link, &err))
    }

    /// A file in the folder of all plans, fetched if it is not there or is another.
    fn keep(&self, Tile { name, sha256, .. }: &Tile) -> Result<PathBuf, Failed> {
        let path = self.kept.join(sha256);
        if let Ok(bytes) = fs::read(&path) {
            if digest(&bytes) == *sha256 {
                return Ok(path);
            }
            tracing::warn!(file = %path.display(), tile = name, "a kept tile has another digest; fetched again");
        }
        let wrong = |what: String| {
            let address = self.store.address();
            Failed::Other(format!("tile {name} in the store {address}: {what}"))
        };
        let bytes: Bytes = self
            .store
            .get(&keys::terrain(sha256))?
            .ok_or_else(|| wrong("not there; the driver puts it there".to_owned()))?;
        let found = digest(&bytes);
        if found != *sha256 {
            return Err(wrong(format!("found the SHA-256 {found}, allowed {sha256}")));
        }
        let part = tempfile::NamedTempFile::new_in(&self.kept)
            .map_err(|err| failed("create", &self.kept, &err))?;
        fs::write(part.path(), &bytes).map_err(|err| failed("write", &path, &err))?;
        part.persist(&path).map_err(|err| failed("write", &path, &err.error))?;
        tracing::debug!(tile = name, "tile fetched");
        Ok(path)
    }
}

/// SHA-256 of bytes, in hexadecimal.
fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
