//! The mesh gateway: first admin, background tasks and serving.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use groundwave_credentials::SecretError;
use groundwave_engine::Effects;
use groundwave_gateway::account::{AccountId, AccountRole, CreateAccount};
use groundwave_gateway::automation::Deliver;
use groundwave_gateway::fleet::{RecordAlert, StoreMinute};
use groundwave_gateway::onboarding::{Policy, SetPolicy};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::admin::{ADMIN, BOOTSTRAP, generate_password};
pub use super::gateway_config::{GatewayConfig, TunnelChoice};
use super::tunnel_listener::TunnelListener;
use crate::Gateway;
use groundwave_http::Failure;
use groundwave_http::serve::{Serving, serve_with};
use groundwave_http::{Problem, id};

/// A gateway with its ports taken and its background tasks started.
pub struct RunningGateway {
    gateway: Gateway,
    listener: TcpListener,
    tls: Option<(TcpListener, TlsAcceptor)>,
    routes: Router,
    /// Tasks that write what is left when the gateway stops.
    writers: [JoinHandle<()>; 5],
}

impl RunningGateway {
    /// Takes the ports, creates the first admin and starts the background tasks; `minutes` are the
    /// readings for the history, `deliveries` the work of flows.
    pub async fn start(
        config: &GatewayConfig,
        gateway: Gateway,
        minutes: Effects<StoreMinute>,
        deliveries: Effects<Deliver>,
    ) -> Result<Self, Failure> {
        let identity = config.tls_identity()?;
        let admin_password = config.admin_password(!has_admin(&gateway))?;
        let listener = groundwave_http::bind(config.gateway_bind).await?;
        let tls = match identity {
            Some(identity) => {
                let acceptor = identity.acceptor().map_err(Failure::Machine)?;
                let listener = groundwave_http::bind(config.gateway_tls_bind).await?;
                gateway.tls.set(identity.validity());
                let certificate = Arc::clone(&gateway.tls);
                let stop = gateway.stop.clone();
                let world = gateway.world.clone();
                tokio::spawn(super::tls_reload::follow(identity, certificate, world, stop));
                Some((listener, acceptor))
            }
            None => None,
        };
        let listeners = [Some(&listener), tls.as_ref().map(|(listener, _)| listener)];
        for listener in listeners.into_iter().flatten() {
            gateway.outbound.listens_on(listener.local_addr()?);
        }
        let routes = crate::router(gateway.clone());
        let routes = super::proxies::behind(routes, &config.trusted_proxies);
        let failed = |problem: Problem| Failure::Machine(problem.detail);
        let bootstrap = config.state.file(BOOTSTRAP);
        create_first_admin(&gateway, admin_password, &bootstrap).await.map_err(failed)?;
        let started = crate::background_tasks::start_clock(&gateway).await;
        let is_started = match started {
            Ok(()) => true,
            // Served is what the store has; the clock starts when there is space.
            Err(problem) if problem.status == 507 => false,
            Err(problem) => return Err(failed(problem)),
        };
        if let Some(path) = gateway.settings.damaged_history.clone().filter(|path| path.exists()) {
            let about = "the history of readings was damaged and begun anew".to_owned();
            let data = BTreeMap::from([("file".to_owned(), path.display().to_string())]);
            // Told in the log and by the health check as well.
            let _ = gateway.world.submit(RecordAlert { about, data }).await;
        }
        tokio::spawn(crate::background_tasks::advance_clock(gateway.clone(), is_started));
        tokio::spawn(crate::background_tasks::roll_up(gateway.clone()));
        tokio::spawn(crate::background_tasks::read_sensors(gateway.clone()));
        tokio::spawn(crate::background_tasks::snapshot_topology(gateway.clone()));
        tokio::spawn(crate::background_tasks::observe_gateway_links(gateway.clone()));
        tokio::spawn(crate::services::tunnel::follow(
            gateway.world.clone(),
            Arc::clone(&gateway.settings),
            gateway.stop.clone(),
        ));
        gateway.firmware.remove_unknown(&gateway.world.view());
        gateway.mesh_config.restore();
        let firewall = Arc::clone(&gateway.firewall);
        firewall.start(&gateway.world).await;
        let period = crate::background_tasks::FIREWALL;
        tokio::spawn(crate::background_tasks::observe_firewall(gateway.clone(), period));
        tokio::spawn(crate::background_tasks::poll_nut(gateway.clone()));
        tokio::spawn(crate::public::cot::feed(gateway.clone()));
        tokio::spawn(crate::flow_workers::deliver(gateway.clone(), deliveries));
        tokio::spawn(crate::flow_workers::observe(gateway.clone(), config.state.path.clone()));
        crate::camera::control::start_again(&gateway);
        let polls = crate::external::poll::run(gateway.clone());
        let refusals = crate::background_tasks::write_refusals(gateway.clone());
        let firewall = crate::background_tasks::revert_firewall(gateway.clone());
        let playback = crate::background_tasks::end_playback(gateway.clone());
        let history = crate::background_tasks::store_minutes(gateway.clone(), minutes);
        let writers = [
            tokio::spawn(history),
            tokio::spawn(refusals),
            tokio::spawn(firewall),
            tokio::spawn(polls),
            tokio::spawn(playback),
        ];
        Ok(Self { gateway, listener, tls, routes, writers })
    }

    /// Router of the gateway.
    pub fn routes(&self) -> Router {
        self.routes.clone()
    }

    /// Own address, without TLS.
    ///
    /// # Errors
    /// Of the system call.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// `true` if whoever reaches `address` is on this machine or reaches the gateway's own address
    /// as well, so that serving the gateway there too lets nobody else in.
    ///
    /// # Errors
    /// Of the system call.
    pub fn is_reachable_from(&self, address: SocketAddr) -> std::io::Result<bool> {
        let (own, other) = (self.listener.local_addr()?.ip(), address.ip());
        Ok(other.is_loopback() || own.is_unspecified() || own == other)
    }

    /// Serves until `stop` is cancelled.
    ///
    /// # Errors
    /// When a port fails.
    pub async fn serve(self, stop: CancellationToken, serving: Serving) -> std::io::Result<()> {
        if let Some((listener, identity)) = self.tls {
            let address = listener.local_addr()?;
            tracing::info!("gateway listening on https://{address}");
            let serving = Serving { identity: Some(identity), ..serving.clone() };
            let routes = self.routes.clone();
            tokio::spawn(serve_with::<_, SocketAddr>(listener, routes, stop.clone(), serving));
        }
        let address = self.listener.local_addr()?;
        tracing::info!("gateway listening on http://{address}, API at /docs/");
        if address.ip().is_unspecified() {
            tracing::info!(
                "it listens on all addresses of this machine; --gateway-bind restricts it to one \
                 beside that in the tunnel"
            );
        }
        let tunnel = TunnelListener {
            own: address,
            routes: self.routes.clone(),
            serving: serving.clone(),
            state: Arc::clone(&self.gateway.tunnel),
        };
        let tunnel = tokio::spawn(tunnel.follow(self.gateway));
        let served =
            serve_with::<_, SocketAddr>(self.listener, self.routes, stop.clone(), serving).await;
        stop.cancel();
        // Completed minutes and counts of refusals are stored before the end.
        for task in self.writers.into_iter().chain([tunnel]) {
            let _ = task.await;
        }
        served
    }
}

/// `true` if an admin can log in.
fn has_admin(gateway: &Gateway) -> bool {
    let view = gateway.world.view();
    view.accounts
        .by_id
        .values()
        .any(|account| account.role == AccountRole::Admin && !account.disabled)
}

/// Creates an admin unless one is enabled; replaces the onboarding policy `open` by `approval` where
/// the configuration does not allow it.
async fn create_first_admin(
    gateway: &Gateway,
    chosen: Option<String>,
    bootstrap: &Path,
) -> Result<(), Problem> {
    let view = gateway.world.view();
    if view.onboarding.trust.policy == Policy::Open && !gateway.settings.insecure_open {
        tracing::warn!("onboarding policy changed from open to approval");
        let policy = Policy::Approval;
        gateway.world.submit(SetPolicy { policy }).await?;
    }
    if has_admin(gateway) {
        return Ok(());
    }
    let failed = |err: SecretError| Problem::internal(err.to_string());
    let must_change_password = chosen.is_none();
    let password = match chosen {
        Some(password) => password,
        None => {
            let password = generate_password(bootstrap).map_err(failed)?;
            let path = std::path::absolute(bootstrap).unwrap_or(bootstrap.to_owned());
            tracing::warn!("the password of `{ADMIN}` is in {}", path.display());
            password
        }
    };
    let command = CreateAccount {
        account: AccountId::new(id::mint()),
        username: ADMIN.to_owned(),
        role: AccountRole::Admin,
        secret: gateway.passwords.hash(password).await?,
        must_change_password,
    };
    gateway.world.submit(command).await
}
