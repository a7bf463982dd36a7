//! Synthetic tiles: sizes, order, interpolation and voids.

use groundwave_model::terrain::{GeoPoint, Path};

use super::*;

/// A 3 arc-second tile made by a rule over (row, column).
fn tile(post: impl Fn(usize, usize) -> i16) -> Tile {
    let bytes: Vec<u8> =
        (0..1201 * 1201).flat_map(|i| post(i / 1201, i % 1201).to_be_bytes()).collect();
    Tile::decode(&bytes).unwrap()
}

#[test]
fn only_the_two_sizes_are_tiles() {
    assert_eq!(Resolution::ThreeArcSeconds.bytes(), 2_884_802);
    assert_eq!(Resolution::OneArcSecond.bytes(), 25_934_402);
    for size in [0, 1, 102_400, 2_884_801, 2_884_803] {
        let refused = Tile::decode(&vec![0; size]).unwrap_err();
        assert_eq!(refused.found_bytes, size as u64);
        assert!(refused.to_string().contains("2884802"), "{refused}");
    }
    let fine = Tile::decode(&vec![0; 25_934_402]).unwrap();
    assert_eq!(fine.resolution(), Resolution::OneArcSecond);
    assert!(Resolution::OneArcSecond > Resolution::ThreeArcSeconds);
}

#[test]
fn rows_run_south_and_bytes_are_big_endian() {
    let tile = tile(|row, column| i16::try_from(row * 2 + column).unwrap() - 100);
    assert_eq!(tile.post_m(0, 0), Some(-100));
    assert_eq!(tile.post_m(1200, 1200), Some(3500));
    assert_eq!((tile.post_m(1201, 0), tile.post_m(0, 1201)), (None, None));
    assert_eq!(tile.bilinear(1.0, 0.0).elevation_msl_m, -100.0);
    assert_eq!(tile.bilinear(0.0, 0.0).elevation_msl_m, 2300.0);
    assert_eq!(tile.bilinear(0.0, 1.0).elevation_msl_m, 3500.0);
}

#[test]
fn a_plane_is_reproduced_between_the_posts() {
    let tile = tile(|row, column| i16::try_from(row * 2 + column).unwrap() - 100);
    for k in 0..1000 {
        let (north, east) = (f64::from(k) / 999.0, f64::from((k * 7) % 1000) / 999.0);
        let plane = (1.0 - north) * 2400.0 + east * 1200.0 - 100.0;
        let reading = tile.bilinear(north, east);
        assert!((reading.elevation_msl_m - plane).abs() < 1e-9, "{north} {east}");
        assert!(!reading.has_void);
    }
    assert_eq!(tile.bilinear(2.0, -1.0), tile.bilinear(1.0, 0.0));
}

#[test]
fn voids_leave_the_other_posts_their_share() {
    let tile = tile(|row, column| match (row, column) {
        (1200, 0) => VOID,
        (1199, 1) => 40,
        (500..=501, 500..=501) => VOID,
        _ => 10,
    });
    assert_eq!(tile.greatest_m(), 40.0);
    let half = 0.5 / 1200.0;
    let reading = tile.bilinear(half, half);
    assert!(reading.has_void);
    assert!((reading.elevation_msl_m - 20.0).abs() < 1e-9, "(10 + 40 + 10) / 3");
    // On the void post itself nothing is left.
    let reading = tile.bilinear(0.0, 0.0);
    assert!(reading.has_void && reading.elevation_msl_m.is_nan());
    // A valid post beside a void is whole.
    let reading = tile.bilinear(0.0, 1.0 / 1200.0);
    assert_eq!(reading, Reading { elevation_msl_m: 10.0, has_void: false });
    // Amid four voids there is nothing.
    let reading = tile.bilinear((1200.0 - 500.5) / 1200.0, 500.5 / 1200.0);
    assert!(reading.has_void && reading.elevation_msl_m.is_nan());
    assert_eq!(tile.post_m(500, 500), None);
}

#[test]
fn a_run_equals_its_positions_one_by_one() {
    let tile = tile(|row, column| match (row * 7 + column * 3) % 1009 {
        0 => VOID,
        k => i16::try_from(k).unwrap(),
    });
    for count in [0, 1, 63, 64, 65, 1000] {
        let lat: Vec<f64> = (0..count).map(|k| 57.0 + f64::from(k) / 1000.0).collect();
        let lon: Vec<f64> = (0..count).map(|k| -3.0 + f64::from(k * 2 % 1000) / 999.0).collect();
        let mut elevation = vec![-1.0; lat.len()];
        let run = tile.bilinear_run([57.0, -3.0], &lat, &lon, &mut elevation);
        let mut expected_voids = 0;
        for k in 0..lat.len() {
            let reading = tile.bilinear(lat[k] - 57.0, lon[k] + 3.0);
            expected_voids += u32::from(reading.has_void);
            assert_eq!(elevation[k].to_bits(), reading.elevation_msl_m.to_bits());
        }
        assert_eq!((run.positions, run.voids), (lat.len(), expected_voids));
        assert!(count < 1000 || run.voids > 0);
    }
}

#[test]
fn a_run_ends_where_the_tile_does() {
    let tile = tile(|row, column| i16::try_from((row * 31 + column * 17) % 9_000).unwrap());
    // Off the tile at every place of a block of eight, by each of its four edges.
    for count in 1..40_u32 {
        for (off_lat, off_lon) in
            [(1.0, 0.5), (-1e-9, 0.5), (0.5, 1.0), (0.5, -1e-9), (f64::NAN, 0.5)]
        {
            let mut lat: Vec<f64> = (0..count).map(|k| f64::from(k * 37 % 1000) / 1000.0).collect();
            let mut lon: Vec<f64> = (0..count).map(|k| f64::from(k * 91 % 1000) / 1000.0).collect();
            lat.extend([off_lat, 0.5, 0.5]);
            lon.extend([off_lon, 0.5, 0.5]);
            let mut elevation = vec![-1.0; lat.len()];
            let run = tile.bilinear_run([0.0, 0.0], &lat, &lon, &mut elevation);
            assert_eq!((run.positions, run.voids), (count as usize, 0));
            for k in 0..count as usize {
                let reading = tile.bilinear(lat[k], lon[k]);
                assert_eq!(elevation[k].to_bits(), reading.elevation_msl_m.to_bits());
            }
        }
    }
}

#[test]
fn every_post_is_found_at_its_place() {
    let tile = tile(|row, column| i16::try_from((row * 31 + column) % 9_000).unwrap());
    for row in (0..=1200).step_by(7).chain([1, 1199, 1200]) {
        for column in (0..=1200).step_by(11).chain([1, 1199, 1200]) {
            let north = f64::from(1200 - u32::try_from(row).unwrap()) / 1200.0;
            let east = f64::from(u32::try_from(column).unwrap()) / 1200.0;
            let post = f64::from(tile.post_m(row, column).unwrap());
            assert!((tile.bilinear(north, east).elevation_msl_m - post).abs() < 1e-8);
        }
    }
}

/// Counts of a tile that is level but for some posts.
fn level_but(posts: &[(usize, i16)], level_m: i16) -> Tile {
    tile(|row, column| {
        let at = row * 1201 + column;
        posts.iter().find(|(place, _)| *place == at).map_or(level_m, |(_, post)| *post)
    })
}

/// Doubts about a tile, named after the square at 57 degrees north and 11 degrees east.
fn doubt(tile: &Tile) -> Option<String> {
    let square = TileId::new(57, 11).unwrap();
    tile.census().doubt(square, tile.resolution()).map(|doubt| doubt.to_string())
}

#[test]
fn spikes_and_pits_are_counted_with_their_place_and_keep_their_heights() {
    for (height_m, text) in [
        (401, Some("57.33333, 11.25000 (301 m above)")),
        (-201, Some("57.33333, 11.25000 (301 m below)")),
        (400, None),
        (-200, None),
    ] {
        let tile = level_but(&[(800 * 1201 + 300, height_m)], 100);
        assert_eq!(tile.post_m(800, 300), Some(height_m));
        assert_eq!(tile.census().spikes.count, u32::from(text.is_some()), "{height_m}");
        let doubt = doubt(&tile);
        assert_eq!(doubt.is_some(), text.is_some(), "{doubt:?}");
        if let (Some(doubt), Some(text)) = (doubt, text) {
            assert!(doubt.starts_with("1 of 1442401 posts stand more than 300 m above"), "{doubt}");
            assert!(doubt.contains(text), "{doubt}");
        }
    }
    // Walls of 900 m, one of them at the edge of voids, are ground.
    let cliffs = tile(|row, column| match (row / 100 % 3, column / 100 % 3) {
        (0, 0) => 900,
        (1, 1) => VOID,
        _ => 0,
    });
    assert_eq!(cliffs.census().spikes.count, 0);
}

#[test]
fn bands_and_rows_of_a_file_have_the_spikes_of_the_whole_tile() {
    use std::io::Write as _;
    // One in each row of three at another column, the edges and the seams of bands among them.
    let post = |i: usize| match (i / 1201, i % 1201) {
        (row, column) if row.is_multiple_of(3) && column == 1 + row * 7 % 1199 => 2_000,
        _ => 100_i16,
    };
    let bytes: Vec<u8> = (0..1201 * 1201).flat_map(|i| post(i).to_be_bytes()).collect();
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&bytes).unwrap();
    let resolution = Resolution::ThreeArcSeconds;
    let part = |rows| Tile::decode_file(&file, resolution, rows).unwrap().unwrap();
    let whole = Tile::decode(&bytes).unwrap();
    assert_eq!(whole.census().spikes.count, 401);
    assert_eq!(part(resolution.rows()).census().spikes, whole.census().spikes);
    // Rows 300 to 600 are decoded; the outermost have unknown rows beside them.
    assert_eq!(part(300..600).census().spikes.count, 99);
}

#[test]
fn posts_that_are_no_heights_are_voids_and_counted() {
    for void in [i16::MIN, -32_767, 32_767, -9_999] {
        let reading = tile(|_, _| void).bilinear(0.5, 0.5);
        assert!(reading.has_void && reading.elevation_msl_m.is_nan(), "{void}");
    }
    let places = [0, 1, 700 * 1201 + 600, 1201 * 1201 - 1];
    for outside in [-32_766, -12_001, 9_001, 25_600, 32_766] {
        let tile = level_but(&places.map(|place| (place, outside)), 100);
        assert_eq!(tile.post_m(700, 600), None, "{outside}");
        assert_eq!(tile.greatest_m(), 100.0);
        let census = tile.census();
        assert_eq!((census.voids, census.outside), (0, 4), "{outside}");
        assert!(!tile.is_swapped());
        let doubt = doubt(&tile).unwrap();
        assert!(doubt.starts_with("4 of 1442401 posts are outside -12000 to 9000 m"), "{doubt}");
    }
    for height_m in [-12_000, -430, 8_849, 9_000] {
        let tile = level_but(&places.map(|place| (place, height_m)), 100);
        assert_eq!(tile.post_m(0, 1), Some(height_m));
        let census = tile.census();
        assert_eq!((census.voids, census.outside), (0, 0));
        // One of the places has other heights all around it.
        assert_eq!(census.spikes.count, 1, "{height_m}");
        assert_eq!(census.spikes.largest.unwrap().post, [700, 600]);
    }
    let tile = level_but(&[(5, -32_767), (6, 32_767), (7, i16::MIN), (8, 9_500)], 0);
    let census = tile.census();
    assert_eq!((census.voids, census.other_voids, census.outside), (3, 2, 1));
    assert_eq!(
        doubt(&tile).unwrap(),
        "2 of 1442401 posts are -32767, 32767 or -9999 and count as voids; 1 of 1442401 posts are outside -12000 to \
         9000 m and count as voids; are its octets in the wrong order?"
    );
}

/// Ground of hills and valleys between two heights.
fn hills(low_m: f64, high_m: f64) -> impl Fn(usize, usize) -> i16 {
    move |row, column| {
        let wave = (row as f64 / 37.0).sin() * (column as f64 / 53.0).cos();
        let share = 0.5 + 0.45 * wave + 0.05 * ((row * column) as f64).sin();
        (low_m + (high_m - low_m) * share) as i16
    }
}

#[test]
fn octets_in_the_wrong_order_are_distinguished_from_ground() {
    let swap =
        |post: &dyn Fn(usize, usize) -> i16| tile(|row, column| post(row, column).swap_bytes());
    for (low_m, high_m) in
        [(0.0, 12.0), (-3.0, 120.0), (30.0, 900.0), (0.0, 8_848.0), (1_500.0, 1_520.0)]
    {
        let ground = hills(low_m, high_m);
        assert!(!tile(&ground).is_swapped(), "{low_m} to {high_m}");
        assert!(swap(&ground).is_swapped(), "{low_m} to {high_m}");
    }
    // Islands in the sea, ground that rises to one side, voids among heights.
    let rules: [&dyn Fn(usize, usize) -> i16; 5] = [
        &|row, column| {
            if (row / 40 + column / 40) % 30 == 0 { (column % 40) as i16 } else { 0 }
        },
        &|row, _| (row / 4) as i16,
        &|_, column| 300 - (column / 2) as i16,
        &|row, column| {
            if (row + column) % 50 == 0 { VOID } else { (row / 10) as i16 }
        },
        &|_, _| 100,
    ];
    for (number, ground) in rules.into_iter().enumerate() {
        assert!(!tile(ground).is_swapped(), "{number}");
        assert!(swap(ground).is_swapped(), "{number}");
    }
    // Too few heights to be distinguished from ground are doubtful.
    let wall = tile(|_, column| if column == 600 { 1_024 } else { 0 });
    assert!(!wall.is_swapped());
    assert_eq!(
        doubt(&wall).unwrap(),
        "all heights are multiples of 256 m; are its octets in the wrong order?"
    );
    assert_eq!(doubt(&tile(|_, _| 0)), None);
    // Noise is no order.
    let noise = tile(|row, column| {
        ((row * 1201 + column) as u32).wrapping_mul(2_654_435_761) as i16 % 9_000
    });
    assert!(!noise.is_swapped());
}

/// Tracks read by vectors of eight, of four, and one by one.
#[test]
fn a_track_gives_the_same_bits_on_every_processor() {
    let tile = tile(|row, column| ((row * 31 + column * 17) % 700 + row * column % 13) as i16);
    let [from, to] = [[10.013, 20.02], [10.61, 20.47]]
        .map(|[lat, lon]| GeoPoint::new(lat, lon).expect("a point on Earth"));
    for samples in [3, 9, 64, 65, 300, 1_024] {
        let path = Path::between(from, to);
        let curve = path.curve(samples).expect("a short way");
        let track = Track::in_posts(&curve, [10.0, 20.0], tile.cells());
        let count = samples - 1;
        let mut wide = vec![0.0; count];
        let filled = tile.follow([10.0, 20.0], &curve, true, 1, &mut wide, count);
        assert_eq!(filled, count);
        let mut narrow = vec![0.0; count];
        let filled = tile.read_track(tile.square_in_posts(), &track, 1, &mut narrow);
        assert_eq!(filled, count);
        assert_eq!(wide, narrow);
        let (mut north, mut east) = (vec![0.0; count], vec![0.0; count]);
        track.plain_positions(1, &mut north, &mut east);
        for (place, height_m) in wide.iter().enumerate() {
            let alone = tile.read(tile.locate(north[place], east[place]));
            assert_eq!(alone.elevation_msl_m, *height_m, "{place} of {samples}");
        }
    }
}

#[test]
fn rows_around_latitudes_hold_them() {
    for resolution in Resolution::ALL {
        let all = resolution.rows();
        for south in [-0.5, 0.0, 0.1, 1.0 / 3.0, 0.75, 0.9999] {
            for height in [0.0, 0.01, 0.25, 0.9] {
                let latitudes = [south, south + height];
                let rows = resolution.rows_around(latitudes);
                assert!(!rows.is_empty() && rows.end <= all.end, "{latitudes:?}");
                let [low, high] = resolution.held_by(&rows);
                assert!(low <= south && south + height <= high, "{latitudes:?}");
                // A row more than is needed, on each side.
                let cells = all.end as f64;
                let top = cells - (south + height).clamp(0.0, 1.0) * cells;
                let bottom = cells - south.clamp(0.0, 1.0) * cells;
                assert!(rows.start == 0 || rows.start as f64 <= top - 1.0);
                assert!(rows.end == all.end || bottom + 1.0 <= rows.end as f64);
            }
        }
        let [low, high] = resolution.held_by(&all);
        assert!(low.is_infinite() && high.is_infinite());
    }
}
