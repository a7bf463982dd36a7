//! Files of calibrations over HTTP.

use axum::extract::State;
use groundwave_http::document::Bytes;
use groundwave_http::{Json, Problem, Query, Raw};
use groundwave_model::radio::Calibration;
use groundwave_scenario::calibration_profile::read;

use super::Planner;
use super::wire::exchange::FileQuery;

/// Maximum length of a request, bytes: a profile has some 20 classes of 300 bytes.
pub const PROFILE_BYTES_MAX: usize = 1 << 20;

/// Read the file of a calibration
///
/// A profile that `groundwave calibrate` wrote. Nothing is stored: the answer is `environment.calibration` of a
/// deployment. Up to 1 MiB.
#[utoipa::path(post, path = "/api/v1/calibrations/profile", tag = "presets",
    params(FileQuery),
    request_body(description = "The profile", content_type = "application/octet-stream", content = inline(Bytes)),
    responses((status = 200, description = "Offsets by class")))]
pub async fn calibration_profile(
    State(planner): State<Planner>,
    Query(asked): Query<FileQuery>,
    Raw(content): Raw,
) -> Result<Json<Calibration>, Problem> {
    let profile = planner.transfer(move || {
        let name = asked.file_name.filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| "profile".to_owned());
        let text = std::str::from_utf8(&content).map_err(|error| {
            Problem::bad_request(format!("invalid {name}: found {error}, allowed UTF-8"))
        })?;
        read(&name, text).map_err(|errors| Problem::bad_request(errors.to_string()))
    });
    Ok(Json(profile.await?))
}
