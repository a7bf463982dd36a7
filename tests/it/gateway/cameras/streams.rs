//! Streams of real MJPEG and RTSP servers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use groundwave_io_gateway::camera::jpeg::FrameSplitter;
use groundwave_needs::needs;
use serde_json::{Value, json};

use super::{CAMERAS, await_running, await_status, bench, define};

/// Program that ends with the test.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Width and height of a picture, as ffmpeg decodes it.
fn decoded(jpeg: &[u8]) -> (usize, usize) {
    let mut child = Command::new("ffmpeg")
        .args(["-loglevel", "error", "-f", "mjpeg", "-i", "pipe:0", "-frames:v", "1"])
        .args(["-f", "image2pipe", "-c:v", "ppm", "pipe:1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(jpeg).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout[..20.min(output.stdout.len())]).into_owned();
    let mut words = text.split_whitespace().skip(1).map(|word| word.parse().unwrap());
    (words.next().expect("a picture"), words.next().unwrap())
}

/// Connects to a stream; the head of the answer is read.
fn watch(server: SocketAddr, camera: &str) -> (BufReader<TcpStream>, String) {
    let mut stream = TcpStream::connect(server).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let head = format!(
        "GET {camera}/stream HTTP/1.1\r\nHost: {server}\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
    }
    (reader, head.to_lowercase())
}

/// Reads a number of frames.
fn frames(reader: &mut BufReader<TcpStream>, count: usize) -> Vec<Vec<u8>> {
    let mut splitter = FrameSplitter::default();
    let mut pictures = Vec::new();
    let mut part = [0; 16 << 10];
    while pictures.len() < count {
        let read = reader.read(&mut part).unwrap();
        assert!(read > 0, "the stream ended after {} frames", pictures.len());
        pictures.extend(splitter.push(&part[..read]).into_iter().map(|frame| frame.to_vec()));
    }
    pictures
}

/// Pictures of some 150 KB, as ffmpeg encodes them: those that one viewer gets are more than its socket holds.
fn pictures() -> Vec<Vec<u8>> {
    let output = Command::new("ffmpeg")
        .args(["-loglevel", "error", "-f", "lavfi", "-i", "testsrc=size=640x480:rate=20"])
        .args(["-vf", "noise=alls=20:allf=t", "-q:v", "5", "-frames:v", "20"])
        .args(["-f", "image2pipe", "-c:v", "mjpeg", "pipe:1"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let pictures = FrameSplitter::default().push(&output.stdout);
    assert_eq!(pictures.len(), 20, "{}", String::from_utf8_lossy(&output.stderr));
    pictures.into_iter().map(|picture| picture.to_vec()).collect()
}

/// Camera that sends 20 of these pictures a second over HTTP, each with another comment; address, and number of its
/// clients.
fn mjpeg_camera(pictures: Vec<Vec<u8>>) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let clients = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&clients);
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            count.fetch_add(1, Ordering::SeqCst);
            let pictures = pictures.clone();
            // Ends with its client.
            std::thread::spawn(move || send_pictures(client, &pictures));
        }
    });
    (address, clients)
}

fn send_pictures(mut client: TcpStream, pictures: &[Vec<u8>]) -> std::io::Result<()> {
    let mut line = String::new();
    let mut reader = BufReader::new(client.try_clone()?);
    while line != "\r\n" {
        line.clear();
        reader.read_line(&mut line)?;
    }
    let head = "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=next\r\n\r\n";
    client.write_all(head.as_bytes())?;
    for (number, picture) in (0_u32..).zip(pictures.iter().cycle()) {
        // Start of image, and a comment of four bytes.
        let mut part =
            b"--next\r\nContent-Type: image/jpeg\r\n\r\n\xff\xd8\xff\xfe\x00\x06".to_vec();
        part.extend(number.to_be_bytes());
        part.extend_from_slice(&picture[2..]);
        part.extend_from_slice(b"\r\n");
        client.write_all(&part)?;
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// Frames that a viewer waits for.
const FRAMES: usize = 40;

#[needs(ffmpeg)]
#[test]
fn many_viewers_share_one_upstream_and_a_slow_one_delays_nobody() {
    let bench = bench();
    let (admin, operator) = (bench.login("admin"), bench.login("operator"));
    let (source, clients) = mjpeg_camera(pictures());
    let url = format!("http://{source}/x");
    let camera = define(
        &bench,
        &admin,
        &json!({ "name": "Mast", "source": "http_mjpeg", "url": url, "fps": 20 }),
    );
    bench.get("", &format!("{camera}/stream")).problem(409);
    bench.get(&operator, &format!("{camera}/snapshot")).problem(409);
    bench.call(&operator, "POST", &format!("{camera}/start"), &Value::Null).is(202);
    await_running(&bench, &operator, &camera);
    let address = bench.listen();
    // Reads its head and then nothing.
    let (mut slow, head) = watch(address, &camera);
    assert!(head.contains("multipart/x-mixed-replace; boundary=frame"), "{head}");
    assert!(!head.contains("content-encoding"), "{head}");
    assert!(head.contains("cache-control: no-store") && head.contains("nosniff"), "{head}");
    let viewers: Vec<_> = (0..3)
        .map(|_| {
            let camera = camera.clone();
            std::thread::spawn(move || frames(&mut watch(address, &camera).0, FRAMES))
        })
        .collect();
    for viewer in viewers {
        let pictures = viewer.join().unwrap();
        assert_eq!(decoded(&pictures[FRAMES - 1]), (640, 480));
        let distinct: std::collections::BTreeSet<_> = pictures.iter().collect();
        assert_eq!(distinct.len(), pictures.len(), "no frame is sent twice");
    }
    // Those that left are noticed when the next frame is written.
    let status = await_status(&bench, &operator, &camera, |status| status["viewers"] == 1);
    assert_eq!(status["state"], "running");
    // Rates are those of a whole second.
    await_status(&bench, &operator, &camera, |status| status["upstream_bps"].as_f64() > Some(0.0));
    let shot = bench.get(&operator, &format!("{camera}/snapshot"));
    assert_eq!(shot.headers["content-type"], "image/jpeg");
    assert_eq!(decoded(&shot.body), (640, 480));
    bench.call(&operator, "POST", &format!("{camera}/stop"), &Value::Null).is(200);
    let mut rest = Vec::new();
    slow.read_to_end(&mut rest).expect("the stream ends with the camera");
    let backlog = FrameSplitter::default().push(&rest);
    assert_eq!(decoded(&backlog[0]), (640, 480));
    assert!(backlog.len() < FRAMES, "{} frames for it", backlog.len());
    assert_eq!(bench.get(&operator, &format!("{camera}/status")).is(200)["state"], "stopped");
    assert_eq!(clients.load(Ordering::SeqCst), 1, "one upstream for all viewers");
}

#[test]
fn a_camera_whose_frames_are_too_long_fails_with_the_reason() {
    let bench = bench();
    let (admin, operator) = (bench.login("admin"), bench.login("operator"));
    // Start of image, start of scan, and one byte more than a frame may have.
    let mut picture = vec![0xff, 0xd8, 0xff, 0xda, 0, 3, 1];
    picture.resize((2 << 20) - 1, 7);
    picture.extend([0xff, 0xd9]);
    let (source, _) = mjpeg_camera(vec![picture]);
    let url = format!("http://{source}/x");
    let camera =
        define(&bench, &admin, &json!({ "name": "Mast", "source": "http_mjpeg", "url": url }));
    bench.call(&operator, "POST", &format!("{camera}/start"), &Value::Null).is(202);
    let status = await_status(&bench, &operator, &camera, |status| status["state"] == "failed");
    let why = status["error"].as_str().unwrap();
    assert!(why.contains("2097152"), "{status}");
}

#[needs(rtsp_server)]
#[test]
fn rtsp_cameras_send_jpeg_and_h264() {
    let bench = bench();
    let (admin, operator) = (bench.login("admin"), bench.login("operator"));
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/gateway/cameras/rtsp_server.py");
    let mut server = Program(
        Command::new("/usr/bin/python3")
            .args([script, "canary-camera"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let mut port = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut port).unwrap();
    for mount in ["jpeg", "h264"] {
        let body = json!({
            "name": mount,
            "source": "rtsp",
            "url": format!("rtsp://127.0.0.1:{}/{mount}", port.trim()),
            "auth": { "username": "camera", "password": "canary-camera" },
        });
        let camera = define(&bench, &admin, &body);
        bench.call(&operator, "POST", &format!("{camera}/start"), &Value::Null).is(202);
        await_running(&bench, &operator, &camera);
        let shot = bench.get(&operator, &format!("{camera}/snapshot"));
        assert_eq!(shot.status.as_u16(), 200, "{mount}");
        assert_eq!(decoded(&shot.body), (320, 240), "{mount}");
        let answer = bench.get(&admin, &camera);
        assert!(!String::from_utf8_lossy(&answer.body).contains("canary"), "{mount}");
        bench.call(&operator, "POST", &format!("{camera}/stop"), &Value::Null).is(200);
    }
    let wrong = json!({ "auth": { "username": "camera", "password": "wrong" } });
    let listed = bench.get(&admin, CAMERAS).is(200);
    let camera = format!("{CAMERAS}/{}", listed["items"][0]["camera_id"].as_str().unwrap());
    bench.call(&admin, "PATCH", &camera, &wrong).is(200);
    bench.call(&operator, "POST", &format!("{camera}/start"), &Value::Null).is(202);
    let status = await_status(&bench, &operator, &camera, |status| status["state"] == "failed");
    assert!(!status["error"].as_str().unwrap().contains("wrong"), "{status}");
}
