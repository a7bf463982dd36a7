//! The cache: files by digest, with an index.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use groundwave_model::terrain::{GeoPoint, Posts, Terrain, TileId};
use url::Url;

use super::super::cover::LandCover;
use super::super::index::{Entry, Index};
use super::super::name;
use super::super::raster::{Contents, Raster, file_digest};
use super::super::read::read_tile;
use super::super::stack::{TerrainError, TerrainStack};
use super::client::Client;
use super::download::{Complete, download, drop_part};
use super::error::FetchError;
use super::source::{LAND_COVER, Source};

/// Cache of fetched terrain.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
}

/// Progress of a fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// Bytes received of a file, and its length.
    Bytes {
        /// Received so far, those of earlier runs included.
        received: u64,
        /// Length; none where the server sends none.
        length: Option<u64>,
    },
    /// The file is in the cache.
    Stored,
    /// The source does not publish the square.
    Absent,
}

/// State of a file of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The bytes are those that were received.
    Sound,
    /// The file is gone.
    Missing,
    /// The bytes have another digest.
    Damaged,
}

/// Counts of the posts of a file, of any format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts {
    /// Posts in all.
    pub posts: u64,
    /// Posts marked as voids.
    pub voids: u64,
    /// Posts outside the heights of the Earth, taken as voids.
    pub outside: u64,
    /// Posts that stand alone; they keep their heights.
    pub spikes: u32,
    /// Doubts about the posts, for a message.
    pub doubt: Option<String>,
}

impl Cache {
    /// The cache in a folder, which need not exist.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The index; empty without a folder.
    ///
    /// # Errors
    /// When it cannot be read or is damaged.
    pub fn index(&self) -> Result<Index, FetchError> {
        Ok(Index::read(&self.folder)?.unwrap_or_default())
    }

    /// Counts of the posts of a file of the cache.
    ///
    /// # Errors
    /// When it cannot be decoded.
    pub fn counts(&self, entry: &Entry) -> Result<Counts, TerrainError> {
        let path = self.folder.join(&entry.file);
        let Some(Ok((square, packing))) = name::parse(&entry.name) else {
            let contents = match entry.source == LAND_COVER.id {
                true => Contents::Cover,
                false => Contents::Ground,
            };
            let raster = Raster::open(path, entry.name.clone(), 0, &entry.about, contents)?;
            let counts = raster.counts()?;
            return Ok(Counts {
                posts: counts.posts as u64,
                voids: (counts.voids + counts.customary) as u64,
                outside: counts.outside as u64,
                spikes: counts.spikes.count,
                doubt: raster.doubt(&counts),
            });
        };
        let tile = read_tile(&path, square, packing, None)?;
        let census = tile.census();
        Ok(Counts {
            posts: census.posts.into(),
            voids: census.voids.into(),
            outside: census.outside.into(),
            spikes: census.spikes.count,
            doubt: census.doubt(square, tile.resolution()).map(|doubt| doubt.to_string()),
        })
    }

    /// Tiles of a source under squares, by their south-western square, that are neither in the cache nor known
    /// to be absent.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn wanted(&self, source: &Source, squares: &[TileId]) -> Result<Vec<TileId>, FetchError> {
        let index = self.index()?;
        let mut tiles: Vec<_> =
            squares.iter().filter_map(|square| source.tile_of(*square)).collect();
        if source.side_deg > 1 {
            tiles.sort_unstable();
            tiles.dedup();
        }
        let is_wanted = |square: &TileId| {
            let key = key(source, *square);
            let has_file = |entry: &Entry| {
                let metadata = fs::metadata(self.folder.join(&entry.file));
                metadata.is_ok_and(|metadata| metadata.len() == entry.length)
            };
            !index.absent.contains(&key) && !index.files.get(&key).is_some_and(has_file)
        };
        tiles.retain(is_wanted);
        Ok(tiles)
    }

    /// Notes that the user consents to the use of a source.
    ///
    /// # Errors
    /// When the index cannot be written.
    pub fn consent(&self, source: &Source) -> Result<(), FetchError> {
        self.change(|index| {
            index.consents.insert(source.id.to_owned());
        })
    }

    /// Changes the index under a lock, so that two commands lose nothing.
    fn change(&self, change: impl FnOnce(&mut Index)) -> Result<(), FetchError> {
        fs::create_dir_all(&self.folder).map_err(FetchError::disk("create", &self.folder))?;
        let path = self.folder.join(".lock");
        let lock = File::create(&path).map_err(FetchError::disk("create", &path))?;
        lock.lock().map_err(FetchError::disk("lock", &path))?;
        let mut index = self.index()?;
        change(&mut index);
        Ok(index.write(&self.folder)?)
    }

    /// Fetches a square into the cache, from `base_url` or the address of the source.
    ///
    /// # Errors
    /// When it cannot be fetched, or its bytes are not those that were received before or no terrain of
    /// this square.
    pub fn fetch(
        &self,
        client: &Client,
        source: &Source,
        base_url: &str,
        square: TileId,
        mut report: impl FnMut(Event),
    ) -> Result<(), FetchError> {
        let path = (source.path)(square);
        let url = address(base_url, &path)?;
        let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
        let folder = self.folder.join(source.id);
        fs::create_dir_all(&folder).map_err(FetchError::disk("create", &folder))?;
        let part = folder.join(format!("{name}.part"));
        // Another command that fetches the same file waits, then finds it complete.
        let lock = folder.join(format!("{name}.lock"));
        let lock_file = File::create(&lock).map_err(FetchError::disk("create", &lock))?;
        lock_file.lock().map_err(FetchError::disk("lock", &lock))?;
        let outcome = self.fetch_locked(client, source, &url, (&name, &part), square, &mut report);
        // Of no use to others who wait: they hold the file itself.
        let _ = fs::remove_file(&lock);
        outcome
    }

    fn fetch_locked(
        &self,
        client: &Client,
        source: &Source,
        url: &Url,
        (name, part): (&str, &Path),
        square: TileId,
        report: &mut dyn FnMut(Event),
    ) -> Result<(), FetchError> {
        if self.wanted(source, &[square])?.is_empty() {
            report(Event::Stored);
            return Ok(());
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(FetchError::disk("start", &self.folder))?;
        let mut progress = |received, length| report(Event::Bytes { received, length });
        let fetched = runtime.block_on(async {
            tokio::select! {
                fetched = download(client, url, part, &mut progress) => fetched,
                () = client.stop.cancelled() => Err(FetchError::Cancelled { url: url.to_string() }),
            }
        });
        match fetched {
            Err(FetchError::Absent { .. }) => {
                self.change(|index| {
                    index.absent.insert(key(source, square));
                })?;
                report(Event::Absent);
            }
            Err(error) => return Err(error),
            Ok(complete) => {
                self.admit(source, square, url, name.to_owned(), &complete)?;
                report(Event::Stored);
            }
        }
        Ok(())
    }

    /// Checks a complete download and gives it its place.
    fn admit(
        &self,
        source: &Source,
        square: TileId,
        url: &Url,
        name: String,
        complete: &Complete,
    ) -> Result<(), FetchError> {
        let key = key(source, square);
        let before = self.index()?.files.remove(&key);
        if let Some(before) = before.filter(|before| before.sha256 != complete.sha256) {
            drop_part(&complete.part);
            return Err(FetchError::Digest {
                url: url.to_string(),
                found: complete.sha256.clone(),
                expected: before.sha256,
            });
        }
        if let Err(reason) = check_content(&complete.part, &name, source, square) {
            drop_part(&complete.part);
            return Err(FetchError::Content { url: url.to_string(), reason });
        }
        let ending = name.split_once('.').map_or("", |(_, ending)| ending);
        let file = Path::new(source.id).join(format!("{}.{ending}", complete.sha256));
        let place = self.folder.join(&file);
        fs::rename(&complete.part, &place).map_err(FetchError::disk("rename", &complete.part))?;
        drop_part(&complete.part);
        self.change(|index| {
            let entry = Entry {
                source: source.id.to_owned(),
                name,
                file,
                url: url.to_string(),
                length: complete.length,
                etag: complete.etag.clone(),
                sha256: complete.sha256.clone(),
                about: (source.about)(),
            };
            index.files.insert(key, entry);
        })
    }

    /// Compares the digest of a file with that of its receipt.
    #[must_use]
    pub fn verify(&self, entry: &Entry) -> State {
        match file_digest(&self.folder.join(&entry.file)) {
            Err(_) => State::Missing,
            Ok(digest) if digest == entry.sha256 => State::Sound,
            Ok(_) => State::Damaged,
        }
    }
}

/// Key of a square in the index.
fn key(source: &Source, square: TileId) -> String {
    format!("{}/{square}", source.id)
}

/// Checks the address of a mirror.
///
/// # Errors
/// [`FetchError::Url`] for other schemes than HTTP, without a host and with user information.
pub fn check_address(base_url: &str) -> Result<(), FetchError> {
    address(base_url, "").map(drop)
}

/// Address of a file below another.
fn address(base_url: &str, path: &str) -> Result<Url, FetchError> {
    let url = Url::parse(&format!("{}/{path}", base_url.trim_end_matches('/'))).ok();
    let url = url.filter(|url| {
        ["http", "https"].contains(&url.scheme())
            && url.host_str().is_some()
            && url.username().is_empty()
    });
    url.ok_or_else(|| FetchError::Url {
        found: base_url.rsplit('@').next().unwrap_or_default().to_owned(),
        allowed: "http:// or https:// with a host and without user information",
    })
}

/// Checks that a file is terrain or land cover of a tile: all of it decodes, and its middle is known.
fn check_content(part: &Path, name: &str, source: &Source, square: TileId) -> Result<(), String> {
    let folder =
        tempfile::tempdir_in(part.parent().unwrap_or(part)).map_err(|error| error.to_string())?;
    fs::hard_link(part, folder.path().join(name))
        .or_else(|_| fs::copy(part, folder.path().join(name)).map(drop))
        .map_err(|error| error.to_string())?;
    let (south, west) = (f64::from(square.south_deg()), f64::from(square.west_deg()));
    if source.contents == Contents::Cover {
        let cover =
            LandCover::open(folder.path()).map_err(|error| without_path(&error.to_string()))?;
        let half_deg = 0.5 * f64::from(source.side_deg);
        return match cover.reaches(south + half_deg, west + half_deg) {
            true => cover.check().map_err(|error| without_path(&error.to_string())),
            false => Err(format!("invalid land cover of {square}")),
        };
    }
    let stack = TerrainStack::open_folders(&[folder.path().to_owned()], None, Posts::Interpolated)
        .map_err(|error| error.to_string())?;
    if let [ignored, ..] = stack.ignored() {
        return Err(without_path(&ignored.reason));
    }
    stack.check().map_err(|error| without_path(&error.to_string()))?;
    let is_known = [[0.5, 0.5], [0.1, 0.1], [0.9, 0.9]].iter().all(|[up, right]| {
        let at = GeoPoint::new(south + up, west + right);
        at.is_ok_and(|at| stack.resolution_arcsec(at).is_some())
    });
    match is_known {
        true => Ok(()),
        false => Err(format!("invalid terrain of {square}")),
    }
}

/// The message behind the path of a file that is only there for a check.
fn without_path(message: &str) -> String {
    let message = message.strip_prefix("land cover: ").unwrap_or(message);
    let prefixes = ["terrain file ", "terrain tile "];
    let rest = prefixes.iter().find_map(|start| message.strip_prefix(start));
    let rest = rest.and_then(|rest| rest.split_once(": ").map(|(_, reason)| reason));
    rest.unwrap_or(message).to_owned()
}
