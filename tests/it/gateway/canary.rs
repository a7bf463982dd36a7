//! Secrets are put everywhere a secret can be, and looked for everywhere else.

use std::process::Stdio;

use groundwave_web_gateway::document;
use serde_json::{Value, json};

use super::{Bench, PASSWORD, beat};

#[test]
fn no_secret_comes_back_in_any_answer() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    let rotation =
        bench.call(&admin, "POST", "/v1/trust/secret/rotate", &json!({ "grace_s": 600 })).is(201);
    let again =
        bench.call(&admin, "POST", "/v1/trust/secret/rotate", &json!({ "grace_s": 600 })).is(201);
    let canary = "canary-password-8f3a";
    let user = json!({ "username": "mallory", "password": canary, "role": "viewer" });
    bench.call(&admin, "POST", "/v1/admin/users", &user).is(201);
    let expected = json!({ "name": "Mast", "mac": "02:00:00:00:00:0c" });
    let code = bench.call(&admin, "POST", "/v1/nodes/register", &expected).is(201);
    let (id, node_token, _) = bench.node(81);
    let rotated = bench
        .call(&admin, "POST", &format!("/v1/nodes/{id}/rotate-credentials"), &Value::Null)
        .is(200);
    bench.call(&node_token, "POST", "/v1/nodes/heartbeat", &beat(81, 1)).problem(401);
    let wrong = json!({ "username": "admin", "password": "canary-wrong-77" });
    bench.call("", "POST", "/api/auth/login", &wrong).problem(401);
    let view = bench.world.view();
    let secret = &view.accounts.named("mallory").unwrap().1.secret;
    let hash = serde_json::to_value(secret).unwrap()["sealed"].clone().as_str().unwrap().to_owned();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let secrets = [
        canary.to_owned(),
        PASSWORD.to_owned(),
        "canary-wrong-77".to_owned(),
        text(&rotation["secret"]),
        text(&again["secret"]),
        text(&code["enrollment_code"]),
        text(&rotated["enrollment_code"]),
        admin.clone(),
        node_token,
        hash,
    ];
    let document = document();
    let mut read = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        if item.get("get").is_none() || path == "/v1/events" {
            continue;
        }
        let path = path
            .replace("{node_id}", &id)
            .replace("{mac}", "02:00:00:00:00:0c")
            .replace("{ifname}", "lo");
        let path = match path.contains('{') {
            true => {
                path.split('{').next().unwrap().to_owned() + "00000000-0000-7000-8000-000000000000"
            }
            false => path,
        };
        let answer = bench.get(&admin, &path);
        let body = String::from_utf8_lossy(&answer.body).into_owned();
        let headers = format!("{:?}", answer.headers);
        read += 1;
        for secret in &secrets {
            assert!(!body.contains(secret), "{path} reveals {secret}");
            assert!(!headers.contains(secret), "{path} reveals {secret} in a header");
        }
    }
    assert!(read >= 30, "{read} read");
    let record = std::fs::read_to_string(bench.folder.path().join("audit.jsonl")).unwrap();
    for secret in &secrets {
        assert!(!record.contains(secret), "the record reveals {secret}");
    }
    let metrics = bench.get("", "/metrics");
    let metrics = String::from_utf8(metrics.body).unwrap();
    for private in ["02:00:00", "10.41.0", "10.42.0", "node-81", "mallory", &id] {
        assert!(!metrics.contains(private), "metrics reveal {private}");
    }
    assert!(metrics.contains("groundwave_nodes{state=\"joining\"}"), "{metrics}");
}

#[test]
fn no_secret_is_logged() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = super::process::start(folder.path(), "trace", Stdio::piped());
    let password = server.bootstrap();
    let login = json!({ "username": "admin", "password": password });
    let answer = server.post("", "/api/auth/login", &login);
    assert_eq!(answer.0, 200, "{}", answer.1);
    let token = answer.1["access_token"].as_str().unwrap().to_owned();
    let new = json!({ "current_password": password, "new_password": "canary-password-8f3a" });
    assert_eq!(server.post(&token, "/api/auth/password", &new).0, 204);
    let login = json!({ "username": "admin", "password": "canary-password-8f3a" });
    let token =
        server.post("", "/api/auth/login", &login).1["access_token"].as_str().unwrap().to_owned();
    let rotation = server.post(&token, "/v1/trust/secret/rotate", &Value::Null);
    assert_eq!(rotation.0, 201);
    let secret = rotation.1["secret"].as_str().unwrap().to_owned();
    let watched = format!("/v1/camera/{}/stream?fps=5&t={token}", uuid::Uuid::nil());
    assert_eq!(server.ask("", "GET", &watched, &Value::Null).0, 404);
    let log = server.end();
    assert!(log.contains("fps=5&t=..."), "{log}");
    assert!(log.contains("request"), "the log names requests: {log}");
    for hidden in [&password, "canary-password-8f3a", &secret, &token] {
        assert!(!log.contains(hidden), "the log reveals {hidden}");
    }
}
