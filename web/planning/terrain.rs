//! Terrain over HTTP: profiles, heights, known ground, squares of a web map.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use groundwave_http::document::Bytes;
use groundwave_http::tag::{is_known, revision_of, tag};
use groundwave_http::{Json, JsonBody, Path, Problem, Query};
use groundwave_model::terrain::{GeoPoint, Terrain, WebTile, sample_profile};
use groundwave_raster::picture::{detailed_relief, relief, terrarium};

use super::Planner;
use super::tile_cache::{TileKind, TilePicture};
use super::wire::place::point;
use super::wire::terrain::{
    ElevationQuestion, PointElevation, ProfileQuestion, ReliefDetail, ReliefOptions, SAMPLES_MAX,
    SAMPLES_MIN, TerrainArea, TerrainProfile, TileOptions,
};

/// Caching of squares: the files of the terrain may be others later.
const CACHE_CONTROL: &str = "public, max-age=300";

/// Get the terrain profile between two points
#[utoipa::path(post, path = "/api/v1/terrain/profile", tag = "analysis",
    responses(
        (status = 200, description = "The profile")))]
pub async fn profile(
    State(planner): State<Planner>,
    JsonBody(asked): JsonBody<ProfileQuestion>,
) -> Result<Json<TerrainProfile>, Problem> {
    let (from, to) = (GeoPoint::try_from(asked.from)?, GeoPoint::try_from(asked.to)?);
    let samples = asked.samples.clamp(SAMPLES_MIN, SAMPLES_MAX) as usize;
    let found = planner.analyse(move |terrain| {
        let profile = sample_profile(terrain, from, to, samples);
        Ok(TerrainProfile::new(&profile, terrain))
    });
    Ok(Json(found.await?))
}

/// Get the height of the ground at a point
#[utoipa::path(get, path = "/api/v1/terrain/elevation", tag = "terrain",
    params(ElevationQuestion),
    responses((status = 200, description = "Heights; null where the ground is not known")))]
pub async fn elevation(
    State(planner): State<Planner>,
    Query(asked): Query<ElevationQuestion>,
) -> Result<Json<PointElevation>, Problem> {
    let at = point(asked.lat, asked.lon)?;
    let found = planner.analyse(move |terrain| Ok(PointElevation::new(at, terrain)));
    Ok(Json(found.await?))
}

/// Get the area with known ground
///
/// One rectangle a tile. Ground elsewhere is not known: profiles take it as sea level and say so,
/// coverage has no data there.
#[utoipa::path(get, path = "/api/v1/terrain/area", tag = "terrain",
    responses((status = 200, description = "Source and rectangles, from the south")))]
pub async fn area(State(planner): State<Planner>) -> Result<Json<TerrainArea>, Problem> {
    let found = planner.analyse(|terrain| Ok(TerrainArea::new(terrain)));
    Ok(Json(found.await?))
}

/// Get heights of a square of the web map
///
/// PNG of 256 by 256 pixels, Web Mercator, encoding "terrarium": red * 256 + green + blue / 256 - 32768
/// is the height above mean sea level, m. Transparent where the ground is not known, or with
/// `opaque=true` at the nearest known height, for surfaces.
#[utoipa::path(get, path = "/api/v1/terrain/tiles/{z}/{x}/{y}", tag = "terrain",
    params(
        ("z" = u8, Path, description = "Zoom", minimum = 7, maximum = 15),
        ("x" = u32, Path, description = "Column from the west", maximum = 32767),
        ("y" = String, Path, description = "Row from the north, also with `.png`"),
        TileOptions),
    responses(
        (status = 200, description = "Picture", body = inline(Bytes), content_type = "image/png"),
        (status = 304, description = "The caller has it"),
        (status = 404, description = "No such square")))]
pub async fn tile(
    State(planner): State<Planner>,
    Path(square): Path<(u8, u32, String)>,
    Query(options): Query<TileOptions>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let kind = match options.opaque.unwrap_or(false) {
        true => TileKind::OpaqueHeights,
        false => TileKind::Heights,
    };
    picture(&planner, kind, square, &headers).await
}

/// Get the relief of a square of the web map
///
/// PNG of 256 by 256 pixels, Web Mercator: grey under light from the north-west, transparent on the sea
/// and where the ground is not known. With `detail=heights` red is that brightness, green the height above mean sea
/// level as 1 + 254 sqrt(height / 6,000 m), with `detail=contours` blue is the share of the pixel that contour lines take: every 500 m at
/// zoom 7 and 8, 200 m at 9, 100 m at 10 and 11, 50 m at 12, 20 m at 13, 10 m from 14 on; every fifth is broader.
#[utoipa::path(get, path = "/api/v1/terrain/relief/{z}/{x}/{y}", tag = "terrain",
    params(
        ("z" = u8, Path, description = "Zoom", minimum = 7, maximum = 15),
        ("x" = u32, Path, description = "Column from the west", maximum = 32767),
        ("y" = String, Path, description = "Row from the north, also with `.png`"),
        ReliefOptions),
    responses(
        (status = 200, description = "Picture", body = inline(Bytes), content_type = "image/png"),
        (status = 304, description = "The caller has it"),
        (status = 404, description = "No such square")))]
pub async fn relief_tile(
    State(planner): State<Planner>,
    Path(square): Path<(u8, u32, String)>,
    Query(options): Query<ReliefOptions>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let kind = match options.detail {
        None => TileKind::Relief,
        Some(ReliefDetail::Heights) => TileKind::ReliefHeights,
        Some(ReliefDetail::Contours) => TileKind::ReliefContours,
    };
    picture(&planner, kind, square, &headers).await
}

/// The picture of a square, computed unless it is cached.
async fn picture(
    planner: &Planner,
    kind: TileKind,
    (zoom, column, row): (u8, u32, String),
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let row_number = row.strip_suffix(".png").unwrap_or(&row).parse().ok();
    let square = row_number
        .and_then(|row| WebTile::new(zoom, column, row))
        .ok_or_else(|| Problem::not_found("square", format_args!("{zoom}/{column}/{row}")))?;
    let picture = match planner.tiles.get(kind, square) {
        Some(cached) => cached,
        None => {
            let renewals = planner.tiles.renewals();
            let made = planner.analyse(move |terrain| draw(kind, square, zoom, terrain));
            let made = Arc::new(made.await?);
            planner.tiles.add(kind, square, Arc::clone(&made), renewals);
            made
        }
    };
    let shared: [(HeaderName, &str); 1] = [(header::CACHE_CONTROL, CACHE_CONTROL)];
    let revision = tag(&picture.revision);
    if is_known(headers, &picture.revision) {
        return Ok((StatusCode::NOT_MODIFIED, shared, revision).into_response());
    }
    let media = [(header::CONTENT_TYPE, "image/png")];
    Ok((media, shared, revision, picture.png.clone()).into_response())
}

/// Distance of contour lines at a zoom, m: lines on a slope of 20 % are some five pixels apart.
fn contour_interval_m(zoom: u8) -> f32 {
    match zoom {
        ..=8 => 500.0,
        9 => 200.0,
        10 | 11 => 100.0,
        12 => 50.0,
        13 => 20.0,
        _ => 10.0,
    }
}

fn draw(
    kind: TileKind,
    square: WebTile,
    zoom: u8,
    terrain: &dyn Terrain,
) -> Result<TilePicture, Problem> {
    let ground = square.ground(terrain);
    let smooth = || square.smooth(terrain, &ground);
    let png = match kind {
        TileKind::Heights => terrarium(&ground, false),
        TileKind::OpaqueHeights => terrarium(&ground, true),
        TileKind::Relief => relief(&ground, &smooth()),
        TileKind::ReliefHeights => detailed_relief(&ground, &smooth(), None),
        TileKind::ReliefContours => {
            detailed_relief(&ground, &smooth(), Some(contour_interval_m(zoom)))
        }
    };
    let png = png.map_err(|err| Problem::internal(err.to_string()))?;
    let revision = revision_of(&png);
    Ok(TilePicture { png, revision })
}
