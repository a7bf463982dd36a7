//! The server as a process: started, killed, measured.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::nodes::OVERLAY;

/// A running server.
pub struct Server {
    child: Child,
    addresses: [String; 2],
}

/// An address of this machine that is free now.
fn free() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").to_string()
}

impl Server {
    /// Starts both interfaces over the store of a folder.
    pub fn start(folder: &Path) -> Self {
        Self::start_at(folder, [free(), free()])
    }

    /// The same at the addresses of the planner and the gateway.
    pub fn start_at(folder: &Path, addresses: [String; 2]) -> Self {
        let [planner, gateway] = &addresses;
        let mut child = Command::new(env!("CARGO_BIN_EXE_groundwave"))
            .args(["serve", "--tunnel", "off", "--flat-earth", "--bind", planner])
            .args(["--gateway-bind", gateway, "--overlay", OVERLAY])
            .arg("--db")
            .arg(folder.join("world.db"))
            .arg("--state")
            .arg(folder.join("state"))
            .env("NO_COLOR", "1")
            .env("RUST_LOG", "info")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let mut said = String::new();
        loop {
            let line =
                lines.next().unwrap_or_else(|| panic!("the server ended: {said}")).expect("text");
            if line.contains("gateway listening on") {
                break;
            }
            said += &line;
        }
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, addresses }
    }

    /// Addresses of the planner and the gateway.
    pub fn addresses(&self) -> [String; 2] {
        self.addresses.clone()
    }

    /// Ends it by signal 9.
    pub fn kill(&mut self) {
        self.child.kill().expect("a process of ours");
        self.child.wait().expect("a process of ours");
    }

    /// Resident memory, MiB, and open descriptors.
    pub fn use_now(&self) -> (f64, usize) {
        let process = format!("/proc/{}", self.child.id());
        let status = std::fs::read_to_string(format!("{process}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        let descriptors = std::fs::read_dir(format!("{process}/fd")).map_or(0, Iterator::count);
        (kib.unwrap_or(0.0) / 1024.0, descriptors)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
