//! A picture that comes as a part of a form. Other parts are passed over and never kept.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use forge_engine::LARGEST_IMAGE;

use super::body::{DRAINED, PATIENCE};
use crate::error::Problem;

/// The names that the part may have: the newer first.
const PARTS: &[&str] = &["image", "file"];

/// What a part without a file name is called.
const UNNAMED: &str = "image.png";

const MALFORMED: &str = "Failed to upload file. Please ensure the file is valid and try again.";

/// A file out of a form.
pub(crate) struct Upload {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

impl<S: Send + Sync> FromRequest<S> for Upload {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        tokio::time::timeout(PATIENCE, read(request)).await.unwrap_or_else(|_| {
            let message = format!("the file did not arrive within {} s", PATIENCE.as_secs());
            Err(Problem::new(StatusCode::REQUEST_TIMEOUT, message))
        })
    }
}

async fn read(request: Request) -> Result<Upload, Problem> {
    let malformed = |error| match error {
        multer::Error::StreamSizeExceeded { .. } => too_large(DRAINED),
        _ => Problem::bad_request(MALFORMED),
    };
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let boundary = multer::parse_boundary(kind.unwrap_or_default()).map_err(malformed)?;
    // The head of a part is held whole, and one that never ends would grow for as long as it is sent.
    let most = multer::SizeLimit::new().whole_stream(DRAINED as u64);
    let form = multer::Constraints::new().size_limit(most);
    let mut form =
        multer::Multipart::with_constraints(request.into_body().into_data_stream(), boundary, form);
    let mut upload = None;
    while let Some(mut field) = form.next_field().await.map_err(malformed)? {
        let wanted = field.name().is_some_and(|name| PARTS.contains(&name));
        if !wanted || upload.is_some() {
            continue;
        }
        let name = field.file_name().filter(|name| !name.is_empty()).unwrap_or(UNNAMED).to_string();
        let (mut bytes, mut seen) = (Vec::new(), 0);
        // A caller who writes first and reads later must get to read the refusal, so what is too much is dropped.
        while let Some(chunk) = field.chunk().await.map_err(malformed)? {
            let chunk: Bytes = chunk;
            seen += chunk.len();
            if seen <= LARGEST_IMAGE {
                bytes.extend_from_slice(&chunk);
            } else if seen > DRAINED {
                break;
            }
        }
        if seen > LARGEST_IMAGE {
            return Err(too_large(seen));
        }
        upload = Some(Upload { name, bytes });
    }
    upload.ok_or_else(|| Problem::new(StatusCode::NOT_FOUND, "Image not found."))
}

fn too_large(size: usize) -> Problem {
    let megabytes = |bytes: usize| bytes as f64 / (1024.0 * 1024.0);
    let message = format!(
        "This image is too large ({:.1} MB). Maximum file size is {:.1} MB.",
        megabytes(size),
        megabytes(LARGEST_IMAGE)
    );
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, message)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::body::Body;
    use axum::response::IntoResponse;

    use super::*;

    #[tokio::test]
    async fn a_part_whose_head_never_ends_is_refused_before_it_fills_the_memory() {
        let taken = Arc::new(AtomicUsize::new(0));
        let count = taken.clone();
        let begin = futures_util::stream::iter([Bytes::from_static(b"--edge\r\nX-Long: ")]);
        let rest = (0..256).map(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            Bytes::from(vec![b'x'; 1024 * 1024])
        });
        let parts = futures_util::StreamExt::chain(begin, futures_util::stream::iter(rest));
        let parts = futures_util::StreamExt::map(parts, Ok::<_, std::io::Error>);
        let request = Request::post("/")
            .header(header::CONTENT_TYPE, "multipart/form-data; boundary=edge")
            .body(Body::from_stream(parts))
            .unwrap();
        let refused = Upload::from_request(request, &()).await.err().unwrap();
        assert_eq!(refused.into_response().status(), StatusCode::PAYLOAD_TOO_LARGE);
        let taken = taken.load(Ordering::Relaxed);
        assert!(taken * 1024 * 1024 <= DRAINED + 1024 * 1024, "{taken} MB were read");
    }
}
