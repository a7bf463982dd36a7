//! Every operation of the document, by every kind of caller.

use std::collections::BTreeMap;

use groundwave_gateway::account::AccountRole;
use groundwave_web_gateway::services::tokens::TokenKeys;
use groundwave_web_gateway::{document, operations};
use serde_json::{Value, json};

use super::{Bench, KEY, request};

/// Roles of callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Caller {
    Nobody,
    Viewer,
    Operator,
    Admin,
    NodeItself,
    NodeOther,
    Expired,
    WrongSignature,
    AlgNone,
    Revoked,
}

const CALLERS: [Caller; 10] = [
    Caller::Nobody,
    Caller::Viewer,
    Caller::Operator,
    Caller::Admin,
    Caller::NodeItself,
    Caller::NodeOther,
    Caller::Expired,
    Caller::WrongSignature,
    Caller::AlgNone,
    Caller::Revoked,
];

/// Line of `access.txt`.
struct Expected {
    /// Least role of users; `None` where no token is needed.
    role: Option<AccountRole>,
    node: bool,
    audited: bool,
    first_login: bool,
}

/// The fixture by method and path.
fn fixture() -> BTreeMap<(String, String), Expected> {
    let lines = include_str!("access.txt").lines().filter(|line| !line.starts_with('#'));
    let parse = |line: &str| {
        let mut words = line.split_whitespace();
        let mut next = || words.next().unwrap_or_else(|| panic!("incomplete line {line:?}"));
        let key = (next().to_owned(), next().to_owned());
        let role = next();
        let flags: Vec<&str> = words.collect();
        let (role, node) = match role.strip_suffix("+node") {
            Some(role) => (role, true),
            None => (role, false),
        };
        let role = match role {
            "none" => None,
            "viewer" => Some(AccountRole::Viewer),
            "operator" => Some(AccountRole::Operator),
            "admin" => Some(AccountRole::Admin),
            _ => panic!("unknown role in {line:?}"),
        };
        let expected = Expected {
            role,
            node: node || role.is_none(),
            audited: flags.contains(&"audited"),
            first_login: flags.contains(&"first-login"),
        };
        (key, expected)
    };
    lines.map(parse).collect()
}

#[test]
fn registered_rules_are_those_of_the_fixture() {
    let mut expected = fixture();
    for operation in operations() {
        let key = (operation.method.clone(), operation.path.clone());
        let what = format!("{} {}", key.0, key.1);
        let expected =
            expected.remove(&key).unwrap_or_else(|| panic!("{what} is not in access.txt"));
        let rule = operation.rule;
        assert_eq!(rule.role, expected.role, "{what}: role");
        assert_eq!(rule.nodes, expected.node, "{what}: node");
        let audited = rule.audited && operation.method != "GET";
        assert_eq!(audited, expected.audited, "{what}: audited");
        let early = rule.before_password_change;
        assert_eq!(early, expected.first_login, "{what}: first-login");
    }
    let missing: Vec<_> = expected.keys().collect();
    assert!(missing.is_empty(), "not registered: {missing:?}");
}

/// Status that the guard itself must answer; `None` where it must admit the caller.
fn expected(rule: &Expected, path: &str, caller: Caller) -> Option<u16> {
    let needed = rule.role?;
    let role = match caller {
        Caller::Nobody | Caller::Expired | Caller::WrongSignature => return Some(401),
        Caller::AlgNone | Caller::Revoked => return Some(401),
        Caller::NodeItself => return (!rule.node).then_some(403),
        Caller::NodeOther if !rule.node => return Some(403),
        Caller::NodeOther => return path.contains("{node_id}").then_some(404),
        Caller::Viewer => AccountRole::Viewer,
        Caller::Operator => AccountRole::Operator,
        Caller::Admin => AccountRole::Admin,
    };
    (role < needed).then_some(403)
}

#[test]
fn every_operation_by_every_caller() {
    let bench = Bench::new();
    let (own, node_token, _) = bench.node(71);
    let (_, other_token, _) = bench.node(72);
    let tokens = |caller: Caller| match caller {
        Caller::Nobody => String::new(),
        Caller::Viewer => bench.login("viewer"),
        Caller::Operator => bench.login("operator"),
        Caller::Admin => bench.login("admin"),
        Caller::NodeItself => node_token.clone(),
        Caller::NodeOther => other_token.clone(),
        Caller::Expired => issued(&bench, &KEY, 1_000),
        Caller::WrongSignature => issued(&bench, &[1; 32], bench.gateway.world.now_s()),
        Caller::AlgNone => alg_none(&bench.login("admin")),
        Caller::Revoked => {
            let token = bench.login("admin");
            bench.call(&token, "POST", "/api/auth/logout", &Value::Null).is(204);
            token
        }
    };
    let callers: Vec<(Caller, String)> = CALLERS.map(|caller| (caller, tokens(caller))).into();
    let document = document();
    let rules = fixture();
    let mut tried = 0;
    let mut wrong = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap();
            let rule = &rules[&(method.to_uppercase(), path.clone())];
            // These end the tokens of the test itself, or a stream that never ends.
            let harmful = ["logout", "change_password", "events", "node_rotate_credentials"];
            for (caller, token) in &callers {
                let must = expected(rule, path, *caller);
                if must.is_none() && harmful.contains(&id) {
                    continue;
                }
                let at = path
                    .replace("{node_id}", &own)
                    .replace("{mac}", "02:00:00:00:00:63")
                    .replace("{ip}", "10.42.0.99")
                    .replace("{ifname}", "lo");
                let at = fill(&at);
                // A body that no operation takes: who comes through changes nothing.
                let body = match method.as_str() {
                    "get" | "delete" => Value::Null,
                    _ => json!({ "\u{0}": [] }),
                };
                if method == "delete" && must.is_none() && at.contains(&own) {
                    continue;
                }
                let answer = bench.call(token, &method.to_uppercase(), &at, &body);
                tried += 1;
                let status = answer.status.as_u16();
                let through = !matches!(status, 401 | 403) || rule.role.is_none();
                let fits =
                    must.map_or(through && status < 500 || status == 503, |must| must == status);
                if !fits {
                    let body =
                        String::from_utf8_lossy(&answer.body).chars().take(120).collect::<String>();
                    wrong.push(format!(
                        "{method} {path} by {caller:?}: {status}, not {must:?}: {body}"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tried >= 600, "{tried} tried");
}

/// A path whose other parts are ids of nothing.
pub fn fill(path: &str) -> String {
    let mut filled = String::new();
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('{') {
        let (_, after) = after.split_once('}').unwrap();
        filled += before;
        filled += "00000000-0000-7000-8000-000000000000";
        rest = after;
    }
    filled + rest
}

fn issued(bench: &Bench, key: &[u8; 32], at_s: u64) -> String {
    let view = bench.world.view();
    let (id, account) = view.accounts.named("admin").unwrap();
    let keys = TokenKeys::new(key);
    let issued = keys.issue(id, account, AccountRole::Admin, uuid::Uuid::nil(), at_s);
    issued.unwrap().0
}

/// The same token, unsigned, with a header to match.
fn alg_none(token: &str) -> String {
    use base64::Engine as _;
    let base64 = base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let head = base64.decode(token.split('.').next().unwrap()).unwrap();
    let mut head: Value = serde_json::from_slice(&head).unwrap();
    head["alg"] = json!("none");
    format!("{}.{}.", base64.encode(head.to_string()), token.split('.').nth(1).unwrap())
}

#[test]
fn undocumented_operations_give_not_found() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    for path in [
        "/v1",
        "/v1/",
        "/v1/nodes/",
        "/v2/nodes",
        "/api/v1/deployments",
        "/admin",
        "/.env",
        "/v1/system",
    ] {
        bench.get(&admin, path).problem(404);
        bench.get("", path).problem(404);
    }
    bench.call(&admin, "PUT", "/v1/nodes", &Value::Null).problem(405);
    // Requests that are meant for another host are not answered.
    let mut rebound = request(&admin, "GET", "/v1/nodes", &Value::Null);
    rebound.headers_mut().insert("host", "evil.example".parse().unwrap());
    bench.send_from("127.0.0.1".parse().unwrap(), rebound).problem(403);
    // Two tokens are none.
    let mut twice = request(&admin, "GET", "/v1/nodes", &Value::Null);
    twice.headers_mut().append("authorization", "Bearer x".parse().unwrap());
    bench.send_from("127.0.0.1".parse().unwrap(), twice).problem(401);
}
