//! Access control: programs of this machine, but no foreign web page in the user's browser.

use axum::http::header::{HOST, ORIGIN};
use axum::http::request::Parts;

/// Refuses a request whose `Host` or `Origin` is not this machine.
pub(super) fn check(head: &Parts) -> Result<(), &'static str> {
    let mut hosts = head.headers.get_all(HOST).iter();
    let host = hosts.next().and_then(|host| host.to_str().ok());
    // A second `Host`, or a host in the URI, would leave open which name counts.
    if !host.is_some_and(is_local) || hosts.next().is_some() || head.uri.authority().is_some() {
        return Err("the Host header must name this machine: 127.0.0.1 or localhost");
    }
    let is_foreign = |origin: &str| !origin.strip_prefix("http://").is_some_and(is_local);
    if head.headers.get_all(ORIGIN).iter().any(|origin| origin.to_str().map_or(true, is_foreign)) {
        return Err("requests from web pages of other machines are refused (Origin)");
    }
    Ok(())
}

fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    matches!(name, "127.0.0.1" | "localhost")
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    #[test]
    fn only_this_machine_is_let_in() {
        let admitted = |hosts: &[&str], origin: Option<&str>| {
            let mut request = Request::builder().uri("/wikipedia");
            for host in hosts {
                request = request.header(HOST, *host);
            }
            if let Some(origin) = origin {
                request = request.header(ORIGIN, origin);
            }
            check(&request.body(()).expect("a request").into_parts().0).is_ok()
        };
        assert!(admitted(&["127.0.0.1:80"], None) && admitted(&["localhost"], Some("http://localhost:3000")));
        for hosts in [&[][..], &["example.org"], &["127.0.0.1.example.org"], &["localhost", "localhost"]] {
            assert!(!admitted(hosts, None), "{hosts:?}");
        }
        for origin in ["null", "http://example.org", "https://localhost.example.org"] {
            assert!(!admitted(&["localhost"], Some(origin)), "{origin}");
        }
    }
}
