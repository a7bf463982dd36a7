//! Bounds on a scenario file, each with its reason; those of any TOML document are in
//! [`groundwave_toml_document::limits`].

/// Nodes in one scenario, written, generated and from ns-2 together. Every pair in range is a
/// link to evaluate: more than this is a job for coverage, not for a mesh.
pub const NODES_MAX: usize = 100_000;

/// Records one scenario may lower to: five for each node. A record takes one to three kilobytes
/// of memory.
pub const RECORDS_MAX: usize = 500_000;

/// Flows in one scenario: each costs a shortest path whenever the mesh changes.
pub const FLOWS_MAX: usize = 10_000;

/// Changes of the weather: one every ten minutes for two months. Each is recorded complete and
/// makes every link be evaluated again.
pub const WEATHER_MAX: usize = 10_000;

/// Longest scenario, s (100 days). In nanoseconds this stays below 2^53, so `f64` and JSON
/// readers carry every time exactly.
pub const DURATION_S_MAX: f64 = 8_640_000.0;

/// Shortest step, s. Below a millisecond a mesh of moving stations does not change.
pub const STEP_S_MIN: f64 = 0.001;

/// Longest step, s. Above an hour commands would be held back absurdly long.
pub const STEP_S_MAX: f64 = 3_600.0;

/// Ticks in one scenario: hours of computing even for a tiny mesh.
pub const TICKS_MAX: u64 = 10_000_000;

/// Characters in a name. Names become ids and columns of tables.
pub const NAME_CHARS_MAX: usize = 64;

/// Characters in a title: one line on a wide screen.
pub const TITLE_CHARS_MAX: usize = 200;

/// Characters in a label: what the world takes as the name of a thing.
pub const LABEL_CHARS_MAX: usize = 64;

/// Characters in a description: a page.
pub const DESCRIPTION_CHARS_MAX: usize = 10_000;

/// Terrain tiles of a scenario, at most: 20 by 20 degrees, 1.1 GB of three-arcsecond samples.
pub const TILES_MAX: usize = 400;

/// Slowest and fastest motion, m/s: below a millimetre a second a node stands, and nothing in a
/// mesh is faster than a low orbit.
pub const SPEED_M_S: (f64, f64) = (0.001, 8_000.0);

/// Heights of ground, m: from below the Dead Sea to above Everest.
pub const GROUND_MSL_M: (f64, f64) = (-500.0, 9_000.0);

/// Closest spacing of generated stations, m, and widest.
pub const SPACING_M: (f64, f64) = (0.1, 100_000.0);

/// Slowest and fastest flow, bit/s.
pub const RATE_BPS: (f64, f64) = (1.0, 1e12);

/// Waypoints of one motion: a day at one a second.
pub const WAYPOINTS_MAX: usize = 86_400;

/// Shortest and longest link range, m. Half of what ITM is defined for, and beyond any horizon.
pub const LINK_RANGE_M: (f64, f64) = (1.0, 1_000_000.0);

/// Largest radius of coverage, km: beyond the horizon of any mast, and half of the distance from
/// which ITM warns.
pub const COVERAGE_RADIUS_KM_MAX: f64 = 500.0;

/// Smallest and largest cell of a coverage raster, arc-seconds: a third of a metre, finer than the posts of
/// any elevation data (1 m from laser scans are 0.032), and one degree, a tile.
pub const CELL_ARCSEC: (f64, f64) = (0.01, 3_600.0);

/// Fewest and most cells from a site to the rim: below one there is no picture, and a square
/// 100,000 cells wide has ten billion.
pub const RADIUS_CELLS: (f64, f64) = (1.0, 50_000.0);

/// Smallest and largest margin that counts as covered, dB: beyond lies nothing or everything.
pub const MARGIN_DB: (f64, f64) = (-100.0, 100.0);

/// Fewest and most terrain samples on a path. Below eight no hill is seen; 4096 are a sample for
/// each post over 379 km of a three-arcsecond tile's meridian.
pub const SAMPLES: (u32, u32) = (8, 4_096);

/// Values of one setting that a sweep varies: a picture each, as many as a contact sheet shows.
pub const VALUES_MAX: usize = 32;

/// Combinations of varied settings: two lists of 32. Each is a sweep over all sites.
pub const COMBINATIONS_MAX: usize = 1_024;

/// Rasters in one sweep, sites times combinations. Each is an entry in the sweep's manifest and a
/// few files.
pub const RASTERS_MAX: usize = 1_000_000;

/// Weighted points: every town of a continent. Each is one more path from every site.
pub const POINTS_MAX: usize = 10_000;

/// Largest weight: more than all people. Sums of ten thousand stay below 2^53, whole numbers
/// exact.
pub const WEIGHT_MAX: f64 = 1e10;

/// Bytes in one line of an ns-2 file. The longest line setdest writes is about a hundred.
pub const NS2_LINE_BYTES_MAX: usize = 1_024;

/// Candidate positions tried for each generated node before the area is called full.
pub const PLACEMENT_TRIES_MAX: usize = 200;
