//! Schemathesis makes up requests from the interface document, valid and not, and checks every
//! answer against it. It speaks no Unix sockets: here the same router is on a port.

use groundwave_needs::needs;
use groundwave_systems::testing::fetched;

use super::Bench;
use crate::support::root;

/// Requests per operation and phase.
const EXAMPLES: u32 = 800;

#[needs(schemathesis)]
#[test]
fn thousands_of_made_up_requests_find_nothing_undocumented() {
    let program = fetched("api/bin/schemathesis");
    let bench = Bench::new();
    std::fs::write(
        bench.folder.path().join("baseline.json"),
        "{\"offset\": 12}",
    )
    .unwrap();
    let url = format!("http://{}/api-docs/openapi.json", bench.listen_tcp());
    let examples = EXAMPLES.to_string();
    let run = std::process::Command::new(program)
        .arg("--config-file")
        .arg(root().join("tests/it/impair/schemathesis.toml"))
        .args(["run", &url, "--checks", "all", "--max-examples", &examples])
        .args([
            "--phases",
            "examples,coverage,fuzzing,stateful",
            "--seed",
            "1",
        ])
        .args(["--request-timeout", "60", "--suppress-health-check", "all"])
        .args(["--warnings", "off", "--no-color", "--max-failures", "20"])
        .current_dir(bench.folder.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&run.stdout);
    let errors = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{told}{errors}");
    // The summary reads "N generated, N passed".
    let summary = told
        .lines()
        .find_map(|line| line.trim().split_once(" generated"));
    let cases: u32 = summary.map_or(0, |(count, _)| count.parse().unwrap_or(0));
    assert!(cases >= 2_000, "only {cases} cases: {told}");
}
