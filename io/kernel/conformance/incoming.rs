//! Incoming traffic of an interface as a port: its device exists while it is impaired.

use groundwave_impair::{Impairment, QueueUnit};

use super::super::incoming::PREFIX;
use super::super::{Kernel, KernelError, Options, Redirection, Shaper};
use super::impairments::{queued, rated};
use super::round_trip;

/// Runs the cases on the incoming traffic of `interface`; `other` is another program on the same kernel,
/// and `break_redirection` lets it break the path to the device.
///
/// # Panics
/// Where the kernel does not conform.
pub async fn incoming_conforms<K: Kernel>(
    kernel: K,
    mut other: K,
    interface: &str,
    break_redirection: impl Fn(Redirection),
    options: Options,
) {
    let port = format!("{PREFIX}{interface}");
    let mut shaper = Shaper::start(kernel, options).await.unwrap();
    if !shaper.capabilities().incoming {
        return lacks(&mut shaper, &port).await;
    }
    shaper.check(&port).await.unwrap();
    assert!(shaper.read(&port).await.unwrap().is_bare());
    assert_eq!(other.link(&port).await.unwrap().index, 0, "no device without an impairment");
    for impairment in [rated(), queued(QueueUnit::Packets, 30), rated()] {
        round_trip(&mut shaper, &port, &impairment).await;
        assert!(shaper.read(interface).await.unwrap().is_bare(), "the other direction");
        let device = other.link(&port).await.unwrap();
        assert!(device.index != 0 && device.is_ifb);
        assert_eq!(device.redirection, Redirection::InForce);
    }
    for state in [Redirection::Missing, Redirection::DeviceDown, Redirection::DeviceGone] {
        break_redirection(state);
        let reading = shaper.read(&port).await.unwrap();
        let mut layers = reading.divergence.iter().map(|item| item.layer.as_str());
        assert!(layers.any(|layer| layer == "redirect"), "{state:?}: {:?}", reading.divergence);
        assert_eq!(other.link(&port).await.unwrap().redirection, state);
        let reading = shaper.apply(&port, &rated()).await.unwrap();
        assert_eq!(
            (reading.impairment, reading.divergence),
            (rated(), vec![]),
            "{state:?}: repaired"
        );
        break_redirection(state);
        assert!(shaper.clear(&port).await.unwrap().is_bare(), "{state:?}");
        let none = other.link(&port).await.unwrap();
        assert_eq!((none.index, none.redirection), (0, Redirection::InForce), "{state:?}: removed");
        shaper.apply(&port, &rated()).await.unwrap();
    }
    assert!(shaper.clear(&port).await.unwrap().is_bare());
    assert_eq!(other.link(&port).await.unwrap().index, 0, "no device remains");
    assert!(shaper.apply(&port, &Impairment::default()).await.unwrap().is_bare());
    let error = shaper.apply(&format!("{PREFIX}absent"), &rated()).await.unwrap_err();
    assert!(matches!(error, KernelError::Gone { .. }), "{error}");
}

async fn lacks<K: Kernel>(shaper: &mut Shaper<K>, port: &str) {
    for error in [shaper.check(port).await, shaper.apply(port, &rated()).await.map(drop)] {
        match error.unwrap_err() {
            KernelError::Unsupported { what, module } => {
                assert_eq!(what, "incoming traffic as a port");
                let modules = ["ifb", "act_mirred", "cls_matchall", "sch_ingress"];
                assert!(module.is_some_and(|module| modules.contains(&module.as_str())));
            }
            other => panic!("{other}"),
        }
    }
}
