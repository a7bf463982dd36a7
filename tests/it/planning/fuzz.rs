//! Requests made up from the interface document.

use groundwave_needs::needs;

use super::server::Process;
use crate::schemathesis::Run;

#[needs(schemathesis)]
#[test]
fn generated_requests_give_documented_answers_only() {
    let folder = tempfile::tempdir().unwrap();
    let server = Process::start(&folder.path().join("plan.db"));
    let run = Run {
        config: "tests/it/planning/schemathesis.toml",
        url: &format!("http://{}/openapi.json", server.address),
        examples: 60,
        more: &[],
        least: 2_000,
    };
    run.assert(folder.path());
}
