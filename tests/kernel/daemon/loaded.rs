//! A daemon that is loaded with requests.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use groundwave_http::client::Client;
use serde_json::{Value, json};

use super::Daemon;
use crate::bed::{Bed, arms};
use crate::wire::{NEAR, now_ns, tool};

arms! {
    DAEMON,
    foreign_change_gives_an_event_within_a_second: vm;
}

/// Clients that ask without pause.
const CLIENTS: usize = 8;

/// Reads both ports and changes the second one, without pause.
async fn insist(
    socket: &std::path::Path,
    stop: &AtomicBool,
    request_count: &AtomicUsize,
    client: usize,
) {
    let mut client_connection = Client::unix(socket).await.unwrap();
    let shaped = json!({"rate": {"bps": 1_000_000 * (client + 1), "burst_bytes": 20_000}});
    let requests: [(&str, &str, Option<&Value>); 4] = [
        ("GET", "/v1/impairments/port1", None),
        ("PUT", "/v1/impairments/port2", Some(&shaped)),
        ("GET", "/v1/impairments/port1/stats", None),
        ("GET", "/v1/impairments/port2", None),
    ];
    for (method, path, body) in requests.into_iter().cycle() {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let answer = client_connection.ask(method.parse().unwrap(), path, body);
        let (status, body) = answer.await.unwrap();
        let body = String::from_utf8_lossy(&body);
        assert_eq!(status.as_u16(), 200, "{method} {path}: {body}");
        request_count.fetch_add(1, Ordering::Relaxed);
    }
}

fn foreign_change_gives_an_event_within_a_second(_: &mut Bed) {
    let mut daemon = Daemon::start(&[]);
    let shaped = json!({"rate": {"bps": 10_000_000, "burst_bytes": 20_000}});
    daemon.set("port1", &shaped);
    let (socket, log) = (daemon.socket(), daemon.folder.path().join("log"));
    let (stop, request_count) = (AtomicBool::new(false), AtomicUsize::new(0));
    let is_logged = || {
        let log = std::fs::read_to_string(&log).unwrap();
        log.matches("changed by another program").count()
    };
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (socket, stop, request_count) = (&socket, &stop, &request_count);
            scope.spawn(move || {
                let runtime =
                    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(insist(socket, stop, request_count, client));
            });
        }
        for change in ["del", "replace", "del"] {
            let (before, asked_before) = (is_logged(), request_count.load(Ordering::Relaxed));
            let parameters = if change == "replace" { " handle 7: pfifo limit 9" } else { "" };
            tool("tc", &format!("qdisc {change} dev {NEAR} root{parameters}"));
            let began_ns = now_ns();
            while is_logged() == before {
                assert!(now_ns() - began_ns < 1_000_000_000, "{change}: not reported");
                std::thread::sleep(Duration::from_millis(5));
            }
            println!(
                "| `tc qdisc {change}` beside {} requests | 1000 ms | {} ms |",
                request_count.load(Ordering::Relaxed) - asked_before,
                (now_ns() - began_ns) / 1_000_000
            );
            if change == "del" {
                daemon.set("port1", &shaped);
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(request_count.load(Ordering::Relaxed) > CLIENTS, "under load");
    daemon.stop();
}
