//! Estimate of the time that packets wait for the air.
//!
//! Each link is a queue with arrivals at random and packets of one length, M/D/1: at a utilisation `rho` and a time
//! `S` for a packet, retransmissions included, the mean wait is `rho S / (2 (1 - rho))` (Pollaczek and Khinchine;
//! L. Kleinrock, *Queueing Systems*, volume 1, Wiley 1975, section 5.6). The utilisation is that of the air: all the
//! time that links which contend need takes turns in one queue. Queues along a route count as independent of each
//! other (Kleinrock, *Communication Nets*, McGraw-Hill 1964). Access to the channel and bursts come on top.

/// Utilisation from which on a queue grows.
const FULL: f64 = 1.0 - 1e-6;

/// Utilisation of the air around each of `count` links, by the time that each needs, s in a second, and the sets of
/// links that contend.
pub(super) fn utilisation(busy: &[f64], sets: &[Vec<usize>]) -> Vec<f64> {
    let mut around = busy.to_vec();
    for set in sets {
        let sum: f64 = set.iter().map(|link| busy[*link]).sum();
        for link in set {
            around[*link] = around[*link].max(sum);
        }
    }
    around
}

/// Mean wait in the queues of a route, s: of each hop the utilisation and the time for a packet, s. `None` where a
/// queue grows.
pub(super) fn wait_s(hops: impl IntoIterator<Item = (f64, f64)>) -> Option<f64> {
    hops.into_iter().try_fold(0.0, |sum_s, (rho, packet_s)| {
        (rho < FULL).then(|| sum_s + rho * packet_s / (2.0 * (1.0 - rho)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_is_that_of_one_server_with_constant_service() {
        // Half of the time for a packet at a utilisation of a half, 4.5 times at 0.9.
        assert!((wait_s([(0.5, 1e-3)]).unwrap() - 0.5e-3).abs() < 1e-12);
        assert!((wait_s([(0.9, 1e-3)]).unwrap() - 4.5e-3).abs() < 1e-12);
        assert!((wait_s([(0.5, 1e-3), (0.9, 1e-3)]).unwrap() - 5e-3).abs() < 1e-12);
        assert_eq!(wait_s([(0.0, 1e-3)]), Some(0.0));
        assert_eq!(wait_s([(0.5, 1e-3), (1.0, 1e-3)]), None);
    }

    #[test]
    fn links_that_contend_share_their_utilisation() {
        let around = utilisation(&[0.2, 0.3, 0.1], &[vec![0, 1], vec![1, 2]]);
        assert_eq!(around, [0.5, 0.5, 0.4]);
    }
}
