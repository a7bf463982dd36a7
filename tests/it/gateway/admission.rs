//! Join requests of nodes beside those of others: proofs of keys, replays, floods, bulk decisions.

use std::net::IpAddr;
use std::process::Stdio;
use std::time::Duration;

use groundwave_credentials::PrivateKey;
use groundwave_credentials::possession::unseal_credentials;
use groundwave_host::readings::links::{Address, Interface};
use groundwave_io_agent::request::{Identity, prove_key, request as join};
use groundwave_protocol::{PublicKey, WgChallenge};
use serde_json::{Value, json};

use super::events::events;
use super::{Answer, Bench, REGISTER, ask, request};
use crate::support::command;

const CHALLENGE: &str = "/v1/mesh/wg-register/challenge";

fn source(host: u8) -> IpAddr {
    IpAddr::from([10, 41, 0, host])
}

fn key(number: u8) -> PrivateKey {
    PrivateKey::from_bytes([number; 32])
}

fn public(number: u8) -> PublicKey {
    PublicKey::new(key(number).public().0).unwrap()
}

fn challenge(bench: &Bench, host: u8) -> WgChallenge {
    let answer = bench.send_from(source(host), request("", "GET", CHALLENGE, &Value::Null));
    serde_json::from_value(answer.is(200)).unwrap()
}

/// The request of the holder of key `number`, and the secret it shares with the gateway.
fn owner(bench: &Bench, number: u8, seal: bool) -> (Value, [u8; 32]) {
    owner_on(bench, number, &format!("02:00:00:00:00:{number:02x}"), seal)
}

/// As [`owner`], from a machine with the hardware address `mac`.
fn owner_on(bench: &Bench, number: u8, mac: &str, seal: bool) -> (Value, [u8; 32]) {
    let challenge = challenge(bench, number);
    let identity = Identity {
        public_key: public(number),
        mac: mac.parse().unwrap(),
        hostname: format!("node-{number}"),
        underlay_ip: None,
        listen_port: None,
    };
    let (nonce, ts) = (challenge.nonce.clone(), challenge.ts.clone());
    let mut request = join(&identity, None, None, nonce, ts);
    request.seal_credentials = seal;
    let shared = prove_key(&mut request, &key(number), &challenge).unwrap();
    (serde_json::to_value(request).unwrap(), shared)
}

/// A request made with nothing but the public key `number`.
fn squatter(number: u8, mac: &str) -> Value {
    let mut request = ask(number);
    request["public_key"] = json!(public(number));
    request["mac"] = json!(mac);
    request["hostname"] = json!("squatter");
    request
}

fn send(bench: &Bench, host: u8, body: &Value) -> Answer {
    bench.send_from(source(host), request("", "POST", REGISTER, body))
}

fn registration(bench: &Bench, answer: &Value) -> Value {
    let admin = bench.login("admin");
    let id = answer["registration_id"].as_str().unwrap();
    let path = format!("/v1/admin/registrations/{id}");
    bench.get(&admin, &path).is(200)
}

#[test]
fn the_holder_of_a_key_is_kept_out_and_rewritten_by_nobody() {
    let bench = Bench::new();
    let other = "02:00:00:00:00:66";
    send(&bench, 66, &squatter(7, other)).is(202);
    let (request, _) = owner(&bench, 7, false);
    let document = send(&bench, 7, &request).is(202);
    let listing = registration(&bench, &document);
    assert_eq!(listing["mac"], "02:00:00:00:00:07");
    assert_eq!(listing["key_proof"], "valid");
    // With another address of hardware it is a conflict, with the same it changes nothing.
    send(&bench, 66, &squatter(7, other)).problem(409);
    send(&bench, 66, &squatter(7, "02:00:00:00:00:07")).is(202);
    assert_eq!(registration(&bench, &document), listing);
    // Nor does another one than the first rewrite what is only claimed.
    let first = send(&bench, 67, &squatter(8, other)).is(202);
    let listing = registration(&bench, &first);
    let mut second = squatter(8, other);
    second["hostname"] = json!("second");
    send(&bench, 68, &second).is(202);
    assert_eq!(registration(&bench, &first), listing);
    // The rejection of a squatter does not bind the owner.
    let admin = bench.login("admin");
    let id = first["registration_id"].as_str().unwrap();
    let reject = format!("/v1/admin/registrations/{id}/reject");
    bench.call(&admin, "POST", &reject, &Value::Null).is(200);
    let (request, _) = owner(&bench, 8, false);
    assert_eq!(send(&bench, 8, &request).is(202)["state"], "pending");
    // A node can be registered ahead by a key that others claim.
    send(&bench, 69, &squatter(9, other)).is(202);
    let ahead = json!({ "name": "Mast", "mac": "02:00:00:00:00:09", "public_key": public(9) });
    bench.call(&admin, "POST", "/v1/nodes/register", &ahead).is(201);
    let (request, _) = owner(&bench, 9, false);
    send(&bench, 9, &request).is(201);
}

#[test]
fn key_whose_holder_has_other_hardware_gives_one_alert() {
    let bench = Bench::new();
    let (request, _) = owner(&bench, 7, false);
    send(&bench, 7, &request).is(202);
    let other = "02:00:00:00:00:77";
    for _ in 0..3 {
        let (request, _) = owner_on(&bench, 7, other, false);
        assert_eq!(send(&bench, 7, &request).problem(409), "key-conflict");
    }
    // Who does not hold the key gives none.
    send(&bench, 66, &squatter(7, "02:00:00:00:00:66")).problem(409);
    let (request, _) = owner(&bench, 8, false);
    send(&bench, 8, &request).is(202);
    let viewer = bench.login("viewer");
    let all: Vec<Value> =
        events(&bench, &viewer, "0", 3).into_iter().map(|(_, data)| data).collect();
    let [first, alert, second] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!(first["hostname"], "node-7");
    assert_eq!(second["hostname"], "node-8", "one alert");
    assert_eq!(alert["about"], "a registered key comes with another hardware address");
    assert_eq!(alert["mac"], other);
    assert_eq!(alert["registered_mac"], "02:00:00:00:00:07");
}

#[test]
fn requests_of_another_time_and_used_nonces_are_refused() {
    let bench = Bench::new();
    let (request, _) = owner(&bench, 7, false);
    send(&bench, 7, &request).is(202);
    let code = |answer: Answer| {
        assert_eq!(answer.problem(422), "invalid-body");
        answer.json()["errors"][0]["pointer"].as_str().unwrap().to_owned()
    };
    assert_eq!(code(send(&bench, 7, &request)), "/nonce");
    let plain = ask(8);
    send(&bench, 8, &plain).is(202);
    assert_eq!(code(send(&bench, 8, &plain)), "/nonce");
    let mut old = ask(9);
    old["ts"] = json!("2026-01-01T00:00:00Z");
    assert_eq!(code(send(&bench, 9, &old)), "/ts");
    // A proof is of a challenge, and of the key.
    let (mut own, _) = owner(&bench, 10, false);
    own["nonce"] = ask(10)["nonce"].clone();
    assert_eq!(code(send(&bench, 10, &own)), "/nonce");
    let (mut forged, _) = owner(&bench, 11, false);
    let (other, _) = owner(&bench, 12, false);
    forged["key_proof"] = other["key_proof"].clone();
    let document = send(&bench, 11, &forged).is(202);
    assert_eq!(registration(&bench, &document)["key_proof"], "invalid");
}

#[test]
fn credentials_are_sealed_to_the_key_and_to_nobody_else() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    let (request, _) = owner(&bench, 7, true);
    let document = send(&bench, 7, &request).is(202);
    assert_eq!(document["sealed_credentials"], Value::Null);
    let id = document["registration_id"].as_str().unwrap();
    let approve = format!("/v1/admin/registrations/{id}/approve");
    bench.call(&admin, "POST", &approve, &Value::Null).is(200);
    let mut without = squatter(7, "02:00:00:00:00:07");
    without["seal_credentials"] = json!(true);
    let nothing = send(&bench, 7, &without).is(200);
    assert_eq!(nothing["sealed_credentials"], Value::Null);
    let (request, shared) = owner(&bench, 7, true);
    let document = send(&bench, 7, &request).is(200);
    let sealed = document["sealed_credentials"].as_str().unwrap();
    let nonce = request["nonce"].as_str().unwrap();
    let credentials = unseal_credentials(&shared, nonce, sealed).unwrap();
    let login = serde_json::to_value(credentials).unwrap();
    bench.call("", "POST", "/api/auth/login", &login).is(200);
}

#[test]
fn a_flood_from_an_address_leaves_the_others_their_places() {
    let bench = Bench::new();
    let mut refused = 0;
    for number in 100..=255 {
        let answer = send(&bench, 66, &ask(number));
        refused += u32::from(answer.status.as_u16() == 429);
    }
    assert!(refused > 100, "{refused} refused");
    for number in 1..60 {
        send(&bench, number, &ask(number)).is(202);
    }
}

#[test]
fn many_registrations_are_rejected_and_deleted_at_once() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    for number in 1..=6 {
        send(&bench, number, &ask(number)).is(202);
    }
    let (request, _) = owner(&bench, 7, false);
    let first = send(&bench, 7, &request).is(202)["registration_id"].clone();
    let post = |path: &str, body: Value| {
        let path = format!("/v1/admin/registrations/{path}");
        bench.call(&admin, "POST", &path, &body)
    };
    post("reject", json!({ "select": {} })).problem(422);
    post("delete", json!({ "select": { "source": "nowhere" } })).problem(422);
    let flood = json!({ "select": { "state": "pending", "key_proof": "absent",
        "source": "10.41.0.0/30" }, "reason": "flood" });
    let document = post("reject", flood).is(200);
    assert_eq!(document["changed"].as_array().unwrap().len(), 3);
    assert_eq!((&document["skipped"], &document["remaining"]), (&json!([]), &json!(0)));
    assert_eq!(document["refused"], json!([]));
    let id = uuid::Uuid::nil();
    let nobody = json!({ "select": { "registration_ids": [id] } });
    for path in ["approve", "reject", "delete"] {
        let refused = post(path, nobody.clone()).is(200)["refused"].clone();
        assert_eq!(refused[0]["registration_id"], json!(id), "{path}");
        assert!(refused[0]["reason"].as_str().unwrap().contains("no registration"), "{refused}");
    }
    let all = json!({ "select": { "key_proof": "absent" } });
    let again = post("reject", all.clone()).is(200);
    assert_eq!(again["changed"].as_array().unwrap().len(), 3);
    assert_eq!(again["skipped"].as_array().unwrap().len(), 3);
    assert_eq!(post("delete", all).is(200)["changed"].as_array().unwrap().len(), 6);
    let remainder = bench.get(&admin, "/v1/admin/registrations").is(200);
    assert_eq!(remainder["items"].as_array().unwrap().len(), 1);
    // Deleted, a key may ask again; an approved one is revoked first.
    send(&bench, 1, &ask(1)).is(202);
    let path = format!("/v1/admin/registrations/{}", first.as_str().unwrap());
    bench.call(&admin, "POST", &format!("{path}/approve"), &Value::Null).is(200);
    bench.call(&admin, "DELETE", &path, &Value::Null).problem(409);
    let unknown = format!("/v1/admin/registrations/{}", uuid::Uuid::nil());
    bench.call(&admin, "DELETE", &unknown, &Value::Null).problem(404);
}

/// A folder that stands for a machine whose `bat0` has this address.
pub fn machine(host: u8) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let interface = Interface {
        ifindex: 2,
        name: "bat0".to_owned(),
        kind: "batadv".to_owned(),
        mac: Some(groundwave_protocol::HardwareAddress([2, 0, 0, 0, 0, host])),
        mtu: 1500,
        operstate: "up".to_owned(),
        carrier: true,
        master: None,
        ips: vec![Address { address: source(host), prefix_len: 24, scope: "global".to_owned() }],
        rx_bytes: 0,
        tx_bytes: 0,
        rx_packets: 0,
        tx_packets: 0,
        rx_errors: 0,
        tx_errors: 0,
        rx_dropped: 0,
        tx_dropped: 0,
        speed_mbps: None,
    };
    let look = json!({ "hostname": "hill", "boot_id": "boot", "uptime_s": 60,
        "interfaces": [interface] });
    std::fs::write(folder.path().join("look.json"), look.to_string()).unwrap();
    folder
}

/// Runs an agent without a tunnel until its node is online.
fn comes_online(bench: &Bench, folder: &tempfile::TempDir, options: &[&str], node: &str) {
    let address = bench.listen().to_string();
    let mut agent = command(&["agent", "--no-tunnel", "--fixture", ".", "--period", "0.5"])
        .args(["--gateway", &address, "--key", "node.key"])
        .args(options)
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let viewer = bench.login("viewer");
    let path = format!("/v1/nodes/{node}");
    let mut state = Value::Null;
    // A minute at most.
    for _ in 0..300 {
        std::thread::sleep(Duration::from_millis(200));
        state = bench.get(&viewer, &path).is(200)["state"].clone();
        if state == "online" {
            break;
        }
    }
    agent.kill().unwrap();
    agent.wait().unwrap();
    assert_eq!(state, "online");
}

#[test]
fn an_agent_without_a_tunnel_comes_in_with_its_code() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    let ahead = json!({ "name": "Hill", "mac": "02:00:00:00:00:4d" });
    let document = bench.call(&admin, "POST", "/v1/nodes/register", &ahead).is(201);
    let folder = machine(77);
    let code = document["enrollment_code"].as_str().unwrap();
    std::fs::write(folder.path().join("code"), code).unwrap();
    let node = document["node"]["node_id"].as_str().unwrap();
    comes_online(&bench, &folder, &["--enrollment-code", "code"], node);
}
