//! Node inventory endpoints.

use std::net::Ipv4Addr;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use groundwave_files::wall::wall_ns;
use groundwave_gateway::camera::Camera;
use groundwave_gateway::fleet::{Location, LocationSource, PatchNode, is_same_role};
use groundwave_gateway::onboarding::{DeregisterNode, PreregisterNode, SameMac};
use groundwave_http::json_body::StrictJson;
use groundwave_http::page::{Page, Paging};
use groundwave_http::problem::FieldCode;
use groundwave_http::tag::{Tag, if_match_revision, tag};
use groundwave_http::{Json, Path, Problem, Query, id, name};
use groundwave_model::terrain::GeoPoint;
use groundwave_protocol::NodeState;
use groundwave_protocol::{Mac, PublicKey};
use groundwave_simulation::site::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::access::{Admin, NodeOrViewer, Operator, Viewer};
use crate::nodes::view::{Node, Origin};
use crate::services::camera::hub::Cameras;
use crate::services::config_objects::objects;
use crate::services::secrets::{issue, random};
use crate::services::world::{World, missing};

/// Filter of nodes.
#[derive(Debug, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct NodeQuery {
    /// State
    #[param(schema_with = groundwave_http::document::schema_ref::<NodeState>, required = false)]
    pub state: Option<NodeState>,
    /// Role, by its id or its name
    pub role_id: Option<String>,
    /// Tag
    pub tag: Option<String>,
    /// Origin; default `live`
    #[param(value_type = Option<Origin>)]
    pub origin: Option<Origin>,
    /// Text in name, host name, MAC or overlay address
    pub q: Option<String>,
}

/// List nodes
#[utoipa::path(get, path = "/v1/nodes", tag = "nodes", params(NodeQuery, Paging),
    responses((status = 200, description = "Sorted by node id")))]
pub async fn nodes_list(
    _: Viewer,
    State(world): State<World>,
    Query(query): Query<NodeQuery>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<Node>>, Problem> {
    let view = world.view();
    let wall_ns = wall_ns();
    let word = query.q.as_ref().map(|word| word.to_lowercase());
    let fits = |node: &&Arc<groundwave_gateway::fleet::FleetNode>| {
        let member = &node.record;
        let contains = |word: &String| {
            let ip = member.overlay_ip.map(|ip| ip.to_string());
            let mac = member.mac.map(|mac| mac.to_string());
            [Some(member.name.clone()), member.hostname.clone(), ip, mac]
                .into_iter()
                .flatten()
                .any(|text| text.to_lowercase().contains(word))
        };
        let roles = &view.config.node_roles;
        let has_role = |wanted: &str| {
            let own = member.role_id.as_deref();
            own.is_some_and(|own| is_same_role(roles, own, wanted))
        };
        query.state.is_none_or(|state| state == node.liveness.state)
            && query.role_id.as_deref().is_none_or(has_role)
            && query.tag.as_ref().is_none_or(|tag| member.tags.contains(tag))
            && query.origin.is_none_or(|origin| origin == Origin::Live)
            && word.as_ref().is_none_or(contains)
    };
    let all = view.fleet.nodes.values().filter(fits).map(|node| (node.id.uuid().to_string(), node));
    let page = paging.of(all, |node| Node::of(&view, node, wall_ns))?;
    Ok(Json(page))
}

fn response(world: &World, id: Uuid) -> Result<(Tag, Json<Node>), Problem> {
    let node = world.node(id)?;
    let view = world.view();
    let node = Node::of(&view, &node, wall_ns());
    Ok((tag(node.revision), Json(node)))
}

/// Get a node
#[utoipa::path(get, path = "/v1/nodes/{node_id}", tag = "nodes",
    params(("node_id" = Uuid, Path, description = "Node id")),
    responses((status = 200, description = "The node",
            headers(("etag" = String, description = "Revision"))),
        (status = 404, description = "No such node")))]
pub async fn node_fetch(
    _: NodeOrViewer,
    State(world): State<World>,
    Path(id): Path<Uuid>,
) -> Result<(Tag, Json<Node>), Problem> {
    response(&world, id)
}

/// Manual position of a node.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PositionOverride {
    /// Latitude, WGS 84, degrees.
    #[schemars(range(min = -90.0, max = 90.0))]
    pub lat: f64,
    /// Longitude, WGS 84, degrees.
    #[schemars(range(min = -180.0, max = 180.0))]
    pub lon: f64,
    /// Height above mean sea level, m.
    #[serde(default)]
    #[schemars(range(min = -500.0, max = 20_000.0))]
    pub alt_m: Option<f64>,
}

/// Distinguishes null, which clears, from absent, which keeps.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(from).map(Some)
}

/// Changes of a node; absent fields stay, null clears.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeChange {
    /// Name.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    pub name: Option<String>,
    /// Role id.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Option<String>")]
    pub role_id: Option<Option<String>>,
    /// Tags.
    #[serde(default)]
    #[schemars(length(max = 32))]
    pub tags: Option<Vec<String>>,
    /// Manual position; overrides that of the receiver.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Option<PositionOverride>")]
    pub position_override: Option<Option<PositionOverride>>,
}

fn place(position: PositionOverride) -> Result<Location, Problem> {
    let point = GeoPoint::new(position.lat, position.lon).map_err(|bad| {
        Problem::field("/position_override", FieldCode::NotAllowed, bad.to_string())
    })?;
    let height = position.alt_m.filter(|alt_m| !(-500.0..=20_000.0).contains(alt_m));
    if let Some(alt_m) = height {
        let message = format!("invalid height: found {alt_m}, allowed -500 to 20000");
        return Err(Problem::field("/position_override/alt_m", FieldCode::NotAllowed, message));
    }
    Ok(Location {
        lat_deg: point.lat_deg(),
        lon_deg: point.lon_deg(),
        alt_msl_m: position.alt_m,
        ts_ms: wall_ns() / 1_000_000,
        source: LocationSource::Override,
    })
}

/// Checks that tags can be seen, and that each occurs once.
///
/// # Errors
/// 422 with the tag.
pub fn check_tags(tags: &[String]) -> Result<(), Problem> {
    for (index, tag) in tags.iter().enumerate() {
        let pointer = format!("/tags/{index}");
        name::check(&pointer, tag)?;
        if tags[..index].contains(tag) {
            let message = format!("invalid tag: found {tag:?} twice, allowed once");
            return Err(Problem::field(&pointer, FieldCode::NotAllowed, message));
        }
    }
    Ok(())
}

/// Update a node
#[utoipa::path(patch, path = "/v1/nodes/{node_id}", tag = "nodes",
    params(("node_id" = Uuid, Path, description = "Node id"),
        ("if-match" = Option<String>, Header, description = "Revision that the change applies to")),
    responses((status = 200, description = "Updated node",
            headers(("etag" = String, description = "Revision"))),
        (status = 404, description = "No such node"),
        (status = 412, description = "Changed since that revision")))]
pub async fn node_patch(
    _: Operator,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
    StrictJson(change): StrictJson<NodeChange>,
) -> Result<(Tag, Json<Node>), Problem> {
    let node = world.node(id)?.id;
    change.name.as_deref().map_or(Ok(()), |text| name::check("/name", text))?;
    check_tags(change.tags.as_deref().unwrap_or_default())?;
    let position = change.position_override;
    let place = position.map(|position| position.map(place).transpose());
    let command = PatchNode {
        node,
        name: change.name,
        role_id: change.role_id,
        tags: change.tags,
        location: place.transpose()?,
        revision: if_match_revision(&headers)?,
    };
    world.submit(command).await?;
    response(&world, id)
}

/// Remove a node: its peer, address and credential. A planned node stays in the plan
///
/// Sensor assignments, cameras and settings of the node go with it; flows that name no other node are
/// disabled.
#[utoipa::path(delete, path = "/v1/nodes/{node_id}", tag = "nodes",
    params(("node_id" = Uuid, Path, description = "Node id")),
    responses((status = 204, description = "Deleted"),
        (status = 404, description = "No such node")))]
pub async fn node_delete(
    Admin(caller): Admin,
    State(world): State<World>,
    State(hub): State<Arc<Cameras>>,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    let node = world.node(id)?;
    let cameras = objects::<Camera>(&world);
    let command = DeregisterNode { node: node.id, cascade: true, by: caller.username.clone() };
    world.submit(command).await?;
    let own = cameras.iter().filter(|(_, camera)| camera.object.node_id == Some(node.id));
    own.for_each(|(camera, _)| hub.stop(camera.uuid()));
    Ok(StatusCode::NO_CONTENT)
}

/// Node registered in advance.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectedNode {
    /// Name.
    #[schemars(length(min = 1, max = 64))]
    pub name: String,
    /// MAC address of the mesh interface.
    pub mac: Mac,
    /// WireGuard public key, if known; approved without the code.
    #[serde(default)]
    pub public_key: Option<PublicKey>,
    /// Role id.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    pub role_id: Option<String>,
    /// Tags.
    #[serde(default)]
    #[schemars(length(max = 32))]
    pub tags: Vec<String>,
    /// Overlay address that it gets; default a free one.
    #[serde(default)]
    pub overlay_ip: Option<Ipv4Addr>,
    /// Planned node; default a new node.
    #[serde(default)]
    pub node_id: Option<Uuid>,
}

/// Node registered in advance, with its enrolment code.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct NodeAndCode {
    /// Node.
    pub node: Node,
    /// Enrolment code, valid for a day, shown once.
    pub enrollment_code: String,
}

fn code() -> Result<String, Problem> {
    let bytes: [u8; 16] = random()?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Register a node in advance
#[utoipa::path(post, path = "/v1/nodes/register", tag = "nodes",
    responses((status = 201, description = "Registered"),
        (status = 404, description = "No such planned node"),
        (status = 409, description = "Node or public key already approved, or another node has the MAC address, the public key or the overlay address")))]
pub async fn node_register(
    _: Admin,
    State(world): State<World>,
    StrictJson(new): StrictJson<ExpectedNode>,
) -> Result<(StatusCode, Json<NodeAndCode>), Problem> {
    name::check("/name", &new.name)?;
    check_tags(&new.tags)?;
    let node = planned(&world, new.node_id)?;
    let enrollment_code = code()?;
    let command = PreregisterNode {
        node,
        name: new.name,
        mac: new.mac,
        same_mac: SameMac::SameNode,
        public_key: new.public_key,
        role_id: new.role_id,
        tags: new.tags,
        overlay_ip: new.overlay_ip,
        code_sha256: Sha256::digest(enrollment_code.as_bytes()).into(),
    };
    world.submit(command).await?;
    let (_, Json(node)) = response(&world, node.uuid())?;
    let created = NodeAndCode { node, enrollment_code };
    Ok((StatusCode::CREATED, Json(created)))
}

/// Planned or known node with this id; a new id without one.
///
/// # Errors
/// 404.
pub fn planned(world: &World, id: Option<Uuid>) -> Result<NodeId, Problem> {
    let Some(id) = id else {
        return Ok(NodeId::new(id::mint()));
    };
    let view = world.view();
    let node = NodeId::new(id);
    let exists = view.plan.nodes.contains_key(&node)
        || view.fleet.nodes.contains_key(&node)
        || view.node(node).is_some();
    exists.then_some(node).ok_or_else(|| missing("node", id))
}

/// New credential.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct NewCredential {
    /// Username.
    pub username: String,
    /// Password, shown once.
    pub enrollment_code: String,
}

/// Issue a new credential to a node and revoke the old one with its tokens
#[utoipa::path(post, path = "/v1/nodes/{node_id}/rotate-credentials", tag = "nodes",
    params(("node_id" = Uuid, Path, description = "Node id")),
    responses((status = 200, description = "New credential, shown once"),
        (status = 404, description = "No such node, or not approved")))]
pub async fn node_rotate_credentials(
    _: Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
) -> Result<Json<NewCredential>, Problem> {
    let node = world.node(id)?;
    let hostname = node.record.hostname.clone().unwrap_or_default();
    let credentials = issue(&world, node.id, &hostname).await?;
    Ok(Json(NewCredential {
        username: credentials.username,
        enrollment_code: credentials.password,
    }))
}
