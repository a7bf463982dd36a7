//! Changes of impairments per second, side by side in one run on the running kernel, in a network
//! namespace of the bench's own: `tc` started per change, `tc -batch`, the daemon over its socket,
//! and the batches of a mirror.
//!
//! Every way changes the rate of one port, or of many, to another value each time, in place.

#![expect(clippy::disallowed_methods, reason = "a bench measures the time of this machine")]

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use axum::http::Method;
use groundwave_http::client::Client;
use groundwave_impair::{Impairment, Rate};
use groundwave_kernel::batch::Batch;
use groundwave_kernel::stack::{TBF, UNDER_NETEM};
use groundwave_kernel::{Handle, Kernel, LinuxTc, Options, Request, Shaper, Tbf, Verb};
use serde_json::json;

/// Duration of each measurement.
const LASTS: Duration = Duration::from_secs(3);
/// Pairs of interfaces of a mirror of many links.
const LINKS: usize = 200;
const BURST_BYTES: u32 = 20_000;

/// A rate that differs from the one before.
fn bps(turn: u64) -> u64 {
    10_000_000 + turn % 1000 * 8000
}

/// Times per second that `work`, which does `each` changes, can be done.
fn rate(each: usize, mut work: impl FnMut(u64)) -> f64 {
    let begin = Instant::now();
    let mut turns = 0;
    while begin.elapsed() < LASTS {
        work(turns);
        turns += 1;
    }
    turns as f64 * each as f64 / begin.elapsed().as_secs_f64()
}

fn run(program: &str, arguments: &str) {
    let done = Command::new(program).args(arguments.split(' ')).status();
    assert!(done.is_ok_and(|status| status.success()), "{program} {arguments}");
}

/// The options of `tc` that set the shaper under its parent, whichever the kernel has.
fn tc_words(parent: &str, turn: u64) -> String {
    let rate = bps(turn);
    format!(
        "qdisc change dev port1 {parent} handle 6758: tbf rate {rate}bit burst {BURST_BYTES}b limit 100000"
    )
}

fn tc_batch(parent: &str) -> f64 {
    const LINES: usize = 2000;
    rate(LINES, |turn| {
        let mut child =
            Command::new("tc").args(["-batch", "-"]).stdin(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        for line in 0..LINES as u64 {
            writeln!(input, "{}", tc_words(parent, turn + line)).unwrap();
        }
        drop(input);
        assert!(child.wait().unwrap().success());
    })
}

fn mirror(indices: &[u32], parent: Handle, handle: Handle) -> f64 {
    let request = |verb, turn: u64, index| {
        let tbf = Tbf::new(bps(turn) / 8, BURST_BYTES, 1514, 100_000);
        Request {
            verb,
            index,
            handle,
            parent,
            kind: "tbf",
            options: Some(tbf.payload(BURST_BYTES)),
        }
    };
    let mut batch = Batch::open(None).unwrap();
    const CHANGES: usize = 10_000;
    rate(CHANGES, |turn| {
        let requests: Vec<_> = (0..CHANGES)
            .map(|at| request(Verb::Change, turn + at as u64, indices[at % indices.len()]))
            .collect();
        assert!(batch.send(&requests).unwrap().is_empty());
    })
}

/// The daemon, as it is shipped, and a runtime for its clients.
struct Served {
    runtime: tokio::runtime::Runtime,
    folder: tempfile::TempDir,
    daemon: Child,
}

/// Starts the daemon in the namespace of this thread.
fn serve() -> Served {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("impair.sock");
    let log = std::fs::File::create(folder.path().join("log")).unwrap();
    let daemon = Command::new(env!("CARGO_BIN_EXE_groundwave"))
        .args(["impaird", "--interfaces", "port1", "port2", "--socket"])
        .arg(&socket)
        .stderr(log)
        .spawn()
        .unwrap();
    while std::os::unix::net::UnixStream::connect(&socket).is_err() {
        std::thread::sleep(Duration::from_millis(10));
    }
    Served { runtime, folder, daemon }
}

impl Drop for Served {
    fn drop(&mut self) {
        // The settings of the kernel are deleted with the namespace.
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

fn puts(served: &Served, clients: usize) -> f64 {
    let begin = Instant::now();
    let one = |port: usize| {
        let socket = served.folder.path().join("impair.sock");
        async move {
            let mut client = Client::unix(&socket).await.unwrap();
            let path = format!("/v1/impairments/port{}", 1 + port % 2);
            let mut turn = 0;
            while begin.elapsed() < LASTS {
                let wish = json!({"rate": {"bps": bps(turn), "burst_bytes": BURST_BYTES}});
                let answer = client.ask(Method::PUT, &path, Some(&wish)).await;
                let (status, body) = answer.unwrap();
                assert!(status.is_success(), "{}", String::from_utf8_lossy(&body));
                turn += 1;
            }
            turn
        }
    };
    let running: Vec<_> = (0..clients).map(|port| served.runtime.spawn(one(port))).collect();
    let all = running.into_iter().map(|client| served.runtime.block_on(client).unwrap());
    let done: u64 = all.sum();
    done as f64 / begin.elapsed().as_secs_f64()
}

fn shaped() -> f64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let kernel = LinuxTc::open(None).unwrap();
        let mut shaper = Shaper::start(kernel, Options::default()).await.unwrap();
        let begin = Instant::now();
        let mut turn = 0;
        while begin.elapsed() < LASTS {
            let rate = Some(Rate { bps: bps(turn), burst_bytes: BURST_BYTES });
            let wish = Impairment { rate, ..Impairment::default() };
            shaper.apply("port1", &wish).await.unwrap();
            turn += 1;
        }
        turn as f64 / begin.elapsed().as_secs_f64()
    })
}

/// Pairs of interfaces with a shaper each; returns their numbers.
fn many() -> Vec<u32> {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut indices = Vec::new();
    for link in 0..LINKS {
        run("ip", &format!("link add m{link} type veth peer name n{link}"));
        run(
            "tc",
            &format!(
                "qdisc add dev m{link} root handle 6758: tbf rate 1mbit burst {BURST_BYTES}b limit 100000"
            ),
        );
        let index = runtime.block_on(async {
            let mut kernel = LinuxTc::open(None).unwrap();
            kernel.link(&format!("m{link}")).await.unwrap().index
        });
        indices.push(index);
    }
    indices
}

#[expect(clippy::print_stdout, reason = "a bench reports what it measured")]
fn main() {
    if let Err(err) = nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET) {
        println!("SKIPPED: no network namespace of its own: {err}");
        return;
    }
    run("ip", "link add port1 type veth peer name peer1");
    run("ip", "link add port2 type veth peer name peer2");
    let mut served = serve();
    let single = puts(&served, 1);
    let eight = puts(&served, 8);
    // It watches for changes by others: the kernel would notify it of each change of the rest.
    let _ = served.daemon.kill();
    let _ = served.daemon.wait();
    let applied = shaped();
    let (parent, under, index) = served.runtime.block_on(async {
        let mut kernel = LinuxTc::open(None).unwrap();
        let index = kernel.link("port1").await.unwrap().index;
        let root = kernel.get(index, Handle::ROOT).await.unwrap().unwrap();
        match root.kind.as_str() {
            "netem" => ("parent 6757:1", UNDER_NETEM, index),
            _ => ("root", Handle::ROOT, index),
        }
    });
    let forked = rate(1, |turn| run("tc", &tc_words(parent, turn)));
    let batched = tc_batch(parent);
    let one = mirror(&[index], under, TBF);
    let indices = many();
    let all = mirror(&indices, Handle::ROOT, TBF);
    println!("changes per second             | rate      | of a forked tc");
    for (name, found) in [
        ("tc, started per change".to_owned(), forked),
        ("tc -batch of 2000".to_owned(), batched),
        ("PUT, one client".to_owned(), single),
        ("PUT, eight clients".to_owned(), eight),
        ("shaper, with read-back".to_owned(), applied),
        ("mirror's batch, one link".to_owned(), one),
        (format!("mirror's batch, {LINKS} links"), all),
    ] {
        println!("{name:30} | {found:9.0} | {:8.1}", found / forked);
    }
}
