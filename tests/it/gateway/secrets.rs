//! Secrets at rest: sealed in store and log; passwords of admins; the audit log after damage.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groundwave_engine::log::Entry;
use serde_json::{Value, json};

use super::process::{Process, admin, start, start_with};
use crate::support::{groundwave, stdout};

fn login(server: &Process, username: &str, password: &str) -> (u16, Value) {
    let body = json!({ "username": username, "password": password });
    server.post("", "/api/auth/login", &body)
}

/// Bytes of everything in a log, decompressed.
fn log_bytes(path: &Path) -> Vec<u8> {
    let mut log = groundwave_store::journal_file::open(path).unwrap();
    let mut bytes = Vec::new();
    while let Some(entry) = log.next_entry().unwrap() {
        match entry {
            Entry::Command(record) => bytes.extend(record.body),
            Entry::Checkpoint(part) => bytes.extend(part.body),
            Entry::Mark(_) => {}
        }
    }
    bytes
}

fn holds(bytes: &[u8], secret: &[u8]) -> bool {
    bytes.windows(secret.len()).any(|window| window == secret)
}

/// A secret as msgpack writes an array of bytes: those from 128 up with a byte before them.
fn as_array(secret: &[u8]) -> Vec<u8> {
    let byte = |byte: &u8| match byte {
        0..=127 => vec![*byte],
        _ => vec![0xcc, *byte],
    };
    secret.iter().flat_map(byte).collect()
}

#[test]
fn neither_log_nor_store_holds_a_secret_in_clear() {
    let folder = tempfile::tempdir().unwrap();
    // What the recording begins with holds secrets, and so do commands in it.
    let mut server = start(folder.path(), "info", Stdio::piped());
    let token = admin(&server);
    let rotate = |server: &Process| {
        let (status, rotation) = server.post(&token, "/v1/trust/secret/rotate", &Value::Null);
        assert_eq!(status, 201, "{rotation}");
        STANDARD.decode(rotation["secret"].as_str().unwrap()).unwrap()
    };
    let mut secrets = vec![rotate(&server)];
    server.end();
    let log = folder.path().join("today.gwlog");
    let record = ["--record", log.to_str().unwrap()];
    let mut server = start_with(folder.path(), "info", Stdio::piped(), &record);
    secrets.push(rotate(&server));
    let eve = json!({ "username": "eve", "password": "a first password", "role": "viewer" });
    assert_eq!(server.post(&token, "/v1/admin/users", &eve).0, 201);
    assert_eq!(login(&server, "eve", "a first password").0, 200);
    server.end();
    let output = stdout(&groundwave(&["log", "cat", log.to_str().unwrap(), "--json"]));
    assert!(output.contains("account.create") && output.contains("trust.secret"));
    let store = fs::read(folder.path().join("world.db")).unwrap();
    for bytes in [log_bytes(&log), store, output.into_bytes()] {
        assert!(!holds(&bytes, b"$argon2id$"));
        for secret in &secrets {
            assert!(!holds(&bytes, secret) && !holds(&bytes, &as_array(secret)));
        }
    }
}

#[test]
fn a_weak_or_open_password_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    let refused = |words: &str, mode: u32, expected: &str| {
        fs::write(&file, words).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        let output = crate::support::command(&["serve", "gateway", "--tunnel", "off"])
            .args(["--gateway-bind", "127.0.0.1:0", "--admin-password-file"])
            .arg(&file)
            .current_dir(folder.path())
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(expected), "{error}");
    };
    refused("", 0o600, "12 to 1024 characters");
    refused("admin\n", 0o600, "12 to 1024 characters");
    refused("administrator\n", 0o600, "common password");
    refused("a chosen password\n", 0o644, "mode 644");
    fs::write(&file, "a chosen password\n").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
    let option = ["--admin-password-file", file.to_str().unwrap()];
    let server = start_with(folder.path(), "info", Stdio::piped(), &option);
    assert_eq!(login(&server, "admin", "a chosen password").0, 200);
}

#[test]
fn a_key_of_tls_that_others_may_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["cert.pem", "key.pem"] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    let key = folder.path().join("key.pem");
    fs::set_permissions(&key, Permissions::from_mode(0o644)).unwrap();
    let output = crate::support::command(&["serve", "gateway", "--tunnel", "off"])
        .args(["--gateway-bind", "127.0.0.1:0"])
        .args(["--tls-cert", "cert.pem", "--tls-key", "key.pem"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("mode 644") && error.contains("600, 640"), "{error}");
}

#[test]
fn the_last_admin_is_recovered_on_the_machine() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = start(folder.path(), "info", Stdio::piped());
    let token = admin(&server);
    let (state, db) = (folder.path().join("state"), folder.path().join("world.db"));
    let reset = [
        "gateway",
        "reset-admin",
        "--state",
        state.to_str().unwrap(),
        "--db",
        db.to_str().unwrap(),
    ];
    let output = groundwave(&reset);
    assert_eq!(output.status.code(), Some(2), "while the gateway runs");
    server.end();
    let text = stdout(&groundwave(&reset));
    assert!(text.contains("bootstrap-admin"), "{text}");
    let password = fs::read_to_string(state.join("bootstrap-admin")).unwrap();
    let server = start(folder.path(), "info", Stdio::piped());
    assert_eq!(server.ask(&token, "GET", "/v1/nodes", &Value::Null).0, 401);
    assert_eq!(login(&server, "admin", "a better password").0, 401);
    let (status, text) = login(&server, "admin", password.trim());
    assert_eq!((status, &text["role"]), (200, &json!("admin")));
    let token = text["access_token"].as_str().unwrap();
    let (status, me) = server.ask(token, "GET", "/api/auth/me", &Value::Null);
    assert_eq!((status, &me["must_change_password"]), (200, &json!(true)));
    let elsewhere = groundwave(&["gateway", "reset-admin", "--state", "/nowhere"]);
    assert_eq!(elsewhere.status.code(), Some(2));
}

#[test]
fn damaged_audit_log_gives_an_error_and_is_continued() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = start(folder.path(), "info", Stdio::piped());
    admin(&server);
    server.end();
    let state = folder.path().join("state");
    let log = state.join("audit.jsonl");
    let check =
        |what: &str| groundwave(&["gateway", "audit", what, "--state", state.to_str().unwrap()]);
    assert!(stdout(&check("verify")).contains("3 lines, 3 keyed: no damage"));
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, text.replacen("admin", "nobody", 1)).unwrap();
    let output = check("verify");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("lines 1 to 3 damaged"));
    let mut server = start(folder.path(), "info", Stdio::piped());
    assert_eq!(login(&server, "admin", "a better password").0, 200);
    assert_eq!(check("repair").status.code(), Some(2), "while the gateway runs");
    let log_text = server.end();
    assert!(log_text.contains("lines 1 to 3 damaged; a new segment begins"), "{log_text}");
    let log_text = stdout(&check("verify"));
    assert!(log_text.contains("5 lines, 2 keyed: lines 1 to 3 damaged"), "{log_text}");
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, text.replacen("login", "logon", 1)).unwrap();
    assert!(stdout(&check("repair")).contains("damaged"));
    assert!(stdout(&check("verify")).contains("6 lines, 1 keyed"));
}

#[test]
fn secrets_of_an_earlier_version_are_sealed_at_the_start() {
    use std::io::Read;
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    fs::create_dir(&state).unwrap();
    let fixtures = crate::support::root().join("tests/fixtures/compat");
    let packed = fs::File::open(fixtures.join("world.db.gz")).unwrap();
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
    assert!(holds(&bytes, b"$argon2id$"));
    fs::write(folder.path().join("world.db"), bytes).unwrap();
    let key = state.join("token.key");
    fs::copy(fixtures.join("token.key"), &key).unwrap();
    fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
    let log = folder.path().join("today.gwlog");
    let record = ["--record", log.to_str().unwrap()];
    let mut server = start_with(folder.path(), "info", Stdio::piped(), &record);
    assert_eq!(login(&server, "admin", "a second secret phrase").0, 200);
    let text = server.end();
    assert!(text.contains("secrets of an earlier version sealed"), "{text}");
    assert!(!holds(&log_bytes(&log), b"$argon2id$"));
    let server = start(folder.path(), "info", Stdio::piped());
    assert_eq!(login(&server, "admin", "a second secret phrase").0, 200);
}
