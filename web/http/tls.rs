//! TLS identity of a server: a certificate and its key, read again when their files change.

use std::fs::Metadata;
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;

pub use super::tls_validity::Validity;

/// Timeout of a TLS handshake.
pub(super) const HANDSHAKE: Duration = Duration::from_secs(10);

/// Certificate and key in use; connections that are open keep theirs.
#[derive(Debug)]
struct Current(RwLock<Arc<CertifiedKey>>);

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let current = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(&current))
    }
}

/// State of a file: device and inode on Unix, length, time of the last change.
type Stamp = ([u64; 2], u64, Option<SystemTime>);

/// Certificate and key of a server, with their files.
#[derive(Debug)]
pub struct Identity {
    certificates: PathBuf,
    key: PathBuf,
    current: Arc<Current>,
    stamps: Mutex<[Option<Stamp>; 2]>,
}

impl Identity {
    /// Reads a certificate chain and its key.
    ///
    /// # Errors
    /// The invalid file and its error.
    pub fn read(certificates: &Path, key: &Path) -> Result<Self, String> {
        let stamps = [stamp(certificates), stamp(key)];
        let certificate = certified(certificates, key)?;
        Ok(Self {
            certificates: certificates.to_owned(),
            key: key.to_owned(),
            current: Arc::new(Current(RwLock::new(Arc::new(certificate)))),
            stamps: Mutex::new(stamps),
        })
    }

    /// TLS 1.2 and 1.3 acceptor that uses the present certificate.
    ///
    /// # Errors
    /// When the TLS library refuses its own defaults.
    pub fn acceptor(&self) -> Result<TlsAcceptor, String> {
        let resolver: Arc<Current> = Arc::clone(&self.current);
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|err| err.to_string())?
            .with_no_client_auth()
            .with_cert_resolver(resolver);
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    /// Period of validity of the present certificate; `None` for one that cannot be read.
    #[must_use]
    pub fn validity(&self) -> Option<Validity> {
        let current = self.current.0.read().unwrap_or_else(PoisonError::into_inner);
        current.cert.first().and_then(Validity::of)
    }

    /// File of the key.
    #[must_use]
    pub fn key_file(&self) -> &Path {
        &self.key
    }

    /// `true` if a file has changed since it was read; the next call compares with this one.
    pub fn has_changed(&self) -> bool {
        let current = [stamp(&self.certificates), stamp(&self.key)];
        let mut stamps = self.stamps.lock().unwrap_or_else(PoisonError::into_inner);
        let is_changed = current != *stamps;
        *stamps = current;
        is_changed
    }

    /// Reads the files again; new connections use them.
    ///
    /// # Errors
    /// The invalid file and its error: the present certificate stays in use.
    pub fn reload(&self) -> Result<(), String> {
        let certificate = certified(&self.certificates, &self.key)?;
        let mut current = self.current.0.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(certificate);
        Ok(())
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    #[cfg(unix)]
    let inode = |file: &Metadata| [MetadataExt::dev(file), MetadataExt::ino(file)];
    #[cfg(not(unix))]
    let inode = |_: &Metadata| [0, 0];
    let of = |file: Metadata| (inode(&file), file.len(), file.modified().ok());
    std::fs::metadata(path).ok().map(of)
}

/// A certificate chain with a key that fits it.
fn certified(certificates: &Path, key: &Path) -> Result<CertifiedKey, String> {
    let error = |path: &Path, why: String| format!("{}: {why}", path.display());
    let chain: Result<Vec<_>, _> = CertificateDer::pem_file_iter(certificates)
        .map_err(|err| error(certificates, err.to_string()))?
        .collect();
    let chain = chain.map_err(|err| error(certificates, err.to_string()))?;
    let key_der = PrivateKeyDer::from_pem_file(key).map_err(|err| error(key, err.to_string()))?;
    CertifiedKey::from_der(chain, key_der, &ring::default_provider())
        .map_err(|err| error(certificates, err.to_string()))
}
