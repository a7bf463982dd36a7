//! A site made ready for the evaluation of cells.

use crate::link::{SAMPLES_MAX, SAMPLES_MIN, spacing_under_m};
use crate::radio::transmitter::PreparedTransmitter;
use crate::radio::{BadValue, Environment, Prepared, Station, Surroundings};
use crate::sweep::interference::Demand;
use crate::terrain::short::Parallel;
use crate::terrain::{CoverKind, GeoPoint, Terrain};

/// Sampling density of the terrain between site and cell.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Sampling {
    /// As links are: one sample per post of the terrain at the site, 32 to 1024.
    #[default]
    Posts,
    /// One sample per so many metres, 32 to 1024.
    Spacing(f64),
    /// So many samples on every path, 2 or more.
    Count(u32),
}

/// Request of a coverage: the one input of interactive jobs and sweeps, but for the grid and the
/// terrain.
#[derive(Debug, Clone, PartialEq)]
pub struct CoverageRequest {
    /// Position of the site.
    pub position: GeoPoint,
    /// Transmitting station.
    pub transmitter: Station,
    /// Receiving station of every cell.
    pub receiver: Station,
    /// Air, ground and model.
    pub environment: Environment,
    /// Packet length, octets, 1 or more.
    pub packet_octets: u32,
    /// Sampling of the ground.
    pub sampling: Sampling,
    /// Cells beyond are outside, m; infinite for all.
    pub radius_m: f64,
}

impl CoverageRequest {
    /// Makes the site ready over `terrain`.
    ///
    /// # Errors
    /// The first [`BadValue`] in the stations, the environment or the ground at the site.
    pub fn prepare(&self, terrain: &dyn Terrain) -> Result<CoverageSite<'_>, BadValue> {
        CoverageSite::prepare(
            self.position,
            [&self.transmitter, &self.receiver],
            &self.environment,
            self.packet_octets,
            self.sampling,
            self.radius_m,
            terrain,
        )
    }

    /// Received power at which the link margin is 0 dB, dBm; infinite where the receiver cannot decode the
    /// transmitter.
    ///
    /// # Errors
    /// The first [`BadValue`] in the stations or the environment.
    pub fn sensitivity_dbm(&self) -> Result<f64, BadValue> {
        let transmitter = self.prepare_transmitter()?;
        // The margin is the received power less a constant.
        Ok(-transmitter.link_margin_db(transmitter.sinr_db(0.0)))
    }

    /// Noise floor and constant interference of the receiver, and the SINR it requires, infinite where it
    /// cannot decode the transmitter.
    ///
    /// # Errors
    /// The first [`BadValue`] in the stations or the environment.
    pub fn demand(&self) -> Result<Demand, BadValue> {
        let transmitter = self.prepare_transmitter()?;
        Ok(Demand {
            noise_dbm: -transmitter.sinr_db(0.0),
            required_sinr_db: -transmitter.link_margin_db(0.0),
        })
    }

    /// Rising received power, dBm, and the data rate from there, bit/s.
    ///
    /// # Errors
    /// The first [`BadValue`] in the stations or the environment.
    pub fn rate_steps(&self) -> Result<Vec<(f64, f64)>, BadValue> {
        let transmitter = self.prepare_transmitter()?;
        // The SNR is the received power and a constant.
        let offset_db = transmitter.sinr_db(0.0);
        let steps = transmitter.rate_steps();
        Ok(steps.map(|(snr_db, bps)| (snr_db - offset_db, bps)).collect())
    }

    /// The transmitter made ready without terrain, for what depends on the radios alone.
    fn prepare_transmitter(&self) -> Result<PreparedTransmitter<'_>, BadValue> {
        let (transmitter, receiver) = (&self.transmitter, &self.receiver);
        let octets = self.packet_octets;
        let link = Prepared::new(transmitter, receiver, &self.environment, octets)?;
        Ok(PreparedTransmitter::new(link, 0.0))
    }
}

/// A site made ready: what all its cells have in common.
#[derive(Debug, Clone)]
pub struct CoverageSite<'a> {
    pub(super) position: GeoPoint,
    pub(super) parallel: Parallel,
    pub(super) transmitter: PreparedTransmitter<'a>,
    /// The same for receivers among each [`CoverKind`]; empty without land cover.
    by_cover: Vec<PreparedTransmitter<'a>>,
    /// `true` where the model reads land cover along paths.
    pub(super) traces_cover: bool,
    pub(super) radius_m: f64,
    pub(super) sampling: Fineness,
    /// The ground at the site, m, where the terrain has a certain height: the same on all paths.
    pub(super) ground_msl_m: Option<f64>,
    /// True if the terrain has data at the site.
    ground_known: bool,
    /// True if the site stands on a fine surface; `None` where none of the terrain is one.
    pub(super) fine_surface: Option<bool>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Fineness {
    Spacing(f64),
    Count(usize),
}

impl<'a> CoverageSite<'a> {
    /// Minimum and maximum number of samples of a path, unless it is fixed.
    pub(super) const SAMPLES: [usize; 2] = [SAMPLES_MIN, SAMPLES_MAX];

    /// Prepares the coverage from a transmitter at `position` to receivers like `receiver`.
    ///
    /// # Errors
    /// The first [`BadValue`] in the stations or the environment.
    pub fn prepare(
        position: GeoPoint,
        [transmitter, receiver]: [&'a Station; 2],
        environment: &'a Environment,
        packet_octets: u32,
        sampling: Sampling,
        radius_m: f64,
        terrain: &dyn Terrain,
    ) -> Result<Self, BadValue> {
        let own_cover = Surroundings::from(terrain.cover_kind(position));
        let undulation_m = terrain.undulation_m(position);
        let prepared = |kind: CoverKind| {
            let (stations, cover) = ([transmitter, receiver], [own_cover, kind.into()]);
            let link = Prepared::among(stations, cover, environment, packet_octets)?;
            Ok(PreparedTransmitter::new(link, undulation_m))
        };
        let by_cover = match terrain.has_cover() {
            true => CoverKind::ALL.into_iter().map(prepared).collect::<Result<_, _>>()?,
            false => Vec::new(),
        };
        let mut ground_msl_m = [f64::NAN];
        let (lat_deg, lon_deg) = ([position.lat_deg()], [position.lon_deg()]);
        let used = terrain.sample(&lat_deg, &lon_deg, &mut ground_msl_m);
        Ok(Self {
            position,
            parallel: Parallel::new(position.lat_deg()),
            fine_surface: terrain.has_fine_surface().then(|| terrain.is_fine_surface(position)),
            transmitter: prepared(CoverKind::Unknown)?,
            traces_cover: !by_cover.is_empty() && environment.model.get().uses_clutter(),
            by_cover,
            radius_m,
            sampling: match sampling {
                Sampling::Posts => {
                    Fineness::Spacing(spacing_under_m(environment.model, terrain, position))
                }
                Sampling::Spacing(spacing_m) => Fineness::Spacing(spacing_m),
                Sampling::Count(count) => Fineness::Count(count.max(2) as usize),
            },
            ground_msl_m: used.is_clean().then_some(ground_msl_m[0]),
            ground_known: ground_msl_m[0].is_finite(),
        })
    }

    /// `true` where the terrain has land cover.
    pub(super) fn has_cover(&self) -> bool {
        !self.by_cover.is_empty()
    }

    /// The transmitter made ready for receivers among a kind of land cover.
    #[inline]
    pub(super) fn transmitter(&self, kind: CoverKind) -> &PreparedTransmitter<'a> {
        self.by_cover.get(kind as usize).unwrap_or(&self.transmitter)
    }

    /// Position of the site.
    #[must_use]
    pub fn position(&self) -> GeoPoint {
        self.position
    }

    /// True if the terrain has data at the site. Otherwise it was assumed, and every path
    /// is flagged.
    #[must_use]
    pub fn ground_known(&self) -> bool {
        self.ground_known
    }

    /// Number of samples of a path, as [`crate::link::samples_for`].
    #[inline]
    pub(super) fn samples(&self, distance_m: f64) -> usize {
        match self.sampling {
            Fineness::Count(count) => count,
            // A ratio beyond usize saturates, and the clamp holds it.
            Fineness::Spacing(spacing_m) => ((distance_m / spacing_m).ceil() as usize)
                .saturating_add(1)
                .clamp(SAMPLES_MIN, SAMPLES_MAX),
        }
    }
}
