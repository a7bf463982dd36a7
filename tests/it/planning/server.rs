//! The server as a process: starting, stopping, being killed.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::http::Method;
use groundwave_engine::Seed;
use groundwave_http::client::Client;
use serde_json::{Value, json};

use crate::support::command;

/// A server process on a port of its own.
pub struct Process {
    pub child: Child,
    pub address: String,
    log: Option<JoinHandle<String>>,
}

impl Process {
    /// Over flat ground.
    pub fn start(db: &Path) -> Self {
        Self::start_on_terrain(db, None)
    }

    /// Over tiles and a geoid, if there are any.
    pub fn start_on_terrain(db: &Path, data: Option<(PathBuf, PathBuf)>) -> Self {
        let mut command = command(&["serve", "planning", "--bind", "127.0.0.1:0", "--db"]);
        command.env_remove("PLAN_SRTM_DIR").env_remove("PLAN_GEOID");
        if let Some((tiles, geoid)) = data {
            command.env("PLAN_SRTM_DIR", tiles).env("PLAN_GEOID", geoid);
        }
        command
            .arg(db)
            .current_dir(db.parent().unwrap())
            .env("NO_COLOR", "1")
            .env_remove("RUST_LOG");
        Self::of(command)
    }

    /// A server by its command line.
    pub fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut output = String::new();
        let address = loop {
            let line = lines.next().expect("the server logs its address").unwrap();
            output = output + &line + "\n";
            if let Some((_, rest)) = line.split_once("listening on http://") {
                break rest.split([',', ' ']).next().unwrap().to_owned();
            }
        };
        // The pipe is read on, so that the server never waits for its log.
        let log = std::thread::spawn(move || {
            lines.map_while(Result::ok).fold(output, |output, line| output + &line + "\n")
        });
        Self { child, address, log: Some(log) }
    }

    /// Ends it as its operator would; its log.
    pub fn end(mut self) -> String {
        self.signal("-TERM");
        assert!(self.child.wait().unwrap().success());
        self.log.take().unwrap().join().unwrap()
    }

    fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status();
        assert!(sent.unwrap().success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn block<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(work)
}

async fn ask(client: &mut Client, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
    let (status, bytes) = client.ask(method, path, body.as_ref()).await.unwrap();
    let document = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    (status.as_u16(), document)
}

#[test]
fn sigterm_ends_an_open_stream_and_the_process_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Process::start(&folder.path().join("plan.db"));
    let ended = block(async {
        let mut client = Client::tcp(&server.address).await.unwrap();
        let body = json!({ "name": "d" });
        let (_, d) = ask(&mut client, Method::POST, "/api/v1/deployments", Some(body)).await;
        let nodes = format!("/api/v1/deployments/{}/nodes", d["id"].as_str().unwrap());
        let body = json!({ "name": "n", "lat": 57.0, "lon": 11.0 });
        let (_, node) = ask(&mut client, Method::POST, &nodes, Some(body)).await;
        // Large enough to be under way for a while.
        let body = json!({
            "source_node_id": node["id"], "radius_km": 100, "resolution": 256,
            "rx_height_agl_m": 2, "samples": 4096,
        });
        let (_, job) = ask(&mut client, Method::POST, "/api/v1/coverage", Some(body)).await;
        let path = format!("/api/v1/coverage/{}/stream", job["job_id"].as_str().unwrap());
        let stream = client.open(Method::GET, &path, None).await.unwrap();
        assert_eq!(stream.status.as_u16(), 200);
        server.signal("-TERM");
        // The stream stays open on our side: only the server can end it.
        let ended = tokio::task::spawn_blocking(move || server.child.wait().unwrap());
        let ended = tokio::time::timeout(Duration::from_secs(30), ended).await;
        drop(stream);
        ended.expect("the server ends though a stream is open").unwrap()
    });
    assert!(ended.success());
}

#[test]
fn second_server_on_one_store_gives_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("plan.db");
    let _first = Process::start(&db);
    let second =
        command(&["serve", "planning", "--bind", "127.0.0.1:0", "--db"]).arg(&db).output().unwrap();
    assert_eq!(second.status.code(), Some(2));
    let error = String::from_utf8_lossy(&second.stderr);
    assert!(error.contains("in use by another process"), "{error}");
}

#[test]
fn a_store_is_copied_while_it_is_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("plan.db");
    let server = Process::start(&db);
    block(async {
        let mut client = Client::tcp(&server.address).await.unwrap();
        for i in 0..20 {
            let body = json!({ "name": format!("d{i}") });
            let answer = ask(&mut client, Method::POST, "/api/v1/deployments", Some(body)).await;
            assert_eq!(answer.0, 201);
        }
    });
    let copy = folder.path().join("copy.redb");
    let answer = command(&["backup", "--json", "--bind", &server.address, "--db"])
        .arg(&db)
        .arg(&copy)
        .output()
        .unwrap();
    assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
    let report: Value = serde_json::from_slice(&answer.stdout).unwrap();
    // Twenty deployments and the built-in template.
    assert_eq!((&report["documents"], &report["copied_by"]), (&json!(21), &json!("server")));
}

/// Changes acknowledged to one client before the server was killed.
#[derive(Default)]
struct Writes {
    /// Deployments made, with the nodes made in each.
    creations: Vec<(String, Vec<String>)>,
    /// Deployments deleted.
    deletions: Vec<String>,
}

/// Writes until the line breaks: deployments with three nodes, every other one deleted again.
async fn write_until_cut(address: String) -> Writes {
    let mut writes = Writes::default();
    let Ok(mut client) = Client::tcp(&address).await else {
        return writes;
    };
    let mut turn = 0_u32;
    loop {
        turn += 1;
        let body = json!({ "name": format!("d{turn}") });
        let path = "/api/v1/deployments";
        let Ok((status, answer)) = client.ask(Method::POST, path, Some(&body)).await else {
            return writes;
        };
        assert_eq!(status.as_u16(), 201);
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        let id = answer["id"].as_str().unwrap().to_owned();
        writes.creations.push((id.clone(), Vec::new()));
        for n in 0..3 {
            let body = json!({ "name": format!("n{n}"), "lat": 1.0, "lon": 2.0 });
            let path = format!("/api/v1/deployments/{id}/nodes");
            let Ok((status, node)) = client.ask(Method::POST, &path, Some(&body)).await else {
                return writes;
            };
            assert_eq!(status.as_u16(), 201);
            let node: Value = serde_json::from_slice(&node).unwrap();
            let node = node["id"].as_str().unwrap().to_owned();
            writes.creations.last_mut().unwrap().1.push(node);
        }
        if turn.is_multiple_of(2) {
            let path = format!("/api/v1/deployments/{id}");
            // The outcome of a delete without an answer is unknown; the deployment is in neither
            // list.
            let (id, _) = writes.creations.pop().unwrap();
            let Ok((status, _)) = client.ask(Method::DELETE, &path, None).await else {
                return writes;
            };
            assert_eq!(status.as_u16(), 204);
            writes.deletions.push(id);
        }
    }
}

/// Checks the documents of a server restarted on the store against the answers to clients.
async fn check(address: &str, writers: &[Writes]) {
    let mut client = Client::tcp(address).await.unwrap();
    let (_, all) = ask(&mut client, Method::GET, "/api/v1/deployments", None).await;
    let ids: Vec<_> = all.as_array().unwrap().iter().map(|d| d["id"].as_str().unwrap()).collect();
    for (id, nodes) in writers.iter().flat_map(|writer| &writer.creations) {
        assert!(ids.contains(&id.as_str()), "deployment {id} was acknowledged and is lost");
        for node in nodes {
            let path = format!("/api/v1/nodes/{node}");
            let (status, answer) = ask(&mut client, Method::GET, &path, None).await;
            assert_eq!(status, 200, "node {node} was acknowledged and is lost");
            assert_eq!(answer["deployment_id"], json!(id));
        }
    }
    for id in writers.iter().flat_map(|writer| &writer.deletions) {
        assert!(!ids.contains(&id.as_str()), "deployment {id} is back");
    }
}

/// No node of the store refers to a deployment that is not there: restoring would refuse it.
fn kill_round(db: &Path, after: Duration) -> usize {
    let mut server = Process::start(db);
    let results = block(async {
        let writers: Vec<_> =
            (0..8).map(|_| tokio::spawn(write_until_cut(server.address.clone()))).collect();
        tokio::time::sleep(after).await;
        server.child.kill().unwrap();
        server.child.wait().unwrap();
        let mut all = Vec::new();
        for writer in writers {
            all.push(writer.await.unwrap());
        }
        all
    });
    let again = Process::start(db);
    block(check(&again.address, &results));
    results.iter().map(|writes| writes.creations.len() + writes.deletions.len()).sum()
}

#[test]
fn a_hundred_kills_lose_no_acknowledged_write_and_halve_no_cascade() {
    let folder = tempfile::tempdir().unwrap();
    let mut chance = Seed(100).stream("kill", 0, 0);
    let mut acknowledged = 0;
    for round in 0..100 {
        // A new store now and then, so that reading it back does not take over.
        let db = folder.path().join(format!("{}.db", round / 10));
        let after = Duration::from_micros(20_000 + chance.bits() % 60_000);
        acknowledged += kill_round(&db, after);
    }
    assert!(acknowledged > 500, "only {acknowledged} writes were acknowledged");
}
