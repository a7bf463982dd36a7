//! Power supplies: samples of nodes and users, and those of a NUT server with its dummy driver.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use groundwave_needs::needs;
use groundwave_web_gateway::Settings;
use serde_json::{Value, json};

use super::Bench;

const SAMPLES: &str = "/v1/power/ups/samples";

fn now() -> String {
    groundwave_http::time::rfc3339(groundwave_files::wall::wall_ns())
}

fn alerts(bench: &Bench) -> Vec<String> {
    let view = bench.world.view();
    let events = view.events.iter();
    events.filter_map(|event| event.data.get("about").cloned()).collect()
}

#[test]
fn samples_are_latest_and_history() {
    let bench = Bench::new();
    let (operator, viewer) = (bench.login("operator"), bench.login("viewer"));
    let (node, token, _) = bench.node(7);
    let earlier = groundwave_files::wall::wall_ns() - 60_000_000_000;
    let many = json!([
        { "ups_id": "hut", "ts": groundwave_http::time::rfc3339(earlier), "status": ["OL"],
          "battery_charge_pct": 80.0, "input_voltage_v": 230.5, "vendor": "ignored" },
        { "ups_id": "hut", "ts": now(), "status": ["OB", "LB"], "battery_charge_pct": 15.0 },
    ]);
    let document = bench.call(&token, "POST", SAMPLES, &many).is(202);
    assert_eq!(document["accepted"], 2);
    let one = json!({ "ups_id": "desk", "ts": now(), "power_w": 12.5 });
    bench.call(&operator, "POST", SAMPLES, &one).is(202);

    let listed = bench.get(&viewer, "/v1/power/ups").is(200);
    assert_eq!((&listed["total"], &listed["items"][0]["ups_id"]), (&json!(2), &json!("desk")));
    let hut = bench.get(&viewer, "/v1/power/ups/hut").is(200);
    assert_eq!((&hut["battery_charge_pct"], &hut["node_id"]), (&json!(15.0), &json!(node)));
    assert_eq!(
        (&hut["source"], &hut["stale"], &hut["input_voltage_v"]),
        (&json!("agent"), &json!(false), &Value::Null)
    );
    let path = "/v1/power/ups/hut/samples?metric=ups.battery_charge_pct";
    let series = bench.get(&viewer, path).is(200);
    let points = series["series"][0]["points"].as_array().unwrap();
    assert_eq!((points.len(), &points[0][1], &points[1][1]), (2, &json!(80.0), &json!(15.0)));
    let all = bench.get(&viewer, "/v1/power/ups/hut/samples?step_s=3600&agg=max").is(200);
    let names: Vec<_> = all["series"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["metric"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "ups.alarm",
            "ups.battery_charge_pct",
            "ups.forced_shutdown",
            "ups.input_voltage_v",
            "ups.low_battery",
            "ups.on_battery",
            "ups.overload"
        ]
    );
    assert!(alerts(&bench).contains(&"ups-low-battery".to_owned()));

    // A restart keeps the latest sample; only an admin removes a supply.
    let folder = bench.close();
    let again = Bench::open(folder, Settings::default());
    let admin = again.login("admin");
    assert_eq!(again.get(&admin, "/v1/power/ups/hut").is(200)["ts"], hut["ts"]);
    again.call(&admin, "DELETE", "/v1/power/ups/hut", &Value::Null).is(204);
    again.get(&admin, "/v1/power/ups/hut").problem(404);
    again.get(&admin, "/v1/power/ups/hut/samples").problem(404);
}

#[test]
fn a_bad_sample_is_named_and_keeps_no_other_out() {
    let bench = Bench::new();
    let operator = bench.login("operator");
    let sound = json!({ "ups_id": "hut", "ts": now() });
    let cases = [
        (json!({ "ups_id": "a b", "ts": now() }), "/1", 1),
        (json!({ "ups_id": "hut", "ts": "noon" }), "/1", 1),
        (json!({ "ups_id": "hut", "ts": "2999-01-01T00:00:00Z" }), "/1", 1),
        (json!({ "ups_id": "hut", "ts": now(), "load_pct": -1 }), "/1/load_pct", 2),
        (json!({ "ups_id": "hut", "ts": now(), "status": ["WARM"] }), "/1/status/0", 2),
    ];
    for (bad, pointer, accepted) in cases {
        let answer = bench.call(&operator, "POST", SAMPLES, &json!([sound, bad])).is(202);
        assert_eq!((&answer["accepted"], &answer["rejected_count"]), (&json!(accepted), &json!(1)));
        let rejected = &answer["rejected"][0];
        assert_eq!((&rejected["pointer"], &rejected["status"]), (&json!(pointer), &json!(422)));
    }
    let many: Vec<_> = (0..257).map(|_| sound.clone()).collect();
    bench.call(&operator, "POST", SAMPLES, &json!(many)).problem(422);
    assert_eq!(bench.get(&operator, "/v1/power/ups").is(200)["total"], 1);
}

#[test]
fn a_supply_of_another_source_keeps_no_other_supply_out() {
    let bench = Bench::new();
    let (operator, (_, token, _)) = (bench.login("operator"), bench.node(7));
    let sample = |ups_id: &str| json!({ "ups_id": ups_id, "ts": now(), "power_w": 5.0 });
    bench.call(&operator, "POST", SAMPLES, &sample("attic")).is(202);
    let many = json!([sample("attic"), sample("hut"), sample("attic")]);
    let answer = bench.call(&token, "POST", SAMPLES, &many).is(202);
    assert_eq!((&answer["accepted"], &answer["rejected_count"]), (&json!(1), &json!(2)));
    let pointers = answer["rejected"].as_array().unwrap().iter().map(|one| &one["pointer"]);
    assert_eq!(pointers.collect::<Vec<_>>(), ["/0", "/2"]);
    assert_eq!(answer["rejected"][0]["status"], 409);
    bench.get(&operator, "/v1/power/ups/hut").is(200);
    // Nothing recorded is no success.
    bench.call(&token, "POST", SAMPLES, &sample("attic")).problem(409);
}

/// A NUT server with one supply of the driver `dummy-ups`.
struct NutBed {
    folder: tempfile::TempDir,
    port: u16,
    driver: Child,
    server: Child,
}

fn program(path: &str, folder: &Path, arguments: &[&str]) -> Child {
    let mut command = Command::new(path);
    for key in ["NUT_CONFPATH", "NUT_STATEPATH", "NUT_ALTPIDPATH"] {
        command.env(key, folder);
    }
    let quiet = || Stdio::from(std::fs::File::create(folder.join("log")).unwrap());
    command.args(arguments).stdin(Stdio::null()).stdout(quiet()).stderr(quiet());
    command.spawn().unwrap()
}

impl NutBed {
    fn start(variables: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o640)).unwrap();
        };
        let dev = folder.path().join("rack.dev");
        write("rack.dev", variables);
        write("nut.conf", "MODE=netserver\n");
        let port_line = dev.display();
        write(
            "ups.conf",
            &format!(
                "maxretry = 3\n[rack]\n driver = dummy-ups\n mode = dummy-once\n port = {port_line}\n desc = \"Rack in the hut\"\n"
            ),
        );
        write("upsd.conf", &format!("LISTEN 127.0.0.1 {port}\nMAXAGE 15\n"));
        write("upsd.users", "");
        let driver =
            program("/lib/nut/dummy-ups", folder.path(), &["-D", "-a", "rack", "-u", "root"]);
        let server = program("/lib/nut/upsd", folder.path(), &["-D", "-u", "root"]);
        Self { folder, port, driver, server }
    }

    fn settings(&self) -> Settings {
        Settings {
            nut: Some(format!("127.0.0.1:{}", self.port).parse().unwrap()),
            ..Settings::default()
        }
    }

    fn log(&self) -> String {
        let log: PathBuf = self.folder.path().join("log");
        std::fs::read_to_string(log).unwrap_or_default()
    }
}

impl Drop for NutBed {
    fn drop(&mut self) {
        for child in [&mut self.driver, &mut self.server] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Polls until a supply is as wanted.
fn until(bench: &Bench, bed: &NutBed, condition: impl Fn(&Value) -> bool) -> Value {
    let viewer = bench.login("viewer");
    let mut state = Value::Null;
    for _ in 0..300 {
        let gateway = &bench.gateway;
        bench.runtime.block_on(gateway.nut.poll(&gateway.world, &gateway.history)).unwrap();
        state = bench.get(&viewer, "/v1/power/ups/rack").json();
        if condition(&state) {
            return state;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("never as wanted: {state}\n{}", bed.log());
}

#[needs(nut)]
#[test]
fn nut_server_gives_the_state_and_a_dead_driver_is_stale() {
    let line = "ups.status: OL CHRG\nbattery.charge: 90\nbattery.voltage: 13.4\nups.load: 23\n\
                ";
    let mut bed = NutBed::start(line);
    let bench = Bench::with(bed.settings());
    let state = until(&bench, &bed, |ups| ups["battery_charge_pct"] == 90.0);
    assert_eq!((&state["source"], &state["stale"]), (&json!("nut"), &json!(false)));
    assert_eq!(
        (&state["description"], &state["model"]),
        (&json!("Rack in the hut"), &json!("Dummy UPS"))
    );
    assert_eq!((&state["status"], &state["load_pct"]), (&json!(["OL", "CHRG"]), &json!(23.0)));
    let document = bench.get("", "/capabilities").is(200);
    assert_eq!(
        (&document["backends"]["nut"], &document["features"]["power"]),
        (&json!("cli"), &json!(true))
    );

    let low = line.replace("OL CHRG", "OB LB DISCHRG").replace("90", "12");
    std::fs::write(bed.folder.path().join("rack.dev"), low).unwrap();
    until(&bench, &bed, |ups| ups["battery_charge_pct"] == 12.0);
    let open_alerts = alerts(&bench);
    assert!(open_alerts.contains(&"ups-low-battery".to_owned()), "{open_alerts:?}");

    bed.driver.kill().unwrap();
    bed.driver.wait().unwrap();
    let stale = until(&bench, &bed, |ups| ups["stale"] == true);
    // The last sample stays.
    assert_eq!(stale["battery_charge_pct"], 12.0);
    bed.server.kill().unwrap();
    bed.server.wait().unwrap();
    until(&bench, &bed, |ups| ups["stale"] == true);
    let document = bench.get("", "/capabilities").is(200);
    assert_eq!(document["backends"]["nut"], "absent");
}
