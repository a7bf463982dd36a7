//! Serving a router until a stop signal.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
#[cfg(unix)]
use std::task::Poll;
use std::time::Duration;

use axum::Router;
use groundwave_files::descriptors::raise_limit;
use tokio::net::TcpListener;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::accept::{Accept, PeerOf};
use super::admission::{Admission, Bounds, Place, Tally};
use super::connection::{Timeouts, converse};
use super::layers::addressed;
use super::tls::HANDSHAKE;

/// Grace period of requests in flight at shutdown.
pub const DRAIN: Duration = Duration::from_secs(10);
/// Wait after a failure to accept, such as no free descriptor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);
/// Period of reports of failures and of connections turned away.
const REPORT_PERIOD: Duration = Duration::from_secs(60);

/// Parameters of a server.
#[derive(Clone)]
pub struct Serving {
    /// Table of connections; listeners of one process share it.
    pub admission: Arc<Admission>,
    /// TLS certificate and key.
    pub identity: Option<TlsAcceptor>,
    /// Times of connections; `None` for those of the listener's kind.
    pub timeouts: Option<Timeouts>,
}

impl Serving {
    /// Parameters of this process: its limit of open files is raised, and connections are bounded
    /// below it.
    #[must_use]
    pub fn of_process() -> Self {
        Self::within(Bounds::of_descriptors(raise_limit()))
    }

    /// Parameters with these bounds of connections.
    #[must_use]
    pub fn within(bounds: Bounds) -> Self {
        Self { admission: Admission::new(bounds), identity: None, timeouts: None }
    }
}

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
) -> io::Result<()> {
    serve_to::<_, SocketAddr>(listener, router, stop).await
}

/// As [`serve`], on any listener, with what `P` makes of each connection as connect info.
///
/// # Errors
/// When the listener fails.
pub async fn serve_to<L: Accept, P: PeerOf<L>>(
    listener: L,
    router: Router,
    stop: CancellationToken,
) -> io::Result<()> {
    serve_with::<L, P>(listener, router, stop, Serving::of_process()).await
}

/// As [`serve_to`], with parameters. Requests that do not name this server are refused: see [`addressed`].
///
/// # Errors
/// When the listener fails.
pub async fn serve_with<L: Accept, P: PeerOf<L>>(
    listener: L,
    router: Router,
    stop: CancellationToken,
    serving: Serving,
) -> io::Result<()> {
    let router = addressed(router);
    let (connections, cut_off) = (TaskTracker::new(), CancellationToken::new());
    let mut reports = Reports::default();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => break,
        };
        reports.report_displaced(&serving.admission);
        let (stream, source) = match accepted {
            Ok(accepted) => accepted,
            Err(err) if is_of_one_connection(&err) => continue,
            Err(err) => {
                // No descriptor or no memory: what waits longest makes room.
                reports.failed(&err);
                serving.admission.displace_one();
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let Some(peer) = P::of(&stream) else { continue };
        let Some(place) = serving.admission.admit(source) else {
            continue;
        };
        let conversation = open(stream, router.clone(), peer, place, &serving, L::TIMEOUTS, &stop);
        let cut_off = cut_off.clone();
        connections.spawn(async move {
            tokio::select! {
                () = conversation => {}
                () = cut_off.cancelled() => {}
            }
        });
    }
    drop(listener);
    connections.close();
    if tokio::time::timeout(DRAIN, connections.wait()).await.is_err() {
        tracing::warn!("requests were still open after {} s and are cut off", DRAIN.as_secs());
        cut_off.cancel();
    }
    Ok(())
}

/// A connection from its TLS handshake, if it has one, to its end.
fn open<S, P>(
    stream: S,
    router: Router,
    peer: P,
    place: Place,
    serving: &Serving,
    usual: Timeouts,
    stop: &CancellationToken,
) -> impl Future<Output = ()> + Send + 'static
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
    P: Clone + Send + Sync + 'static,
{
    let timeouts = serving.timeouts.unwrap_or(usual);
    let (identity, stop, place) = (serving.identity.clone(), stop.clone(), Arc::new(place));
    async move {
        let Some(identity) = identity else {
            return converse(stream, router, peer, place, timeouts, stop).await;
        };
        let handshake = tokio::time::timeout(HANDSHAKE, identity.accept(stream));
        let stream = tokio::select! {
            stream = handshake => stream,
            () = place.displaced() => return,
            () = stop.cancelled() => return,
        };
        if let Ok(Ok(stream)) = stream {
            converse(stream, router, peer, place, timeouts, stop).await;
        }
    }
}

/// Errors of a connection that was gone before it was accepted.
fn is_of_one_connection(err: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(err.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

/// Reports in the log, one a period.
#[derive(Default)]
struct Reports {
    /// Begin of the period of failures to accept, and their number.
    failures: Option<(Instant, u64)>,
    /// Time of the last report of connections turned away.
    last_report: Option<Instant>,
}

impl Reports {
    /// A failure to accept.
    fn failed(&mut self, err: &io::Error) {
        let now = Instant::now();
        let (since, count) = self.failures.get_or_insert((now, 0));
        *count += 1;
        if *count == 1 || now >= *since + REPORT_PERIOD {
            tracing::warn!(%err, failures = *count, "no connection could be accepted");
            (*since, *count) = (now, 1);
        }
    }

    /// Connections turned away since the last report.
    fn report_displaced(&mut self, admission: &Admission) {
        let now = Instant::now();
        if self.last_report.is_some_and(|last| now < last + REPORT_PERIOD) {
            return;
        }
        let tally = admission.take_tally();
        if tally != Tally::default() {
            self.last_report = Some(now);
            tracing::warn!(
                displaced = tally.displaced,
                refused = tally.refused,
                "more connections than allowed: waiting ones were closed for newcomers"
            );
        }
    }
}

/// Ends when Ctrl-C or, on Unix, SIGTERM arrives.
///
/// # Errors
/// When the system takes no handler.
pub fn shutdown_signal() -> io::Result<impl Future<Output = ()>> {
    end_of(false)
}

/// As [`shutdown_signal`], and when the terminal closes (SIGHUP), unless the process was started to outlive it, as
/// by nohup(1): for programs that take back on their end what they have set up.
///
/// # Errors
/// When the system takes no handler.
pub fn shutdown_or_hangup_signal() -> io::Result<impl Future<Output = ()>> {
    end_of(!ignores_hangup())
}

/// SIGHUP as a request to read files again; none where the process was started to ignore it, as by nohup(1).
#[derive(Debug)]
pub struct HangupSignal {
    #[cfg(unix)]
    signal: Option<tokio::signal::unix::Signal>,
}

impl HangupSignal {
    /// Listens from now on.
    ///
    /// # Errors
    /// When the system takes no handler.
    pub fn listen() -> io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let signal = (!ignores_hangup()).then(|| signal(SignalKind::hangup()));
            Ok(Self { signal: signal.transpose()? })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// Waits for the next request. A dropped future loses nothing.
    pub async fn next(&mut self) {
        #[cfg(unix)]
        if let Some(signal) = &mut self.signal
            && signal.recv().await.is_some()
        {
            return;
        }
        std::future::pending().await
    }
}

/// True if SIGHUP is ignored, as proc(5) has it in the mask of ignored signals.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 == 1)
}

fn end_of(with_hangup: bool) -> io::Result<impl Future<Output = ()>> {
    // All from now on, not from the first look at the future: a client that was interrupted between would
    // leave behind what it began.
    #[cfg(unix)]
    let mut signals = {
        use tokio::signal::unix::{SignalKind, signal};
        let hangup = with_hangup.then(SignalKind::hangup);
        let kinds = [SignalKind::interrupt(), SignalKind::terminate()].into_iter().chain(hangup);
        kinds.map(signal).collect::<io::Result<Vec<_>>>()?
    };
    Ok(async move {
        #[cfg(unix)]
        std::future::poll_fn(|context| {
            let has_arrived = signals.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
            if has_arrived { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        #[cfg(not(unix))]
        let _ = tokio::signal::ctrl_c().await;
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::super::admission::Source;
    use super::*;

    /// Results of the next calls to accept, the next one last.
    struct Script(Mutex<Vec<io::Result<DuplexStream>>>);

    impl Accept for Script {
        type Stream = DuplexStream;
        const TIMEOUTS: Timeouts = Timeouts::NETWORK;

        async fn accept(&self) -> io::Result<(DuplexStream, Source)> {
            let next = self.0.lock().unwrap().pop();
            match next {
                Some(result) => result.map(|stream| (stream, Source::Local)),
                None => std::future::pending().await,
            }
        }
    }

    impl PeerOf<Script> for () {
        fn of(_: &DuplexStream) -> Option<Self> {
            Some(())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn exhausted_descriptors_displace_the_oldest_silent_connection() {
        let (mut silent, silent_end) = duplex(1 << 10);
        let (mut client, client_end) = duplex(1 << 10);
        let exhausted = || io::Error::from_raw_os_error(nix::libc::EMFILE);
        let script = Script(Mutex::new(vec![
            Ok(client_end),
            Err(exhausted()),
            Err(io::ErrorKind::ConnectionAborted.into()),
            Ok(silent_end),
        ]));
        let router = Router::new().route("/", get(|| async { "served" }));
        let stop = CancellationToken::new();
        let serving = Serving::within(Bounds::of_descriptors(1_024));
        let admission = Arc::clone(&serving.admission);
        let server = serve_with::<_, ()>(script, router, stop.clone(), serving);
        let server = tokio::spawn(server);
        let mut bytes = Vec::new();
        let began = Instant::now();
        silent.read_to_end(&mut bytes).await.unwrap();
        assert!(bytes.is_empty() && began.elapsed() < Duration::from_secs(1));
        let request = b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
        client.write_all(request).await.unwrap();
        client.read_to_end(&mut bytes).await.unwrap();
        assert!(bytes.ends_with(b"served"));
        stop.cancel();
        server.await.unwrap().unwrap();
        assert!(admission.is_empty());
    }
}
