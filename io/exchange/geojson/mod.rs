//! GeoJSON (RFC 7946).
//!
//! Each node is a point feature with its station as properties: `radio`, `antenna` and `pointing`
//! as the model has them, `height_agl_m`, `role`, `id`, and the colour of its role under the name
//! of the simplestyle convention, `marker-color`. The region is a polygon feature with the
//! property `kind` = `region`. Name, centre and propagation settings of the deployment are the
//! foreign member `deployment`.
//!
//! Points of others become nodes too. A third coordinate is a height above the ellipsoid and says
//! nothing about the ground, so it is dropped, with a note.

mod feature;
mod read;
mod write;

pub use read::read;
pub use write::write;

/// The property that tells the region from other polygons, and its value.
const KIND: (&str, &str) = ("kind", "region");

/// The foreign member with the deployment.
const DEPLOYMENT: &str = "deployment";
