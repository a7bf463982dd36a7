//! API tokens: scopes of every operation, expiry, revocation, names in the audit log.

use std::collections::BTreeSet;

use groundwave_gateway::account::{ApiToken, ApiTokenId};
use groundwave_gateway::config::{Expected, Put};
use groundwave_web_gateway::operations;
use serde_json::{Value, json};

use super::logins::ends_after;
use super::matrix::fill;
use super::{Bench, beat};

const TOKENS: &str = "/v1/tokens";

/// Scope of an operation by the fixture; `any` and `login` stand for themselves.
fn expected(method: &str, path: &str) -> String {
    let lines = include_str!("scopes.txt").lines();
    let pairs = lines.filter_map(|line| line.split_once(char::is_whitespace));
    let fits = pairs.filter(|(start, _)| path.starts_with(start));
    let (_, category) = fits.max_by_key(|(start, _)| start.len()).unwrap();
    match (category.trim(), method) {
        (word @ ("any" | "login"), _) => word.to_owned(),
        (category, "GET") => format!("{category}:read"),
        (category, _) => format!("{category}:write"),
    }
}

/// Creates a token of the caller: its text and its path.
fn create(bench: &Bench, login: &str, name: &str, scopes: &[&str]) -> (String, String) {
    let body = json!({ "name": name, "scopes": scopes });
    let token = bench.call(login, "POST", TOKENS, &body).is(201);
    let path = format!("{TOKENS}/{}", token["token_id"].as_str().unwrap());
    (token["token"].as_str().unwrap().to_owned(), path)
}

/// An admin's token that expired long ago.
fn expired(bench: &Bench) -> String {
    let secret = groundwave_web_gateway::services::api_tokens::mint().unwrap();
    let view = bench.world.view();
    let (account, account_record) = view.accounts.named("admin").unwrap();
    let command = Put {
        id: ApiTokenId::new(secret.id.uuid()),
        object: ApiToken {
            name: "expired".to_owned(),
            account,
            account_version: account_record.version,
            role: account_record.role,
            scopes: vec!["nodes:read".to_owned()],
            token_sha256: secret.sha256,
            expires_ns: Some(1),
            last_used_ns: None,
        },
        expected: Expected::Absent,
    };
    let submitted = bench.runtime.block_on(bench.gateway.world.submit(command));
    submitted.unwrap();
    secret.text
}

#[test]
fn every_operation_with_and_without_its_scope() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    let mut scopes: BTreeSet<String> = BTreeSet::new();
    for operation in operations() {
        let needed = expected(&operation.method, &operation.path);
        if operation.rule.role.is_some() && needed.contains(':') {
            scopes.insert(needed);
        }
    }
    assert!(scopes.len() >= 18, "{scopes:?}");
    let all: Vec<&str> = scopes.iter().map(String::as_str).collect();
    let of_scope = |scope: &str| {
        let others: Vec<&str> = all.iter().copied().filter(|other| *other != scope).collect();
        let (with, _) = create(&bench, &admin, scope, &[scope]);
        let (without, _) = create(&bench, &admin, &format!("all but {scope}"), &others);
        (scope.to_owned(), (with, without))
    };
    let tokens: std::collections::BTreeMap<_, _> = all.iter().copied().map(of_scope).collect();
    let (whole, _) = create(&bench, &admin, "all", &all);
    let viewer = bench.login("viewer");
    let (low, _) = create(&bench, &viewer, "low", &all);
    let (removal_path, path) = create(&bench, &admin, "gone", &all);
    bench.call(&admin, "DELETE", &path, &Value::Null).is(204);
    let old = expired(&bench);
    let forged = format!("{whole}A");
    let mut wrong = Vec::new();
    let mut tried = 0;
    for operation in operations() {
        // It ends the token that calls it, or never ends.
        if operation.rule.role.is_none() || ["logout", "events"].contains(&operation.id) {
            continue;
        }
        let path = fill(&operation.path.replace("{ifname}", "lo"));
        let body = match operation.method.as_str() {
            "GET" | "DELETE" => Value::Null,
            _ => json!({ "\u{0}": [] }),
        };
        let mut check = |token: &str, allowed: fn(u16) -> bool, who: &str| {
            let answer = bench.call(token, &operation.method, &path, &body);
            let status = answer.status.as_u16();
            tried += 1;
            if !allowed(status) {
                wrong.push(format!("{} {path} with {who}: {status}", operation.method));
            }
        };
        let through = |status: u16| !matches!(status, 401 | 403) && (status < 500 || status == 503);
        let needed = expected(&operation.method, &operation.path);
        check(&removal_path, |status| status == 401, "a revoked token");
        check(&old, |status| status == 401, "an expired token");
        check(&forged, |status| status == 401, "a forged token");
        match needed.as_str() {
            "any" => check(&whole, through, "any token"),
            "login" => check(&whole, |status| status == 403, "a token for logins"),
            scope => {
                let (with, without) = &tokens[scope];
                check(with, through, "the scope");
                check(without, |status| status == 403, "all other scopes");
                match operation.rule.role.unwrap().word() {
                    "viewer" => check(&low, through, "the role viewer"),
                    _ => check(&low, |status| status == 403, "the role viewer"),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tried >= 700, "{tried} tried");
}

#[test]
fn a_token_is_for_its_owner_and_admins_and_shown_once() {
    let bench = Bench::new();
    let (admin, operator) = (bench.login("admin"), bench.login("operator"));
    let (token, path) = create(&bench, &operator, "scraper", &["nodes:read", "mesh:read"]);
    let listed = bench.get(&operator, TOKENS).is(200);
    let listing = &listed["items"][0];
    assert_eq!(listing["name"], "scraper");
    assert_eq!(listing["scopes"], json!(["mesh:read", "nodes:read"]));
    assert_eq!((&listing["role"], &listing["revoked"]), (&json!("operator"), &json!(false)));
    assert_eq!(listing.get("last_used_at"), None);
    assert!(!listed.to_string().contains(&token));
    let stored = std::fs::read(bench.folder.path().join("world.db")).unwrap();
    let secret = token.rsplit('_').next().unwrap().as_bytes();
    assert!(!stored.windows(secret.len()).any(|part| part == secret));
    // Others do not see it; admins do, and create tokens of others.
    let viewer = bench.login("viewer");
    assert_eq!(bench.get(&viewer, TOKENS).is(200)["total"], 0);
    bench.get(&viewer, &path).problem(404);
    bench.call(&viewer, "DELETE", &path, &Value::Null).problem(404);
    assert_eq!(bench.get(&admin, TOKENS).is(200)["total"], 1);
    let of = |user: &Value, role: &str| json!({ "name": "n", "scopes": ["nodes:read"], "user_id": user, "role": role, "valid_s": 60 });
    let me = |login: &str| bench.get(login, "/api/auth/me").is(200)["sub"].clone();
    let (own, other) = (me(&operator), me(&viewer));
    bench.call(&operator, "POST", TOKENS, &of(&other, "viewer")).problem(403);
    bench.call(&operator, "POST", TOKENS, &of(&own, "admin")).problem(422);
    bench.call(&admin, "POST", TOKENS, &of(&other, "operator")).problem(422);
    let document = bench.call(&admin, "POST", TOKENS, &of(&other, "viewer")).is(201);
    assert_eq!(document["username"], "viewer");
    assert_eq!(bench.get(&viewer, TOKENS).is(200)["total"], 1);
    for (key, value) in [
        ("scopes", json!(["nodes:drive"])),
        ("scopes", json!([])),
        ("scopes", json!(vec!["nodes:read"; 65])),
        ("valid_s", json!(59)),
        ("name", json!("")),
        ("name", json!("a\u{7}")),
    ] {
        let mut wrong = json!({ "name": "c", "scopes": ["nodes:read"] });
        wrong[key] = value;
        bench.call(&operator, "POST", TOKENS, &wrong).problem(422);
    }
    let same = json!({ "name": "scraper", "scopes": ["nodes:read"] });
    bench.call(&operator, "POST", TOKENS, &same).problem(409);
}

#[test]
fn a_token_ends_with_its_streams_and_its_account() {
    let bench = Bench::new();
    let (admin, viewer) = (bench.login("admin"), bench.login("viewer"));
    let (token, path) = create(&bench, &viewer, "one", &["system:read"]);
    ends_after(&bench, &token, || {
        bench.call(&viewer, "DELETE", &path, &Value::Null).is(204);
    });
    bench.get(&token, "/v1/system/info").problem(401);
    // A logout ends a login, not the token of a program.
    let (token, _) = create(&bench, &viewer, "two", &["system:read"]);
    bench.call(&token, "POST", "/api/auth/logout", &Value::Null).problem(403);
    bench.get(&token, "/v1/system/info").is(200);
    // Kept over a restart of the gateway; a revocation of all tokens of the account is for it too.
    let (token, path) = create(&bench, &viewer, "three", &["system:read"]);
    let sub = bench.get(&viewer, "/api/auth/me").is(200)["sub"].clone();
    let bench = Bench::open(bench.close(), Default::default());
    bench.get(&token, "/v1/system/info").is(200);
    let document = bench.get(&token, "/api/auth/me").is(200);
    assert_eq!((&document["token_name"], document.get("exp")), (&json!("three"), None));
    let revoke = format!("/v1/admin/users/{}/revoke-tokens", sub.as_str().unwrap());
    ends_after(&bench, &token, || {
        bench.call(&admin, "POST", &revoke, &Value::Null).is(204);
    });
    let refused = bench.get(&token, "/v1/system/info");
    assert_eq!(refused.problem(401), "token-revoked");
    assert_eq!(bench.get(&admin, &path).is(200)["revoked"], true);
    assert_eq!(bench.get(&expired(&bench), "/v1/nodes").problem(401), "token-expired");
}

#[test]
fn uses_are_noted_and_named_in_the_audit_log() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    let (node, _, _) = bench.node(71);
    let scopes = ["nodes:read", "nodes:write"];
    let (token, path) = create(&bench, &admin, "ci", &scopes);
    for _ in 0..20 {
        bench.get(&token, "/v1/nodes").is(200);
    }
    let mut heartbeat = beat(71, 1);
    heartbeat["node_id"] = json!(node);
    bench.call(&token, "POST", "/v1/nodes/heartbeat", &heartbeat).is(200);
    let change = json!({ "name": "Hill" });
    bench.call(&token, "PATCH", &format!("/v1/nodes/{node}"), &change).is(200);
    assert!(bench.get(&admin, &path).is(200)["last_used_at"].is_string());
    let document = bench.get(&admin, "/v1/admin/audit?limit=1000").is(200);
    let entries = document["items"].as_array().unwrap().iter();
    let named: Vec<_> = entries
        .filter(|entry| entry["token"] == "ci")
        .map(|entry| (entry["action"].as_str().unwrap(), entry["actor"].as_str().unwrap()))
        .collect();
    // Twenty reads have one entry, every change has its own.
    assert_eq!(named, [("node_patch", "admin"), ("nodes_list", "admin")]);
}
