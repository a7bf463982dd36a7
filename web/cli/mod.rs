//! The command line: one file a subcommand.
//!
//! A subcommand parses, calls and shows. Results go to stdout, everything else to stderr. Exit
//! codes: 0 success, 1 failure of the simulation or the machine, 2 invalid input, 3 the world of a
//! server broke: restart it, 130 stopped by a signal.

mod antenna;
mod backup;
mod browser;
mod calibrate;
mod cluster;
mod completions;
mod convert;
mod demo;
mod doctor;
mod ends;
mod exchange;
mod gateway;
mod impair;
mod init;
mod link;
mod log;
mod man;
mod map_options;
mod output;
mod overview;
mod place;
mod placeholders;
mod presets;
mod profile;
mod quantity;
mod replay;
mod run;
mod run_extremes;
mod run_report;
mod run_tables;
mod schema;
mod serve;
mod study;
mod sweep;
mod sweep_extent;
mod sweep_failure;
mod sweep_tables;
mod sweep_work;
mod terrain;
mod terrain_folder;
mod testbed;
mod traces;
mod validate;

use std::process::ExitCode;

use clap::{ColorChoice, CommandFactory, Parser, Subcommand};
use groundwave_agent::command as agent;
use groundwave_command::{exit_code, parsed, report, set_colour};
use groundwave_impaird::command as impaird;

use output::Output;

/// Plan, simulate, emulate and operate wireless meshes on real terrain; replay runs bit for bit.
#[derive(Parser)]
#[command(name = "groundwave", version, max_term_width = 100, after_help = EXAMPLES)]
pub struct Cli {
    /// Print one JSON document instead of text
    #[arg(long, global = true)]
    json: bool,

    /// Compute threads, 1 to 1024; results do not depend on it [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Colour of output: `never` writes no escape sequences and shows no progress bar
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,

    /// Errors and results only: no warnings, no progress
    #[arg(long, global = true, conflicts_with = "verbose")]
    quiet: bool,

    /// More of the log on standard error: once for notes, twice for details; RUST_LOG has more choice
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,

    #[command(subcommand)]
    command: Option<Command>,
}

const EXAMPLES: &str = "\
Examples:
  groundwave demo
  groundwave run scenarios/failover.toml
  groundwave link 57.7142,11.9367,30 57.8868,11.5880,20 --radio ptp_5g8 --antenna dish_30
  groundwave profile 57.7142,11.9367,30 57.8868,11.5880,20 --plot path.svg

Terrain comes from --srtm-dir, else PLAN_SRTM_DIR, else .data/srtm and what `terrain fetch` fetched;
ground without a tile counts as missing unless --flat-earth says that it lies at 0 m. `make data`
fetches the geoid and tile N57E011, which most files in scenarios/ need.

Exit codes: 0 success, 1 failure of the simulation or the machine, 2 invalid input, 3 no terrain
data under a link, a profile or a site of a sweep (the result assumes sea level); of `serve`: 3 the
world of the server broke, restart it; 130 stopped before the end by Ctrl-C or SIGTERM. With --json
an error is the last line on stderr, a problem as of RFC 7807 with exit_code in place of status, and
with field and place where they are known.";

#[derive(Subcommand)]
enum Command {
    Demo(demo::Demo),
    Init(init::Init),
    Doctor(doctor::Doctor),
    Run(run::Run),
    Record(run::Record),
    Link(link::Link),
    Profile(profile::Profile),
    Study(study::Study),
    Sweep(Box<sweep::Sweep>),
    Cluster(cluster::Cluster),
    Terrain(terrain::Terrain),
    Validate(validate::Validate),
    Replay(replay::Replay),
    Log(log::Log),
    Presets(presets::Presets),
    Antenna(antenna::Antenna),
    Schema(schema::Schema),
    Serve(Box<serve::Serve>),
    Impaird(impaird::Impaird),
    Impair(Box<impair::Impair>),
    Agent(Box<agent::Agent>),
    Gateway(gateway::Gateway),
    Testbed(Box<testbed::Testbed>),
    Backup(backup::Backup),
    Restore(backup::Restore),
    Import(exchange::Import),
    Export(exchange::Export),
    Convert(Box<convert::Convert>),
    Calibrate(calibrate::Calibrate),
    Completions(completions::Completions),
    Man(man::Man),
}

/// The command line: all subcommands with their arguments and help.
#[must_use]
pub fn command() -> clap::Command {
    groundwave_command::as_program(Cli::command())
}

/// Parses the arguments, runs the subcommand, reports failures on stderr.
pub fn main() -> ExitCode {
    let cli: Cli = match parsed() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    set_colour(cli.color);
    let output = Output { json: cli.json };
    if cli.quiet {
        output::be_quiet();
    }
    let Some(command) = cli.command else {
        return exit_code(overview::show(output), output);
    };
    let quiet = format!("warn,{}=off", groundwave_terrain::FAULT_TARGET);
    let default_filter = match command {
        _ if cli.quiet => "error",
        _ if cli.verbose == 1 => "info",
        _ if cli.verbose > 1 => "debug",
        Command::Serve(_) => serve::LOG_FILTER,
        Command::Impaird(_) => impaird::LOG_FILTER,
        Command::Agent(_) => agent::LOG_FILTER,
        Command::Cluster(_) => cluster::LOG_FILTER,
        Command::Testbed(_) => testbed::LOG_FILTER,
        _ => quiet.as_str(),
    };
    let log_file = match &command {
        Command::Serve(args) => args.log_file.as_deref(),
        _ => None,
    };
    let checked = match &command {
        Command::Serve(args) => args.check(),
        _ => Ok(()),
    };
    let otlp_endpoint = match &command {
        Command::Serve(args) => args.otlp_endpoint.as_deref(),
        _ => None,
    };
    let start = || {
        checked?;
        groundwave_command::logging::start(default_filter, log_file)?;
        otlp_endpoint.map(traces::Traces::start).transpose()
    };
    // It sends what it has when the command ends.
    let _traces = match start() {
        Ok(traces) => traces,
        Err(failure) => return report(failure, output),
    };
    // The impairment daemon computes nothing, and its threads must start after it drops privileges.
    let computes = !matches!(command, Command::Impaird(_));
    if let Some(threads) = cli.threads.filter(|_| computes) {
        groundwave_engine::parallel::compute_threads(usize::from(threads));
        // Nothing has used the global pool of rayon yet, so this cannot fail.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads));
        pool.build_global().ok();
    }
    let outcome = match command {
        Command::Demo(args) => args.run(output),
        Command::Init(args) => args.run(output),
        Command::Doctor(args) => args.run(output),
        Command::Run(args) => args.run(output),
        Command::Record(args) => args.run(output),
        Command::Link(args) => args.run(output),
        Command::Profile(args) => args.run(output),
        Command::Study(args) => args.run(output),
        Command::Sweep(args) => args.run(output),
        Command::Cluster(args) => args.run(output),
        Command::Terrain(args) => args.run(output),
        Command::Validate(args) => args.run(output),
        Command::Replay(args) => args.run(output),
        Command::Log(args) => args.run(output),
        Command::Presets(args) => args.run(output),
        Command::Antenna(args) => args.run(output),
        Command::Schema(args) => args.run(output),
        Command::Serve(args) => args.run(output),
        Command::Impaird(args) => args.run(output),
        Command::Impair(args) => args.run(output),
        Command::Agent(args) => args.run(output),
        Command::Gateway(args) => args.run(output),
        Command::Testbed(args) => args.run(output),
        Command::Backup(args) => args.run(output),
        Command::Restore(args) => args.run(output),
        Command::Import(args) => args.run(output),
        Command::Export(args) => args.run(output),
        Command::Convert(args) => args.run(output),
        Command::Calibrate(args) => args.run(output),
        Command::Completions(args) => args.run(output),
        Command::Man(args) => args.run(output),
    };
    exit_code(outcome, output)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::Cli;

    /// The refusal of a command line.
    #[track_caller]
    fn refusal(line: &str) -> String {
        let result = Cli::try_parse_from(line.split(' '));
        result.err().unwrap_or_else(|| panic!("`{line}` is refused")).to_string()
    }

    #[test]
    fn standard_output_as_a_folder_or_store_gives_an_error() {
        for (line, option) in [
            ("groundwave sweep a.toml -o -", "--out"),
            ("groundwave sweep a.toml --out=-", "--out"),
            ("groundwave sweep merge -", "<OUT>"),
            ("groundwave study a.toml -o -", "--output"),
            ("groundwave man -", "<FOLDER>"),
            ("groundwave terrain fetch N57E011 --terrain-cache -", "--terrain-cache"),
            ("groundwave link 1,1 2,2 --terrain-cache -", "--terrain-cache"),
            ("groundwave run a.toml --store -", "--store"),
            ("groundwave testbed up a.toml --record -", "--record"),
            ("groundwave testbed down --keep-log -", "--keep-log"),
            ("groundwave restore a.redb --db -", "--db"),
            ("groundwave restore a.redb --state -", "--state"),
            ("groundwave serve --db -", "--db"),
            ("groundwave serve --log-file -", "--log-file"),
            ("groundwave serve --state -", "--state"),
            ("groundwave agent --key -", "--key"),
            ("groundwave cluster executor --store s --work-dir -", "--work-dir"),
        ] {
            let error = refusal(line);
            assert!(
                error.contains(option) && error.contains("found -, allowed the path"),
                "{error}"
            );
        }
        // A folder of this name goes by another path.
        assert!(Cli::try_parse_from(["groundwave", "sweep", "a.toml", "-o", "./-"]).is_ok());
    }

    /// Checks an option or argument, and counts it.
    fn takes_negative_values(arg: &clap::Arg, of: &str) -> usize {
        let alone = groundwave_command::negative_values::alone(arg);
        let kind = |words: &[String]| {
            alone.clone().try_get_matches_from(words).err().map(|error| error.kind())
        };
        let name = arg.get_long().map(|name| format!("--{name}"));
        let values = match groundwave_command::negative_values::is_numeric(arg) {
            true if arg.get_value_delimiter().is_some() => &["-1", "-0.5", "-1,-2"][..],
            true => &["-1", "-1e3"],
            false => &["-1"],
        };
        for value in values {
            let (apart, joined) = match &name {
                Some(name) => {
                    (vec![name.clone(), (*value).to_owned()], vec![format!("{name}={value}")])
                }
                None => (vec![(*value).to_owned()], vec!["--".to_owned(), (*value).to_owned()]),
            };
            assert_eq!(kind(&apart), kind(&joined), "{of}: {apart:?}");
        }
        1
    }

    #[test]
    fn negative_values_are_no_options_of_any_command() {
        fn walk(command: &clap::Command, path: &str) -> usize {
            let name = format!("{path} {}", command.get_name());
            let is_checked = |arg: &&clap::Arg| {
                let is_option = arg.get_long().is_some() && arg.get_action().takes_values();
                is_option || groundwave_command::negative_values::is_numeric(arg)
            };
            let own = command.get_arguments().filter(is_checked);
            let own: usize = own.map(|arg| takes_negative_values(arg, &name)).sum();
            own + command.get_subcommands().map(|below| walk(below, &name)).sum::<usize>()
        }
        assert!(walk(&super::command(), "") > 150);
    }

    #[test]
    fn positions_and_quantities_begin_with_a_minus() {
        for line in [
            "link -33.9,18.4 -34,18.5,20 --height -3ft --gain-dbi -3dBd,-1 --feeder-db -1",
            "link -33.9,18.4 -34,18.5 --azimuth -90,-45 --tilt -5 --tx-power-dbm -10dBm --rain -1",
            "profile -33.9,18.4 -34,18.5 --clutter urban --clutter-height -1 --woodland-depth -2",
            "init a.toml --at -33.9,18.4 --spacing-km -1 --height -3ft",
            "terrain fetch -34,18,-33,19 --radius-km -1",
            "convert a.tcl a.toml --origin -33.9,18.4 --range -1 --update-distance -1 --step -1",
            "testbed add spare --lat -33.9 --lon -18.4 --height-agl-m -1 --frequency-mhz -1",
            "testbed move spare -33.9,18.4",
            "testbed speed -1",
            "testbed set a b --loss -5% --rate -2mbit --delay -20ms --jitter -1ms",
            "impair set port1 --loss -5% --delay -20ms --for -3s",
            "impair play a.toml --seek -1s --speed -2x --window -1ms",
            "replay a.gwlog --from -1 --to -1 --step -1 --speed -2x",
            "run a.toml --until -1",
            "serve --heartbeat-s -1",
            "agent --period -1",
        ] {
            let words = ["groundwave"].into_iter().chain(line.split(' '));
            let result = super::command().try_get_matches_from(words);
            let kind = result.err().map(|error| error.kind());
            let is_read = kind.is_none() || kind == Some(clap::error::ErrorKind::ValueValidation);
            assert!(is_read, "{line}: {kind:?}");
        }
    }

    #[test]
    fn switches_with_a_variable_can_be_turned_off() {
        for line in [
            "run a.toml --flat-earth=false --fetch=no",
            "link 1,1 2,2 --offline=false --flat-earth",
            "serve --flat-earth=false --offline=off --public-map=false",
            "agent --allow-reboot=false --allow-configure=0",
        ] {
            let words = ["groundwave"].into_iter().chain(line.split(' '));
            let error = super::command().try_get_matches_from(words).err();
            assert!(error.is_none(), "{line}: {error:?}");
        }
    }

    #[test]
    fn the_command_line_is_consistent_and_every_subcommand_has_examples() {
        let mut command = super::command();
        command.clone().debug_assert();
        for subcommand in command.get_subcommands_mut() {
            let name = subcommand.get_name().to_owned();
            let help = subcommand.render_long_help().to_string();
            assert!(help.contains("Examples:"), "`{name} --help` shows no examples");
        }
    }
}
