//! Cache of the analyses of whole deployments, valid while the nodes and the environment they were computed from
//! stay as they are.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use groundwave_model::advice::Advice;
use groundwave_model::mesh::{Mesh, PAIRS_MAX, RouteRequest};
use groundwave_model::radio::Environment;
use groundwave_simulation::deployment::{DeploymentId, PlannedNode};

use super::wire::mesh::MeshRoute;

/// Deployments whose results are cached.
const DEPLOYMENTS_MAX: usize = 8;
/// Cached links, of all deployments: those of two of the largest, some 100 MB.
const LINKS_MAX: usize = 2 * PAIRS_MAX;
/// Cached routes of a deployment.
const ROUTES_MAX: usize = 64;

/// Inputs of an analysis of a whole deployment.
#[derive(Debug, Clone)]
pub struct Basis {
    /// Deployment.
    pub deployment: DeploymentId,
    /// Environment of the deployment.
    pub environment: Environment,
    /// Nodes of the deployment.
    pub nodes: Vec<Arc<PlannedNode>>,
}

impl Basis {
    /// True when an analysis of `other` comes to the same result.
    fn is_same(&self, other: &Self) -> bool {
        let is_same = |(one, other): (&Arc<PlannedNode>, &Arc<PlannedNode>)| {
            Arc::ptr_eq(one, other)
                || one.id == other.id
                    && one.position == other.position
                    && one.station == other.station
        };
        self.deployment == other.deployment
            && self.nodes.len() == other.nodes.len()
            && self.environment == other.environment
            && self.nodes.iter().zip(&other.nodes).all(is_same)
    }
}

/// Cached results of a deployment.
#[derive(Debug)]
pub struct CachedAnalysis {
    basis: Basis,
    /// All links.
    pub mesh: OnceLock<Mesh>,
    /// Protocol advice.
    pub advice: OnceLock<Advice>,
    routes: Mutex<VecDeque<(RouteRequest, MeshRoute)>>,
}

impl CachedAnalysis {
    /// The route of a request that was answered before.
    #[must_use]
    pub fn route(&self, request: &RouteRequest) -> Option<MeshRoute> {
        let routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        let found = routes.iter().find(|(asked, _)| asked == request);
        found.map(|(_, route)| route.clone())
    }

    /// Stores the route of a request.
    pub fn cache_route(&self, request: RouteRequest, route: MeshRoute) {
        let mut routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        if routes.len() >= ROUTES_MAX {
            routes.pop_front();
        }
        routes.push_back((request, route));
    }
}

/// Cached results, those used last at the end.
#[derive(Debug, Default)]
pub struct AnalysisCache(Mutex<VecDeque<Arc<CachedAnalysis>>>);

impl AnalysisCache {
    /// Drops all results: the ground is another.
    pub fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The results of `basis`, none yet when an input changed since the last ones of its deployment.
    pub fn of(&self, basis: Basis) -> Arc<CachedAnalysis> {
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = cache.iter().position(|found| found.basis.is_same(&basis));
        let found = match place.and_then(|place| cache.remove(place)) {
            Some(found) => found,
            None => {
                cache.retain(|found| found.basis.deployment != basis.deployment);
                Arc::new(CachedAnalysis {
                    basis,
                    mesh: OnceLock::new(),
                    advice: OnceLock::new(),
                    routes: Mutex::default(),
                })
            }
        };
        cache.push_back(Arc::clone(&found));
        let links = |cache: &VecDeque<Arc<CachedAnalysis>>| {
            let meshes = cache.iter().filter_map(|found| found.mesh.get());
            meshes.map(|mesh| mesh.links.len()).sum::<usize>()
        };
        while cache.len() > DEPLOYMENTS_MAX || links(&cache) > LINKS_MAX {
            cache.pop_front();
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use groundwave_model::radio::presets::Role;
    use groundwave_model::terrain::GeoPoint;
    use groundwave_simulation::site::{NodeId, Stamps};

    use super::*;
    use crate::wire::radio::default_station;

    fn basis(deployment: u128, lat_deg: f64) -> Basis {
        let deployment = DeploymentId::from_u128(deployment);
        let node = PlannedNode {
            id: NodeId::from_u128(1),
            deployment,
            name: "n".to_owned(),
            role: Role::default(),
            position: GeoPoint::new(lat_deg, 11.0).unwrap(),
            station: default_station(),
            stamps: Stamps::default(),
        };
        Basis { deployment, environment: Environment::default(), nodes: vec![Arc::new(node)] }
    }

    #[test]
    fn results_are_kept_until_an_input_changes() {
        let cache = AnalysisCache::default();
        let made = cache.of(basis(1, 57.0));
        let is_made = |basis: Basis| Arc::ptr_eq(&cache.of(basis), &made);
        let mut renamed = basis(1, 57.0);
        Arc::make_mut(&mut renamed.nodes[0]).name = "m".to_owned();
        assert!(is_made(renamed));
        assert!(!is_made(basis(2, 57.0)));
        assert!(is_made(basis(1, 57.0)));
        assert!(!is_made(basis(1, 57.1)));
        // A deployment has one result.
        assert!(!is_made(basis(1, 57.0)));
    }

    #[test]
    fn another_environment_is_another_result() {
        let cache = AnalysisCache::default();
        let made = cache.of(basis(1, 57.0));
        let mut rainy = basis(1, 57.0);
        rainy.environment.rain_rate_mm_h += 1.0;
        assert!(!Arc::ptr_eq(&cache.of(rainy), &made));
    }

    #[test]
    fn the_results_used_last_stay() {
        let cache = AnalysisCache::default();
        let made: Vec<_> = (0..DEPLOYMENTS_MAX as u128)
            .map(|deployment| cache.of(basis(deployment, 57.0)))
            .collect();
        cache.of(basis(0, 57.0));
        cache.of(basis(99, 57.0));
        assert!(Arc::ptr_eq(&cache.of(basis(0, 57.0)), &made[0]));
        assert!(!Arc::ptr_eq(&cache.of(basis(1, 57.0)), &made[1]));
    }
}
