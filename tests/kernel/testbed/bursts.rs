//! Losses that come in runs: on wires, and on a link that is bound to a daemon elsewhere.

use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use groundwave_io::testbed::inside;
use serde_json::Value;

use super::bed::{Testbed, until};
use super::bound::Daemon;
use super::guest;
use super::measured::{FRAMES, NOBODY};
use crate::wire::ip;

guest!(
    a_wire_loses_packets_in_runs,
    a_daemon_over_tcp_loses_packets_in_runs,
);

/// Mean length of a run of losses, packets.
const BURST: f64 = 4.0;
/// Frames are never sent again, so that many are lost.
const MAC: (&str, &str) = (
    "mac = { broadcast_mcs = 3, broadcast_bytes = 1500 }",
    "mac = { retries = 0, loss_burst_packets = 4.0 }",
);
/// Packets of a measurement.
const SENT: u32 = 6000;
/// Time between two: far below any link's rate.
const EVERY: Duration = Duration::from_micros(2500);
/// Where packets go.
const PORT: u16 = 4792;

fn a_wire_loses_packets_in_runs() {
    let testbed = Testbed::up("bursts", &[MAC, FRAMES, NOBODY]);
    let (from, to, loss) = lossiest(&testbed.status(), None);
    let space = |node: &str| format!("/run/netns/gw.bursts.{node}");
    let own = |node: &str, peer: &str| {
        let way = format!("netns exec gw.bursts.{node} ip");
        let shown = crate::wire::tool("ip", &format!("{way} -j -6 address show dev to-{peer}"));
        let shown: Vec<Value> = serde_json::from_str(&shown).unwrap();
        let number = shown[0]["ifindex"].as_u64().unwrap();
        let address = shown[0]["addr_info"][0]["local"].as_str().unwrap();
        (address.to_owned(), u32::try_from(number).unwrap())
    };
    let ((_, index), (far, _)) = (own(&from, &to), own(&to, &from));
    let receiver = inside(space(&to).as_ref(), || {
        UdpSocket::bind(("::", PORT)).unwrap()
    });
    let sender = inside(space(&from).as_ref(), || {
        let socket = UdpSocket::bind(("::", 0)).unwrap();
        let far = std::net::SocketAddrV6::new(far.parse().unwrap(), PORT, 0, index);
        socket.connect(far).unwrap();
        socket
    });
    let lost = send(&sender.unwrap(), &receiver.unwrap());
    in_runs(&format!("{from} > {to}"), loss, &lost);
}

const SOCKET: &str = "/run/bursts.sock";

/// A daemon elsewhere: its socket behind a port.
fn a_daemon_over_tcp_loses_packets_in_runs() {
    ip(
        "netns add elsewhere\nlink add lab1 type veth peer name far1\n\
        link set far1 netns elsewhere\nlink add lab2 type veth peer name far2\nlink set lab2 up\n\
        link set lab1 up\naddress add 192.0.2.1/24 dev lab1\n\
        -n elsewhere link set far1 up\n-n elsewhere address add 192.0.2.2/24 dev far1\n",
    );
    let configuration = tempfile::NamedTempFile::new().unwrap();
    let text = "socket = \"/run/bursts.sock\"\nextensions = [\"gilbert-elliott\"]\n\
                [[ports]]\ndirection = \"port1\"\ninterface = \"lab1\"\n\
                [[ports]]\ndirection = \"port2\"\ninterface = \"lab2\"\n";
    std::fs::write(configuration.path(), text).unwrap();
    let daemon = Command::new(env!("CARGO_BIN_EXE_groundwave"))
        .arg("impaird")
        .arg("--config")
        .arg(configuration.path())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let _daemon = Daemon(daemon);
    until("the daemon listens", || UnixStream::connect(SOCKET).is_ok());
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || forward(&listener));

    // The lossiest direction of all, found on wires first.
    let (from, to, _) = {
        let wires = Testbed::up("before", &[MAC, FRAMES, NOBODY]);
        lossiest(&wires.status(), None)
    };
    let bind = format!(
        "routing = \"none\"\nbind = [{{ from = \"{from}\", to = \"{to}\", \
         daemon = \"127.0.0.1:{port}\", port = \"port1\" }}]"
    );
    let testbed = Testbed::up("remote", &[MAC, FRAMES, (NOBODY.0, &bind)]);
    until("the daemon holds the wish", || {
        let link = Testbed::link(&testbed.status(), &from, &to);
        assert_eq!(link.get("failure"), None, "{link}");
        link["generation"] == link["observed_generation"]
    });
    let (.., loss) = lossiest(&testbed.status(), Some((&from, &to)));
    let receiver = inside("/run/netns/elsewhere".as_ref(), || {
        UdpSocket::bind(("192.0.2.2", PORT)).unwrap()
    });
    let sender = UdpSocket::bind("192.0.2.1:0").unwrap();
    sender.connect(("192.0.2.2", PORT)).unwrap();
    let receiver = receiver.unwrap();
    let lost = send(&sender, &receiver);
    in_runs(&format!("{from} > {to}, by a daemon over TCP"), loss, &lost);

    // It goes on following.
    testbed.said(&["fail", &from]);
    until("the daemon holds the cut", || {
        let link = Testbed::link(&testbed.status(), &from, &to);
        link["predicted"]["up"] == false && link["generation"] == link["observed_generation"]
    });
    let mut frame = [0; 64];
    while heard(&receiver, &mut frame).is_some() {}
    for number in 0..50_u32 {
        sender.send(&number.to_be_bytes()).unwrap();
    }
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(heard(&receiver, &mut frame), None);
    drop(testbed);
    ip("link del lab1\nlink del lab2\nnetns del elsewhere\n");
}

/// Passes connections on to the daemon's socket, as a tunnel would.
fn forward(listener: &TcpListener) {
    for here in listener.incoming().flatten() {
        let there = UnixStream::connect(SOCKET).unwrap();
        let (mut down, mut up) = (here.try_clone().unwrap(), there.try_clone().unwrap());
        let (mut here, mut there) = (here, there);
        std::thread::spawn(move || {
            // Either side may hang up at any time.
            let _ = std::io::copy(&mut down, &mut up);
            let _ = up.shutdown(std::net::Shutdown::Write);
        });
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut there, &mut here);
            let _ = here.shutdown(std::net::Shutdown::Write);
        });
    }
}

/// The direction that loses most without being useless, or the one asked for: who, whom, how much.
fn lossiest(status: &Value, asked: Option<(&str, &str)>) -> (String, String, f64) {
    let loss = |link: &Value| link["predicted"]["loss_prob"].as_f64().unwrap();
    let links = status["links"].as_array().unwrap().iter();
    let wanted = |link: &&Value| match asked {
        Some((from, to)) => link["from"] == from && link["to"] == to,
        None => link["predicted"]["up"] == true && loss(link) < 0.3,
    };
    let found = links
        .filter(wanted)
        .max_by(|a, b| loss(a).total_cmp(&loss(b)));
    let found = found.expect("a link");
    assert_eq!(found["predicted"]["loss_burst_packets"], BURST);
    let name = |key: &str| found[key].as_str().unwrap().to_owned();
    (name("from"), name("to"), loss(found))
}

/// Sends numbered packets; answers which were lost.
fn send(sender: &UdpSocket, receiver: &UdpSocket) -> Vec<bool> {
    let mut lost = vec![true; SENT as usize];
    let mut frame = [0; 64];
    receiver.set_nonblocking(true).unwrap();
    let mut listen = |lost: &mut Vec<bool>| {
        while let Some(number) = heard(receiver, &mut frame) {
            lost[number as usize] = false;
        }
    };
    // Addresses are found before anything counts.
    for number in 0..SENT {
        sender.send(&number.to_be_bytes()).unwrap();
        listen(&mut lost);
        std::thread::sleep(EVERY);
    }
    for _ in 0..40 {
        std::thread::sleep(Duration::from_millis(25));
        listen(&mut lost);
    }
    // What waited for an address says nothing of the link.
    lost.split_off(100)
}

fn heard(receiver: &UdpSocket, frame: &mut [u8; 64]) -> Option<u32> {
    receiver.set_nonblocking(true).unwrap();
    let (4, _) = receiver.recv_from(frame).ok()? else {
        return None;
    };
    Some(u32::from_be_bytes([0, 1, 2, 3].map(|at| frame[at])))
}

/// Holds losses to their share and the mean length of their runs, four standard deviations each.
fn in_runs(what: &str, loss: f64, lost: &[bool]) {
    let all = lost.len() as f64;
    let gone = lost.iter().filter(|lost| **lost).count() as f64;
    let runs = lost.chunk_by(|a, b| a == b).filter(|run| run[0]).count() as f64;
    let (share, mean) = (gone / all, gone / runs);
    println!(
        "{what}: {:.2} % lost, predicted {:.2} %; {mean:.2} in a row, asked for {BURST}",
        share * 100.0,
        loss * 100.0
    );
    let out = 1.0 / BURST;
    let into = loss * out / (1.0 - loss);
    // Each packet's fate resembles the one before: that widens the spread of their sum.
    let kept = 1.0 - into - out;
    let sigma = (loss * (1.0 - loss) / all * (1.0 + kept) / (1.0 - kept)).sqrt();
    assert!(
        (share - loss).abs() <= 4.0 * sigma,
        "{what}: {share} for {loss}"
    );
    let sigma = (1.0 - out).sqrt() / out / runs.sqrt();
    assert!(
        (mean - BURST).abs() <= 4.0 * sigma,
        "{what}: {mean} for {BURST}"
    );
    assert!(runs >= 30.0, "{what}: {runs} runs");
}
