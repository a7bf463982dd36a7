//! State of the gateway: the services that handlers take with `State`.

use std::ops::Deref;
use std::sync::Arc;

use axum::extract::FromRef;
use groundwave_engine::Handle;
use groundwave_files::wall::{monotonic_ns, wall_ns};
use groundwave_gateway::Snapshot;
use groundwave_gateway::account::AccountId;
use groundwave_host::gpio::GpioLines;
use groundwave_http::streams::OpenStreams;
use groundwave_io_gateway::Audit;
use groundwave_outbound::Outbound;
use groundwave_telemetry::TelemetryStore;
use tokio_util::sync::CancellationToken;

use super::services::audit_sampling::AuditSampling;
use super::services::backups::Backups;
use super::services::camera::hub::Cameras;
use super::services::challenges::Challenges;
use super::services::dhcp::DhcpServer;
use super::services::external::state::ExternalStates;
use super::services::firewall::FirewallService;
use super::services::firmware::FirmwareImages;
use super::services::host::Host;
use super::services::limits::RateLimits;
use super::services::local_service::{ImpairmentDaemon, TestbedController};
use super::services::mesh_config::MeshConfigService;
use super::services::metrics::Metrics;
use super::services::nut::NutServer;
use super::services::passwords::Passwords;
use super::services::peripherals::PeripheralHost;
use super::services::playback::Playback;
use super::services::probes::Probes;
use super::services::replies::{Moment, Replies};
use super::services::tasks::BackgroundTasks;
use super::services::tls::TlsCertificate;
use super::services::tokens::TokenKeys;
use super::services::topology::TopologyState;
use super::services::tunnel::TunnelState;
use super::services::vault::Vault;
use super::services::world::World;
use super::settings::Settings;

/// Event streams of an account.
pub const STREAMS_PER_ACCOUNT_MAX: usize = 16;
/// Event streams of all accounts.
const STREAMS_MAX: usize = 512;

/// The gateway. Cheap to clone: every request has one.
#[derive(Clone)]
pub struct Gateway(Arc<Services>);

impl Deref for Gateway {
    type Target = Services;

    fn deref(&self) -> &Services {
        &self.0
    }
}

macro_rules! services {
    ($($(#[$meta:meta])* $name:ident: $service:ty,)+) => {
        /// Services of a gateway.
        pub struct Services {
            $($(#[$meta])* pub $name: $service,)+
        }

        $(impl FromRef<Gateway> for $service {
            fn from_ref(gateway: &Gateway) -> Self {
                gateway.$name.clone()
            }
        })+
    };
}

services! {
    /// World and clocks.
    world: World,
    /// Settings of the start.
    settings: Arc<Settings>,
    /// Signing keys of tokens.
    tokens: Arc<TokenKeys>,
    /// Hashing and checking of passwords.
    passwords: Arc<Passwords>,
    /// Sealing of secrets in the world.
    vault: Vault,
    /// Challenges of join requests.
    challenges: Arc<Challenges>,
    /// Rate limits of logins, registrations, heartbeats and samples.
    limits: Arc<RateLimits>,
    /// Audit log.
    audit: Arc<Audit>,
    /// Sampling of refused requests in the audit log.
    audit_sampling: Arc<AuditSampling>,
    /// Telemetry and topology of the past.
    history: TelemetryStore,
    /// Prometheus metrics.
    metrics: Arc<Metrics>,
    /// Replies to POST requests with an `Idempotency-Key`.
    idempotency: Arc<Replies>,
    /// Topology snapshots.
    topology: Arc<TopologyState>,
    /// Host of the gateway.
    host: Arc<Host>,
    /// Sensors and GPIO lines of the host, and sensor plans.
    peripherals: Arc<PeripheralHost>,
    /// DHCP server of the underlay.
    dhcp: Arc<DhcpServer>,
    /// Settings of the mesh.
    mesh_config: Arc<MeshConfigService>,
    /// Ruleset of the firewall.
    firewall: Arc<FirewallService>,
    /// Gateway's end of the tunnel.
    tunnel: Arc<TunnelState>,
    /// Validity of the TLS certificate.
    tls: Arc<TlsCertificate>,
    /// Images of firmware.
    firmware: Arc<FirmwareImages>,
    /// NUT server: power supplies.
    nut: Arc<NutServer>,
    /// Reachability probes.
    probes: Arc<Probes>,
    /// Client of requests to other systems.
    outbound: Outbound,
    /// Started cameras.
    cameras: Arc<Cameras>,
    /// States of external systems.
    external: Arc<ExternalStates>,
    /// Impairment daemon.
    impairment: Arc<ImpairmentDaemon>,
    /// Playback of a timeline of impairments.
    playback: Arc<Playback>,
    /// Controller of a testbed.
    testbed: Arc<TestbedController>,
    /// Backups of the store.
    backups: Arc<Backups>,
    /// Background tasks: last runs and errors.
    background_tasks: Arc<BackgroundTasks>,
    /// Open event streams by account.
    streams: Arc<OpenStreams<AccountId>>,
    /// Cancelled when the gateway stops, so that streams end.
    stop: CancellationToken,
}

impl Gateway {
    /// Gateway over a world.
    #[must_use]
    pub fn new(
        world: Handle<Snapshot>,
        settings: Settings,
        key: &[u8; 32],
        audit: Audit,
        history: TelemetryStore,
        stop: CancellationToken,
    ) -> Self {
        let now = Moment { monotonic_ns: monotonic_ns(), wall_ns: wall_ns() };
        let dhcp = DhcpServer::new(settings.leases.clone(), settings.reservations.clone());
        let gpio = GpioLines::new(settings.gpio_lines.clone());
        let impairment = Arc::new(ImpairmentDaemon::new(settings.flow_servers.impaird.clone()));
        let testbed = TestbedController::new(settings.testbed_socket.clone());
        Self(Arc::new(Services {
            world: World::new(world),
            tokens: Arc::new(TokenKeys::new(key)),
            passwords: Arc::new(Passwords::new(settings.effort, Vault::new(key))),
            vault: Vault::new(key),
            challenges: Arc::new(Challenges::new(key)),
            limits: Arc::new(RateLimits::new(settings.heartbeat)),
            audit: Arc::new(audit),
            audit_sampling: Arc::default(),
            history,
            metrics: Arc::default(),
            idempotency: Arc::new(Replies::new(settings.replies.clone(), Vault::new(key), now)),
            topology: Arc::default(),
            host: Arc::default(),
            peripherals: Arc::new(PeripheralHost::new(gpio)),
            dhcp: Arc::new(dhcp),
            mesh_config: Arc::new(MeshConfigService::new(
                &settings.mesh_ifname,
                settings.mesh_before.as_deref(),
            )),
            firewall: Arc::new(FirewallService::new(settings.netns.clone())),
            tunnel: Arc::default(),
            tls: Arc::default(),
            firmware: Arc::new(FirmwareImages::new(settings.firmware.clone())),
            nut: Arc::new(NutServer::new(settings.nut.clone())),
            probes: Arc::default(),
            outbound: Outbound::new(settings.targets.clone()),
            cameras: Arc::default(),
            external: Arc::default(),
            playback: Arc::new(Playback::new(Arc::clone(&impairment), stop.clone())),
            impairment,
            testbed: Arc::new(testbed),
            backups: Arc::new(Backups::new(key)),
            background_tasks: Arc::default(),
            settings: Arc::new(settings),
            streams: OpenStreams::new(STREAMS_PER_ACCOUNT_MAX, STREAMS_MAX),
            stop,
        }))
    }
}
