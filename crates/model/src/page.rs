//! Error pages, which servers without error objects answer with.

/// Most characters of a page that a message shows.
pub const PAGE_CHARACTERS_MAX: usize = 200;

/// Elements whose text is not on the page itself.
const UNSEEN: [&str; 3] = ["head", "script", "style"];

/// Characters that pages mostly write as references. The ampersand is last, so that nothing is resolved twice.
const REFERENCES: [(&str, &str); 7] = [
    ("&nbsp;", " "),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#39;", "'"),
    ("&#x27;", "'"),
    ("&amp;", "&"),
];

/// The text on a page of HTML, as one line; `None` if `text` is no such page.
pub fn page_text(text: &str) -> Option<String> {
    let text = text.trim_start();
    // Only ASCII changes, so places are the same in both.
    let lower = text.to_ascii_lowercase();
    if !lower.starts_with("<!doctype html") && !lower.starts_with("<html") {
        return None;
    }
    let (mut seen, mut at) = (String::new(), 0);
    while let Some(open) = lower[at..].find('<').map(|place| at + place) {
        seen.push_str(&text[at..open]);
        // Most elements are lines of their own.
        seen.push(' ');
        let tag = &lower[open + 1..];
        let name = &tag[..tag.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(tag.len())];
        // An element that never ends goes on to the end, so that the text is searched only once.
        let end = if UNSEEN.contains(&name) { tag.find(&format!("</{name}")) } else { Some(0) };
        let end = end.and_then(|end| Some(end + tag[end..].find('>')?));
        at = end.map_or(text.len(), |end| open + 1 + end + 1);
    }
    seen.push_str(&text[at..]);
    for (reference, character) in REFERENCES {
        seen = seen.replace(reference, character);
    }
    Some(seen.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_on_a_page_is_one_line() {
        for (page, shown) in [
            (
                "<!DOCTYPE HTML>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Error response</title>\n\
                 <style type=\"text/css\">\n:root { color: #000 }\n</style>\n</head>\n<body>\n<h1>Error response</h1>\n\
                 <p>Error code: 501</p>\n<p>Message: Unsupported method ('POST').</p>\n</body>\n</html>\n",
                "Error response Error code: 501 Message: Unsupported method ('POST').",
            ),
            (
                "<html>\r\n<head><title>404 Not Found</title></head>\r\n<body>\r\n<center><h1>404 Not Found</h1></center>\
                 <hr><center>nginx</center></body></html>",
                "404 Not Found nginx",
            ),
            ("<HTML><header>Tom &amp; Jerry&#39;s &amp;lt;é</header><script>1 > 0", "Tom & Jerry's &lt;é"),
            ("<html", ""),
            ("<html>a<", "a"),
        ] {
            assert_eq!(page_text(page).as_deref(), Some(shown), "{page}");
        }
        for other in ["", "Not Found", "{\"error\": \"<html>\"}", "<xml/>"] {
            assert_eq!(page_text(other), None, "{other}");
        }
    }
}
