//! Terrain over HTTP.

use axum::extract::State;
use groundwave_systems::terrain::{GeoPoint, sample_profile};

use super::Planner;
use super::wire::terrain::{ProfileQuestion, SAMPLES_MAX, SAMPLES_MIN, TerrainProfile};
use crate::http::{Json, JsonBody, Problem};

/// Get the terrain profile between two points
#[utoipa::path(post, path = "/api/v1/terrain/profile", tag = "analysis",
    responses(
        (status = 200, description = "The profile")))]
pub async fn profile(
    State(planner): State<Planner>,
    JsonBody(asked): JsonBody<ProfileQuestion>,
) -> Result<Json<TerrainProfile>, Problem> {
    let (from, to) = (
        GeoPoint::try_from(asked.from)?,
        GeoPoint::try_from(asked.to)?,
    );
    let samples = asked.samples.clamp(SAMPLES_MIN, SAMPLES_MAX) as usize;
    let found = planner.analyse(move |terrain| {
        let profile = sample_profile(terrain, from, to, samples);
        Ok(TerrainProfile::new(&profile, terrain))
    });
    Ok(Json(found.await?))
}
