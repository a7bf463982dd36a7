//! Every command line of the documentation and of `--help` runs, in a clean folder that holds copies
//! of `examples/` and `scenarios/`.
//!
//! Each document runs in a shell of its own, line by line, in namespaces of its own: ports, `/run`
//! and `/var/lib` are those of the test. Programs that serve until a stop signal are stopped after some
//! seconds. What needs more than the folder, see [`ELSEWHERE`], is parsed: an unknown subcommand or
//! option, or a file that is not shipped, is an error.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use groundwave_needs::needs;

use crate::support::{self, launcher, root};

/// Lines that are parsed only, by their beginning, and what they need.
const ELSEWHERE: [(&str, &str); 18] = [
    ("groundwave cluster", "a program with clusters: tests/cluster"),
    (
        "groundwave sweep examples/coverage.toml -o out/cluster",
        "a program with clusters: tests/cluster",
    ),
    ("groundwave impair play", "a daemon, but for --dry-run"),
    ("groundwave impair", "a daemon: tests/kernel/daemon"),
    ("groundwave terrain fetch", "a network: tests/it/terrain.rs"),
    ("groundwave testbed", "a testbed: tests/kernel/testbed"),
    ("groundwave replay ridge.gwlog", "the log of a testbed"),
    ("groundwave agent --once --i2c", "a bus: tests/kernel/sensors"),
    ("groundwave agent --once", "nothing"),
    ("groundwave agent", "a gateway: tests/it/gateway, tests/e2e"),
    ("groundwave gateway", "the folder of a gateway: tests/it/gateway/secrets.rs"),
    ("groundwave backup", "a server: tests/it/planning"),
    ("groundwave restore", "a copy of a store: tests/it/planning"),
    ("groundwave import", "a server: tests/it/planning"),
    ("groundwave export", "a server: tests/it/planning"),
    ("groundwave sweep scenarios/coverage_gothenburg.toml", "minutes: tests/it/gis"),
    ("groundwave sweep docs/maps/", "minutes: tests/it/sweep"),
    ("groundwave serve gateway --state /var", "a lease file of dnsmasq"),
];

/// Lines that run although a beginning of [`ELSEWHERE`] matches.
fn runs(line: &str) -> bool {
    let once = line.starts_with("groundwave agent --once --json");
    let dry = line.starts_with("groundwave impair play") && line.contains("--dry-run");
    let imported = line.starts_with("groundwave impair import --tc examples/")
        || line == "groundwave impair import lo";
    // Placeholders, such as FILE.
    let placeholder =
        |word: &str| word.len() > 2 && word.chars().all(|letter| letter.is_ascii_uppercase());
    // Fetched terrain needs a network: tests/it/terrain.rs.
    if line.split(' ').any(placeholder) || line == "groundwave terrain verify" {
        return false;
    }
    once || dry || imported || !ELSEWHERE.iter().any(|(start, _)| line.starts_with(start))
}

/// Lines that serve until a stop signal.
fn serves(line: &str) -> bool {
    let daemon = line.contains("groundwave impaird")
        && !line.contains("--check")
        && !line.contains("--unit");
    let demo = line.contains("groundwave demo") && !line.contains("--check");
    let ends = line.contains("--help") || line.contains("--print-config");
    (daemon || demo || line.contains("groundwave serve")) && !ends
}

/// A line without `sudo` and without its comment.
fn plain(line: &str) -> String {
    let mut quoted = false;
    let end = line.char_indices().find(|(at, letter)| {
        quoted ^= *letter == '\'';
        *letter == '#' && !quoted && line[..*at].ends_with(' ')
    });
    let line = end.map_or(line, |(at, _)| &line[..at]);
    line.replace("sudo ", "").trim().to_owned()
}

/// True if the line calls the program, perhaps with a variable set before it.
fn calls(line: &str) -> bool {
    let mut words = line.split(' ').skip_while(|word| {
        let name = word.split_once('=').map_or("", |(name, _)| name);
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_')
    });
    words.next() == Some("groundwave") && words.next().is_some()
}

/// The command lines of a Markdown file: inline code, and the lines of `sh` blocks.
fn lines_of_markdown(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut block = None;
    let mut open = String::new();
    for line in text.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            block = match block {
                None => Some(language == "sh"),
                Some(_) => None,
            };
        } else if block == Some(true) {
            open += line;
            if open.ends_with('\\') {
                open.pop();
                continue;
            }
            lines.push(plain(&std::mem::take(&mut open)));
        } else if block.is_none() {
            let spans = line.split('`').skip(1).step_by(2);
            lines.extend(spans.map(plain));
        }
    }
    lines.retain(|line| calls(line));
    lines
}

/// The examples of a command and of its subcommands; each must have one, one a line.
fn lines_of_help(command: &clap::Command, path: &str, lines: &mut Vec<String>) {
    let help = command
        .get_after_help()
        .or(command.get_after_long_help())
        .map(ToString::to_string)
        .unwrap_or_default();
    let examples = help
        .split_once("Examples:\n")
        .map(|(_, rest)| rest)
        .unwrap_or_else(|| panic!("{path} has no examples"));
    for line in examples.lines().take_while(|line| !line.is_empty()) {
        let line = plain(line);
        if !line.is_empty() && !line.starts_with("#:") {
            assert!(line.contains("groundwave "), "{path}: {line}");
            lines.push(line);
        }
    }
    let subcommands = command.get_subcommands();
    for subcommand in subcommands.filter(|candidate| candidate.get_name() != "help") {
        lines_of_help(subcommand, &format!("{path} {}", subcommand.get_name()), lines);
    }
}

/// Words of a command, without their quotation marks, as a shell has them.
fn words_of(call: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut mark) = (String::new(), None);
    for letter in call.chars() {
        match mark {
            Some(own) if own == letter => mark = None,
            None if letter == '"' || letter == '\'' => mark = Some(letter),
            None if letter.is_whitespace() => words.push(std::mem::take(&mut word)),
            _ => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// Parses the calls of the program in a line, and looks for the shipped files it names.
fn parse(line: &str) {
    for call in line.split(['|', '>']).flat_map(|part| part.split("&&")) {
        let call = call.trim();
        if !calls(call) {
            continue;
        }
        let mut words = words_of(call);
        let first = words.iter().position(|word| !word.contains('=')).unwrap_or_default();
        words.drain(..first);
        for word in &words {
            if word.starts_with("examples/") || word.starts_with("scenarios/") {
                // Options for both ends take two values.
                let file = word.split(',').next().unwrap_or(word);
                assert!(root().join(file).exists(), "{line}: no {file}");
            }
        }
        if let Err(error) = groundwave::cli::command().try_get_matches_from(words) {
            let help = error.kind() == clap::error::ErrorKind::DisplayHelp;
            assert!(help, "{line}: {error}");
        }
    }
}

/// True for a mention of a subcommand, such as `groundwave serve`, that lacks its arguments.
fn is_mention(line: &str) -> bool {
    let words: Vec<&str> = line.split(' ').skip(1).collect();
    let mut command = groundwave::cli::command();
    for word in &words {
        match command.find_subcommand(word) {
            Some(subcommand) => command = subcommand.clone(),
            None => return false,
        }
    }
    groundwave::cli::command().try_get_matches_from(line.split(' ')).is_err()
}

/// Files that a line writes and does not replace. Examples of several subcommands write the same.
fn outputs(line: &str) -> Vec<&str> {
    let mut outputs = Vec::new();
    if line.contains("--continue") {
        return outputs;
    }
    for call in line.split("&&") {
        let words: Vec<&str> = call.split_whitespace().collect();
        if let ["groundwave", "convert", _, to, ..] = words[..] {
            outputs.push(to);
        }
        for pair in words.windows(2) {
            if ["-o", "--store"].contains(&pair[0]) {
                outputs.push(pair[1]);
            }
        }
    }
    outputs
}

/// Runs the lines one after the other.
fn run(name: &str, lines: &[String]) {
    assert!(!lines.is_empty(), "{name}");
    let folder = tempfile::tempdir().unwrap();
    let bin = folder.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_groundwave"), bin.join("groundwave")).unwrap();
    let here = folder.path().join("clone");
    std::fs::create_dir(&here).unwrap();
    for shipped in ["examples", "scenarios"] {
        copy(&root().join(shipped), &here.join(shipped));
    }
    let data = groundwave_test_data::fetched("");
    std::os::unix::fs::symlink(data.canonicalize().unwrap(), here.join(".data")).unwrap();

    let mut script = String::from(
        "set -o pipefail\n\
         mount -t tmpfs tmp /run && mount -t tmpfs tmp /var/lib && ip link set lo up\n\
         for name in eth1 eth2; do\n\
         ip link add $name type veth peer name far-$name && ip link set $name up\n\
         done\n",
    );
    let mut served = BTreeSet::new();
    let mut count = 0;
    for line in lines.iter().filter(|line| !is_mention(line)) {
        parse(line);
        // What serves takes seconds, and does the same every time.
        if !runs(line) || (serves(line) && !served.insert(line)) {
            continue;
        }
        count += 1;
        let quoted = line.replace('\'', r"'\''");
        let (limit, expected) = match line {
            line if serves(line) => (6, 124),
            // A part of a log differs from the whole.
            line if line.starts_with("groundwave log diff") => (300, 1),
            _ => (300, 0),
        };
        for output in outputs(line) {
            writeln!(script, "rm -f '{output}' 2> /dev/null").unwrap();
        }
        writeln!(
            script,
            "timeout -k 5 {limit} bash -o pipefail -c '{quoted}' > out.txt 2>&1 < /dev/null\n\
             code=$?\n\
             [ $code = {expected} ] || {{ echo 'exit '$code': {quoted}'; cat out.txt; failed=1; }}"
        )
        .unwrap();
    }
    script += "exit ${failed:-0}\n";
    std::fs::write(folder.path().join("script"), script).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let output = launcher("unshare")
        .args(["-n", "-m", "bash"])
        .arg(folder.path().join("script"))
        .current_dir(&here)
        .env("PATH", path)
        .env_remove("GROUNDWAVE_DATA")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}:\n{text}{errors}");
    // Past the capture of the test runner: a record of CI has the count.
    std::io::stderr().write_all(format!("{name}: {count} command lines run\n").as_bytes()).unwrap();
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}

fn markdown(path: &str) {
    let text = std::fs::read_to_string(root().join(path)).unwrap();
    run(path, &lines_of_markdown(&text));
}

#[needs(namespaces, terrain, jq)]
#[test]
fn the_readme() {
    markdown("README.md");
}

#[needs(namespaces, terrain, jq)]
#[test]
fn the_gateway_page() {
    for page in ["gateway", "gateway-model", "gateway-firewall", "gateway-power"] {
        markdown(&format!("docs/{page}.md"));
    }
}

#[needs(namespaces, terrain, jq)]
#[test]
fn the_pages_of_recordings_plans_and_packages() {
    for page in ["recordings", "planning", "packages", "sensors"] {
        markdown(&format!("docs/{page}.md"));
    }
}

#[needs(namespaces, terrain, jq)]
#[test]
fn the_page_of_other_systems() {
    markdown("docs/external.md");
}

#[needs(namespaces, terrain, jq)]
#[test]
fn the_automation_page() {
    markdown("docs/automation.md");
}

#[needs(namespaces, terrain, jq)]
#[test]
fn the_page_of_the_browser() {
    markdown("docs/web.md");
}

#[needs(namespaces, terrain, jq)]
#[test]
fn the_terrain_page() {
    markdown("docs/terrain.md");
}

#[needs(namespaces, terrain, jq)]
#[test]
fn the_impairment_page() {
    markdown("docs/impairment.md");
}

#[needs(namespaces, terrain, jq)]
#[test]
fn the_testbed_page() {
    markdown("docs/testbed.md");
}

#[needs(namespaces, terrain, jq)]
#[test]
fn the_scenario_page() {
    markdown("scenarios/README.md");
}

#[needs(namespaces, terrain, jq)]
#[test]
fn the_tutorials() {
    let tutorials = ["mesh", "lora", "emulate", "gateway", "what-if", "cluster"]
        .map(|name| format!("tutorial-{name}"));
    for page in tutorials.iter().map(String::as_str).chain([
        "first-map",
        "install",
        "models",
        "configuration",
    ]) {
        let text = std::fs::read_to_string(root().join(format!("docs/{page}.md"))).unwrap();
        let lines = lines_of_markdown(&text);
        if !lines.is_empty() {
            run(page, &lines);
        }
    }
}

/// Relative targets of the links of a Markdown file, without headings.
fn targets(text: &str) -> Vec<&str> {
    let ends = text.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
    let relative = ends.filter(|target| !target.contains("://") && !target.starts_with('#'));
    relative.map(|target| target.split_once('#').map_or(target, |(path, _)| path)).collect()
}

#[test]
fn links_of_documents_lead_to_files() {
    let docs = std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<_> =
        docs.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect();
    let names = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "benches/README.md"];
    let others = ["scenarios/README.md", "examples/README.md"];
    pages.extend(names.iter().chain(&others).map(|name| root().join(name)));
    let mut count = 0;
    for page in &pages {
        let text = std::fs::read_to_string(page).unwrap();
        for target in targets(&text) {
            let there = page.parent().unwrap().join(target).exists();
            assert!(there, "{}: {target}", page.display());
            count += 1;
        }
    }
    assert!(count > 50, "{count}");
    let summary = std::fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    for page in &pages {
        let name = page.file_name().unwrap().to_str().unwrap();
        let is_listed = summary.contains(&format!("({name})")) || name == "SUMMARY.md";
        assert!(is_listed || !page.starts_with(root().join("docs")), "{name} is not in the book");
    }
}

#[needs(namespaces, terrain, jq)]
#[test]
fn the_examples_of_help() {
    let mut lines = Vec::new();
    let mut command = groundwave::cli::command();
    command.build();
    lines_of_help(&command, "groundwave", &mut lines);
    run("--help", &lines);
}

#[needs(terrain)]
#[test]
fn the_digest_in_the_readme_is_that_of_the_demo() {
    let demo = support::scenario_path("gothenburg.toml");
    let output = support::stdout(&support::groundwave(&["run", demo.to_str().unwrap()]));
    let digest = output.lines().rev().find_map(|line| line.strip_prefix("digest "));
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let short = format!("digest {}…", &digest.unwrap()[..8]);
    assert!(readme.contains(&short), "README.md does not contain {short}");
}
