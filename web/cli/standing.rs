//! A gateway being started, and one that stands.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use groundwave::gateway::{self, Gateway};
use groundwave::http::gate::{Gate, Peer};
use groundwave::http::serve::serve_to;
use groundwave::http::{Problem, id};
use groundwave_engine::Effects;
use groundwave_io::gateway::{SecretError, keep_once, random};
use groundwave_systems::account::{AccountId, AccountRole, CreateAccount};
use groundwave_systems::fleet::StoreMinute;
use groundwave_systems::onboarding::{Policy, SetPolicy};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::failure::Failure;

/// What it takes to start a gateway.
pub struct Start {
    /// The gateway.
    pub gateway: Gateway,
    /// Its readings on their way to the history.
    pub minutes: Effects<StoreMinute>,
    /// Where it listens.
    pub bind: SocketAddr,
    /// Where it listens with TLS, and as whom.
    pub tls: Option<(SocketAddr, TlsAcceptor)>,
    /// The first admin's password, if somebody chose one.
    pub admin_password: Option<String>,
    /// Where a random one is written.
    pub bootstrap: PathBuf,
}

/// A gateway whose ports are taken and whose chores run.
pub struct Standing {
    listener: TcpListener,
    tls: Option<(TcpListener, TlsAcceptor)>,
    routes: Router,
    kept: JoinHandle<()>,
}

impl Start {
    /// Takes the ports, makes the first admin, sets the chores going.
    ///
    /// # Errors
    /// What went wrong.
    pub async fn open(self) -> Result<Standing, Failure> {
        let listener = bound(self.bind).await?;
        let tls = match self.tls {
            Some((bind, identity)) => Some((bound(bind).await?, identity)),
            None => None,
        };
        let gateway = self.gateway;
        let routes = gateway::router(gateway.clone());
        let told = |problem: Problem| Failure::Machine(problem.detail);
        let admin = first_admin(&gateway, self.admin_password, &self.bootstrap).await;
        admin.map_err(told)?;
        gateway::background_tasks::begin(&gateway)
            .await
            .map_err(told)?;
        tokio::spawn(gateway::background_tasks::tend(gateway.clone()));
        tokio::spawn(gateway::background_tasks::roll(gateway.clone()));
        tokio::spawn(gateway::background_tasks::picture(gateway.clone()));
        tokio::spawn(gateway::services::tunnel::follow(
            gateway.world.clone(),
            Arc::clone(&gateway.settings),
            gateway.stop.clone(),
        ));
        let kept = tokio::spawn(gateway::background_tasks::keep(gateway, self.minutes));
        Ok(Standing {
            listener,
            tls,
            routes,
            kept,
        })
    }
}

impl Standing {
    /// Serves until `stop` is cancelled.
    ///
    /// # Errors
    /// When a port fails.
    pub async fn serve(self, stop: CancellationToken) -> std::io::Result<()> {
        if let Some((listener, identity)) = self.tls {
            let address = listener.local_addr()?;
            tracing::info!("gateway listening on https://{address}");
            let gate = Gate::open(listener, Some(identity))?;
            tokio::spawn(serve_to::<_, Peer>(gate, self.routes.clone(), stop.clone()));
        }
        let address = self.listener.local_addr()?;
        tracing::info!("gateway listening on http://{address}, interface at /docs/");
        let gate = Gate::open(self.listener, None)?;
        let served = serve_to::<_, Peer>(gate, self.routes, stop.clone()).await;
        stop.cancel();
        // What is over is kept before the end.
        let _ = self.kept.await;
        served
    }
}

/// Takes a port.
///
/// # Errors
/// When it is taken, or not this machine's.
pub async fn bound(bind: SocketAddr) -> Result<TcpListener, Failure> {
    let listener = TcpListener::bind(bind).await;
    listener.map_err(|err| Failure::Machine(format!("listen on {bind}: {err}")))
}

/// Makes the first admin where there is none that can come in; takes back the policy `open` where
/// the gateway was not started for it.
///
/// # Errors
/// What went wrong.
async fn first_admin(
    gateway: &Gateway,
    chosen: Option<String>,
    bootstrap: &Path,
) -> Result<(), Problem> {
    let view = gateway.world.view();
    if view.onboarding.trust.policy == Policy::Open && !gateway.settings.insecure_open {
        tracing::warn!("onboarding was open to everybody; now it waits for approval");
        let policy = Policy::Approval;
        gateway.world.submit(SetPolicy { policy }).await?;
    }
    let mut accounts = view.accounts.by_id.values();
    if accounts.any(|account| account.role == AccountRole::Admin && !account.disabled) {
        return Ok(());
    }
    let failed = |err: SecretError| Problem::internal(err.to_string());
    let must_change_password = chosen.is_none();
    let password = match chosen {
        Some(password) => password,
        None => {
            let bytes: [u8; 18] = random().map_err(failed)?;
            let password = {
                use base64::Engine as _;
                base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes)
            };
            // One from a start that did not get further is of no use to anybody.
            let _ = std::fs::remove_file(bootstrap);
            keep_once(bootstrap, format!("{password}\n").as_bytes()).map_err(failed)?;
            tracing::warn!("the password of `admin` is in {}", bootstrap.display());
            password
        }
    };
    let command = CreateAccount {
        account: AccountId::new(id::mint()),
        username: "admin".to_owned(),
        role: AccountRole::Admin,
        secret: gateway.passwords.hash(password).await?,
        must_change_password,
    };
    gateway.world.submit(command).await
}
