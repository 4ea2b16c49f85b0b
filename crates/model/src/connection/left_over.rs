//! What a server leaves of a model's own format around the calls that it reads: tokens, namespaces and numbers. These
//! are not the model's mistakes, so they are taken off where a call comes out.

use planproof_trace::Arguments;
use serde::de::IgnoredAny;

use crate::ChatRequest;

/// The name of a tool without what a server's parser has left of the model's own format around it: tokens, a
/// namespace, the number of the call. A name that is none of a tool either way stays as it is, for it is what the
/// model wrote.
pub(crate) fn tool_name(name: String, request: &ChatRequest) -> String {
    let is_tool = |name: &str| request.tools.iter().any(|tool| tool.name == name);
    if is_tool(&name) {
        return name;
    }
    let plain = name.split_once("<|").map_or(name.as_str(), |(before, _)| before).trim();
    let plain = plain.strip_prefix(RECIPIENT).unwrap_or(plain);
    let plain = plain.strip_prefix("functions.").unwrap_or(plain);
    let without_number = plain.rsplit_once(':').filter(|(_, number)| number.parse::<u32>().is_ok());
    let plain = without_number.map_or(plain, |(before, _)| before);
    if is_tool(plain) { plain.to_owned() } else { name }
}

/// What names a tool in the format of gpt-oss.
const RECIPIENT: &str = "to=";

/// The arguments of a whole call, without tokens behind them.
pub(crate) fn arguments_of(text: &str) -> Arguments {
    let arguments = Arguments::from_text(text);
    if !matches!(arguments, Arguments::Malformed(_)) {
        return arguments;
    }
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let is_first = matches!(documents.next(), Some(Ok(_)));
    let end = documents.byte_offset();
    match text.get(end..).filter(|rest| is_first && are_tokens(rest)) {
        Some(_) => Arguments::from_text(&text[..end]),
        None => arguments,
    }
}

/// Whether a text is nothing but the tokens that end a call, a turn or a text, which are not the model's words.
pub(super) fn are_tokens(text: &str) -> bool {
    let mut rest = text.trim();
    let has_any = !rest.is_empty();
    while !rest.is_empty() {
        let named = ["</s>", "<eos>", "<end_of_turn>", "</tool_call>", "</function>", "[/TOOL_CALLS]"];
        let of_bars = [("<|", "|>"), ("<｜", "｜>")].into_iter().find_map(|(open, close)| {
            let (name, behind) = rest.strip_prefix(open)?.split_once(close)?;
            (name.len() <= TOKEN_BYTES_MAX && !name.contains(['{', '"', '<'])).then_some(behind)
        });
        let behind = of_bars.or_else(|| named.into_iter().find_map(|token| rest.strip_prefix(token)));
        let Some(behind) = behind else { return false };
        rest = behind.trim_start();
    }
    has_any
}

/// Most bytes of the name of a token.
const TOKEN_BYTES_MAX: usize = 40;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use planproof_trace::Tool;

    use super::*;
    use crate::Settings;

    #[test]
    fn what_a_server_left_of_a_models_format_is_not_the_call() {
        let request = ChatRequest {
            messages: vec![],
            tools: Arc::from([
                Tool::without_arguments("pay", "Pays."),
                Tool::without_arguments("ask:1", "Asks."),
            ]),
            settings: Settings::default(),
            previous: None,
        };
        for (name, expected) in [
            ("pay", "pay"),
            ("pay<|channel|>commentary", "pay"),
            ("functions.pay:0", "pay"),
            ("to=functions.pay <|constrain|>json", "pay"),
            ("ask:1", "ask:1"),
            ("ask:1:0", "ask:1"),
            ("functions.buy:0", "functions.buy:0"),
            ("Pay", "Pay"),
            ("default_api.pay", "default_api.pay"),
            ("<|channel|>", "<|channel|>"),
        ] {
            assert_eq!(tool_name(name.to_owned(), &request), expected);
        }
        for (text, expected) in [
            (r#"{"a":1}<|im_end|>"#, r#"{"a":1}"#),
            ("{}<|eot_id|>\n<|end|>", "{}"),
            ("{} </s>", "{}"),
            ("{}</tool_call>", "{}"),
            ("{}<｜tool▁call▁end｜>", "{}"),
            ("{} and more", "{} and more"),
            ("{}<b>", "{}<b>"),
            ("{}{}", "{}{}"),
            (r#"{"a":1<|im_end|>"#, r#"{"a":1<|im_end|>"#),
            ("{oops<|im_end|>", "{oops<|im_end|>"),
        ] {
            assert_eq!(arguments_of(text).to_text(), expected);
        }
    }
}
