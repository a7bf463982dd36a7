//! Targets against a live listener on loopback that counts connections.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use super::{
    AllowedTarget, Lookup, Outbound, OutboundError, Request, Resolve, TargetPolicy, Trust,
};

/// HTTP server that answers every connection with the same bytes and counts them.
struct Server {
    address: SocketAddr,
    count: Arc<AtomicUsize>,
}

impl Server {
    fn start(runtime: &Runtime, at: SocketAddr, answer: Vec<u8>) -> Self {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let address = runtime.block_on(async move {
            let listener = TcpListener::bind(at).await.unwrap();
            let address = listener.local_addr().unwrap();
            tokio::spawn(async move {
                while let Ok((mut stream, _)) = listener.accept().await {
                    counted.fetch_add(1, Ordering::SeqCst);
                    let answer = answer.clone();
                    tokio::spawn(async move {
                        let mut head = [0; 4096];
                        let _ = stream.read(&mut head).await;
                        let _ = stream.write_all(&answer).await;
                        // A server without an answer keeps the connection.
                        if answer.is_empty() {
                            let _ = stream.read(&mut head).await;
                        }
                    });
                }
            });
            address
        });
        Self { address, count }
    }

    fn here(runtime: &Runtime, answer: &str) -> Self {
        let at = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Self::start(runtime, at, answer.as_bytes().to_vec())
    }

    fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret";

/// Name service that gives its answers in turn, the last one again and again.
struct Answers {
    answers: Vec<Vec<IpAddr>>,
    lookups: AtomicUsize,
}

impl Answers {
    fn new(answers: &[&[&str]]) -> Arc<Self> {
        let ips = |ips: &&[&str]| ips.iter().map(|ip| ip.parse().unwrap()).collect();
        Arc::new(Self { answers: answers.iter().map(ips).collect(), lookups: AtomicUsize::new(0) })
    }
}

impl Resolve for Answers {
    fn resolve<'a>(&'a self, _: &'a str) -> Lookup<'a> {
        let at = self.lookups.fetch_add(1, Ordering::SeqCst);
        let answer = self.answers[at.min(self.answers.len() - 1)].clone();
        Box::pin(async move { Ok(answer) })
    }
}

fn runtime() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(1).enable_all().build().unwrap()
}

fn allowing(targets: &[&str]) -> TargetPolicy {
    TargetPolicy {
        allowed: targets.iter().map(|text| text.parse().unwrap()).collect(),
        ..TargetPolicy::default()
    }
}

fn get(url: &str) -> Request {
    Request::new(Method::GET, url).unwrap()
}

/// Hosts that are this machine, in the spellings that connect here when nothing refuses them.
const LOOPBACK: [&str; 14] = [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0177.0.0.1",
    "017700000001",
    "0x7f000001",
    "0x7f.0.0.1",
    "0x7f.1",
    "0.0.0.0",
    "localhost",
    "LOCALHOST",
    "①②⑦.⓪.⓪.①",
    "%31%32%37.0.0.1",
];

/// Hosts that are refused as well, and that no test may try to reach.
const OTHERS: [&str; 25] = [
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::ffff:169.254.169.254]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b::a9fe:a9fe]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::fefe:fefe]",
    "[fe80::1]",
    "[fd00:ec2::254]",
    "[ff02::1]",
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "169.254.0.1",
    "100.100.100.200",
    "224.0.0.1",
    "255.255.255.255",
    "240.0.0.1",
    "192.0.2.1",
    "metadata.google.internal",
    "METADATA.google.internal.",
    "metadata",
];

/// Sends a request to each host: the number that was refused as forbidden.
fn try_all(runtime: &Runtime, outbound: &Outbound, hosts: &[&str], port: u16) -> usize {
    let mut refused = 0;
    for host in hosts {
        let sent = runtime.block_on(outbound.send(&get(&format!("http://{host}:{port}/"))));
        refused += usize::from(sent.is_err_and(|err| err.is_forbidden()));
    }
    refused
}

#[test]
fn forbidden_target_gives_a_refusal_without_a_connection() {
    let runtime = runtime();
    let server = Server::here(&runtime, OK);
    let port = server.address.port();
    let outbound = Outbound::new(TargetPolicy::default());
    assert_eq!(try_all(&runtime, &outbound, &LOOPBACK, port), LOOPBACK.len());
    assert_eq!(try_all(&runtime, &outbound, &OTHERS, port), OTHERS.len());
    // Other protocols than HTTP pass the same guard.
    for host in ["127.0.0.1", "127.1", "2130706433", "localhost", "::1", "[::ffff:127.0.0.1]"] {
        let target = runtime.block_on(outbound.target(host, port));
        assert!(target.unwrap_err().is_forbidden(), "{host}");
    }
    assert_eq!(server.count(), 0);
}

#[test]
fn same_targets_connect_without_the_guard() {
    let runtime = runtime();
    let server = Server::here(&runtime, OK);
    let outbound = Outbound::new(allowing(&["0.0.0.0/0", "::/0"]));
    let refused = try_all(&runtime, &outbound, &LOOPBACK, server.address.port());
    assert_eq!((refused, server.count()), (0, LOOPBACK.len()));
}

#[test]
fn one_forbidden_address_forbids_its_name() {
    let runtime = runtime();
    let server = Server::here(&runtime, OK);
    let port = server.address.port();
    let answers: [&[&str]; 4] = [
        &["127.0.0.1"],
        &["1.1.1.1", "127.0.0.1"],
        &["10.0.0.1", "::ffff:127.0.0.1"],
        &["169.254.169.254"],
    ];
    for answer in answers {
        let outbound = Outbound::with_resolver(TargetPolicy::default(), Answers::new(&[answer]));
        let hosts = ["127.0.0.1.nip.io", "printer.example"];
        assert_eq!(try_all(&runtime, &outbound, &hosts, port), 2, "{answer:?}");
    }
    assert_eq!(server.count(), 0);
}

#[test]
fn rebound_name_gets_no_second_lookup() {
    let runtime = runtime();
    let other = SocketAddr::from((Ipv4Addr::new(127, 0, 0, 2), 0));
    let allowed = Server::start(&runtime, other, OK.as_bytes().to_vec());
    let port = allowed.address.port();
    let at = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let hidden = Server::start(&runtime, at, OK.as_bytes().to_vec());
    let names = Answers::new(&[&["127.0.0.2"], &["127.0.0.1"]]);
    let outbound = Outbound::with_resolver(allowing(&["127.0.0.2"]), Arc::clone(&names) as _);
    let request = get(&format!("http://rebound.example:{port}/"));
    let response = runtime.block_on(outbound.send(&request)).unwrap();
    assert_eq!((response.status.as_u16(), response.address.ip()), (200, other.ip()));
    assert_eq!(names.lookups.load(Ordering::SeqCst), 1);
    let refused = runtime.block_on(outbound.send(&request)).unwrap_err();
    assert!(refused.is_forbidden(), "{refused}");
    assert_eq!((allowed.count(), hidden.count()), (1, 0));
}

#[test]
fn redirect_is_not_followed() {
    let runtime = runtime();
    let hidden = Server::here(&runtime, OK);
    for status in [301, 302, 303, 307, 308] {
        let answer = format!(
            "HTTP/1.1 {status} Moved\r\nLocation: http://{}/\r\nContent-Length: 0\r\n\r\n",
            hidden.address
        );
        let at = SocketAddr::from((Ipv4Addr::new(127, 0, 0, 2), 0));
        let server = Server::start(&runtime, at, answer.into_bytes());
        let outbound = Outbound::new(allowing(&["127.0.0.2"]));
        let request = get(&format!("http://{}/", server.address));
        let response = runtime.block_on(outbound.send(&request)).unwrap();
        assert_eq!((response.status.as_u16(), server.count()), (status, 1));
    }
    assert_eq!(hidden.count(), 0);
}

#[test]
fn policy_forbids_private_addresses_and_own_listeners() {
    let runtime = runtime();
    let private = ["10.0.0.1", "192.168.1.1", "172.16.0.1", "100.64.0.1", "fd12::1"];
    let refused = |policy: &TargetPolicy, host: &str, port| {
        let outbound = Outbound::new(policy.clone());
        let target = runtime.block_on(outbound.target(host, port));
        target.is_err_and(|err| err.is_forbidden())
    };
    let mut policy = TargetPolicy::default();
    assert!(private.iter().all(|host| !refused(&policy, host, 80)));
    policy.forbids_private = true;
    assert!(private.iter().all(|host| refused(&policy, host, 80)));
    assert!(!refused(&policy, "1.1.1.1", 80));
    policy.allowed = vec!["10.0.0.0/24".parse().unwrap(), "192.168.1.1:80".parse().unwrap()];
    assert!(!refused(&policy, "10.0.0.1", 80) && refused(&policy, "10.0.1.1", 80));
    assert!(!refused(&policy, "192.168.1.1", 80) && refused(&policy, "192.168.1.1", 81));
    let outbound = Outbound::new(TargetPolicy::default());
    outbound.listens_on("10.41.0.1:8080".parse().unwrap());
    let own = |host: &str, port| runtime.block_on(outbound.target(host, port)).is_err();
    assert!(own("10.41.0.1", 8080) && own("::ffff:10.41.0.1", 8080));
    assert!(!own("10.41.0.1", 8081) && !own("10.41.0.2", 8080));
}

#[test]
fn exception_admits_its_exact_target() {
    for text in ["", "/8", "10.0.0.0/33", "a b", "host:port", "http://host", "10.0.0.0/x", "::/129"]
    {
        assert!(text.parse::<AllowedTarget>().is_err(), "{text}");
    }
    let runtime = runtime();
    let server = Server::here(&runtime, OK);
    let port = server.address.port();
    let names = Answers::new(&[&["127.0.0.1"]]);
    let named = allowing(&[&format!("Grafana.lan:{port}")]);
    let outbound = Outbound::with_resolver(named, names);
    assert_eq!(try_all(&runtime, &outbound, &["grafana.lan", "GRAFANA.LAN."], port), 0);
    assert_eq!(try_all(&runtime, &outbound, &["x.grafana.lan", "127.0.0.1"], port), 2);
    assert_eq!(server.count(), 2);
}

#[test]
fn url_with_another_scheme_or_user_information_gives_an_error() {
    let bad = [
        "",
        "x",
        "//host",
        "ftp://host/",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "http://",
        "http://user:secret@host/",
        "http://user@host/",
        "http://host:0/",
        "http://127.0.0.1:99999/",
        "javascript:1",
    ];
    for url in bad {
        let err = Request::new(Method::GET, url).unwrap_err();
        assert!(matches!(err, OutboundError::Url { .. }), "{url}: {err}");
        assert!(!err.to_string().contains("secret"), "{err}");
    }
}

#[test]
fn long_or_late_response_gives_an_error() {
    let runtime = runtime();
    let long = format!("HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n{}", "x".repeat(2000));
    let outbound = Outbound::new(allowing(&["127.0.0.1"]));
    let mut request = get(&format!("http://{}/", Server::here(&runtime, &long).address));
    assert_eq!(runtime.block_on(outbound.send(&request)).unwrap().body.len(), 2000);
    request.body_bytes_max = 1999;
    let err = runtime.block_on(outbound.send(&request)).unwrap_err();
    assert!(matches!(err, OutboundError::TooLong { limit_bytes: 1999, .. }), "{err}");
    let silent = Server::here(&runtime, "");
    let mut request = get(&format!("http://{}/", silent.address));
    request.limit = Duration::from_millis(50);
    let err = runtime.block_on(outbound.send(&request)).unwrap_err();
    assert!(matches!(err, OutboundError::Timeout { limit_ms: 50, .. }), "{err}");
    let broken = Server::here(&runtime, "nonsense\r\n\r\n");
    let err = runtime.block_on(outbound.send(&get(&format!("http://{}/", broken.address))));
    assert!(matches!(err, Err(OutboundError::Http { .. })), "{err:?}");
}

#[test]
fn request_has_its_header_fields_and_derived_ones() {
    let runtime = runtime();
    let record = Arc::new(Mutex::new(String::new()));
    let writer = Arc::clone(&record);
    let address = runtime.block_on(async move {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = [0; 4096];
            let read = stream.read(&mut head).await.unwrap();
            writer.lock().unwrap().push_str(&String::from_utf8_lossy(&head[..read]));
            stream.write_all(OK.as_bytes()).await.unwrap();
        });
        address
    });
    let mut request = get(&format!("http://{address}/a/b?c=d#e"));
    request.method = Method::POST;
    request.body = "{}".into();
    let headers =
        [("x-key", "k"), ("host", "evil"), ("content-length", "999"), ("connection", "keep-alive")];
    for (name, value) in headers {
        request.headers.insert(name, value.parse().unwrap());
    }
    let outbound = Outbound::new(allowing(&["127.0.0.1"]));
    let response = runtime.block_on(outbound.send(&request)).unwrap();
    assert_eq!(&response.body[..], b"secret");
    let record = record.lock().unwrap().to_lowercase();
    assert!(record.starts_with("post /a/b?c=d http/1.1\r\n"), "{record}");
    for line in ["x-key: k", &format!("host: {address}"), "content-length: 2", "connection: close"]
    {
        assert_eq!(record.matches(line).count(), 1, "{line} in {record}");
    }
    assert!(!record.contains("evil") && !record.contains("999"), "{record}");
}

#[test]
fn pem_without_certificate_gives_an_error() {
    assert!(Trust::check_pem("").is_err());
    assert!(
        Trust::check_pem("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").is_err()
    );
}

#[test]
fn forbidden_targets_are_known_without_the_name_service() {
    let outbound = Outbound::new(TargetPolicy {
        allowed: vec!["127.0.0.1:9000".parse().unwrap(), "localhost:9001".parse().unwrap()],
        ..TargetPolicy::default()
    });
    for (host, port) in [
        ("127.0.0.1", 80),
        ("[::1]", 80),
        ("::ffff:127.0.0.1", 80),
        ("169.254.169.254", 80),
        ("0.0.0.0", 80),
        ("localhost", 80),
        ("LocalHost.", 80),
        ("a.localhost", 80),
        ("metadata.google.internal", 80),
    ] {
        let judged = outbound.judge(host, port);
        assert!(matches!(judged, Err(OutboundError::Forbidden { .. })), "{host}");
    }
    for (host, port) in
        [("127.0.0.1", 9000), ("localhost", 9001), ("10.1.2.3", 80), ("hook.test", 443)]
    {
        assert!(outbound.judge(host, port).is_ok(), "{host}");
    }
}
