//! The impairment daemon and a testbed behind the gateway: access, requests and answers unchanged, no
//! request twice, absent services.

use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};

use axum::http::{Request, header};
use groundwave_io_gateway::notice::FlowServers;
use groundwave_web_gateway::Settings;
use serde_json::{Value, json};

use super::Bench;
use crate::impair;
use crate::testbed;

pub const PORT1: &str = "/v1/impairment/ports/port1";
pub const LEASES: &str = "/v1/impairment/leases";
pub const PLAYBACK: &str = "/v1/impairment/playback";

/// A gateway whose services are at these sockets.
fn gateway(impaird: Option<PathBuf>, testbed: Option<PathBuf>) -> Bench {
    Bench::with(Settings {
        flow_servers: FlowServers { impaird, ..FlowServers::default() },
        testbed_socket: testbed,
        ..Settings::default()
    })
}

/// A gateway of a daemon over a modelled kernel.
pub fn impaired() -> (Bench, impair::Bench) {
    let daemon = impair::Bench::new();
    let socket = daemon.listen();
    (gateway(Some(socket), None), daemon)
}

/// Callers, paths and outcomes of an operation in the audit log, the last first.
pub fn audited(bench: &Bench, action: &str) -> Vec<(String, String, u64)> {
    let admin = bench.login("admin");
    let rows = bench.get(&admin, "/v1/admin/audit?limit=1000").is(200);
    let rows = rows["items"].as_array().unwrap().iter().filter(|row| row["action"] == action);
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    rows.map(|row| (text(row, "actor"), text(row, "target"), row["outcome"].as_u64().unwrap()))
        .collect()
}

/// A service that answers each connection with the next of these bytes, and records what it was sent.
fn scripted(path: &Path, answers: &[&str]) -> Receiver<String> {
    let listener = UnixListener::bind(path).unwrap();
    let answers: Vec<String> = answers.iter().map(|text| (*text).to_owned()).collect();
    let (sender, requests) = channel();
    std::thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            let mut part = [0; 4096];
            while !is_whole(&request) {
                match stream.read(&mut part).unwrap() {
                    0 => break,
                    read => request.extend_from_slice(&part[..read]),
                }
            }
            sender.send(String::from_utf8(request).unwrap()).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    requests
}

/// `true` for a request that has ended: a body ends with a brace.
fn is_whole(request: &[u8]) -> bool {
    let length = b"content-length: ";
    match request.windows(length.len()).any(|part| part == length) {
        true => request.ends_with(b"}"),
        false => request.ends_with(b"\r\n\r\n"),
    }
}

#[test]
fn directions_are_read_by_viewers_and_changed_by_admins() {
    let (bench, daemon) = impaired();
    let (viewer, operator, admin) =
        (bench.login("viewer"), bench.login("operator"), bench.login("admin"));
    let system = bench.get(&viewer, "/v1/impairment/system").is(200);
    assert_eq!(system, daemon.call("GET", "/v1/system", &Value::Null).json());
    assert_eq!(system["ports"][0]["interface"], "gw-east");
    // sysfs does not have it: the kernel's answer does.
    assert_eq!(system["ports"][0]["mtu"], 1500);
    let shape = json!({
        "latency": { "kind": "constant", "duration": 20_000_000 },
        "rate": { "bps": 1_000_000, "burst_bytes": 3000 },
    });
    for token in [&viewer, &operator] {
        assert_eq!(bench.call(token, "PUT", PORT1, &shape).problem(403), "forbidden");
        assert_eq!(bench.call(token, "DELETE", PORT1, &Value::Null).status, 403);
    }
    assert_eq!(bench.get("", PORT1).problem(401), "unauthenticated");
    let changed = bench.call(&admin, "PUT", PORT1, &shape).is(200);
    assert_eq!((&changed["impairment"], &changed["requested"]), (&shape, &shape));
    let direct = daemon.call("GET", "/v1/impairments/port1", &Value::Null);
    assert_eq!(direct.json()["impairment"], shape);
    let document = bench.get(&viewer, PORT1).is(200);
    assert_eq!((&document["impairment"], &document["requested"]), (&shape, &shape));
    let counted = bench.get(&viewer, &format!("{PORT1}/stats")).is(200);
    assert_eq!(counted["drops_total"], 0);
    // Problems of the daemon arrive with what the gateway knows of the request.
    let mistakes = [
        (PORT1, "/v1/impairments/port1", json!({ "latency": { "kind": "constant" } })),
        (
            PORT1,
            "/v1/impairments/port1",
            json!({ "loss": { "model": "gilbert-elliott", "p": 0.1, "r": 0.2, "one_minus_h": 0.0, "one_minus_k": 1.0 } }),
        ),
    ];
    for (path, own, body) in mistakes {
        let passed = bench.call(&admin, "PUT", path, &body);
        let direct = daemon.call("PUT", own, &body);
        assert!(direct.status.is_client_error(), "{body}");
        assert_eq!(passed.problem(direct.status.as_u16()), "invalid-body");
        let (passed, direct) = (passed.json(), direct.json());
        assert_eq!((&passed["detail"], &passed["title"]), (&direct["detail"], &direct["title"]));
        assert_eq!(passed["instance"], path);
        assert!(passed["request_id"].is_string(), "{passed}");
    }
    let absent = bench.get(&viewer, "/v1/impairment/baseline");
    assert_eq!(absent.is(404)["status"], 404);
    assert_eq!(bench.get(&viewer, "/v1/impairment/ports/port3").status, 400);
    let cleared = bench.call(&admin, "DELETE", PORT1, &Value::Null).is(200);
    assert_eq!(cleared["impairment"], json!({}));
    assert_eq!(
        audited(&bench, "impairment_replace"),
        [("viewer", 403), ("operator", 403), ("admin", 200), ("admin", 400), ("admin", 422)]
            .map(|(who, status)| (who.to_owned(), PORT1.to_owned(), status))
            .into_iter()
            .rev()
            .collect::<Vec<_>>()
    );
    let clears = audited(&bench, "impairment_clear");
    assert_eq!(clears[0], ("admin".to_owned(), PORT1.to_owned(), 200));
}

#[test]
fn leases_are_listed_for_viewers_and_begun_and_ended_by_admins() {
    let (bench, daemon) = impaired();
    let (viewer, operator, admin) =
        (bench.login("viewer"), bench.login("operator"), bench.login("admin"));
    let loss = json!({ "loss": { "model": "bernoulli", "pct": 5.0 } });
    let delay = json!({ "latency": { "kind": "constant", "duration": 20_000_000 } });
    bench.call(&admin, "PUT", PORT1, &delay).is(200);
    let new = |owner: &Value| {
        json!({
            "duration": 600_000_000_000_u64, "owner": owner,
            "changes": { "port1": { "impairment": loss, "fields": ["loss"] } },
        })
    };
    for token in [&viewer, &operator] {
        assert_eq!(bench.call(token, "POST", LEASES, &new(&Value::Null)).problem(403), "forbidden");
    }
    assert_eq!(bench.get(&viewer, LEASES).is(200), json!([]));
    let lease = bench.call(&admin, "POST", LEASES, &new(&Value::Null)).is(200);
    assert_eq!(lease["owner"]["name"], "gateway, admin", "{lease}");
    let other = bench.call(&admin, "POST", LEASES, &new(&json!("bench 3"))).is(200);
    assert_eq!(other["owner"]["name"], "bench 3", "{other}");
    let numbers = |leases: &Value| -> Vec<Value> {
        leases.as_array().unwrap().iter().map(|lease| lease["id"].clone()).collect()
    };
    let both = [lease["id"].clone(), other["id"].clone()];
    assert_eq!(numbers(&bench.get(&viewer, LEASES).is(200)), both);
    assert_eq!(numbers(&daemon.call("GET", "/v1/leases", &Value::Null).json()), both);
    let now = bench.get(&viewer, PORT1).is(200);
    assert_eq!((&now["impairment"]["loss"]["pct"], &now["base"]), (&json!(5.0), &delay));
    let path = |lease: &Value| format!("{LEASES}/{}", lease["id"]);
    assert_eq!(bench.call(&operator, "DELETE", &path(&lease), &Value::Null).status, 403);
    for lease in [&lease, &other] {
        bench.call(&admin, "DELETE", &path(lease), &Value::Null).is(200);
        assert_eq!(bench.call(&admin, "DELETE", &path(lease), &Value::Null).status, 404);
    }
    assert_eq!(bench.get(&viewer, PORT1).is(200)["impairment"], delay);
    // What the daemon refuses arrives as it is, what is no lease is refused here.
    let short = json!({ "duration": 1, "changes": { "port1": { "impairment": loss } } });
    assert_eq!(bench.call(&admin, "POST", LEASES, &short).status, 400);
    let unnamed = json!({ "duration": 600_000_000_000_u64 });
    assert_eq!(bench.call(&admin, "POST", LEASES, &unnamed).status, 422);
    assert_eq!(bench.get(&viewer, LEASES).is(200), json!([]));
    let begins = audited(&bench, "impairment_lease_begin");
    assert_eq!(begins.len(), 6, "{begins:?}");
}

#[test]
fn a_testbed_is_steered_by_operators() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("control.sock");
    let bed = testbed::bench();
    let bench = gateway(None, Some(socket.clone()));
    {
        let _entered = bench.runtime.enter();
        bed.listen(&socket);
    }
    let (viewer, operator) = (bench.login("viewer"), bench.login("operator"));
    let state = bench.get(&viewer, "/v1/testbed").is(200);
    assert_eq!(state["name"], "bench");
    let up = |document: &Value| {
        let links = document["links"].as_array().unwrap().iter();
        links.filter(|link| link["predicted"]["up"] == true).count()
    };
    let severed = |document: &Value| document["links"][0]["severed"] == true;
    let ends = json!({ "a": "west", "b": "east" });
    let place = json!({ "lat_deg": 57.0, "lon_deg": 11.01 });
    let steps = [
        ("POST", "/nodes/west/fail", Value::Null, 0, false),
        ("POST", "/nodes/west/repair", Value::Null, 2, false),
        ("POST", "/links/cut", ends.clone(), 0, true),
        ("POST", "/links/mend", ends, 2, false),
        ("PUT", "/nodes/east/position", place, 2, false),
        ("PATCH", "/nodes/east/station", json!({ "tx_power_dbm": 14.0 }), 2, false),
        ("POST", "/steps", json!({ "steps": 5 }), 2, false),
        ("PUT", "/pace", json!({ "speed": 0.0 }), 2, false),
    ];
    for (method, path, body, ups, cut) in steps {
        let path = format!("/v1/testbed{path}");
        assert_eq!(bench.call(&viewer, method, &path, &body).status, 403, "{path}");
        let document = bench.call(&operator, method, &path, &body).is(200);
        assert_eq!((up(&document), severed(&document)), (ups, cut), "{path}");
    }
    let moved = bench.get(&viewer, "/v1/testbed").is(200);
    assert_eq!(moved["nodes"][1]["lon_deg"], 11.01);
    assert!(moved["tick"].as_u64() > state["tick"].as_u64().map(|tick| tick + 4));
    // A name goes on as it came; what ends the controller or reports to it is not passed on.
    let none = bench.call(&operator, "POST", "/v1/testbed/nodes/no%20one%2F/fail", &Value::Null);
    assert!(none.is(404)["detail"].as_str().unwrap().contains("no one/"));
    for path in ["/v1/testbed/stop", "/v1/testbed/probes", "/v1/testbed/nodes"] {
        assert_eq!(bench.call(&operator, "POST", path, &json!({})).status, 404, "{path}");
    }
    let last = audited(&bench, "testbed_fail");
    let path = |name: &str| format!("/v1/testbed/nodes/{name}/fail");
    assert_eq!(last[0], ("operator".to_owned(), path("no%20one%2F"), 404));
    assert_eq!(last[1], ("operator".to_owned(), path("west"), 200));
}

#[test]
fn requests_and_answers_are_passed_on_without_credentials_and_once() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("impair.sock");
    let odd = "{ \"impairment\" : {},\n  \"b\u{e9}\": 1e400 }";
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\nset-cookie: a=b\r\naccess-control-allow-origin: *\r\ncontent-length: {}\r\n\r\n",
        odd.len()
    );
    let full = format!("{head}{odd}");
    let short = format!("{head}{}", &odd[..9]);
    let requests = scripted(&socket, &[&full, &short, ""]);
    let bench = gateway(Some(socket), None);
    let admin = bench.login("admin");
    let body = "{\"rate\" :  {\"bps\":1000,\"burst_bytes\":1514}}";
    let put = || {
        let request = Request::put(format!("{PORT1}?_=1"))
            .header(header::AUTHORIZATION, format!("Bearer {admin}"))
            .header(header::CONTENT_TYPE, "application/json; charset=utf-8")
            .header(header::COOKIE, "secret=1")
            .header("x-forwarded-for", "10.0.0.1")
            .header(header::TE, "trailers");
        let here = std::net::Ipv4Addr::LOCALHOST.into();
        bench.send_from(here, request.body(body.into()).unwrap())
    };
    let answer = put();
    assert_eq!((answer.status.as_u16(), answer.body.as_slice()), (200, odd.as_bytes()));
    for dropped in ["set-cookie", "access-control-allow-origin", "connection"] {
        assert!(!answer.headers.contains_key(dropped), "{dropped}");
    }
    let sent = requests.recv().unwrap();
    let (head, passed) = sent.split_once("\r\n\r\n").unwrap();
    assert_eq!(passed, body);
    let mut lines: Vec<&str> = head.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "PUT /v1/impairments/port1 HTTP/1.1",
            "content-length: 43",
            "content-type: application/json; charset=utf-8",
            "host: localhost",
        ]
    );
    // An answer that breaks off is an error; the change is not sent again.
    for _ in 0..2 {
        let broken = put().is(502);
        assert!(broken["detail"].as_str().unwrap().contains("may be in force"), "{broken}");
        requests.recv().unwrap();
    }
    assert!(requests.try_recv().is_err());
    // Bodies have the bound of the gateway.
    let long = json!({ "x": "y".repeat(70_000) });
    assert_eq!(bench.call(&admin, "PUT", PORT1, &long).problem(413), "payload-too-large");
}

#[test]
fn absent_services_give_the_missing_option_or_command() {
    let states = |bench: &Bench| {
        let document = bench.get("", "/capabilities").is(200);
        let of = |name: &str, feature: &str| {
            (document["backends"][name].clone(), document["features"][feature].clone())
        };
        [of("impaird", "impairment"), of("testbed", "testbed")]
    };
    let refused = |bench: &Bench, path: &str| {
        let answer = bench.get(&bench.login("viewer"), path);
        assert_eq!(answer.problem(503), "backend-absent", "{path}");
        answer.json()["detail"].as_str().unwrap().to_owned()
    };
    let none = gateway(None, None);
    assert_eq!(states(&none), [(json!("absent"), json!(false)), (json!("absent"), json!(false))]);
    assert!(refused(&none, PORT1).contains("--impaird-socket PATH"));
    assert!(refused(&none, "/v1/testbed").contains("--testbed-socket PATH"));
    let idle = none.get(&none.login("viewer"), PLAYBACK).is(200);
    assert_eq!(idle["state"], "idle");
    let folder = tempfile::tempdir().unwrap();
    let absent_socket = folder.path().join("gone.sock");
    let bench = gateway(Some(absent_socket.clone()), Some(absent_socket.clone()));
    assert_eq!(states(&bench), [(json!("absent"), json!(true)), (json!("absent"), json!(true))]);
    let document = refused(&bench, "/v1/impairment/system");
    assert!(
        document.contains("groundwave impaird") && document.contains("gone.sock"),
        "{document}"
    );
    assert!(refused(&bench, "/v1/testbed").contains("groundwave testbed up"));
    let new = json!({ "timeline": "[[step]]\nat = \"0s\"\nset = { delay = \"1ms\" }\n" });
    let admin = bench.login("admin");
    assert_eq!(bench.call(&admin, "POST", PLAYBACK, &new).problem(503), "backend-absent");
    let _listening = UnixListener::bind(&absent_socket).unwrap();
    assert_eq!(states(&bench)[0], (json!("configured"), json!(true)));
}
