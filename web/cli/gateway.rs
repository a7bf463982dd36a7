//! `groundwave gateway`: care of a gateway on its own machine.

use clap::{Args, Subcommand};
use groundwave_http::Failure;
use groundwave_io_gateway::AuditReport;
use groundwave_web_gateway::serve::audit::{AuditConfig, describe};
use groundwave_web_gateway::serve::reset_admin::{ResetAdminConfig, reset_admin};
use serde_json::json;

use super::output::Output;

/// Reset an admin and check the audit log on the machine of a gateway
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Gateway {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  groundwave gateway reset-admin --state /var/lib/groundwave/gateway --db /var/lib/groundwave/world.db
  groundwave gateway audit verify --state /var/lib/groundwave/gateway
  groundwave gateway audit repair --state /var/lib/groundwave/gateway";

const RESET_EXAMPLES: &str = "\
Examples:
  groundwave gateway reset-admin --state /var/lib/groundwave/gateway --db /var/lib/groundwave/world.db
  groundwave gateway reset-admin --username ada --password-file /run/password

Stop the gateway first. The account gets the role admin and a password that must be changed at the next
login; its tokens are revoked.";

const AUDIT_EXAMPLES: &str = "\
Examples:
  groundwave gateway audit verify --state /var/lib/groundwave/gateway
  groundwave gateway audit repair --state /var/lib/groundwave/gateway

A gateway that starts repairs its log in the same way. Damaged lines stay in the file.";

#[derive(Subcommand)]
enum Command {
    /// Give an account the role admin and a new password
    #[command(after_help = RESET_EXAMPLES)]
    ResetAdmin(ResetAdminConfig),
    /// Check the audit log
    #[command(after_help = AUDIT_EXAMPLES)]
    Audit(Audit),
}

#[derive(Args)]
struct Audit {
    #[command(subcommand)]
    command: AuditCommand,
}

#[derive(Subcommand)]
enum AuditCommand {
    /// Show damaged lines; exit code 1 unless a segment follows them
    #[command(after_help = AUDIT_EXAMPLES)]
    Verify(AuditConfig),
    /// Remove an incomplete last line and begin a new segment after damaged lines
    #[command(after_help = AUDIT_EXAMPLES)]
    Repair(AuditConfig),
}

impl Gateway {
    /// Runs the subcommand.
    pub fn run(self, output: Output) -> Result<(), Failure> {
        match self.command {
            Command::ResetAdmin(config) => reset(&config, output),
            Command::Audit(Audit { command }) => match command {
                AuditCommand::Verify(config) => {
                    let report = config.verify()?;
                    show(&report, output)?;
                    match report.is_intact() {
                        true => Ok(()),
                        false => Err(Failure::Machine(format!("audit log: {}", describe(&report)))),
                    }
                }
                AuditCommand::Repair(config) => show(&config.repair()?, output),
            },
        }
    }
}

fn reset(config: &ResetAdminConfig, output: Output) -> Result<(), Failure> {
    let file = reset_admin(config)?;
    if output.json {
        return output.json(&json!({ "username": config.username, "password_file": file }));
    }
    let password = match file {
        Some(file) => format!("password in {}", file.display()),
        None => "password as given".to_owned(),
    };
    output.text(&format!("admin {}: {password}\n", config.username))
}

fn show(report: &AuditReport, output: Output) -> Result<(), Failure> {
    if output.json {
        let damage = report.damage.iter();
        let damage: Vec<_> = damage
            .map(|one| json!({ "first_line": one.first_line, "last_line": one.last_line }))
            .collect();
        return output.json(&json!({
            "lines": report.lines,
            "keyed_lines": report.keyed_lines,
            "torn_bytes": report.torn_bytes,
            "damage": damage,
            "ends_damaged": report.ends_damaged,
        }));
    }
    let damage = match report.damage.is_empty() {
        true => "no damage".to_owned(),
        false => describe(report),
    };
    output.text(&format!("{} lines, {} keyed: {damage}\n", report.lines, report.keyed_lines))
}
