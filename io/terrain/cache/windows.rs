//! Files at an address that are read by windows: HTTP range requests, whose bytes are kept in the cache.
//!
//! RFC 9110, section 14. A file is one version: each response must have the length and the validator of the first.
//!
//! ```text
//! <folder>/<SHA-256 of the address>/about.json   address, length, validator
//! <folder>/<SHA-256 of the address>/<number>     a block
//! ```

use std::fs;
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use groundwave_files::address::is_address;
use groundwave_files::hex::hex;
use groundwave_http_client::OpenResponse;
use hyper::StatusCode;
use hyper::header::{CONTENT_RANGE, ETAG, IF_RANGE, LAST_MODIFIED, LOCATION, RANGE};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tiff_reader::TiffError;
use tiff_reader::source::TiffSource;
use url::Url;

use super::super::raster::RemoteFile;
use super::client::{Client, next};
use super::error::FetchError;

/// Length of a block, bytes: a directory of a COG, or a part of a tile.
const BLOCK_BYTES: u64 = 1 << 16;

/// Maximum blocks of one request.
const BLOCKS_MAX: u64 = 64;

/// Tries before a window is given up.
const TRIES_MAX: u32 = 4;

/// Maximum length of a file, bytes.
const FILE_BYTES_MAX: u64 = 1 << 40;

/// Identity of a file at an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct About {
    url: String,
    length: u64,
    /// Strong ETag, else the date of the last change.
    validator: Option<String>,
}

/// Ways to the bytes of files at addresses.
#[derive(Debug, Clone)]
pub struct Windows {
    /// Folder of the blocks.
    pub folder: PathBuf,
    /// Client of the requests; `None` reads from the folder alone.
    pub client: Option<Client>,
}

/// A file at an address.
#[derive(Debug)]
pub struct WindowedFile {
    about: About,
    address: Url,
    folder: PathBuf,
    client: Option<Client>,
    received: AtomicU64,
}

impl Windows {
    /// The file at an address; its first block is read.
    ///
    /// # Errors
    /// When the address is malformed, the file cannot be reached and is not in the folder, or the server has no
    /// ranges.
    pub fn open(&self, address: &str) -> Result<Arc<WindowedFile>, FetchError> {
        let url = Url::parse(address).ok().filter(|url| {
            is_address(address) && url.host_str().is_some() && url.username().is_empty()
        });
        let url = url.ok_or_else(|| FetchError::Url {
            found: address.rsplit('@').next().unwrap_or_default().to_owned(),
            allowed: "http:// or https:// with a host and without user information",
        })?;
        let folder = self.folder.join(hex(&Sha256::digest(url.as_str())));
        let path = folder.join("about.json");
        let stored = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let client = self.client.clone();
        let file = |about| WindowedFile {
            about,
            address: url.clone(),
            folder: folder.clone(),
            client: client.clone(),
            received: AtomicU64::new(0),
        };
        if let Some(about) = stored {
            return Ok(Arc::new(file(about)));
        }
        let Some(client) = &self.client else {
            return Err(FetchError::Offline { url: url.to_string() });
        };
        fs::create_dir_all(&folder).map_err(FetchError::disk("create", &folder))?;
        let (about, bytes) = blocking(ask(client, &url, 0..=0, None))?;
        let file = file(about);
        file.keep(0, &bytes)?;
        let json = serde_json::to_vec(&file.about).expect("plain data");
        write_whole(&path, &json)?;
        Ok(Arc::new(file))
    }
}

impl WindowedFile {
    /// Bytes received since the file was opened.
    #[must_use]
    pub fn received_bytes(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    fn path_of(&self, block: u64) -> PathBuf {
        self.folder.join(block.to_string())
    }

    fn length_of(&self, block: u64) -> u64 {
        BLOCK_BYTES.min(self.about.length.saturating_sub(block * BLOCK_BYTES))
    }

    /// A block of the folder; `None` where it is not there, or not whole.
    fn kept(&self, block: u64) -> Option<Vec<u8>> {
        let bytes = fs::read(self.path_of(block)).ok()?;
        (bytes.len() as u64 == self.length_of(block)).then_some(bytes)
    }

    /// Keeps consecutive blocks.
    fn keep(&self, first: u64, bytes: &[u8]) -> Result<(), FetchError> {
        self.received.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        for (block, bytes) in (first..).zip(bytes.chunks(BLOCK_BYTES as usize)) {
            write_whole(&self.path_of(block), bytes)?;
        }
        Ok(())
    }

    /// Bytes of consecutive blocks, of which those that are missing are received together.
    fn blocks(&self, blocks: RangeInclusive<u64>) -> Result<Vec<u8>, FetchError> {
        let mut all = Vec::new();
        let mut block = *blocks.start();
        while block <= *blocks.end() {
            if let Some(bytes) = self.kept(block) {
                all.extend(bytes);
                block += 1;
                continue;
            }
            let is_missing = |block: &u64| !self.path_of(*block).exists();
            let end = (block + 1..=*blocks.end()).take(BLOCKS_MAX as usize - 1);
            let last = end.take_while(is_missing).last().unwrap_or(block);
            let Some(client) = &self.client else {
                return Err(FetchError::Offline { url: self.url().to_owned() });
            };
            let span = block..=last;
            let (_, bytes) = blocking(ask(client, &self.address, span, Some(&self.about)))?;
            self.keep(block, &bytes)?;
            all.extend(bytes);
            block = last + 1;
        }
        Ok(all)
    }
}

impl RemoteFile for WindowedFile {
    fn url(&self) -> &str {
        self.address.as_str()
    }

    /// That of address, length and validator.
    fn digest(&self) -> String {
        let About { url, length, validator } = &self.about;
        let validator = validator.as_deref().unwrap_or_default();
        hex(&Sha256::digest(format!("{url}\n{length}\n{validator}")))
    }
}

impl TiffSource for WindowedFile {
    fn len(&self) -> u64 {
        self.about.length
    }

    fn read_exact_at(&self, offset: u64, len: usize) -> Result<Vec<u8>, TiffError> {
        let data_len = self.about.length;
        let end = offset.checked_add(len as u64).filter(|end| *end <= data_len);
        let length = len as u64;
        let end = end.ok_or(TiffError::OffsetOutOfBounds { offset, length, data_len })?;
        if len == 0 {
            return Ok(Vec::new());
        }
        let (first, last) = (offset / BLOCK_BYTES, (end - 1) / BLOCK_BYTES);
        let mut bytes = self.blocks(first..=last).map_err(|error| {
            TiffError::Io(io::Error::other(error.to_string()), self.url().to_owned())
        })?;
        bytes.drain(..(offset - first * BLOCK_BYTES) as usize);
        bytes.truncate(len);
        Ok(bytes)
    }
}

/// Writes a file that is whole whenever it is there.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FetchError> {
    let folder = path.parent().unwrap_or(path);
    let write = || {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(bytes)?;
        file.persist(path).map(drop).map_err(|error| error.error)
    };
    write().map_err(FetchError::disk("write", path))
}

/// Outcome of a request, on a thread of its own: the caller may be one of a runtime.
fn blocking<T: Send>(
    request: impl Future<Output = Result<T, FetchError>> + Send,
) -> Result<T, FetchError> {
    std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(FetchError::disk("start", Path::new("a runtime")))?;
            runtime.block_on(request)
        });
        run.join().expect("no panic")
    })
}

/// Receives consecutive blocks, with as many tries as [`TRIES_MAX`].
async fn ask(
    client: &Client,
    url: &Url,
    blocks: RangeInclusive<u64>,
    about: Option<&About>,
) -> Result<(About, Vec<u8>), FetchError> {
    let mut tries = 0;
    loop {
        match attempt(client, url, &blocks, about).await {
            Err(error) if error.is_passing() && tries + 1 < TRIES_MAX => {
                tries += 1;
                tokio::time::sleep(client.pause * tries).await;
            }
            outcome => return outcome,
        }
    }
}

/// Validator of a response: its strong ETag, else the date of the last change.
fn validator(response: &OpenResponse) -> Option<String> {
    let etag = response.field(ETAG).filter(|etag| !etag.starts_with("W/"));
    etag.or_else(|| response.field(LAST_MODIFIED)).map(str::to_owned)
}

async fn attempt(
    client: &Client,
    url: &Url,
    blocks: &RangeInclusive<u64>,
    about: Option<&About>,
) -> Result<(About, Vec<u8>), FetchError> {
    let network = |reason: String| FetchError::Network { url: url.to_string(), reason };
    let content =
        |reason: &str| FetchError::Content { url: url.to_string(), reason: reason.to_owned() };
    let (first, last) = (blocks.start() * BLOCK_BYTES, (blocks.end() + 1) * BLOCK_BYTES - 1);
    let mut fields = vec![(RANGE, format!("bytes={first}-{last}"))];
    let etag = about.and_then(|about| about.validator.clone());
    fields.extend(etag.filter(|etag| etag.starts_with('"')).map(|etag| (IF_RANGE, etag)));
    let mut response = client.get(url, &fields).await?;
    match response.status {
        StatusCode::PARTIAL_CONTENT => {}
        StatusCode::OK if about.is_some() => return Err(changed(url)),
        StatusCode::OK => return Err(content("the server ignores ranges, allowed status 206")),
        StatusCode::RANGE_NOT_SATISFIABLE if about.is_some() => return Err(changed(url)),
        StatusCode::NOT_FOUND => return Err(FetchError::Absent { url: url.to_string() }),
        status if status.is_redirection() => {
            let to = response.field(LOCATION).unwrap_or("nowhere");
            return Err(content(&format!("redirected to {to}; name that address")));
        }
        status => {
            let (url, status) = (url.to_string(), status.as_u16());
            return Err(FetchError::Status { url, status });
        }
    }
    let range = response.field(CONTENT_RANGE).and_then(|range| {
        let (span, whole) = range.strip_prefix("bytes ")?.split_once('/')?;
        let (first, last) = span.split_once('-')?;
        Some((first.parse().ok()?, last.parse().ok()?, whole.parse().ok()?))
    });
    let range: Option<(u64, u64, u64)> = range;
    let Some((begin, end, length)) = range.filter(|(_, _, length)| *length <= FILE_BYTES_MAX)
    else {
        return Err(content("no Content-Range with first, last and length, as a 206 needs"));
    };
    let own = About { url: url.to_string(), length, validator: validator(&response) };
    if about.is_some_and(|about| *about != own) {
        return Err(changed(url));
    }
    if begin != first || end != last.min(length.saturating_sub(1)) {
        return Err(content("another range than the requested one"));
    }
    let mut bytes = Vec::with_capacity((end - begin + 1) as usize);
    while let Some(piece) = next(&mut response, client.idle_max).await.map_err(network)? {
        bytes.extend_from_slice(&piece);
        if bytes.len() as u64 > end - begin + 1 {
            return Err(content("more bytes than the range has"));
        }
    }
    if bytes.len() as u64 != end - begin + 1 {
        let (count, all) = (bytes.len(), end - begin + 1);
        return Err(network(format!("found {count} of {all} bytes")));
    }
    Ok((own, bytes))
}

fn changed(url: &Url) -> FetchError {
    FetchError::Content {
        url: url.to_string(),
        reason: "the file at the server is another one than that whose blocks are in the cache; remove the cache \
                 of its windows"
            .to_owned(),
    }
}
