//! Processes of containers, asked of the programs that run them.

use std::io::ErrorKind;
use std::process::{Command, Stdio};

/// Programs that know containers by their names, in the order in which they are asked.
const PROGRAMS: [&str; 3] = ["docker", "podman", "nerdctl"];

/// Id of the first process of a running container.
///
/// # Errors
/// The value found and the values allowed, with the answers of the programs: without one of them, for an
/// unknown container and for one that does not run.
pub fn container_pid(name: &str) -> Result<u32, String> {
    container_pid_by(&PROGRAMS, name)
}

fn container_pid_by(programs: &[&str], name: &str) -> Result<u32, String> {
    let invalid = |found: String, allowed: &str| {
        Err(format!("invalid container {name}: found {found}, allowed {allowed}"))
    };
    // It would be an option of the program.
    if name.is_empty() || name.starts_with('-') {
        return invalid(format!("{name:?}"), "a name that does not begin with '-'");
    }
    let mut answers = Vec::new();
    for program in programs {
        let mut command = Command::new(program);
        command.args(["inspect", "--format", "{{.State.Pid}}", name]).stdin(Stdio::null());
        match command.output() {
            Err(err) if err.kind() == ErrorKind::NotFound => {}
            Err(err) => answers.push(format!("{program}: {err}")),
            Ok(output) if output.status.success() => {
                let text = String::from_utf8_lossy(&output.stdout);
                match text.trim().parse::<u32>() {
                    Ok(pid @ 1..) => return Ok(pid),
                    _ => answers.push(format!("{program}: process {:?}", text.trim())),
                }
            }
            Ok(output) => {
                let text = String::from_utf8_lossy(&output.stderr);
                answers.push(format!("{program}: {}", text.lines().next().unwrap_or_default()));
            }
        }
    }
    if answers.is_empty() {
        let absent = format!("none of the programs {}", programs.join(", "));
        return invalid(absent, "one of them on this machine, or pid:N in place of the container");
    }
    invalid(format!("\"{}\"", answers.join("; ")), "a running container")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn first_program_with_the_container_gives_its_process() {
        let folder = tempfile::tempdir().unwrap();
        let program = |name: &str, script: &str| {
            let file = folder.path().join(name);
            std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
            file.display().to_string()
        };
        let unknown = program("unknown", "echo 'no such object' >&2; exit 1");
        let inspection = "[ \"$*\" = 'inspect --format {{.State.Pid}} web-1' ] && echo 4321";
        let running = program("running", inspection);
        let stopped = program("stopped", "echo 0");
        let of = |programs: &[&str], name: &str| container_pid_by(programs, name);
        assert_eq!(of(&["/absent/docker", &unknown, &running], "web-1"), Ok(4321));
        let error = of(&[&unknown, &stopped], "web-1").unwrap_err();
        assert!(error.contains("no such object") && error.contains("process \"0\""), "{error}");
        assert!(error.ends_with("allowed a running container"), "{error}");
        let error = of(&["/absent/docker"], "web-1").unwrap_err();
        assert!(error.contains("found none of the programs /absent/docker"), "{error}");
        for name in ["", "--all"] {
            assert!(of(&[&running], name).unwrap_err().contains("invalid container"), "{name}");
        }
    }
}
