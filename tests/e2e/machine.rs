//! A virtual machine that runs this very test binary as root.

use std::fmt::Write as _;
use std::sync::OnceLock;
use std::time::Duration;

use groundwave_test_data::fetched;

use crate::qemu;

/// Environment variable that is set inside the virtual machine.
const INSIDE: &str = "GROUNDWAVE_GUEST";
/// A virtual machine that runs longer than this is killed; an idle host needs some two minutes.
const LIMIT: Duration = Duration::from_secs(3600);

/// Runs the body of a stage in the virtual machine; outside, boots it once for all stages and
/// asserts that this one passed there.
pub fn stage(name: &str, body: impl FnOnce()) {
    static REPORT: OnceLock<String> = OnceLock::new();
    if std::env::var_os(INSIDE).is_some() {
        body();
        println!("passed: {name}");
        return;
    }
    let report = REPORT.get_or_init(run);
    println!("{report}");
    let passed = report.lines().any(|line| line.ends_with(&format!("passed: {name}")));
    assert!(passed, "{name} did not pass in the virtual machine: {}", why(report));
}

/// Failures in the virtual machine, and its progress until then.
fn why(report: &str) -> String {
    let guest = report.split("gateway.log:").next().unwrap_or_default();
    let lines: Vec<&str> = guest.lines().filter(|line| line.starts_with('[')).collect();
    let failed = guest.lines().skip_while(|line| !line.contains("panicked"));
    let far = lines.iter().rev().take(8).rev();
    far.copied().chain(failed).collect::<Vec<_>>().join("\n")
}

fn run() -> String {
    // Paths are the same inside, where there is no other way to them.
    let kernel = fetched("kernel").canonicalize().unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("job"), job()).unwrap();
    let console = qemu::run(qemu::command(&kernel, folder.path()), LIMIT);
    let read = |name: &str| {
        let bytes = std::fs::read(folder.path().join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let logs = ["gateway.log", "n1.log", "n2.log", "dnsmasq.log"];
    let logs: String = logs.iter().map(|name| format!("{name}:\n{}\n", read(name))).collect();
    let (stdout, stderr) = (read("stdout"), read("stderr"));
    format!("{stdout}\n{stderr}\n{logs}console:\n{console}")
}

/// Shell script that the virtual machine runs: this binary, with the stages in order.
fn job() -> String {
    let mut job = format!("export RUST_BACKTRACE=0 NO_COLOR=1 {INSIDE}=1\n");
    for (key, value) in std::env::vars() {
        if ["RUST_LOG", "GROUNDWAVE_"].iter().any(|start| key.starts_with(start)) {
            writeln!(job, "export {key}={}", qemu::quoted(&value)).unwrap();
        }
    }
    let binary = std::env::current_exe().unwrap();
    writeln!(job, "cd {}", qemu::quoted(env!("CARGO_MANIFEST_DIR"))).unwrap();
    let binary = qemu::quoted(&binary.display().to_string());
    let program = qemu::quoted(env!("CARGO_BIN_EXE_groundwave"));
    writeln!(job, "in_memory {binary} {program} || exit 1").unwrap();
    writeln!(job, "load mesh; load radio radios=3").unwrap();
    // Stages are named in their order, in which one thread runs them.
    writeln!(job, "exec {binary} stage_ --test-threads=1 --nocapture").unwrap();
    job
}
