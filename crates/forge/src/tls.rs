//! Reads the certificate that `forge serve` shows, and says which of its two files is wrong.

use std::fs;
use std::path::Path;

use forge_server::Certificate;

use crate::exit::{Failure, Result};

/// Reads a certificate and its key.
pub(crate) fn read(chain: &Path, key: &Path) -> Result<Certificate> {
    let text = |path: &Path| {
        fs::read(path)
            .map_err(|error| Failure::invalid(format!("could not read {}: {error}", path.display())))
    };
    Certificate::from_pem(&text(chain)?, &text(key)?).map_err(|error| {
        let path = if error.is_of_the_key() { key } else { chain };
        Failure::invalid(format!("{} cannot be used: {error}", path.display()))
    })
}
