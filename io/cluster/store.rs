//! Objects in a folder or an S3 bucket, which drivers and executors share.

use std::path::Path as FilePath;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use bytes::Bytes;
use futures_util::TryStreamExt;
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, RetryConfig};
use thiserror::Error as ThisError;
use tokio::runtime::Runtime;
use url::Url;

/// Time after which an operation on a bucket that does not answer is given up.
const RETRY_MAX: Duration = Duration::from_secs(30);

/// Reasons why an object cannot be read or written.
#[derive(Debug, ThisError)]
pub enum StoreError {
    /// The address is none of a store.
    #[error("store {address}: {reason}")]
    Address {
        /// The address.
        address: String,
        /// Reason of the refusal.
        reason: String,
    },
    /// An operation failed.
    #[error("{operation} {key} in the store {address}")]
    Object {
        /// Operation.
        operation: &'static str,
        /// Name of the object.
        key: String,
        /// Address of the store.
        address: String,
        /// Cause.
        #[source]
        source: Error,
    },
}

/// Objects by their names. Calls block; they may come from threads of another runtime.
#[derive(Debug, Clone)]
pub struct Store(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    address: String,
    objects: Arc<dyn ObjectStore>,
    prefix: Path,
    /// Some until it is dropped.
    runtime: Option<Runtime>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Waiting for its threads is not allowed in those of another runtime.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Store {
    /// Opens a store: a folder, which is created, `file:///folder` or `s3://bucket/prefix`. Keys, region
    /// and address of a bucket come from the usual variables (`AWS_ACCESS_KEY_ID`,
    /// `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT`, `AWS_ALLOW_HTTP`).
    ///
    /// # Errors
    /// [`StoreError::Address`].
    pub fn open(address: &str) -> Result<Self, StoreError> {
        let wrong = |reason: String| StoreError::Address { address: address.to_owned(), reason };
        let folder = |path: &FilePath| -> Result<(Arc<dyn ObjectStore>, Path), StoreError> {
            std::fs::create_dir_all(path).map_err(|err| wrong(err.to_string()))?;
            let files =
                LocalFileSystem::new_with_prefix(path).map_err(|err| wrong(err.to_string()))?;
            Ok((Arc::new(files), Path::default()))
        };
        let (objects, prefix) = match Url::parse(address) {
            Err(_) => folder(FilePath::new(address))?,
            Ok(url) if url.scheme() == "file" => {
                let path = url.to_file_path();
                folder(&path.map_err(|()| wrong("no folder of this machine".to_owned()))?)?
            }
            Ok(url) if url.scheme() == "s3" => {
                let retry = RetryConfig { retry_timeout: RETRY_MAX, ..RetryConfig::default() };
                let bucket = AmazonS3Builder::from_env()
                    .with_url(address)
                    .with_retry(retry)
                    .build()
                    .map_err(|err| wrong(err.to_string()))?;
                let prefix = Path::from_url_path(url.path());
                (
                    Arc::new(bucket) as Arc<dyn ObjectStore>,
                    prefix.map_err(|err| wrong(err.to_string()))?,
                )
            }
            Ok(url) => {
                let scheme = url.scheme();
                return Err(wrong(format!(
                    "found {scheme}:, allowed a folder, file:///folder, s3://bucket/prefix"
                )));
            }
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("store")
            .enable_all()
            .build();
        Ok(Self(Arc::new(Inner {
            address: address.to_owned(),
            objects,
            prefix,
            runtime: Some(runtime.map_err(|err| wrong(err.to_string()))?),
        })))
    }

    /// Address of the store, as it was given.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.0.address
    }

    fn path(&self, key: &str) -> Path {
        let parts = key.split('/');
        parts.fold(self.0.prefix.clone(), |path, part| path.join(part))
    }

    /// Runs an operation on threads of its own, because a thread of a runtime may not wait for one.
    fn wait<T, F>(
        &self,
        operation: &'static str,
        key: &str,
        run: impl FnOnce(Arc<dyn ObjectStore>, Path) -> F,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let (sender, answer) = mpsc::sync_channel(1);
        let work = run(self.0.objects.clone(), self.path(key));
        let runtime = self.0.runtime.as_ref().expect("some until it is dropped");
        runtime.spawn(async move {
            // Nobody listens where the caller panicked.
            drop(sender.send(work.await));
        });
        let answer = answer.recv().expect("the runtime lives as long as this");
        answer.map_err(|source| StoreError::Object {
            operation,
            key: key.to_owned(),
            address: self.0.address.clone(),
            source,
        })
    }

    /// Bytes of an object; none where there is none.
    ///
    /// # Errors
    /// [`StoreError::Object`].
    pub fn get(&self, key: &str) -> Result<Option<Bytes>, StoreError> {
        self.wait("read", key, |objects, path| async move {
            match objects.get(&path).await {
                Ok(found) => found.bytes().await.map(Some),
                Err(Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(error),
            }
        })
    }

    /// Length of an object, bytes; none where there is none.
    ///
    /// # Errors
    /// [`StoreError::Object`].
    pub fn length(&self, key: &str) -> Result<Option<u64>, StoreError> {
        self.wait("look for", key, |objects, path| async move {
            match objects.head(&path).await {
                Ok(found) => Ok(Some(found.size)),
                Err(Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(error),
            }
        })
    }

    /// Writes an object, all or nothing: a folder by a temporary file and a new name.
    ///
    /// # Errors
    /// [`StoreError::Object`].
    pub fn put(&self, key: &str, bytes: Bytes) -> Result<(), StoreError> {
        self.wait("write", key, |objects, path| async move {
            objects.put(&path, bytes.into()).await.map(drop)
        })
    }

    /// Removes an object, if it is there.
    ///
    /// # Errors
    /// [`StoreError::Object`].
    pub fn remove(&self, key: &str) -> Result<(), StoreError> {
        self.wait("remove", key, |objects, path| async move {
            match objects.delete(&path).await {
                Err(Error::NotFound { .. }) | Ok(()) => Ok(()),
                Err(error) => Err(error),
            }
        })
    }

    /// Names of the objects below `folder`, without order.
    ///
    /// # Errors
    /// [`StoreError::Object`].
    pub fn list(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        let prefix = self.0.prefix.clone();
        self.wait("list", folder, |objects, path| async move {
            let found = objects.list(Some(&path)).map_ok(move |object| {
                let key = object.location.prefix_match(&prefix).map(|parts| {
                    let parts: Vec<_> = parts.map(|part| part.as_ref().to_owned()).collect();
                    parts.join("/")
                });
                key.unwrap_or_default()
            });
            found.try_collect().await
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_of_a_folder_are_written_read_listed_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let address = format!("file://{}/new", folder.path().display());
        let store = Store::open(&address).unwrap();
        assert_eq!(store.get("a/b").unwrap(), None);
        store.put("a/b", Bytes::from_static(b"one")).unwrap();
        store.put("a/b", Bytes::from_static(b"three")).unwrap();
        store.put("a/c/d", Bytes::from_static(b"")).unwrap();
        assert_eq!(store.get("a/b").unwrap().unwrap(), b"three"[..]);
        assert_eq!(store.length("a/b").unwrap(), Some(5));
        assert_eq!(store.length("a").unwrap(), None);
        let mut found = store.list("a").unwrap();
        found.sort();
        assert_eq!(found, ["a/b", "a/c/d"]);
        assert!(store.list("z").unwrap().is_empty());
        store.remove("a/b").unwrap();
        store.remove("a/b").unwrap();
        assert_eq!(store.get("a/b").unwrap(), None);
        // The same folder by its path.
        let path = folder.path().join("new");
        let again = Store::open(path.to_str().unwrap()).unwrap();
        assert_eq!(again.list("a").unwrap(), ["a/c/d"]);
    }

    #[test]
    fn other_addresses_are_refused_with_those_that_are_allowed() {
        let refused = Store::open("ftp://host/folder").unwrap_err().to_string();
        assert_eq!(
            refused,
            "store ftp://host/folder: found ftp:, allowed a folder, file:///folder, s3://bucket/prefix"
        );
    }
}
