//! Reload of the TLS certificate: on SIGHUP, and when its files change.

use std::sync::Arc;
use std::time::Duration;

use groundwave_credentials::check_private;
use groundwave_files::wall::wall_ns;
use groundwave_gateway::fleet::RecordAlert;
use groundwave_http::tls::Identity;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::services::tls::TlsCertificate;
use crate::services::world::World;

/// Period of checks of the files.
const PERIOD: Duration = Duration::from_secs(10);

/// Period of reports of a certificate that is not valid, or not for much longer.
const REPORT_PERIOD: Duration = Duration::from_secs(12 * 3600);

/// Follows the files of an identity until `stop` is cancelled. Files that cannot be used are reported,
/// and the present certificate stays in use; so is a certificate that ends.
pub async fn follow(
    identity: Identity,
    certificate: Arc<TlsCertificate>,
    world: World,
    stop: CancellationToken,
) {
    let mut report = tokio::time::interval(REPORT_PERIOD);
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
            _ = report.tick() => {
                if let Some(warning) = certificate.warning(wall_ns()) {
                    tracing::error!("{warning}");
                    let alert = RecordAlert { about: warning, data: certificate.attributes() };
                    if let Err(problem) = world.submit(alert).await {
                        tracing::warn!(problem = problem.detail, "alert not recorded");
                    }
                }
                continue;
            }
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
            Ok(()) => {
                tracing::info!("TLS certificate read again");
                certificate.set(identity.validity());
                report.reset_immediately();
            }
            Err(why) => tracing::error!("TLS certificate not read again: {why}"),
        }
    }
}
