//! Small GeoTIFF files for tests.

/// A GeoTIFF file of bytes in one strip, EPSG:4326, rows from the north.
pub fn geotiff([west, north]: [f64; 2], step_deg: f64, rows: &[Vec<u8>]) -> Vec<u8> {
    let (height, width) = (rows.len() as u32, rows[0].len() as u32);
    let doubles = |values: &[f64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>();
    let shorts = |values: &[u16]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>();
    let keys = [1, 1, 0, 3, 1024, 0, 1, 2, 1025, 0, 1, 1, 2048, 0, 1, 4326];
    let extra = [
        (33_550, 12, doubles(&[step_deg, step_deg, 0.0])),
        (33_922, 12, doubles(&[0.0, 0.0, 0.0, west, north, 0.0])),
        (34_735, 3, shorts(&keys)),
    ];
    let size = |kind: u16| if kind == 12 { 8 } else { 2 };
    let short_tags = [
        (256_u16, 4_u16, width),
        (257, 4, height),
        (258, 3, 8),
        (259, 3, 1),
        (262, 3, 1),
        (273, 4, 0),
        (277, 3, 1),
        (278, 4, height),
        (279, 4, width * height),
    ];
    let count = short_tags.len() + extra.len();
    let mut place = 8 + 2 + 12 * count + 4;
    let (mut directory, mut values) = (Vec::new(), Vec::new());
    let data = place + extra.iter().map(|(_, _, bytes)| bytes.len()).sum::<usize>();
    for (tag, kind, value) in short_tags {
        let value = if tag == 273 { data as u32 } else { value };
        directory.extend(tag.to_le_bytes());
        directory.extend(kind.to_le_bytes());
        directory.extend(1_u32.to_le_bytes());
        directory.extend(value.to_le_bytes());
    }
    for (tag, kind, bytes) in extra {
        directory.extend(u16::to_le_bytes(tag));
        directory.extend(u16::to_le_bytes(kind));
        directory.extend(((bytes.len() / size(kind)) as u32).to_le_bytes());
        directory.extend((place as u32).to_le_bytes());
        place += bytes.len();
        values.extend(bytes);
    }
    let mut file = b"II*\0\x08\0\0\0".to_vec();
    file.extend((count as u16).to_le_bytes());
    file.extend(directory);
    file.extend(0_u32.to_le_bytes());
    file.extend(values);
    file.extend(rows.iter().flatten());
    file
}
