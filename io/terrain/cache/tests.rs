//! Downloads from a server of this test that breaks, changes and lies.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use groundwave_model::terrain::TileId;

use super::super::cover::LandCover;
use super::super::cover::fixture::geotiff;
use super::*;

mod tls;
mod windows;

const TILE: &str = "Copernicus_DSM_COG_10_N59_00_E010_00_DEM";

/// A file that a server offers, and the way it offers it.
#[derive(Default)]
struct Offer {
    body: Vec<u8>,
    etag: Option<&'static str>,
    /// Bytes after which responses break, one after the other.
    cuts: Vec<usize>,
    /// True if it answers parts whatever the value of If-Range, as some servers do.
    ignores_if_range: bool,
    status: Option<&'static str>,
    /// True if it answers every request with the whole file.
    ignores_ranges: bool,
    /// Heads of the requests so far.
    requests: Vec<String>,
}

/// A server on a port of its own.
struct Server {
    address: String,
    offer: Arc<Mutex<Offer>>,
}

fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

/// The head of a message; empty where the connection ends before.
fn head_of(stream: &mut impl Read) -> std::io::Result<String> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Ok(String::new());
        }
    }
    Ok(head)
}

fn answer(stream: &mut (impl Read + Write), offer: &Mutex<Offer>) -> std::io::Result<()> {
    let head = head_of(stream)?;
    if head.is_empty() {
        return Ok(());
    }
    let mut offer = offer.lock().unwrap();
    offer.requests.push(head.clone());
    if let Some(status) = offer.status {
        return write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Length: 0\r\nLocation: http://portal.example/\r\n\r\n"
        );
    }
    let etag = offer.etag.map_or(String::new(), |etag| format!("ETag: {etag}\r\n"));
    let range = field(&head, "Range").and_then(|range| {
        let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
        Some((first.parse::<usize>().ok()?, last.parse::<usize>().ok()))
    });
    let condition = field(&head, "If-Range");
    // A range with an end needs no condition.
    let is_bounded = range.is_some_and(|(_, last)| last.is_some()) && condition.is_none();
    let is_same = offer.ignores_if_range || condition == offer.etag || is_bounded;
    let whole = offer.body.len();
    let is_served =
        |range: &(usize, Option<usize>)| is_same && range.0 < whole && !offer.ignores_ranges;
    let (start, end, line) = match range.filter(is_served) {
        Some((first, last)) => {
            let last = last.unwrap_or(whole - 1).min(whole - 1);
            let line =
                format!("206 Partial Content\r\nContent-Range: bytes {first}-{last}/{whole}");
            (first, last + 1, line)
        }
        None => (0, whole, "200 OK".to_owned()),
    };
    let body = offer.body[start..end].to_vec();
    let cut = if offer.cuts.is_empty() { body.len() } else { offer.cuts.remove(0) };
    drop(offer);
    write!(stream, "HTTP/1.1 {line}\r\nContent-Length: {}\r\n{etag}\r\n", body.len())?;
    stream.write_all(&body[..cut.min(body.len())])
}

impl Server {
    fn start(
        scheme: &str,
        body: Vec<u8>,
        mut serve: impl FnMut(TcpStream, &Mutex<Offer>) -> std::io::Result<()> + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("{scheme}://{}", listener.local_addr().unwrap());
        let offer = Arc::new(Mutex::new(Offer { body, etag: Some("\"one\""), ..Offer::default() }));
        let shared = Arc::clone(&offer);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                // A client that goes away is none of the server's failures.
                let _ = serve(stream, &shared);
            }
        });
        Self { address, offer }
    }

    fn of(body: Vec<u8>) -> Self {
        Self::start("http", body, |mut stream, offer| answer(&mut stream, offer))
    }

    fn change(&self, change: impl FnOnce(&mut Offer)) {
        change(&mut self.offer.lock().unwrap());
    }
}

fn tile_bytes() -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/terrain");
    fs::read(folder.join(format!("{TILE}.tif"))).unwrap()
}

fn client() -> Client {
    Client { pause: Duration::ZERO, ..Client::new(Proxy::default()) }
}

/// A cache in a folder that is deleted with the test.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn cache(&self) -> Cache {
        Cache::new(self.0.path().join("cache"))
    }

    fn fetch_with(&self, client: &Client, base_url: &str) -> Result<Vec<Event>, FetchError> {
        let mut events = Vec::new();
        let square = TileId::new(59, 10).unwrap();
        let fetched =
            self.cache().fetch(client, &SOURCES[0], base_url, square, |event| events.push(event));
        fetched.map(|()| events)
    }

    fn fetch(&self, server: &Server) -> Result<Vec<Event>, FetchError> {
        self.fetch_with(&client(), &server.address)
    }

    /// The one file of the cache.
    fn bytes(&self) -> Vec<u8> {
        let index = self.cache().index().unwrap();
        let entry = index.files.get("glo30/N59E010").unwrap();
        fs::read(self.cache().folder().join(&entry.file)).unwrap()
    }

    fn leftovers(&self) -> Vec<String> {
        let names = fs::read_dir(self.cache().folder().join("glo30"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| !name.ends_with(".tif")).collect()
    }
}

#[test]
fn land_cover_is_fetched_in_tiles_of_three_degrees_and_others_are_refused() {
    let row = (0..60).map(|column| if column < 30 { 10 } else { 50 }).collect();
    let raster = geotiff([9.0, 60.0], 0.05, &vec![row; 60]);
    let (server, place) = (Server::of(raster.clone()), Place::new());
    let squares = [[57, 11], [59, 9], [60, 9]].map(|[lat, lon]| TileId::new(lat, lon).unwrap());
    let tiles = place.cache().wanted(&LAND_COVER, &squares).unwrap();
    assert_eq!(tiles, [TileId::new(57, 9).unwrap(), TileId::new(60, 9).unwrap()]);
    let fetch = |tile| place.cache().fetch(&client(), &LAND_COVER, &server.address, tile, |_| {});
    fetch(tiles[0]).unwrap();
    let request = server.offer.lock().unwrap().requests[0].clone();
    let name = "ESA_WorldCover_10m_2021_v200_N57E009_Map.tif";
    assert!(request.starts_with(&format!("GET /v200/2021/map/{name} HTTP/1.1")), "{request}");
    let cover = LandCover::open(place.cache().folder()).unwrap();
    assert!(cover.reaches(57.5, 11.5) && !cover.reaches(61.0, 10.0));
    let missing = place.cache().wanted(&LAND_COVER, &squares).unwrap();
    assert_eq!(missing, tiles[1..]);
    // The same bytes lie outside the next tile.
    let error = fetch(tiles[1]).unwrap_err().to_string();
    assert!(error.contains("invalid land cover of N60E009"), "{error}");
    server.change(|offer| offer.body = raster[..raster.len() / 2].to_vec());
    let error = fetch(tiles[1]).unwrap_err().to_string();
    assert!(error.contains("map"), "{error}");
    assert_eq!(place.cache().index().unwrap().files.len(), 1);
}

#[test]
fn a_fetched_tile_is_kept_by_digest_and_used() {
    let (server, place) = (Server::of(tile_bytes()), Place::new());
    let events = place.fetch(&server).unwrap();
    assert_eq!(events.last(), Some(&Event::Stored));
    assert_eq!(place.bytes(), tile_bytes());
    assert!(place.leftovers().is_empty(), "{:?}", place.leftovers());
    let request = server.offer.lock().unwrap().requests[0].clone();
    assert!(request.starts_with(&format!("GET /{TILE}/{TILE}.tif HTTP/1.1")), "{request}");
    let index = place.cache().index().unwrap();
    let entry = &index.files["glo30/N59E010"];
    assert_eq!((entry.length, entry.etag.as_deref()), (tile_bytes().len() as u64, Some("\"one\"")));
    assert!(entry.file.ends_with(format!("{}.tif", entry.sha256)));
    assert!(entry.about.attribution.as_ref().unwrap().contains("Airbus"));
    assert_eq!(place.cache().verify(entry), State::Sound);
    // Nothing is fetched twice.
    assert_eq!(place.fetch(&server).unwrap(), [Event::Stored]);
    assert_eq!(server.offer.lock().unwrap().requests.len(), 1);
    // The cache is a folder of terrain, with the names and terms of what was published.
    let stack = super::super::TerrainStack::open(Some(place.cache().folder()), None).unwrap();
    let at = groundwave_model::terrain::GeoPoint::new(59.5, 10.5).unwrap();
    use groundwave_model::terrain::Terrain;
    assert!(stack.elevation_msl_m(at).is_some());
    assert_eq!(stack.describe().sources[0].name, "Copernicus GLO-30");
    assert!(stack.files().contains_key(&format!("terrain file {TILE}.tif")));
    // A file that is not as long as it was is not used.
    fs::write(place.cache().folder().join(&entry.file), b"short").unwrap();
    assert_eq!(place.cache().verify(entry), State::Damaged);
    let stack = super::super::TerrainStack::open(Some(place.cache().folder()), None).unwrap();
    assert!(stack.ignored()[0].reason.contains("found 5 bytes, allowed 1325"));
    // Then it is fetched again.
    place.fetch(&server).unwrap();
    assert_eq!(place.cache().verify(entry), State::Sound);
}

#[test]
fn broken_download_continues() {
    let body = tile_bytes();
    for cut in (0..body.len()).step_by(61) {
        let (server, place) = (Server::of(body.clone()), Place::new());
        server.change(|offer| offer.cuts = vec![cut, 7, 0, 1]);
        place.fetch(&server).unwrap();
        assert_eq!(place.bytes(), body, "cut after {cut}");
        let requests = &server.offer.lock().unwrap().requests;
        assert!(requests.len() >= 4, "{} requests", requests.len());
        let resumed = requests.iter().filter(|head| field(head, "If-Range") == Some("\"one\""));
        assert!(resumed.count() >= 2);
    }
}

#[test]
fn a_later_run_continues_what_an_earlier_one_left() {
    let (server, place) = (Server::of(tile_bytes()), Place::new());
    server.change(|offer| offer.cuts = vec![1000, 0, 0, 0, 0, 0]);
    let error = place.fetch(&server).unwrap_err();
    assert!(matches!(error, FetchError::Network { .. }), "{error}");
    assert!(place.cache().index().unwrap().files.is_empty());
    server.change(|offer| {
        offer.cuts.clear();
        offer.requests.clear();
    });
    place.fetch(&server).unwrap();
    assert_eq!(place.bytes(), tile_bytes());
    assert_eq!(field(&server.offer.lock().unwrap().requests[0], "Range"), Some("bytes=1000-"));
}

#[test]
fn a_file_that_changed_meanwhile_is_never_spliced() {
    let mut other = tile_bytes();
    let last = other.len() - 1;
    other[last] ^= 1;
    for ignores_if_range in [false, true] {
        let (server, place) = (Server::of(other.clone()), Place::new());
        server.change(|offer| offer.cuts = vec![1500, 0, 0, 0, 0, 0]);
        place.fetch(&server).unwrap_err();
        server.change(|offer| {
            offer.body = tile_bytes();
            offer.etag = Some("\"two\"");
            offer.ignores_if_range = ignores_if_range;
            offer.cuts.clear();
        });
        place.fetch(&server).unwrap();
        assert_eq!(place.bytes(), tile_bytes());
    }
    // Without an ETag there is nothing to compare: it starts again.
    let (server, place) = (Server::of(tile_bytes()), Place::new());
    server.change(|offer| {
        offer.etag = None;
        offer.cuts = vec![900];
    });
    place.fetch(&server).unwrap();
    assert!(
        server.offer.lock().unwrap().requests.iter().all(|head| field(head, "Range").is_none())
    );
}

#[test]
fn wrong_bytes_are_refused() {
    let place = Place::new();
    let server = Server::of(tile_bytes());
    place.fetch(&server).unwrap();
    let index = place.cache().index().unwrap();
    let file = place.cache().folder().join(&index.files["glo30/N59E010"].file);
    fs::remove_file(&file).unwrap();
    assert_eq!(place.cache().verify(&index.files["glo30/N59E010"]), State::Missing);
    // Another file under the name that was received before.
    let mut other = tile_bytes();
    let last = other.len() - 1;
    other[last] ^= 1;
    server.change(|offer| offer.body = other);
    let error = place.fetch(&server).unwrap_err();
    assert!(matches!(error, FetchError::Digest { .. }), "{error}");
    assert!(error.to_string().contains("wrong bytes: found SHA-256"), "{error}");
    assert!(!file.exists() && place.leftovers().is_empty());
    // A page of a portal, half a tile, a tile of another square.
    let elsewhere = include_bytes!(
        "../../../tests/fixtures/terrain/Copernicus_DSM_COG_10_N60_00_E011_00_DEM.tif"
    );
    for (body, reason) in [
        (b"<html>log in</html>".to_vec(), "not a TIFF file"),
        (tile_bytes()[..1200].to_vec(), "rows "),
        (elsewhere.to_vec(), "invalid terrain of N59E010"),
        (Vec::new(), "no bytes"),
    ] {
        let (server, place) = (Server::of(body), Place::new());
        let error = place.fetch(&server).unwrap_err().to_string();
        assert!(error.contains("wrong bytes: ") && error.contains(reason), "{error}");
        assert!(place.cache().index().unwrap().files.is_empty() && place.leftovers().is_empty());
    }
}

#[test]
fn refusals_of_the_server_give_errors() {
    let (server, place) = (Server::of(tile_bytes()), Place::new());
    server.change(|offer| offer.status = Some("404 Not Found"));
    assert_eq!(place.fetch(&server).unwrap(), [Event::Absent]);
    let square = TileId::new(59, 10).unwrap();
    assert!(place.cache().wanted(&SOURCES[0], &[square]).unwrap().is_empty());
    for (status, reason, tries) in [
        ("403 Forbidden", "found status 403, allowed 200 or 206", 1),
        ("302 Found", "redirected to http://portal.example/; name that address with --url", 1),
        ("503 Busy", "found status 503", 4),
    ] {
        let (server, place) = (Server::of(tile_bytes()), Place::new());
        server.change(|offer| offer.status = Some(status));
        let error = place.fetch(&server).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
        assert_eq!(server.offer.lock().unwrap().requests.len(), tries, "{status}");
    }
}

#[test]
fn absent_network_gives_an_error_with_the_file() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = Place::new().fetch_with(&client(), &address).unwrap_err().to_string();
    assert!(error.contains("no connection to 127.0.0.1") && error.contains(TILE), "{error}");
    let error = Place::new().fetch_with(&client(), "ftp://a.example").unwrap_err().to_string();
    assert!(error.contains("allowed http:// or https://"), "{error}");
}

#[test]
fn a_proxy_gets_whole_addresses_and_its_authorisation() {
    let (server, place) = (Server::of(tile_bytes()), Place::new());
    let proxy = server.address.replace("http://", "http://ann:secret@");
    let client = Client { proxy: Proxy::all(&proxy).unwrap(), ..client() };
    place.fetch_with(&client, "http://tiles.example/mirror").unwrap();
    let request = server.offer.lock().unwrap().requests[0].clone();
    assert!(
        request.starts_with(&format!("GET http://tiles.example/mirror/{TILE}/{TILE}.tif ")),
        "{request}"
    );
    assert_eq!(field(&request, "Host"), Some("tiles.example"));
    assert_eq!(field(&request, "Proxy-Authorization"), Some("Basic YW5uOnNlY3JldA=="));
    // Encrypted requests go through a tunnel, which this proxy refuses.
    let refusing = Server::of(Vec::new());
    refusing.change(|offer| offer.status = Some("407 Proxy Authentication Required"));
    let client = Client { proxy: Proxy::all(&refusing.address).unwrap(), ..self::client() };
    let error = place_error(&client);
    assert!(error.contains("407"), "{error}");
    let request = refusing.offer.lock().unwrap().requests[0].clone();
    assert!(
        request.starts_with("CONNECT tiles.example:443 HTTP/1.1\r\nHost: tiles.example:443"),
        "{request}"
    );
}

fn place_error(client: &Client) -> String {
    let fetched = Place::new().fetch_with(client, "https://tiles.example");
    fetched.unwrap_err().to_string()
}

#[test]
fn an_index_may_name_files_of_the_cache_alone() {
    let (server, place) = (Server::of(tile_bytes()), Place::new());
    place.fetch(&server).unwrap();
    let path = place.cache().folder().join(INDEX_FILE);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        text.replace("\"glo30/", "\"../glo30/").replace("\"../glo30/N59", "\"glo30/N59"),
    )
    .unwrap();
    let error = place.cache().index().unwrap_err().to_string();
    assert!(error.contains("allowed files of the cache"), "{error}");
    fs::write(&path, b"{").unwrap();
    assert!(matches!(place.cache().index().unwrap_err(), FetchError::Index(_)));
}
