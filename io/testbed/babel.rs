//! `babeld` in a node: started once, told of interfaces as they come, asked for its routes over its
//! own socket.

use std::io::{BufRead, BufReader, Write};
use std::net::Ipv6Addr;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::error::TestbedError;
use super::namespace::inside;

/// How to get it.
const PACKAGE_HINT: &str = "Debian: apt-get install babeld";
/// How long an answer may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// Interfaces are radios: links are judged by the hellos that get lost, and none is preferred.
const KIND: &str = "type wireless hello-interval 1 update-interval 4";

/// A route that babeld installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The host, without its prefix length.
    pub host: String,
    /// Its metric.
    pub metric: u32,
    /// The neighbour's link-local address.
    pub via: Option<Ipv6Addr>,
    /// Through which interface.
    pub interface: String,
}

/// The files of one node's babeld.
#[derive(Debug, Clone)]
pub struct Babel {
    netns: PathBuf,
    socket: PathBuf,
    pid: PathBuf,
    log: PathBuf,
    state: PathBuf,
}

impl Babel {
    /// The babeld of the node `name`, whose files are in `folder`.
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

    /// Whether it runs.
    pub fn runs(&self) -> bool {
        let pid = std::fs::read_to_string(&self.pid).unwrap_or_default();
        let name = std::fs::read_to_string(format!("/proc/{}/comm", pid.trim()));
        name.is_ok_and(|name| name.trim() == "babeld")
    }

    /// Starts it on these interfaces, or tells a running one of them; `address` is announced.
    pub fn serve(
        &self,
        address: std::net::Ipv4Addr,
        interfaces: &[String],
    ) -> Result<(), TestbedError> {
        if self.runs() {
            return self.tell(interfaces);
        }
        let text = |path: &Path| path.display().to_string();
        for file in [&self.socket, &self.pid] {
            // A dead one's; it would refuse to start over them.
            let _ = std::fs::remove_file(file);
        }
        let socket = format!("local-path-readwrite {}", text(&self.socket));
        let local = format!("redistribute local ip {address}/32 allow");
        let mut words = vec![
            "-S".to_owned(),
            text(&self.state),
            "-I".to_owned(),
            text(&self.pid),
        ];
        words.extend([
            "-L".to_owned(),
            text(&self.log),
            "-c".to_owned(),
            "/dev/null".to_owned(),
        ]);
        for line in [
            socket.as_str(),
            &format!("default {KIND}"),
            &local,
            "redistribute local deny",
        ] {
            words.extend(["-C".to_owned(), line.to_owned()]);
        }
        words.extend(interfaces.iter().cloned());
        let started = inside(&self.netns, || {
            // In a group of its own: what interrupts the controller is not meant for it.
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
        let mut child = started?;
        // Somebody has to observe_routes how it qdiscs.
        std::thread::spawn(move || child.wait());
        Ok(())
    }

    fn tell(&self, interfaces: &[String]) -> Result<(), TestbedError> {
        for interface in interfaces {
            self.ask(&format!("interface {interface} {KIND}"))?;
        }
        Ok(())
    }

    /// The routes it installed.
    pub fn routes(&self) -> Result<Vec<Route>, TestbedError> {
        Ok(self
            .ask("dump")?
            .iter()
            .filter_map(|line| parse(line))
            .collect())
    }

    /// Asks something; answers the lines before its `ok`.
    fn ask(&self, question: &str) -> Result<Vec<String>, TestbedError> {
        let ask = || -> std::io::Result<Vec<String>> {
            let mut stream = UnixStream::connect(&self.socket)?;
            stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
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
            // It greets first.
            until(&mut Vec::new())?;
            stream.write_all(format!("{question}\n").as_bytes())?;
            let mut found = Vec::new();
            until(&mut found)?;
            Ok(found)
        };
        ask().map_err(TestbedError::file("ask babeld at", &self.socket))
    }
}

/// An installed route in a line of a dump: `add route … prefix 10.77.0.3/32 … installed yes …
/// metric 512 … if to-b`.
fn parse(line: &str) -> Option<Route> {
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
    Some(Route {
        host: host.to_owned(),
        metric: after("metric")?.parse().ok()?,
        via: after("via").and_then(|via| via.parse().ok()),
        interface: after("if")?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn installed_routes_are_read() {
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
        assert_eq!(parse("add neighbour 5c9 address fe80::1 if to-b"), None);
    }
}
