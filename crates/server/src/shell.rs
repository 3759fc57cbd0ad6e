//! The board as files: its page at every address that it has, and what the page is made of.
//!
//! All of it is inside the binary, made by `build.rs`. It holds nothing of the person's, so it is given to whoever
//! may connect; everything else the page asks the API for, under the same rules as any caller. A path is looked up
//! in a table and never on a disk, so there is no path that leads out.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::error::Problem;
use crate::page;

/// A file of the board.
#[derive(Debug)]
struct File {
    /// Where it is in an address.
    path: &'static str,
    /// Changes with what is in it.
    etag: &'static str,
    bytes: &'static [u8],
    /// The same, compressed.
    gzip: Option<&'static [u8]>,
}

/// The files of a board.
#[derive(Debug, Clone, Copy)]
struct Shell(&'static [File]);

const BOARD: Shell = Shell(include!(concat!(env!("OUT_DIR"), "/board.rs")));

/// What the page may do: run its own script, draw with its own style, ask this server, and show previews, which are
/// on addresses of their own. Text becomes markup through the page's one policy only.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src 'self' blob: data:; font-src 'self'; manifest-src 'self'; worker-src 'self'; \
    frame-src http://*.localhost:*; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types forge";

/// The addresses of pages: each alone, and everything below it.
const PAGES: [&str; 7] = ["/p", "/inbox", "/t", "/a", "/settings", "/projects", "/welcome"];

/// Says whether a path is of the board: one of its pages, or a file of it.
pub(crate) fn is_of_board(path: &str) -> bool {
    is_page(path) || path.starts_with("/assets/") || BOARD.file(path).is_some()
}

/// Says whether a path is one of the board's pages.
pub(crate) fn is_page(path: &str) -> bool {
    path == "/"
        || PAGES.iter().any(|page| match path.strip_prefix(page) {
            Some(rest) => rest.is_empty() || rest.starts_with('/'),
            None => false,
        })
}

/// Sends the page at the root.
pub(crate) async fn show() -> Response {
    BOARD.page("/", StatusCode::OK)
}

/// Sends a file at the root that a route stands for, if this build has it.
pub(crate) fn file(path: &str, headers: &HeaderMap) -> Option<Response> {
    BOARD.file(path).map(|file| file.send(headers))
}

/// Answers what no route does: a page or a file of the board, or that there is nothing.
pub(crate) fn answer(method: &Method, path: &str, headers: &HeaderMap) -> Response {
    BOARD.answer(method, path, headers)
}

impl Shell {
    fn answer(self, method: &Method, path: &str, headers: &HeaderMap) -> Response {
        let file = self.file(path).filter(|_| path != INDEX && !path.starts_with(KINDS));
        let reads = matches!(*method, Method::GET | Method::HEAD);
        match file {
            Some(_) if !reads => not_taken(method, path),
            Some(file) => file.send(headers),
            None if is_page(path) && !reads => not_taken(method, path),
            None if is_page(path) => self.page(path, StatusCode::OK),
            // Somebody follows a link; the page tells them that it leads nowhere.
            None if reads && !path.starts_with("/assets/") && wants_page(headers) => {
                self.page(path, StatusCode::NOT_FOUND)
            }
            None => {
                let message = format!("there is no {path}; the board is at /, the API under /api");
                Problem::new(StatusCode::NOT_FOUND, message).into_response()
            }
        }
    }

    /// Sends the page, which is never kept: it names the files of this build. Where the build has one for the kind of
    /// the address, it is that one, which has the browser fetch what is shown there at once.
    fn page(self, path: &str, status: StatusCode) -> Response {
        let kind = match path.trim_start_matches('/').split('/').next() {
            None | Some("") => "p",
            Some(kind) => kind,
        };
        let Some(index) = self.file(&format!("{KINDS}{kind}.html")).or_else(|| self.file(INDEX)) else {
            return (status, page::no_board()).into_response();
        };
        let headers = [
            (header::CONTENT_TYPE, "text/html; charset=utf-8"),
            (header::CONTENT_SECURITY_POLICY, POLICY),
            (header::CACHE_CONTROL, "no-store"),
            (OPENER, "same-origin"),
        ];
        (status, headers, Body::from(index.bytes)).into_response()
    }

    fn file(self, path: &str) -> Option<&'static File> {
        let at = self.0.binary_search_by(|file| file.path.cmp(path)).ok()?;
        self.0.get(at)
    }
}

const INDEX: &str = "/index.html";
/// Where the pages for kinds of addresses are.
const KINDS: &str = "/pages/";
const OPENER: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

impl File {
    /// Sends the file, or that the caller's copy is right.
    fn send(&self, headers: &HeaderMap) -> Response {
        // A name under `assets` has a hash of what is in it. Everything else keeps its name, and is asked for anew.
        let keep = match self.path.starts_with("/assets/") {
            true => "public, max-age=31536000, immutable",
            false => "no-cache",
        };
        let mut told = HeaderMap::new();
        let mut tell = |name: HeaderName, value: &'static str| {
            told.insert(name, HeaderValue::from_static(value));
        };
        tell(header::CACHE_CONTROL, keep);
        tell(header::ETAG, self.etag);
        tell(header::VARY, "accept-encoding");
        // A service worker lives under the policy of its own script.
        tell(header::CONTENT_SECURITY_POLICY, POLICY);
        if is_known(headers, self.etag) {
            return (StatusCode::NOT_MODIFIED, told).into_response();
        }
        tell(header::CONTENT_TYPE, content_type(self.path));
        let bytes = match self.gzip.filter(|_| takes_gzip(headers)) {
            Some(gzip) => {
                tell(header::CONTENT_ENCODING, "gzip");
                gzip
            }
            None => self.bytes,
        };
        (told, Body::from(bytes)).into_response()
    }
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "html" => "text/html; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "wasm" => "application/wasm",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

fn not_taken(method: &Method, path: &str) -> Response {
    let mut response = Problem::new(StatusCode::METHOD_NOT_ALLOWED, format!("{path} does not take {method}"))
        .into_response();
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET,HEAD"));
    response
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn wants_page(headers: &HeaderMap) -> bool {
    text(headers, &header::ACCEPT).contains("text/html")
}

fn is_known(headers: &HeaderMap, etag: &str) -> bool {
    let known = text(headers, &header::IF_NONE_MATCH);
    known.split(',').map(str::trim).any(|known| known == "*" || known.trim_start_matches("W/") == etag)
}

/// Says whether a caller reads gzip: it is named, and not with a weight of nothing.
fn takes_gzip(headers: &HeaderMap) -> bool {
    text(headers, &header::ACCEPT_ENCODING).split(',').any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().trim_start_matches("q=");
        name.trim().eq_ignore_ascii_case("gzip") && weight.parse::<f32>() != Ok(0.0)
    })
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;

    const MADE: Shell = Shell(&[
        File { path: "/assets/index-1.css", etag: "\"c\"", bytes: b"a {}", gzip: None },
        File { path: "/assets/index-1.js", etag: "\"j\"", bytes: b"plain", gzip: Some(b"small") },
        File { path: "/icon.svg", etag: "\"s\"", bytes: b"<svg/>", gzip: None },
        File { path: INDEX, etag: "\"i\"", bytes: b"<!doctype html>", gzip: Some(b"page") },
        File { path: "/pages/a.html", etag: "\"a\"", bytes: b"<!doctype html><!--a-->", gzip: None },
        File { path: "/pages/p.html", etag: "\"p\"", bytes: b"<!doctype html><!--p-->", gzip: None },
        File { path: "/sw.js", etag: "\"w\"", bytes: b"worker", gzip: None },
    ]);

    /// Asks a shell, with headers, and returns the status, the headers and the body.
    async fn ask(shell: Shell, path: &str, sent: &[(HeaderName, &'static str)]) -> (u16, HeaderMap, String) {
        let mut headers = HeaderMap::new();
        for (name, value) in sent {
            headers.insert(name, HeaderValue::from_static(value));
        }
        let response = shell.answer(&Method::GET, path, &headers);
        let (status, told) = (response.status().as_u16(), response.headers().clone());
        let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        (status, told, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn every_page_is_the_one_of_its_kind_or_the_common_one_and_is_not_kept() {
        let pages = [
            ("/", "<!--p-->"),
            ("/p/1", "<!--p-->"),
            ("/a/1/changes", "<!--a-->"),
            ("/inbox", ""),
            ("/t/1", ""),
            ("/settings", ""),
            ("/settings/agents", ""),
            ("/welcome", ""),
        ];
        for (path, kind) in pages {
            let (status, told, body) = ask(MADE, path, &[(header::ACCEPT_ENCODING, "gzip")]).await;
            assert_eq!((status, body), (200, format!("<!doctype html>{kind}")), "{path}");
            assert_eq!(told[header::CACHE_CONTROL], "no-store");
            assert_eq!(told[header::CONTENT_SECURITY_POLICY], POLICY);
            assert_eq!(told["cross-origin-opener-policy"], "same-origin");
        }
        for path in ["/pages", "/tea", "/apis", "/settingsx", "/index.html", "/pages/a.html"] {
            assert_eq!(ask(MADE, path, &[]).await.0, 404, "{path}");
        }
    }

    #[tokio::test]
    async fn a_file_with_a_hash_in_its_name_is_kept_for_a_year_and_others_are_asked_for_anew() {
        let (status, told, body) = ask(MADE, "/assets/index-1.css", &[]).await;
        assert_eq!((status, body.as_str()), (200, "a {}"));
        assert_eq!(told[header::CACHE_CONTROL], "public, max-age=31536000, immutable");
        assert_eq!(told[header::CONTENT_TYPE], "text/css; charset=utf-8");
        for (path, kind) in [("/sw.js", "text/javascript; charset=utf-8"), ("/icon.svg", "image/svg+xml")] {
            let (_, told, _) = ask(MADE, path, &[]).await;
            assert_eq!(told[header::CACHE_CONTROL], "no-cache");
            assert_eq!(told[header::CONTENT_TYPE], kind);
        }
        for known in ["\"w\"", "W/\"w\"", "\"x\", \"w\"", "*"] {
            let (status, told, body) = ask(MADE, "/sw.js", &[(header::IF_NONE_MATCH, known)]).await;
            assert_eq!((status, body.as_str()), (304, ""), "{known}");
            assert_eq!(told[header::ETAG], "\"w\"");
        }
        assert_eq!(ask(MADE, "/sw.js", &[(header::IF_NONE_MATCH, "\"x\"")]).await.0, 200);
    }

    #[tokio::test]
    async fn what_is_compressed_is_sent_so_to_those_who_read_it() {
        for (coding, sent) in [
            ("gzip", "small"),
            ("br, GZIP;q=0.5", "small"),
            ("gzip;q=0", "plain"),
            ("br, identity", "plain"),
            ("", "plain"),
        ] {
            let (_, told, body) = ask(MADE, "/assets/index-1.js", &[(header::ACCEPT_ENCODING, coding)]).await;
            assert_eq!(body, sent, "{coding}");
            assert_eq!(told.contains_key(header::CONTENT_ENCODING), sent == "small");
            assert_eq!(told[header::VARY], "accept-encoding");
        }
        let (_, told, body) = ask(MADE, "/sw.js", &[(header::ACCEPT_ENCODING, "gzip")]).await;
        assert_eq!((body.as_str(), told.contains_key(header::CONTENT_ENCODING)), ("worker", false));
    }

    #[tokio::test]
    async fn a_build_without_the_board_says_so_on_every_page() {
        let (status, told, body) = ask(Shell(&[]), "/p/1", &[]).await;
        assert_eq!(status, 200);
        assert!(body.contains("./start"), "{body}");
        assert!(!told[header::CONTENT_SECURITY_POLICY].to_str().unwrap().contains("unsafe"));
    }

    #[test]
    fn the_table_is_in_the_order_in_which_it_is_searched() {
        assert!(BOARD.0.is_sorted_by(|a, b| a.path < b.path));
        assert!(MADE.0.is_sorted_by(|a, b| a.path < b.path));
    }
}
