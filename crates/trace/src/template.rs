//! Texts with placeholders, `{{name}}`: the prompts that our crates keep as files.

/// A template as pieces of text, each with the name of the placeholder that follows it. A name consists of lower-case
/// letters and `_`; other braces are text.
pub fn pieces(template: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|it| it.is_ascii_lowercase() || it == '_');
    let mut rest = Some(template);
    std::iter::from_fn(move || {
        let text = rest?;
        let found = text.match_indices("{{").find_map(|(start, _)| {
            let (name, behind) = text[start + 2..].split_once("}}")?;
            is_name(name).then_some((start, name, behind))
        });
        match found {
            Some((start, name, behind)) => {
                rest = Some(behind);
                Some((&text[..start], Some(name)))
            }
            None => {
                rest = None;
                Some((text, None))
            }
        }
    })
}

/// A template with its placeholders filled in, in one pass: inserted text is not searched again. Names without a value
/// are left out.
pub fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len());
    for (text, name) in pieces(template) {
        out.push_str(text);
        if let Some(name) = name {
            out.push_str(values.iter().find(|(other, _)| *other == name).map_or("", |(_, value)| value));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled_in_once() {
        assert_eq!(fill("a {{x}} b {{ y }} {{y}}", &[("x", "{{y}}"), ("y", "1")]), "a {{y}} b {{ y }} 1");
        assert_eq!(fill("{{{{x}}", &[("x", "1")]), "{{1");
        assert_eq!(fill("{\"a\": {\"b\": {{z}}}}", &[]), "{\"a\": {\"b\": }}");
    }
}
