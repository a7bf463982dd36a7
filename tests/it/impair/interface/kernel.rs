//! The lines about what the kernel, or the backend, does not do.

use groundwave_impair::Extensions;
use groundwave_kernel::{Fake, Handle, Qdisc};
use serde_json::{Value, json};

use super::super::{Bench, INTERFACES};
use super::{ANY, PORT1, case, has_detail, prove, put};

#[test]
fn gilbert_elliott_is_an_extension() {
    let chain = |p: f64| {
        json!({ "loss": { "model": "gilbert-elliott", "p": p, "r": 0.1,
                          "one_minus_h": 0.0, "one_minus_k": 1.0 } })
    };
    let plain = Bench::new();
    prove(
        &plain,
        vec![
            put("applying it is an unsupported-configuration error", chain(0.01), 422, |v| {
                has_detail(v, "gilbert-elliott")
            }),
            put("all in [0.0, 1.0]", chain(1.5), 400, |v| has_detail(v, "loss.p")),
            case("it is reported as a divergence", "GET", PORT1, Value::Null, 200, |v| {
                v["divergence"][0]["kind"] == "unsupported"
            }),
        ],
    );
    let both = Extensions { gilbert_elliott: true, paretonormal: true };
    let extended = Bench::over(Fake::new(&INTERFACES), both);
    prove(
        &extended,
        vec![
            put("with the extension", chain(0.01), 200, |v| {
                v["impairment"]["loss"]["model"] == "gilbert-elliott"
            }),
            case("capabilities list it", "GET", "/v1/system", Value::Null, 200, |v| {
                v["capabilities"]["supports_loss_gilbert_elliott"] == true
                    && v["capabilities"]["supports_distributions"][3]["kind"] == "paretonormal"
            }),
        ],
    );
}

#[test]
fn what_the_kernel_refuses() {
    let bench = Bench::new();
    let was = json!({ "loss": { "model": "bernoulli", "pct": 5.0 } });
    bench.call("PUT", PORT1, &was);
    bench.kernel.set_denied(true);
    let delay = || json!({ "latency": { "kind": "constant", "duration": 1_000_000 } });
    prove(
        &bench,
        vec![
            put("403 | the daemon lacks CAP_NET_ADMIN", delay(), 403, |v| {
                has_detail(v, "CAP_NET_ADMIN")
            }),
            case("403 | DELETE as well", "DELETE", PORT1, Value::Null, 403, ANY),
            case("GET still reads", "GET", PORT1, Value::Null, 200, |v| {
                v["impairment"]["loss"]["pct"] == 5.0
            }),
        ],
    );
    bench.kernel.set_denied(false);
    bench.kernel.fail_at(1, 22);
    let refused = vec![put("422 | kernel rejection", delay(), 422, ANY)];
    prove(&bench, refused);
    let remainder = bench.call("GET", PORT1, &Value::Null).json();
    assert_eq!(remainder["impairment"], was, "a refused request changes nothing");
}

#[test]
fn a_kernel_without_netem_serves_the_rest() {
    let bench = Bench::over(Fake::new(&INTERFACES).without("netem"), Extensions::default());
    let delay = json!({ "latency": { "kind": "constant", "duration": 1_000_000 } });
    let rate = json!({ "rate": { "bps": 8_000_000, "burst_bytes": 16_000 },
                       "queue": { "limit": { "unit": "packets", "value": 50 } } });
    prove(
        &bench,
        vec![
            case("capabilities come from the kernel", "GET", "/v1/system", Value::Null, 200, |v| {
                let can = &v["capabilities"];
                can["supports_latency"] == false
                    && can["supports_rate"] == true
                    && can["supports_distributions"] == json!([])
                    && can["missing"][0]["module"] == "sch_netem"
            }),
            put("422 names the missing module", delay, 422, |v| has_detail(v, "sch_netem")),
            put("rate and queue work", rate, 200, |v| v["impairment"]["rate"]["bps"] == 8_000_000),
        ],
    );
}

#[test]
fn a_foreign_root_is_left_in_place_and_reported() {
    let bench = Bench::new();
    let foreign = Qdisc {
        kind: "htb".to_owned(),
        handle: Handle::new(0x8001, 0),
        parent: Handle::ROOT,
        ..Qdisc::default()
    };
    bench.kernel.insert_foreign(INTERFACES[0], foreign.clone());
    prove(
        &bench,
        vec![case(
            "a foreign root is left in place and reported as a divergence",
            "DELETE",
            PORT1,
            Value::Null,
            200,
            |v| v["divergence"][0]["kind"] == "foreign" && v["impairment"] == json!({}),
        )],
    );
    assert_eq!(bench.kernel.qdiscs(INTERFACES[0])[0].kind, "htb");
}
