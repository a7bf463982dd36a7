//! Units for systemd: valid, and for the program as it is.

use std::process::Command;

use groundwave_needs::needs;

use crate::support::root;

/// Units that are shipped.
const UNITS: [&str; 4] = [
    "examples/systemd/groundwave-gateway.service",
    "examples/systemd/groundwave-agent.service",
    "examples/systemd/groundwave-planning.service",
    "web/impair/impaird.service",
];

#[needs(systemd)]
#[test]
fn units_are_valid() {
    let folder = tempfile::tempdir().unwrap();
    for unit in UNITS {
        let text = std::fs::read_to_string(root().join(unit)).unwrap();
        // The program is not installed here.
        let program = env!("CARGO_BIN_EXE_groundwave");
        let text = text.replace("/usr/bin/groundwave", program);
        let path = folder.path().join(unit.rsplit('/').next().unwrap());
        std::fs::write(&path, text).unwrap();
        let checked = Command::new("systemd-analyze")
            .args(["verify", "--man=no", "--generators=no"])
            .arg(&path)
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&checked.stderr);
        assert!(checked.status.success(), "{unit}: {message}");
        // Units of this machine may have faults of their own.
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(!message.contains(name), "{unit}: {message}");
    }
}

#[needs(systemd)]
#[test]
fn unit_with_a_wrong_key_gives_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrong.service");
    let text = "[Service]\nExecStart=/bin/true\nProtectSystem=perhaps\n";
    std::fs::write(&path, text).unwrap();
    let checked = Command::new("systemd-analyze")
        .args(["verify", "--man=no", "--generators=no"])
        .arg(&path)
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&checked.stderr);
    assert!(message.contains("wrong.service"), "{message}");
}
