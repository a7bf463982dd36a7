//! Downloads over TLS from a server whose certificate an authority of this test signed.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use groundwave_needs::needs;
use groundwave_outbound::Trust;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::*;

/// An authority, in a folder that is deleted with the test.
struct Authority(tempfile::TempDir);

impl Authority {
    fn new(subject: &str) -> Self {
        let authority = Self(tempfile::tempdir().unwrap());
        let extension = "basicConstraints=critical,CA:TRUE";
        authority.openssl("authority", subject, extension, &[]);
        authority
    }

    /// Makes `NAME.pem` and `NAME.key`.
    fn openssl(&self, name: &str, subject: &str, extension: &str, signed: &[&str]) {
        let output = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-nodes", "-days", "3650"])
            .args(["-pkeyopt", "ec_paramgen_curve:prime256v1"])
            .args(["-subj", &format!("/CN={subject}"), "-addext", extension])
            .args(["-out", &format!("{name}.pem")])
            .args(["-keyout", &format!("{name}.key")])
            .args(signed)
            .current_dir(self.0.path())
            .stderr(Stdio::null())
            .status();
        assert!(output.unwrap().success(), "{name}");
    }

    /// Clients that trust this authority alone.
    fn client(&self) -> Client {
        let pem = fs::read_to_string(self.0.path().join("authority.pem")).unwrap();
        Client { trust: Trust::Authorities(pem), ..client() }
    }

    /// Server configuration with a certificate for a name, e.g. `IP:127.0.0.1`.
    fn certify(&self, name: &str) -> Arc<ServerConfig> {
        let of_host = [
            "-CA",
            "authority.pem",
            "-CAkey",
            "authority.key",
            "-addext",
            "basicConstraints=critical,CA:FALSE",
        ];
        let names = format!("subjectAltName={name}");
        self.openssl("server", "server", &names, &of_host);
        let file = |name: &str| self.0.path().join(name);
        let chain = vec![CertificateDer::from_pem_file(file("server.pem")).unwrap()];
        let key = PrivateKeyDer::from_pem_file(file("server.key")).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, key);
        Arc::new(config.unwrap())
    }
}

/// A server over TLS, with the number of connections so far. Orderly ones end with the closing alert;
/// the others just end, as after a failure of the network.
fn serve(config: Arc<ServerConfig>, is_orderly: bool) -> (Server, Arc<AtomicUsize>) {
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    let server = Server::start("https", tile_bytes(), move |stream, offer| {
        count.fetch_add(1, Ordering::SeqCst);
        let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut stream = StreamOwned::new(connection, stream);
        answer(&mut stream, offer)?;
        if is_orderly {
            stream.conn.send_close_notify();
        }
        stream.flush()
    });
    (server, connections)
}

/// A proxy that opens every tunnel to one server, with the heads of its requests so far.
fn tunnels(to: &Server) -> Server {
    let to = to.address.trim_start_matches("https://").to_owned();
    Server::start("http", Vec::new(), move |mut stream, offer| {
        let head = head_of(&mut stream)?;
        offer.lock().unwrap().requests.push(head);
        let mut other = TcpStream::connect(&to)?;
        stream.write_all(b"HTTP/1.1 200 Connection established\r\nVia: 1.1 test\r\n\r\n")?;
        let (mut source, mut there) = (stream.try_clone()?, other.try_clone()?);
        let upwards = std::thread::spawn(move || std::io::copy(&mut source, &mut there));
        let _ = std::io::copy(&mut other, &mut stream);
        // Both ends receive the close of the server.
        stream.shutdown(std::net::Shutdown::Both)?;
        upwards.join().unwrap().map(drop)
    })
}

#[needs(openssl)]
#[test]
fn an_interrupted_download_over_tls_continues() {
    let authority = Authority::new("one");
    let config = authority.certify("IP:127.0.0.1");
    for is_orderly in [false, true] {
        let ((server, _), place) = (serve(Arc::clone(&config), is_orderly), Place::new());
        server.change(|offer| offer.cuts = vec![700, 0, 1, 300]);
        let events = place.fetch_with(&authority.client(), &server.address).unwrap();
        assert_eq!(events.last(), Some(&Event::Stored));
        assert_eq!(place.bytes(), tile_bytes());
        let requests = &server.offer.lock().unwrap().requests;
        let ranges: Vec<_> = requests.iter().map(|head| field(head, "Range")).collect();
        let expected = ["bytes=700-", "bytes=700-", "bytes=701-", "bytes=1001-"];
        assert_eq!(ranges[0], None);
        assert_eq!(ranges[1..], expected.map(Some), "orderly: {is_orderly}");
        let index = place.cache().index().unwrap();
        let url = &index.files["glo30/N59E010"].url;
        assert!(url.starts_with("https://127.0.0.1:"), "{url}");
    }
}

#[needs(openssl)]
#[test]
fn untrusted_certificate_gives_an_error_at_the_first_try() {
    let (authority, other) = (Authority::new("one"), Authority::new("other"));
    let refused = |name: &str, client: &Client, reason: &str| {
        let (server, connections) = serve(authority.certify(name), true);
        let place = Place::new();
        let error = place.fetch_with(client, &server.address).unwrap_err();
        assert!(matches!(error, FetchError::Certificate { .. }), "{error}");
        let error = error.to_string();
        for part in [reason, &server.address, TILE, "SSL_CERT_FILE"] {
            assert!(error.contains(part), "no {part:?} in {error}");
        }
        // Not a byte of the request was sent, and no other try was made.
        assert!(server.offer.lock().unwrap().requests.is_empty());
        assert_eq!(connections.load(Ordering::SeqCst), 1);
        assert!(place.leftovers().is_empty(), "{:?}", place.leftovers());
    };
    let unknown = "its authority is not among the trusted ones";
    refused("IP:127.0.0.1", &other.client(), unknown);
    let own = authority.client();
    refused("DNS:tiles.example", &own, "not valid for name");
    refused("IP:127.0.0.2", &own, "not valid for name");
}

#[needs(openssl)]
#[test]
fn server_without_tls_gives_an_error() {
    let authority = Authority::new("one");
    let server = Server::of(tile_bytes());
    let address = server.address.replace("http://", "https://");
    let fetched = Place::new().fetch_with(&authority.client(), &address);
    let error = fetched.unwrap_err();
    assert!(matches!(error, FetchError::Network { .. }), "{error}");
    assert!(error.to_string().contains("TLS: "), "{error}");
}

#[needs(openssl)]
#[test]
fn a_tunnel_hides_the_request_from_the_proxy() {
    let authority = Authority::new("one");
    let (server, _) = serve(authority.certify("DNS:tiles.example"), false);
    server.change(|offer| offer.cuts = vec![500]);
    let (tunnels, place) = (tunnels(&server), Place::new());
    let proxy = tunnels.address.replace("http://", "http://ann:secret@");
    let client = Client { proxy: Proxy::all(&proxy).unwrap(), ..authority.client() };
    let base_url = "https://tiles.example/mirror";
    place.fetch_with(&client, base_url).unwrap();
    assert_eq!(place.bytes(), tile_bytes());
    // One tunnel for each of the two requests, with the name of the host and nothing else of them.
    let opened = tunnels.offer.lock().unwrap().requests.clone();
    assert_eq!(opened.len(), 2);
    for head in &opened {
        let start = "CONNECT tiles.example:443 HTTP/1.1\r\nHost: tiles.example:443\r\n";
        assert!(head.starts_with(start) && !head.contains(TILE), "{head}");
        let authorisation = field(head, "Proxy-Authorization");
        assert_eq!(authorisation, Some("Basic YW5uOnNlY3JldA=="));
    }
    let requests = server.offer.lock().unwrap().requests.clone();
    let start = format!("GET /mirror/{TILE}/{TILE}.tif HTTP/1.1\r\n");
    for head in &requests {
        assert!(head.starts_with(&start), "{head}");
        assert_eq!(field(head, "Host"), Some("tiles.example"));
        assert_eq!(field(head, "Proxy-Authorization"), None);
    }
    assert_eq!(field(&requests[1], "Range"), Some("bytes=500-"));
    // The name is checked within the tunnel: the proxy cannot put another server in its place.
    let error = Place::new().fetch_with(&client, "https://other.example").unwrap_err();
    assert!(matches!(error, FetchError::Certificate { .. }), "{error}");
    assert_eq!(server.offer.lock().unwrap().requests.len(), 2);
}
