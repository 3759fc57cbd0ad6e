//! The certificate that a server shows to those who call it by TLS. The two texts are given; no file is read here.

use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};

/// A certificate with its key, ready to be shown.
#[derive(Clone)]
pub struct Certificate(Arc<ServerConfig>);

/// Why a certificate cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum BadCertificate {
    #[error("it holds no certificate in PEM form")]
    NoCertificate,
    #[error("it cannot be read as PEM")]
    Certificate(#[source] pem::Error),
    #[error("it holds no private key in PEM form")]
    Key(#[source] pem::Error),
    #[error("the certificate and the key do not go together: {0}")]
    Pair(#[source] rustls::Error),
}

impl BadCertificate {
    /// Says whether it is the key's text that is wrong.
    pub fn is_of_the_key(&self) -> bool {
        matches!(self, BadCertificate::Key(_))
    }
}

impl Certificate {
    /// Reads a chain of certificates, the server's own first, and its private key, both as PEM.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, BadCertificate> {
        let chain: Vec<_> = CertificateDer::pem_slice_iter(chain)
            .collect::<Result<_, _>>()
            .map_err(BadCertificate::Certificate)?;
        if chain.is_empty() {
            return Err(BadCertificate::NoCertificate);
        }
        let key = PrivateKeyDer::from_pem_slice(key).map_err(BadCertificate::Key)?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(BadCertificate::Pair)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(BadCertificate::Pair)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(Arc::new(config)))
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.0.clone())
    }
}

impl std::fmt::Debug for Certificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The key stays out of every log.
        f.write_str("Certificate")
    }
}
