//! Files of antenna patterns over HTTP.

use std::path::Path;

use axum::extract::State;
use groundwave_http::{Json, JsonBody, Problem};
use groundwave_scenario::antenna::{AntennaSummary, of_documents};

use super::Planner;
use super::wire::pattern::{PatternFile, PatternQuestion};

/// Maximum length of a request, bytes: two files of 4 MiB in base64.
pub const PATTERN_BYTES_MAX: usize = 12 << 20;

/// Read the file of an antenna pattern
///
/// MSI/Planet, TIA/EIA-804, SPLAT! or Radio Mobile, by the content. Nothing is stored: `pattern` and `gain_dbi` of
/// the answer are those of `radio.antenna` of a node. Up to 12 MiB.
#[utoipa::path(post, path = "/api/v1/antennas/pattern", tag = "presets",
    responses((status = 200, description = "Facts and losses of the antenna")))]
pub async fn pattern(
    State(planner): State<Planner>,
    JsonBody(request): JsonBody<PatternQuestion>,
) -> Result<Json<AntennaSummary>, Problem> {
    let count = request.files.len();
    if !(1..=2).contains(&count) {
        return Err(Problem::bad_request(format!("invalid files: found {count}, allowed 1 or 2")));
    }
    let read = planner.transfer(move || {
        let files: Result<Vec<_>, Problem> =
            request.files.into_iter().map(PatternFile::document).collect();
        let files = files?;
        let file = of_documents(&files[0], files.get(1))
            .map_err(|err| Problem::bad_request(err.to_string()))?;
        let stem = Path::new(&files[0].name).file_stem().unwrap_or_default();
        Ok(file.summary(&stem.to_string_lossy()))
    });
    Ok(Json(read.await?))
}
