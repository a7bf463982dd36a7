//! A mesh of ten thousand nodes at its gateway: heartbeats at their period, latency of the answers,
//! loss by a kill, time of recovery, latency of the topology, flows that fire beside them.
//!
//! `cargo bench --bench gateway`; GROUNDWAVE_BENCH_S sets the duration of the load (60 s if unset;
//! the numbers of benches/README.md are of 300), GROUNDWAVE_BENCH_NODES the number of nodes.

#![expect(clippy::print_stdout, reason = "a bench tells what it measured")]
#![expect(clippy::disallowed_methods, reason = "a bench measures time")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::http::Method;
use groundwave_files::descriptors::raise_limit;
use groundwave_http::client::Client;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpSocket;

use flows::{FLOWS, Flows};
use nodes::{OVERLAY, heartbeat, seed};

#[path = "gateway/flows.rs"]
mod flows;
#[path = "gateway/nodes.rs"]
mod nodes;

/// Connections that share the load: as many proxies or keep-alive pools would.
const CONNECTIONS: usize = 64;
/// Time between two heartbeats of a node.
const PERIOD: Duration = Duration::from_secs(5);

fn setting(name: &str, usual: u64) -> u64 {
    let held = std::env::var(name).ok();
    held.map_or(usual, |text| text.parse().expect("a number"))
}

struct Server {
    child: Child,
    address: String,
}

fn start(folder: &Path) -> Server {
    let mut child = Command::new(env!("CARGO_BIN_EXE_groundwave"))
        .args(["serve", "gateway", "--gateway-bind", "127.0.0.1:0", "--tunnel", "off"])
        .args(["--overlay", OVERLAY, "--allow-target", "127.0.0.1", "--db"])
        .arg(folder.join("world.db"))
        .arg("--state")
        .arg(folder.join("state"))
        .env("NO_COLOR", "1")
        .env("RUST_LOG", "info")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let address = loop {
        let line = lines.next().expect("it says where it listens").expect("text");
        if let Some((_, rest)) = line.split_once("gateway listening on http://") {
            break rest.split([',', ' ']).next().expect("an address").to_owned();
        }
    };
    std::thread::spawn(move || lines.for_each(drop));
    Server { child, address }
}

fn get(address: &str, token: &str, path: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).expect("a server");
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    )
    .expect("a line");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    assert!(
        answer.starts_with(b"HTTP/1.1 200"),
        "{}",
        String::from_utf8_lossy(&answer[..200.min(answer.len())])
    );
    answer
}

#[derive(Default)]
struct Tally {
    took_us: Vec<u32>,
    refused: u64,
    late: u64,
}

impl Tally {
    fn quantile_ms(&mut self, share: f64) -> f64 {
        self.took_us.sort_unstable();
        let place = ((self.took_us.len().max(1) - 1) as f64 * share) as usize;
        self.took_us.get(place).map_or(0.0, |us| f64::from(*us) / 1e3)
    }
}

/// Heartbeats of all nodes, spread over the period, from sequence number `first` on.
async fn load(
    address: &str,
    tokens: &Arc<Vec<String>>,
    first: u64,
    rounds: u64,
    acked: &Arc<Vec<AtomicU64>>,
) -> Tally {
    let begin = Instant::now() + Duration::from_millis(100);
    let count = tokens.len() as u64;
    let mut hands = Vec::new();
    for hand in 0..CONNECTIONS {
        let (address, tokens, acked) = (address.to_owned(), Arc::clone(tokens), Arc::clone(acked));
        hands.push(tokio::spawn(async move {
            let mut tally = Tally::default();
            let mut client = Client::tcp(&address).await.expect("a server");
            for round in 0..rounds {
                for number in (hand as u64..count).step_by(CONNECTIONS) {
                    let share = number as f64 / count as f64;
                    let due = begin + PERIOD.mul_f64(round as f64 + share);
                    tokio::time::sleep_until(due.into()).await;
                    let body = heartbeat(number, count, first + round);
                    let token = &tokens[number as usize];
                    let answer =
                        client.call(Method::POST, "/v1/nodes/heartbeat", Some(token), body).await;
                    // From when it was due: a queue on this side counts too.
                    let took = due.elapsed();
                    match answer {
                        Ok(heard) if heard.status.is_success() => {
                            acked[number as usize].store(first + round, Ordering::Release);
                            tally.took_us.push(u32::try_from(took.as_micros()).unwrap_or(u32::MAX));
                            tally.late += u64::from(took > Duration::from_millis(250));
                        }
                        Ok(_) => tally.refused += 1,
                        Err(_) => return tally,
                    }
                }
            }
            tally
        }));
    }
    let mut whole = Tally::default();
    for hand in hands {
        let part = hand.await.expect("a hand");
        whole.took_us.extend(part.took_us);
        whole.refused += part.refused;
        whole.late += part.late;
    }
    whole
}

fn peak_mib(child: &Child) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).expect("it runs");
    let line = status.lines().find(|line| line.starts_with("VmHWM")).expect("a peak");
    let kib: f64 = line.split_whitespace().nth(1).expect("a number").parse().expect("a number");
    kib / 1024.0
}

fn states(address: &str, admin: &str) -> String {
    let metrics = String::from_utf8(get(address, admin, "/metrics")).expect("text");
    let lines = metrics.lines().filter(|line| line.starts_with("groundwave_nodes{"));
    lines.map(|line| line.trim_start_matches("groundwave_nodes")).collect::<Vec<_>>().join(" ")
}

/// Heartbeats of 400 nodes on fresh connections and of as many on a kept one, beside 2,100
/// connections from one address and from 32 that say nothing, or stop in the middle.
async fn other_connections(address: &str, tokens: &[String], mut seq: u64) {
    let to: SocketAddr = address.parse().expect("an address");
    let connect = |source: Ipv4Addr| async move {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind((source, 0).into()).expect("an address");
        socket.connect(to).await.expect("a server")
    };
    let node = Ipv4Addr::new(127, 0, 1, 1);
    let open = || async { Client::over(address.to_owned(), connect(node).await).await };
    let half = "POST /v1/nodes/heartbeat HTTP/1.1\r\nHost: localhost\r\n";
    let stalled = "POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\n\
                   Content-Type: application/json\r\nContent-Length: 60\r\n\r\n{";
    for (what, count, sources, words) in [
        ("none", 0, 1, ""),
        ("silent, 1 address", 2_100, 1, ""),
        ("half a head, 1 address", 2_100, 1, half),
        ("silent, 32 addresses", 2_100, 32, ""),
        ("stalled bodies, 32 addresses", 2_100, 32, stalled),
    ] {
        let mut held = Vec::new();
        for number in 0..count {
            let mut stream = connect(Ipv4Addr::new(127, 0, 0, (number % sources) as u8 + 1)).await;
            let _ = stream.write_all(words.as_bytes()).await;
            held.push(stream);
        }
        seq += 2;
        let mut kept = open().await.expect("a server");
        let mut tallies = [Tally::default(), Tally::default()];
        for (number, token) in tokens.iter().enumerate().take(400) {
            for (is_fresh, tally) in tallies.iter_mut().enumerate() {
                let body = heartbeat(number as u64, tokens.len() as u64, seq + is_fresh as u64);
                let began = Instant::now();
                let mut fresh = None;
                let client = match is_fresh {
                    0 => &mut kept,
                    _ => fresh.insert(open().await.expect("a server")),
                };
                let path = "/v1/nodes/heartbeat";
                let answer = client.call(Method::POST, path, Some(token), body).await;
                match answer.is_ok_and(|heard| heard.status.is_success()) {
                    true => tally.took_us.push(began.elapsed().as_micros() as u32),
                    false => tally.refused += 1,
                }
            }
        }
        let [kept, fresh] = tallies.map(|mut tally| (tally.refused, tally.quantile_ms(0.99)));
        println!(
            "other connections: {what}: failed {} fresh, {} kept; p99 {:.1} ms fresh, {:.1} ms kept",
            fresh.0, kept.0, fresh.1, kept.1
        );
    }
}

fn main() {
    // `cargo test --benches` asks whether it runs, not how fast.
    if std::env::args().any(|arg| arg == "--test") {
        return;
    }
    let (count, seconds) =
        (setting("GROUNDWAVE_BENCH_NODES", 10_000), setting("GROUNDWAVE_BENCH_S", 60));
    let _ = raise_limit();
    let folder = tempfile::tempdir().expect("a folder");
    let began = Instant::now();
    let (tokens, admin) = seed(folder.path(), count);
    println!("{count} nodes let in, {:.1} s", began.elapsed().as_secs_f64());
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads");
    let tokens = Arc::new(tokens);
    let acked: Arc<Vec<AtomicU64>> = Arc::new((0..count).map(|_| AtomicU64::new(0)).collect());
    let mut server = start(folder.path());
    let rounds = seconds.div_ceil(PERIOD.as_secs()).max(1);
    let began = Instant::now();
    let mut tally = runtime.block_on(load(&server.address, &tokens, 1, rounds, &acked));
    let [half, most, nearly_all] = [0.5, 0.99, 0.999].map(|share| tally.quantile_ms(share));
    let rate = tally.took_us.len() as f64 / began.elapsed().as_secs_f64();
    println!(
        "heartbeats: {rate:.0}/s for {:.0} s, {} refused; answered, and on disk, after p50 {half:.1} ms, p99 {most:.1} ms, p99.9 {nearly_all:.1} ms; {} after 250 ms; peak {:.0} MiB",
        began.elapsed().as_secs_f64(),
        tally.refused,
        tally.late,
        peak_mib(&server.child),
    );
    let beside = rounds.min(4);
    let flows = runtime.block_on(Flows::create(&server.address, &admin));
    let mut first = rounds + 1;
    for times in [1, beside * PERIOD.as_secs()] {
        let address = &server.address;
        let ((expected, arrived), mut tally) = runtime.block_on(async {
            tokio::join!(
                flows.fire(address, &admin, times),
                load(address, &tokens, first, beside, &acked)
            )
        });
        first += beside;
        let [half, most] = [0.5, 0.99].map(|share| tally.quantile_ms(share));
        println!(
            "beside {FLOWS} flows that fire at once, {times} times in {} s, one of them to a receiver that hangs: heartbeats p50 {half:.1} ms, p99 {most:.1} ms, {} refused; {arrived} of {expected} notices arrived",
            beside * PERIOD.as_secs(),
            tally.refused
        );
    }
    let mut drawn = Tally::default();
    let mut bytes = 0;
    for _ in 0..30 {
        let began = Instant::now();
        bytes = get(&server.address, &admin, "/v1/mesh/topology").len();
        drawn.took_us.push(began.elapsed().as_micros() as u32);
    }
    println!(
        "topology of {count} nodes, {:.1} MB: p50 {:.0} ms, p99 {:.0} ms",
        bytes as f64 / 1e6,
        drawn.quantile_ms(0.5),
        drawn.quantile_ms(0.99)
    );
    // Killed while heartbeats are in flight.
    let pid = server.child.id();
    runtime.block_on(async {
        let kill = async {
            tokio::time::sleep(Duration::from_secs(3)).await;
            let killed = Command::new("kill").args(["-9", &pid.to_string()]).status();
            assert!(killed.is_ok_and(|status| status.success()));
        };
        tokio::join!(load(&server.address, &tokens, first, 1, &acked), kill);
    });
    let _ = server.child.wait();
    let began = Instant::now();
    server = start(folder.path());
    println!(
        "back {:.2} s after kill -9: {}",
        began.elapsed().as_secs_f64(),
        states(&server.address, &admin)
    );
    let lost = runtime.block_on(async {
        let mut client = Client::tcp(&server.address).await.expect("a server");
        let mut lost = 0;
        for number in (0..count).step_by(10) {
            // The last acknowledged heartbeat is stored: the same again has an old sequence number.
            let seq = acked[number as usize].load(Ordering::Acquire);
            let token = &tokens[number as usize];
            let body = heartbeat(number, count, seq);
            let heard = client.call(Method::POST, "/v1/nodes/heartbeat", Some(token), body).await;
            lost += u64::from(heard.expect("an answer").status.as_u16() != 409);
        }
        lost
    });
    println!("acknowledged heartbeats lost: {lost} of {} looked at", count.div_ceil(10));
    let begun = Instant::now();
    runtime.block_on(load(&server.address, &tokens, first + 5, 3, &acked));
    println!(
        "{:.0} s after that: {}",
        begun.elapsed().as_secs_f64(),
        states(&server.address, &admin)
    );
    runtime.block_on(other_connections(&server.address, &tokens, first + 15));
    let _ = server.child.kill();
    let _ = server.child.wait();
}
