//! Schemathesis makes up requests from an interface document, valid and not, and checks every answer
//! against it.

use std::path::Path;
use std::process::Command;

use groundwave_test_data::fetched;

use crate::support::root;

/// Environment variable: factor of the requests made up at random, 1 or more. `make fuzz` sets it.
const TIMES: &str = "FUZZ_TIMES";

/// A run of Schemathesis.
pub struct Run<'a> {
    /// Configuration file, below the checkout.
    pub config: &'a str,
    /// Address of the document.
    pub url: &'a str,
    /// Requests made up at random for each operation and phase.
    pub examples: u32,
    /// Further arguments.
    pub more: &'a [&'a str],
    /// Least number of cases generated.
    pub least: u32,
}

impl Run<'_> {
    /// Asserts that no answer differs from the document; writes its files to `folder`.
    pub fn assert(&self, folder: &Path) {
        let times: u32 = std::env::var(TIMES).map_or(1, |times| times.parse().unwrap());
        let examples = (self.examples * times).to_string();
        let run = Command::new(fetched("api/bin/schemathesis"))
            .arg("--config-file")
            .arg(root().join(self.config))
            .args(["run", self.url, "--max-examples", &examples])
            .args(["--phases", "examples,coverage,fuzzing,stateful"])
            .args(["--seed", "1", "--suppress-health-check", "all"])
            // A stream of a large coverage takes as long as the coverage.
            .args(["--request-timeout", "60"])
            .args(["--warnings", "off", "--no-color", "--max-failures", "20"])
            .args(self.more)
            .current_dir(folder)
            .output()
            .unwrap();
        let output = String::from_utf8_lossy(&run.stdout);
        let errors = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{output}{errors}");
        // The summary reads "N generated, N passed".
        let summary = output.lines().find_map(|line| line.trim().split_once(" generated"));
        let cases: u32 = summary.map_or(0, |(count, _)| count.parse().unwrap_or(0));
        assert!(cases >= self.least, "only {cases} cases: {output}");
    }
}
