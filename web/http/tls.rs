//! TLS identity of a server.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Timeout of a TLS handshake.
pub(super) const HANDSHAKE: Duration = Duration::from_secs(10);

/// TLS 1.2 and 1.3 acceptor with a certificate and its key.
///
/// # Errors
/// The invalid file and its error.
pub fn identity(certificates: &Path, key: &Path) -> Result<TlsAcceptor, String> {
    let told = |path: &Path, why: String| format!("{}: {why}", path.display());
    let chain: Result<Vec<_>, _> = CertificateDer::pem_file_iter(certificates)
        .map_err(|err| told(certificates, err.to_string()))?
        .collect();
    let chain = chain.map_err(|err| told(certificates, err.to_string()))?;
    let key_der = PrivateKeyDer::from_pem_file(key).map_err(|err| told(key, err.to_string()))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|err| err.to_string())?
        .with_no_client_auth()
        .with_single_cert(chain, key_der)
        .map_err(|err| told(certificates, err.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
