//! Proxies, named by an option or the environment.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hyper::header::HeaderValue;
use url::Url;

use super::error::FetchError;

/// HTTP proxies, and hosts that are reached without one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proxy {
    http: Option<Url>,
    https: Option<Url>,
    /// Names of hosts and domains; `*` for all.
    without: Vec<String>,
}

fn parse(text: &str) -> Result<Url, FetchError> {
    let whole = match text.contains("://") {
        true => text.to_owned(),
        false => format!("http://{text}"),
    };
    let url = Url::parse(&whole).ok();
    let url = url.filter(|url| url.scheme() == "http" && url.host_str().is_some());
    url.ok_or_else(|| FetchError::Url {
        // May hold a password.
        found: text.rsplit('@').next().unwrap_or_default().to_owned(),
        allowed: "a proxy http://HOST:PORT, perhaps with USER:PASSWORD@",
    })
}

impl Proxy {
    /// One proxy for everything.
    ///
    /// # Errors
    /// When the address is malformed.
    pub fn all(address: &str) -> Result<Self, FetchError> {
        let url = parse(address)?;
        Ok(Self { http: Some(url.clone()), https: Some(url), without: Vec::new() })
    }

    /// The proxies that variables name: `https_proxy`, `http_proxy`, `all_proxy`, `no_proxy`, in small or
    /// large letters; not `HTTP_PROXY`, which a header of a request may set in a CGI program.
    ///
    /// # Errors
    /// When an address is malformed.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, FetchError> {
        let first = |names: &[&str]| {
            let setting =
                names.iter().find_map(|name| variable(name).filter(|text| !text.is_empty()));
            setting.as_deref().map(parse).transpose()
        };
        let without = variable("no_proxy").or_else(|| variable("NO_PROXY")).unwrap_or_default();
        let without =
            without.split(',').map(|host| host.trim().trim_start_matches('.').to_ascii_lowercase());
        Ok(Self {
            http: first(&["http_proxy", "all_proxy", "ALL_PROXY"])?,
            https: first(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])?,
            without: without.filter(|host| !host.is_empty()).collect(),
        })
    }

    /// The proxy for a target.
    pub(super) fn of(&self, target: &Url) -> Option<&Url> {
        let host = target.host_str().unwrap_or_default().to_ascii_lowercase();
        let is_without = self.without.iter().any(|name| {
            name == "*"
                || host == *name
                || host.strip_suffix(name.as_str()).is_some_and(|rest| rest.ends_with('.'))
        });
        let proxy = if target.scheme() == "https" { &self.https } else { &self.http };
        proxy.as_ref().filter(|_| !is_without)
    }
}

/// Authorisation that a proxy's address carries.
pub(super) fn authorisation(proxy: &Url) -> Option<HeaderValue> {
    let plain = |text: &str| {
        let all = form(text);
        all.unwrap_or_else(|| text.to_owned())
    };
    if proxy.username().is_empty() {
        return None;
    }
    let (user, password) = (plain(proxy.username()), plain(proxy.password().unwrap_or_default()));
    let encoded = BASE64_STANDARD.encode(format!("{user}:{password}"));
    let mut value = HeaderValue::from_str(&format!("Basic {encoded}")).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Text with percent signs and two hexadecimal digits turned into bytes.
fn form(text: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_name_proxies_and_exceptions() {
        let proxy = Proxy::from_variables(|name| match name {
            "https_proxy" => Some("http://ann:p%40ss@proxy.example:3128".to_owned()),
            "http_proxy" => Some("proxy.example:3129".to_owned()),
            "NO_PROXY" => Some("localhost, .inner.example".to_owned()),
            _ => None,
        });
        let proxy = proxy.unwrap();
        let of = |url: &str| proxy.of(&Url::parse(url).unwrap()).and_then(Url::port);
        assert_eq!(of("https://a.example/x"), Some(3128));
        assert_eq!(of("http://a.example/x"), Some(3129));
        assert_eq!(of("http://localhost:1/x"), None);
        assert_eq!(of("https://a.inner.example/x"), None);
        assert_eq!(of("https://winner.example/x"), Some(3128));
        let header = authorisation(proxy.https.as_ref().unwrap()).unwrap();
        assert_eq!(
            header.to_str().unwrap(),
            format!("Basic {}", BASE64_STANDARD.encode("ann:p@ss"))
        );
        let error = Proxy::all("socks5://ann:secret@proxy.example").unwrap_err().to_string();
        assert!(error.contains("http://HOST:PORT") && !error.contains("secret"), "{error}");
    }
}
