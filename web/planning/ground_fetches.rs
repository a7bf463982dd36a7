//! Ground fetched on request, over HTTP.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderName, StatusCode, header};
use groundwave_http::{Json, JsonBody, Path, Problem};
use groundwave_model::terrain::TileId;
use uuid::Uuid;

use super::Planner;
use super::ground::{Fetch, GroundSource, TileProgress};
use super::wire::coverage::Bounds;
use super::wire::ground::{
    FETCH_TILES_MAX, GroundData, GroundFetch, GroundFetchRequest, GroundFetchState, GroundOffer,
    GroundQuestion,
};
use super::wire::place::point;

/// Get the tiles that an area lacks, with their size
///
/// Tiles, size, source and terms of `POST /api/v1/terrain/fetches`. Nothing is fetched.
#[utoipa::path(post, path = "/api/v1/terrain/offer", tag = "terrain",
    responses((status = 200, description = "Tiles, sizes and terms, or the reason why none are fetched")))]
pub async fn ground_offer(
    State(planner): State<Planner>,
    JsonBody(request): JsonBody<GroundQuestion>,
) -> Result<Json<GroundOffer>, Problem> {
    let bounds = checked(request.bounds)?;
    let (terms, refusal, tiles) = match planner.ground.source(request.data) {
        Err(why) => (None, Some(why), Vec::new()),
        Ok(source) => (Some(source.terms()), None, lacking(&planner, source, bounds).await?),
    };
    let tile_max_mb = terms.as_ref().map_or(0, |terms| terms.tile_max_mb);
    Ok(Json(GroundOffer {
        data: request.data,
        terms,
        refusal,
        size_max_mb: tile_max_mb * tiles.len() as u64,
        tiles: tiles.iter().map(ToString::to_string).collect(),
        tiles_max: FETCH_TILES_MAX,
        fetch: planner.ground.running().map(|fetch| fetch.progress()),
    }))
}

/// Fetch the ground of an area
///
/// Tiles without data, heights or land cover, are fetched one after the other from the source of the server, up to
/// 16, and are in use without a restart. One fetch runs at a time; it goes on without a client.
#[utoipa::path(post, path = "/api/v1/terrain/fetches", tag = "terrain",
    responses(
        (status = 202, description = "The fetch has begun",
            headers(("location" = String, description = "URL"))),
        (status = 409, description = "This server fetches no ground, or a fetch is in progress")))]
pub async fn create_ground_fetch(
    State(planner): State<Planner>,
    JsonBody(request): JsonBody<GroundFetchRequest>,
) -> Result<(StatusCode, [(HeaderName, String); 1], Json<GroundFetch>), Problem> {
    let conflict = |why: String| Problem::new(StatusCode::CONFLICT, why);
    let bounds = checked(request.bounds)?;
    let source = planner.ground.source(request.data).map_err(conflict)?;
    if !request.consent {
        let what = "`consent` is false, allowed is true: the terms are those of \
                    POST /api/v1/terrain/offer";
        return Err(Problem::bad_request(what));
    }
    let tiles = lacking(&planner, source.clone(), bounds).await?;
    if !(1..=FETCH_TILES_MAX).contains(&tiles.len()) {
        let count = tiles.len();
        let what =
            format!("`bounds` has {count} tiles without data, allowed are 1 to {FETCH_TILES_MAX}");
        return Err(Problem::bad_request(what));
    }
    let writer = source.clone();
    let noted = tokio::task::spawn_blocking(move || writer.consent());
    let noted = noted.await.map_err(|err| Problem::internal(err.to_string()))?;
    noted.map_err(|why| conflict(format!("the folder of fetched ground cannot be used: {why}")))?;
    let fetch = begin(&planner, request.data, source, tiles).map_err(|id| {
        conflict(format!(
            "the fetch {id} is in progress; DELETE /api/v1/terrain/fetches/{id} cancels it"
        ))
    })?;
    let progress = fetch.progress();
    let url = format!("/api/v1/terrain/fetches/{}", progress.id);
    Ok((StatusCode::ACCEPTED, [(header::LOCATION, url)], Json(progress)))
}

/// Get the progress of a fetch of ground
#[utoipa::path(get, path = "/api/v1/terrain/fetches/{id}", tag = "terrain",
    params(("id" = Uuid, Path, description = "Id of the fetch")),
    responses(
        (status = 200, description = "Progress"),
        (status = 404, description = "No such fetch, or a later one has begun")))]
pub async fn ground_fetch(
    State(planner): State<Planner>,
    Path(id): Path<Uuid>,
) -> Result<Json<GroundFetch>, Problem> {
    Ok(Json(planner.ground.get(id)?.progress()))
}

/// Cancel a fetch of ground
///
/// Complete tiles are in use; the bytes of the one in progress stay for the next fetch.
#[utoipa::path(delete, path = "/api/v1/terrain/fetches/{id}", tag = "terrain",
    params(("id" = Uuid, Path, description = "Id of the fetch")),
    responses(
        (status = 204, description = "Cancelled, or ended before"),
        (status = 404, description = "No such fetch, or a later one has begun")))]
pub async fn delete_ground_fetch(
    State(planner): State<Planner>,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    planner.ground.cancel(id)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Checks the edges of an area.
fn checked(bounds: Bounds) -> Result<Bounds, Problem> {
    let (_, _) = (point(bounds.south, bounds.west)?, point(bounds.north, bounds.east)?);
    if bounds.south >= bounds.north {
        let Bounds { south, north, .. } = bounds;
        let what = format!("`bounds.south` is {south}, allowed is below `bounds.north`, {north}");
        return Err(Problem::bad_request(what));
    }
    Ok(bounds)
}

async fn lacking(
    planner: &Planner,
    source: Arc<dyn GroundSource>,
    bounds: Bounds,
) -> Result<Vec<TileId>, Problem> {
    planner.analyse(move |terrain| source.lacking(bounds, terrain)).await
}

/// Begins to fetch tiles in the background; complete ones are in use at the end, however it ends.
///
/// # Errors
/// The id of the fetch in progress, if there is one.
fn begin(
    planner: &Planner,
    data: GroundData,
    source: Arc<dyn GroundSource>,
    tiles: Vec<TileId>,
) -> Result<Arc<Fetch>, Uuid> {
    let fetch = planner.ground.begin(data, &tiles, planner.stop.child_token())?;
    let (planner, own) = (planner.clone(), Arc::clone(&fetch));
    tokio::spawn(async move {
        let (loading, from) = (Arc::clone(&own), Arc::clone(&source));
        let loaded = tokio::task::spawn_blocking(move || load(&loading, &*from, &tiles));
        let outcome = loaded.await.unwrap_or_else(|err| (Vec::new(), Err(err.to_string())));
        let (fetched, mut outcome) = outcome;
        if !fetched.is_empty() {
            let renewed = renew(&planner, source, &fetched).await;
            outcome = outcome.and(renewed);
        }
        let mut progress = own.lock();
        (progress.state, progress.failure) = match outcome {
            Ok(()) => (GroundFetchState::Done, None),
            Err(_) if own.stop.is_cancelled() => (GroundFetchState::Cancelled, None),
            Err(why) => (GroundFetchState::Failed, Some(why)),
        };
    });
    Ok(fetch)
}

/// Fetches one tile after the other; returns those that are complete.
fn load(
    fetch: &Fetch,
    source: &dyn GroundSource,
    tiles: &[TileId],
) -> (Vec<TileId>, Result<(), String>) {
    let mut fetched = Vec::new();
    for tile in tiles {
        let before_bytes = fetch.lock().received_bytes;
        let mut is_absent = false;
        let outcome = source.fetch(*tile, &fetch.stop, &mut |event| match event {
            TileProgress::Bytes(bytes, size_bytes) => {
                let mut progress = fetch.lock();
                (progress.tile_bytes, progress.tile_size_bytes) = (bytes, size_bytes);
                progress.received_bytes = before_bytes + bytes;
            }
            TileProgress::Absent => is_absent = true,
        });
        if let Err(why) = outcome {
            return (fetched, Err(why));
        }
        let mut progress = fetch.lock();
        (progress.tile_bytes, progress.tile_size_bytes) = (0, None);
        match is_absent {
            true => progress.absent.push(tile.to_string()),
            false => {
                progress.fetched.push(tile.to_string());
                fetched.push(*tile);
            }
        }
    }
    (fetched, Ok(()))
}

/// Takes the tiles into use.
async fn renew(
    planner: &Planner,
    source: Arc<dyn GroundSource>,
    tiles: &[TileId],
) -> Result<(), String> {
    let opened = tokio::task::spawn_blocking(move || source.renew());
    let terrain = opened.await.map_err(|err| err.to_string())??;
    planner.renew_terrain(terrain, tiles).await.map_err(|problem| problem.detail)
}
