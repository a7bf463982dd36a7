//! Serving a router until told to stop.

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Grace period of requests in flight at shutdown.
pub const DRAIN: Duration = Duration::from_secs(10);

/// Serves until `stop` is cancelled, then takes no more connections and lets requests in flight
/// end. Streams end by themselves when they watch `stop`; whatever is still there after [`DRAIN`]
/// is cut off.
///
/// # Errors
/// When the listener fails.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    stop: CancellationToken,
) -> std::io::Result<()> {
    serve_to::<_, SocketAddr>(listener, router, stop).await
}

/// As [`serve`], on any listener, with what `C` makes of each connection as connect info.
///
/// # Errors
/// When the listener fails.
pub async fn serve_to<L, C>(
    listener: L,
    router: Router,
    stop: CancellationToken,
) -> std::io::Result<()>
where
    L: Listener,
    L::Addr: std::fmt::Debug,
    C: for<'a> Connected<IncomingStream<'a, L>>,
{
    let asked = stop.clone();
    let service = router.into_make_service_with_connect_info::<C>();
    let server = axum::serve(listener, service)
        .with_graceful_shutdown(async move { asked.cancelled().await });
    tokio::select! {
        ended = server.into_future() => ended,
        () = deadline(stop) => {
            tracing::warn!("requests were still open after {} s and are cut off", DRAIN.as_secs());
            Ok(())
        }
    }
}

async fn deadline(stop: CancellationToken) {
    stop.cancelled().await;
    tokio::time::sleep(DRAIN).await;
}

/// Ends when Ctrl-C or, on Unix, SIGTERM arrives.
///
/// # Errors
/// When the system takes no handler.
pub fn shutdown_signal() -> std::io::Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    let mut term = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    Ok(async move {
        let interrupt = tokio::signal::ctrl_c();
        #[cfg(unix)]
        tokio::select! {
            _ = interrupt => {}
            _ = term.recv() => {}
        }
        #[cfg(not(unix))]
        let _ = interrupt.await;
    })
}
