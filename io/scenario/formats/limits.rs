//! Bounds on documents, each with its reason.

/// Largest text document, bytes, compressed or not. A plan of as many nodes as a world holds takes
/// about 110 MB in the widest format, KML. A server bounds its request bodies lower than this.
pub const BYTES_MAX: usize = 256 << 20;

/// A KMZ may unpack to this many times its own size. Deflate reaches 1000 on zeros; a plan of
/// nodes that differ in nothing at all reaches 206, one of nodes with ids and places 25.
pub const UNPACK_RATIO_MAX: usize = 400;

/// A KMZ may unpack to this many bytes whatever its size, so that a small one is not refused.
pub const UNPACK_BYTES_MIN: usize = 4 << 20;

/// Largest GeoJSON feature, bytes. A region of as many positions as one may have takes a tenth.
/// A parsed value takes sixteen times the memory of its text at most.
pub const FEATURE_BYTES_MAX: usize = 4 << 20;

/// GeoJSON features looked at, nodes or not: ten for each node a world holds.
pub const FEATURES_MAX: usize = 1_000_000;

/// Members of a GeoJSON document besides its features.
pub const MEMBERS_MAX: usize = 1_000;

/// Nested elements in XML. Folders in the wild reach ten.
pub const DEPTH_MAX: usize = 64;

/// Elements in one KML placemark. Tracks of a day have 86,400.
pub const ELEMENTS_MAX: usize = 200_000;

/// Different notes kept of one import: two screens. The rest is counted.
pub const NOTES_MAX: usize = 64;

/// Longest file or table read, bytes: ten days of a hundred links once a minute are 100 MB.
pub const SOURCE_BYTES_MAX: u64 = 1 << 30;

/// Bytes at the beginning of a document that its format is recognised by.
pub const SAMPLE_BYTES: usize = 64 << 10;

/// Ticks of one recording: four months at one a second, hours of computing.
pub const TICKS_MAX: u64 = 10_000_000;

/// Events of one recording, so that a wrong mapping cannot fill the memory.
pub const EVENTS_MAX: usize = 20_000_000;

/// Positions of one motion in a log: a quarter of an hour at one a second, so that a command stays small.
pub const LEGS_MAX: usize = 1_000;

/// Maximum dictionary of a file of xz, bytes: that of `xz -9`.
pub const XZ_DICTIONARY_BYTES_MAX: u64 = 64 << 20;

/// Maximum number of files in a folder and the folders in it.
pub const FILES_MAX: usize = 100_000;
