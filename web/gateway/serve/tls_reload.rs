//! Reload of the TLS certificate: on SIGHUP, and when its files change.

use std::time::Duration;

use groundwave_credentials::check_private;
use groundwave_http::tls::Identity;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Period of checks of the files.
const PERIOD: Duration = Duration::from_secs(10);

/// Follows the files of an identity until `stop` is cancelled. Files that cannot be used are reported,
/// and the present certificate stays in use.
pub async fn follow(identity: Identity, stop: CancellationToken) {
    let mut hangup = match signal(SignalKind::hangup()) {
        Ok(hangup) => Some(hangup),
        Err(err) => {
            tracing::warn!(%err, "SIGHUP reloads no certificate");
            None
        }
    };
    let mut due = tokio::time::interval(PERIOD);
    loop {
        let reload = async {
            match &mut hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = stop.cancelled() => return,
            _ = due.tick() => {
                if !identity.has_changed() {
                    continue;
                }
            }
            _ = reload => {
                identity.has_changed();
            }
        }
        let checked = check_private(identity.key_file()).map_err(|err| err.to_string());
        match checked.and_then(|()| identity.reload()) {
            Ok(()) => tracing::info!("TLS certificate read again"),
            Err(why) => tracing::error!("TLS certificate not read again: {why}"),
        }
    }
}
