//! `terrain fetch`, `list` and `verify`, and the commands that use what was fetched.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use axum::Router;
use groundwave_needs::needs;
use serde_json::Value;
use tower_http::services::ServeDir;

use crate::support::{blind, certify, command, launcher, root, stdout};

const TILES: [&str; 2] =
    ["Copernicus_DSM_COG_10_N59_00_E010_00_DEM", "Copernicus_DSM_COG_10_N60_00_E010_00_DEM"];

/// A server of files in the folders of the bucket; it ends with the test.
struct Mirror {
    url: String,
    folder: tempfile::TempDir,
    _runtime: tokio::runtime::Runtime,
}

impl Mirror {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for tile in TILES {
            let below = folder.path().join(tile);
            std::fs::create_dir(&below).unwrap();
            let file = format!("{tile}.tif");
            std::fs::copy(root().join("tests/fixtures/terrain").join(&file), below.join(&file))
                .unwrap();
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback_service(ServeDir::new(folder.path()));
        runtime.spawn(async move { axum::serve(listener, router).await });
        Self { url, folder, _runtime: runtime }
    }
}

/// Runs the program with a cache of its own and no other terrain.
fn groundwave(cache: &Path, words: &[&str]) -> Output {
    let mut program = command(words);
    program.env("GROUNDWAVE_DATA", cache.join("none"));
    program.env("GROUNDWAVE_TERRAIN_CACHE", cache);
    for proxy in ["http_proxy", "all_proxy", "ALL_PROXY"] {
        program.env_remove(proxy);
    }
    program.output().unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&stdout(output)).unwrap()
}

fn errors(output: &Output) -> String {
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!text.contains("panicked"), "{text}");
    text
}

fn file_of(cache: &Path) -> PathBuf {
    let mut files = std::fs::read_dir(cache.join("glo30")).unwrap();
    files.next().unwrap().unwrap().path()
}

#[test]
fn verification_of_no_files_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for cache in [folder.path().to_owned(), folder.path().join("none")] {
        let output = groundwave(&cache, &["terrain", "verify"]);
        assert_eq!(output.status.code(), Some(2));
        let error = errors(&output);
        assert!(
            error.contains("found no file to verify") && error.contains("terrain fetch"),
            "{error}"
        );
        assert!(stdout(&groundwave(&cache, &["terrain", "list"])).contains("terrain fetch"));
    }
}

#[test]
fn terrain_is_fetched_listed_verified_and_used() {
    let mirror = Mirror::start();
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path();
    let place = ["59.9,10.5,60.1,10.6", "--url", &mirror.url];
    let fetch = |more: &[&str]| {
        let words: Vec<_> =
            ["terrain", "fetch"].iter().chain(&place).chain(more).copied().collect();
        groundwave(cache, &words)
    };
    // Without consent nothing is sent; the folder, the files and the command are printed.
    let refused = fetch(&[]);
    assert_eq!(refused.status.code(), Some(2));
    let error = errors(&refused);
    let command = "`groundwave terrain fetch N59E010,N60E010 --yes` consents";
    for expected in ["no consent", "up to 90 MB", "DLR", command, cache.to_str().unwrap()] {
        assert!(error.contains(expected), "no {expected:?} in {error}");
    }
    let report = json(&fetch(&["--yes", "--json"]));
    assert_eq!(report["fetched"], serde_json::json!(["N59E010", "N60E010"]));
    // The consent holds, and nothing is left to fetch; what the bucket lacks is sea.
    let again = json(&fetch(&["--json"]));
    assert_eq!(again["present"], serde_json::json!(["N59E010", "N60E010"]));
    let sea = ["terrain", "fetch", "59.5,9.5", "--radius-km", "5", "--json", "--url", &mirror.url];
    assert_eq!(json(&groundwave(cache, &sea))["absent"], serde_json::json!(["N59E009"]));
    let listed = json(&groundwave(cache, &["terrain", "list", "--json"]));
    assert_eq!(listed["files"].as_array().unwrap().len(), 2);
    assert_eq!(listed["files"][0]["about"]["vertical_datum"], "egm2008");
    assert!(stdout(&groundwave(cache, &["terrain", "list"])).contains("(surface, EGM2008)"));
    assert_eq!(
        json(&groundwave(cache, &["terrain", "verify", "--json"]))["damaged"],
        serde_json::json!([])
    );

    // Above 60 degrees north, across tiles of different widths.
    let link = [
        "link",
        "59.95,10.5,20",
        "60.05,10.55,20",
        "--radio",
        "ptp_5g8",
        "--antenna",
        "dish_30",
        "--json",
    ];
    let result = json(&groundwave(cache, &link));
    assert_eq!(result["terrain"], "2 GeoTIFF files");
    assert_eq!(result["forward"]["terrain"]["missing_samples"], 0);
    assert_eq!(result["terrain_sources"][0]["name"], "Copernicus GLO-30");
    let ground_m = result["forward"]["geometry"]["tx_ground_msl_m"].as_f64().unwrap();
    assert!((ground_m - 125.0).abs() < 0.01, "{ground_m}");
    let nearest: Vec<_> = link.iter().copied().chain(["--posts", "nearest"]).collect();
    let result = json(&groundwave(cache, &nearest));
    assert_eq!(result["posts"], "nearest");
    assert_eq!(result["terrain"], "2 GeoTIFF files, nearest posts");

    // A damaged file is reported, with its command.
    let mut bytes = std::fs::read(file_of(cache)).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(file_of(cache), bytes).unwrap();
    let error = errors(&groundwave(cache, &["terrain", "verify"]));
    assert!(
        error.contains("missing or damaged") && error.contains("groundwave terrain fetch"),
        "{error}"
    );
    std::fs::remove_file(file_of(cache)).unwrap();
    // The source has other bytes by now: they are refused.
    for tile in TILES {
        let path = mirror.folder.path().join(tile).join(format!("{tile}.tif"));
        let mut bytes = std::fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&path, bytes).unwrap();
    }
    let error = errors(&fetch(&[]));
    assert!(error.contains("wrong bytes: found SHA-256"), "{error}");
}

#[test]
fn first_use_fetches_with_consent_alone() {
    let mirror = Mirror::start();
    let folder = tempfile::tempdir().unwrap();
    let link =
        ["link", "59.5,10.5,20", "59.55,10.55,20", "--radio", "ptp_5g8", "--antenna", "dish_30"];
    let run = |url: &str, more: &[&str]| {
        let words: Vec<_> = link.iter().chain(more).copied().collect();
        let mut program = command(&words);
        program.env("GROUNDWAVE_DATA", folder.path().join("none"));
        program.env("GROUNDWAVE_TERRAIN_CACHE", folder.path().join("cache"));
        program.env("GROUNDWAVE_TERRAIN_URL", url);
        program.output().unwrap()
    };
    // Without a word nothing is fetched.
    std::fs::create_dir(folder.path().join("cache")).unwrap();
    let alone = run(&mirror.url, &[]);
    blind(&alone);
    assert!(String::from_utf8_lossy(&alone.stderr).contains("groundwave terrain fetch"));
    assert_eq!(std::fs::read_dir(folder.path().join("cache")).unwrap().count(), 0);
    // Without a network the folder, the file and the command are printed.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = errors(&run(&format!("http://{closed}"), &["--fetch"]));
    for expected in
        ["no connection to 127.0.0.1", TILES[0], "groundwave terrain fetch N59E010", "cache"]
    {
        assert!(error.contains(expected), "no {expected:?} in {error}");
    }
    let fetched = run(&mirror.url, &["--fetch"]);
    let text = stdout(&fetched);
    assert!(
        text.contains("heights: Copernicus GLO-30 (surface, EGM2008); produced using"),
        "{text}"
    );
    assert!(String::from_utf8_lossy(&fetched.stderr).contains("fetched N59E010"));
}

/// A terminal of its own, by util-linux: the answer is typed, `script` hands on the exit status.
#[test]
fn missing_ground_is_offered_on_a_terminal_alone() {
    let mirror = Mirror::start();
    let folder = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_groundwave");
    let link =
        format!("{program} link 59.5,10.5,20 59.55,10.55,20 --radio ptp_5g8 --antenna dish_30");
    let cache = folder.path().join("cache");
    std::fs::create_dir(&cache).unwrap();
    let within = |words: &[&str], answer: &str| {
        let mut child = launcher(words[0])
            .args(&words[1..])
            .env("GROUNDWAVE_DATA", folder.path().join("none"))
            .env("GROUNDWAVE_TERRAIN_CACHE", &cache)
            .env("GROUNDWAVE_TERRAIN_URL", &mirror.url)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(answer.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&text).into_owned())
    };
    let on_terminal = |line: &str, answer: &str| {
        within(&["script", "--quiet", "--return", "--command", line, "/dev/null"], answer)
    };
    let (code, text) = on_terminal(&link, "n\n");
    assert!(text.contains("Fetch 1 tiles of Copernicus GLO-30") && text.contains("DLR"), "{text}");
    assert!(code == Some(3) && text.contains("no terrain data"), "{code:?} {text}");
    assert!(!cache.join("glo30").exists(), "no consent, no files");
    // Not on a pipe, whatever it holds.
    let words: Vec<_> = link.split(' ').collect();
    let (code, text) = within(&words, "y\n");
    assert!(code == Some(3) && !text.contains("Fetch 1 tiles"), "{code:?} {text}");
    let (code, text) = on_terminal(&format!("{link} --offline"), "y\n");
    assert!(code == Some(3) && !text.contains("Fetch 1 tiles"), "{code:?} {text}");
    let (code, text) = on_terminal(&link, "y\n");
    assert!(code == Some(0) && text.contains("fetched N59E010"), "{code:?} {text}");
    // With its ground there is no question.
    let (code, text) = on_terminal(&link, "");
    assert!(code == Some(0) && !text.contains("Fetch "), "{code:?} {text}");
    std::fs::remove_dir_all(&cache).unwrap();
    std::fs::create_dir(&cache).unwrap();
    let (code, text) = within(&[words.as_slice(), &["--yes"]].concat(), "");
    assert!(code == Some(0) && text.contains("fetched N59E010"), "{code:?} {text}");
}

/// OpenSSL's server of the files of a mirror, with the certificate of an authority of its own. It ends
/// with the test.
struct Secure {
    server: Child,
    url: String,
    folder: tempfile::TempDir,
}

impl Secure {
    fn start(mirror: &Mirror, authority: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        certify(folder.path(), authority, "server", "DNS:localhost");
        let mut server = Command::new("openssl")
            .args(["s_server", "-WWW", "-accept", "127.0.0.1:0"])
            .arg("-cert")
            .arg(folder.path().join("server.pem"))
            .arg("-key")
            .arg(folder.path().join("server.key"))
            .current_dir(mirror.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // It prints its port, `ACCEPT 127.0.0.1:PORT`, then a line for each request.
        let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
        let address =
            lines.find_map(|line| line.unwrap().strip_prefix("ACCEPT ").map(str::to_owned));
        let port = address.unwrap().rsplit_once(':').unwrap().1.to_owned();
        std::thread::spawn(move || lines.for_each(drop));
        Self { server, url: format!("https://localhost:{port}"), folder }
    }
}

impl Drop for Secure {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[needs(openssl)]
#[test]
fn a_mirror_of_a_company_is_trusted_by_its_authority() {
    let mirror = Mirror::start();
    let secure = Secure::start(&mirror, "one");
    let folder = tempfile::tempdir().unwrap();
    let fetch = |url: &str, authorities: &Path| {
        let words = ["terrain", "fetch", "N59E010", "--yes", "--url", url];
        let mut program = command(&words);
        program.env("GROUNDWAVE_TERRAIN_CACHE", folder.path());
        for name in ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "SSL_CERT_DIR"] {
            program.env_remove(name);
        }
        program.env("SSL_CERT_FILE", authorities).output().unwrap()
    };
    let authority = secure.folder.path().join("authority.pem");
    // Another authority, a file that is not there, a host that the certificate does not name.
    let stranger = Secure::start(&mirror, "other");
    let other = stranger.folder.path().join("authority.pem");
    let nowhere = secure.folder.path().join("nowhere.pem");
    let unnamed = secure.url.replace("localhost", "127.0.0.1");
    for (url, authorities, reason) in [
        (&secure.url, &other, "its authority is not among the trusted ones"),
        (&secure.url, &nowhere, "nowhere.pem"),
        (&unnamed, &authority, "not valid for name"),
    ] {
        let refused = errors(&fetch(url, authorities));
        for expected in ["invalid certificate", reason, "SSL_CERT_FILE", TILES[0]] {
            assert!(refused.contains(expected), "no {expected:?} in {refused}");
        }
    }
    stdout(&fetch(&secure.url, &authority));
    let fetched = std::fs::read(file_of(folder.path())).unwrap();
    let file = format!("tests/fixtures/terrain/{}.tif", TILES[0]);
    assert_eq!(fetched, std::fs::read(root().join(file)).unwrap());
}

#[test]
fn areas_that_make_no_sense_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (area, expected) in [
        ("57.6", "invalid AREA"),
        ("57.6,11.5,57.9", "invalid AREA"),
        ("north", "invalid AREA"),
        ("-60,-180,60,179", "more than 400 square degrees"),
        ("91,0", "91"),
    ] {
        let refused = groundwave(folder.path(), &["terrain", "fetch", area, "--yes"]);
        assert_eq!(refused.status.code(), Some(2), "{area}");
        assert!(errors(&refused).contains(expected), "{area}: {}", errors(&refused));
    }
    let refused = groundwave(folder.path(), &["terrain", "fetch", "N57E011", "--source", "lidar"]);
    assert!(errors(&refused).contains("allowed glo30, srtm"));
}
