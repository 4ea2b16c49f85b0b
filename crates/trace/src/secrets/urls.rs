//! The secrets in URLs, and in texts of settings such as `Server=h;Password=p`.

use super::SECRET_BYTES_MIN;
use super::escapes::percent_decoded;
use crate::names_secret;

/// The shortest user of a URL without a password that counts as a token: shorter ones are names.
const TOKEN_BYTES_MIN: usize = 16;

/// What begins the keys of some well-known services, whatever the name before them.
const KEY_BEGINNINGS: [&str; 15] = [
    "sk-",
    "sk_",
    "pk_live_",
    "rk_live_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xox",
    "AKIA",
    "AIza",
    "hf_",
    "gsk_",
    "npm_",
];

/// The secrets in all URLs of a text: what stands before the host, and the values of those parts of the query or the
/// fragment whose names, or whose beginnings, say that they are keys (`?api_key=...`, `&sig=...`). As they stand there
/// and with their escapes read; those of fewer than [`SECRET_BYTES_MIN`] bytes are left out.
pub fn secrets_in_urls(text: &str) -> Vec<String> {
    let urls = text.match_indices("://").map(|(place, mark)| &text[place + mark.len()..]);
    with_forms(urls.flat_map(|rest| {
        let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`');
        let url = rest.split(is_end).next().unwrap_or_default();
        // Some databases have their settings behind a semicolon.
        let query = url.find(['?', '#', ';']).map(|place| &url[place + 1..]).unwrap_or_default();
        user_of(url).into_iter().flat_map(of_user).chain(of_settings(query, &['&', ';', '?', '#']))
    }))
}

/// The secrets in a text of settings: the values of those whose names, or whose beginnings, say that they are keys; and
/// what stands before the host of an address without a scheme, `user:password@host`, if the text is one.
pub fn secrets_in_settings(text: &str) -> Vec<String> {
    let is_address = !text.contains("://") && !text.contains(char::is_whitespace);
    let user = user_of(text).filter(|user| is_address && user.contains(':'));
    let of_user = user.into_iter().flat_map(of_user);
    with_forms(of_settings(text, &[';', '&', ' ', '\t', '\n']).chain(of_user))
}

/// What stands before the host of a URL, of which `://` and all before it were taken away.
fn user_of(url: &str) -> Option<&str> {
    let authority = url.split(['/', '?', '#']).next().unwrap_or_default();
    if let Some((user, _)) = authority.rsplit_once('@') {
        return Some(user);
    }
    // A password with one of these characters in it, which should have been escaped. A host has a number behind its
    // colon, or nothing.
    let (_, port) = authority.split_once(':')?;
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
    url.rsplit_once('@').filter(|_| !is_port).map(|(user, _)| user)
}

fn of_user(user: &str) -> Vec<&str> {
    match user.split_once(':') {
        // A token may stand before the colon as well.
        Some((name, password)) => {
            let token = (name.len() >= TOKEN_BYTES_MIN).then_some(name);
            [user, password].into_iter().chain(token).collect()
        }
        None => (user.len() >= TOKEN_BYTES_MIN).then_some(user).into_iter().collect(),
    }
}

fn of_settings<'t>(text: &'t str, between: &'static [char]) -> impl Iterator<Item = &'t str> {
    text.split(between).filter_map(|setting| {
        let (name, value) = setting.split_once('=')?;
        let is_key =
            || KEY_BEGINNINGS.iter().any(|start| value.starts_with(start)) && value.len() >= TOKEN_BYTES_MIN;
        (names_secret(&percent_decoded(name)) || is_key()).then_some(value)
    })
}

fn with_forms<'t>(secrets: impl Iterator<Item = &'t str>) -> Vec<String> {
    let mut all: Vec<String> =
        secrets.flat_map(|secret| [secret.to_owned(), percent_decoded(secret)]).collect();
    all.retain(|secret| secret.trim().len() >= SECRET_BYTES_MIN);
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_urls_are_found() {
        for (text, expected) in [
            ("postgres://user:pass-word@h/db", &["pass-word", "user:pass-word"][..]),
            (
                "postgres://u:p%40ss%2Fword1@h/db",
                &["p%40ss%2Fword1", "p@ss/word1", "u:p%40ss%2Fword1", "u:p@ss/word1"],
            ),
            ("postgres://u:pass/word1@h/db", &["pass/word1", "u:pass/word1"]),
            ("https://0123456789abcdef0123@o1.ingest.example/7", &["0123456789abcdef0123"]),
            ("url:http://h/run?api_key=0123456789&n=1", &["0123456789"]),
            ("http://h?x=sk-0123456789abcdef&key=short", &["sk-0123456789abcdef"]),
            ("https://h/b?sv=1&sig=abc%2Bdef%3D", &["abc%2Bdef%3D", "abc+def="]),
            ("http://h/#access_token=0123456789", &["0123456789"]),
            ("jdbc:sqlserver://h;user=u;password=0123456789", &["0123456789"]),
            ("see http://h/?q=1 and http://h/?token=0123456789, too", &["0123456789,"]),
            ("http://127.0.0.1:8000/run?mail=a@b.example", &[]),
            ("http://127.0.0.1:8000?mail=a@b.example", &[]),
            ("ssh://git@h/x http://h/?max_tokens=10000000", &[]),
            ("a text: key=0123456789", &[]),
        ] {
            assert_eq!(secrets_in_urls(text), expected, "{text}");
        }
    }

    #[test]
    fn secrets_of_settings_are_found() {
        for (text, expected) in [
            ("AccountName=n;AccountKey=0123456789==;EndpointSuffix=x", &["0123456789=="][..]),
            ("host=h user=u password=0123456789", &["0123456789"]),
            ("Server=h;Pwd=0123456789", &["0123456789"]),
            ("user:0123456789@tcp(h:3306)/db", &["0123456789", "user:0123456789"]),
            ("a.very.long.name.of.somebody@mail.example", &[]),
            ("git@host.example:a/repository", &[]),
            ("*.key=01;34:*.tar=01;31", &[]),
        ] {
            assert_eq!(secrets_in_settings(text), expected, "{text}");
        }
    }
}
