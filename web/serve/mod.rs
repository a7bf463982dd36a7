//! Daemons: each is composed from a configuration and started in one place, for the command line,
//! tests and other frontends.
//!
//! A configuration is also the command-line arguments of its daemon, so that each option has one
//! description, default and environment variable. `start` opens stores, takes ports and spawns what
//! runs in the background; `run` serves until a stop signal or until the stop token is cancelled.

pub mod agent;
mod failure;
pub mod gateway;
mod gateway_config;
pub mod impair;
pub mod server;
pub mod simulation;
pub mod terrain;
pub mod testbed;
#[cfg(test)]
mod tests;

pub use failure::Failure;

use std::future::Future;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Binds a TCP port.
///
/// # Errors
/// When the address is in use or not one of this machine.
async fn bind(address: SocketAddr) -> Result<TcpListener, Failure> {
    let listener = TcpListener::bind(address).await;
    listener.map_err(|err| Failure::Machine(format!("listen on {address}: {err}")))
}

/// Cancels `stop` when `signal` arrives.
fn stop_on(signal: impl Future<Output = ()> + Send + 'static, stop: CancellationToken) {
    tokio::spawn(async move {
        signal.await;
        tracing::info!("stop signal received");
        stop.cancel();
    });
}

/// Restricts a file with secrets to its owner: mode 0600.
fn restrict_to_owner(path: &Path) -> Result<(), Failure> {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(())
}
