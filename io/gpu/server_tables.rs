//! Inputs and answers of the choice of servers, as the kernel has them.

/// Budgets of sites and undulations of a block, as the kernel reads them (`servers.wgsl`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerTables {
    pub site_words: Vec<u32>,
    pub lattice_words: Vec<u32>,
    pub lattice_columns: u32,
    pub lattice_spacing: u32,
}

/// Answers of the device for a block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ServerBlock {
    /// Site of the largest margin that is not flagged, `u32::MAX` without one, and bits of that margin, dB.
    pub best: Vec<[u32; 2]>,
    /// Bits of sites with a margin of the threshold or more, whole words a cell.
    pub served: Vec<u32>,
    /// Cells and sites that are not decided, in any order, some twice.
    pub pairs: Vec<[u32; 2]>,
}
