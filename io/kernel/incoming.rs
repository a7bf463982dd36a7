//! Incoming traffic of an interface as a port: redirected to a device of the kind `ifb`, whose disciplines
//! impair it before the stack of the machine receives it.
//!
//! ```text
//! eth0: clsact ─ matchall, preference 6757: ─ mirred redirect ─► gwin2 (ifb): the stack of a port
//! ```
//!
//! The device is named by the index of the interface. Device, filter and hook exist only while the port is
//! impaired; the hook stays where other programs have filters on it.

use groundwave_netlink::attr::{Attrs, append_words, put, put_nested, put_text, put_words};
use groundwave_netlink::route::RouteRequest;
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use nix::libc::{
    ETH_P_ALL, IFF_UP, IFLA_IFNAME, IFLA_INFO_KIND, IFLA_LINKINFO, IFLA_MTU, RTM_DELLINK,
    RTM_NEWLINK,
};

use super::filter::{FilterMessage, FilterRequest};
use super::{Handle, Link, Request, Verb};

/// Beginning of the names of ports that are the incoming traffic of an interface: `incoming:eth0`.
pub const PREFIX: &str = "incoming:";

/// Kind of the devices.
pub const IFB: &str = "ifb";
/// Kind of the filters.
pub const MATCHALL: &str = "matchall";
/// Preference of the filters, after those of other programs.
pub const PREFERENCE: u16 = 0x6757;
/// Kind of the hook beside the disciplines of an interface.
pub const CLSACT: &str = "clsact";
/// Handle of the hook.
const HOOK: Handle = Handle::new(0xffff, 0);
/// Parent of the hook.
const HOOK_PARENT: Handle = Handle::new(0xffff, 0xfff1);
/// Filters of incoming packets at the hook.
pub const INGRESS: Handle = Handle::new(0xffff, 0xfff2);
/// Filters of leaving packets at the hook.
pub const EGRESS: Handle = Handle::new(0xffff, 0xfff3);

/// Interface whose incoming traffic is the port of this name.
#[must_use]
pub fn base_of(port: &str) -> Option<&str> {
    // Before it may be a namespace.
    port.rsplit('/').next().and_then(|name| name.strip_prefix(PREFIX))
}

/// Name of the device of an interface.
#[must_use]
pub fn device_of(index: u32) -> String {
    format!("gwin{index}")
}

/// Creation of the hook on interface `index`, or its deletion.
#[must_use]
pub fn hook(index: u32, verb: Verb) -> Request {
    Request { verb, index, handle: HOOK, parent: HOOK_PARENT, kind: CLSACT, options: None }
}

/// Creation of the device of an interface, up and with its MTU.
#[must_use]
pub fn create_device(base: &Link) -> RouteRequest {
    let name = device_of(base.index);
    let mut body = Vec::new();
    // struct ifinfomsg: family and type, index, flags, changed flags.
    append_words(&mut body, &[0, 0, IFF_UP as u32, IFF_UP as u32]);
    put_text(&mut body, IFLA_IFNAME, &name);
    put_words(&mut body, IFLA_MTU, &[base.mtu_bytes]);
    put_nested(&mut body, IFLA_LINKINFO, |out| put_text(out, IFLA_INFO_KIND, IFB));
    let header = (RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
    RouteRequest { header, body, what: format!("create the device {name} of the kind {IFB}") }
}

/// Creation of a device with a name that no device can have: refused, in another way without the kind.
#[must_use]
pub fn impossible_device() -> RouteRequest {
    let mut body = Vec::new();
    append_words(&mut body, &[0, 0, 0, 0]);
    put_text(&mut body, IFLA_IFNAME, "..");
    put_nested(&mut body, IFLA_LINKINFO, |out| put_text(out, IFLA_INFO_KIND, IFB));
    let header = (RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
    RouteRequest { header, body, what: format!("look for the kind {IFB}") }
}

/// Filter on the hook of interface `index` whose action lacks its device: refused, in another way without
/// the kind of the filter or of the action.
#[must_use]
pub fn impossible_redirect(index: u32) -> FilterRequest {
    let mut options = Vec::new();
    put_nested(&mut options, ACT, |out| {
        put_nested(out, 1, |out| {
            put_text(out, ACT_KIND, MIRRED);
            put(out, ACT_OPTIONS, &[]);
        });
    });
    FilterRequest { options: Some(options), ..redirect(index, None) }
}

/// Deletion of a device.
#[must_use]
pub fn delete_device(index: u32) -> RouteRequest {
    let mut body = Vec::new();
    append_words(&mut body, &[0, index, 0, 0]);
    RouteRequest { header: (RTM_DELLINK, 0), body, what: format!("delete the device {index}") }
}

/// Change of a device to administratively up.
#[must_use]
pub fn set_up(index: u32) -> RouteRequest {
    let mut body = Vec::new();
    append_words(&mut body, &[0, index, IFF_UP as u32, IFF_UP as u32]);
    RouteRequest { header: (RTM_NEWLINK, 0), body, what: format!("set the device {index} up") }
}

/// Filter that redirects the incoming packets of interface `base` to a device; without one its deletion.
#[must_use]
pub fn redirect(base: u32, device: Option<u32>) -> FilterRequest {
    FilterRequest {
        index: base,
        parent: INGRESS,
        preference: PREFERENCE,
        handle: if device.is_some() { 1 } else { 0 },
        protocol: ETH_P_ALL as u16,
        kind: MATCHALL,
        options: device.map(options),
    }
}

/// `true` for the filter of a port, whatever it redirects to.
#[must_use]
pub fn is_own(message: &FilterMessage) -> bool {
    message.preference == PREFERENCE && message.kind == MATCHALL
}

/// `true` for the filter that redirects to a device.
#[must_use]
pub fn is_redirect(message: &FilterMessage, device: u32) -> bool {
    let target = |options: &[u8]| {
        let options = Attrs::read("a filter", options).ok()?;
        let actions = options.nest(ACT).ok()??;
        let (_, first) = actions.all().next()?;
        let action = Attrs::read("an action", first).ok()?;
        let parameters = action.nest(ACT_OPTIONS).ok()??;
        let [.., operation, target] = parameters.words::<7>(PARMS).ok()??;
        (action.text(ACT_KIND)? == MIRRED && operation == EGRESS_REDIRECT).then_some(target)
    };
    is_own(message) && target(&message.options) == Some(device)
}

/// Kind of the action.
const MIRRED: &str = "mirred";
/// `TCA_MATCHALL_ACT`, `TCA_ACT_KIND`, `TCA_ACT_OPTIONS`, `TCA_MIRRED_PARMS`.
const ACT: u16 = 2;
const ACT_KIND: u16 = 1;
const ACT_OPTIONS: u16 = 2;
const PARMS: u16 = 2;
/// `TC_ACT_STOLEN`, `TCA_EGRESS_REDIR`.
const STOLEN: u32 = 4;
const EGRESS_REDIRECT: u32 = 1;

/// Value of TCA_OPTIONS of the filter.
fn options(device: u32) -> Vec<u8> {
    let mut out = Vec::new();
    put_nested(&mut out, ACT, |out| {
        // The first of the actions.
        put_nested(out, 1, |out| {
            put_text(out, ACT_KIND, MIRRED);
            put_nested(out, ACT_OPTIONS, |out| {
                // struct tc_mirred: index, capabilities, action, references, bindings, operation, device.
                put_words(out, PARMS, &[0, 0, STOLEN, 0, 0, EGRESS_REDIRECT, device]);
            });
        });
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirect_to_a_device_is_that_to_no_other() {
        let request = redirect(3, Some(STOLEN));
        let message = FilterMessage {
            preference: request.preference,
            protocol: request.protocol,
            handle: request.handle,
            kind: request.kind.to_owned(),
            options: request.options.unwrap(),
        };
        assert!(is_redirect(&message, STOLEN));
        for other in [0, 1, 3] {
            assert!(!is_redirect(&message, other), "{other}");
        }
        assert!(is_own(&message));
        let elsewhere = FilterMessage { preference: 1, ..message.clone() };
        assert!(!is_redirect(&elsewhere, STOLEN) && !is_own(&elsewhere));
        let nothing = FilterMessage { options: vec![], ..message };
        assert!(!is_redirect(&nothing, STOLEN));
    }
}
