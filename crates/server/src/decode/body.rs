//! A JSON body, and the idempotency key that may come with it.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use forge_engine::Key;
use futures_util::StreamExt;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Fields;
use crate::error::Problem;

/// The largest body that is decoded, in bytes.
const LIMIT: usize = 2 * MEGABYTE;
/// The same for settings, profiles and the servers of agents, which people paste whole.
const SETTINGS_LIMIT: usize = 20 * MEGABYTE;
const MEGABYTE: usize = 1024 * 1024;

/// How much of a body that is too large is read and dropped, so that a caller who writes first and reads
/// later gets to read the refusal instead of a broken pipe.
pub(super) const DRAINED: usize = 64 * 1024 * 1024;

/// How long a body may take to arrive. One that never does would be held for as long as its connection.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// The body of a call that starts a process, and the key under which it may be repeated.
#[derive(Debug)]
pub(crate) struct StartCall {
    pub(crate) fields: Fields,
    pub(crate) key: Option<Key>,
}

/// A body that may also be null or absent, which is as good as an object without keys.
#[derive(Debug)]
pub(crate) struct MaybeFields(pub(crate) Fields);

impl<S: Send + Sync> FromRequest<S> for MaybeFields {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let given = require_json(request.headers());
        let body = read(request).await?;
        match body.trim_ascii() {
            // Nothing has no type to name.
            b"" => Ok(MaybeFields(Fields::default())),
            b"null" => given.map(|()| MaybeFields(Fields::default())),
            body => given.and_then(|()| decode(body)).map(MaybeFields),
        }
    }
}

impl<S: Send + Sync> FromRequest<S> for Fields {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        require_json(request.headers())?;
        decode(&read(request).await?)
    }
}

impl<S: Send + Sync> FromRequest<S> for StartCall {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        require_json(request.headers())?;
        let key = idempotency_key(request.headers())?;
        let call = format!("{} {}\n", request.method(), request.uri().path());
        let body = read(request).await?;
        let fields = decode(&body)?;
        let key = key.map(|key| Key { key, fingerprint: fingerprint(&call, &body) });
        Ok(StartCall { fields, key })
    }
}

fn require_json(headers: &HeaderMap) -> Result<(), Problem> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json")) {
        return Ok(());
    }
    let told = if given.is_empty() { "none was given".to_string() } else { format!("{given:?} is another") };
    let message = format!("the body must come with `Content-Type: application/json`; {told}");
    Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message))
}

pub(super) async fn read(request: Request) -> Result<Vec<u8>, Problem> {
    let limit = limit(request.uri().path());
    read_within(PATIENCE, limit, request.into_body()).await
}

/// How much of a body a route reads.
fn limit(path: &str) -> usize {
    match path {
        "/api/config" | "/api/profiles" | "/api/mcp-config" => SETTINGS_LIMIT,
        _ => LIMIT,
    }
}

async fn read_within(patience: Duration, limit: usize, body: Body) -> Result<Vec<u8>, Problem> {
    tokio::time::timeout(patience, collect(limit, body)).await.unwrap_or_else(|_| {
        let message = format!("the body did not arrive within {} s", patience.as_secs());
        Err(Problem::new(StatusCode::REQUEST_TIMEOUT, message))
    })
}

async fn collect(limit: usize, body: Body) -> Result<Vec<u8>, Problem> {
    let mut frames = body.into_data_stream();
    let (mut kept, mut seen) = (Vec::new(), 0);
    while let Some(frame) = frames.next().await {
        let frame = frame.map_err(|_| Problem::bad_request("the body broke off before its end"))?;
        seen += frame.len();
        if seen <= limit {
            kept.extend_from_slice(&frame);
        } else if seen > DRAINED {
            break;
        }
    }
    if seen > limit {
        let most = limit / MEGABYTE;
        let message = format!("the body is larger than {most} MB, which is the most that is read");
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, message));
    }
    Ok(kept)
}

fn decode(body: &[u8]) -> Result<Fields, Problem> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Err(Problem::bad_request("the body must be a JSON object; it is empty"));
    }
    match serde_json::from_slice(body) {
        Ok(Value::Object(map)) => Ok(Fields::new(map)),
        Ok(_) => Err(Problem::invalid("the body must be a JSON object")),
        Err(error) => Err(Problem::bad_request(format!("the body is not JSON: {error}"))),
    }
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    match value.to_str().map(str::trim) {
        Ok(key) if (1..=255).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic()) => {
            Ok(Some(key.to_string()))
        }
        _ => Err(Problem::bad_request("`Idempotency-Key` must be 1 to 255 visible ASCII characters")),
    }
}

fn fingerprint(call: &str, body: &[u8]) -> String {
    let digest = Sha256::new().chain_update(call).chain_update(body).finalize();
    format!("{digest:x}")
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::response::{IntoResponse, Response};
    use axum::routing::post;
    use tower::ServiceExt;

    use super::*;

    async fn ask(request: Request) -> (StatusCode, String) {
        let router = Router::new()
            .route("/fields", post(|fields: Fields| async move { format!("{fields:?}") }))
            .route("/maybe", post(|MaybeFields(fields): MaybeFields| async move { format!("{fields:?}") }))
            .route("/start", post(|call: StartCall| async move { format!("{:?}", call.key) }));
        let response: Response = router.oneshot(request).await.unwrap();
        let status = response.status();
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    fn json(path: &str, body: impl Into<Body>) -> Request {
        let request = Request::post(path).header("content-type", "application/json; charset=utf-8");
        request.body(body.into()).unwrap()
    }

    #[tokio::test]
    async fn a_body_that_is_not_a_json_object_is_refused_in_the_envelope() {
        let deep = "[".repeat(100_000);
        let cases = [
            ("", 400, "it is empty"),
            ("{\"title\":", 400, "the body is not JSON"),
            ("{\"title\": \"\u{1}\"}", 400, "the body is not JSON"),
            (deep.as_str(), 400, "the body is not JSON"),
            ("[]", 422, "the body must be a JSON object"),
            ("null", 422, "the body must be a JSON object"),
        ];
        for (body, status, told) in cases {
            let (given, answer) = ask(json("/fields", body.to_string())).await;
            assert_eq!(given, status, "{answer}");
            assert!(answer.contains(told) && answer.contains("\"success\":false"), "{answer}");
        }
        let (status, answer) = ask(json("/fields", vec![b'"', 0xff, b'"'])).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{answer}");
    }

    #[tokio::test]
    async fn a_body_that_may_be_absent_is_nothing_null_or_an_object() {
        for body in ["", "null", " null\n", "{}", "{\"line\": 1}"] {
            let (status, answer) = ask(json("/maybe", body)).await;
            assert_eq!(status, 200, "{body:?}: {answer}");
        }
        let bare = Request::post("/maybe").body(Body::empty()).unwrap();
        assert_eq!(ask(bare).await.0, StatusCode::OK);
        assert_eq!(ask(json("/maybe", "[]")).await.0, StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(ask(json("/maybe", "{")).await.0, StatusCode::BAD_REQUEST);
        let form = Request::post("/maybe").header("content-type", "text/plain").body("null".into()).unwrap();
        assert_eq!(ask(form).await.0, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    }

    #[tokio::test]
    async fn a_body_must_say_that_it_is_json() {
        for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""] {
            let request = Request::post("/fields").header("content-type", kind).body("{}".into()).unwrap();
            let (status, answer) = ask(request).await;
            assert_eq!(status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{kind}: {answer}");
            assert!(answer.contains("Content-Type: application/json"), "{answer}");
        }
        let (status, _) = ask(Request::post("/fields").body("{}".into()).unwrap()).await;
        assert_eq!(status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
        assert_eq!(ask(json("/fields", "{}")).await.0, StatusCode::OK);
    }

    #[tokio::test]
    async fn a_body_over_two_megabytes_is_refused_and_one_just_below_is_read() {
        let body = |text: usize| format!("{{\"title\":\"{}\"}}", "x".repeat(text));
        assert_eq!(ask(json("/fields", body(LIMIT - 12))).await.0, StatusCode::OK);
        let (status, answer) = ask(json("/fields", body(LIMIT))).await;
        assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE, "{answer}");
        assert!(answer.contains("2 MB"), "{answer}");
    }

    #[test]
    fn settings_may_be_ten_times_as_large() {
        for path in ["/api/config", "/api/profiles", "/api/mcp-config"] {
            assert_eq!(limit(path), 20 * 1024 * 1024, "{path}");
        }
        assert_eq!(limit("/api/tasks"), 2 * 1024 * 1024);
    }

    #[tokio::test]
    async fn a_body_that_never_ends_is_given_up() {
        let first = futures_util::stream::once(async { Ok::<_, std::io::Error>("{") });
        let body = Body::from_stream(first.chain(futures_util::stream::pending()));
        let problem = read_within(Duration::from_millis(10), LIMIT, body).await.unwrap_err();
        assert_eq!(problem.into_response().status(), StatusCode::REQUEST_TIMEOUT);
    }

    #[tokio::test]
    async fn a_key_is_tied_to_the_method_the_path_and_the_body() {
        let call = async |body: &str, key: &str| {
            let mut request = json("/start", body.to_string());
            request.headers_mut().insert("idempotency-key", key.parse().unwrap());
            ask(request).await
        };
        let (status, first) = call("{}", "k").await;
        assert_eq!(status, StatusCode::OK, "{first}");
        assert!(first.contains("key: \"k\""), "{first}");
        assert_eq!(call("{}", "k").await.1, first);
        assert_ne!(call("{ }", "k").await.1, first);
        for bad in ["", "two words", "a\ttab"] {
            assert_eq!(call("{}", bad).await.0, StatusCode::BAD_REQUEST, "{bad:?}");
        }
        assert_eq!(call("{}", &"k".repeat(256)).await.0, StatusCode::BAD_REQUEST);
        assert_eq!(ask(json("/start", "{}")).await.1, "None");
    }
}
