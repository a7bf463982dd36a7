//! Fetches of ground: their source, and the one in progress.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use groundwave_http::{Problem, id};
use groundwave_model::terrain::{Terrain, TileId};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::wire::coverage::Bounds;
use super::wire::ground::{GroundData, GroundFetch, GroundFetchState, GroundTerms};

/// Progress of one tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TileProgress {
    /// Bytes so far, and the size where it is known.
    Bytes(u64, Option<u64>),
    /// The source does not publish the tile.
    Absent,
}

/// Source of heights or of land cover that the server fetches; it alone chooses addresses and folders.
pub trait GroundSource: Send + Sync {
    /// Data set and address.
    fn terms(&self) -> GroundTerms;

    /// Tiles of an area that are neither in the folder nor known to `terrain`, by their south-western square.
    ///
    /// # Errors
    /// 400 for an area that is too large, 503 where the folder cannot be read.
    fn lacking(&self, bounds: Bounds, terrain: &dyn Terrain) -> Result<Vec<TileId>, Problem>;

    /// Notes the consent of a client, in the folder.
    ///
    /// # Errors
    /// With the reason, where the folder cannot be written.
    fn consent(&self) -> Result<(), String>;

    /// Fetches a tile.
    ///
    /// # Errors
    /// With the reason, also after `stop` was cancelled.
    fn fetch(
        &self,
        tile: TileId,
        stop: &CancellationToken,
        progress: &mut dyn FnMut(TileProgress),
    ) -> Result<(), String>;

    /// The ground with all tiles of the folder; the world has it from now on.
    ///
    /// # Errors
    /// With the reason, where it cannot be opened.
    fn renew(&self) -> Result<Arc<dyn Terrain>, String>;
}

/// A fetch.
#[derive(Debug)]
pub struct Fetch {
    progress: Mutex<GroundFetch>,
    /// Cancelled by a client, or when the server stops.
    pub stop: CancellationToken,
}

impl Fetch {
    /// Progress, for the task that fetches.
    pub fn lock(&self) -> MutexGuard<'_, GroundFetch> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Progress so far.
    #[must_use]
    pub fn progress(&self) -> GroundFetch {
        self.lock().clone()
    }

    fn is_running(&self) -> bool {
        self.lock().state == GroundFetchState::Running
    }
}

/// A source, or the reason why there is none.
pub type GroundSourceChoice = Result<Arc<dyn GroundSource>, String>;

/// Sources of a server; the last fetch.
#[derive(Default)]
pub struct GroundFetches {
    heights: OnceLock<GroundSourceChoice>,
    land_cover: OnceLock<GroundSourceChoice>,
    last: Mutex<Option<Arc<Fetch>>>,
}

impl GroundFetches {
    fn choice(&self, data: GroundData) -> &OnceLock<GroundSourceChoice> {
        match data {
            GroundData::Heights => &self.heights,
            GroundData::LandCover => &self.land_cover,
        }
    }

    /// Sets the source of data, or the reason why they are not fetched; the first call counts.
    pub fn set(&self, data: GroundData, source: GroundSourceChoice) {
        let _ = self.choice(data).set(source);
    }

    /// The source of data.
    ///
    /// # Errors
    /// The reason why they are not fetched.
    pub fn source(&self, data: GroundData) -> GroundSourceChoice {
        let none = || {
            Err(match data {
                GroundData::Heights => "this server has no source of ground".to_owned(),
                GroundData::LandCover => "this server has no source of land cover".to_owned(),
            })
        };
        self.choice(data).get().cloned().unwrap_or_else(none)
    }

    fn last(&self) -> MutexGuard<'_, Option<Arc<Fetch>>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The fetch in progress.
    #[must_use]
    pub fn running(&self) -> Option<Arc<Fetch>> {
        self.last().clone().filter(|fetch| fetch.is_running())
    }

    /// The fetch with an id.
    ///
    /// # Errors
    /// 404 unless it is the last one.
    pub fn get(&self, id: Uuid) -> Result<Arc<Fetch>, Problem> {
        let fetch = self.last().clone().filter(|fetch| fetch.lock().id == id);
        fetch.ok_or_else(|| Problem::not_found("fetch of ground", id))
    }

    /// Cancels a fetch; one that has ended stays as it is.
    ///
    /// # Errors
    /// 404 unless it is the last one.
    pub fn cancel(&self, id: Uuid) -> Result<(), Problem> {
        self.get(id)?.stop.cancel();
        Ok(())
    }

    /// Begins a fetch.
    ///
    /// # Errors
    /// The id of the fetch in progress, if there is one.
    pub fn begin(
        &self,
        data: GroundData,
        tiles: &[TileId],
        stop: CancellationToken,
    ) -> Result<Arc<Fetch>, Uuid> {
        let mut last = self.last();
        if let Some(running) = last.as_ref().filter(|fetch| fetch.is_running()) {
            return Err(running.lock().id);
        }
        let progress = GroundFetch {
            id: id::mint(),
            data,
            state: GroundFetchState::Running,
            tiles: tiles.iter().map(ToString::to_string).collect(),
            fetched: Vec::new(),
            absent: Vec::new(),
            tile_bytes: 0,
            tile_size_bytes: None,
            received_bytes: 0,
            failure: None,
        };
        let fetch = Arc::new(Fetch { progress: Mutex::new(progress), stop });
        *last = Some(Arc::clone(&fetch));
        Ok(fetch)
    }
}
