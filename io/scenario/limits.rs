//! Every bound on a scenario file, each with its reason.

/// Largest scenario file and largest ns-2 file, bytes. A hundred thousand hand-written nodes
/// fit; the size is asked of the file system first, so a larger file is refused unread.
pub const FILE_BYTES_MAX: u64 = 16 << 20;

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

/// Tables and arrays inside each other. Deeper than any command, and shallow enough for every
/// decoder downstream (JSON readers stop at 128) and for the smallest thread stack.
pub const NESTING_MAX: usize = 64;

/// Errors reported at once: one screen. The rest is counted.
pub const ERRORS_MAX: usize = 20;

/// Syntax errors are collected, not just the first one kept, up to this file size, bytes. A
/// syntax error cascades, and each is kept in memory until it is shown.
pub const RECOVERY_BYTES_MAX: usize = 256 << 10;

/// Syntax errors looked at. Most are echoes of the first on their line.
pub const SYNTAX_ERRORS_MAX: usize = 200;

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

/// Bytes in a label: what the engine takes as the name of a thing.
pub const LABEL_BYTES_MAX: usize = 64;

/// Characters in a description: a page.
pub const DESCRIPTION_CHARS_MAX: usize = 10_000;

/// Terrain tiles a scenario may ask for: 20 by 20 degrees, 1.1 GB of three-arcsecond samples.
pub const TILES_MAX: usize = 400;

/// Slowest and fastest motion, m/s: below a millimetre a second a node stands, and nothing in a
/// mesh is faster than a low orbit.
pub const SPEED_M_S: (f64, f64) = (0.001, 8_000.0);

/// Waypoints of one motion: a day at one a second.
pub const WAYPOINTS_MAX: usize = 86_400;

/// Shortest and longest link range, m. Half of what ITM is defined for, and beyond any horizon.
pub const LINK_RANGE_M: (f64, f64) = (1.0, 1_000_000.0);

/// Bytes in one line of an ns-2 file. The longest line setdest writes is about a hundred.
pub const NS2_LINE_BYTES_MAX: usize = 1_024;

/// Candidate positions tried for each generated node before the area is called full.
pub const PLACEMENT_TRIES_MAX: usize = 200;
