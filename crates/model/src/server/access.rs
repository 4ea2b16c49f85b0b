//! Access control: only this machine, no foreign web page, only with the key.
//!
//! The listener's address alone does not protect against a web page in the user's browser: it can send requests to
//! 127.0.0.1, or have its own name resolve to it. Hence the checks of `Host` and `Origin`.

use std::borrow::Cow;

use axum::http::header::{AUTHORIZATION, HOST, HeaderValue, ORIGIN};
use axum::http::request::Parts;
use secrecy::{ExposeSecret, SecretString};

use super::error::ApiError;
use super::target::query;
use crate::http::is_loopback_host;

/// What a request may lack that is not from this machine, for [`from_this_machine`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotFromHere {
    /// Its `Host` header or its target names another machine.
    Host,
    /// It comes from a web page of another machine.
    Origin,
}

/// Refuses a request whose `Host` or target is neither a loopback name nor one of `names`, or whose `Origin` is not a
/// loopback name.
pub(super) fn check_origin(head: &Parts, names: &[String]) -> Result<(), ApiError> {
    from_this_machine(head, names).map_err(|foreign| {
        ApiError::foreign(match foreign {
            NotFromHere::Host => {
                "the Host header must name this machine: 127.0.0.1, [::1], localhost, or a name of --allow-host"
            }
            NotFromHere::Origin => "requests from web pages of other machines are refused (Origin)",
        })
    })
}

/// Whether a request names this machine: its `Host` and target are loopback names or among `names`, and its `Origin`,
/// if it has one, is a loopback name. For every server of planproof.
///
/// # Errors
/// What is foreign in it.
pub fn from_this_machine(head: &Parts, names: &[String]) -> Result<(), NotFromHere> {
    let mut hosts = head.headers.get_all(HOST).iter();
    let host = hosts.next().and_then(|value| value.to_str().ok());
    let is_local =
        |host: &str| is_loopback_host(host) || names.iter().any(|name| name.eq_ignore_ascii_case(host));
    let host_is_local = host.is_some_and(|host| is_local(without_port(host)));
    let target_is_local = head.uri.host().is_none_or(is_local);
    // With two `Host` headers it would be unclear which one counts.
    if !host_is_local || !target_is_local || hosts.next().is_some() {
        return Err(NotFromHere::Host);
    }
    // Programs send no `Origin`. Browsers do, whatever page the request comes from.
    for origin in head.headers.get_all(ORIGIN) {
        let host = origin
            .to_str()
            .ok()
            .and_then(|origin| origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")));
        if !host.is_some_and(|host| is_loopback_host(without_port(host))) {
            return Err(NotFromHere::Origin);
        }
    }
    Ok(())
}

/// Headers that hold a key and nothing else: Anthropic's and Google's.
const KEY_HEADERS: [&str; 2] = ["x-api-key", "x-goog-api-key"];

/// Refuses a request without the key, if there is one. The key may be wherever a client of any of the protocols puts
/// it, whatever the other places contain.
pub(super) fn check_key(head: &Parts, key: Option<&SecretString>) -> Result<(), ApiError> {
    let Some(key) = key else { return Ok(()) };
    let key = key.expose_secret().as_bytes();
    let headers = KEY_HEADERS.iter().filter_map(|name| head.headers.get(*name)).map(HeaderValue::as_bytes);
    let headers = headers.chain(bearer(head)).map(|given| Cow::Borrowed(given.trim_ascii()));
    let queries = query(head, "key").map(|given| Cow::Owned(given.into_owned().into_bytes()));
    if headers.chain(queries).any(|given| same(&given, key)) { Ok(()) } else { Err(ApiError::wrong_key()) }
}

/// The token of an `Authorization` header.
fn bearer(head: &Parts) -> Option<&[u8]> {
    let given = head.headers.get(AUTHORIZATION)?.as_bytes();
    let scheme = given.get(..7)?;
    scheme.eq_ignore_ascii_case(b"bearer ").then_some(&given[7..])
}

/// Compares a secret with what was given for it, in a time that does not depend on the position of a difference.
pub fn same(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len() && left.iter().zip(right).fold(0, |different, (a, b)| different | (a ^ b)) == 0
}

/// The host of `host[:port]`; a suffix that is not a port is kept, so that the check fails.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit()) => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(host: &[&str], origin: &[&str]) -> bool {
        let mut request = axum::http::Request::builder().uri("/v1/models");
        for host in host {
            request = request.header(HOST, *host);
        }
        for origin in origin {
            request = request.header(ORIGIN, *origin);
        }
        check_origin(&request.body(()).unwrap().into_parts().0, &[]).is_ok()
    }

    #[test]
    fn only_this_machine_is_admitted() {
        for host in ["localhost", "localhost:80", "127.0.0.1:9", "[::1]:9", "[::1]"] {
            assert!(admitted(&[host], &[]), "{host}");
        }
        for host in
            ["", "evil.com", "127.0.0.1.evil.com", "localhost:80:x", "[::1", "localhost@evil.com", "::1"]
        {
            assert!(!admitted(&[host], &[]), "{host}");
        }
        assert!(!admitted(&[], &[]));
        assert!(!admitted(&["localhost", "evil.com"], &[]));
        for origin in ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:1"] {
            assert!(admitted(&["localhost"], &[origin]), "{origin}");
        }
        for origin in
            ["null", "", "http://evil.com", "http://localhost.evil.com", "file://localhost", "localhost"]
        {
            assert!(!admitted(&["localhost"], &[origin]), "{origin}");
        }
        assert!(!admitted(&["localhost"], &["http://localhost", "http://evil.com"]));
        let absolute = axum::http::Request::builder().uri("http://evil.com/v1").header(HOST, "localhost");
        assert!(check_origin(&absolute.body(()).unwrap().into_parts().0, &[]).is_err());
    }

    #[test]
    fn a_name_that_is_allowed_is_admitted_for_the_host_alone() {
        let names = ["host.docker.internal".to_owned()];
        let admitted = |host: &str, origin: Option<&str>| {
            let request = axum::http::Request::get("/v1/models").header(HOST, host);
            let request = origin.into_iter().fold(request, |request, origin| request.header(ORIGIN, origin));
            check_origin(&request.body(()).unwrap().into_parts().0, &names).is_ok()
        };
        for host in ["host.docker.internal", "Host.Docker.Internal:81", "127.0.0.1"] {
            assert!(admitted(host, None), "{host}");
        }
        for host in ["docker.internal", "host.docker.internal.evil.com", "evil.com"] {
            assert!(!admitted(host, None), "{host}");
        }
        assert!(!admitted("host.docker.internal", Some("http://host.docker.internal")));
    }

    #[test]
    fn the_key_must_be_exact_and_may_stand_where_clients_put_it() {
        let key = SecretString::from("k 1");
        let request = |uri: &str, headers: &[(&str, &str)]| {
            let request = axum::http::Request::get(uri);
            let request =
                headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
            request.body(()).unwrap().into_parts().0
        };
        let allowed =
            |uri: &str, headers: &[(&str, &str)]| check_key(&request(uri, headers), Some(&key)).is_ok();
        for right in ["Bearer k 1", "bearer k 1 "] {
            assert!(allowed("/", &[("authorization", right)]), "{right}");
        }
        for wrong in ["", "k 1", "Bearer", "Bearer k 2", "Bearer k 11", "Bearer k", "Basic k 1"] {
            assert!(!allowed("/", &[("authorization", wrong)]), "{wrong}");
        }
        for name in KEY_HEADERS {
            assert!(allowed("/", &[(name, "k 1")]) && !allowed("/", &[(name, "k")]), "{name}");
            assert!(allowed("/", &[("authorization", "Bearer other"), (name, "k 1")]), "{name}");
        }
        assert!(allowed("/?alt=sse&key=k%201", &[]));
        for wrong in ["/", "/?key=", "/?key=k", "/?keys=k%201", "/?key"] {
            assert!(!allowed(wrong, &[]), "{wrong}");
        }
        assert!(check_key(&request("/", &[]), None).is_ok());
    }
}
