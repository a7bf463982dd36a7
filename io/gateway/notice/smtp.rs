//! E-mail over SMTP.

use std::time::Duration;

use lettre::message::Mailbox;
use lettre::message::header::ContentType;
use lettre::transport::smtp::AsyncSmtpTransportBuilder;
use lettre::transport::smtp::authentication::Credentials;
use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use url::Url;

use super::NoticeError;

/// Time for each step of a session.
const STEP_MAX: Duration = Duration::from_secs(10);

/// SMTP server.
#[derive(Clone)]
pub struct SmtpServer {
    builder: AsyncSmtpTransportBuilder,
    from: Mailbox,
}

fn permanent(what: impl std::fmt::Display) -> NoticeError {
    NoticeError { what: what.to_string(), may_pass: false }
}

fn sender(text: &str) -> Result<Mailbox, String> {
    text.parse().map_err(|_| format!("found {text:?}, allowed NAME@DOMAIN or TEXT <NAME@DOMAIN>"))
}

impl SmtpServer {
    /// Server at a URL: `smtps://HOST`, or `smtp://HOST:PORT` with `?tls=required` for STARTTLS;
    /// `from` is the sender.
    ///
    /// # Errors
    /// The value found and the values allowed.
    pub fn new(
        url: &str,
        from: &str,
        credentials: Option<(String, String)>,
    ) -> Result<Self, String> {
        let allowed = "allowed smtp://HOST:PORT, smtp://HOST:PORT?tls=required or smtps://HOST";
        let has_user = |url: Url| !url.username().is_empty() || url.password().is_some();
        if Url::parse(url).is_ok_and(has_user) {
            // A password among the options is seen by all processes: it is not shown.
            return Err(format!("found a user or password, {allowed}"));
        }
        let mut builder = AsyncSmtpTransport::<Tokio1Executor>::from_url(url)
            .map_err(|err| format!("{err}, {allowed}"))?
            .timeout(Some(STEP_MAX));
        if let Some((user, password)) = credentials {
            builder = builder.credentials(Credentials::new(user, password));
        }
        let from = sender(from).map_err(|what| format!("invalid sender: {what}"))?;
        Ok(Self { builder, from })
    }

    /// Checks the address of a sender.
    ///
    /// # Errors
    /// The value found and the values allowed.
    pub fn check_sender(from: &str) -> Result<(), String> {
        sender(from).map(drop)
    }

    /// Checks the address of a recipient.
    ///
    /// # Errors
    /// The reason.
    pub fn check_recipient(to: &str) -> Result<(), String> {
        let parsed = to.parse::<Mailbox>();
        parsed.map(drop).map_err(|err| format!("found {to:?}: {err}"))
    }

    /// Sends a text to each recipient; `id` is the first part of the `Message-ID`, the same for each
    /// attempt.
    ///
    /// # Errors
    /// When the server did not accept it.
    pub async fn send(
        &self,
        id: &str,
        to: &[String],
        subject: &str,
        text: &str,
    ) -> Result<(), NoticeError> {
        let mut message = Message::builder()
            .from(self.from.clone())
            .subject(subject)
            .message_id(Some(format!("<{id}@{}>", self.from.email.domain())))
            .header(ContentType::TEXT_PLAIN);
        for to in to {
            message = message.to(to.parse().map_err(permanent)?);
        }
        let message = message.body(text.to_owned()).map_err(permanent)?;
        let transport: AsyncSmtpTransport<Tokio1Executor> = self.builder.clone().build();
        let sent = tokio::time::timeout(3 * STEP_MAX, transport.send(message)).await;
        match sent {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(err)) => Err(NoticeError { what: chain(&err), may_pass: !err.is_permanent() }),
            Err(_) => Err(NoticeError {
                what: format!("no answer within {} s", 3 * STEP_MAX.as_secs()),
                may_pass: true,
            }),
        }
    }
}

/// An error with its causes.
fn chain(err: &dyn std::error::Error) -> String {
    let mut text = err.to_string();
    let mut cause = err.source();
    while let Some(next) = cause {
        let message = next.to_string();
        if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
        cause = next.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_the_address_of_a_server_is_refused_and_not_shown() {
        let new = |url: &str| SmtpServer::new(url, "mesh@example.org", None).map(drop);
        assert_eq!(new("smtp://mail.example.org:587?tls=required"), Ok(()));
        for url in ["smtp://ada:canary@mail.example.org", "smtps://canary@mail.example.org"] {
            let what = new(url).unwrap_err();
            assert!(what.starts_with("found a user") && !what.contains("canary"), "{what}");
        }
    }
}
