//! The parameters in a URL.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;

/// The parameters; of those with the same name the last one.
pub(super) fn parameters(query: &str) -> BTreeMap<String, String> {
    let decoded = |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (decoded(name), decoded(value))).collect()
}
