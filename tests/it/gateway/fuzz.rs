//! Schemathesis makes up requests from the document, valid and not, once for each role, and checks
//! every answer against it.

use groundwave::gateway::Settings;
use groundwave_needs::needs;
use groundwave_systems::testing::fetched;

use super::Bench;
use crate::support::root;

fn fuzz(role: &str, examples: u32, least: u32) {
    let program = fetched("api/bin/schemathesis");
    let bench = Bench::with(Settings::default());
    bench.node(91);
    let token = bench.login(role);
    let url = format!("http://{}/openapi.json", bench.listen());
    let examples = examples.to_string();
    let run = std::process::Command::new(program)
        .arg("--config-file")
        .arg(root().join("tests/it/gateway/schemathesis.toml"))
        .args(["run", &url, "--max-examples", &examples])
        .args(["--header", &format!("Authorization: Bearer {token}")])
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
    assert!(cases >= least, "only {cases} cases: {told}");
}

#[needs(schemathesis)]
#[test]
fn made_up_requests_of_an_admin() {
    fuzz("admin", 60, 2_000);
}

#[needs(schemathesis)]
#[test]
fn made_up_requests_of_an_operator() {
    fuzz("operator", 20, 1_000);
}

#[needs(schemathesis)]
#[test]
fn made_up_requests_of_a_viewer() {
    fuzz("viewer", 20, 1_000);
}
