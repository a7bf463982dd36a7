//! A download that resumes where it was interrupted.
//!
//! RFC 9110, sections 13.1.5 (If-Range) and 14.4 (Content-Range). A part is continued only by a 206 that
//! starts at its length and carries the ETag of its beginning: a server that ignores If-Range and has
//! another version by now would otherwise be spliced onto it.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use groundwave_http_client::OpenResponse;
use hyper::StatusCode;
use hyper::header::{CONTENT_LENGTH, CONTENT_RANGE, ETAG, IF_RANGE, LOCATION, RANGE};
use serde::{Deserialize, Serialize};
use url::Url;

use super::super::raster::file_digest;
use super::client::{Client, next};
use super::error::FetchError;

/// Tries without a single new byte before a download is given up.
const TRIES_MAX: u32 = 4;

/// Longest file, bytes.
const FILE_BYTES_MAX: u64 = 1 << 31;

/// Identity of the file that a part is from.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Beginning {
    etag: Option<String>,
    length: Option<u64>,
}

/// A complete download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Complete {
    pub part: PathBuf,
    pub length: u64,
    pub etag: Option<String>,
    pub sha256: String,
}

fn beginning_of(part: &Path) -> PathBuf {
    let mut name = part.as_os_str().to_owned();
    name.push(".json");
    name.into()
}

/// Removes a part.
pub(super) fn drop_part(part: &Path) {
    // What is not there need not be removed.
    let _ = fs::remove_file(part);
    let _ = fs::remove_file(beginning_of(part));
}

/// Strong validator (RFC 9110, section 8.8.1): only such a one guarantees equal bytes.
fn strong(response: &OpenResponse) -> Option<String> {
    let etag = response.field(ETAG)?;
    (!etag.starts_with("W/")).then(|| etag.to_owned())
}

/// First byte and whole length of a partial response.
fn content_range(response: &OpenResponse) -> Option<(u64, Option<u64>)> {
    let (range, whole) = response.field(CONTENT_RANGE)?.strip_prefix("bytes ")?.split_once('/')?;
    let (first, _) = range.split_once('-')?;
    Some((first.parse().ok()?, whole.parse().ok()))
}

/// Downloads a file into `part`, continuing it where it can; `progress` gets the bytes so far and the whole
/// length.
pub(super) async fn download(
    client: &Client,
    url: &Url,
    part: &Path,
    progress: &mut dyn FnMut(u64, Option<u64>),
) -> Result<Complete, FetchError> {
    let mut tries = 0;
    loop {
        let before = length_of(part);
        match attempt(client, url, part, progress).await {
            Ok(complete) => return Ok(complete),
            Err(error) if !error.is_passing() => return Err(error),
            Err(error) => {
                tries = if length_of(part) > before { 0 } else { tries + 1 };
                if tries >= TRIES_MAX {
                    return Err(error);
                }
                tokio::time::sleep(client.pause * tries).await;
            }
        }
    }
}

fn length_of(part: &Path) -> u64 {
    fs::metadata(part).map_or(0, |metadata| metadata.len())
}

async fn attempt(
    client: &Client,
    url: &Url,
    part: &Path,
    progress: &mut dyn FnMut(u64, Option<u64>),
) -> Result<Complete, FetchError> {
    let network = |reason: String| FetchError::Network { url: url.to_string(), reason };
    let about = beginning_of(part);
    let beginning: Beginning = fs::read(&about)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default();
    let mut have = length_of(part);
    let resumed = beginning.etag.clone().filter(|_| have > 0);
    if resumed.is_some() && beginning.length == Some(have) {
        return complete(url, part, beginning);
    }
    let fields = match &resumed {
        Some(etag) => vec![(RANGE, format!("bytes={have}-")), (IF_RANGE, etag.clone())],
        None => Vec::new(),
    };
    let mut response = client.get(url, &fields).await?;
    let beginning = match response.status {
        StatusCode::PARTIAL_CONTENT => {
            let range = content_range(&response);
            let fits =
                range.is_some_and(|(first, _)| first == have) && strong(&response) == resumed;
            if resumed.is_none() || !fits {
                drop_part(part);
                return Err(network("the file changed at the server; starting again".to_owned()));
            }
            let whole = range.and_then(|(_, whole)| whole).or(beginning.length);
            Beginning { length: whole, ..beginning }
        }
        StatusCode::OK => {
            drop_part(part);
            have = 0;
            let length = response.field(CONTENT_LENGTH).and_then(|text| text.parse().ok());
            let etag = strong(&response);
            Beginning { etag, length }
        }
        StatusCode::RANGE_NOT_SATISFIABLE => {
            drop_part(part);
            return Err(network("the file changed at the server; starting again".to_owned()));
        }
        StatusCode::NOT_FOUND => {
            return Err(FetchError::Absent { url: url.to_string() });
        }
        status if status.is_redirection() => {
            let to = response.field(LOCATION).unwrap_or("nowhere").to_owned();
            return Err(FetchError::Content {
                url: url.to_string(),
                reason: format!("redirected to {to}; name that address with --url"),
            });
        }
        status => {
            let (url, status) = (url.to_string(), status.as_u16());
            return Err(FetchError::Status { url, status });
        }
    };
    if beginning.length.is_some_and(|length| length > FILE_BYTES_MAX) {
        return Err(too_long(url));
    }
    let json = serde_json::to_vec(&beginning).expect("plain data");
    fs::write(&about, json).map_err(FetchError::disk("write", &about))?;
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(part)
        .map_err(FetchError::disk("write", part))?;
    progress(have, beginning.length);
    while let Some(bytes) = next(&mut response, client.idle_max).await.map_err(network)? {
        have += bytes.len() as u64;
        if have > beginning.length.unwrap_or(FILE_BYTES_MAX) {
            drop_part(part);
            return Err(too_long(url));
        }
        file.write_all(&bytes).map_err(FetchError::disk("write", part))?;
        progress(have, beginning.length);
    }
    if let Some(length) = beginning.length.filter(|length| *length != have) {
        return Err(network(format!("found {have} of {length} bytes")));
    }
    complete(url, part, beginning)
}

fn too_long(url: &Url) -> FetchError {
    FetchError::Content {
        url: url.to_string(),
        reason: format!("more bytes than announced, or than {FILE_BYTES_MAX}"),
    }
}

fn complete(url: &Url, part: &Path, beginning: Beginning) -> Result<Complete, FetchError> {
    let file = File::open(part).map_err(FetchError::disk("read", part))?;
    file.sync_all().map_err(FetchError::disk("write", part))?;
    let length = length_of(part);
    if length == 0 {
        drop_part(part);
        let reason = "no bytes".to_owned();
        return Err(FetchError::Content { url: url.to_string(), reason });
    }
    Ok(Complete {
        sha256: file_digest(part).map_err(FetchError::disk("read", part))?,
        part: part.to_owned(),
        length,
        etag: beginning.etag,
    })
}
