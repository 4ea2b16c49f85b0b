//! Token counts as servers of OpenAI's protocols report them. They differ in what a count includes, and where they
//! contradict each other the higher count is taken: a budget must hold whichever is right.

use planproof_trace::Usage;
use serde::Deserialize;

use crate::lenient;

/// The counts of one reply, under the names of all protocols and servers.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub(crate) struct Counts {
    #[serde(default, deserialize_with = "lenient::count")]
    pub(crate) prompt_tokens: Option<u64>,
    /// The same in the newer protocol. No aliases: some servers send both.
    #[serde(default, deserialize_with = "lenient::count")]
    input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    completion_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    output_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    total_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient::object")]
    completion_tokens_details: Option<OutputDetails>,
    #[serde(default, deserialize_with = "lenient::object")]
    output_tokens_details: Option<OutputDetails>,
    #[serde(default, deserialize_with = "lenient::object")]
    prompt_tokens_details: Option<InputDetails>,
    #[serde(default, deserialize_with = "lenient::object")]
    input_tokens_details: Option<InputDetails>,
    /// DeepSeek's name for the cached tokens.
    #[serde(default, deserialize_with = "lenient::count")]
    prompt_cache_hit_tokens: Option<u64>,
    /// Moonshot's.
    #[serde(default, deserialize_with = "lenient::count")]
    cached_tokens: Option<u64>,
    /// Those of gateways to Anthropic.
    #[serde(default, deserialize_with = "lenient::count")]
    cache_read_input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    cache_creation_input_tokens: Option<u64>,
    /// Some servers do not put it into the details.
    #[serde(default, deserialize_with = "lenient::count")]
    reasoning_tokens: Option<u64>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct OutputDetails {
    #[serde(default, deserialize_with = "lenient::count")]
    reasoning_tokens: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
struct InputDetails {
    #[serde(default, deserialize_with = "lenient::count")]
    cached_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    cache_write_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    cache_creation_tokens: Option<u64>,
}

impl From<Counts> for Usage {
    fn from(counts: Counts) -> Self {
        let most = |counts: &[Option<u64>]| counts.iter().copied().flatten().max();
        let read = most(&[counts.prompt_tokens, counts.input_tokens]);
        let [first, second] =
            [counts.prompt_tokens_details, counts.input_tokens_details].map(Option::unwrap_or_default);
        let cached = most(&[
            first.cached_tokens,
            second.cached_tokens,
            counts.prompt_cache_hit_tokens,
            counts.cached_tokens,
            counts.cache_read_input_tokens,
        ]);
        let written = most(&[
            first.cache_write_tokens,
            second.cache_write_tokens,
            first.cache_creation_tokens,
            second.cache_creation_tokens,
            counts.cache_creation_input_tokens,
        ]);
        let (cached, written) = (cached.unwrap_or(0), written.unwrap_or(0));
        let by_cache = cached.saturating_add(written);
        let input = match read {
            // Where the cached tokens are more than all, they are not among them.
            Some(input) if by_cache > input => Some(input.saturating_add(by_cache)),
            None if by_cache > 0 => Some(by_cache),
            input => input,
        };
        let [first, second] = [counts.completion_tokens_details, counts.output_tokens_details]
            .map(|details| details.and_then(|details| details.reasoning_tokens));
        let reasoning = most(&[first, second, counts.reasoning_tokens]).unwrap_or(0);
        let output = most(&[counts.completion_tokens, counts.output_tokens]).unwrap_or(0);
        // What the total has beyond the tokens read was written. Without a total, or where thoughts are more than all
        // the words, the thoughts are not among the words.
        let of_total = match (counts.total_tokens, read) {
            (Some(total), Some(read)) => total.saturating_sub(read),
            _ => 0,
        };
        let is_apart = counts.total_tokens.is_none() || read.is_none() || reasoning > output;
        let beside = if is_apart { output.saturating_add(reasoning) } else { output };
        let output = of_total.max(beside);
        // Only the sum, and perhaps one of the two.
        let input = input.unwrap_or_else(|| counts.total_tokens.unwrap_or(0).saturating_sub(output));
        Self {
            cached_tokens: cached,
            cache_write_tokens: written,
            reasoning_tokens: reasoning.min(output),
            ..Self::new(input, output)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_whole_and_the_higher_one_counts() {
        let cases = [
            // OpenAI: thoughts are among the completion tokens.
            (
                r#"{"prompt_tokens":10,"completion_tokens":1005,"total_tokens":1015,"completion_tokens_details":{"reasoning_tokens":1000}}"#,
                (10, 1005, 0, 0),
            ),
            // xAI: they are not.
            (
                r#"{"prompt_tokens":10,"completion_tokens":5,"total_tokens":1015,"completion_tokens_details":{"reasoning_tokens":1000}}"#,
                (10, 1005, 0, 0),
            ),
            // Gemini: they are in the total only.
            (r#"{"prompt_tokens":10,"completion_tokens":5,"total_tokens":215}"#, (10, 205, 0, 0)),
            // The total leaves them out.
            (
                r#"{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"completion_tokens_details":{"reasoning_tokens":1000}}"#,
                (10, 1005, 0, 0),
            ),
            // No total decides.
            (r#"{"prompt_tokens":10,"completion_tokens":50,"reasoning_tokens":40}"#, (10, 90, 0, 0)),
            (r#"{"prompt_tokens":10,"completion_tokens":5}"#, (10, 5, 0, 0)),
            (r#"{"total_tokens":15}"#, (15, 0, 0, 0)),
            (r#"{"completion_tokens":5,"total_tokens":15}"#, (10, 5, 0, 0)),
            (r#"{"prompt_tokens":10,"total_tokens":15}"#, (10, 5, 0, 0)),
            // A total that is too small, or nonsense.
            (r#"{"prompt_tokens":10,"completion_tokens":5,"total_tokens":3}"#, (10, 5, 0, 0)),
            (r#"{"prompt_tokens":"12","completion_tokens":null,"total_tokens":"x"}"#, (12, 0, 0, 0)),
            (
                r#"{"prompt_tokens":-1,"completion_tokens":[],"completion_tokens_details":7,"prompt_tokens_details":[]}"#,
                (0, 0, 0, 0),
            ),
            // Caches.
            (
                r#"{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"prompt_tokens_details":{"cached_tokens":64}}"#,
                (100, 5, 64, 0),
            ),
            (
                r#"{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"prompt_tokens_details":{"cached_tokens":0,"cache_write_tokens":90}}"#,
                (100, 5, 0, 90),
            ),
            (
                r#"{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}"#,
                (100, 5, 64, 0),
            ),
            (
                r#"{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"cached_tokens":64}"#,
                (100, 5, 64, 0),
            ),
            (
                r#"{"prompt_tokens":3,"completion_tokens":5,"cache_read_input_tokens":900,"cache_creation_input_tokens":90}"#,
                (993, 5, 900, 90),
            ),
            // Responses.
            (
                r#"{"input_tokens":36,"input_tokens_details":{"cached_tokens":12},"output_tokens":87,"output_tokens_details":{"reasoning_tokens":80},"total_tokens":123}"#,
                (36, 87, 12, 0),
            ),
            // Both names at once.
            (
                r#"{"prompt_tokens":36,"input_tokens":36,"completion_tokens":87,"output_tokens":87,"total_tokens":123}"#,
                (36, 87, 0, 0),
            ),
            ("{}", (0, 0, 0, 0)),
            (
                r#"{"prompt_tokens":1099511627776,"completion_tokens":1099511627776,"reasoning_tokens":1099511627776}"#,
                (1 << 40, 1 << 41, 0, 0),
            ),
            // More than anybody counts.
            (
                r#"{"prompt_tokens":1099511627777,"completion_tokens":18446744073709551615,"reasoning_tokens":1e30}"#,
                (0, 0, 0, 0),
            ),
        ];
        for (json, expected) in cases {
            let usage = Usage::from(serde_json::from_str::<Counts>(json).unwrap());
            let found =
                (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.cache_write_tokens);
            assert_eq!(found, expected, "{json}");
        }
    }
}
