//! Fuzz targets of bodies, tokens and answers over HTTP; those of files and the kernel are in the io
//! crate.

use groundwave_fuzz::fuzz_target;
use groundwave_http::json_body::read;
use groundwave_http::{Problem, time};
use groundwave_impair::Impairment;
use groundwave_model::radio::Station;
use groundwave_protocol::Heartbeat;
use groundwave_protocol::WgRegister;
use groundwave_web_gateway::services::tokens::TokenKeys;
use groundwave_web_testbed::wire::Testbed;

/// A token in three parts, whose signature is wrong.
const TOKEN: &[u8] = b"eyJhbGciOiJIUzI1NiIsImtpZCI6IjAwMDAwMDAwIiwidHlwIjoiSldUIn0.\
    eyJpc3MiOiJncm91bmR3YXZlIiwiYXVkIjoiZ3JvdW5kd2F2ZSIsInN1YiI6ImEiLCJleHAiOjF9.\
    c2lnbmF0dXJl";

fuzz_target!(json_bodies, Vec::new(), |bytes: &[u8]| {
    drop(read::<Heartbeat>(bytes));
    drop(read::<WgRegister>(bytes));
    drop(read::<Station>(bytes));
    drop(read::<Impairment>(bytes));
    if let Err(problem) = read::<serde_json::Value>(bytes) {
        assert_eq!(problem.status, 400);
    }
});
fuzz_target!(tokens, vec![TOKEN.to_vec()], |bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let keys = TokenKeys::new(&[7; 32]);
    assert!(keys.verify(&text, 1_700_000_000).is_err());
});
fuzz_target!(
    problems,
    vec![
        br#"{"type":"about:blank","title":"Not Found","status":404,"detail":"no node 7"}"#.to_vec()
    ],
    |bytes: &[u8]| {
        if let Ok(problem) = serde_json::from_slice::<Problem>(bytes) {
            drop(serde_json::to_vec(&problem));
        }
        drop(serde_json::from_slice::<Testbed>(bytes));
        drop(time::read("at", &String::from_utf8_lossy(bytes)));
    }
);
