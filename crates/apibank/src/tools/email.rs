//! E-mails.

use super::parts::{SUCCESS, fail, has_same_result, same_lower, same_stripped, stripped, tool};
use crate::api::{ApiFault, ApiTool, PythonError};
use crate::python::{is_space, is_word};
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::{ApiCompat, ApiWorld};

pub(super) const TOOLS: [ApiTool; 1] = [tool!("SendEmail", send, is_same)];

fn send(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let receiver = stripped(arguments, "receiver")?;
    let (subject, content) = (stripped(arguments, "subject")?, stripped(arguments, "content")?);
    let is_address = match world.compat {
        ApiCompat::Original => is_short_address(receiver),
        ApiCompat::Right => is_address(receiver),
    };
    if !is_address {
        return fail("Email address of the receiver is invalid.");
    }
    if subject.is_empty() {
        return fail("Subject cannot be empty.");
    }
    if content.is_empty() {
        return fail("Content cannot be empty.");
    }
    Ok(SUCCESS.into())
}

/// Whether the original accepts the address: `^[a-z0-9]+[\._]?[a-z0-9]+[@]\w+[.]\w{2,3}$`.
fn is_short_address(text: &str) -> bool {
    let Some((user, host)) = text.split_once('@') else { return false };
    let Some((domain, top)) = host.split_once('.') else { return false };
    let is_plain = |part: &str| {
        !part.is_empty() && part.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit())
    };
    let is_user = match user.split_once(['.', '_']) {
        Some((one, other)) => is_plain(one) && is_plain(other),
        // Without a separator, each of the two runs of the pattern still needs a character.
        None => is_plain(user) && user.len() > 1,
    };
    let is_words = |part: &str| !part.is_empty() && part.chars().all(is_word);
    is_user && is_words(domain) && is_words(top) && (2..=3).contains(&top.chars().count())
}

/// Whether the text is a local part, an `@`, and a host of at least two parts.
fn is_address(text: &str) -> bool {
    let Some((user, host)) = text.rsplit_once('@') else { return false };
    let parts = host.split('.');
    let is_part = |part: &str| !part.is_empty() && part.chars().all(|it| is_word(it) || it == '-');
    !user.is_empty()
        && !user.contains(|it| is_space(it) || it == '@')
        && host.contains('.')
        && parts.into_iter().all(is_part)
}

fn is_same(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    // `&` does not short-circuit: the original looks up all arguments before it compares any, and a look-up may raise.
    Ok(same_lower(predicted, gold, "receiver")?
        & same_stripped(predicted, gold, "subject")?
        & same_stripped(predicted, gold, "content")?
        && has_same_result(predicted, gold))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_original_takes_few_addresses() {
        for text in ["john@example.com", "j.d@example.io", "j_1@a_b.com"] {
            assert!(is_short_address(text) && is_address(text), "{text}");
        }
        for text in
            ["j@example.com", "John@example.com", "a.b.c@example.com", "ab@mail.example.com", "ab@x.info"]
        {
            assert!(!is_short_address(text) && is_address(text), "{text}");
        }
        for text in ["", "ab@", "@x.com", "ab@x", "a b@x.com", "a@b@x.com", "ab@x..com"] {
            assert!(!is_short_address(text) && !is_address(text), "{text}");
        }
    }
}
