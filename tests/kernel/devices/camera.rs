//! A video device of a stock kernel: the driver `vivid`, whose pictures have a counter in them.

use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use groundwave_io_gateway::camera::jpeg::FRAME_BYTES_MAX;
use groundwave_io_gateway::camera::v4l2::{Wanted, detect, is_present, read_v4l2};
use groundwave_test_data::fetched;

use super::wait_for;

mod pictures_of_a_video_device {
    #[groundwave_needs::needs(virtual_machine, ffmpeg)]
    #[test]
    fn vm() {
        if crate::guest::inside() {
            super::pictures_of_a_video_device();
        } else {
            let case = "devices::camera::pictures_of_a_video_device::vm";
            crate::DEVICES.assert(case);
        }
    }
}

/// Size asked for, one of those that the driver has, pixels.
const SIZE: (u32, u32) = (320, 180);

/// Loads the driver, with one device that captures.
fn load_driver() {
    let folder = fetched("kernel").join("modules/camera");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files {
        let mut command = Command::new("busybox");
        command.arg("insmod").arg(&file);
        if file.to_string_lossy().ends_with("vivid.ko") {
            // Capture of video alone, from a webcam.
            command.args(["node_types=0x1", "num_inputs=1", "input_types=0x0"]);
        }
        // Some are there since the boot.
        let output = command.output().unwrap();
        println!("{}: {}", file.display(), output.status);
    }
}

/// Width and height in the frame header (ITU-T T.81, B.2.2).
fn size_of(jpeg: &[u8]) -> (u32, u32) {
    let mut at = 2;
    while !(0xc0..=0xc2).contains(&jpeg[at + 1]) {
        at += 2 + usize::from(u16::from_be_bytes([jpeg[at + 2], jpeg[at + 3]]));
    }
    let word = |at: usize| u32::from(u16::from_be_bytes([jpeg[at], jpeg[at + 1]]));
    (word(at + 7), word(at + 5))
}

fn pictures_of_a_video_device() {
    assert!(!is_present(), "no video device before its driver");
    assert_eq!(detect(), []);
    load_driver();
    let device = wait_for(|| detect().into_iter().next());
    assert!(is_present());
    assert_eq!((device.driver.as_str(), device.card.as_str()), ("vivid", "vivid"));
    let yuyv = device
        .formats
        .iter()
        .find(|format| format.fourcc == "YUYV")
        .unwrap_or_else(|| panic!("{device:?}"));
    assert!(yuyv.sizes.contains(&SIZE), "{yuyv:?}");
    println!("{} {}, {} formats", device.device, device.bus_info, device.formats.len());
    // The clock of the machine runs ahead while it waits for a disk: the converter and its libraries are read
    // before there is a time limit.
    let version = Command::new("ffmpeg").arg("-version").output().unwrap();
    assert!(version.status.success(), "{}", version.status);
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    let (sender, frames) = mpsc::channel();
    let deliver = move |jpeg| drop(sender.send(jpeg));
    let read = async {
        let mode = Wanted { width: SIZE.0, height: SIZE.1, fps: 60 };
        let reading = read_v4l2(&device.device, mode, &deliver);
        tokio::pin!(reading);
        let mut pictures: Vec<hyper::body::Bytes> = Vec::new();
        while pictures.len() < 3 {
            let ended = tokio::time::timeout(Duration::from_millis(50), &mut reading).await;
            assert!(ended.is_err(), "the device ended: {ended:?}");
            pictures.extend(frames.try_iter());
        }
        pictures
    };
    let limited = async { tokio::time::timeout(Duration::from_secs(120), read).await };
    let pictures = runtime.block_on(limited).expect("three pictures");
    for jpeg in &pictures {
        assert_eq!(size_of(jpeg), SIZE);
        assert!((1_000..FRAME_BYTES_MAX).contains(&jpeg.len()), "{}", jpeg.len());
    }
    assert!(pictures[0] != pictures[1] && pictures[1] != pictures[2], "a counter in each");
}
