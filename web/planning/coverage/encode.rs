//! Squares of cells as they are sent.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::super::wire::coverage::CellTile;

/// Rows and columns of a square.
pub const TILE_SIDE: u32 = 64;

/// Cells of a rectangle, row by row: received power, hundredths of dBm, and the server.
#[must_use]
pub fn encode(
    [row, column]: [u32; 2],
    [rows, columns]: [u32; 2],
    cells: impl Iterator<Item = (i16, u8)>,
    has_servers: bool,
) -> CellTile {
    let (mut powers, mut servers) = (Vec::new(), Vec::new());
    for (power_cdbm, server) in cells {
        powers.extend(power_cdbm.to_le_bytes());
        servers.push(server);
    }
    CellTile {
        row,
        column,
        rows,
        columns,
        received_power_cdbm: STANDARD.encode(powers),
        server: has_servers.then(|| STANDARD.encode(servers)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_come_back() {
        let cells = [(-8_765, 3), (1_230, 0), (i16::MIN, 255)];
        let tile = encode([64, 0], [1, 3], cells.into_iter(), true);
        assert_eq!((tile.row, tile.columns), (64, 3));
        let bytes = STANDARD.decode(tile.received_power_cdbm).unwrap();
        let pairs = bytes.as_chunks::<2>().0.iter();
        let codes = pairs.map(|pair| i16::from_le_bytes(*pair));
        assert!(codes.eq(cells.map(|(power, _)| power)));
        assert_eq!(STANDARD.decode(tile.server.unwrap()).unwrap(), [3, 0, 255]);
        let alone = encode([0, 0], [1, 3], cells.into_iter(), false);
        assert_eq!(alone.server, None);
    }
}
