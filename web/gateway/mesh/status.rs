//! The mesh as a whole, and its radios.

use axum::extract::State;
use groundwave_io::readings::mesh::{self, MeshConfig, MeshStatus};
use groundwave_io::readings::wireless::{self, ChannelRow, PlinkRow, Radios};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::gateway::access::Viewer;
use crate::gateway::services::kernel::{
    HERE, InterfaceQuestion, Known, Row, known, rows, unread, unread_of,
};
use crate::gateway::state::Gateway;
use crate::http::tag::{self, Tag};
use crate::http::{Json, Problem, Query};

// The document knows shapes by plain names.
type RowChannelRow = Row<ChannelRow>;
type KnownPlinkRow = Known<PlinkRow>;

/// How the mesh is
#[utoipa::path(get, path = "/v1/mesh/status", tag = "mesh", params(InterfaceQuestion),
    responses((status = 200, description = "As it is now")))]
pub async fn mesh_status(
    _: Viewer,
    State(gateway): State<Gateway>,
    Query(asked): Query<InterfaceQuestion>,
) -> Result<Json<MeshStatus>, Problem> {
    let ifname = asked.mesh(&gateway)?;
    let look = move || {
        // A mesh may be of wires.
        let radios = wireless::read(HERE).ok();
        let found = mesh::status(HERE, &ifname, radios.as_ref());
        found.map_err(|err| unread_of(&ifname, err))
    };
    Ok(Json(gateway.block(look).await?))
}

/// Which radio is meant.
#[derive(Debug, Default, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct RadioQuestion {
    /// Only of this radio, for example `phy0`
    pub phy: Option<String>,
}

/// Everything the radios say.
pub async fn radios(gateway: &Gateway) -> Result<Radios, Problem> {
    gateway.block(|| wireless::read(HERE).map_err(unread)).await
}

/// Channels in use
#[utoipa::path(get, path = "/v1/mesh/channels", tag = "mesh", params(RadioQuestion),
    responses((status = 200, description = "By interface")))]
pub async fn mesh_channels(
    _: Viewer,
    State(gateway): State<Gateway>,
    Query(asked): Query<RadioQuestion>,
) -> Result<Json<Vec<RowChannelRow>>, Problem> {
    let mut found = radios(&gateway).await?.channels();
    found.retain(|row| asked.phy.as_ref().is_none_or(|phy| row.phy == *phy));
    Ok(Json(rows(found)))
}

/// Settings of the mesh, and which they are.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct MeshSettings {
    /// The settings.
    #[serde(flatten)]
    pub config: MeshConfig,
    /// Another one for other settings; for `If-Match`.
    pub revision: String,
}

impl MeshSettings {
    /// Settings with their revision.
    #[must_use]
    pub fn of(config: MeshConfig) -> Self {
        let text = serde_json::to_vec(&config).unwrap_or_default();
        Self {
            revision: tag::revision_of(text),
            config,
        }
    }

    /// The revision as a tag.
    #[must_use]
    pub fn tag(&self) -> Tag {
        tag::tag(&self.revision)
    }
}

/// Settings of the mesh; keys are not among them
#[utoipa::path(get, path = "/v1/mesh/config", tag = "mesh",
    responses((status = 200, description = "As they are now",
        headers(("etag" = String, description = "The revision")))))]
pub async fn mesh_config(
    _: Viewer,
    State(gateway): State<Gateway>,
) -> Result<(Tag, Json<MeshSettings>), Problem> {
    let ifname = gateway.settings.mesh_ifname.clone();
    let look = move || mesh::config(HERE, &ifname).map_err(unread);
    let found = MeshSettings::of(gateway.block(look).await?);
    Ok((found.tag(), Json(found)))
}

/// Peerings of the radios
#[utoipa::path(get, path = "/v1/mesh/plinks", tag = "mesh", params(InterfaceQuestion),
    responses((status = 200, description = "By interface; of all interfaces if none is named")))]
pub async fn mesh_plinks(
    _: Viewer,
    State(gateway): State<Gateway>,
    Query(asked): Query<InterfaceQuestion>,
) -> Result<Json<Vec<KnownPlinkRow>>, Problem> {
    let ifname = asked.sound()?;
    let mut found = radios(&gateway).await?.plinks();
    found.retain(|row| ifname.as_ref().is_none_or(|ifname| row.ifname == *ifname));
    Ok(Json(known(&gateway, found, |row| Some(row.mac))))
}
