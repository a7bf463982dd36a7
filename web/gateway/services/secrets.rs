//! Random secrets and the credentials of nodes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groundwave_gateway::account::{AccountId, IssueCredential};
use groundwave_http::{Problem, id};
use groundwave_protocol::Credentials;
use groundwave_simulation::site::NodeId;
use sha2::{Digest, Sha256};

use super::world::World;

/// Random bytes of the operating system.
///
/// # Errors
/// 500.
pub fn random<const BYTES: usize>() -> Result<[u8; BYTES], Problem> {
    groundwave_credentials::random().map_err(|err| Problem::internal(err.to_string()))
}

/// URL or path without its query, in which cameras and other systems take keys.
#[must_use]
pub fn redacted(url: &str) -> String {
    match url.split_once('?') {
        Some((before, _)) => format!("{before}?redacted"),
        None => url.to_owned(),
    }
}

/// Makes a node a new credential; an earlier one is dead.
///
/// # Errors
/// When the node is not in.
pub async fn issue(world: &World, node: NodeId, hostname: &str) -> Result<Credentials, Problem> {
    let secret: [u8; 32] = random()?;
    let password = STANDARD.encode(secret);
    let short = &node.uuid().simple().to_string()[20..];
    let stem: String = hostname.chars().take(40).collect();
    let command = IssueCredential {
        account: AccountId::new(id::mint()),
        node,
        username: format!("node-{stem}-{short}"),
        secret_sha256: Sha256::digest(password.as_bytes()).into(),
    };
    let username = world.submit(command).await?;
    Ok(Credentials { username, password })
}
