//! Fetching of firmware: pieces of an image between heartbeats.

use std::ops::Range;
use std::time::Duration;

use groundwave_files::wall::monotonic_ns;
use groundwave_http::client::{Client, HttpResponse};
use hyper::StatusCode;
use uuid::Uuid;

use super::Agent;

/// Longest time for a piece.
const PIECE: Duration = Duration::from_secs(10);

impl Agent {
    /// Fetches pieces of a commanded image for half a heartbeat period; what is missing then is fetched
    /// after the next heartbeat.
    pub(super) async fn fetch_firmware(&mut self) {
        self.finished.extend(self.commands.installed());
        let until_ns = monotonic_ns() + self.options.rhythm.period_ms * 500_000;
        let address = self.address(true);
        let mut client = None;
        while let Some((image, range)) = self.commands.wanted_firmware() {
            if monotonic_ns() > until_ns {
                return;
            }
            let length = range.end - range.start;
            let response =
                tokio::time::timeout(PIECE, self.piece(&mut client, &address, image, range));
            let finished = match response.await {
                Ok(Ok(response))
                    if response.status.is_success() && response.body.len() as u64 == length =>
                {
                    self.commands.take_firmware(&response.body)
                }
                Ok(Ok(response)) if response.status == StatusCode::NOT_FOUND => {
                    self.commands.give_firmware_up("the gateway has no such image")
                }
                Ok(Ok(response)) => {
                    tracing::debug!("firmware: {}", response.status);
                    return;
                }
                Ok(Err(why)) => {
                    tracing::debug!("firmware: {why}");
                    return;
                }
                Err(_) => return,
            };
            self.finished.extend(finished);
        }
    }

    async fn piece(
        &self,
        client: &mut Option<Client>,
        address: &str,
        image: Uuid,
        range: Range<u64>,
    ) -> Result<HttpResponse, String> {
        let open = match client.take() {
            Some(open) => open,
            None => Client::tcp(address).await.map_err(|err| err.to_string())?,
        };
        let open = client.insert(open);
        let path = format!("/v1/firmware/images/{image}/content");
        let response = open.range(&path, self.token.as_deref(), range).await;
        response.map_err(|err| err.to_string())
    }
}
