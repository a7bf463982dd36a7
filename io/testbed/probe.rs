//! Measurements of one link with packets: `ping` and `iperf3` over the link-local addresses of its
//! ends, which no route redirects.

use std::net::Ipv6Addr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use groundwave_simulation::testbed::{NamespaceAssignment, Probe};

use super::error::TestbedError;
use super::names::{RADIO, hardware, interface, link_local, radio_hardware};
use super::namespace::inside;
use super::program::outcome;

const PING: &str = "Debian: apt-get install iputils-ping";
const IPERF: &str = "Debian: apt-get install iperf3";

/// Address of the far end of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FarEnd {
    address: String,
    interface: String,
}

impl FarEnd {
    /// Far end of link `number` to `peer`; `back` when the near end is that of the higher id.
    #[must_use]
    pub fn of_wire(number: u32, back: bool, peer: &NamespaceAssignment) -> Self {
        Self::on(interface(peer), link_local(hardware(number, !back)))
    }

    /// `peer` on a segment.
    #[must_use]
    pub fn on_segment(peer: &NamespaceAssignment) -> Self {
        Self::on(RADIO.to_owned(), link_local(radio_hardware(peer.number)))
    }

    fn on(interface: String, address: Ipv6Addr) -> Self {
        Self { address: format!("{address}%{interface}"), interface }
    }
}

/// Pings the far end of a link from the namespace at `netns`, one packet every `interval_s`.
///
/// # Errors
/// When `ping` cannot be started.
pub fn ping(
    netns: &Path,
    far: &FarEnd,
    count: u32,
    interval_s: f64,
) -> Result<Probe, TestbedError> {
    let words =
        ["-6", "-q", "-n", "-W", "2", "-c", &count.to_string(), "-i", &interval_s.to_string()];
    let mut words: Vec<String> = words.map(str::to_owned).to_vec();
    words.push("-I".to_owned());
    words.extend([far.interface.clone(), far.address.clone()]);
    // A status other than 0 without replies is a valid result.
    let output = outcome(netns, PING, "ping", &words)?;
    let text = String::from_utf8_lossy(&output.stdout);
    read(&text).ok_or_else(|| TestbedError::Failed {
        program: "ping".to_owned(),
        output: format!("{text}{}", String::from_utf8_lossy(&output.stderr)),
    })
}

/// Result in the summary of `ping -q`: `5 packets transmitted, 4 received, …` and
/// `rtt min/avg/max/mdev = 1/2/3/4 ms`.
pub fn read(text: &str) -> Option<Probe> {
    let number = |text: &str| text.split_whitespace().next()?.parse::<u32>().ok();
    let mut counts = text.lines().find(|line| line.contains("packets transmitted"))?.split(',');
    let (sent, received) = (number(counts.next()?)?, number(counts.next()?)?);
    let times = text
        .lines()
        .find_map(|line| line.split_once(" = ").filter(|(head, _)| head.contains("min/avg/max")));
    let round_trip_ms = times.and_then(|(_, times)| {
        let mut times = times.split('/').map(str::parse::<f64>);
        Some([times.next()?.ok()?, times.next()?.ok()?, times.next()?.ok()?])
    });
    Some(Probe { sent, received, round_trip_ms, throughput_bps: None })
}

/// Throughput of a UDP stream of `seconds` at `offered_bps` to the far end of a link, bit/s of
/// received Ethernet frames.
///
/// # Errors
/// When `iperf3` cannot be started, or fails.
pub fn throughput(
    [near, far_end]: [&Path; 2],
    far: &FarEnd,
    offered_bps: u64,
    seconds: u32,
) -> Result<f64, TestbedError> {
    const PAYLOAD: f64 = 1200.0;
    /// Headers of Ethernet, IPv6 and UDP, bytes.
    const HEADERS: f64 = 14.0 + 40.0 + 8.0;
    let words = [
        "-6",
        "-u",
        "-J",
        "-l",
        "1200",
        "-b",
        &offered_bps.to_string(),
        "-t",
        &seconds.to_string(),
        "-c",
        &far.address,
    ];
    let words: Vec<String> = words.map(str::to_owned).to_vec();
    let mut error = String::new();
    for _ in 0..STREAM_ATTEMPTS {
        let _server = Server::listening(far_end)?;
        // The server may not listen yet.
        for _ in 0..LISTEN_ATTEMPTS {
            let output = outcome(near, IPERF, "iperf3", &words)?;
            let report: serde_json::Value =
                serde_json::from_slice(&output.stdout).unwrap_or_default();
            let sum = &report["end"]["sum"];
            if let (Some(bps), Some(lost)) =
                (sum["bits_per_second"].as_f64(), sum["lost_percent"].as_f64())
            {
                let arrived = bps * (1.0 - lost / 100.0);
                return Ok(arrived * (PAYLOAD + HEADERS) / PAYLOAD);
            }
            error = report["error"].as_str().unwrap_or("no report").to_owned();
            if !error.contains("refused") {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }
    Err(TestbedError::Failed {
        program: "iperf3".to_owned(),
        output: format!("no measurement in {STREAM_ATTEMPTS} attempts; the last one: {error}"),
    })
}

/// Streams begun until one is measured: `iperf3` opens a UDP stream with one datagram each way that
/// it does not repeat, so that a lossy link loses whole streams.
const STREAM_ATTEMPTS: u32 = 6;
/// Connections tried until the server listens, 100 ms apart.
const LISTEN_ATTEMPTS: u32 = 20;

/// `iperf3` server for one stream: a stream that failed leaves it in no state for another one.
struct Server(Child);

impl Server {
    fn listening(netns: &Path) -> Result<Self, TestbedError> {
        let started = inside(netns, || {
            Command::new("iperf3")
                .args(["-s", "-1", "-6", "--idle-timeout", "20"])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
        })?;
        started.map(Self).map_err(|source| TestbedError::Program {
            program: "iperf3".to_owned(),
            hint: IPERF,
            source,
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It ends by itself after one client only.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_of_ping_is_parsed() {
        let text = "PING fe80::1(fe80::1) 56 data bytes\n\n--- fe80::1 ping statistics ---\n\
                    20 packets transmitted, 18 received, 10% packet loss, time 400ms\n\
                    rtt min/avg/max/mdev = 1.100/2.250/3.500/0.100 ms\n";
        let probe = read(text).unwrap();
        assert_eq!((probe.sent, probe.received), (20, 18));
        assert_eq!(probe.round_trip_ms, Some([1.1, 2.25, 3.5]));
        let none = read("4 packets transmitted, 0 received, 100% packet loss, time 3ms\n").unwrap();
        assert_eq!((none.received, none.round_trip_ms), (0, None));
        assert_eq!(read("ping: connect: Network is unreachable"), None);
    }
}
