//! Windows of land cover at an address: few bytes, kept for the next time, of one version of the file.

use groundwave_model::terrain::{CoverKind, GeoPoint, Posts, Terrain};

use super::super::super::cover::fixture::geotiff_of;
use super::super::super::{OffTiles, TerrainStack};
use super::*;

const NAME: &str = "nlcd_2023.tif";

/// 1,000 rows of 1,000 cells of 0.0001 degrees from 57.1 N 11 E in strips of ten rows: trees in the west, buildings
/// in the east. 1 MB.
fn raster() -> Vec<u8> {
    let row: Vec<u8> = (0..1_000).map(|column| if column < 500 { 41 } else { 24 }).collect();
    let keys = [1024, 0, 1, 2, 2048, 0, 1, 4326];
    geotiff_of(&keys, [11.0, 57.1], 0.0001, &vec![row; 1_000], 10)
}

fn windows(place: &Place, client: Option<Client>) -> Windows {
    Windows { folder: place.0.path().join(".windows"), client }
}

fn url(server: &Server) -> String {
    format!("{}/public/{NAME}?key=1", server.address)
}

/// Land cover at an address over sea level.
fn stack(windows: &Windows, url: &str) -> TerrainStack {
    let file = windows.open(url).unwrap();
    let stack = TerrainStack::open_folders(&[], None, Posts::Interpolated).unwrap();
    stack.off_tiles(OffTiles::SeaLevel).with_cover(Some(LandCover::open_remote(file).unwrap()))
}

fn kind(stack: &TerrainStack, lat_deg: f64, lon_deg: f64) -> CoverKind {
    let at = GeoPoint::new(lat_deg, lon_deg).unwrap();
    stack.land_cover(at).map_or(CoverKind::Unknown, |cover| cover.kind)
}

/// Bytes that were requested.
fn requested(server: &Server) -> u64 {
    let offer = server.offer.lock().unwrap();
    let length = |head: &String| {
        let (first, last) = field(head, "Range")?.strip_prefix("bytes=")?.split_once('-')?;
        Some(last.parse::<u64>().ok()? + 1 - first.parse::<u64>().ok()?)
    };
    offer.requests.iter().filter_map(length).sum()
}

#[test]
fn window_of_a_large_file_takes_few_bytes_once_and_none_offline() {
    let (server, place) = (Server::of(raster()), Place::new());
    let online = windows(&place, Some(client()));
    let cover = stack(&online, &url(&server));
    let at = |stack: &TerrainStack| [11.02, 11.08].map(|lon_deg| kind(stack, 57.09, lon_deg));
    assert_eq!(at(&cover), [CoverKind::Forest, CoverKind::Urban]);
    // Of a megabyte, the blocks of the directory and of 64 rows.
    let bytes = requested(&server);
    assert!((1..400_000).contains(&bytes), "{bytes}");
    let digest = cover.files().values().next().cloned().unwrap();
    assert_eq!(cover.files().len(), 1);
    // Another start has its bytes, and the same identity, from the cache alone.
    let offline = stack(&windows(&place, None), &url(&server));
    assert_eq!(at(&offline), [CoverKind::Forest, CoverKind::Urban]);
    assert_eq!(offline.files().into_values().next(), Some(digest));
    assert_eq!(requested(&server), bytes);
    // What was not read is refused with the reason, and counts as unknown.
    assert_eq!(kind(&offline, 57.01, 11.02), CoverKind::Unknown);
    let fault = offline.fault().unwrap().to_string();
    assert!(fault.contains("no bytes of this window in the cache") && fault.contains("--offline"));
    let error = windows(&Place::new(), None).open(&url(&server)).unwrap_err().to_string();
    assert!(error.contains("--offline"), "{error}");
}

#[test]
fn another_version_at_the_address_and_servers_without_ranges_are_refused() {
    let (server, place) = (Server::of(raster()), Place::new());
    let online = windows(&place, Some(client()));
    let cover = stack(&online, &url(&server));
    server.change(|offer| offer.etag = Some("\"two\""));
    assert_eq!(kind(&cover, 57.09, 11.02), CoverKind::Unknown);
    let fault = cover.fault().unwrap().to_string();
    assert!(fault.contains("another one than that whose blocks are in the cache"), "{fault}");
    let open = |offer: &dyn Fn(&mut Offer)| {
        let server = Server::of(raster());
        server.change(|own| offer(own));
        let error = windows(&Place::new(), Some(client())).open(&url(&server));
        error.unwrap_err().to_string()
    };
    let error = open(&|offer| offer.ignores_ranges = true);
    assert!(error.contains("ignores ranges"), "{error}");
    let error = open(&|offer| offer.status = Some("404 Not Found"));
    assert!(error.ends_with("not published"), "{error}");
    let error = open(&|offer| offer.status = Some("302 Found"));
    assert!(error.contains("redirected to http://portal.example/"), "{error}");
    let file = windows(&place, Some(client())).open("https://user@host/a.tif");
    assert!(file.unwrap_err().to_string().contains("without user information"));
}

#[test]
fn broken_responses_are_requested_again_and_other_products_are_refused() {
    let (server, place) = (Server::of(raster()), Place::new());
    server.change(|offer| offer.cuts = vec![10, 65_536, 3]);
    let cover = stack(&windows(&place, Some(client())), &url(&server));
    assert_eq!(kind(&cover, 57.09, 11.02), CoverKind::Forest);
    assert!(cover.fault().is_none());
    let town = url(&server).replace(NAME, "town.tif");
    let file = windows(&place, Some(client())).open(&town).unwrap();
    let error = LandCover::open_remote(file).unwrap_err().to_string();
    assert!(error.contains("unknown classes of http://") && error.contains("town.tif"), "{error}");
}
