//! A wire to measure: `port1` in the namespace of the test, its far end in another.

use std::io::Write as _;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::sockopt::{RcvBufForce, ReceiveTimestampns, SndBufForce};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, setsockopt, socket,
};
use nix::unistd::gettid;

use crate::arrival::{Arrival, PORT, payload, receive, stamp};

/// The interface that is shaped.
pub const NEAR: &str = "port1";
/// MTU of the far interface, bytes, without the Ethernet header; the near interface has the usual
/// one.
pub const FAR_MTU_BYTES: usize = 9000;
/// Bytes a socket may hold: all packets of a measurement, with the kernel's own overhead.
const BUFFER_BYTES: usize = 256 << 20;
/// Ethernet, IPv4 and UDP headers before the payload.
pub const HEADER_BYTES: usize = 14 + 20 + 8;

/// Runs the body in a thread with a network namespace of its own.
pub fn in_namespace<T: Send>(body: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let run = scope.spawn(|| {
            namespace();
            body()
        });
        run.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Moves this thread to a fresh namespace, without IPv6: no router is asked for on a measured wire.
pub fn namespace() {
    unshare(CloneFlags::CLONE_NEWNET).unwrap();
    // A kernel without IPv6, or one that guards its settings, sends nothing we would mistake:
    // frames of other lengths do not count.
    let _ = std::fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
}

/// Runs iproute2 in the namespace of this thread; returns its output.
pub fn tool(program: &str, line: &str) -> String {
    try_tool(program, line).unwrap_or_else(|errors| panic!("{program} {line}: {errors}"))
}

/// As [`tool`], with the program's error output if it fails.
pub fn try_tool(program: &str, line: &str) -> Result<String, String> {
    let run = Command::new(program).args(line.split(' ')).output().unwrap();
    match run.status.success() {
        true => Ok(String::from_utf8(run.stdout).unwrap()),
        false => Err(String::from_utf8_lossy(&run.stderr).into_owned()),
    }
}

/// Several commands to `ip` in one process: a fork is dear in a virtual machine.
pub fn ip(lines: &str) {
    let mut run = Command::new("ip")
        .args(["-batch", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = run.stdin.take().unwrap();
    stdin.write_all(lines.as_bytes()).unwrap();
    drop(stdin);
    let run = run.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "ip:\n{lines}{errors}");
}

/// Both ends of a veth pair, with sockets on them.
pub struct Wire {
    sender: UdpSocket,
    receiver: OwnedFd,
    next: u64,
}

/// Traffic of one measurement.
#[derive(Clone, Copy)]
pub struct Traffic {
    /// Packets.
    pub count: u64,
    /// Time between two packets; what is late is sent at once.
    pub every: Duration,
    /// Length of the frame on the wire, headers included.
    pub frame_bytes: usize,
    /// Silence after which the measurement is over.
    pub quiet: Duration,
}

impl Wire {
    /// Lays the wire, in the namespace of this thread.
    pub fn lay() -> Self {
        let (tell_id, id) = mpsc::channel();
        let (tell_laid, laid) = mpsc::channel();
        let far = thread::spawn(move || {
            namespace();
            tell_id.send(gettid()).unwrap();
            laid.recv().unwrap();
            // No address: the far end answers nothing, and only the raw socket receives.
            ip("link set far1 up\n");
            raw()
        });
        let id = id.recv().unwrap();
        ip(&format!(
            "link add {NEAR} address 02:00:00:00:00:01 type veth \
             peer name far1 address 02:00:00:00:00:02 mtu {FAR_MTU_BYTES} netns {id}\n"
        ));
        tell_laid.send(()).unwrap();
        let receiver = far.join().unwrap();
        ip(&format!(
            "link set {NEAR} up\n\
             address add 192.0.2.1/24 dev {NEAR}\n\
             neighbour add 192.0.2.2 lladdr 02:00:00:00:00:02 dev {NEAR} nud permanent\n"
        ));
        let sender = UdpSocket::bind("192.0.2.1:0").unwrap();
        sender.connect(("192.0.2.2", PORT)).unwrap();
        // A delay line holds packets on the sender's account; it must not slow the sender down.
        setsockopt(&sender, SndBufForce, &BUFFER_BYTES).unwrap();
        Self { sender, receiver, next: 0 }
    }

    /// Datagrams that arrive of `count` sent to each of `targets`, one after the other.
    pub fn deliver(&mut self, targets: &[SocketAddr], count: u64) -> Vec<u64> {
        let bind = |local: &str| {
            let socket = UdpSocket::bind(local).unwrap();
            setsockopt(&socket, SndBufForce, &BUFFER_BYTES).unwrap();
            socket
        };
        let ipv4 = bind("192.0.2.1:0");
        let ipv6 = targets.iter().any(SocketAddr::is_ipv6).then(|| bind("[::]:0"));
        let mut arrivals = vec![0; targets.len()];
        for turn in 0..count {
            for target in targets {
                let socket = ipv6.as_ref().filter(|_| target.is_ipv6()).unwrap_or(&ipv4);
                socket.send_to(&[7; 100], target).unwrap();
            }
            if turn.is_multiple_of(16) {
                count_frames(&self.receiver, targets, &mut arrivals);
            }
        }
        // Longer than any delay of a rule.
        thread::sleep(Duration::from_millis(200));
        count_frames(&self.receiver, targets, &mut arrivals);
        arrivals
    }

    /// Sends, and answers what arrived, in the order of arrival.
    pub fn measure(&mut self, traffic: Traffic) -> Vec<Arrival> {
        let mut arrivals = Vec::new();
        let first = self.next;
        let start_ns = now_ns();
        let every_ns = u64::try_from(traffic.every.as_nanos()).unwrap();
        let mut payload = payload(traffic.frame_bytes - HEADER_BYTES);
        for index in 0..traffic.count {
            let due_ns = start_ns + index * every_ns;
            let ahead_ns = due_ns.saturating_sub(now_ns());
            if ahead_ns > 0 {
                thread::sleep(Duration::from_nanos(ahead_ns));
            }
            stamp(&mut payload, first + index, now_ns());
            // The socket does not report drops by the qdisc.
            self.sender.send(&payload).unwrap();
            if ahead_ns > 0 || index.is_multiple_of(64) {
                receive(self.receiver.as_raw_fd(), first, traffic.frame_bytes, &mut arrivals);
            }
        }
        self.next += traffic.count;
        let step = Duration::from_millis(5);
        let mut idle = Duration::ZERO;
        while idle < traffic.quiet {
            let before = arrivals.len();
            receive(self.receiver.as_raw_fd(), first, traffic.frame_bytes, &mut arrivals);
            idle = if arrivals.len() > before { Duration::ZERO } else { idle + step };
            thread::sleep(step);
        }
        arrivals
    }
}

/// Adds the frames that have arrived for each of `targets`.
fn count_frames(receiver: &OwnedFd, targets: &[SocketAddr], arrivals: &mut [u64]) {
    let mut frame = [0; 2048];
    while let Ok(bytes) = recv(receiver.as_raw_fd(), &mut frame, MsgFlags::MSG_DONTWAIT) {
        let frame = &frame[..bytes];
        let target = targets.iter().position(|target| {
            let (address, udp) = match target.ip() {
                IpAddr::V4(ip) => (frame.get(30..34) == Some(&ip.octets()), 34),
                IpAddr::V6(ip) => (frame.get(38..54) == Some(&ip.octets()), 54),
            };
            address && frame.get(udp + 2..udp + 4) == Some(&target.port().to_be_bytes())
        });
        if let Some(place) = target {
            arrivals[place] += 1;
        }
    }
}

/// A socket that receives every frame of its namespace, and when the kernel took it from the wire.
fn raw() -> OwnedFd {
    let socket =
        socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_NONBLOCK, SockProtocol::EthAll)
            .unwrap();
    setsockopt(&socket, RcvBufForce, &BUFFER_BYTES).unwrap();
    setsockopt(&socket, ReceiveTimestampns, &true).unwrap();
    socket
}

/// The clock the kernel stamps received frames with.
pub fn now_ns() -> u64 {
    let now = nix::time::ClockId::CLOCK_REALTIME.now().unwrap();
    u64::try_from(Duration::from(now).as_nanos()).unwrap()
}
