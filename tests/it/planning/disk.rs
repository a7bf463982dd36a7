//! Disks without space and disks that fail, under the planning server as a process.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};

use groundwave_needs::needs;

use super::server::Process;
use crate::support::{command, eventually, launcher};

/// Starts a server over `folder` after the shell ran `prepare`.
fn start(folder: &Path, prepare: &str) -> Process {
    let program = command(&[]).get_program().to_owned();
    let arguments = ["serve", "planning", "--bind", "127.0.0.1:0", "--db", "plan.db"];
    let mut command = launcher("unshare");
    command
        .args(["-m", "sh", "-c"])
        .arg(format!("{prepare} && cd disk && exec \"$0\" \"$@\""))
        .arg(program)
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "1");
    Process::of(command)
}

impl Process {
    /// Asks; the status and the whole answer.
    fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let (address, length) = (&self.address, body.len());
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer)
    }

    fn deploy(&self, name: &str) -> (u16, String) {
        let body = format!("{{\"name\": \"{name}\"}}");
        self.ask("POST", "/api/v1/deployments", &body)
    }

    /// The disk as the server sees it.
    fn disk(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root", self.child.id()))
    }
}

#[needs(small_disk)]
#[test]
fn a_full_disk_is_507_and_the_server_goes_on_by_itself_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().join("disk");
    fs::create_dir(&disk).unwrap();
    // A store with something in it, and then a disk that has no space beside it.
    let server = start(folder.path(), "true");
    assert_eq!(server.deploy("before").0, 201);
    server.end();
    let bytes = fs::metadata(disk.join("plan.db")).unwrap().len();
    let size_kib = bytes.div_ceil(1024) + 8 * 1024;
    let prepare = format!(
        "cp disk/plan.db . && mount -t tmpfs -o size={size_kib}k small disk && mv plan.db disk && \
         (cat /dev/zero > disk/fill 2>/dev/null || true)"
    );
    let server = start(folder.path(), &prepare);
    for _ in 0..3 {
        let (status, answer) = server.deploy("refused");
        assert_eq!(status, 507, "{answer}");
        assert!(answer.to_lowercase().contains("retry-after: 5"), "{answer}");
    }
    let (status, answer) = server.ask("GET", "/readyz", "");
    assert!(status == 503 && answer.contains("storage: full"), "{answer}");
    let (status, answer) = server.ask("GET", "/api/v1/deployments", "");
    assert!(status == 200 && answer.contains("before"), "{answer}");
    let fill = disk.strip_prefix("/").unwrap().join("fill");
    fs::remove_file(server.disk().join(fill)).unwrap();
    // Noticed without a write.
    assert!(eventually(|| server.ask("GET", "/readyz", "").0 == 200));
    assert_eq!(server.deploy("after").0, 201);
    let (_, answer) = server.ask("GET", "/api/v1/deployments", "");
    assert!(answer.contains("after") && !answer.contains("refused"), "{answer}");
    server.end();
}

#[needs(small_disk)]
#[test]
fn a_disk_that_fails_ends_the_server_with_a_code_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("disk")).unwrap();
    let server = start(folder.path(), "true");
    assert_eq!(server.deploy("before").0, 201);
    server.end();
    // The journal cannot be written, and not for want of space.
    let journal = folder.path().join("disk/plan.db.journal.0");
    fs::create_dir(&journal).unwrap();
    let mut server = start(folder.path(), "true");
    let (status, answer) = server.deploy("lost");
    assert_eq!(status, 503, "{answer}");
    assert_eq!(server.child.wait().unwrap().code(), Some(3));
    // The supervisor's restart, once the disk works.
    fs::remove_dir(&journal).unwrap();
    let server = start(folder.path(), "true");
    let (_, answer) = server.ask("GET", "/api/v1/deployments", "");
    assert!(answer.contains("before") && !answer.contains("lost"), "{answer}");
    assert_eq!(server.deploy("after").0, 201);
    server.end();
}
