//! Requests made up from the interface document. Schemathesis has no Unix sockets: here the same
//! router is on a port.

use groundwave_needs::needs;

use super::Bench;
use crate::schemathesis::Run;

#[needs(schemathesis)]
#[test]
fn generated_requests_give_documented_answers_only() {
    let bench = Bench::new();
    std::fs::write(bench.folder.path().join("baseline.json"), "{\"offset\": 12}").unwrap();
    let run = Run {
        config: "tests/it/impair/schemathesis.toml",
        url: &format!("http://{}/api-docs/openapi.json", bench.listen_tcp()),
        examples: 400,
        // A lease of milliseconds has ended before the next request.
        more: &["--checks", "all", "--exclude-checks", "ensure_resource_availability"],
        least: 2_000,
    };
    run.assert(bench.folder.path());
}
