//! Mesh status and radio endpoints.

use std::sync::Arc;

use axum::extract::State;
use groundwave_host::readings::mesh;
use groundwave_host::readings::mesh::MeshStatus;
use groundwave_host::readings::wireless;
use groundwave_host::readings::wireless::{ChannelRow, PlinkRow};
use groundwave_http::{Json, Problem, Query};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::access::Viewer;
use crate::services::kernel::{
    HERE, InterfaceQuery, Known, Row, radios, rows, unread_of, with_nodes,
};
use crate::services::world::{World, blocking};
use crate::settings::Settings;

// Schemas of the document have names without paths.
type RowChannelRow = Row<ChannelRow>;
type KnownPlinkRow = Known<PlinkRow>;

/// Get the mesh status
#[utoipa::path(get, path = "/v1/mesh/status", tag = "mesh", params(InterfaceQuery),
    responses((status = 200, description = "Present state")))]
pub async fn mesh_status(
    _: Viewer,
    State(settings): State<Arc<Settings>>,
    Query(query): Query<InterfaceQuery>,
) -> Result<Json<MeshStatus>, Problem> {
    let ifname = query.mesh(&settings)?;
    let look = move || {
        // A mesh may be of wires.
        let radios = wireless::read(HERE).ok();
        mesh::status(HERE, &ifname, radios.as_ref()).map_err(|err| unread_of(&ifname, err))
    };
    Ok(Json(blocking(look).await?))
}

/// Filter by radio.
#[derive(Debug, Default, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct RadioQuery {
    /// Radio, such as `phy0`
    pub phy: Option<String>,
}

/// List radio channels in use
#[utoipa::path(get, path = "/v1/mesh/channels", tag = "mesh", params(RadioQuery),
    responses((status = 200, description = "Sorted by interface")))]
pub async fn mesh_channels(
    _: Viewer,
    Query(query): Query<RadioQuery>,
) -> Result<Json<Vec<RowChannelRow>>, Problem> {
    let mut channels = radios().await?.channels();
    channels.retain(|row| query.phy.as_ref().is_none_or(|phy| row.phy == *phy));
    Ok(Json(rows(channels)))
}

/// List 802.11s peer links
#[utoipa::path(get, path = "/v1/mesh/plinks", tag = "mesh", params(InterfaceQuery),
    responses((status = 200, description = "Sorted by interface; all interfaces unless one is named")))]
pub async fn mesh_plinks(
    _: Viewer,
    State(world): State<World>,
    Query(query): Query<InterfaceQuery>,
) -> Result<Json<Vec<KnownPlinkRow>>, Problem> {
    let ifname = query.checked()?;
    let mut plinks = radios().await?.plinks();
    plinks.retain(|row| ifname.as_ref().is_none_or(|ifname| row.ifname == *ifname));
    Ok(Json(with_nodes(&world.view(), plinks, |row| Some(row.mac))))
}
