//! The routes that clients know and this server does not serve yet: one list, each answered with a 501 that
//! names the route.
//!
//! Whoever serves a route takes it off this list; a route that is in both keeps the router from being made.
//! `routes.txt` is every route that there must be, one `METHOD /path` a line: what is not listed here is served.

use axum::Router;
use axum::http::StatusCode;
use axum::routing::{MethodFilter, on};

use crate::error::Problem;
use crate::state::App;

/// What is not served yet. A WebSocket is a GET.
const UNSERVED: &[&str] = &[];

/// The methods and paths that are not served yet.
pub(crate) fn list() -> impl Iterator<Item = (&'static str, &'static str)> {
    UNSERVED.iter().filter_map(|route| route.split_once(' '))
}

/// Answers for every route that is not served yet.
pub(crate) fn router() -> Router<App> {
    list().fold(Router::new(), |router, (method, path)| {
        let answer = move || async move { not_yet(method, path) };
        router.route(path, on(filter(method), answer))
    })
}

fn not_yet(method: &str, path: &str) -> Problem {
    let message = format!("{method} {path} is not served by this version of Forge yet");
    Problem::new(StatusCode::NOT_IMPLEMENTED, message)
}

fn filter(method: &str) -> MethodFilter {
    match method {
        "POST" => MethodFilter::POST,
        "PUT" => MethodFilter::PUT,
        "DELETE" => MethodFilter::DELETE,
        _ => MethodFilter::GET,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUTES: &str = include_str!("../routes.txt");

    #[test]
    fn every_route_that_is_not_served_stands_in_the_table_once() {
        for route in UNSERVED {
            assert_eq!(ROUTES.lines().filter(|line| line == route).count(), 1, "{route} in routes.txt");
            assert_eq!(UNSERVED.iter().filter(|other| *other == route).count(), 1, "{route} in the list");
        }
    }

    #[test]
    fn every_line_of_the_table_is_a_method_and_a_path() {
        for line in ROUTES.lines() {
            let (method, path) = line.split_once(' ').unwrap();
            assert!(["GET", "POST", "PUT", "DELETE"].contains(&method), "{line}");
            assert!(path.starts_with('/') && !path.contains(' '), "{line}");
            assert_eq!(ROUTES.lines().filter(|other| *other == line).count(), 1, "{line} stands there twice");
        }
    }
}
