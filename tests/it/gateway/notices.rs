//! Notices of flows to real receivers: an MQTT broker, an SMTP server; kills and replays.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use groundwave_gateway::automation::ObserveGateway;
use groundwave_gateway::fleet::SetGatewayClock;
use groundwave_io_gateway::notice::{FlowServers, MqttBroker, MqttMessage, SmtpServer};
use groundwave_needs::needs;
use groundwave_outbound::Trust;
use groundwave_web_gateway::Settings;
use serde_json::{Value, json};

use super::automation::{
    FLOWS, Receiver, alert, create, flow, free_address, settings, step, trigger, until, webhook,
};
use super::process::{admin, start_with};
use super::{Bench, beat, request};
use crate::support::{certify, command, eventually};

/// A program that ends with the test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until something listens.
fn listens(address: SocketAddr) {
    let listens = eventually(|| std::net::TcpStream::connect(address).is_ok());
    assert!(listens, "nothing listens at {address}");
}

/// A broker with this configuration.
fn broker(folder: &Path, configuration: &str) -> Ended {
    let file = folder.join("mosquitto.conf");
    std::fs::write(&file, configuration).unwrap();
    let broker = Command::new("mosquitto").arg("-c").arg(&file).stderr(Stdio::null()).spawn();
    Ended(broker.unwrap())
}

/// A broker in clear at this address.
fn clear_broker(folder: &Path, address: SocketAddr) -> Ended {
    let port = address.port();
    let broker = broker(folder, &format!("listener {port} 127.0.0.1\nallow_anonymous true\n"));
    listens(address);
    broker
}

/// The next messages at a broker; it keeps those that are retained.
fn messages_at(address: SocketAddr, count: usize) -> Vec<Value> {
    let (port, count) = (address.port().to_string(), count.to_string());
    let output = Command::new("mosquitto_sub")
        .args(["-p", &port, "-t", "mesh/#", "-W", "60", "-q", "1"])
        .args(["-C", &count])
        .output()
        .unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let read = |line| serde_json::from_str(line).unwrap();
    output.lines().map(read).collect()
}

/// A mail server at this address that keeps messages in a folder.
fn mail_server(folder: &Path, address: SocketAddr) -> Ended {
    let server = Command::new("/usr/bin/python3")
        .args(["-m", "aiosmtpd", "-n", "-l", &address.to_string()])
        .args(["-c", "aiosmtpd.handlers.Mailbox"])
        .arg(folder)
        .spawn();
    let server = Ended(server.unwrap());
    listens(address);
    server
}

fn smtp(address: SocketAddr) -> SmtpServer {
    SmtpServer::new(&format!("smtp://{address}"), "gateway@mesh.test", None).unwrap()
}

/// A gateway with these servers.
fn bench(flow_servers: FlowServers) -> Bench {
    Bench::with(Settings { flow_servers, ..settings() })
}

/// Runs a flow of one action; it succeeds.
fn runs(bench: &Bench, flow: &Value) {
    let operator = bench.login("operator");
    let path = create(bench, &operator, flow);
    trigger(bench, &operator, &path);
    let state =
        || bench.get(&operator, FLOWS).json()["items"][0]["last_execution"]["state"].clone();
    until(bench, "the end", || state() != "running");
    let answer = bench.get(&operator, &format!("{path}/executions"));
    assert_eq!(state(), "succeeded", "{}", answer.json());
}

#[needs(mosquitto)]
#[test]
fn a_message_reaches_a_subscriber_of_a_real_broker() {
    let folder = tempfile::tempdir().unwrap();
    let address = free_address();
    let _broker = clear_broker(folder.path(), address);
    let url = format!("mqtt://{address}");
    let bench = bench(FlowServers {
        mqtt: Some(MqttBroker::new(&url, Trust::System, None).unwrap()),
        ..FlowServers::default()
    });
    let params =
        json!({ "topic": "mesh/notices", "retain": true, "payload": { "t": "{{/trigger/text}}" } });
    runs(&bench, &flow("mqtt", "mqtt_publish", params));
    // It was retained for this later subscriber.
    assert_eq!(messages_at(address, 1), [json!({ "t": "hello" })]);
}

#[needs(mosquitto, openssl)]
#[test]
fn a_broker_over_tls_is_trusted_by_its_authority_and_refused_without() {
    let folder = tempfile::tempdir().unwrap();
    certify(folder.path(), "authority", "broker", "IP:127.0.0.1");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let address = free_address();
    let passwords = folder.path().join("passwords");
    let output = Command::new("mosquitto_passwd")
        .args(["-b", "-c"])
        .arg(&passwords)
        .args(["gateway", "hush"])
        .status();
    assert!(output.unwrap().success());
    let configuration = format!(
        "user root\nlistener {} 127.0.0.1\ncertfile {}\nkeyfile {}\npassword_file {}\n",
        address.port(),
        file("broker.pem"),
        file("broker.key"),
        passwords.display()
    );
    let _broker = broker(folder.path(), &configuration);
    listens(address);
    let url = format!("mqtts://{address}");
    let pem = std::fs::read_to_string(file("authority.pem")).unwrap();
    let authorities = Trust::Authorities(pem);
    let broker = |trust: &Trust, password: &str| {
        let credentials = Some(("gateway".to_owned(), password.to_owned()));
        MqttBroker::new(&url, trust.clone(), credentials).unwrap()
    };
    let message = MqttMessage { topic: "mesh/notices", payload: "{}", retain: false };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let publish = |broker: MqttBroker| runtime.block_on(broker.publish("one", message));
    publish(broker(&authorities, "hush")).unwrap();
    let refused = publish(broker(&authorities, "wrong")).unwrap_err();
    assert!(refused.what.contains("the broker refused"), "{refused}");
    let refused = publish(broker(&Trust::System, "hush")).unwrap_err();
    assert!(refused.what.contains("certificate"), "{refused}");
}

#[needs(aiosmtpd)]
#[test]
fn an_e_mail_reaches_a_real_server() {
    let folder = tempfile::tempdir().unwrap();
    let mail = folder.path().join("mail");
    let address = free_address();
    let _server = mail_server(&mail, address);
    let bench = bench(FlowServers { smtp: Some(smtp(address)), ..FlowServers::default() });
    let params = json!({ "to": ["ops@mesh.test"], "subject": "{{/trigger/text}}", "body": "text {{/flow/name}}" });
    runs(&bench, &flow("mail", "email", params));
    let texts = texts_below(&mail);
    assert_eq!(texts.len(), 1, "{texts:?}");
    for part in ["Subject: hello", "To: ops@mesh.test", "From: gateway@mesh.test", "text mail"] {
        assert!(texts[0].contains(part), "{}", texts[0]);
    }
}

/// Texts of the messages in a mail folder.
fn texts_below(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder.join("new")).unwrap();
    entries.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()).collect()
}

#[needs(mosquitto, aiosmtpd)]
#[test]
fn presets_send_notices_by_webhook_e_mail_and_mqtt() {
    let folder = tempfile::tempdir().unwrap();
    let mail = folder.path().join("mail");
    let (broker_at, mail_at) = (free_address(), free_address());
    let _broker = clear_broker(folder.path(), broker_at);
    let _server = mail_server(&mail, mail_at);
    let receiver = Receiver::at(TcpListener::bind("127.0.0.1:0").unwrap());
    let url = format!("mqtt://{broker_at}");
    let bench = bench(FlowServers {
        smtp: Some(smtp(mail_at)),
        mqtt: Some(MqttBroker::new(&url, Trust::System, None).unwrap()),
        ..FlowServers::default()
    });
    let operator = bench.login("operator");
    let metadata = bench.get(&operator, "/v1/flows/builder/metadata").is(200);
    for preset in metadata["presets"].as_array().unwrap() {
        let mut flow = preset["flow"].clone();
        let name = flow["name"].as_str().unwrap().to_owned();
        for step in flow["steps"].as_array_mut().unwrap() {
            let id = step["step_id"].as_str().unwrap().to_owned();
            let params = &mut step["params"];
            match id.as_str() {
                "webhook" => params["url"] = format!("http://{}/", receiver.address).into(),
                // Kept for the subscriber, one message of each flow.
                "mqtt" => {
                    params["retain"] = true.into();
                    params["topic"] = format!("mesh/{name}").into();
                }
                "full" => params["for_s"] = 0.into(),
                _ => {}
            }
        }
        create(&bench, &operator, &flow);
    }
    silence_and_rejection(&bench);
    let readings = [("gateway.disk_used_pct".to_owned(), 97.0)].into();
    let answer = bench.gateway.world.submit(ObserveGateway { readings });
    bench.runtime.block_on(answer).unwrap();
    let is_empty = || bench.world.view().automation.deliveries.is_empty();
    until(&bench, "all deliveries", is_empty);
    let mut expected = [
        "disk of the gateway at 97.0 %".to_owned(),
        "node node-7 is silent: ".to_owned(),
        "registration of node-8 (02:00:00:00:00:08) rejected: unknown".to_owned(),
    ];
    expected.sort();
    let check = |mut texts: Vec<String>| {
        texts.sort();
        assert_eq!(texts.len(), 3, "{texts:?}");
        for (text, expected) in texts.iter().zip(&expected) {
            assert!(text.starts_with(expected.as_str()), "{text}, {expected}");
        }
    };
    let text = |body: &Value| body["text"].as_str().unwrap().to_owned();
    check(receiver.bodies().iter().map(text).collect());
    check(messages_at(broker_at, 3).iter().map(text).collect());
    let body = |text: String| {
        let (_, body) = text.split_once("\n\n").unwrap();
        body.trim().to_owned()
    };
    check(texts_below(&mail).into_iter().map(body).collect());
    let alerts = bench.get(&operator, "/v1/flows/alerts?state=open").is(200);
    assert_eq!(alerts["total"], 3);
}

/// A node falls silent, the registration of another one is rejected; the first node's id.
fn silence_and_rejection(bench: &Bench) -> String {
    let (node, token, _) = bench.node(7);
    bench.call(&token, "POST", "/v1/nodes/heartbeat", &beat(7, 1)).is(200);
    let registration_request = request("", "POST", super::REGISTER, &super::ask(8));
    let document = bench.send_from("10.41.0.8".parse().unwrap(), registration_request).is(202);
    let registration = document["registration_id"].as_str().unwrap();
    let reject = format!("/v1/admin/registrations/{registration}/reject");
    let admin = bench.login("admin");
    bench.call(&admin, "POST", &reject, &json!({ "reason": "unknown" })).is(200);
    // A minute and more of silence, as the gateway's clock has it.
    let now_ns = bench.gateway.world.now_ns() + 70_000_000_000;
    let document = bench.gateway.world.submit(SetGatewayClock { now_ns });
    bench.runtime.block_on(document).unwrap();
    node
}

#[test]
fn a_kill_loses_and_doubles_no_notice_and_a_replay_sends_none() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("flows.gwlog");
    let address = free_address();
    let options = ["--allow-target", "127.0.0.1"];
    let server = start_with(folder.path(), "info", Stdio::piped(), &options);
    let token = admin(&server);
    let (status, flow_document) = server.post(&token, FLOWS, &webhook("hook", address));
    assert_eq!(status, 201, "{flow_document}");
    let path = format!("{FLOWS}/{}", flow_document["flow_id"].as_str().unwrap());
    for _ in 0..5 {
        assert_eq!(server.post(&token, &format!("{path}/trigger"), &Value::Null).0, 202);
    }
    // Killed without a warning: attempts are in flight or wait.
    drop(server);
    let receiver = Receiver::at(TcpListener::bind(address).unwrap());
    let record = ["--record", log.to_str().unwrap()];
    let options = [&options[..], &record[..]].concat();
    let mut server = start_with(folder.path(), "info", Stdio::piped(), &options);
    let remainder = || server.ask(&token, "GET", "/v1/flows/deliveries", &Value::Null).1;
    assert!(eventually(|| remainder()["total"] == 0), "{}", remainder());
    let (_, answer) = server.ask(&token, "GET", &format!("{path}/executions"), &Value::Null);
    assert_eq!(answer["total"], 5);
    for execution in answer["items"].as_array().unwrap() {
        assert_eq!(execution["state"], "succeeded", "{execution}");
    }
    server.end();
    let counts = receiver.counts();
    assert_eq!((counts.len(), counts.values().max()), (5, Some(&1)), "{counts:?}");
    let replayed =
        command(&["replay", log.to_str().unwrap(), "--check", "--json"]).output().unwrap();
    let error = String::from_utf8_lossy(&replayed.stderr);
    assert!(replayed.status.success(), "{error}");
    let answer: Value = serde_json::from_slice(&replayed.stdout).unwrap();
    assert!(answer["marks_compared"].as_u64().unwrap() >= 1, "{answer}");
    assert_eq!(receiver.counts(), counts);
}

#[test]
fn a_rejected_registration_and_a_silent_node_open_alerts() {
    let bench = Bench::with(settings());
    let operator = bench.login("operator");
    let sends = |events: &[&str], message: &str| {
        let mut flow = alert(events[0]);
        flow["steps"][0] = step("go", "trigger", "node_event", json!({ "events": events }));
        flow["steps"][1]["params"] = json!({ "message": message, "key": "{{/trigger/event}}" });
        create(&bench, &operator, &flow);
    };
    sends(&["offline"], "{{/trigger/node_name}} is silent");
    sends(&["rejected"], "{{/trigger/hostname}}: {{/trigger/reason}}");
    let node = silence_and_rejection(&bench);
    let alerts = bench.get(&operator, "/v1/flows/alerts").is(200);
    let items = alerts["items"].as_array().unwrap();
    let messages: Vec<_> = items.iter().map(|alert| alert["message"].as_str().unwrap()).collect();
    assert_eq!(messages, ["node-8: unknown", "node-7 is silent"]);
    assert_eq!(items[1]["node_id"], node);
}
