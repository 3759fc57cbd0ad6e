//! An image on the wire.

use forge_model::{ImageId, Time};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ImageResponse {
    id: ImageId,
    file_path: String,
    original_name: String,
    mime_type: Option<String>,
    size_bytes: i64,
    hash: String,
    created_at: Time,
    updated_at: Time,
}

impl From<forge_model::Image> for ImageResponse {
    fn from(image: forge_model::Image) -> Self {
        Self {
            id: image.id,
            file_path: image.path(),
            original_name: image.original_name,
            mime_type: image.mime_type,
            size_bytes: image.size_bytes,
            hash: image.hash,
            created_at: image.created_at,
            updated_at: image.updated_at,
        }
    }
}
