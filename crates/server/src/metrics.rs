//! What `/metrics` tells: how many requests there were and how long they took, which streams are open, and how the
//! engine is. Labels are templates of routes, methods and states, never anything a person wrote.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::{Method, StatusCode, header};
use axum::response::Response;
use forge_engine::Vitals;
use futures_util::StreamExt;

use crate::connection::Held;

/// The upper bounds of the buckets, in seconds.
const BUCKETS: [f64; 7] = [0.005, 0.02, 0.05, 0.1, 0.5, 2.0, 10.0];

/// The counts of one server. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Metrics {
    counts: Arc<Counts>,
}

#[derive(Debug)]
struct Counts {
    begun: SystemTime,
    requests: Mutex<BTreeMap<RequestKey, Taken>>,
    streams: Mutex<BTreeMap<StreamKey, u64>>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct RequestKey {
    route: String,
    method: &'static str,
    status: &'static str,
}

/// How often, and how long it took.
#[derive(Debug, Default)]
struct Taken {
    count: u64,
    seconds: f64,
    within: [u64; BUCKETS.len()],
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct StreamKey {
    kind: &'static str,
    route: String,
}

/// A request that is being served.
#[derive(Debug)]
pub(crate) struct Asked {
    metrics: Metrics,
    route: String,
    method: &'static str,
    connection: Option<Held>,
    at: Instant,
}

/// A stream that is open for as long as this is held.
#[derive(Debug)]
struct OpenStream {
    metrics: Metrics,
    key: StreamKey,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let counts =
            Counts { begun: SystemTime::now(), requests: Mutex::default(), streams: Mutex::default() };
        Self { counts: Arc::new(counts) }
    }

    /// Begins to measure a request.
    pub(crate) fn asked(&self, request: &Request) -> Asked {
        let route = request.extensions().get::<MatchedPath>();
        Asked {
            metrics: self.clone(),
            // A path that is no route of ours is somebody's text.
            route: route.map_or_else(|| "none".to_string(), |route| route.as_str().to_string()),
            method: name(request.method()),
            connection: request.extensions().get::<Held>().cloned(),
            at: Instant::now(),
        }
    }

    fn opened(&self, kind: &'static str, route: String) -> OpenStream {
        let key = StreamKey { kind, route };
        *lock(&self.counts.streams).entry(key.clone()).or_default() += 1;
        OpenStream { metrics: self.clone(), key }
    }

    /// Writes everything in the text format of Prometheus.
    pub(crate) fn exposition(&self, vitals: &Vitals) -> String {
        let mut text = String::new();
        let version = env!("CARGO_PKG_VERSION");
        family(&mut text, "forge_build_info", "gauge", "The version that runs.");
        line(&mut text, "forge_build_info", &[("version", version)], 1);
        family(&mut text, "forge_start_time_seconds", "gauge", "When the server began to serve.");
        let begun = self.counts.begun.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        line(&mut text, "forge_start_time_seconds", &[], begun);
        if let Some(bytes) = vitals.resident_bytes {
            family(&mut text, "process_resident_memory_bytes", "gauge", "Memory of the server itself.");
            line(&mut text, "process_resident_memory_bytes", &[], bytes);
        }
        family(&mut text, "forge_attempts", "gauge", "Attempts by state.");
        for (state, count) in &vitals.attempts {
            line(&mut text, "forge_attempts", &[("state", state.as_str())], count);
        }
        family(&mut text, "forge_events_seq", "counter", "The number of the newest event.");
        line(&mut text, "forge_events_seq", &[], vitals.seq);
        family(&mut text, "forge_store_commits_total", "counter", "Commits of the database.");
        line(&mut text, "forge_store_commits_total", &[], vitals.commits);
        family(&mut text, "forge_store_waiting", "gauge", "Acts that wait for the thread that writes.");
        line(&mut text, "forge_store_waiting", &[], vitals.waiting_writes);
        family(&mut text, "forge_worktrees_ready", "gauge", "Worktrees that wait for an attempt.");
        line(&mut text, "forge_worktrees_ready", &[], vitals.ready_worktrees);
        family(&mut text, "forge_worktrees_handed_over_total", "counter", "Starts that got one that waited.");
        line(&mut text, "forge_worktrees_handed_over_total", &[], vitals.handed_over);
        family(&mut text, "forge_diffs_computed_total", "counter", "Diffs of attempts that were computed.");
        line(&mut text, "forge_diffs_computed_total", &[], vitals.diffs_computed);
        family(&mut text, "forge_diff_watches", "gauge", "Directories that are watched for diffs.");
        line(&mut text, "forge_diff_watches", &[], vitals.diff_watches);
        let help = "Calls of git that were ended because they took too long.";
        family(&mut text, "forge_git_calls_overdue_total", "counter", help);
        line(&mut text, "forge_git_calls_overdue_total", &[], vitals.overdue_git_calls);
        family(&mut text, "forge_streams_open", "gauge", "Open streams by kind and route.");
        for (key, open) in lock(&self.counts.streams).iter() {
            line(&mut text, "forge_streams_open", &[("kind", key.kind), ("route", &key.route)], open);
        }
        self.write_requests(&mut text);
        text
    }

    fn write_requests(&self, text: &mut String) {
        const NAME: &str = "forge_http_request_duration_seconds";
        let requests = lock(&self.counts.requests);
        family(
            text,
            "forge_http_requests_total",
            "counter",
            "Requests by route, method and class of status.",
        );
        for (key, taken) in requests.iter() {
            line(text, "forge_http_requests_total", &key.labels(), taken.count);
        }
        family(text, NAME, "histogram", "Until the head of the answer was there.");
        for (key, taken) in requests.iter() {
            let labels = key.labels();
            let bucket = |text: &mut String, bound: &str, count: u64| {
                let all = [&labels[..], &[("le", bound)]].concat();
                line(text, &format!("{NAME}_bucket"), &all, count);
            };
            for (bound, within) in BUCKETS.iter().zip(taken.within) {
                bucket(text, &bound.to_string(), within);
            }
            bucket(text, "+Inf", taken.count);
            line(text, &format!("{NAME}_sum"), &labels, taken.seconds);
            line(text, &format!("{NAME}_count"), &labels, taken.count);
        }
    }
}

impl RequestKey {
    fn labels(&self) -> [(&'static str, &str); 3] {
        [("route", &self.route), ("method", self.method), ("status", self.status)]
    }
}

impl Asked {
    /// Counts the answer; one that opens a stream counts as open until the stream ends.
    pub(crate) fn answered(self, response: Response) -> Response {
        let status = response.status();
        let key = RequestKey { route: self.route.clone(), method: self.method, status: class(status) };
        self.metrics.count(key, self.at.elapsed());
        if status == StatusCode::SWITCHING_PROTOCOLS {
            if let Some(connection) = &self.connection {
                connection.keep(self.metrics.opened("websocket", self.route));
            }
            return response;
        }
        let is_events = response
            .headers()
            .get(header::CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        if !is_events {
            return response;
        }
        let open = self.metrics.opened("sse", self.route);
        response.map(|body| {
            Body::from_stream(body.into_data_stream().map(move |part| {
                // Held by the body, and gone with it.
                let _ = &open;
                part
            }))
        })
    }
}

impl Metrics {
    fn count(&self, key: RequestKey, took: Duration) {
        let mut requests = lock(&self.counts.requests);
        let taken = requests.entry(key).or_default();
        taken.count += 1;
        taken.seconds += took.as_secs_f64();
        for (bound, within) in BUCKETS.iter().zip(&mut taken.within) {
            *within += u64::from(took.as_secs_f64() <= *bound);
        }
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        if let Some(open) = lock(&self.metrics.counts.streams).get_mut(&self.key) {
            *open = open.saturating_sub(1);
        }
    }
}

fn family(text: &mut String, name: &str, kind: &str, help: &str) {
    text.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
}

fn line(text: &mut String, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
    text.push_str(name);
    for (index, (key, told)) in labels.iter().enumerate() {
        // No label of ours holds a quote or a backslash: they are templates, methods, states and versions.
        let _ = write!(text, "{}{key}=\"{told}\"", if index == 0 { '{' } else { ',' });
    }
    let _ = writeln!(text, "{} {value}", if labels.is_empty() { "" } else { "}" });
}

/// The name of a method; those that HTTP does not know are one.
fn name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

fn class(status: StatusCode) -> &'static str {
    match status.as_u16() {
        ..200 => "1xx",
        200..300 => "2xx",
        300..400 => "3xx",
        400..500 => "4xx",
        500.. => "5xx",
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
