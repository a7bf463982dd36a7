//! Configuration of the servers that flows reach.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use groundwave_credentials::read_words;
use groundwave_http::Failure;
use groundwave_http::option_value::{host_and_port, require_file};
use groundwave_io_gateway::notice::{FlowServers, MqttBroker, SmtpServer};
use groundwave_outbound::Trust;

/// Servers that flows reach.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Flows")]
pub struct FlowConfig {
    /// SMTP server for e-mail of flows: smtp://HOST:PORT, smtp://HOST:PORT?tls=required (STARTTLS) or
    /// smtps://HOST
    #[arg(long, env = "GATEWAY_SMTP_URL", value_name = "URL", requires = "smtp_from")]
    pub smtp_url: Option<String>,

    /// Sender of e-mail
    #[arg(long, env = "GATEWAY_SMTP_FROM", value_name = "ADDRESS", requires = "smtp_url", value_parser = mailbox)]
    pub smtp_from: Option<String>,

    /// User at the SMTP server
    #[arg(
        long,
        env = "GATEWAY_SMTP_USER",
        value_name = "NAME",
        requires = "smtp_url",
        requires = "smtp_password_file"
    )]
    pub smtp_user: Option<String>,

    /// File with the password at the SMTP server, mode 0600 or 0640
    #[arg(long, env = "GATEWAY_SMTP_PASSWORD_FILE", value_name = "FILE", requires = "smtp_user")]
    pub smtp_password_file: Option<PathBuf>,

    /// MQTT broker for messages of flows: mqtt://HOST:PORT, or mqtts://HOST:PORT over TLS
    #[arg(long, env = "GATEWAY_MQTT_URL", value_name = "URL")]
    pub mqtt_url: Option<String>,

    /// User at the MQTT broker
    #[arg(
        long,
        env = "GATEWAY_MQTT_USER",
        value_name = "NAME",
        requires = "mqtt_url",
        requires = "mqtt_password_file"
    )]
    pub mqtt_user: Option<String>,

    /// File with the password at the MQTT broker, mode 0600 or 0640
    #[arg(long, env = "GATEWAY_MQTT_PASSWORD_FILE", value_name = "FILE", requires = "mqtt_user")]
    pub mqtt_password_file: Option<PathBuf>,

    /// File with the certificate authorities of an mqtts:// broker, PEM [default: those of the system]
    #[arg(long, env = "GATEWAY_MQTT_CA", value_name = "FILE", requires = "mqtt_url")]
    pub mqtt_ca: Option<PathBuf>,

    /// Socket of the impairment daemon that flows and the page use [example: /run/impair/impair.sock]
    #[arg(long, env = "GATEWAY_IMPAIRD_SOCKET", value_name = "PATH")]
    pub impaird_socket: Option<PathBuf>,

    /// Address of the planning server that flows use [default: the one of this program, if it serves]
    #[arg(long, env = "GATEWAY_PLANNER_ADDRESS", value_name = "ADDR", value_parser = host_and_port)]
    pub planner_address: Option<String>,
}

/// Value of `--smtp-from`.
fn mailbox(text: &str) -> Result<String, String> {
    SmtpServer::check_sender(text).map(|()| text.to_owned())
}

/// User and password, if there is a user; `option` names the file.
fn credentials(
    user: Option<&String>,
    option: &str,
    file: Option<&Path>,
) -> Result<Option<(String, String)>, Failure> {
    let Some((user, file)) = user.zip(file) else {
        return Ok(None);
    };
    require_file(option, file, "a file with the password")?;
    let password = read_words(file).map_err(Failure::input)?;
    Ok(Some((user.clone(), password)))
}

impl FlowConfig {
    /// Trust in the certificate of the MQTT broker.
    fn mqtt_trust(&self) -> Result<Trust, Failure> {
        let Some(path) = &self.mqtt_ca else {
            return Ok(Trust::System);
        };
        let invalid = |what: String| {
            let path = path.display();
            Failure::Input(format!("invalid --mqtt-ca: {path}: {what}"))
        };
        require_file("--mqtt-ca", path, "certificates of authorities (PEM)")?;
        let pem = std::fs::read_to_string(path).map_err(|err| invalid(err.to_string()))?;
        Trust::check_pem(&pem).map_err(invalid)?;
        Ok(Trust::Authorities(pem))
    }

    /// The servers; `planning` is the planning server of this program, if it serves.
    pub(super) fn open(&self, planning: Option<SocketAddr>) -> Result<FlowServers, Failure> {
        let smtp_credentials = credentials(
            self.smtp_user.as_ref(),
            "--smtp-password-file",
            self.smtp_password_file.as_deref(),
        )?;
        let mqtt_credentials = credentials(
            self.mqtt_user.as_ref(),
            "--mqtt-password-file",
            self.mqtt_password_file.as_deref(),
        )?;
        let smtp = self
            .smtp_url
            .as_ref()
            .map(|url| {
                let from = self.smtp_from.as_deref().unwrap_or_default();
                SmtpServer::new(url, from, smtp_credentials)
            })
            .transpose();
        let smtp = smtp.map_err(|what| Failure::Input(format!("invalid --smtp-url: {what}")))?;
        let url = self.mqtt_url.as_deref().unwrap_or_default();
        if self.mqtt_ca.is_some() && !url.to_ascii_lowercase().starts_with("mqtts:") {
            let what =
                "invalid --mqtt-ca: found a broker without TLS, allowed with mqtts://HOST:PORT";
            return Err(Failure::Input(what.to_owned()));
        }
        let trust = self.mqtt_trust()?;
        let broker = |url: &String| MqttBroker::new(url, trust, mqtt_credentials);
        let mqtt = self
            .mqtt_url
            .as_ref()
            .map(broker)
            .transpose()
            .map_err(|what| Failure::Input(format!("invalid --mqtt-url: {what}")))?;
        let planner = self.planner_address.clone();
        Ok(FlowServers {
            smtp,
            mqtt,
            impaird: self.impaird_socket.clone(),
            planner: planner.or_else(|| planning.map(|address| address.to_string())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorities_of_a_broker_without_tls_are_refused() {
        let config = |url: &str| FlowConfig {
            mqtt_url: Some(url.to_owned()),
            mqtt_ca: Some("/no/such/file".into()),
            ..FlowConfig::default()
        };
        let failure = |url: &str| match config(url).open(None) {
            Err(Failure::Input(what)) => what,
            _ => panic!("{url} was taken"),
        };
        assert!(failure("mqtt://broker").contains("found a broker without TLS"));
        assert!(failure("MQTTS://broker").contains("/no/such/file"));
    }
}
