//! Incoming packets of an interface that is impaired.

use std::net::UdpSocket;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::RcvBufForce;
use nix::unistd::gettid;
use serde_json::json;

use super::row;
use crate::bed::{Bed, agrees, arms, impairment};
use crate::wire::{ip, namespace, now_ns, tool};

arms! {
    PACKETS,
    incoming_packets_meet_the_impairment: vm, newer;
}

/// Datagrams of a measurement.
const COUNT: u64 = 1000;
/// The interface whose incoming traffic is impaired.
const NEAR: &str = "port2";
/// Address and port that datagrams are sent to.
const TARGET: &str = "198.51.100.1:4791";
/// Bytes that the receiving socket may hold.
const BUFFER_BYTES: usize = 16 << 20;

/// Both ends of a pair of interfaces: the sender is in a namespace of its own.
struct Path {
    sender: UdpSocket,
    receiver: UdpSocket,
}

impl Path {
    fn lay() -> Self {
        let (tell_id, id) = mpsc::channel();
        let (tell_laid, laid) = mpsc::channel();
        let far = thread::spawn(move || {
            namespace();
            tell_id.send(gettid()).unwrap();
            laid.recv().unwrap();
            ip("address add 198.51.100.2/24 dev far2\n\
                link set far2 up\n\
                neighbour add 198.51.100.1 lladdr 02:00:00:00:00:11 dev far2 nud permanent\n");
            let sender = UdpSocket::bind("198.51.100.2:0").unwrap();
            sender.connect(TARGET).unwrap();
            sender
        });
        ip(&format!(
            "link add {NEAR} address 02:00:00:00:00:11 type veth peer name far2 netns {}\n\
             address add 198.51.100.1/24 dev {NEAR}\n\
             link set {NEAR} up\n",
            id.recv().unwrap()
        ));
        tell_laid.send(()).unwrap();
        let sender = far.join().unwrap();
        let receiver = UdpSocket::bind(TARGET).unwrap();
        setsockopt(&receiver, RcvBufForce, &BUFFER_BYTES).unwrap();
        receiver.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        Self { sender, receiver }
    }

    /// Number of datagrams received of [`COUNT`], and the shortest delay of one.
    fn deliver(&self) -> (u64, Duration) {
        for _ in 0..COUNT {
            self.sender.send(&now_ns().to_ne_bytes()).unwrap();
        }
        let (mut arrivals, mut minimum_ns) = (0, u64::MAX);
        let mut payload = [0; 8];
        while self.receiver.recv(&mut payload).is_ok() {
            arrivals += 1;
            minimum_ns = minimum_ns.min(now_ns() - u64::from_ne_bytes(payload));
        }
        (arrivals, Duration::from_nanos(minimum_ns))
    }
}

fn incoming_packets_meet_the_impairment(bed: &mut Bed) {
    const DELAY: Duration = Duration::from_millis(100);
    let path = Path::lay();
    let port = format!("incoming:{NEAR}");
    let (arrivals, delay) = path.deliver();
    assert_eq!(arrivals, COUNT, "nothing is impaired");
    assert!(delay < DELAY, "{delay:?}");
    for (pct, share) in [(0.0, 1.0), (50.0, 0.5), (100.0, 0.0)] {
        let setting = impairment(json!({"loss": {"model": "bernoulli", "pct": pct},
            "latency": {"kind": "constant", "duration": DELAY.as_nanos()}}));
        let reading = bed.apply_to(&port, &setting).unwrap();
        assert!(agrees(&reading), "{:?}", reading.divergence);
        let (arrivals, delay) = path.deliver();
        row(&format!("incoming, loss {pct} %"), share * COUNT as f64, arrivals);
        let four_sd = 4.0 * (share * (1.0 - share) * COUNT as f64).sqrt();
        assert!((arrivals as f64 - share * COUNT as f64).abs() <= four_sd, "{arrivals}");
        assert!(arrivals == 0 || delay >= DELAY, "{delay:?}");
    }
    // Rules are those of a port of any sort.
    let setting = impairment(json!({"loss": {"model": "bernoulli", "pct": 100.0}, "rules": [
        {"name": "free", "match": {"source": "198.51.100.2/32"}, "exclude": true}]}));
    bed.apply_to(&port, &setting).unwrap();
    assert_eq!(path.deliver().0, COUNT, "excluded");
    let empty = impairment(json!({}));
    bed.apply_to(&port, &empty).unwrap();
    assert_eq!(path.deliver().0, COUNT);
    // Another program breaks the path to the device: no packet arrives, and either change mends it.
    let setting = impairment(json!({"latency": {"kind": "constant", "duration": 1_000_000}}));
    for (command, repair) in
        [("link delete", &setting), ("link set", &setting), ("link delete", &empty)]
    {
        bed.apply_to(&port, &setting).unwrap();
        let links = tool("ip", "-o link show type ifb");
        let device = links.lines().find_map(|line| line.split(": ").nth(1)).unwrap().to_owned();
        let state = if command == "link set" { " down" } else { "" };
        ip(&format!("{command} {device}{state}\n"));
        assert_eq!(path.deliver().0, 0, "{command}: all packets are dropped");
        bed.apply_to(&port, repair).unwrap();
        assert_eq!(path.deliver().0, COUNT, "{command}: repaired");
    }
    assert!(!tool("ip", "link show").contains("gwin"), "no device remains");
    assert!(!tool("tc", &format!("qdisc show dev {NEAR}")).contains("clsact"), "no hook remains");
}
