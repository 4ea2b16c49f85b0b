//! Detects possible API keys, which must neither be in the file nor be shown in a message about it.

use planproof_trace::{names_secret, secrets_in_urls};

/// Fewest characters after `sk-` or `Bearer ` that make a key.
const KEY_CHARACTERS_MIN: usize = 16;

/// Whether the text seems to contain a key: `sk-...`, `Bearer ...`, or a password or a key in a URL.
pub fn holds_secret(text: &str) -> bool {
    let is_key_character = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_' || c == '.';
    let is_followed_by_key = |mark: &str| {
        text.match_indices(mark).any(|(place, _)| {
            // `--ask-...` and `task-...` contain an `sk-` too.
            let begins_word = !text[..place].ends_with(|c: char| c.is_ascii_alphanumeric());
            let rest = &text[place + mark.len()..];
            begins_word && rest.chars().take_while(|c| is_key_character(*c)).count() >= KEY_CHARACTERS_MIN
        })
    };
    let has_password = text.match_indices("://").any(|(place, mark)| {
        let rest = &text[place + mark.len()..];
        // Behind these characters an `@` belongs to a path, a query, a fragment or another word.
        let end = rest.find(|c: char| matches!(c, '/' | '?' | '#' | '"' | '\'') || c.is_whitespace());
        let authority = &rest[..end.unwrap_or(rest.len())];
        authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
    });
    is_followed_by_key("sk-")
        || is_followed_by_key("Bearer ")
        || has_password
        || !secrets_in_urls(text).is_empty()
}

/// Whether a line of the file may contain a key, by its name or by its value. For files that cannot be parsed.
pub fn may_hold_secret(text: &str) -> bool {
    text.lines().any(|line| {
        let name = line.split(['=', ':']).next().unwrap_or_default();
        // A comment may mention keys, as one of `planproof init` does. What looks like a key counts even there.
        let is_assignment = name.len() < line.len() && !line.trim_start().starts_with('#');
        (is_assignment && names_secret(name)) || holds_secret(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets() {
        for name in ["api-key", "API_KEY", "openai_api_key", "key", "token", "access-token", "password"] {
            assert!(names_secret(name), "{name}");
        }
        for name in ["cases", "tokens-max", "keyboard", "serve-model", "monkeys-max"] {
            assert!(!names_secret(name), "{name}");
        }
    }

    #[test]
    fn values_that_are_secrets() {
        for value in [
            "sk-proj-0123456789abcdef",
            "command:env K=sk-0123456789abcdef python a.py",
            "Authorization: Bearer 0123456789abcdef",
            "url:http://user:word@127.0.0.1:8000/run",
            "url:http://user:word@127.0.0.1:8000?mail=a",
            "url:http://127.0.0.1:8000/run?api_key=0123456789",
            "url:http://127.0.0.1:8000/run?x=sk-0123456789abcdef",
        ] {
            assert!(holds_secret(value), "{value}");
        }
        for value in [
            "command:python my_agent.py --ask-0123456789abcdefg",
            "sk-short",
            "tools@openai/task-0123456789abcdefghij",
            "url:http://127.0.0.1:8000/run?a=x@y",
            "url:http://127.0.0.1:8000?mail=a@b.c",
            "url:http://127.0.0.1:8000#a@b.c",
        ] {
            assert!(!holds_secret(value), "{value}");
        }
    }

    #[test]
    fn lines_that_may_hold_one() {
        assert!(may_hold_secret("[test]\napi_key = abc"));
        assert!(may_hold_secret("agent = sk-0123456789abcdef"));
        assert!(!may_hold_secret("# API key: see the environment\ncases = 5"));
    }
}
