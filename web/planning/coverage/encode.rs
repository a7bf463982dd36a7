//! Squares of cells as they are sent.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::super::wire::coverage::CellTile;

/// Rows and columns of a square.
pub const TILE_SIDE: u32 = 64;

/// A cell as it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodedCell {
    /// Received power, hundredths of dBm.
    pub power_cdbm: i16,
    /// Probability that the link works, whole percent, [0, 100].
    pub link_percent: u8,
    /// Place of the server.
    pub server: u8,
    /// Received power over noise and interference, hundredths of dB.
    pub sinr_cdb: i16,
}

/// Figures of each cell beside power and probability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Layers {
    /// Place of the server.
    pub servers: bool,
    /// SINR.
    pub sinr: bool,
}

/// Cells of a rectangle, row by row.
#[must_use]
pub fn encode(
    [row, column]: [u32; 2],
    [rows, columns]: [u32; 2],
    cells: impl Iterator<Item = EncodedCell>,
    layers: Layers,
) -> CellTile {
    let (mut powers, mut percents) = (Vec::new(), Vec::new());
    let (mut servers, mut ratios) = (Vec::new(), Vec::new());
    for cell in cells {
        powers.extend(cell.power_cdbm.to_le_bytes());
        percents.push(cell.link_percent);
        servers.push(cell.server);
        ratios.extend(cell.sinr_cdb.to_le_bytes());
    }
    CellTile {
        row,
        column,
        rows,
        columns,
        received_power_cdbm: STANDARD.encode(powers),
        link_probability_percent: STANDARD.encode(percents),
        server: layers.servers.then(|| STANDARD.encode(servers)),
        sinr_cdb: layers.sinr.then(|| STANDARD.encode(ratios)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_come_back() {
        let cells = [(-8_765, 40, 3), (1_230, 100, 0), (i16::MIN, 0, 255)];
        let cells = cells.map(|(power_cdbm, link_percent, server)| EncodedCell {
            power_cdbm,
            link_percent,
            server,
            sinr_cdb: power_cdbm,
        });
        let layers = Layers { servers: true, sinr: true };
        let tile = encode([64, 0], [1, 3], cells.into_iter(), layers);
        assert_eq!((tile.row, tile.columns), (64, 3));
        let bytes = STANDARD.decode(tile.received_power_cdbm).unwrap();
        let pairs = bytes.as_chunks::<2>().0.iter();
        let codes = pairs.map(|pair| i16::from_le_bytes(*pair));
        assert!(codes.eq(cells.map(|cell| cell.power_cdbm)));
        assert_eq!(STANDARD.decode(tile.link_probability_percent).unwrap(), [40, 100, 0]);
        assert_eq!(STANDARD.decode(tile.server.unwrap()).unwrap(), [3, 0, 255]);
        assert_eq!(STANDARD.decode(tile.sinr_cdb.unwrap()).unwrap(), bytes);
        let alone = encode([0, 0], [1, 3], cells.into_iter(), Layers::default());
        assert_eq!((alone.server, alone.sinr_cdb), (None, None));
    }
}
