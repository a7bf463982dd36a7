//! Ports and private files of a daemon.

use std::fs::DirBuilder;
use std::future::Future;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::Failure;

/// Reads `ADDRESS:PORT` or `NAME:PORT`; of the addresses of a name the first IPv4 one counts, else
/// the first.
pub fn socket_address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let allowed = "allowed ADDRESS:PORT or NAME:PORT, such as 127.0.0.1:8787 or localhost:8787";
    let addresses = text.to_socket_addrs();
    let addresses: Vec<_> = addresses.map_err(|err| format!("{err}; {allowed}"))?.collect();
    let first = addresses.iter().find(|address| address.is_ipv4()).or(addresses.first());
    first.copied().ok_or_else(|| format!("no address; {allowed}"))
}

/// Binds a TCP port.
///
/// # Errors
/// When the address is in use or not one of this machine.
pub async fn bind(address: SocketAddr) -> Result<TcpListener, Failure> {
    let listener = TcpListener::bind(address).await;
    listener.map_err(|err| Failure::Machine(format!("listen on {address}: {err}")))
}

/// Cancels `stop` when `signal` arrives.
pub fn stop_on(signal: impl Future<Output = ()> + Send + 'static, stop: CancellationToken) {
    tokio::spawn(async move {
        signal.await;
        tracing::info!("stop signal received");
        stop.cancel();
    });
}

/// Creates a folder with mode 0700, and those above it, where there are none.
pub fn create_private(folder: &Path) -> Result<(), Failure> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let result = builder.recursive(true).create(folder);
    result.map_err(|err| Failure::Input(format!("create folder {}: {err}", folder.display())))
}

/// Creates a file, if there is none, that only its owner may read; restricts one that is there.
pub fn create_for_owner(path: &Path) -> Result<(), Failure> {
    let mut options = std::fs::OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let opened = options.append(true).create(true).open(path);
    opened.map_err(|err| Failure::Input(format!("open {}: {err}", path.display())))?;
    restrict_to_owner(path)
}

/// Restricts a file with secrets to its owner: mode 0600.
#[cfg(unix)]
pub fn restrict_to_owner(path: &Path) -> Result<(), Failure> {
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(path, mode)?;
    Ok(())
}

/// Files of a user are those of its owner by the rights of their folder: systems other than Unix have no modes.
#[cfg(not(unix))]
pub fn restrict_to_owner(_: &Path) -> Result<(), Failure> {
    Ok(())
}
