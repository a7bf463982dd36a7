//! Tests of secrets in flows.

use groundwave_gateway::automation::{AutomationFlow, FlowStep, SEALED_PREFIX, SECRET_SHOWN};
use serde_json::{Value, json};

use super::flow_secrets::{
    Params, opened_message, opened_text, opened_url, opened_value, params_at, place, seal,
    seal_stored, without_secrets,
};
use super::vault::Vault;

fn flow(params: &Value) -> AutomationFlow {
    let steps = json!([
        { "step_id": "a", "type": "action", "kind": "webhook_out", "params": params },
        { "step_id": "b", "type": "action", "kind": "for_each_node",
            "params": { "action": { "kind": "webhook_out", "params": params } } },
    ]);
    serde_json::from_value(json!({ "name": "f", "steps": steps })).unwrap()
}

fn secrets(flow: &AutomationFlow) -> Vec<Params> {
    let of = |step: &FlowStep| params_at(&step.params, place(step).unwrap().1).unwrap().clone();
    flow.steps.iter().map(of).collect()
}

fn flow_of(url: &str, secret: &str) -> Value {
    let headers = json!({
        "X-Api-Key": secret, "X-Node": "{{/trigger/node_id}}", "Content-Type": "text/plain",
    });
    let body = json!({ "text": "x", "api_key": secret, "user": [{ "Token": secret }] });
    json!({
        "url": url, "authorization": secret, "signing_key": secret, "headers": headers, "body": body,
    })
}

#[test]
fn a_secret_is_sealed_hidden_and_kept_for_its_receiver() {
    let vault = Vault::new(&[7; 32]);
    let mut sealed = flow(&flow_of("https://hook.test/T0/token?key=1", "hush"));
    seal(&mut sealed, None, &vault).unwrap();
    let text = serde_json::to_string(&sealed).unwrap();
    assert!(!text.contains("token") && !text.contains("hush"), "{text}");
    for params in secrets(&sealed) {
        let url = params["url"].as_str().unwrap();
        assert_eq!(opened_url(url, &vault).unwrap(), "https://hook.test/T0/token?key=1");
        for value in [&params["authorization"], &params["headers"]["X-Api-Key"]] {
            assert_eq!(opened_text(value.as_str().unwrap(), &vault).unwrap(), "hush");
        }
        assert_eq!(params["headers"]["X-Node"], "{{/trigger/node_id}}");
        let (body, texts) = opened_value(&params["body"], &vault).unwrap();
        assert_eq!(body["user"][0]["Token"], "hush");
        assert_eq!(texts, ["hush"; 2]);
    }
    let view = without_secrets(&sealed);
    let expected = flow_of("https://hook.test/(set)", SECRET_SHOWN);
    assert_eq!(secrets(&view), vec![expected.as_object().unwrap().clone(); 2]);

    // What is shown keeps what is stored, for the same receiver only.
    let mut same = view.clone();
    seal(&mut same, Some(&sealed), &vault).unwrap();
    assert_eq!(same, sealed);
    let mut same = flow(&flow_of("https://HOOK.test:443/(set)", SECRET_SHOWN));
    seal(&mut same, Some(&sealed), &vault).unwrap();
    assert_eq!(secrets(&same)[0]["authorization"], secrets(&sealed)[0]["authorization"]);
    for url in ["https://other.test/", "http://hook.test:443/", "https://hook.test:444/(set)"] {
        let mut moved = flow(&flow_of(url, SECRET_SHOWN));
        assert!(seal(&mut moved, Some(&sealed), &vault).is_err(), "{url}");
    }
    let mut new = flow(&flow_of("https://hook.test/a", SECRET_SHOWN));
    assert!(seal(&mut new, None, &vault).is_err());
}

#[test]
fn secret_in_the_text_of_a_body_is_sealed_and_hidden() {
    let vault = Vault::new(&[7; 32]);
    let flow_of = |form: &str, url: &str| {
        let body = json!({ "form": form, "list": [url], "text": "a=1" });
        json!({ "url": "https://hook.test/", "body": body })
    };
    let mut sealed = flow(&flow_of("token=hush&x={{/trigger/x}}", "https://other.test/hush"));
    seal(&mut sealed, None, &vault).unwrap();
    let text = serde_json::to_string(&sealed).unwrap();
    assert!(!text.contains("hush") && text.contains("a=1"), "{text}");
    let (body, _) = opened_value(&secrets(&sealed)[0]["body"], &vault).unwrap();
    assert_eq!(body["form"], "token=hush&x={{/trigger/x}}");
    assert_eq!(body["list"][0], "https://other.test/hush");
    let view = without_secrets(&sealed);
    let expected = flow_of("(set){{/trigger/x}}", SECRET_SHOWN);
    assert_eq!(secrets(&view)[0], *expected.as_object().unwrap());
    let mut same = view;
    seal(&mut same, Some(&sealed), &vault).unwrap();
    assert_eq!(same, sealed);
    assert_eq!(seal_stored(&sealed, &vault), Ok(None));
    // A body that is a text.
    let mut sealed = flow(&json!({ "url": "https://hook.test/", "body": "token=hush&x=1" }));
    seal(&mut sealed, None, &vault).unwrap();
    assert!(!serde_json::to_string(&sealed).unwrap().contains("hush"));
    assert_eq!(secrets(&without_secrets(&sealed))[0]["body"], SECRET_SHOWN);
}

#[test]
fn secret_between_templates_is_sealed_and_hidden() {
    let vault = Vault::new(&[7; 32]);
    let params = json!({
        "url": "https://hook.test/", "authorization": "Bearer hush-{{/trigger/x}}",
        "headers": {"X-A": "hush {{/trigger/x}}"},
        "body": {"routing_key": "hush", "token": "hush {{/trigger/x}}"},
    });
    let mut sealed = flow(&params);
    seal(&mut sealed, None, &vault).unwrap();
    assert!(!serde_json::to_string(&sealed).unwrap().contains("hush"));
    let view = without_secrets(&sealed);
    for params in secrets(&view) {
        assert_eq!(params["authorization"], "(set){{/trigger/x}}");
        assert_eq!(params["headers"]["X-A"], "(set){{/trigger/x}}");
        let body = json!({"routing_key": "(set)", "token": "(set){{/trigger/x}}"});
        assert_eq!(params["body"], body);
    }
    let mut same = view.clone();
    seal(&mut same, Some(&sealed), &vault).unwrap();
    assert_eq!(same, sealed);
    let header = secrets(&sealed)[0]["headers"]["X-A"].as_str().unwrap().to_owned();
    let filled = header.replace("{{/trigger/x}}", "7");
    assert_eq!(opened_text(&filled, &vault).unwrap(), "hush 7");
    assert_eq!(seal_stored(&sealed, &vault), Ok(None));
}

#[test]
fn secret_variable_is_sealed_hidden_and_kept_for_its_receivers() {
    let vault = Vault::new(&[7; 32]);
    let with = |url: &str, token: &str| {
        let mut flow = flow(&json!({ "url": url }));
        flow.variables = serde_json::from_value(json!({"api_key": token, "n": "plain"})).unwrap();
        flow
    };
    let mut sealed = with("https://hook.test/", "hush");
    seal(&mut sealed, None, &vault).unwrap();
    let text = sealed.variables["api_key"].as_str().unwrap().to_owned();
    assert!(text.starts_with(SEALED_PREFIX) && sealed.variables["n"] == "plain");
    let body = json!({ "text": format!("key {text}!") });
    assert_eq!(opened_value(&body, &vault).unwrap().0, json!({ "text": "key hush!" }));
    let view = without_secrets(&sealed);
    assert_eq!(view.variables["api_key"], SECRET_SHOWN);
    let mut same = view;
    seal(&mut same, Some(&sealed), &vault).unwrap();
    assert_eq!(same.variables, sealed.variables);
    let mut moved = with("https://other.test/", SECRET_SHOWN);
    assert!(seal(&mut moved, Some(&sealed), &vault).is_err());
    let mut clear = with("https://hook.test/", "hush");
    clear = seal_stored(&clear, &vault).unwrap().unwrap();
    assert!(!serde_json::to_string(&clear.variables).unwrap().contains("hush"));
    assert_eq!(seal_stored(&clear, &vault), Ok(None));
}

#[test]
fn secrets_of_an_earlier_version_are_sealed_once() {
    let vault = Vault::new(&[7; 32]);
    let clear = flow(&flow_of("https://hook.test/T0/token", "hush"));
    let sealed = seal_stored(&clear, &vault).unwrap().unwrap();
    let text = serde_json::to_string(&sealed).unwrap();
    assert!(!text.contains("token") && !text.contains("hush"), "{text}");
    assert_eq!(seal_stored(&sealed, &vault), Ok(None));
    assert_eq!(without_secrets(&clear), without_secrets(&sealed));
}

#[test]
fn secrets_of_other_actions_are_sealed_hidden_and_kept_for_their_receivers() {
    let vault = Vault::new(&[7; 32]);
    let system = "00000000-0000-0000-0000-000000000001";
    let flow = |topic: &str, secret: &str| -> AutomationFlow {
        let id = |step_id: &str, kind: &str, params: Value| json!({ "step_id": step_id, "type": "action", "kind": kind, "params": params });
        let steps = json!([
            id(
                "a",
                "external_call",
                json!({ "system_id": system, "endpoint_id": system, "params": { "apiKey": secret, "n": 1 } })
            ),
            id(
                "b",
                "mqtt_publish",
                json!({ "topic": topic, "payload": { "auth": { "v": secret } } })
            ),
            id("c", "command", json!({ "kind": "join", "args": { "psk": secret, "ssid": "m" } })),
            id("d", "set_variable", json!({ "name": "token", "value": secret })),
            id(
                "e",
                "for_each_node",
                json!({ "action": { "kind": "command", "params": { "kind": "join", "args": { "password": secret } } } })
            ),
        ]);
        serde_json::from_value(json!({ "name": "f", "steps": steps })).unwrap()
    };
    let mut sealed = flow("t", "hush");
    seal(&mut sealed, None, &vault).unwrap();
    let text = serde_json::to_string(&sealed).unwrap();
    assert!(!text.contains("hush"), "{text}");
    assert!(text.contains("\"ssid\":\"m\"") && text.contains("\"n\":1"), "{text}");
    let (opened, texts) = opened_value(&serde_json::to_value(&sealed).unwrap(), &vault).unwrap();
    assert_eq!(opened, serde_json::to_value(flow("t", "hush")).unwrap());
    assert_eq!(texts, ["hush"; 5]);
    let view = without_secrets(&sealed);
    assert_eq!(view, flow("t", SECRET_SHOWN));
    let mut same = view;
    seal(&mut same, Some(&sealed), &vault).unwrap();
    assert_eq!(same, sealed);
    assert!(seal(&mut flow("other", SECRET_SHOWN), Some(&sealed), &vault).is_err());
    let stored = seal_stored(&flow("t", "hush"), &vault).unwrap().unwrap();
    assert_eq!(without_secrets(&stored), flow("t", SECRET_SHOWN));
    assert_eq!(seal_stored(&stored, &vault), Ok(None));
    let payload = sealed.steps[1].params["payload"].to_string();
    assert_eq!(opened_message(&payload, &vault).unwrap(), r#"{"auth":{"v":"hush"}}"#);
    assert_eq!(opened_message("{\"a\": 1}", &vault).unwrap(), "{\"a\": 1}");
}
