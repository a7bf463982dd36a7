use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command, value_parser};

use super::print_config::Configuration;
use super::settings::{Settings, files};
use super::{matches, with_common_options, with_print_config};

fn command() -> Command {
    let port = Arg::new("port").long("port").value_parser(value_parser!(u16)).default_value("80");
    let port = port.env("GROUNDWAVE_TEST_PORT");
    let name = Arg::new("name").long("name").required(true);
    let tag = Arg::new("tag").long("tag").action(ArgAction::Append);
    let loud = Arg::new("loud").long("loud").action(ArgAction::SetTrue);
    let kind = Arg::new("kind").long("kind").value_parser(PossibleValuesParser::new(["a", "b"]));
    let serve = Command::new("serve").args([port, name, tag, loud, kind.clone()]);
    let fetch = Command::new("fetch").arg(kind);
    let command = Command::new("test").subcommand(serve);
    with_print_config(command.subcommand(Command::new("terrain").subcommand(fetch)))
}

fn loaded(text: &str) -> Result<Settings, String> {
    loaded_by(&command(), text)
}

fn loaded_by(command: &Command, text: &str) -> Result<Settings, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("c.toml");
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap().to_owned();
    let settings =
        Settings::load(command, |name| (name == "GROUNDWAVE_CONFIG").then(|| file.clone()));
    settings.map_err(|why| why.replace(&file, "FILE"))
}

#[test]
fn values_of_a_file_are_defaults_of_their_options() {
    let text = "kind = 'b'\n[serve]\nport = 81\nname = 'hill'\nloud = true\ntag = ['x', 'y']\n";
    let settings = loaded(text).unwrap();
    let of = |arguments: &[&str]| {
        let matches = settings.applied(command()).try_get_matches_from(arguments).unwrap();
        let (_, serve) = matches.subcommand().unwrap();
        let tags = serve.get_many::<String>("tag").into_iter().flatten().cloned();
        (
            *serve.get_one::<u16>("port").unwrap(),
            serve.get_one::<String>("name").unwrap().clone(),
            serve.get_flag("loud"),
            serve.get_one::<String>("kind").unwrap().clone(),
            tags.collect::<Vec<_>>(),
        )
    };
    let tags = |all: &[&str]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
    let (port, name, loud, kind, all) = of(&["test", "serve"]);
    assert_eq!((port, name.as_str(), loud, kind.as_str()), (81, "hill", true, "b"));
    assert_eq!(all, tags(&["x", "y"]));
    // The command line replaces them.
    let (port, _, _, kind, all) =
        of(&["test", "serve", "--port", "82", "--kind", "a", "--tag", "z"]);
    assert_eq!((port, kind.as_str(), all), (82, "a", tags(&["z"])));
    // The table of a command within a command.
    let settings = loaded("kind = 'b'\n[terrain.fetch]\nkind = 'a'\n").unwrap();
    let matches =
        settings.applied(command()).try_get_matches_from(["test", "terrain", "fetch"]).unwrap();
    let fetch = matches.subcommand_matches("terrain").unwrap().subcommand_matches("fetch").unwrap();
    assert_eq!(fetch.get_one::<String>("kind").unwrap(), "a");
}

/// The files of the machine are those of all programs.
#[test]
fn a_program_with_one_command_reads_its_table() {
    let port = Arg::new("port").long("port").value_parser(value_parser!(u16));
    let program = Command::new("groundwave-agent").arg(port);
    let text = "db = 'x'\nport = 7\n[serve]\nport = 8\n[agent]\nport = 9\n";
    let port = |text: &str| {
        let settings = loaded_by(&program, text).unwrap();
        let matches = settings.applied(program.clone()).try_get_matches_from(["a"]).unwrap();
        matches.get_one::<u16>("port").copied()
    };
    assert_eq!(port(text), Some(9));
    assert_eq!(port(&text.replace("[agent]", "[other]")), Some(7));
    let why = loaded_by(&program, "[agent]\nprot = 9").unwrap_err();
    assert_eq!(why, "FILE:2: invalid option: found \"prot\", allowed port");
}

#[test]
fn mistakes_in_a_file_are_refused_with_their_line() {
    for (text, expected) in [
        ("kind = 'c'", "FILE:1: invalid kind: found \"c\", allowed a, b (serve)"),
        ("\n[serve]\nprot = 1", "FILE:3: invalid option: found \"prot\", allowed kind, loud, name"),
        ("[sevre]\nport = 1", "FILE:1: invalid command: found \"sevre\", allowed serve, terrain"),
        (
            "[serve]\nport = 'x'",
            "FILE:2: invalid port: found \"x\", allowed a whole number (serve)",
        ),
        ("[serve]\nport = -1", "FILE:2: invalid port: found -1, allowed 0 to 65535 (serve)"),
        ("[serve]\nloud = 'yes'", "FILE:2: invalid loud: found [\"yes\"], allowed true or false"),
        ("[serve]\nname = 2026-01-01", "FILE:2: invalid name: allowed text, numbers"),
        ("[serve]\nport = ", "configuration FILE:2: "),
        ("print-config = true", "FILE:1: invalid option: found \"print-config\""),
    ] {
        let why = loaded(text).unwrap_err();
        assert!(why.starts_with(expected), "{text:?}: {why}");
    }
    let missing = Settings::load(&command(), |name| {
        (name == "GROUNDWAVE_CONFIG").then(|| "/nowhere/c.toml".to_owned())
    });
    assert_eq!(
        missing.unwrap_err(),
        "invalid GROUNDWAVE_CONFIG: found nothing at /nowhere/c.toml, allowed a configuration file (TOML)"
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    let error =
        Settings::load(&command(), |name| (name == "GROUNDWAVE_CONFIG").then(|| path.clone()));
    let expected = format!("invalid GROUNDWAVE_CONFIG: found a folder at {path}, allowed ");
    assert!(error.unwrap_err().starts_with(&expected));
}

#[test]
fn files_are_those_of_machine_and_user() {
    let of = |all: &[(&str, &str)]| {
        let all = all.to_vec();
        let all = files(move |name| {
            all.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        });
        all.iter().map(|file| file.display().to_string()).collect::<Vec<_>>()
    };
    let machine = "/etc/groundwave/config.toml";
    assert_eq!(of(&[("HOME", "/h")]), [machine, "/h/.config/groundwave/config.toml"]);
    let both = of(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")]);
    assert_eq!(both, [machine, "/x/groundwave/config.toml"]);
    assert_eq!(of(&[("HOME", "/h"), ("GROUNDWAVE_CONFIG", "/c")]), ["/c"]);
    assert_eq!(of(&[("GROUNDWAVE_CONFIG", "")]), [machine]);
}

/// The output is a file with the same options in force.
#[test]
fn printed_options_are_a_configuration_file() {
    let settings = loaded("[serve]\nname = 'a \"b\"'\ntag = ['x']\n").unwrap();
    let command = settings.applied(command());
    let arguments = ["test", "serve", "--port", "90", "--print-config"];
    let matches = command.clone().try_get_matches_from(arguments).unwrap();
    let configuration = Configuration::new(&command, &matches, &settings);
    let text = configuration.to_toml();
    let lines: Vec<_> = text.lines().skip(1).collect();
    assert_eq!(lines[..2], ["[serve]", "port = \"90\"  # command line"]);
    assert!(
        lines[2].starts_with("name = 'a \"b\"'  # ") && lines[2].ends_with("c.toml:2"),
        "{text}"
    );
    assert!(lines[3].starts_with("tag = [\"x\"]  # "), "{text}");
    assert_eq!(lines[4..], ["loud = false  # default", "# kind is not set"]);
    let document = serde_json::to_value(&configuration).unwrap();
    assert_eq!(document["command"], serde_json::json!(["serve"]));
    assert_eq!(
        document["options"][0],
        serde_json::json!({ "name": "port", "value": "90", "source": "command line" })
    );
    assert_eq!(document["options"][2]["value"], serde_json::json!(["x"]));
    assert_eq!(document["options"][3]["value"], serde_json::json!(false));
    assert_eq!(document["options"][4]["value"], serde_json::Value::Null);
    let again = loaded(&text).unwrap();
    let matches = again.applied(self::command()).try_get_matches_from(["test", "serve"]).unwrap();
    let serve = matches.subcommand_matches("serve").unwrap();
    assert_eq!(serve.get_one::<u16>("port"), Some(&90));
    assert_eq!(serve.get_one::<String>("name").unwrap(), "a \"b\"");
}

#[test]
fn options_in_force_are_printed_without_required_arguments() {
    let command = with_common_options(command());
    let of = |line: &str| {
        let arguments: Vec<_> = line.split(' ').map(std::ffi::OsString::from).collect();
        matches(&command, &arguments).map_err(|error| error.kind())
    };
    let printed = of("test serve --port 90 --print-config").unwrap();
    let serve = printed.subcommand_matches("serve").unwrap();
    assert_eq!(serve.get_one::<u16>("port"), Some(&90));
    assert_eq!(of("test serve").unwrap_err(), clap::error::ErrorKind::MissingRequiredArgument);
    let error = of("test serve --print-config --bogus").unwrap_err();
    assert_eq!(error, clap::error::ErrorKind::UnknownArgument);
}

#[test]
fn options_of_all_commands_may_stand_in_the_table_of_one() {
    let quiet = Arg::new("quiet").long("quiet").action(ArgAction::SetTrue).global(true);
    let command = with_common_options(command().arg(quiet));
    let settings = loaded_by(&command, "[serve]\nname = 'hill'\nquiet = true\n").unwrap();
    let is_quiet = |line: &str| {
        let command = settings.applied(command.clone());
        command.try_get_matches_from(line.split(' ')).unwrap().get_flag("quiet")
    };
    assert!(is_quiet("test serve"));
    assert!(!is_quiet("test terrain fetch") && is_quiet("test terrain fetch --quiet"));
    let settings = loaded_by(&command, "quiet = true\n[terrain.fetch]\nquiet = false\n").unwrap();
    let is_quiet = |line: &str| {
        let command = settings.applied(command.clone());
        command.try_get_matches_from(line.split(' ')).unwrap().get_flag("quiet")
    };
    assert!(is_quiet("test serve --name hill") && !is_quiet("test terrain fetch"));
}
