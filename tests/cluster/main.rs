//! Sweeps on an Apache Ballista cluster of this machine: whatever happens to its processes, the bytes
//! are those of one process.

mod mesh;

use std::process::Command;

use groundwave_needs::needs;

use mesh::{Mesh, Process, assert_success, files, wait_for};

#[needs(terrain)]
#[test]
fn one_process_shards_and_two_executors_leave_the_same_bytes() {
    let mut mesh = Mesh::new();
    assert!(mesh.units("whole") >= 40, "{} units", mesh.units("whole"));
    for shard in ["1/2", "2/2"] {
        let mut command = mesh.sweep("shards", &["--shard", shard]);
        assert_success(&command.output().unwrap());
    }
    let mut merge = mesh.groundwave();
    merge.args(["sweep", "merge"]).arg(mesh.path("shards"));
    merge.args(["--products", "margin,best_server"]);
    assert_success(&merge.output().unwrap());
    mesh.assert_same("shards");

    let _scheduler = mesh.scheduler();
    let executors = [mesh.executor(), mesh.executor()];
    let mut driver = mesh.drive("cluster");
    mesh.check(&mut driver, "cluster");
    let made: Vec<usize> = executors.iter().map(Process::made).collect();
    assert!(made.iter().all(|made| *made > 0), "{made:?}");
    assert_eq!(made.iter().sum::<usize>(), mesh.units("whole"));

    // What the store has is not made again.
    let mut again = mesh.drive("again");
    mesh.check(&mut again, "again");
    assert_eq!(executors.iter().map(Process::made).sum::<usize>(), mesh.units("whole"));
}

#[needs(terrain)]
#[test]
fn an_executor_that_is_killed_at_any_of_six_moments_changes_nothing() {
    let mut mesh = Mesh::new();
    let _scheduler = mesh.scheduler();
    let _steady = mesh.executor();
    let all = mesh.units("whole");
    for moment in 0..6 {
        let mut dying = mesh.executor();
        std::fs::remove_dir_all(mesh.path("store/sweeps")).ok();
        let out = format!("killed{moment}");
        let mut driver = mesh.drive(&out);
        // From before its first unit until most of the sweep is done.
        wait_for("units", || mesh.units("store") >= all * moment / 7);
        dying.kill();
        mesh.check(&mut driver, &out);
    }
}

#[needs(terrain)]
#[test]
fn an_executor_that_joins_late_takes_units() {
    let mut mesh = Mesh::new();
    let _scheduler = mesh.scheduler();
    let mut driver = mesh.drive("late");
    let first = mesh.executor();
    wait_for("a unit", || mesh.units("store") > 0);
    let late = mesh.executor();
    mesh.check(&mut driver, "late");
    assert!(first.made() > 0 && late.made() > 0, "{} {}", first.made(), late.made());
}

#[needs(terrain)]
#[test]
fn a_driver_goes_on_when_its_scheduler_comes_back() {
    let mut mesh = Mesh::new();
    let mut scheduler = mesh.scheduler();
    let _executor = mesh.executor();
    let mut driver = mesh.drive("back");
    wait_for("units", || mesh.units("store") >= 3);
    scheduler.kill();
    wait_for("a message", || driver.log().contains("trying again"));
    assert!(mesh.units("back") < mesh.units("whole"), "it was over");
    scheduler = mesh.scheduler();
    mesh.check(&mut driver, "back");

    // So soon that the driver may not have noticed.
    std::fs::remove_dir_all(mesh.path("store/sweeps")).unwrap();
    let mut driver = mesh.drive("at_once");
    wait_for("units", || mesh.units("store") >= 3);
    scheduler.kill();
    let _scheduler = mesh.scheduler();
    mesh.check(&mut driver, "at_once");
}

/// Two sites on tiles of their own, and a tile that no site is near.
#[test]
fn executors_fetch_the_tiles_near_their_units_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let ground = folder.path().join("ground");
    std::fs::create_dir(&ground).unwrap();
    for (number, name) in ["N10E020", "N10E022", "N10E030"].iter().enumerate() {
        let post = |place: usize| ((place * (7 + number)) % 211) as u16;
        let posts = (0..1201 * 1201).flat_map(|place| post(place).to_be_bytes());
        std::fs::write(ground.join(format!("{name}.hgt")), posts.collect::<Vec<u8>>()).unwrap();
    }
    let about = "name = \"a survey\"\nground = \"bare_earth\"\nvertical_datum = \"egm2008\"\n";
    std::fs::write(ground.join("terrain.toml"), about).unwrap();
    let site = |name: &str, lon_deg: f64| {
        format!(
            "[[node]]\nname = \"{name}\"\nlat_deg = 10.5\nlon_deg = {lon_deg}\nheight_agl_m = 20\n\
             radio = \"wifi_2g4_mesh\"\nantenna = \"omni_5\"\n"
        )
    };
    let scenario = format!(
        "[scenario]\ntitle = \"apart\"\nduration_s = 1\n[terrain]\ntiles = [\"N10E020\", \"N10E022\"]\n{}{}\
         [coverage]\nradius_km = 5\ncell_arcsec = 2\n",
        site("west", 20.5),
        site("east", 22.5)
    );
    let variables = vec![("PLAN_SRTM_DIR", ground.display().to_string())];
    let mut mesh = Mesh::of(folder, &scenario, variables);
    let _scheduler = mesh.scheduler();
    let work = mesh.path("work").display().to_string();
    let store = mesh.store.clone();
    let executor = mesh.executor_with(&store, &["--work-dir", &work]);
    let mut driver = mesh.drive("near");
    mesh.check(&mut driver, "near");
    // The driver puts no other there.
    assert_eq!(files(&mesh.path("store/terrain")).len(), 2);
    assert_eq!(files(&mesh.path("work/terrain")).len(), 2);
    let log = executor.log();
    let fetched = |name: &str| {
        let message = format!("tile=\"{name}.hgt\"");
        log.match_indices(&message).map(|(at, _)| at).collect()
    };
    let [west, east, far]: [Vec<usize>; 3] = ["N10E020", "N10E022", "N10E030"].map(fetched);
    assert_eq!((west.len(), east.len(), far.len()), (1, 1, 0), "each tile once: {log}");
    // Units of one site are made before the tile of the other is fetched.
    let between = west[0].min(east[0])..west[0].max(east[0]);
    assert!(log[between].contains("unit made"), "{log}");
}

#[needs(terrain)]
#[test]
fn a_stopped_driver_cancels_its_job_and_another_goes_on() {
    let mut mesh = Mesh::new();
    let _scheduler = mesh.scheduler();
    let _executor = mesh.executor();
    let mut driver = mesh.drive("stopped");
    wait_for("units", || mesh.units("store") >= 3);
    driver.signal("-INT");
    assert_eq!(driver.end(), Some(130), "{}", driver.log());
    assert!(driver.log().contains("stopped; finished units stay"), "{}", driver.log());
    let status = mesh.groundwave().args(["cluster", "status", &mesh.address(), "--json"]).output();
    let status: serde_json::Value = serde_json::from_slice(&status.unwrap().stdout).unwrap();
    assert_eq!(status["executors"].as_array().unwrap().len(), 1);
    assert!(
        status["jobs"].as_array().unwrap().iter().all(|job| job["status"] != "Running"),
        "{status}"
    );
    let mut driver = mesh.drive("stopped");
    mesh.check(&mut driver, "stopped");
}

#[needs(terrain)]
#[test]
fn damaged_tiles_and_units_are_told_and_replaced() {
    let mut mesh = Mesh::new();
    let _scheduler = mesh.scheduler();
    let work = mesh.path("work").display().to_string();
    let store = mesh.store.clone();
    let executor = mesh.executor_with(&store, &["--work-dir", &work]);
    let mut driver = mesh.drive("first");
    mesh.check(&mut driver, "first");
    drop(executor);

    // A tile that one executor keeps, and a unit in the store.
    let kept = files(&mesh.path("work/terrain")).into_keys().next().unwrap();
    bend(&mesh.path("work/terrain").join(kept));
    let units: Vec<_> = (files(&mesh.path("store/sweeps")).into_keys())
        .filter(|name| name.extension().is_some_and(|end| end == "unit"))
        .collect();
    bend(&mesh.path("store/sweeps").join(&units[0]));
    let executor = mesh.executor_with(&store, &["--work-dir", &work]);
    let mut driver = mesh.drive("second");
    mesh.check(&mut driver, "second");
    assert!(driver.log().contains("is not whole; it is made again"), "{}", driver.log());
    assert!(executor.log().contains("a kept tile has another digest"), "{}", executor.log());
}

#[needs(terrain)]
#[test]
fn a_wrong_tile_in_the_store_fails_its_units_with_both_digests() {
    let mut mesh = Mesh::new();
    let _scheduler = mesh.scheduler();
    let mut driver = mesh.drive("wrong");
    let tile = || files(&mesh.path("store/terrain")).into_keys().next();
    // The last that the driver puts there before units.
    wait_for("the plan", || {
        let sweeps = files(&mesh.path("store/sweeps"));
        sweeps.keys().any(|name| name.ends_with("terrain.json"))
    });
    bend(&mesh.path("store/terrain").join(tile().unwrap()));
    let _executor = mesh.executor();
    assert_eq!(driver.end(), Some(1), "{}", driver.log());
    let log = driver.log();
    assert!(log.contains("tile N57E011.hgt in the store"), "{log}");
    assert!(log.contains("found the SHA-256"), "{log}");
    assert!(!mesh.path("wrong/summary.json").exists());
}

#[needs(terrain)]
#[test]
fn an_executor_with_a_full_disk_says_so_and_leaves_its_units_to_others() {
    let mut mesh = Mesh::new();
    let full = mesh.path("full");
    std::fs::create_dir(&full).unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=3500k", "tmpfs"])
        .arg(&full)
        .status();
    assert!(mounted.unwrap().success(), "mounting needs root");
    let _scheduler = mesh.scheduler();
    let store = mesh.store.clone();
    let work = full.display().to_string();
    let mut small = mesh.executor_with(&store, &["--work-dir", &work]);
    let mut driver = mesh.drive("full_disk");
    let ended = small.end();
    let _steady = mesh.executor();
    let driven = driver.end();
    Command::new("umount").arg("-l").arg(&full).status().unwrap();
    assert!(small.log().contains("takes no more; it ends"), "{}", small.log());
    assert_eq!((ended, driven), (Some(0), Some(0)), "{}\n{}", small.log(), driver.log());
    mesh.assert_same("full_disk");
}

#[needs(terrain)]
#[test]
fn other_stores_public_addresses_and_wrong_urls_are_refused_with_the_reason() {
    let mut mesh = Mesh::new();
    let _scheduler = mesh.scheduler();
    let other = mesh.path("other").display().to_string();
    let _executor = mesh.executor_with(&other, &[]);
    let mut driver = mesh.drive("elsewhere");
    assert_eq!(driver.end(), Some(1));
    let log = driver.log();
    assert!(log.contains("driver and executors need the same store"), "{log}");

    let refused = |arguments: &[&str], wanted: &str| {
        let output = mesh.groundwave().args(arguments).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(wanted), "{arguments:?}: {errors}");
    };
    refused(&["cluster", "scheduler", "--listen", "0.0.0.0:50050"], "no authentication");
    refused(
        &["cluster", "executor", "--store", &other, "--listen", "8.8.8.8:1"],
        "no authentication",
    );
    refused(
        &["cluster", "executor", "--store", "gopher://x"],
        "allowed a folder, file:///folder, s3://bucket/prefix",
    );
    refused(
        &["cluster", "executor", "--store", &other, "--scheduler", "localhost:50050"],
        "allowed df://HOST or df://HOST:PORT",
    );
}

/// Moto serves what S3 serves; see the Makefile.
#[needs(terrain, s3)]
#[test]
fn a_bucket_serves_as_a_folder_does() {
    let mut mesh = Mesh::new();
    let data = std::env::var("GROUNDWAVE_DATA")
        .unwrap_or_else(|_| format!("{}/.data", env!("CARGO_MANIFEST_DIR")));
    let port = mesh::free_port().to_string();
    let mut server = Command::new(format!("{data}/s3/bin/moto_server"))
        .args(["-H", "127.0.0.1", "-p", &port])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let address = format!("127.0.0.1:{port}");
    wait_for("the server", || std::net::TcpStream::connect(&address).is_ok());
    let made = Command::new("curl")
        .args(["-sf", "-X", "PUT", &format!("http://{address}/sweeps")])
        .status();
    assert!(made.unwrap().success());
    mesh.variables = vec![
        ("AWS_ENDPOINT", format!("http://{address}")),
        ("AWS_ALLOW_HTTP", "true".to_owned()),
        ("AWS_ACCESS_KEY_ID", "key".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "secret".to_owned()),
        ("AWS_REGION", "eu-north-1".to_owned()),
    ];
    mesh.store = "s3://sweeps/mesh".to_owned();
    let _scheduler = mesh.scheduler();
    let _executors = [mesh.executor(), mesh.executor()];
    let mut driver = mesh.drive("bucket");
    mesh.check(&mut driver, "bucket");
    server.kill().unwrap();
    server.wait().unwrap();
}

/// Changes a byte in the middle of a file.
fn bend(path: &std::path::Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(path, bytes).unwrap();
}
