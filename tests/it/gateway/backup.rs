//! Backups of a gateway: made while it runs, restored to a gateway that works.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use super::beat;
use super::firmware::{image, upload_path};
use super::process::{Process, admin, mast, start};
use crate::support::command;

/// Restores `sealed` into `folder` with the key of the first gateway; its exit code and output.
fn restore(sealed: &Path, key: &Path, folder: &Path) -> (Option<i32>, String) {
    restore_with(sealed, key, folder, &[])
}

/// As [`restore`], with further options.
fn restore_with(
    sealed: &Path,
    key: &Path,
    folder: &Path,
    options: &[&str],
) -> (Option<i32>, String) {
    let output = command(&["restore"])
        .args(options)
        .arg(sealed)
        .arg("--token-key")
        .arg(key)
        .arg("--db")
        .arg(folder.join("world.db"))
        .arg("--state")
        .arg(folder.join("state"))
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), error)
}

fn points(server: &Process, token: &str, id: &str) -> usize {
    let path = format!("/v1/nodes/{id}/telemetry?metric=mesh.tx_mbps");
    let (_, answer) = server.ask(token, "GET", &path, &Value::Null);
    let series = answer["series"][0]["points"].as_array();
    series.unwrap_or_else(|| panic!("{answer}")).len()
}

#[test]
fn a_sealed_backup_of_a_running_gateway_restores_to_a_working_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = start(folder.path(), "info", Stdio::piped());
    let token = admin(&server);
    let (id, node) = mast(&server, &token, 5);
    for seq in 1..=3 {
        let (status, answer) = server.post(&node, "/v1/nodes/heartbeat", &beat(5, seq));
        assert_eq!(status, 200, "{answer}");
    }
    let sealed = folder.path().join("gateway.sealed");
    fs::write(&sealed, server.fetch(&token, "/v1/admin/backup")).unwrap();
    // After the copy: not in it.
    assert_eq!(server.post(&node, "/v1/nodes/heartbeat", &beat(5, 4)).0, 200);
    server.end();
    let state = folder.path().join("state");
    let key = state.join("token.key");

    let other = tempfile::tempdir().unwrap();
    let (code, answer) = restore(&sealed, &key, other.path());
    assert_eq!(code, Some(0), "{answer}");
    let restored = other.path().join("state");
    for secret in ["token.key", "audit.jsonl", "telemetry.redb"] {
        let mode = fs::metadata(restored.join(secret)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{secret}");
    }
    assert_eq!(fs::read(restored.join("token.key")).unwrap(), fs::read(&key).unwrap());
    // It is not put over another one unasked.
    assert_eq!(restore(&sealed, &key, other.path()).0, Some(2));
    for aside in ["state.replaced", "state.replaced.2"] {
        fs::write(restored.join("mark"), aside).unwrap();
        let (code, answer) = restore_with(&sealed, &key, other.path(), &["--force"]);
        assert_eq!(code, Some(0), "{answer}");
        assert_eq!(fs::read_to_string(other.path().join(aside).join("mark")).unwrap(), aside);
    }

    let again = start(other.path(), "info", Stdio::piped());
    // Tokens of the first gateway hold, readings and nodes are there, the audit log goes on.
    assert_eq!(points(&again, &token, &id), 3);
    assert_eq!(again.post(&node, "/v1/nodes/heartbeat", &beat(5, 4)).0, 200);
    let login = json!({ "username": "admin", "password": "a better password" });
    assert_eq!(again.post("", "/api/auth/login", &login).0, 200);
    let (status, audit) = again.ask(&token, "GET", "/v1/admin/audit", &Value::Null);
    assert_eq!(status, 200);
    let actions = audit.to_string();
    assert!(actions.contains("node_register") || actions.contains("nodes_register"), "{actions}");
}

#[test]
fn firmware_images_are_in_the_backup() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = start(folder.path(), "info", Stdio::piped());
    let token = admin(&server);
    let image = image();
    let path = upload_path(&image);
    let fields = [("Content-Type", "application/octet-stream")];
    let (status, answer) = server.exchange(&token, "POST", &path, &fields, &image);
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    assert_eq!(status, 201, "{answer}");
    let sealed = folder.path().join("gateway.sealed");
    fs::write(&sealed, server.fetch(&token, "/v1/admin/backup")).unwrap();
    server.end();

    let other = tempfile::tempdir().unwrap();
    let key = folder.path().join("state/token.key");
    let (code, error) = restore(&sealed, &key, other.path());
    assert_eq!(code, Some(0), "{error}");
    let again = start(other.path(), "info", Stdio::piped());
    let content = format!("/v1/firmware/images/{}/content", answer["image_id"].as_str().unwrap());
    let (status, restored) = again.exchange(&token, "GET", &content, &[], b"");
    assert_eq!((status, restored == image), (200, true), "{} bytes", restored.len());
}

#[test]
fn a_stopped_gateway_is_copied_whole_with_its_state_folder() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = start(folder.path(), "info", Stdio::piped());
    let token = admin(&server);
    let (id, _) = mast(&server, &token, 5);
    let (db, state) = (folder.path().join("world.db"), folder.path().join("state"));
    let backup = |to: &Path, with_state: bool| {
        let mut backup = command(&["backup"]);
        backup.arg(to).arg("--db").arg(&db);
        if with_state {
            backup.arg("--state").arg(&state);
        }
        backup.output().unwrap()
    };
    let sealed = folder.path().join("gateway.sealed");
    let running = backup(&sealed, true);
    assert_eq!(running.status.code(), Some(2));
    let error = String::from_utf8_lossy(&running.stderr);
    assert!(error.contains("POST /v1/admin/backup"), "{error}");
    server.end();
    let copy = backup(&sealed, true);
    assert!(copy.status.success(), "{}", String::from_utf8_lossy(&copy.stderr));
    let plans = backup(&folder.path().join("plans.redb"), false);
    assert!(plans.status.success());
    let error = String::from_utf8_lossy(&plans.stderr);
    assert!(error.contains("are left out"), "{error}");

    let other = tempfile::tempdir().unwrap();
    let (code, error) = restore(&sealed, &state.join("token.key"), other.path());
    assert_eq!(code, Some(0), "{error}");
    let again = start(other.path(), "info", Stdio::piped());
    let (status, node) = again.ask(&token, "GET", &format!("/v1/nodes/{id}"), &Value::Null);
    assert_eq!(status, 200, "{node}");
}
