//! Firmware image endpoints.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use groundwave_engine::Id;
use groundwave_gateway::config::{Expected, Put, Versioned};
use groundwave_gateway::rollout::FirmwareImage;
use groundwave_http::document::Bytes;
use groundwave_http::endpoints::Describe;
use groundwave_http::extract::plain_encoding;
use groundwave_http::page::{Page, Paging};
use groundwave_http::problem::FieldCode;
use groundwave_http::show::typed;
use groundwave_http::tag::Tag;
use groundwave_http::{Json, Path, Problem, Query, Schemas, id, name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::range::{Part, part};
use crate::access::{Admin, NodeOrOperator, Viewer};
use crate::services::config_objects::{Revision, Shown, fetch, list, objects, remove};
use crate::services::firmware::FirmwareImages;
use crate::services::world::{World, blocking, missing};

/// Firmware image.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct FirmwareImageView {
    /// Image id.
    pub image_id: Uuid,
    /// Image.
    #[serde(flatten)]
    pub image: FirmwareImage,
    /// Revision.
    #[serde(flatten)]
    pub revision: Revision,
}

impl Shown for FirmwareImageView {
    type Object = FirmwareImage;

    fn of(id: Uuid, versioned: &Versioned<FirmwareImage>) -> Self {
        Self { image_id: id, image: versioned.object.clone(), revision: Revision::of(versioned) }
    }
}

/// List firmware images
#[utoipa::path(get, path = "/v1/firmware/images", tag = "nodes", params(Paging),
    responses((status = 200, description = "Oldest first")))]
pub async fn firmware_images(
    _: Viewer,
    State(world): State<World>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<FirmwareImageView>>, Problem> {
    list(&world, &paging, |_| true)
}

/// New image, beside its bytes.
#[derive(Debug, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct NewImage {
    /// Version, unique for its board: what nodes report once they run it
    #[param(min_length = 1, max_length = 64)]
    pub version: String,
    /// SHA-256 of the image, hexadecimal
    #[param(pattern = "^[0-9a-f]{64}$")]
    pub sha256: String,
    /// Board that it is for, as nodes report theirs; any if absent
    #[serde(default)]
    #[param(min_length = 1, max_length = 128)]
    pub board: Option<String>,
}

/// Body of an upload, as it comes.
pub struct ImageBody(Body);

impl<S: Send + Sync> FromRequest<S> for ImageBody {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        plain_encoding(request.headers())?;
        let media = request.headers().get(header::CONTENT_TYPE);
        if media.is_none_or(|media| media != "application/octet-stream") {
            return Err(Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "unsupported media type: allowed application/octet-stream",
            ));
        }
        Ok(Self(request.into_body()))
    }
}

impl Describe for ImageBody {
    fn describe(operation: &mut Value, _: &mut Schemas) {
        operation["requestBody"] = json!({
            "content": { "application/octet-stream": {
                "schema": { "type": "string", "format": "binary" } } },
            "required": true,
        });
    }
}

/// Upload a firmware image
///
/// At most 512 MiB, written whole or not at all.
#[utoipa::path(post, path = "/v1/firmware/images", tag = "nodes", params(NewImage),
    responses((status = 201, description = "The image",
            headers(("etag" = String, description = "Revision"))),
        (status = 409, description = "Version exists for this board, or another upload goes on"),
        (status = 413, description = "Too large"),
        (status = 415, description = "Not application/octet-stream"),
        (status = 422, description = "Other bytes than those of the digest")))]
pub async fn firmware_image_upload(
    _: Admin,
    State(world): State<World>,
    State(images): State<Arc<FirmwareImages>>,
    Query(new): Query<NewImage>,
    ImageBody(body): ImageBody,
) -> Result<(StatusCode, Tag, Json<FirmwareImageView>), Problem> {
    // Tools of some systems write it in capitals.
    let sha256 = new.sha256.to_ascii_lowercase();
    if sha256.len() != 64 || !sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let message = "invalid digest: allowed 64 hexadecimal digits";
        return Err(Problem::field("/sha256", FieldCode::Format, message));
    }
    name::check("/version", &new.version)?;
    new.board.as_deref().map_or(Ok(()), |board| name::check("/board", board))?;
    let stored = objects::<FirmwareImage>(&world);
    let is_same = |image: &FirmwareImage| image.version == new.version && image.board == new.board;
    if stored.iter().any(|(_, versioned)| is_same(&versioned.object)) {
        let message = format!("another firmware image for this board is called {:?}", new.version);
        return Err(Problem::new(StatusCode::CONFLICT, message));
    }
    let id = id::mint();
    let size_bytes = images.keep(id, &sha256, body).await?;
    let command = Put {
        id: Id::new(id),
        object: FirmwareImage { version: new.version, sha256, size_bytes, board: new.board },
        expected: Expected::Absent,
    };
    if let Err(problem) = world.submit(command).await {
        let folder = images.folder()?;
        let _ = blocking(move || folder.remove(id).map_err(unremoved)).await;
        return Err(problem);
    }
    let (tag, image_view) = fetch(&world, id)?;
    Ok((StatusCode::CREATED, tag, image_view))
}

fn unremoved(err: std::io::Error) -> Problem {
    Problem::internal(format!("firmware image: {err}"))
}

/// Get a firmware image
#[utoipa::path(get, path = "/v1/firmware/images/{image_id}", tag = "nodes",
    params(("image_id" = Uuid, Path, description = "Image id")),
    responses((status = 200, description = "The image, without its bytes",
            headers(("etag" = String, description = "Revision"))),
        (status = 404, description = "No such image")))]
pub async fn firmware_image_fetch(
    _: Viewer,
    State(world): State<World>,
    Path(id): Path<Uuid>,
) -> Result<(Tag, Json<FirmwareImageView>), Problem> {
    fetch(&world, id)
}

/// Remove a firmware image
#[utoipa::path(delete, path = "/v1/firmware/images/{image_id}", tag = "nodes",
    params(("image_id" = Uuid, Path, description = "Image id"),
        ("if-match" = Option<String>, Header, description = "Revision that the removal applies to")),
    responses((status = 204, description = "Removed"),
        (status = 404, description = "No such image"),
        (status = 409, description = "A roll-out needs it"),
        (status = 412, description = "Changed since that revision")))]
pub async fn firmware_image_delete(
    _: Admin,
    State(world): State<World>,
    State(images): State<Arc<FirmwareImages>>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let status = remove::<FirmwareImage>(&world, id, &headers).await?;
    // What stays behind after a fault is removed at the next start.
    if let Ok(folder) = images.folder() {
        blocking(move || folder.remove(id).map_err(unremoved)).await?;
    }
    Ok(status)
}

/// Download a firmware image, or a range of it
#[utoipa::path(get, path = "/v1/firmware/images/{image_id}/content", tag = "nodes",
    params(("image_id" = Uuid, Path, description = "Image id"),
        ("range" = Option<String>, Header, description = "One range of bytes")),
    responses((status = 200, description = "The image", body = inline(Bytes), content_type = "application/octet-stream"),
        (status = 206, description = "The range", body = inline(Bytes), content_type = "application/octet-stream"),
        (status = 404, description = "No such image"),
        (status = 416, description = "Range outside the image"),
        (status = 503, description = "The file of the image is missing")))]
pub async fn firmware_image_content(
    _: NodeOrOperator,
    State(world): State<World>,
    State(images): State<Arc<FirmwareImages>>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let stored = objects::<FirmwareImage>(&world);
    let versioned = stored.get(Id::new(id)).ok_or_else(|| missing("firmware image", id))?;
    let length = versioned.object.size_bytes;
    let range = headers.get(header::RANGE).and_then(|range| range.to_str().ok());
    let (status, begin, end) = match part(range, length) {
        Part::Whole => (StatusCode::OK, 0, length),
        Part::Range(begin, end) => (StatusCode::PARTIAL_CONTENT, begin, end),
        Part::Unsatisfiable => {
            let message = format!("invalid range: allowed within 0 to {} bytes", length - 1);
            let problem = Problem::new(StatusCode::RANGE_NOT_SATISFIABLE, message);
            let content = [(header::CONTENT_RANGE, format!("bytes */{length}"))];
            return Ok((content, problem).into_response());
        }
    };
    let mut answer =
        typed("application/octet-stream", images.read(id, length, (begin, end)).await?);
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(end - begin));
    if status == StatusCode::PARTIAL_CONTENT {
        let content = format!("bytes {begin}-{}/{length}", end - 1);
        if let Ok(content) = HeaderValue::from_str(&content) {
            headers.insert(header::CONTENT_RANGE, content);
        }
    }
    Ok(answer)
}
