//! What each server of planproof asks of a request: that it comes from this machine, and from no foreign web page.
//!
//! The listener's address alone does not protect against a web page in the user's browser: it can send requests to
//! 127.0.0.1, or have its own name resolve to it. Hence the checks of `Host` and `Origin` ([`from_this_machine`]).
//! Secrets that a request has to know are compared with [`same`].

use std::error::Error;
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use http::Uri;
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

/// Why the port of a URL cannot be connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortError;

impl fmt::Display for PortError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("its port is not a number from 1 to 65535")
    }
}

impl Error for PortError {}

/// Checks that a URL names a port that can be connected to, or none. A URL is parsed with any port, and a client reads
/// one that is not a port as none: it would send the request, with its key, to the usual port of the scheme.
///
/// # Errors
/// The text after the host is not a number from 1 to 65535.
pub fn check_port(url: &Uri) -> Result<(), PortError> {
    let Some(authority) = url.authority() else { return Ok(()) };
    let after_host = match authority.as_str().rsplit_once('@') {
        Some((_, place)) => place,
        None => authority.as_str(),
    };
    let port = match after_host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((_, "")) => return Ok(()),
        Some((_, rest)) => rest.strip_prefix(':').ok_or(PortError)?,
        None => match after_host.split_once(':') {
            Some((_, port)) => port,
            None => return Ok(()),
        },
    };
    // A colon with nothing behind it stands for the usual port.
    if port.is_empty() || is_port(port) { Ok(()) } else { Err(PortError) }
}

/// Whether a text is a number from 1 to 65535, without a sign.
fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok_and(|port| port > 0)
}

/// Compares a secret with what was given for it, in a time that does not depend on the position of a difference.
pub fn same(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len() && left.iter().zip(right).fold(0, |different, (a, b)| different | (a ^ b)) == 0
}

/// The host of `host[:port]`; a suffix that is not a port is kept, so that the check fails.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if is_port(port) => name,
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
        for host in [
            "",
            "evil.com",
            "127.0.0.1.evil.com",
            "localhost:80:x",
            "[::1",
            "localhost@evil.com",
            "::1",
            "localhost:",
        ] {
            assert!(!admitted(&[host], &[]), "{host}");
        }
        for (port, is_one) in
            [("1", true), ("65535", true), ("0", false), ("65536", false), ("99999", false), ("+9", false)]
        {
            assert_eq!(admitted(&[&format!("127.0.0.1:{port}")], &[]), is_one, "{port}");
            assert_eq!(admitted(&["[::1]"], &[&format!("http://[::1]:{port}")]), is_one, "{port}");
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
    fn a_port_that_is_none_is_found_wherever_it_stands() {
        let check = |url: &str| check_port(&url.parse().unwrap_or_else(|error| panic!("{url}: {error}")));
        for url in [
            "http://h",
            "http://h:",
            "http://h:1/v1",
            "http://h:65535",
            "https://[::1]",
            "http://[::1]:9/x",
            "http://u:99999@h:80/",
            "/v1",
            "http://u@h",
            "http://h:00080/",
        ] {
            assert_eq!(check(url), Ok(()), "{url}");
        }
        for url in [
            "http://h:65536",
            "http://h:99999/v1",
            "http://h:0/",
            "http://h:8o80/v1",
            "http://h:+80/",
            "http://h:-1/",
            "https://[::1]:70000",
            "http://u:80@h:70000",
            "http://h:80,81/",
            "http://h:4294967376/",
        ] {
            assert_eq!(check(url), Err(PortError), "{url}");
        }
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
