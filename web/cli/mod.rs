//! The command line: one file a subcommand.
//!
//! Results go to stdout, everything else to stderr. Exit codes: 0 done, 1 the world broke or the
//! machine failed, 2 the input was wrong.

mod agent;
mod backup;
mod calibrate;
mod completions;
mod ends;
mod exchange;
mod failure;
mod gateway;
mod ground;
mod impair;
mod impaird;
mod link;
mod log;
mod output;
mod presets;
mod profile;
mod recording;
mod recording_out;
mod replay;
mod run;
mod run_report;
mod run_tables;
mod schema;
mod serve;
mod simulation;
mod standing;
mod sweep;
mod testbed;
mod validate;

use std::process::ExitCode;

use clap::{ColorChoice, Parser, Subcommand};

use output::Output;

/// Plan wireless meshes on real terrain, run them, replay them to the bit.
#[derive(Parser)]
#[command(name = "groundwave", version, max_term_width = 100, after_help = EXAMPLES)]
pub struct Cli {
    /// Print one JSON document instead of text
    #[arg(long, global = true)]
    json: bool,

    /// Threads that compute; results are the same for any number [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,

    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  groundwave run scenarios/gothenburg.toml
  groundwave link 57.7142,11.9367,30 57.8868,11.5880,20 --radio ptp_5g8 --antenna dish_30
  groundwave profile --scenario scenarios/gothenburg.toml ramberget marstrand --plot path.svg

Terrain: tiles are looked for in --srtm-dir, then PLAN_SRTM_DIR, then .data/srtm; `make data`
fetches one tile and the geoid.";

#[derive(Subcommand)]
enum Command {
    Run(run::Run),
    Record(run::Record),
    Link(link::Link),
    Profile(profile::Profile),
    Sweep(sweep::Sweep),
    Validate(validate::Validate),
    Replay(replay::Replay),
    Log(log::Log),
    Presets(presets::Presets),
    Schema(schema::Schema),
    Serve(Box<serve::Serve>),
    Impaird(impaird::Impaird),
    Impair(Box<impair::Impair>),
    Agent(Box<agent::Agent>),
    Testbed(Box<testbed::Testbed>),
    Backup(backup::Backup),
    Restore(backup::Restore),
    Import(exchange::Import),
    Export(exchange::Export),
    Convert(exchange::Convert),
    Calibrate(calibrate::Calibrate),
    Completions(completions::Completions),
}

/// Parses the arguments, runs the subcommand, tells failures.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    anstream::ColorChoice::write_global(match cli.color {
        ColorChoice::Auto => anstream::ColorChoice::Auto,
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Never => anstream::ColorChoice::Never,
    });
    let usual = match cli.command {
        Command::Serve(_) => serve::LOG_FILTER,
        Command::Impaird(_) => impaird::LOG_FILTER,
        Command::Agent(_) => agent::LOG_FILTER,
        Command::Testbed(_) => testbed::LOG_FILTER,
        _ => "warn",
    };
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new(usual));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
    // The daemon computes nothing, and its threads must begin after it gave its rights up.
    let computes = !matches!(cli.command, Command::Impaird(_));
    if let Some(threads) = cli.threads.filter(|_| computes) {
        groundwave_engine::parallel::compute_threads(usize::from(threads));
        // Coverage shares its work by rayon; nothing has used its pool yet, so this cannot fail.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads));
        pool.build_global().ok();
    }
    let output = Output { json: cli.json };
    let outcome = match cli.command {
        Command::Run(args) => args.run(output),
        Command::Record(args) => args.run(output),
        Command::Link(args) => args.run(output),
        Command::Profile(args) => args.run(output),
        Command::Sweep(args) => args.run(output),
        Command::Validate(args) => args.run(output),
        Command::Replay(args) => args.run(output),
        Command::Log(args) => args.run(output),
        Command::Presets(args) => args.run(output),
        Command::Schema(args) => args.run(output),
        Command::Serve(args) => args.run(output),
        Command::Impaird(args) => args.run(output),
        Command::Impair(args) => args.run(output),
        Command::Agent(args) => args.run(output),
        Command::Testbed(args) => args.run(output),
        Command::Backup(args) => args.run(output),
        Command::Restore(args) => args.run(output),
        Command::Import(args) => args.run(output),
        Command::Export(args) => args.run(output),
        Command::Convert(args) => args.run(output),
        Command::Calibrate(args) => args.run(output),
        Command::Completions(args) => args.run(output),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.tell(),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent_and_every_subcommand_has_examples() {
        let mut command = super::Cli::command();
        command.clone().debug_assert();
        for subcommand in command.get_subcommands_mut() {
            let name = subcommand.get_name().to_owned();
            let help = subcommand.render_long_help().to_string();
            assert!(
                help.contains("Examples:"),
                "`{name} --help` shows no examples"
            );
        }
    }
}
