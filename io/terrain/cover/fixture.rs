//! Small GeoTIFF files for tests.

/// A GeoTIFF file of bytes in one strip, EPSG:4326, rows from the north.
pub fn geotiff(corner: [f64; 2], step_deg: f64, rows: &[Vec<u8>]) -> Vec<u8> {
    const DEGREES: [u16; 8] = [1024, 0, 1, 2, 2048, 0, 1, 4326];
    geotiff_of(&DEGREES, corner, step_deg, rows, rows.len())
}

/// The same with signed bytes.
pub fn geotiff_signed(corner: [f64; 2], step_deg: f64, rows: &[Vec<i8>]) -> Vec<u8> {
    let unsigned = |row: &Vec<i8>| row.iter().map(|value| value.cast_unsigned()).collect();
    let rows: Vec<Vec<u8>> = rows.iter().map(unsigned).collect();
    let mut file = geotiff(corner, step_deg, &rows);
    // The kind of samples is the only entry of tag 339: unsigned numbers are 1, signed ones 2.
    let tag = [83, 1, 3, 0, 1, 0, 0, 0, 1, 0];
    let at = file.windows(tag.len()).position(|bytes| bytes == tag).unwrap();
    file[at + tag.len() - 2] = 2;
    file
}

/// A GeoTIFF file of bytes in strips of so many rows, with the keys of a system of coordinates; the corner is the
/// north-western one.
pub fn geotiff_of(
    keys: &[u16],
    [west, north]: [f64; 2],
    step: f64,
    rows: &[Vec<u8>],
    strip_rows: usize,
) -> Vec<u8> {
    const SHORT: u16 = 3;
    const LONG: u16 = 4;
    const DOUBLE: u16 = 12;
    let doubles = |values: &[f64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>();
    let shorts = |values: &[u16]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>();
    let longs = |values: &[u32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>();
    let (height, width) = (rows.len() as u32, rows[0].len() as u32);
    let lengths: Vec<u32> = rows.chunks(strip_rows).map(|rows| rows.len() as u32 * width).collect();
    let head = [1, 1, 0, keys.len() as u16 / 4 + 1, 1025, 0, 1, 1];
    // Keys are sorted.
    let mut all: Vec<[u16; 4]> = keys.chunks(4).map(|key| key.try_into().unwrap()).collect();
    all.push(head[4..].try_into().unwrap());
    all.sort_unstable();
    let all = [&head[..4], &all.concat()].concat();
    let mut entries = vec![
        (256, LONG, longs(&[width])),
        (257, LONG, longs(&[height])),
        (258, SHORT, shorts(&[8])),
        (259, SHORT, shorts(&[1])),
        (262, SHORT, shorts(&[1])),
        // Filled in below.
        (273, LONG, longs(&vec![0; lengths.len()])),
        (277, SHORT, shorts(&[1])),
        (278, LONG, longs(&[strip_rows as u32])),
        (279, LONG, longs(&lengths)),
        (339, SHORT, shorts(&[1])),
        (33_550, DOUBLE, doubles(&[step, step, 0.0])),
        (33_922, DOUBLE, doubles(&[0.0, 0.0, 0.0, west, north, 0.0])),
        (34_735, SHORT, shorts(&all)),
    ];
    let directory_end = 8 + 2 + 12 * entries.len() + 4;
    let outside = |bytes: &Vec<u8>| if bytes.len() > 4 { bytes.len() } else { 0 };
    let data = directory_end + entries.iter().map(|(.., bytes)| outside(bytes)).sum::<usize>();
    let offsets = lengths.iter().scan(data as u32, |place, length| {
        *place += length;
        Some(*place - length)
    });
    entries[5].2 = longs(&offsets.collect::<Vec<_>>());
    let mut place = directory_end;
    let (mut directory, mut values) = (Vec::new(), Vec::<u8>::new());
    for (tag, kind, bytes) in &entries {
        let size = match *kind {
            DOUBLE => 8,
            LONG => 4,
            _ => 2,
        };
        directory.extend(u16::to_le_bytes(*tag));
        directory.extend(u16::to_le_bytes(*kind));
        directory.extend(((bytes.len() / size) as u32).to_le_bytes());
        if bytes.len() > 4 {
            directory.extend((place as u32).to_le_bytes());
            place += bytes.len();
            values.extend(bytes);
        } else {
            directory.extend(bytes);
            directory.resize(directory.len() + 4 - bytes.len(), 0);
        }
    }
    let mut file = b"II*\0\x08\0\0\0".to_vec();
    file.extend((entries.len() as u16).to_le_bytes());
    file.extend(directory);
    file.extend(0_u32.to_le_bytes());
    file.extend(values);
    file.extend(rows.iter().flatten());
    file
}
