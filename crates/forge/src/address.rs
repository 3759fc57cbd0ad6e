//! Which address is meant: by a flag, else by a variable, else the default. Mistakes name where they were made.

use std::net::{IpAddr, Ipv4Addr};

use crate::cli::Globals;
use crate::environment::{self, BACKEND_PORT, FORGE_BASE_URL, HOST, PORT};
use crate::exit::{Failure, Result};

/// The port when nobody names one; older clients look there.
pub(crate) const DEFAULT_PORT: u16 = 8887;

/// Returns the address to listen on.
pub(crate) fn to_listen(globals: &Globals) -> Result<(IpAddr, u16)> {
    let host = match host(globals) {
        None => IpAddr::V4(Ipv4Addr::LOCALHOST),
        Some((source, text)) => plain(&text).parse().map_err(|_| {
            Failure::invalid(format!("{source} must be an IP address such as 127.0.0.1, not {text:?}"))
        })?,
    };
    Ok((host, port(globals)?.unwrap_or(DEFAULT_PORT)))
}

/// Returns the URL a client was told to talk to; none when nobody named one.
pub(crate) fn to_call(globals: &Globals) -> Result<Option<String>> {
    if let Some(text) = &globals.url {
        return url("--url", text).map(Some);
    }
    let flagged = globals.host.is_some() || globals.port.is_some();
    if let Some(text) = environment::text(FORGE_BASE_URL).filter(|_| !flagged) {
        return url(FORGE_BASE_URL, &text).map(Some);
    }
    let (host, port) = (host(globals), port(globals)?);
    if host.is_none() && matches!(port, None | Some(0)) {
        return Ok(None);
    }
    let host = host.map_or_else(|| "127.0.0.1".to_string(), |(_, text)| callable(&plain(&text)));
    let port = port.filter(|port| *port != 0).unwrap_or(DEFAULT_PORT);
    url("the address", &format!("http://{host}:{port}")).map(Some)
}

/// Says whether somebody named an address, so that no server is started behind their back.
pub(crate) fn is_named(globals: &Globals) -> bool {
    let flagged = globals.url.is_some() || globals.host.is_some() || globals.port.is_some();
    flagged || [FORGE_BASE_URL, HOST, BACKEND_PORT, PORT].iter().any(|name| environment::text(name).is_some())
}

fn host(globals: &Globals) -> Option<(&'static str, String)> {
    let flag = globals.host.clone().map(|text| ("--host", text));
    flag.or_else(|| environment::text(HOST).map(|text| (HOST, text)))
}

fn port(globals: &Globals) -> Result<Option<u16>> {
    if globals.port.is_some() {
        return Ok(globals.port);
    }
    let Some((name, text)) =
        [BACKEND_PORT, PORT].iter().find_map(|name| Some((name, environment::text(name)?)))
    else {
        return Ok(None);
    };
    let port = plain(&text).parse();
    port.map(Some)
        .map_err(|_| Failure::invalid(format!("{name} must be a port from 0 to 65535, not {text:?}")))
}

/// Takes out colour codes, which some launchers leave in the values they set, and blanks around.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\u{1b}' {
            plain.push(character);
            continue;
        }
        // A sequence is ESC, `[`, parameters, and one final letter.
        for follower in characters.by_ref() {
            if follower.is_ascii_alphabetic() {
                break;
            }
        }
    }
    plain.trim().to_string()
}

/// Turns an address a server listens on into one a client can reach.
fn callable(host: &str) -> String {
    match host.trim_matches(['[', ']']).parse() {
        Ok(IpAddr::V4(ip)) if ip.is_unspecified() => "127.0.0.1".to_string(),
        Ok(IpAddr::V6(ip)) if ip.is_unspecified() => "[::1]".to_string(),
        Ok(IpAddr::V6(ip)) => format!("[{ip}]"),
        _ => host.to_string(),
    }
}

fn url(source: &str, text: &str) -> Result<String> {
    let url = text.trim().trim_end_matches('/');
    let rest =
        url.strip_prefix("http://").filter(|rest| !rest.is_empty() && !rest.contains(['/', '?', '#', ' ']));
    match rest {
        Some(_) => Ok(url.to_string()),
        None if url.starts_with("https://") => {
            Err(Failure::invalid(format!("{source} must begin with http://; this client does not speak TLS")))
        }
        None => Err(Failure::invalid(format!("{source} must look like http://127.0.0.1:8887, not {text:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_codes_around_a_value_are_taken_out() {
        assert_eq!(plain("\u{1b}[32m8887\u{1b}[0m\n"), "8887");
        assert_eq!(plain(" 127.0.0.1 "), "127.0.0.1");
    }

    #[test]
    fn a_client_reaches_a_server_that_listens_everywhere_on_loopback() {
        assert_eq!(callable("0.0.0.0"), "127.0.0.1");
        assert_eq!(callable("::"), "[::1]");
        assert_eq!(callable("::1"), "[::1]");
        assert_eq!(callable("localhost"), "localhost");
    }

    #[test]
    fn a_url_is_only_a_host_and_a_port() {
        assert_eq!(url("--url", "http://localhost:8887/").unwrap(), "http://localhost:8887");
        for wrong in ["localhost:8887", "http://", "http://a/b", "ftp://a"] {
            let message = url("--url", wrong).unwrap_err().message;
            assert!(message.contains("--url must look like"), "{message}");
        }
        assert!(url("--url", "https://a").unwrap_err().message.contains("TLS"));
    }
}
