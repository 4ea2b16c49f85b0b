//! What each server of planproof asks of a request: that it comes from this machine, and from no foreign web page.
//!
//! The listener's address alone does not protect against a web page in the user's browser: it can send requests to
//! 127.0.0.1, or have its own name resolve to it. Hence the checks of `Host` and `Origin` ([`from_this_machine`]).
//! Secrets that a request has to know are compared with [`same`].

use std::net::{Ipv4Addr, Ipv6Addr};

use http::header::{HOST, ORIGIN};
use http::request::Parts;

/// What a request may lack that is not from this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotFromHere {
    /// Its `Host` header or its target names another machine.
    Host,
    /// It comes from a web page of another machine.
    Origin,
}

/// Whether a request names this machine: its `Host` and target are loopback names or among `names`, and its `Origin`,
/// if it has one, is a loopback name.
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

/// Whether `host`, as it appears in a URL or a `Host` header without its port, can only be this machine.
pub fn is_loopback_host(host: &str) -> bool {
    if let Some(inner) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return inner.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback());
    }
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
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

    fn head(uri: &str, hosts: &[&str], origins: &[&str]) -> Parts {
        let mut request = http::Request::builder().uri(uri);
        for host in hosts {
            request = request.header(HOST, *host);
        }
        for origin in origins {
            request = request.header(ORIGIN, *origin);
        }
        request.body(()).unwrap().into_parts().0
    }

    fn admitted(hosts: &[&str], origins: &[&str]) -> bool {
        from_this_machine(&head("/v1/models", hosts, origins), &[]).is_ok()
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
        assert!(!admitted(&["localhost", "localhost"], &[]));
        for origin in ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:1"] {
            assert!(admitted(&["localhost"], &[origin]), "{origin}");
        }
        for origin in
            ["null", "", "http://evil.com", "http://localhost.evil.com", "file://localhost", "localhost"]
        {
            assert!(!admitted(&["localhost"], &[origin]), "{origin}");
        }
        assert!(!admitted(&["localhost"], &["http://localhost", "http://evil.com"]));
        assert!(from_this_machine(&head("http://evil.com/v1", &["localhost"], &[]), &[]).is_err());
    }

    #[test]
    fn a_name_that_is_allowed_is_admitted_for_the_host_alone() {
        let names = ["host.docker.internal".to_owned()];
        let admitted = |host: &str, origins: &[&str]| {
            from_this_machine(&head("/v1/models", &[host], origins), &names).is_ok()
        };
        for host in ["host.docker.internal", "Host.Docker.Internal:81", "127.0.0.1"] {
            assert!(admitted(host, &[]), "{host}");
        }
        for host in ["docker.internal", "host.docker.internal.evil.com", "evil.com"] {
            assert!(!admitted(host, &[]), "{host}");
        }
        assert!(!admitted("host.docker.internal", &["http://host.docker.internal"]));
    }

    #[test]
    fn loopback_names_are_known() {
        for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "[::1]"] {
            assert!(is_loopback_host(host), "{host}");
        }
        for host in
            ["", "localhost.evil.com", "127.0.0.1.evil.com", "10.0.0.1", "[::2]", "::1", "0.0.0.0", "0x7f.1"]
        {
            assert!(!is_loopback_host(host), "{host}");
        }
    }

    #[test]
    fn secrets_are_the_same_only_as_a_whole() {
        assert!(same(b"key", b"key") && same(b"", b""));
        assert!(!same(b"key", b"kex") && !same(b"key", b"ke") && !same(b"", b"k"));
    }
}
