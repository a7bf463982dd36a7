//! Schemathesis makes up requests from the interface document, valid and not, and checks every
//! answer against it: statuses, media types, schemas, and that nothing is a server error.

use groundwave_needs::needs;
use groundwave_systems::testing::fetched;

use super::server::Process;
use crate::support::root;

/// Requests per operation and phase; thousands in all.
const EXAMPLES: u32 = 250;

#[needs(schemathesis)]
#[test]
fn thousands_of_made_up_requests_find_nothing_undocumented() {
    let program = fetched("api/bin/schemathesis");
    let folder = tempfile::tempdir().unwrap();
    let server = Process::start(&folder.path().join("plan.db"));
    let url = format!("http://{}/openapi.json", server.address);
    let examples = EXAMPLES.to_string();
    let run = std::process::Command::new(program)
        .arg("--config-file")
        .arg(root().join("tests/it/planning/schemathesis.toml"))
        .args(["run", &url, "--max-examples", &examples])
        .args([
            "--phases",
            "examples,coverage,fuzzing,stateful",
            "--seed",
            "1",
        ])
        // A stream of a large coverage takes as long as the coverage.
        .args(["--request-timeout", "60", "--suppress-health-check", "all"])
        .args(["--warnings", "off", "--no-color", "--max-failures", "20"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&run.stdout);
    assert!(
        run.status.success(),
        "{told}{}",
        String::from_utf8_lossy(&run.stderr)
    );
    // The summary reads "N generated, N passed".
    let summary = told
        .lines()
        .find_map(|line| line.trim().split_once(" generated"));
    let cases: u32 = summary.map_or(0, |(count, _)| count.parse().unwrap_or(0));
    assert!(cases >= 5_000, "only {cases} cases: {told}");
}
