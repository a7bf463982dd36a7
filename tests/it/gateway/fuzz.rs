//! Requests made up from the document, once for each role.

use groundwave_io_gateway::firmware::FirmwareFolder;
use groundwave_needs::needs;
use groundwave_web_gateway::Settings;

use super::Bench;
use crate::schemathesis::Run;

fn fuzz(role: &str, examples: u32) {
    let images = tempfile::tempdir().unwrap();
    let bench = Bench::with(Settings {
        firmware: Some(FirmwareFolder::open(images.path()).unwrap()),
        ..Settings::default()
    });
    bench.node(91);
    let token = bench.login(role);
    let run = Run {
        config: "tests/it/gateway/schemathesis.toml",
        url: &format!("http://{}/openapi.json", bench.listen()),
        examples,
        more: &["--header", &format!("Authorization: Bearer {token}")],
        least: 3_000,
    };
    run.assert(bench.folder.path());
}

#[needs(schemathesis)]
#[test]
fn made_up_requests_of_an_admin() {
    fuzz("admin", 12);
}

#[needs(schemathesis)]
#[test]
fn made_up_requests_of_an_operator() {
    fuzz("operator", 6);
}

#[needs(schemathesis)]
#[test]
fn made_up_requests_of_a_viewer() {
    fuzz("viewer", 6);
}
