//! A server's answer to a call, as text for the model.

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, ResourceContents};

/// The text of an answer, and whether it says that the tool failed.
pub(super) fn to_text(response: CallToolResponse) -> (String, bool) {
    match response {
        CallToolResponse::Complete(result) => {
            let is_error = result.is_error.unwrap_or(false);
            (text(result), is_error)
        }
        _ => {
            let text =
                "the tool wants to ask a person something, or to answer later; neither is possible here";
            (text.to_owned(), true)
        }
    }
}

/// The blocks of the content, one below the other. The structured content replaces missing text.
fn text(result: CallToolResult) -> String {
    let structured = result.structured_content.filter(|_| !has_text(&result.content));
    let blocks = result.content.into_iter().map(block_text);
    let parts: Vec<String> = structured.map(|value| value.to_string()).into_iter().chain(blocks).collect();
    parts.join("\n")
}

/// Whether a block has a text that the structured content need not stand in for.
pub(super) fn has_text(content: &[ContentBlock]) -> bool {
    content.iter().any(|block| match block {
        ContentBlock::Text(text) => !text.text.is_empty(),
        ContentBlock::Resource(resource) => !resource.get_text().is_empty(),
        _ => false,
    })
}

fn block_text(block: ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text,
        ContentBlock::Image(image) => described(Some(&image.mime_type), &image.data),
        ContentBlock::Audio(audio) => described(Some(&audio.mime_type), &audio.data),
        ContentBlock::Resource(resource) => match resource.resource {
            ResourceContents::TextResourceContents { text, .. } => text,
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                format!("{uri} {}", described(mime_type.as_deref(), &blob))
            }
            _ => "[content of another kind]".to_owned(),
        },
        ContentBlock::ResourceLink(link) => {
            let about = link.description.or(link.title).map(|text| format!(": {text}"));
            format!("[{}{}]", link.uri, about.unwrap_or_default())
        }
        _ => "[content of another kind]".to_owned(),
    }
}

/// What stands for data that is not a text.
fn described(mime_type: Option<&str>, base64: &str) -> String {
    // Four letters stand for three bytes. Padding stands for none.
    let letters = base64.trim_end().trim_end_matches('=').len();
    format!("[{}, {} bytes]", mime_type.unwrap_or("application/octet-stream"), letters * 3 / 4)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn result(result: Value) -> (String, bool) {
        let result: CallToolResult = serde_json::from_value(result).unwrap();
        to_text(result.into())
    }

    #[test]
    fn blocks_become_text() {
        for (content, text) in [
            (json!([]), ""),
            (json!([{"type": "text", "text": "a"}]), "a"),
            (json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b\n"}]), "a\nb\n"),
            (
                json!([{"type": "image", "data": "AAAAAA==", "mimeType": "image/png"}, {"type": "text", "text": "a"}]),
                "[image/png, 4 bytes]\na",
            ),
            (json!([{"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}]), "[audio/wav, 3 bytes]"),
            (json!([{"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}}]), "inside"),
            (
                json!([{"type": "resource", "resource": {"uri": "file:///a", "blob": "AAA="}}]),
                "file:///a [application/octet-stream, 2 bytes]",
            ),
            (
                json!([{"type": "resource_link", "uri": "file:///a", "name": "a", "description": "a file"}]),
                "[file:///a: a file]",
            ),
        ] {
            assert_eq!(result(json!({"content": content})), (text.to_owned(), false), "{content}");
        }
    }

    #[test]
    fn structured_content_stands_in_for_text() {
        let structured = json!({"b": 1, "a": [2]});
        let only = result(json!({"content": [], "structuredContent": structured}));
        assert_eq!(only.0, r#"{"a":[2],"b":1}"#);
        let both = json!({"content": [{"type": "text", "text": "t"}], "structuredContent": structured});
        assert_eq!(result(both).0, "t");
        let image = json!([{"type": "image", "data": "AAAA", "mimeType": "image/png"}]);
        let beside = result(json!({"content": image, "structuredContent": 7, "isError": true}));
        assert_eq!(beside, ("7\n[image/png, 3 bytes]".to_owned(), true));
    }
}
