//! Access control: only this machine, no foreign web page, only with the key.

use std::borrow::Cow;

use axum::http::header::{AUTHORIZATION, HeaderValue};
use axum::http::request::Parts;
use planproof_loopback::{NotFromHere, from_this_machine, same};
use secrecy::{ExposeSecret, SecretString};

use super::error::ApiError;
use super::target::query;

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

#[cfg(test)]
mod tests {
    use super::*;

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
