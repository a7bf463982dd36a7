//! The folder of a gateway: keys, audit log, history.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use groundwave_credentials::load_or_make;
use groundwave_http::Failure;
use groundwave_http::option_value::folder_path;

/// Folder of a gateway.
#[derive(Debug, Clone, Args)]
pub struct GatewayFolder {
    /// Folder of keys, audit log and history of readings
    #[arg(
        long = "state",
        id = "state",
        env = "GATEWAY_STATE",
        value_name = "DIR",
        default_value = "gateway",
        value_parser = PathBufValueParser::new().try_map(folder_path)
    )]
    pub path: PathBuf,
}

impl GatewayFolder {
    /// File of the folder.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Key of tokens and sealed secrets; folder and key are created at the first use.
    ///
    /// # Errors
    /// When the folder or the key cannot be created or read, or others may read the key.
    pub fn key(&self) -> Result<[u8; 32], Failure> {
        groundwave_http::create_private(&self.path)?;
        load_or_make::<32>(&self.file("token.key")).map_err(Failure::input)
    }

    /// File of the folder of a gateway that ran.
    ///
    /// # Errors
    /// When there is none.
    pub fn existing(&self, name: &str) -> Result<PathBuf, Failure> {
        let file = self.file(name);
        match file.is_file() {
            true => Ok(file),
            false => Err(Failure::Input(format!(
                "invalid --state: found no {}, allowed the folder of a gateway that ran",
                file.display()
            ))),
        }
    }

    /// Key of a gateway that ran.
    ///
    /// # Errors
    /// Without a key, or as [`Self::key`].
    pub fn existing_key(&self) -> Result<[u8; 32], Failure> {
        load_or_make::<32>(&self.existing("token.key")?).map_err(Failure::input)
    }
}
