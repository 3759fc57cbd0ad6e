//! Where GitHub is: the address of its pages and that of its API. One that would send tokens in the clear is
//! refused.

use ureq::http::Uri;

const GITHUB: &str = "https://github.com";
const GITHUB_API: &str = "https://api.github.com";

/// The addresses of GitHub's pages and of its API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pages: String,
    api: String,
    local: bool,
}

/// An address that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("{0:?} is no address of a server; one looks like {GITHUB}")]
    NoServer(String),
    #[error("{0:?} would send tokens unencrypted; use https (http is taken for this machine itself only)")]
    InTheClear(String),
}

impl Default for Address {
    fn default() -> Self {
        Self { pages: GITHUB.into(), api: GITHUB_API.into(), local: false }
    }
}

impl Address {
    /// Reads the addresses. Without one for the API it is where GitHub itself, or a server of one's own, has it.
    pub fn new(pages: Option<&str>, api: Option<&str>) -> Result<Self, AddressError> {
        let (pages, pages_local) = check(pages.unwrap_or(GITHUB))?;
        let api = match api {
            Some(api) => api.to_string(),
            None if pages == GITHUB => GITHUB_API.to_string(),
            None => format!("{pages}/api/v3"),
        };
        let (api, api_local) = check(&api)?;
        Ok(Self { pages, api, local: pages_local && api_local })
    }

    /// The address of the pages, which is where repositories are too.
    pub fn pages(&self) -> &str {
        &self.pages
    }

    pub(super) fn page(&self, path: &str) -> String {
        format!("{}{path}", self.pages)
    }

    pub(super) fn api(&self, path: &str) -> String {
        format!("{}{path}", self.api)
    }

    /// Says whether both are on this machine, where no proxy has a say.
    pub(super) fn is_local(&self) -> bool {
        self.local
    }
}

fn check(text: &str) -> Result<(String, bool), AddressError> {
    let text = text.trim().trim_end_matches('/');
    let no_server = || AddressError::NoServer(text.to_string());
    let uri: Uri = text.parse().map_err(|_| no_server())?;
    let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(no_server)?;
    if uri.query().is_some() || uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(no_server());
    }
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let local = host == "localhost" || bare.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
    match uri.scheme_str() {
        Some("https") => {}
        Some("http") if local => {}
        Some("http") => return Err(AddressError::InTheClear(text.to_string())),
        _ => return Err(no_server()),
    }
    Ok((text.to_string(), local))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_word_it_is_github_itself() {
        let address = Address::new(None, None).unwrap();
        assert_eq!(address, Address::default());
        assert_eq!(address.api("/user"), "https://api.github.com/user");
    }

    #[test]
    fn a_server_of_ones_own_has_its_api_below_it_unless_told_otherwise() {
        let address = Address::new(Some("https://git.example.org/"), None).unwrap();
        assert_eq!(address.page("/login/device/code"), "https://git.example.org/login/device/code");
        assert_eq!(address.api("/user"), "https://git.example.org/api/v3/user");
        let address = Address::new(Some("https://git.example.org"), Some("https://api.example.org")).unwrap();
        assert_eq!(address.api("/user"), "https://api.example.org/user");
    }

    #[test]
    fn a_token_is_never_sent_in_the_clear_over_a_network() {
        let refused = |text| Address::new(Some(text), None).unwrap_err();
        assert!(matches!(refused("http://git.example.org"), AddressError::InTheClear(_)));
        for wrong in
            ["git.example.org", "ftp://git.example.org", "https://", "https://a:b@git.example.org", "x y"]
        {
            assert!(matches!(refused(wrong), AddressError::NoServer(_)), "{wrong}");
        }
        for local in ["http://127.0.0.1:9", "http://localhost:9", "http://[::1]:9"] {
            assert!(Address::new(Some(local), None).unwrap().is_local(), "{local}");
        }
    }
}
