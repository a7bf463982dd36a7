//! TLS of outbound connections: rustls on ring.

use std::io;
use std::sync::{Arc, OnceLock};

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{
    CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

/// Trust in the certificate of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Trust {
    /// Certificate authorities of the operating system, or of the files that `SSL_CERT_FILE` and
    /// `SSL_CERT_DIR` name.
    #[default]
    System,
    /// These certificate authorities, PEM.
    Authorities(String),
    /// Any certificate: encrypted, but not authenticated.
    Any,
}

/// Configuration of the operating system's authorities, read once.
static SYSTEM: OnceLock<Arc<ClientConfig>> = OnceLock::new();

fn builder() -> io::Result<
    tokio_rustls::rustls::ConfigBuilder<ClientConfig, tokio_rustls::rustls::WantsVerifier>,
> {
    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)
}

impl Trust {
    /// Checks PEM text: at least one certificate authority.
    ///
    /// # Errors
    /// The reason.
    pub fn check_pem(pem: &str) -> Result<(), String> {
        roots(pem).map(|_| ()).map_err(|err| err.to_string())
    }

    fn config(&self) -> io::Result<Arc<ClientConfig>> {
        let trusting = |roots| -> io::Result<_> {
            let config = builder()?.with_root_certificates(roots);
            Ok(Arc::new(config.with_no_client_auth()))
        };
        match self {
            Self::System => {
                if let Some(config) = SYSTEM.get() {
                    return Ok(Arc::clone(config));
                }
                let certificates = rustls_native_certs::load_native_certs();
                let mut roots = RootCertStore::empty();
                let (added, _) = roots.add_parsable_certificates(certificates.certs);
                if added == 0 {
                    let cause = certificates.errors.first().map(|cause| format!(": {cause}"));
                    let message =
                        format!("no trusted certificate authority{}", cause.unwrap_or_default());
                    return Err(io::Error::new(io::ErrorKind::NotFound, message));
                }
                let config = trusting(roots)?;
                Ok(Arc::clone(SYSTEM.get_or_init(|| config)))
            }
            Self::Authorities(pem) => trusting(roots(pem)?),
            Self::Any => {
                let verifier = Arc::new(AnyCertificate(ring::default_provider()));
                let config = builder()?.dangerous().with_custom_certificate_verifier(verifier);
                Ok(Arc::new(config.with_no_client_auth()))
            }
        }
    }

    /// TLS over a connected stream. Blocks for the first read of the system's authorities.
    pub async fn shake(&self, host: &str, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let connector = TlsConnector::from(self.config()?);
        connector.connect(name, stream).await
    }
}

/// Certificates in PEM text.
fn roots(pem: &str) -> io::Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        let certificate = certificate.map_err(io::Error::other)?;
        roots.add(certificate).map_err(io::Error::other)?;
    }
    match roots.is_empty() {
        true => Err(io::Error::other("no certificate in the PEM text")),
        false => Ok(roots),
    }
}

/// Accepts every certificate, with valid signatures of the handshake.
#[derive(Debug)]
struct AnyCertificate(CryptoProvider);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
