//! Fetching of firmware: pieces of an image between heartbeats.

use std::ops::Range;
use std::time::Duration;

use groundwave_files::wall::monotonic_ns;
use groundwave_http::client::{Client, HttpResponse};
use hyper::StatusCode;
use uuid::Uuid;

use super::Agent;
use crate::connection::refusal;

/// Longest time for a piece.
const PIECE: Duration = Duration::from_secs(10);
/// Subject of lines of the log.
const SUBJECT: &str = "firmware image";

fn content_path(image: Uuid) -> String {
    format!("/v1/firmware/images/{image}/content")
}

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
            let path = content_path(image);
            let piece = self.piece(&mut client, &address, &path, range);
            let failure = match tokio::time::timeout(PIECE, piece).await {
                Ok(Ok(response)) if response.status == StatusCode::NOT_FOUND => {
                    let why = "the gateway has no such image";
                    self.finished.extend(self.commands.give_firmware_up(why));
                    continue;
                }
                Ok(Ok(response)) if !response.status.is_success() => refusal(&path, &response),
                Ok(Ok(response)) if response.body.len() as u64 != length => {
                    let bytes = response.body.len();
                    format!("{path}: found {bytes} bytes, requested {length}")
                }
                Ok(Ok(response)) => {
                    self.report_success(SUBJECT);
                    self.finished.extend(self.commands.take_firmware(&response.body));
                    continue;
                }
                Ok(Err(why)) => why,
                Err(_) => format!("{address} did not answer in time"),
            };
            let now_ms = self.now_ms();
            return self.report_failure(SUBJECT, &failure, now_ms);
        }
    }

    async fn piece(
        &self,
        client: &mut Option<Client>,
        address: &str,
        path: &str,
        range: Range<u64>,
    ) -> Result<HttpResponse, String> {
        let open = match client.take() {
            Some(open) => open,
            None => Client::tcp(address).await.map_err(|err| err.to_string())?,
        };
        let open = client.insert(open);
        let response = open.range(path, self.token.as_deref(), range).await;
        response.map_err(|err| err.to_string())
    }
}
