//! Images: pictures that prompts speak of.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use forge_engine::{Error, ErrorKind, NewImage};
use forge_model::{ImageId, TaskId};

use crate::api::{Api, op};
use crate::decode::{Id, Upload};
use crate::envelope::{Envelope, NOTHING, Reply};
use crate::error::Problem;
use crate::state::App;
use crate::wire::{self, ImageResponse};

/// The names that the part with the picture may have.
const PARTS: &[&str] = &["image", "file"];

pub(super) fn api() -> Api {
    Api::new()
        .post(
            "/api/images/upload",
            upload,
            op("uploadImage", "Keeps a picture; the same bytes are the same image.")
                .takes_file(PARTS)
                .gives::<ImageResponse>(),
        )
        .post(
            "/api/images/task/{task_id}/upload",
            upload_for_task,
            op("uploadTaskImage", "Keeps a picture and gives it to a task.")
                .takes_file(PARTS)
                .gives::<ImageResponse>(),
        )
        .get(
            "/api/images/task/{task_id}",
            of_task,
            op("getTaskImages", "Lists the images of a task, in the order they were added.")
                .gives::<Vec<ImageResponse>>(),
        )
        .get(
            "/api/images/{image_id}/file",
            file,
            op("getImageFile", "Returns the bytes of an image.").gives_bytes("image/*"),
        )
        .delete(
            "/api/images/{image_id}",
            delete,
            op("deleteImage", "Deletes an image; one that is not there is deleted already."),
        )
}

async fn upload(State(app): State<App>, upload: Upload) -> Reply<ImageResponse> {
    let new = NewImage { name: upload.name, bytes: upload.bytes, task: None };
    Ok(Envelope(app.engine.add_image(new).await.map_err(refused)?.into()))
}

async fn upload_for_task(
    State(app): State<App>,
    Id(task): Id<TaskId>,
    upload: Upload,
) -> Reply<ImageResponse> {
    let new = NewImage { name: upload.name, bytes: upload.bytes, task: Some(task) };
    Ok(Envelope(app.engine.add_image(new).await.map_err(refused)?.into()))
}

async fn of_task(State(app): State<App>, Id(task): Id<TaskId>) -> Reply<Vec<ImageResponse>> {
    Ok(Envelope(wire::list(app.engine.images_of_task(task).await?)))
}

/// The bytes of an image never change, so they may be kept for good. A drawing may hold scripts: in a sandbox it
/// is only looked at.
async fn file(State(app): State<App>, Id(id): Id<ImageId>) -> Result<Response, Problem> {
    let (image, bytes) = app.engine.image(id).await?;
    let mime = image.mime_type.unwrap_or_else(|| "application/octet-stream".to_string());
    let headers = [
        (header::CONTENT_TYPE, mime.as_str()),
        (header::CACHE_CONTROL, "public, max-age=31536000"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'; sandbox"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Ok((headers, bytes).into_response())
}

async fn delete(State(app): State<App>, Id(id): Id<ImageId>) -> Reply<()> {
    app.engine.delete_image(id).await?;
    Ok(NOTHING)
}

/// A file that is no picture is a bad request, as clients know it.
fn refused(error: Error) -> Problem {
    match error.kind() {
        ErrorKind::Invalid => Problem::bad_request(error.to_string()),
        _ => error.into(),
    }
}
