//! Documents and pictures of other systems.

use groundwave_fuzz::fuzz_target;
use groundwave_io_gateway::camera::jpeg::{FRAME_BYTES_MAX, FrameSplitter};
use groundwave_io_gateway::openapi;
use groundwave_outbound::AllowedTarget;

use super::{shipped, text};

fuzz_target!(
    openapi_documents,
    vec![
        shipped("tests/fixtures/openapi/relay_30.yaml"),
        shipped("tests/fixtures/openapi/sensors_31.json")
    ],
    |bytes: &[u8]| drop(openapi::read(&text(bytes)))
);
fuzz_target!(
    jpeg_frames,
    vec![b"--frame\r\n\r\n\xff\xd8\xff\xda\x00\x02\x01\xff\x00\xff\xd9\r\n".to_vec()],
    |bytes: &[u8]| {
        let mut splitter = FrameSplitter::default();
        for part in bytes.chunks(7) {
            for frame in splitter.push(part) {
                assert!(frame.len() <= FRAME_BYTES_MAX && frame.ends_with(&[0xff, 0xd9]));
            }
        }
    }
);
fuzz_target!(
    allowed_targets,
    vec![b"10.0.0.0/8".to_vec(), b"[::1]:80".to_vec(), b"grafana.lan:3000".to_vec()],
    |bytes: &[u8]| drop(text(bytes).parse::<AllowedTarget>())
);
