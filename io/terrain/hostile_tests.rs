//! Tiles of any bytes: heights are those of the Earth or none, and every analysis over them answers.

use std::fs;
use std::path::Path;

use groundwave_model::mesh::{Member, mesh};
use groundwave_model::radio::Environment;
use groundwave_model::sample::station;
use groundwave_model::terrain::{GeoPoint, Terrain};
use groundwave_simulation::coverage::{CoverageRequest, Grid, Sampling, coverage};
use groundwave_simulation::link::{Inputs, score};
use groundwave_simulation::site::NodeId;
use proptest::prelude::*;

use super::heights::is_height;
use super::{TerrainStack, TileDirectory};

/// Posts along one side of a tile.
const SIDE: usize = 1201;

/// Ways to fill a tile.
#[derive(Debug, Clone)]
enum Filling {
    /// Bytes of a stream of chance.
    Chance(u64),
    /// Hills between heights, in an order of octets, with some posts of other values.
    Hills { low_m: i16, high_m: i16, is_swapped: bool, changed: Vec<(usize, i16)> },
    /// One value, but for some posts.
    Level(i16, Vec<(usize, i16)>),
}

impl Filling {
    fn bytes(&self) -> Vec<u8> {
        let change = |mut posts: Vec<i16>, changed: &[(usize, i16)]| {
            for (first, post) in changed {
                // A square of them, so that positions meet it.
                for at in (0..16).flat_map(|row| (0..16).map(move |column| row * SIDE + column)) {
                    let place = (first + at) % posts.len();
                    posts[place] = *post;
                }
            }
            posts.into_iter().flat_map(i16::to_be_bytes).collect()
        };
        match self {
            Self::Chance(seed) => {
                let mut state = *seed | 1;
                let next = || {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    state as u8
                };
                std::iter::repeat_with(next).take(2 * SIDE * SIDE).collect()
            }
            Self::Hills { low_m, high_m, is_swapped, changed } => {
                let span_m = f64::from(*high_m) - f64::from(*low_m);
                let hill = |at: usize| {
                    let (row, column) = (at / SIDE, at % SIDE);
                    let share =
                        0.5 + 0.5 * (row as f64 / 23.0).sin() * (column as f64 / 41.0).cos();
                    let post = (f64::from(*low_m) + span_m * share) as i16;
                    if *is_swapped { post.swap_bytes() } else { post }
                };
                change((0..SIDE * SIDE).map(hill).collect(), changed)
            }
            Self::Level(post, changed) => change(vec![*post; SIDE * SIDE], changed),
        }
    }
}

fn filling() -> impl Strategy<Value = Filling> {
    let changed = || prop::collection::vec((0..SIDE * SIDE, any::<i16>()), 0..40);
    let hills = (any::<i16>(), any::<i16>(), any::<bool>(), changed());
    prop_oneof![
        1 => any::<u64>().prop_map(Filling::Chance),
        4 => hills.prop_map(|(one, other, is_swapped, changed)| Filling::Hills {
            low_m: one.min(other),
            high_m: one.max(other),
            is_swapped,
            changed,
        }),
        2 => (any::<i16>(), changed()).prop_map(|(post, changed)| Filling::Level(post, changed)),
    ]
}

fn stack(folder: &Path) -> TerrainStack {
    TerrainStack::new(Some(TileDirectory::open(folder).unwrap()), None)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 20, ..ProptestConfig::default() })]

    #[test]
    fn tiles_of_any_bytes_have_heights_of_the_earth_or_none(
        filling in filling(),
        places in prop::collection::vec((0.0..1.0f64, 0.0..1.0f64), 6),
    ) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("N57E011.hgt"), filling.bytes()).unwrap();
        let terrain = stack(folder.path());
        let (lat_deg, lon_deg): (Vec<f64>, Vec<f64>) = (0..4_000)
            .map(|k| (57.0 + f64::from(k * 37 % 4_001) / 4_001.0, 11.0 + f64::from(k * 91 % 4_001) / 4_001.0))
            .unzip();
        let mut heights_m = vec![0.0; lat_deg.len()];
        let used = terrain.sample(&lat_deg, &lon_deg, &mut heights_m);
        for height_m in &heights_m {
            prop_assert!(height_m.is_nan() || is_height(*height_m), "{height_m} m");
        }
        let unknown = heights_m.iter().filter(|height_m| height_m.is_nan()).count();
        prop_assert!(unknown as u32 <= used.void_samples + used.missing_samples);
        let environment = Environment::default();
        let inputs = Inputs { terrain: &terrain, environment: &environment, packet_bytes: 1_500, spacing_m: None };
        let station = station();
        let at = |(north, east): &(f64, f64)| GeoPoint::new(57.0 + north, 11.0 + east).unwrap();
        let members: Vec<_> = (1..).zip(&places).map(|(number, place)| Member {
            id: NodeId::from_u128(number),
            position: at(place),
            station: &station,
        }).collect();
        for two in members.windows(2) {
            let outcome = score(&inputs, (two[0].position, &station), (two[1].position, &station));
            prop_assert!(outcome.is_ok(), "{outcome:?}");
        }
        let network = mesh(&inputs, &members).unwrap();
        for link in &network.links {
            prop_assert!(link.budget.forward.path_loss_db.is_finite());
        }
        let request = CoverageRequest {
            position: members[0].position,
            transmitter: station.clone(),
            receiver: station.clone(),
            environment: environment.clone(),
            packet_octets: 1_500,
            sampling: Sampling::Posts,
            radius_m: 30_000.0,
        };
        let grid = Grid::square(members[0].position, 20e3, 6).unwrap();
        let site = request.prepare(&terrain).unwrap();
        for cell in coverage(&site, &terrain, &grid) {
            prop_assert!(!cell.has_data() || cell.rx_power_dbm.is_finite(), "{cell:?}");
        }
    }
}
