//! The shapes on the wire, for the document.

use groundwave_io::netlink::batadv;
use groundwave_io::readings::{board, cpu, host, mesh, neighbours, reservations, routes};
use groundwave_io::readings::{leases, links, wireless};
use groundwave_systems::fleet::{Heartbeat, HeartbeatAck, NodeState};
use groundwave_systems::onboarding::{RegistrationState, WgRegister, WgRegisterResult};
use utoipa::openapi::{Ref, RefOr, Schema};

use super::admin::{audit as deeds, registrations, users};
use super::auth::sessions as auth;
use super::mesh::config::{ChangedSettings, Confirmation, NewMeshSettings};
use super::mesh::status::MeshSettings;
use super::mesh::{graph, peers, probes, topology};
use super::network::dhcp::NewReservation;
use super::nodes::{heartbeat, inventory as nodes, reports as detail, view as node};
use super::services::kernel::{Known, Row};
use super::system::status as system;
use super::telemetry::samples as telemetry;
use super::trust::enrolment as trust;
use crate::http::Schemas;
use crate::http::page::Page;

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
    graph::NetworkGraph,
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
    probes::NewProbe,
    probes::Probe,
    probes::ProbeId,
    MeshSettings,
    NewMeshSettings,
    ChangedSettings,
    Confirmation,
    NewReservation,
    Known<batadv::Originator>,
    Known<batadv::Neighbor>,
    Known<batadv::Gateway>,
    Known<batadv::TransLocal>,
    Known<batadv::TransGlobal>,
    Known<batadv::DatEntry>,
    Known<batadv::BlaClaim>,
    Row<batadv::HardInterface>,
    Row<wireless::ChannelRow>,
    Known<wireless::PlinkRow>,
    Row<wireless::WirelessRow>,
    Known<wireless::AssocRow>,
    Row<links::Interface>,
    Known<neighbours::Neighbour>,
    Row<routes::Route>,
    Known<reservations::Reservation>,
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
    schemas.add::<Page<deeds::AuditEntryView>>();
    schemas.add::<Page<Known<leases::Lease>>>();
    schemas.add::<host::SystemInfo>();
    schemas.add::<cpu::Cpu>();
    schemas.add::<board::Board>();
    schemas.add::<mesh::MeshStatus>();
    schemas.add::<Heartbeat>();
    schemas.add::<HeartbeatAck>();
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
