//! Join key endpoints.

use axum::extract::State;
use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use groundwave_engine::Id;
use groundwave_gateway::config::{Expected, Put, Remove, Versioned};
use groundwave_gateway::onboarding::{JoinKey, nodes_used};
use groundwave_http::json_body::StrictJson;
use groundwave_http::page::{Page, Paging};
use groundwave_http::problem::FieldCode;
use groundwave_http::time::rfc3339;
use groundwave_http::{Json, Path, Problem, Query, id, name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::access::Admin;
use crate::nodes::inventory::check_tags;
use crate::services::secrets::random;
use crate::services::world::World;

/// Maximum validity of a join key, s: 400 days.
const VALID_S_MAX: u64 = 400 * 86_400;

/// Join key, without the key itself.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct JoinKeyView {
    /// Join key id.
    pub join_key_id: Uuid,
    /// Name.
    pub name: String,
    /// Expiry, RFC 3339.
    pub expires_at: String,
    /// It has expired.
    pub expired: bool,
    /// Maximum number of nodes that it admits.
    pub nodes_max: u32,
    /// Nodes that it has admitted.
    pub nodes_used: usize,
    /// Tags of the nodes that it admits.
    pub tags: Vec<String>,
    /// Time of creation, RFC 3339.
    pub created_at: String,
}

fn view_of(world: &World, id: Id<JoinKey>, versioned: &Versioned<JoinKey>) -> JoinKeyView {
    let view = world.view();
    let key = &versioned.object;
    JoinKeyView {
        join_key_id: id.uuid(),
        name: key.name.clone(),
        expires_at: rfc3339(key.expires_ns),
        expired: key.expires_ns <= world.wall_ns(),
        nodes_max: key.nodes_max,
        nodes_used: nodes_used(id, key, view.onboarding.registrations.values().map(AsRef::as_ref)),
        tags: key.tags.clone(),
        created_at: rfc3339(versioned.created_ns),
    }
}

/// List join keys
#[utoipa::path(get, path = "/v1/trust/join-keys", tag = "trust", params(Paging),
    responses((status = 200, description = "Oldest first, expired ones included")))]
pub async fn join_keys(
    _: Admin,
    State(world): State<World>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<JoinKeyView>>, Problem> {
    let view = world.view();
    let all = view
        .config
        .join_keys
        .iter()
        .map(|(id, versioned)| (id.uuid().to_string(), (id, versioned)));
    Ok(Json(paging.of(all, |(id, versioned)| view_of(&world, id, versioned))?))
}

/// New join key.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewJoinKey {
    /// Name, unique.
    #[schemars(length(min = 1, max = 64))]
    pub name: String,
    /// Validity, s, up to 400 days.
    #[schemars(range(min = 60, max = 34_560_000))]
    pub valid_s: u64,
    /// Maximum number of nodes that it admits.
    #[schemars(range(min = 1, max = 10_000))]
    pub nodes_max: u32,
    /// Tags of the nodes that it admits.
    #[serde(default)]
    #[schemars(length(max = 16))]
    pub tags: Vec<String>,
}

/// Created join key.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CreatedJoinKey {
    /// Key, shown once; nodes send it as `enrollment_code`.
    pub join_key: String,
    /// Join key.
    #[serde(flatten)]
    pub view: JoinKeyView,
}

/// Create a join key
///
/// It admits nodes with any key under every policy, until it expires or `nodes_max` nodes have used it.
/// A known hardware address with another key still waits for an admin.
#[utoipa::path(post, path = "/v1/trust/join-keys", tag = "trust",
    responses((status = 201, description = "The key, shown once"),
        (status = 409, description = "Name exists")))]
pub async fn join_key_create(
    _: Admin,
    State(world): State<World>,
    StrictJson(new): StrictJson<NewJoinKey>,
) -> Result<(StatusCode, Json<CreatedJoinKey>), Problem> {
    if !(60..=VALID_S_MAX).contains(&new.valid_s) {
        let message =
            format!("invalid validity: found {}, allowed 60 to {VALID_S_MAX}", new.valid_s);
        return Err(Problem::field("/valid_s", FieldCode::NotAllowed, message));
    }
    name::check("/name", &new.name)?;
    check_tags(&new.tags)?;
    let join_key = URL_SAFE_NO_PAD.encode(random::<24>()?);
    let id = Id::new(id::mint());
    let command = Put {
        id,
        object: JoinKey {
            name: new.name,
            key_sha256: Sha256::digest(join_key.as_bytes()).into(),
            expires_ns: world.wall_ns() + new.valid_s * 1_000_000_000,
            nodes_max: new.nodes_max,
            tags: new.tags,
        },
        expected: Expected::Absent,
    };
    let versioned = world.submit(command).await?;
    let view = view_of(&world, id, &versioned);
    Ok((StatusCode::CREATED, Json(CreatedJoinKey { join_key, view })))
}

/// Remove a join key; the nodes that it admitted stay
#[utoipa::path(delete, path = "/v1/trust/join-keys/{join_key_id}", tag = "trust",
    params(("join_key_id" = Uuid, Path, description = "Join key id")),
    responses((status = 204, description = "Removed"),
        (status = 404, description = "No such join key")))]
pub async fn join_key_remove(
    _: Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    let command = Remove::<JoinKey> { id: Id::new(id), expected: Expected::Present };
    world.submit(command).await?;
    Ok(StatusCode::NO_CONTENT)
}
