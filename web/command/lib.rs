//! The frame of every program: arguments and their errors, configuration files, log, output, exit codes.
//!
//! Results go to stdout, everything else to stderr. Exit codes: 0 success, 1 failure of the machine, 2
//! invalid input, 130 stopped by a signal.

pub mod file_identity;
mod help;
pub mod logging;
pub mod negative_values;
pub mod output;
mod print_config;
mod problem;
mod settings;
#[cfg(test)]
mod settings_tests;
mod switches;
mod usage;
pub mod waiting;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::builder::Resettable;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ColorChoice, Parser};
use groundwave_http::Failure;

pub use help::laid_out;
use negative_values::with_negative_values;
use output::Output;
use print_config::Configuration;
use problem::Problem;
use settings::Settings;
pub use settings::is_configurable;
use switches::with_switch_values;

/// Exit code of invalid input.
const USAGE_CODE: u8 = 2;

/// Option that prints the options in force.
const PRINT_CONFIG: &str = "print_config";

/// Heading of the options that all commands have.
const COMMON_HEADING: &str = "Common options";

/// The arguments of the process; options that are given neither there nor in the environment have the values
/// of the configuration files. The exit code where they are invalid or request help, which is shown.
pub fn parsed<A: Parser>() -> Result<A, ExitCode> {
    // First: errors of the arguments have their colour too.
    set_colour(usage::colour(std::env::args_os().map(|one| one.to_string_lossy().into_owned())));
    let command = without_empty_variables(laid_out(as_program(A::command())));
    let command = with_common_options(command);
    let variable = |name: &str| std::env::var(name).ok();
    let settings = Settings::load(&command, variable)
        .map_err(|message| report(Failure::Input(message), Output { json: requests_json() }))?;
    let command = settings.applied(command);
    let output = Output { json: requests_json() || settings.is_true("json") };
    let usage = |error: clap::Error| usage(&error, output);
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let matches = matches(&command, &arguments).map_err(usage)?;
    if is_set(&matches, PRINT_CONFIG) {
        let output = Output { json: is_set(&matches, "json") };
        let configuration = Configuration::new(&command, &matches, &settings);
        let outcome = match output.json {
            true => output.json(&configuration),
            false => output.text(&configuration.to_toml()),
        };
        return Err(exit_code(outcome, output));
    }
    A::from_arg_matches(&matches).map_err(usage)
}

/// The command line as a program takes it: with the option that prints the options in force, with values that begin with
/// a minus, and with switches that can be turned off.
#[must_use]
pub fn as_program(command: clap::Command) -> clap::Command {
    with_negative_values(with_switch_values(with_print_config(command)))
}

/// The command line with the option that prints the options in force; options that all of its commands have
/// stand below a heading of their own.
fn with_print_config(command: clap::Command) -> clap::Command {
    let help = "Print the options in force with their sources, as a configuration file, and stop";
    let option = Arg::new(PRINT_CONFIG).long("print-config").action(ArgAction::SetTrue);
    command.arg(option.global(true).help(help)).mut_args(|arg| match arg.is_global_set() {
        true => arg.help_heading(COMMON_HEADING),
        false => arg,
    })
}

/// The command line with the options that all commands have in each of them: a table of a configuration file sets them
/// for its command alone.
fn with_common_options(command: clap::Command) -> clap::Command {
    let common = command.get_arguments().filter(|arg| arg.is_global_set());
    let common: Vec<Arg> = common.cloned().collect();
    command.mut_subcommands(|subcommand| {
        let has = |arg: &Arg| subcommand.get_arguments().any(|own| own.get_id() == arg.get_id());
        let others: Vec<Arg> = common.iter().filter(|arg| !has(arg)).cloned().collect();
        with_common_options(subcommand.args(others))
    })
}

/// The matches of the arguments; options in force are printed where required arguments are missing, too.
fn matches(
    command: &clap::Command,
    arguments: &[OsString],
) -> Result<clap::ArgMatches, clap::Error> {
    let error = match command.clone().try_get_matches_from(arguments) {
        Err(error) if error.kind() == ErrorKind::MissingRequiredArgument => error,
        outcome => return outcome,
    };
    // Requirements are checked last: all else is valid.
    match command.clone().ignore_errors(true).try_get_matches_from(arguments) {
        Ok(matches) if is_set(&matches, PRINT_CONFIG) => Ok(matches),
        _ => Err(error),
    }
}

/// `true` for a switch that is set.
fn is_set(matches: &clap::ArgMatches, id: &str) -> bool {
    matches.try_get_one::<bool>(id).ok().flatten() == Some(&true)
}

fn requests_json() -> bool {
    std::env::args_os().any(|argument| argument == "--json")
}

/// Sets the colour of all output.
pub fn set_colour(choice: ColorChoice) {
    anstream::ColorChoice::write_global(match choice {
        ColorChoice::Auto => anstream::ColorChoice::Auto,
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Never => anstream::ColorChoice::Never,
    });
}

/// A program with one command: parses its arguments, starts the log, runs it, reports its failure.
pub fn single<A: Parser>(
    log_filter: &str,
    options: impl FnOnce(&A) -> (bool, ColorChoice),
    run: impl FnOnce(A, Output) -> Result<(), Failure>,
) -> ExitCode {
    let arguments: A = match parsed() {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let (json, colour) = options(&arguments);
    set_colour(colour);
    let output = Output { json };
    let outcome = logging::start(log_filter, None).and_then(|()| run(arguments, output));
    exit_code(outcome, output)
}

/// The command line without the environment variables that are set to nothing: they count as unset.
fn without_empty_variables(command: clap::Command) -> clap::Command {
    let is_empty = |arg: &Arg| {
        let name = arg.get_env();
        name.and_then(std::env::var_os).is_some_and(|value| value.is_empty())
    };
    let command = command.mut_args(|arg| match is_empty(&arg) {
        true => arg.env(Resettable::Reset),
        false => arg,
    });
    command.mut_subcommands(without_empty_variables)
}

/// Writes the messages of clap: help and versions as they are, invalid values in the form of all messages,
/// errors as JSON where `output` is.
fn usage(error: &clap::Error, output: Output) -> ExitCode {
    if let Some(message) = usage::value_message(error) {
        return report(Failure::Input(message), output);
    }
    if !error.use_stderr() {
        let text = error.render().ansi().to_string();
        return exit_code(output.text(&text), output);
    }
    if !output.json {
        usage::show(error);
        return ExitCode::from(USAGE_CODE);
    }
    let problem = Problem::new(&usage::line(error), USAGE_CODE).of_field(usage::field(error));
    write_problem(&problem);
    ExitCode::from(USAGE_CODE)
}

/// Writes a problem to stderr, as the last line.
fn write_problem(problem: &Problem) {
    output::to_stderr(&problem.to_line());
}

/// Errors of a machine that is full or broken, as all messages of the system end: I/O error, no memory, too many
/// open files, limit of a file, no space, quota.
const MACHINE_ERRORS: [&str; 7] = ["5", "12", "23", "24", "27", "28", "122"];

/// `true` for a failure while input was read or written that is not of the input.
fn is_of_machine(message: &str) -> bool {
    MACHINE_ERRORS.iter().any(|number| message.contains(&format!("(os error {number})")))
}

/// The exit code of an outcome, whose failure is written as [`report`] does.
pub fn exit_code(outcome: Result<(), Failure>, output: Output) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => report(failure, output),
    }
}

/// Writes the failure to stderr, with `--json` as a problem (RFC 7807) on one line; returns the exit code.
pub fn report(failure: Failure, output: Output) -> ExitCode {
    let (message, code) = match failure {
        Failure::Input(message) if is_of_machine(&message) => (message, 1),
        Failure::Input(message) => (message, USAGE_CODE),
        Failure::Machine(message) => (message, 1),
        Failure::Exit { message, code } => (message, code),
        Failure::BrokenPipe => return ExitCode::SUCCESS,
    };
    if output.json {
        write_problem(&Problem::new(&message, code));
        return ExitCode::from(code);
    }
    let style = anstyle::AnsiColor::Red.on_default().bold();
    output::to_stderr(&format!("{style}error{style:#}: {message}"));
    ExitCode::from(code)
}
