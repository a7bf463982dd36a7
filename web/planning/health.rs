//! Health endpoints.

use axum::extract::State;
use groundwave_http::{Json, Problem};
use groundwave_model::terrain::GeoPoint;

use super::Planner;
use super::wire::health::{Alive, Ready};

/// Get liveness
#[utoipa::path(get, path = "/healthz", tag = "health",
    responses((status = 200, description = "Running")))]
pub async fn alive() -> Json<Alive> {
    Json(Alive {
        status: "ok".to_owned(),
        service: "groundwave".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// Get readiness: store reachable, terrain available
#[utoipa::path(get, path = "/readyz", tag = "health",
    responses(
        (status = 200, description = "Ready"),
        (status = 503, description = "Not ready; the reason is in `detail`")))]
pub async fn ready(State(planner): State<Planner>) -> Result<Json<Ready>, Problem> {
    planner.well()?;
    let probe = planner.store.clone();
    let asked = planner.analyse(move |terrain| {
        let store = probe().map_err(|why| Problem::unavailable(format!("the store: {why}")))?;
        // Any point will do: what counts is that the provider answers.
        let origin = GeoPoint::new(0.0, 0.0).expect("a point on Earth");
        let _ = (terrain.elevation_msl_m(origin), terrain.undulation_m(origin));
        Ok((store, terrain.describe().name))
    });
    let (store, terrain) = asked.await?;
    let status = "ready".to_owned();
    Ok(Json(Ready { status, store, terrain }))
}
