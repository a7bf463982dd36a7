//! The page: its files over HTTP, its types, and its jobs in a real browser.

use std::path::Path;

use axum::body::Body;
use axum::http::{Request, header};
use groundwave_needs::needs;
use groundwave_planning::document;
use serde_json::Value;

use super::{Answer, Bench};
use crate::support::{browse, browse_with, compare_document, launcher, root};

/// A file, asked for with header fields.
fn get(bench: &Bench, path: &str, fields: &[(&str, &str)]) -> Answer {
    let request = fields
        .iter()
        .fold(Request::get(path), |request, (name, value)| request.header(*name, *value));
    bench.send(request.body(Body::empty()).unwrap())
}

#[test]
fn the_types_of_the_page_are_those_of_the_interface() {
    compare_document("web/app/api/planning.json", document().json());
}

#[needs(page)]
#[test]
fn files_are_compressed_named_by_content_and_guarded() {
    let bench = Bench::flat();
    let index = bench.call("GET", "/", &Value::Null);
    assert_eq!((index.status.as_u16(), index.media()), (200, "text/html; charset=utf-8"));
    let field = |name: header::HeaderName| index.headers[name].to_str().unwrap().to_owned();
    assert_eq!(field(header::CACHE_CONTROL), "no-cache");
    let policy = field(header::CONTENT_SECURITY_POLICY);
    assert!(policy.contains("default-src 'none'") && !policy.contains("'unsafe-"), "{policy}");
    let text = String::from_utf8(index.body).unwrap();
    assert!(!text.contains("<script>"), "no script is inline");
    let script = text.split('"').find(|part| part.ends_with(".js")).unwrap();
    let (mut lengths, mut tags) = (Vec::new(), Vec::new());
    for (accepted, coding) in [("", None), ("gzip", Some("gzip")), ("gzip, br", Some("br"))] {
        let answer = get(&bench, script, &[("accept-encoding", accepted)]);
        assert_eq!(answer.status.as_u16(), 200, "{script}");
        assert!(answer.headers[header::CACHE_CONTROL].to_str().unwrap().contains("immutable"));
        let field = answer.headers.get(header::CONTENT_ENCODING);
        assert_eq!(field.map(|field| field.to_str().unwrap()), coding);
        lengths.push(answer.body.len());
        tags.push(answer.headers[header::ETAG].clone());
    }
    assert!(lengths[0] > lengths[1] && lengths[1] > lengths[2], "{lengths:?}");
    let tag = tags[2].to_str().unwrap();
    let again = [("accept-encoding", "br"), ("if-none-match", tag)];
    let again = get(&bench, script, &again);
    assert_eq!((again.status.as_u16(), again.body.len()), (304, 0));
    for (method, path, status) in [
        ("POST", "/", 405),
        ("GET", "/assets/none.js", 404),
        ("GET", "/.gitkeep", 404),
        ("GET", "/index.html.br", 404),
    ] {
        assert_eq!(bench.call(method, path, &Value::Null).status.as_u16(), status, "{path}");
    }
}

/// A worker or manifest that a browser keeps unasked would hold back every later page.
#[needs(page)]
#[test]
fn manifest_icons_and_worker_are_asked_for_anew() {
    let bench = Bench::flat();
    for (path, media) in [
        ("/manifest.webmanifest", "application/manifest+json"),
        ("/icon-192.png", "image/png"),
        ("/icon-512.png", "image/png"),
        ("/icon-maskable.png", "image/png"),
        ("/sw.js", "text/javascript; charset=utf-8"),
    ] {
        let answer = bench.call("GET", path, &Value::Null);
        assert_eq!((answer.status.as_u16(), answer.media()), (200, media), "{path}");
        assert_eq!(answer.headers[header::CACHE_CONTROL], "no-cache", "{path}");
    }
    let index = bench.call("GET", "/", &Value::Null);
    let policy = index.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned();
    assert!(policy.contains("manifest-src 'self'"), "{policy}");
    let text = String::from_utf8(index.body).unwrap();
    assert!(text.contains("/manifest.webmanifest"), "{text}");
}

/// The program has the compressed forms of scripts and modules alone: one without them would be missing.
#[needs(page)]
#[test]
fn every_script_of_the_page_is_in_the_program() {
    let bench = Bench::flat();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("web/app/dist/assets");
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let names: Vec<_> = names.filter_map(|name| name.into_string().ok()).collect();
    let scripts: Vec<_> = names
        .iter()
        .filter(|name| [".js", ".wasm"].iter().any(|end| name.ends_with(end)))
        .collect();
    assert!(scripts.len() > 10, "{scripts:?}");
    for script in scripts {
        let answer = bench.call("GET", &format!("/assets/{script}"), &Value::Null);
        assert_eq!(answer.status.as_u16(), 200, "{script}");
    }
}

/// Runs tests that need no browser.
fn run_units(arguments: &[&str]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("web/app");
    let mut command = launcher("node");
    command.args(["node_modules/vitest/vitest.mjs", "run"]).args(arguments).current_dir(folder);
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&text));
}

/// Units, ranks and contours, without a browser.
#[needs(page)]
#[test]
fn pure_modules_of_the_page_have_the_values_of_their_sources() {
    run_units(&["--exclude", "unit/coordinates.test.ts", "--exclude", "unit/preview.test.ts"]);
}

/// The modules of the page, compiled to WebAssembly, have the vectors of the command line and of NTIA.
#[needs(page, page_module)]
#[test]
fn positions_and_losses_mean_on_the_page_what_they_mean_on_the_command_line() {
    run_units(&["unit/coordinates.test.ts", "unit/preview.test.ts"]);
}

#[needs(terrain, page)]
#[test]
fn page_of_the_planner_shows_nodes_links_ground_and_coverage() {
    browse("view.spec.ts");
}

#[needs(terrain, page)]
#[test]
fn page_without_its_server_shows_what_it_has_read_and_refuses_changes() {
    browse("offline.spec.ts");
}

#[needs(terrain, page)]
#[test]
fn the_map_has_most_of_the_screen_and_a_finger_moves_what_is_selected() {
    browse("layout.spec.ts");
}

#[needs(terrain, page)]
#[test]
fn fingers_have_room_in_every_panel_and_buttons_beside_numbers() {
    browse("touch.spec.ts");
}

#[needs(terrain, page)]
#[test]
fn live_view_and_replay_leave_the_screen_to_the_map() {
    browse("views.spec.ts");
}

#[needs(terrain, page)]
#[test]
fn empty_server_is_begun_by_a_town_a_file_or_an_example() {
    browse("start.spec.ts");
}

#[needs(terrain, page)]
#[test]
fn towns_are_searched_in_any_spelling() {
    browse("search.spec.ts");
}

#[needs(terrain, page)]
#[test]
fn fields_return_to_stored_values_and_views_have_states_of_their_own() {
    browse("fields.spec.ts");
}

#[needs(terrain, page)]
#[test]
fn numbers_units_and_words_of_the_page_are_alike() {
    browse("words.spec.ts");
}

#[needs(terrain, page)]
#[test]
fn plan_is_printed_with_map_nodes_and_links() {
    browse("print.spec.ts");
}

#[needs(terrain, page)]
#[test]
fn pattern_files_are_drawn_and_used_for_nodes() {
    browse("antenna.spec.ts");
}

#[needs(terrain, page)]
#[test]
fn trees_and_buildings_stand_on_the_profile_and_devices_bring_their_antennas() {
    browse("cover.spec.ts");
}

#[needs(terrain, page)]
#[test]
fn nodes_of_one_spot_are_spread_and_nodes_are_placed_by_keys() {
    browse("spot.spec.ts");
}

#[needs(terrain, page)]
#[test]
fn positions_are_read_as_on_the_command_line() {
    browse("coordinates.spec.ts");
}

#[needs(page)]
#[test]
fn areas_and_links_at_180_degrees_are_drawn_at_their_places() {
    browse("meridian.spec.ts");
}

#[needs(terrain, page)]
#[test]
fn large_meshes_are_drawn_at_their_places() {
    browse("large.spec.ts");
}

#[needs(terrain, page)]
#[test]
fn page_starts_with_slow_answers_and_shows_failures() {
    browse("begin.spec.ts");
}

#[needs(terrain, page, webkit)]
#[test]
fn ground_coverage_and_meshes_are_drawn_in_webkit() {
    browse_with("webkit", "engines.spec.ts");
}

#[needs(terrain, page, firefox)]
#[test]
fn ground_coverage_and_meshes_are_drawn_in_firefox() {
    browse_with("firefox", "engines.spec.ts");
}

#[needs(terrain, page)]
#[test]
fn a_planner_does_every_job_by_clicks_and_keys() {
    browse("plan.spec.ts");
}

#[needs(terrain, page)]
#[test]
fn the_page_is_accessible_shareable_and_survives_its_server() {
    browse("access.spec.ts");
}

#[needs(page)]
#[test]
fn keys_work_beside_fields_without_text_and_repeats_are_one_move() {
    browse("keys.spec.ts");
}

#[needs(page)]
#[test]
fn files_dropped_on_any_view_are_opened_each_with_its_report() {
    browse("drop.spec.ts");
}

#[needs(page)]
#[test]
fn change_of_several_nodes_that_fails_midway_is_kept_in_part() {
    browse("commands.spec.ts");
}

#[needs(terrain, page)]
#[test]
fn drags_scans_exports_and_other_clients_are_followed() {
    browse("live-plan.spec.ts");
}

#[needs(terrain, page)]
#[test]
fn the_mesh_is_covered_while_it_changes_and_sites_are_proposed() {
    browse("mesh.spec.ts");
}

#[needs(terrain, page)]
#[test]
fn a_recording_is_replayed_compared_and_exported() {
    browse("replay.spec.ts");
}

#[needs(terrain, page)]
#[test]
fn roads_and_names_of_a_file_lie_below_the_mesh() {
    browse("basemap.spec.ts");
}

#[needs(page)]
#[test]
fn the_demonstration_plays_on_the_page() {
    browse("demo.spec.ts");
}

#[needs(terrain, page)]
#[test]
fn mast_and_lobe_are_dragged_and_free_places_have_profiles() {
    browse("handle.spec.ts");
}

#[needs(terrain, page, page_module)]
#[test]
fn preview_of_a_dragged_mast_is_the_answer_of_the_server() {
    browse("preview.spec.ts");
}

#[needs(terrain, page)]
#[test]
fn empty_server_comes_to_a_coverage_over_fetched_ground() {
    browse("ground.spec.ts");
}

#[needs(page)]
#[test]
fn view_and_login_are_in_the_address() {
    browse("address.spec.ts");
}

#[needs(page)]
#[test]
fn deployments_that_were_changed_or_deleted_come_back() {
    browse("deployments.spec.ts");
}

#[needs(page)]
#[test]
fn answers_that_do_not_come_have_a_reason_and_are_asked_for_again() {
    browse("failures.spec.ts");
}

#[needs(terrain, page)]
#[test]
fn axes_cards_and_paper_follow_the_units() {
    browse("imperial.spec.ts");
}

#[needs(page)]
#[test]
fn menus_and_dialogs_give_the_focus_back() {
    browse("keyboard.spec.ts");
}

#[needs(terrain, page)]
#[test]
fn narrow_screens_have_keys_and_legends_beside_nodes() {
    browse("narrow.spec.ts");
}

#[needs(terrain, page)]
#[test]
fn raised_ground_notices_and_legends_end_where_they_should() {
    browse("rough.spec.ts");
}

#[needs(page)]
#[test]
fn selects_are_as_wide_as_their_options() {
    browse("selects.spec.ts");
}

/// The files of browser tests are those that a test of this program runs.
#[test]
fn every_file_of_browser_tests_is_run() {
    let sources = [include_str!("page.rs"), include_str!("../gateway/page.rs")].concat();
    let files = std::fs::read_dir(root().join("web/app/tests")).unwrap().flatten();
    let names: Vec<String> = files
        .map(|file| file.file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".spec.ts"))
        .collect();
    assert!(names.len() > 40, "{names:?}");
    let idle: Vec<&String> =
        names.iter().filter(|name| !sources.contains(&format!("\"{name}\""))).collect();
    assert!(idle.is_empty(), "{idle:?}");
}
