//! Which repository at GitHub the address of a remote means, in all the ways that git writes addresses.

use super::Address;

/// A repository at GitHub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    pub owner: String,
    pub name: String,
}

impl Address {
    /// Reads the address of a remote; none when it leads elsewhere.
    pub fn repository(&self, remote: &str) -> Option<Repository> {
        let (host, path) = split(remote.trim())?;
        if !self.is_at(host) {
            return None;
        }
        let path = path.trim_matches('/');
        let (owner, name) = path.strip_suffix(".git").unwrap_or(path).split_once('/')?;
        // Each becomes part of a path of the API.
        let is_name = |text: &str| {
            !text.is_empty()
                && !matches!(text, "." | "..")
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        };
        (is_name(owner) && is_name(name))
            .then(|| Repository { owner: owner.to_string(), name: name.to_string() })
    }

    /// The page on which a person opens a pull request by hand.
    pub fn compare_page(&self, repository: &Repository, base: &str, head: &str) -> String {
        let Repository { owner, name } = repository;
        self.page(&format!("/{owner}/{name}/compare/{}...{}?expand=1", escaped(base), escaped(head)))
    }

    fn is_at(&self, host: Host<'_>) -> bool {
        let ours = self.pages().split("://").nth(1).unwrap_or_default();
        let our_name = ours.split(':').next().unwrap_or(ours);
        match host {
            Host::Web(host) => host.eq_ignore_ascii_case(ours),
            // Where ssh is refused, GitHub takes it on a port of the web, under a name for that.
            Host::Ssh(host) => {
                let host = host.strip_prefix("ssh.").unwrap_or(host);
                host.eq_ignore_ascii_case(our_name)
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Host<'a> {
    /// With its port, where it names one.
    Web(&'a str),
    Ssh(&'a str),
}

/// Splits an address into the host and the path on it.
fn split(remote: &str) -> Option<(Host<'_>, &str)> {
    if let Some((scheme, rest)) = remote.split_once("://") {
        let (authority, path) = rest.split_once('/')?;
        let authority = authority.rsplit('@').next().unwrap_or(authority);
        return match scheme.to_ascii_lowercase().as_str() {
            "https" => Some((Host::Web(authority.strip_suffix(":443").unwrap_or(authority)), path)),
            "http" => Some((Host::Web(authority.strip_suffix(":80").unwrap_or(authority)), path)),
            "ssh" | "git+ssh" | "ssh+git" => {
                Some((Host::Ssh(authority.split(':').next().unwrap_or(authority)), path))
            }
            _ => None,
        };
    }
    // `git@host:owner/name`; a path has its slash before any colon.
    let (authority, path) = remote.split_once(':')?;
    let is_path = authority.contains('/') || authority.is_empty();
    (!is_path).then(|| (Host::Ssh(authority.rsplit('@').next().unwrap_or(authority)), path))
}

/// Escapes what a path of a page cannot hold as it is; a slash in a branch stays.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' | b':' => {
                escaped.push(char::from(byte));
            }
            byte => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_read_from_every_way_to_write_its_address() {
        let github = Address::default();
        let expected = Some(Repository { owner: "ada".into(), name: "engine.rs".into() });
        for remote in [
            "https://github.com/ada/engine.rs",
            "https://github.com/ada/engine.rs.git",
            "https://github.com/ada/engine.rs.git/",
            "https://me:secret@github.com:443/ada/engine.rs",
            "https://GitHub.com/ada/engine.rs",
            "git@github.com:ada/engine.rs.git",
            "github.com:ada/engine.rs",
            "ssh://git@github.com/ada/engine.rs.git",
            "ssh://git@ssh.github.com:443/ada/engine.rs.git",
        ] {
            assert_eq!(github.repository(remote), expected, "{remote}");
        }
    }

    #[test]
    fn what_leads_elsewhere_is_no_repository_at_github() {
        let github = Address::default();
        for remote in [
            "",
            "/srv/git/ada/engine.git",
            "../engine.git",
            "file:///github.com/ada/engine",
            "https://gitlab.com/ada/engine.git",
            "https://github.com.evil.org/ada/engine.git",
            "https://github.com@evil.org/ada/engine.git",
            "git@github-work:ada/engine.git",
            "https://github.com/ada",
            "https://github.com/ada/engine/tree",
            "https://github.com/ada/..",
            "https://github.com/ada/a?b",
        ] {
            assert_eq!(github.repository(remote), None, "{remote}");
        }
    }

    #[test]
    fn a_server_of_ones_own_is_known_by_its_name_and_its_port() {
        let own = Address::new(Some("https://git.example.org:8443"), None).unwrap();
        assert!(own.repository("https://git.example.org:8443/a/b.git").is_some());
        assert!(own.repository("ssh://git@git.example.org:22/a/b.git").is_some());
        assert!(own.repository("https://git.example.org/a/b.git").is_none());
        assert!(own.repository("https://github.com/a/b.git").is_none());
    }

    #[test]
    fn the_page_to_compare_on_has_the_branches_in_its_address() {
        let repository = Repository { owner: "ada".into(), name: "engine".into() };
        let page = Address::default().compare_page(&repository, "main", "me:forge/1a2b-wörk#1");
        assert_eq!(page, "https://github.com/ada/engine/compare/main...me:forge/1a2b-w%C3%B6rk%231?expand=1");
    }
}
