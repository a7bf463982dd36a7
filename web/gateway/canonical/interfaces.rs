//! Interface endpoints: interfaces of nodes, as their heartbeats report them, with their settings.

use std::net::IpAddr;

use axum::extract::State;
use axum::http::HeaderMap;
use groundwave_engine::Id;
use groundwave_gateway::Snapshot;
use groundwave_gateway::canonical::{InterfaceKind, InterfaceSettings, UnderlayDomain};
use groundwave_gateway::config::{Expected, Put};
use groundwave_gateway::fleet::FleetNode;
use groundwave_http::json_body::StrictJson;
use groundwave_http::page::{Page, Paging};
use groundwave_http::tag::{Tag, if_match_revision, tag};
use groundwave_http::{Json, Path, Problem, Query};
use groundwave_protocol::Interface;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::{Operator, Viewer};
use crate::services::world::{World, missing};

/// Interface of a node.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct InterfaceView {
    /// Interface id.
    pub interface_id: Uuid,
    /// Node id.
    pub node_id: Uuid,
    /// Name on the node.
    pub ifname: String,
    /// Kind.
    pub kind: InterfaceKind,
    /// Underlay domain, if one is assigned.
    pub domain_id: Option<Uuid>,
    /// Label, if there is one.
    pub label: Option<String>,
    /// Hardware address.
    pub mac: Option<String>,
    /// IP addresses.
    pub ips: Vec<IpAddr>,
    /// Operational state, as the kernel of the node names it.
    pub oper: String,
    /// MTU, bytes.
    pub mtu: u32,
    /// Revision of the settings, for `If-Match`; 0 without settings.
    pub revision: u64,
}

/// The interfaces of a node, each with its id.
fn of_node(view: &Snapshot, node: &FleetNode) -> Vec<InterfaceView> {
    let Some(last) = &node.last_heartbeat else {
        return Vec::new();
    };
    let view_of = |reported: &Interface| {
        let id = InterfaceSettings::id(node.id, &reported.name);
        let versioned = view.config.interfaces.get(id);
        let settings = versioned.map(|versioned| &versioned.object);
        InterfaceView {
            interface_id: id.uuid(),
            node_id: node.id.uuid(),
            ifname: reported.name.clone(),
            kind: InterfaceKind::of(&last.heartbeat, &reported.name),
            domain_id: settings.and_then(|versioned| versioned.domain_id).map(Id::uuid),
            label: settings.and_then(|versioned| versioned.label.clone()),
            mac: reported.mac.clone(),
            ips: reported.ips.clone(),
            oper: reported.operstate.clone(),
            mtu: reported.mtu,
            revision: versioned.map_or(0, |versioned| versioned.revision),
        }
    };
    last.heartbeat.interfaces.iter().map(view_of).collect()
}

/// Filter of interfaces.
#[derive(Debug, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct InterfaceQuery {
    /// Node id
    pub node_id: Option<Uuid>,
}

/// List the interfaces of nodes
#[utoipa::path(get, path = "/v1/model/interfaces", tag = "model", params(InterfaceQuery, Paging),
    responses((status = 200, description = "Interfaces of the last heartbeats, sorted by node and interface id")))]
pub async fn interfaces(
    _: Viewer,
    State(world): State<World>,
    Query(query): Query<InterfaceQuery>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<InterfaceView>>, Problem> {
    let view = world.view();
    let nodes = view
        .fleet
        .nodes
        .values()
        .filter(|node| query.node_id.is_none_or(|id| node.id.uuid() == id));
    let all = nodes
        .flat_map(|node| {
            let mut interfaces = of_node(&view, node);
            interfaces.sort_by_key(|interface| interface.interface_id);
            interfaces
        })
        .map(|interface| (format!("{}/{}", interface.node_id, interface.interface_id), interface));
    Ok(Json(paging.of(all, |interface| interface)?))
}

/// Settings of an interface.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewInterfaceSettings {
    /// Underlay domain the interface belongs to; none if absent.
    #[serde(default)]
    pub domain_id: Option<Uuid>,
    /// Label; none if absent.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    pub label: Option<String>,
}

/// Set the underlay domain and label of an interface
#[utoipa::path(put, path = "/v1/model/interfaces/{interface_id}", tag = "model",
    params(("interface_id" = Uuid, Path, description = "Interface id"),
        ("if-match" = Option<String>, Header, description = "Revision that the change applies to")),
    responses((status = 200, description = "The interface",
            headers(("etag" = String, description = "New revision"))),
        (status = 404, description = "No node reports such an interface"),
        (status = 412, description = "Changed since that revision")))]
pub async fn interface_put(
    _: Operator,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
    StrictJson(settings): StrictJson<NewInterfaceSettings>,
) -> Result<(Tag, Json<InterfaceView>), Problem> {
    let view = world.view();
    let mut matching = view
        .fleet
        .nodes
        .values()
        .flat_map(|node| of_node(&view, node))
        .filter(|interface| interface.interface_id == id);
    let mut interface = matching.next().ok_or_else(|| missing("interface", id))?;
    let expected = match if_match_revision(&headers)? {
        Some(0) => Expected::Absent,
        Some(revision) => Expected::Revision(revision),
        None => Expected::Any,
    };
    let domain_id = settings.domain_id.map(Id::<UnderlayDomain>::new);
    let command = Put {
        id: Id::<InterfaceSettings>::new(id),
        object: InterfaceSettings {
            node_id: Id::new(interface.node_id),
            ifname: interface.ifname.clone(),
            domain_id,
            label: settings.label,
        },
        expected,
    };
    let versioned = world.submit(command).await?;
    interface.domain_id = settings.domain_id;
    interface.label = versioned.object.label;
    interface.revision = versioned.revision;
    Ok((tag(versioned.revision), Json(interface)))
}
