//! `babeld` of a node: started once, informed of new interfaces, queried for its routes over its
//! control socket.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::Ipv6Addr;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::sys::socket;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, socket};

use super::error::TestbedError;
use super::namespace::inside;

/// Package that provides it.
const PACKAGE_HINT: &str = "Debian: apt-get install babeld";
/// Longest time to an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// Configuration of an interface: links are rated by lost hellos, none is preferred.
const KIND: &str = "type wireless hello-interval 1 update-interval 4";

/// A route installed by babeld.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Destination host, without a prefix length.
    pub host: String,
    /// Metric.
    pub metric: u32,
    /// Link-local address of the next hop.
    pub via: Option<Ipv6Addr>,
    /// Output interface.
    pub interface: String,
}

/// A routing program that this process has started.
#[derive(Debug, Clone)]
pub struct RoutingProcess {
    has_ended: Arc<AtomicBool>,
}

impl RoutingProcess {
    fn of(mut child: Child) -> Self {
        let has_ended = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&has_ended);
        // The exit status must be collected.
        std::thread::spawn(move || {
            let _ = child.wait();
            ended.store(true, Ordering::Release);
        });
        Self { has_ended }
    }

    /// `true` once it has ended.
    pub fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }
}

/// Files of the babeld of one node.
#[derive(Debug, Clone)]
pub struct Babel {
    netns: PathBuf,
    socket: PathBuf,
    pid: PathBuf,
    log: PathBuf,
    state: PathBuf,
}

impl Babel {
    /// The babeld of the node `name`, with its files in `folder`.
    pub fn of(folder: &Path, netns: &Path, name: &str) -> Self {
        let file = |ending: &str| folder.join(format!("babeld-{name}.{ending}"));
        Self {
            netns: netns.to_owned(),
            socket: file("sock"),
            pid: file("pid"),
            log: file("log"),
            state: file("state"),
        }
    }

    /// Presence of the process: a babeld in the namespace of the node. Its number may be that of another one by now.
    pub fn runs(&self) -> bool {
        let pid = fs::read_to_string(&self.pid).unwrap_or_default();
        let process = Path::new("/proc").join(pid.trim());
        let name = fs::read_to_string(process.join("comm"));
        let identity =
            |file: &Path| fs::metadata(file).ok().map(|facts| (facts.dev(), facts.ino()));
        let own = identity(&self.netns);
        name.is_ok_and(|name| name.trim() == "babeld")
            && own.is_some()
            && identity(&process.join("ns/net")) == own
    }

    /// Starts babeld on these interfaces; it announces `address`.
    pub fn start(
        &self,
        address: std::net::Ipv4Addr,
        interfaces: &[String],
    ) -> Result<RoutingProcess, TestbedError> {
        let text = |path: &Path| path.display().to_string();
        for file in [&self.socket, &self.pid] {
            // Left by a dead process: babeld would refuse to start.
            let _ = fs::remove_file(file);
        }
        let socket = format!("local-path-readwrite {}", text(&self.socket));
        let local = format!("redistribute local ip {address}/32 allow");
        let mut words = vec!["-S".to_owned(), text(&self.state), "-I".to_owned(), text(&self.pid)];
        words.extend(["-L".to_owned(), text(&self.log), "-c".to_owned(), "/dev/null".to_owned()]);
        for line in [socket.as_str(), &format!("default {KIND}"), &local, "redistribute local deny"]
        {
            words.extend(["-C".to_owned(), line.to_owned()]);
        }
        words.extend(interfaces.iter().cloned());
        let started = inside(&self.netns, || {
            // In a process group of its own: an interrupt of the controller must not reach it.
            Command::new("babeld")
                .args(&words)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .process_group(0)
                .spawn()
        })?;
        let started = started.map_err(|source| TestbedError::Program {
            program: "babeld".to_owned(),
            hint: PACKAGE_HINT,
            source,
        });
        Ok(RoutingProcess::of(started?))
    }

    /// Removes the files of a process that has ended.
    pub fn remove_files(&self) {
        for file in [&self.socket, &self.pid, &self.log, &self.state] {
            // A node with another protocol has none.
            let _ = fs::remove_file(file);
        }
    }

    /// Adds interfaces to a running babeld.
    pub fn add_interfaces(&self, interfaces: &[String]) -> Result<(), TestbedError> {
        for interface in interfaces {
            self.ask(&format!("interface {interface} {KIND}"))?;
        }
        Ok(())
    }

    /// The installed routes.
    pub fn routes(&self) -> Result<Vec<Route>, TestbedError> {
        Ok(self.ask("dump")?.iter().filter_map(|line| parse(line)).collect())
    }

    /// Sends a command; returns the lines before the `ok`.
    fn ask(&self, question: &str) -> Result<Vec<String>, TestbedError> {
        let ask = || -> std::io::Result<Vec<String>> {
            let mut stream = connect(&self.socket)?;
            stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
            stream.set_write_timeout(Some(ANSWER_TIMEOUT))?;
            let mut lines = BufReader::new(stream.try_clone()?).lines();
            let mut until = |found: &mut Vec<String>| -> std::io::Result<()> {
                for line in lines.by_ref() {
                    let line = line?;
                    match line.as_str() {
                        "ok" => return Ok(()),
                        _ if line.starts_with("bad") || line.starts_with("no") => {
                            return Err(std::io::Error::other(line));
                        }
                        _ => found.push(line),
                    }
                }
                Err(std::io::ErrorKind::UnexpectedEof.into())
            };
            // babeld greets first.
            until(&mut Vec::new())?;
            stream.write_all(format!("{question}\n").as_bytes())?;
            let mut found = Vec::new();
            until(&mut found)?;
            Ok(found)
        };
        ask().map_err(TestbedError::file("ask babeld at", &self.socket))
    }
}

/// Connects to a socket, without a wait for a program that takes no connections: babeld lets two wait.
fn connect(path: &Path) -> std::io::Result<UnixStream> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let socket = socket(AddressFamily::Unix, SockType::Stream, flags, None)?;
    socket::connect(socket.as_raw_fd(), &UnixAddr::new(path)?)?;
    let stream = UnixStream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

/// Metric of a route that was withdrawn: babeld has it installed as unreachable until it expires (RFC 8966,
/// section 3.5.3).
const INFINITE_METRIC: u32 = 0xffff;

/// An installed route in a line of a dump: `add route … prefix 10.77.0.3/32 … installed yes …
/// metric 512 … if to-b`. None that was withdrawn.
pub fn parse(line: &str) -> Option<Route> {
    let mut words = line.split_whitespace();
    if (words.next()?, words.next()?) != ("add", "route") {
        return None;
    }
    let words: Vec<&str> = words.collect();
    let after = |key: &str| {
        let at = words.iter().position(|word| *word == key)?;
        words.get(at + 1).copied()
    };
    if after("installed")? != "yes" {
        return None;
    }
    let (host, _) = after("prefix")?.split_once('/')?;
    let metric = after("metric")?.parse().ok().filter(|metric| *metric < INFINITE_METRIC)?;
    Some(Route {
        host: host.to_owned(),
        metric,
        via: after("via").and_then(|via| via.parse().ok()),
        interface: after("if")?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A process of the name babeld, which runs until its input is closed.
    fn another_babeld(folder: &Path) -> Child {
        let program = folder.join("babeld");
        fs::write(&program, "#!/bin/sh\nread line\n").unwrap();
        fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        Command::new(program).stdin(Stdio::piped()).spawn().unwrap()
    }

    fn until(mut is_so: impl FnMut() -> bool) {
        let mut looks = (0..10_000).map(|_| std::thread::sleep(Duration::from_millis(1)));
        assert!(looks.any(|()| is_so()), "in ten seconds");
    }

    #[test]
    fn babeld_of_another_namespace_is_not_that_of_the_node() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let mut child = another_babeld(folder);
        fs::write(folder.join("babeld-a.pid"), format!("{}\n", child.id())).unwrap();
        let runs = |netns: &Path| Babel::of(folder, netns, "a").runs();
        let comm = format!("/proc/{}/comm", child.id());
        // Until the program is executed, the process has the name of this one.
        until(|| fs::read_to_string(&comm).is_ok_and(|name| name.trim() == "babeld"));
        assert!(runs(Path::new("/proc/self/ns/net")));
        assert!(!runs(folder), "its number was that of a babeld elsewhere");
        assert!(!runs(&folder.join("gone")));
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(!runs(Path::new("/proc/self/ns/net")));
    }

    #[test]
    fn babeld_that_takes_no_connection_gives_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let babel = Babel::of(folder.path(), Path::new("/proc/self/ns/net"), "a");
        let flags = SockFlag::SOCK_CLOEXEC;
        let listener = socket(AddressFamily::Unix, SockType::Stream, flags, None).unwrap();
        let address = UnixAddr::new(&babel.socket).unwrap();
        socket::bind(listener.as_raw_fd(), &address).unwrap();
        socket::listen(&listener, socket::Backlog::new(1).unwrap()).unwrap();
        let mut waiting = Vec::new();
        let refused = loop {
            match connect(&babel.socket) {
                Ok(stream) => waiting.push(stream),
                Err(err) => break err,
            }
        };
        assert_eq!(refused.kind(), std::io::ErrorKind::WouldBlock);
        assert!(!waiting.is_empty());
        assert!(babel.routes().is_err());
    }

    #[test]
    fn program_that_ends_at_once_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = another_babeld(folder.path());
        let input = child.stdin.take();
        let process = RoutingProcess::of(child);
        assert!(!process.has_ended());
        drop(input);
        until(|| process.has_ended());
    }

    #[test]
    fn installed_routes_are_parsed() {
        let line = "add route 5c8 prefix 10.77.0.3/32 from 0.0.0.0/0 installed yes id 02:77 \
                    metric 512 refmetric 256 via fe80::77:ff:fe00:201 if to-b";
        let found = Route {
            host: "10.77.0.3".to_owned(),
            metric: 512,
            via: Some("fe80::77:ff:fe00:201".parse().unwrap()),
            interface: "to-b".to_owned(),
        };
        assert_eq!(parse(line), Some(found));
        assert_eq!(parse(&line.replace("yes", "no")), None);
        assert_eq!(parse(&line.replace("metric 512", "metric 65535")), None, "withdrawn");
        assert_eq!(parse("add neighbour 5c9 address fe80::1 if to-b"), None);
    }
}
