//! The shapes on the wire, for the document.

use groundwave_systems::fleet::{Beat, BeatAck, NodeState};
use groundwave_systems::onboarding::{RegistrationState, WgRegister, WgRegisterResult};
use utoipa::openapi::{Ref, RefOr, Schema};

use super::page::Page;
use super::{
    auth, deeds, detail, heartbeat, node, nodes, peers, registrations, system, telemetry, topology,
    trust, users,
};
use crate::http::Schemas;

crate::wire_schemas! {
    /// Adds the schemas of this interface's own shapes.
    fn own:
    auth::Login,
    auth::Token,
    auth::Me,
    auth::NewPassword,
    system::GatewayHealth,
    system::Capabilities,
    system::TaskView,
    topology::NetworkGraph,
    topology::MeshHealth,
    node::Node,
    node::Origin,
    nodes::NodeChange,
    nodes::ExpectedNode,
    nodes::NodeAndCode,
    nodes::NewCredential,
    heartbeat::JoinReport,
    heartbeat::Joined,
    heartbeat::NewOrder,
    heartbeat::OrderView,
    heartbeat::OrderResult,
    telemetry::TelemetryBatch,
    telemetry::BatchResult,
    telemetry::SeriesList,
    telemetry::LatestReadings,
    detail::Radios,
    detail::NodeHealth,
    detail::InterfaceList,
    detail::Endpoint,
    trust::TrustState,
    trust::NewPolicy,
    trust::SecretState,
    trust::Rotation,
    trust::NewSecret,
    trust::TrustedMacEntry,
    trust::NewTrustedMac,
    trust::MacImport,
    trust::MacImported,
    peers::Pools,
    registrations::RegistrationView,
    registrations::Approval,
    registrations::Rejection,
    registrations::Revocation,
    users::User,
    users::NewUser,
    users::UserChange,
}

/// Adds all schemas.
pub fn schemas(schemas: &mut Schemas) {
    own(schemas);
    schemas.add::<Page<node::Node>>();
    schemas.add::<Page<heartbeat::OrderView>>();
    schemas.add::<Page<telemetry::NodeReading>>();
    schemas.add::<Page<detail::NodeEvent>>();
    schemas.add::<Page<trust::TrustedMacEntry>>();
    schemas.add::<Page<peers::PeerView>>();
    schemas.add::<Page<peers::LeaseView>>();
    schemas.add::<Page<registrations::RegistrationView>>();
    schemas.add::<Page<users::User>>();
    schemas.add::<Page<deeds::DeedView>>();
    schemas.add::<Beat>();
    schemas.add::<BeatAck>();
    schemas.add::<WgRegister>();
    schemas.add::<WgRegisterResult>();
    schemas.add::<NodeState>();
    schemas.add::<RegistrationState>();
}

/// The schema of a node's state, where a query names one.
pub fn node_state() -> RefOr<Schema> {
    RefOr::Ref(Ref::from_schema_name("NodeState"))
}

/// The schema of a registration's state, where a query names one.
pub fn registration_state() -> RefOr<Schema> {
    RefOr::Ref(Ref::from_schema_name("RegistrationState"))
}
