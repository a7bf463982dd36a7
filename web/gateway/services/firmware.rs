//! Images of firmware: uploads from a body, ranges for downloads.

use std::sync::Arc;

use axum::body::Body;
use futures_util::StreamExt as _;
use futures_util::stream::unfold;
use groundwave_gateway::Snapshot;
use groundwave_gateway::rollout::IMAGE_BYTES_MAX;
use groundwave_http::Problem;
use groundwave_http::problem::{FieldCode, ProblemKind, is_timeout};
use groundwave_io_gateway::firmware::{FirmwareFolder, ImageUpload, UploadError};
use tokio::sync::Semaphore;
use uuid::Uuid;

use super::kernel::absent;
use super::world::blocking;

/// Bytes written or read at once.
const PIECE_BYTES: usize = 256 << 10;

/// Images of a gateway.
#[derive(Debug)]
pub struct FirmwareImages {
    folder: Option<FirmwareFolder>,
    uploads: Arc<Semaphore>,
}

fn failed(err: &UploadError) -> Problem {
    match err {
        _ if err.is_storage_full() => Problem::storage_full(format!("firmware image: {err}")),
        UploadError::TooLarge(_) => {
            Problem::new(axum::http::StatusCode::PAYLOAD_TOO_LARGE, err.to_string())
        }
        UploadError::Empty => Problem::field("", FieldCode::Length, err.to_string()),
        UploadError::Digest { .. } => {
            Problem::field("/sha256", FieldCode::NotAllowed, err.to_string())
        }
        UploadError::File(_) => Problem::internal(format!("firmware image: {err}")),
    }
}

impl FirmwareImages {
    /// Images in a folder; 503 without one.
    #[must_use]
    pub fn new(folder: Option<FirmwareFolder>) -> Self {
        Self { folder, uploads: Arc::new(Semaphore::new(1)) }
    }

    /// Removes files of images without a record in the world: of uploads that were not completed.
    pub fn remove_unknown(&self, view: &Snapshot) {
        let Some(folder) = &self.folder else { return };
        let ids: Vec<Uuid> = view.config.firmware_images.iter().map(|(id, _)| id.uuid()).collect();
        if let Err(err) = folder.retain(&ids) {
            tracing::warn!("folder of firmware images: {err}");
        }
        for id in self.damaged(view) {
            tracing::error!("firmware image {id}: its file is missing or has another size");
        }
    }

    /// Folder of the images.
    ///
    /// # Errors
    /// 503 without one.
    pub fn folder(&self) -> Result<FirmwareFolder, Problem> {
        let folder = self.folder.clone();
        folder.ok_or_else(|| absent("gateway without a folder of firmware images"))
    }

    /// Keeps a body as the image `id`; returns its size, bytes.
    ///
    /// # Errors
    /// 409 during another upload, 413, 422 for another digest, 507 on a full disk.
    pub async fn keep(&self, id: Uuid, sha256: &str, body: Body) -> Result<u64, Problem> {
        let folder = self.folder()?;
        let _alone = self.uploads.try_acquire().map_err(|_| {
            let message = "another firmware image is being uploaded";
            Problem::new(axum::http::StatusCode::CONFLICT, message).retry_after(5)
        })?;
        let begun = folder.clone();
        let mut upload =
            blocking(move || begun.begin(IMAGE_BYTES_MAX).map_err(|err| failed(&err))).await?;
        let mut body = body.into_data_stream();
        let mut piece = Vec::with_capacity(PIECE_BYTES);
        while let Some(bytes) = body.next().await {
            let bytes = bytes.map_err(|err| broken(&err))?;
            piece.extend_from_slice(&bytes);
            if piece.len() >= PIECE_BYTES {
                upload = write(upload, std::mem::take(&mut piece)).await?;
            }
        }
        upload = write(upload, piece).await?;
        let sha256 = sha256.to_owned();
        blocking(move || upload.finish(&folder, id, &sha256).map_err(|err| failed(&err))).await
    }

    /// Images whose file is missing or has another size, as after a copy without them. Blocks.
    #[must_use]
    pub fn damaged(&self, view: &Snapshot) -> Vec<Uuid> {
        let Some(folder) = &self.folder else {
            return Vec::new();
        };
        let images = view.config.firmware_images.iter();
        let damaged = images.filter(|(id, image)| {
            folder.size_bytes(id.uuid()).ok() != Some(image.object.size_bytes)
        });
        damaged.map(|(id, _)| id.uuid()).collect()
    }

    /// Bytes of an image from `begin` to before `end`, as they are sent; `size_bytes` is that of the
    /// whole image.
    ///
    /// # Errors
    /// 503 without a folder, and where the file is missing or has another size.
    pub async fn read(
        &self,
        id: Uuid,
        size_bytes: u64,
        (begin, end): (u64, u64),
    ) -> Result<Body, Problem> {
        let folder = self.folder()?;
        let images = folder.clone();
        let size = blocking(move || Ok(images.size_bytes(id).ok())).await?;
        if size != Some(size_bytes) {
            let state = match size {
                None => "missing".to_owned(),
                Some(size) => format!("{size} of {size_bytes} bytes long"),
            };
            let message = format!(
                "the file of firmware image {id} is {state}: remove the image and upload it again"
            );
            return Err(Problem::unavailable(message));
        }
        let pieces = unfold((folder, begin), move |(folder, at)| async move {
            if at >= end {
                return None;
            }
            let length = (end - at).min(PIECE_BYTES as u64);
            let images = folder.clone();
            let read = tokio::task::spawn_blocking(move || images.read(id, at, length))
                .await
                .unwrap_or_else(|err| Err(std::io::Error::other(err)));
            let read = read.and_then(|bytes| match bytes.len() as u64 == length {
                true => Ok(bytes),
                false => Err(std::io::ErrorKind::UnexpectedEof.into()),
            });
            let next = if read.is_ok() { at + length } else { end };
            Some((read, (folder, next)))
        });
        // A coding polls a body once more after its end.
        Ok(Body::from_stream(pieces.fuse()))
    }
}

async fn write(mut upload: ImageUpload, piece: Vec<u8>) -> Result<ImageUpload, Problem> {
    blocking(move || {
        upload.write(&piece).map_err(|err| failed(&err))?;
        Ok(upload)
    })
    .await
}

fn broken(err: &axum::Error) -> Problem {
    match is_timeout(err) {
        true => Problem::new(
            axum::http::StatusCode::REQUEST_TIMEOUT,
            groundwave_http::problem::BodyTimeout.to_string(),
        ),
        false => Problem::bad_request(format!("the body: {err}")).of_kind(ProblemKind::InvalidBody),
    }
}
