//! Who may ask: this machine, no foreign web page, the holder of the key.
//!
//! The listener's address alone does not keep a web page in the user's browser out: it can send requests to
//! 127.0.0.1, or have its own name resolve to it. Hence the checks of `Host` and `Origin`.

use axum::http::header::{AUTHORIZATION, HOST, HeaderMap, ORIGIN};
use axum::http::request::Parts;
use secrecy::{ExposeSecret, SecretString};

use super::error::ApiError;
use crate::http::is_loopback_host;

/// Refuses a request whose `Host`, target or `Origin` is not this machine.
pub(super) fn check_origin(head: &Parts) -> Result<(), ApiError> {
    let mut hosts = head.headers.get_all(HOST).iter();
    let host = hosts.next().and_then(|value| value.to_str().ok());
    let host_is_local = host.is_some_and(|host| is_loopback_host(without_port(host)));
    let target_is_local = head.uri.host().is_none_or(is_loopback_host);
    if !host_is_local || !target_is_local || hosts.next().is_some() {
        return Err(ApiError::foreign(
            "the Host header must name this machine: 127.0.0.1, [::1] or localhost",
        ));
    }
    for origin in head.headers.get_all(ORIGIN) {
        let host = origin
            .to_str()
            .ok()
            .and_then(|origin| origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")));
        if !host.is_some_and(|host| is_loopback_host(without_port(host))) {
            return Err(ApiError::foreign("requests from web pages of other machines are refused (Origin)"));
        }
    }
    Ok(())
}

/// Refuses a request without the key, where there is one.
pub(super) fn check_key(headers: &HeaderMap, key: Option<&SecretString>) -> Result<(), ApiError> {
    let Some(key) = key else { return Ok(()) };
    let given = headers.get(AUTHORIZATION).map_or(&b""[..], |value| value.as_bytes());
    let is_bearer = given.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"bearer "));
    let token = given.get(7..).unwrap_or_default().trim_ascii();
    if is_bearer && same(token, key.expose_secret().as_bytes()) {
        return Ok(());
    }
    Err(ApiError::wrong_key())
}

/// Compares in a time that does not depend on where the texts differ.
fn same(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len() && left.iter().zip(right).fold(0, |different, (a, b)| different | (a ^ b)) == 0
}

/// The host of `host[:port]`; whatever is not a port stays, so that it fails the check.
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
        check_origin(&request.body(()).unwrap().into_parts().0).is_ok()
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
        assert!(check_origin(&absolute.body(()).unwrap().into_parts().0).is_err());
    }

    #[test]
    fn the_key_must_be_exact() {
        let key = SecretString::from("k1");
        let allowed = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, value.parse().unwrap());
            check_key(&headers, Some(&key)).is_ok()
        };
        assert!(allowed("Bearer k1") && allowed("bearer k1 "));
        for wrong in ["", "k1", "Bearer", "Bearer k2", "Bearer k11", "Bearer k", "Basic k1"] {
            assert!(!allowed(wrong), "{wrong}");
        }
        assert!(check_key(&HeaderMap::new(), Some(&key)).is_err());
        assert!(check_key(&HeaderMap::new(), None).is_ok());
    }
}
