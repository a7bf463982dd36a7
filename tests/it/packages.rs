//! Packages: release files, and the wheel of Python beside the program.

use std::path::{Path, PathBuf};
use std::process::Command;

use groundwave_needs::needs;
use groundwave_test_data::fetched;

use crate::support::{self, root, stdout};

/// Release files of the program under test, little compressed.
fn release(folder: &Path) -> PathBuf {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_groundwave"));
    let out = folder.join("dist");
    let output = Command::new("sh")
        .arg(root().join("scripts/dist.sh"))
        .arg(&out)
        .env("DIST_BINARIES", program.parent().unwrap())
        .env("DIST_PROGRAMS", "groundwave")
        .env("DIST_LEVEL", "1")
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    out
}

/// The file in `folder` with such an ending.
fn file(folder: &Path, ending: &str) -> PathBuf {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut matches = entries.filter(|path| path.to_str().unwrap().ends_with(ending));
    let path = matches.next().unwrap_or_else(|| panic!("a file *{ending} in {folder:?}"));
    assert!(matches.next().is_none(), "one file *{ending}");
    path
}

fn run(program: &str, arguments: &[&Path]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    stdout(&output)
}

#[needs(dpkg)]
#[test]
fn release_files_have_equal_digests_and_the_unpacked_package_runs() {
    let [first, second] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let dist = release(first.path());
    let digests = std::fs::read_to_string(dist.join("SHA256SUMS")).unwrap();
    assert_eq!(digests.lines().count(), 4, "{digests}");
    let again = std::fs::read_to_string(release(second.path()).join("SHA256SUMS")).unwrap();
    assert_eq!(digests, again);

    let package = file(&dist, ".deb");
    let unpacked = first.path().join("unpacked");
    run("dpkg-deb", &[Path::new("-x"), &package, &unpacked]);
    let control = run("dpkg-deb", &[Path::new("-f"), &package]);
    assert!(control.contains("Package: groundwave\n"), "{control}");
    let program = unpacked.join("usr/bin/groundwave");
    for (arguments, part) in [
        (&["--version"][..], "groundwave 0."),
        (&["demo", "--check", "--no-browser"][..], "replay answer"),
        (&["validate", "usr/share/groundwave/scenarios/two_nodes.toml"][..], "valid: Two nodes"),
    ] {
        let mut command = support::launcher(program.to_str().unwrap());
        let output = command.args(arguments).current_dir(&unpacked).output().unwrap();
        let text = stdout(&output) + &String::from_utf8_lossy(&output.stderr);
        assert!(text.contains(part), "{arguments:?}: {text}");
    }
    for path in [
        "usr/share/man/man1/groundwave.1.gz",
        "usr/share/man/man1/groundwave-link.1.gz",
        "usr/share/bash-completion/completions/groundwave",
        "usr/share/zsh/vendor-completions/_groundwave",
        "usr/share/doc/groundwave/copyright",
        "usr/share/doc/groundwave/docs/first-map.md",
        "usr/share/groundwave/examples/masts.csv",
        "usr/lib/systemd/system/groundwave-planning.service",
        "usr/lib/systemd/system/groundwave-gateway.service",
        "usr/lib/systemd/system/groundwave-agent.service",
        "usr/lib/systemd/system/groundwave-impaird.service",
    ] {
        assert!(unpacked.join(path).metadata().is_ok_and(|file| file.len() > 100), "{path}");
    }

    let unit = |name: &str| {
        let folder = unpacked.join("usr/lib/systemd/system");
        std::fs::read_to_string(folder.join(format!("groundwave-{name}.service"))).unwrap()
    };
    // The socket of the daemon is of a group that the package creates, and the gateway is in it.
    let groups = std::fs::read_to_string(unpacked.join("usr/lib/sysusers.d/groundwave.conf"));
    assert_eq!(groups.unwrap(), "g impair -\n");
    assert!(unit("impaird").contains("\nGroup=impair\n"));
    assert!(unit("gateway").contains("\nSupplementaryGroups=impair\n"));

    let materials = std::fs::read_to_string(file(&dist, ".cdx.json")).unwrap();
    let materials: serde_json::Value = serde_json::from_str(&materials).unwrap();
    let names: Vec<_> = materials["components"].as_array().unwrap().iter().collect();
    assert!(names.iter().any(|one| one["name"] == "tokio" && one["hashes"].is_array()));
    assert!(!names.iter().any(|one| one["name"] == "insta"), "tests are not linked");

    let image = first.path().join("image");
    std::fs::create_dir(&image).unwrap();
    run("tar", &[Path::new("-xf"), &file(&dist, ".oci.tar"), Path::new("-C"), &image]);
    let index = std::fs::read_to_string(image.join("index.json")).unwrap();
    let index: serde_json::Value = serde_json::from_str(&index).unwrap();
    let blob = |descriptor: &serde_json::Value| {
        let digest = descriptor["digest"].as_str().unwrap().trim_start_matches("sha256:");
        let path = image.join("blobs/sha256").join(digest);
        assert!(run("sha256sum", &[&path]).starts_with(digest));
        assert_eq!(path.metadata().unwrap().len(), descriptor["size"].as_u64().unwrap());
        path
    };
    let manifest = std::fs::read_to_string(blob(&index["manifests"][0])).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let config = std::fs::read_to_string(blob(&manifest["config"])).unwrap();
    assert!(config.contains("\"PLAN_BIND=0.0.0.0:8787\""), "published ports are reached: {config}");
    let layer = blob(&manifest["layers"][0]);
    let entries = run("tar", &[Path::new("--numeric-owner"), Path::new("-tvzf"), &layer]);
    for (rights, path) in [
        ("-rwxr-xr-x 0/0", "./usr/bin/groundwave"),
        ("drwxr-x--- 65532/65532", "./data/"),
        ("drwxrwxrwt 0/0", "./tmp/"),
    ] {
        let entry = entries.lines().find(|line| line.ends_with(&format!(" {path}"))).unwrap();
        assert!(entry.starts_with(rights), "{entry}");
    }
    assert_eq!(entries.matches(" ./data/").count(), 1, "{entries}");
}

#[needs(dpkg)]
#[test]
fn commands_of_the_pages_run_in_the_unpacked_archive() {
    let folder = tempfile::tempdir().unwrap();
    let dist = release(folder.path());
    run("tar", &[Path::new("-xzf"), &file(&dist, ".tar.gz"), Path::new("-C"), folder.path()]);
    let unpacked = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let unpacked = unpacked.into_iter().find(|path| path.join("bin").is_dir()).unwrap();
    for (arguments, part) in [
        (&["validate", "scenarios/failover.toml"][..], "valid: "),
        (
            &["convert", "examples/masts.csv", "-", "--output-format", "geojson"][..],
            "FeatureCollection",
        ),
    ] {
        let program = unpacked.join("bin/groundwave");
        let mut command = support::launcher(program.to_str().unwrap());
        let output = command.args(arguments).current_dir(&unpacked).output().unwrap();
        let text = stdout(&output);
        assert!(text.contains(part), "{arguments:?}: {text}");
    }
    // Links of the page that a reader begins with.
    let readme = std::fs::read_to_string(unpacked.join("README.md")).unwrap();
    let links = readme.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let files =
        links.map(|(link, _)| link.split('#').next().unwrap()).filter(|link| !link.contains("://"));
    for link in files.filter(|link| !link.is_empty()) {
        assert!(unpacked.join(link).exists(), "{link}");
    }
}

#[needs(wheel, terrain)]
#[test]
fn the_wheel_has_the_bits_of_the_program() {
    let output = Command::new(fetched("wheel/bin/python"))
        .arg(root().join("io/python/tests/test_groundwave.py"))
        .env("GROUNDWAVE", env!("CARGO_BIN_EXE_groundwave"))
        .env("GROUNDWAVE_DATA", fetched("wheel").parent().unwrap())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("Ran 2") && !text.contains("skipped"), "{text}");
}

/// A root of OpenWrt as far as the service needs it: functions of procd and UCI that print what they are given.
const PROCD: &str = r#"
config_load() { :; }
config_foreach() { "$1" main; }
config_get() { eval "$1=\"\${uci_$3:-$4}\""; }
config_get_bool() { eval "$1=\"\${uci_$3:-$4}\""; }
config_list_foreach() { for one in $uci_argument; do "$3" "$one"; done; }
procd_open_instance() { :; }
procd_set_param() { [ "$1" != command ] || printf '%s' "$2"; }
procd_append_param() { printf ' %s' "$2"; }
procd_close_instance() { echo; }
procd_add_reload_trigger() { :; }
"#;

#[test]
fn the_package_of_openwrt_starts_the_agent_with_its_settings() {
    let folder = tempfile::tempdir().unwrap();
    let programs = folder.path().join("programs");
    std::fs::create_dir(&programs).unwrap();
    std::fs::write(programs.join("groundwave-agent"), "#!/bin/sh\n").unwrap();
    let out = folder.path().join("dist");
    let output = Command::new("sh")
        .arg(root().join("scripts/dist.sh"))
        .arg(&out)
        .env("DIST_BINARIES", &programs)
        .env("DIST_PROGRAMS", "groundwave-agent")
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let unpack = |archive: &Path, into: &str| {
        let into = folder.path().join(into);
        std::fs::create_dir(&into).unwrap();
        run("tar", &[Path::new("-xzf"), archive, Path::new("-C"), &into]);
        into
    };
    let package = unpack(&file(&out, ".ipk"), "package");
    assert_eq!(std::fs::read_to_string(package.join("debian-binary")).unwrap(), "2.0\n");
    let control = unpack(&package.join("control.tar.gz"), "control");
    let text = std::fs::read_to_string(control.join("control")).unwrap();
    assert!(
        text.contains("Package: groundwave-agent\n") && text.contains("Depends: kmod-wireguard\n")
    );
    let kept = std::fs::read_to_string(control.join("conffiles")).unwrap();
    assert_eq!(kept, "/etc/config/groundwave-agent\n");
    let machine = |name: &str| {
        let uname = format!("uname() {{ echo {name}; }}\n");
        let script = uname + &std::fs::read_to_string(control.join("preinst")).unwrap();
        Command::new("sh").args(["-c", &script]).output().unwrap()
    };
    assert!(machine(std::env::consts::ARCH).status.success());
    let other = machine("mips");
    assert!(!other.status.success());
    assert!(
        String::from_utf8_lossy(&other.stderr).contains("invalid processor: found mips, allowed")
    );

    let data = unpack(&package.join("data.tar.gz"), "data");
    let service = std::fs::read_to_string(data.join("etc/init.d/groundwave-agent")).unwrap();
    let key = folder.path().join("keys/node.key");
    let started = |settings: &str| {
        let script =
            format!("{PROCD}\n{service}\n{settings} uci_key={}\nstart_service", key.display());
        stdout(&Command::new("sh").args(["-c", &script]).output().unwrap())
    };
    assert_eq!(started("uci_enabled=0"), "");
    let line =
        started("uci_enabled=1 uci_gateway=10.41.0.1:8080 uci_no_tunnel=1 uci_argument=--i2c=auto");
    let expected = format!(
        "/usr/bin/groundwave-agent --gateway=10.41.0.1:8080 --key={} --no-tunnel --i2c=auto\n",
        key.display()
    );
    assert_eq!(line, expected);
    assert!(key.parent().unwrap().is_dir(), "a folder for the key");
    let words = line.trim().replace("/usr/bin/groundwave-agent", "groundwave agent");
    let matches = groundwave::cli::command().try_get_matches_from(words.split(' '));
    assert!(matches.is_ok(), "{:?}", matches.err());
}
