//! Two ways of running something aside: what blocks, and what must not be broken off.

use std::path::Path;

use crate::{Error, Result, aside};

/// Runs something that blocks where it may.
pub(crate) async fn blocking<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let held = aside::at_work();
    let step = move || {
        let _held = held;
        act()
    };
    tokio::task::spawn_blocking(step)
        .await
        .map_err(|error| Error::internal(format!("a background step broke off: {error}")))
}

/// Says whether a directory is there, without holding anybody up whose disk answers.
pub(crate) async fn is_dir(path: &Path) -> Result<bool> {
    let path = path.to_path_buf();
    blocking(move || path.is_dir()).await
}

/// Runs a verb to its end even when nobody waits for it any more.
pub(crate) async fn detached<T: Send + 'static>(
    verb: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    match aside::along(verb).await {
        Ok(outcome) => outcome,
        Err(error) => Err(Error::internal(format!("a step broke off: {error}"))),
    }
}
