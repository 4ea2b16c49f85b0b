//! The forms of a secret: those that programs produce without intending to hide it, and those that a model can be
//! persuaded to write.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// Shorter secrets are not found where a character is missing: what is left of them could occur by chance.
const CUT_BYTES_MIN: usize = 16;

/// Characters with their escapes in formats that escape each of them, always, so that a secret has one form there.
const ESCAPES: [(&str, &[&str]); 9] = [
    ("&<>\"'", &["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"]),
    ("&<>\"'", &["&amp;", "&lt;", "&gt;", "&quot;", "&apos;"]),
    ("&<>\"'", &["&amp;", "&lt;", "&gt;", "&#34;", "&#39;"]),
    ("&<>\"'", &["&amp;", "&lt;", "&gt;", "&quot;", "&#x27;"]),
    ("&<>\"", &["&amp;", "&lt;", "&gt;", "&quot;"]),
    ("&<>", &["&amp;", "&lt;", "&gt;"]),
    ("~/", &["~0", "~1"]),
    ("\"", &["\"\""]),
    ("'", &["''"]),
];

/// All forms of a secret, the plain one first; some may be equal. The search ignores the case of ASCII letters, and
/// reads escapes.
pub(super) fn of(secret: &str) -> Vec<String> {
    let mut forms = vec![
        secret.to_owned(),
        secret.chars().rev().collect(),
        secret.bytes().map(|byte| format!("{byte:02x}")).collect(),
    ];
    if secret.contains(' ') {
        // As in the query of a URL. What else is escaped there is read by the search.
        forms.push(secret.replace(' ', "+"));
    }
    // As planproof's own formats write it: in XML and HTML, in a JSON pointer, and in quotes of CSV and YAML.
    for (marks, escapes) in ESCAPES {
        if secret.contains(|c: char| marks.contains(c)) {
            let escaped = |c: char| marks.chars().position(|mark| mark == c).map(|place| escapes[place]);
            forms.push(secret.chars().fold(String::new(), |mut form, c| {
                match escaped(c) {
                    Some(escape) => form.push_str(escape),
                    None => form.push(c),
                }
                form
            }));
        }
    }
    if !secret.is_ascii() {
        forms.extend([secret.to_lowercase(), secret.to_uppercase()]);
    }
    // Without its first or its last character, as where a text was cut, all but the whole key would be known.
    let mut inner = secret.chars();
    if secret.len() >= CUT_BYTES_MIN && inner.next().is_some() {
        forms.push(inner.as_str().to_owned());
        let mut inner = secret.chars();
        inner.next_back();
        forms.push(inner.as_str().to_owned());
    }
    // Base64 encodes three bytes at once, so the secret has three forms, by its position in a longer text.
    for before in 0..3 {
        let encoded = encoded_behind(secret, before);
        forms.push(encoded.replace('+', "-").replace('/', "_"));
        forms.push(encoded);
    }
    forms
}

/// The base64 characters that depend on the secret alone if `before` other bytes, modulo 3, precede it, whatever
/// follows.
fn encoded_behind(secret: &str, before: usize) -> String {
    let bytes: Vec<u8> = std::iter::repeat_n(0, before).chain(secret.bytes()).collect();
    // A character is 6 bits. Characters that also depend on the preceding bytes, and a last one that also depends on
    // the next byte, are left out.
    let first = (before * 8).div_ceil(6);
    let end = bytes.len() * 8 / 6;
    STANDARD_NO_PAD.encode(&bytes)[first..end].to_owned()
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::*;

    #[test]
    fn forms_in_our_own_formats_have_each_mark_escaped() {
        let forms = of("p<a&b>\"c'/~");
        for form in [
            "p&lt;a&amp;b&gt;&quot;c&#39;/~",
            "p&lt;a&amp;b&gt;&quot;c&apos;/~",
            "p&lt;a&amp;b&gt;&#34;c&#39;/~",
            "p&lt;a&amp;b&gt;&quot;c&#x27;/~",
            "p&lt;a&amp;b&gt;&quot;c'/~",
            "p&lt;a&amp;b&gt;\"c'/~",
            "p<a&b>\"c'~1~0",
            "p<a&b>\"\"c'/~",
            "p<a&b>\"c''/~",
        ] {
            assert!(forms.iter().any(|it| it == form), "{form}: {forms:?}");
        }
    }

    /// A secret's characters are found in the text's encoding, whatever surrounds it.
    #[test]
    fn base64_is_found_wherever_the_secret_stands() {
        let secret = "p?ssw>rd~1";
        let forms = of(secret);
        for before in 0..7 {
            for behind in 0..4 {
                let text = format!("{}{secret}{}", "é~".repeat(before), ">".repeat(behind));
                for encoded in [STANDARD_NO_PAD.encode(&text), URL_SAFE_NO_PAD.encode(&text)] {
                    assert!(forms.iter().any(|form| encoded.contains(form.as_str())), "{encoded}");
                }
            }
        }
    }

    #[test]
    fn forms_are_as_others_write_them() {
        let forms = of("a b/\"ü");
        for form in ["a b/\"ü", "ü\"/b a", "6120622f22c3bc", "a+b/\"ü", "A B/\"Ü", "a b~1\"ü", "a b/\"\"ü"]
        {
            assert!(forms.iter().any(|it| it == form), "{form}: {forms:?}");
        }
    }
}
