//! The patterns of the original, which our reading by hand must agree with. Only ASCII is compared, because the crate
//! `regex` counts other characters as words than Python does.

use std::sync::LazyLock;

use planproof_apibank::call::{extract, parse};
use proptest::prelude::{ProptestConfig, prop_assert_eq, proptest};
use regex::Regex;

static CALL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\[(\w+)\((.*)\)\]").unwrap());
static ARGUMENT: LazyLock<Regex> = LazyLock::new(|| Regex::new(PARTS).unwrap());
const PARTS: &str = r#"(\w+)\s*=\s*['"](.+?)['"]|(\w+)\s*=\s*(\[.*\])|(\w+)\s*=\s*(\w+)"#;

fn by_patterns(text: &str) -> Option<(String, Vec<(String, String)>)> {
    let call = CALL.captures(text)?;
    let mut arguments: Vec<(String, String)> = Vec::new();
    for found in ARGUMENT.captures_iter(&call[2]) {
        let pair = [1, 3, 5].into_iter().find_map(|group| Some((found.get(group)?, found.get(group + 1)?)));
        let (name, value) =
            pair.map(|(name, value)| (name.as_str().to_owned(), value.as_str().to_owned())).unwrap();
        match arguments.iter_mut().find(|(earlier, _)| *earlier == name) {
            Some(slot) => slot.1 = value,
            None => arguments.push((name, value)),
        }
    }
    Some((call[1].to_owned(), arguments))
}

fn check(text: &str) -> Result<(), proptest::test_runner::TestCaseError> {
    let expected = CALL.find(text).map(|found| found.as_str());
    prop_assert_eq!(extract(text), expected);
    let found = parse(text).map(|(name, arguments)| {
        let arguments =
            arguments.into_iter().map(|(name, value)| (name, value.as_text().unwrap().to_owned()));
        (name, arguments.collect::<Vec<_>>())
    });
    prop_assert_eq!(found, by_patterns(text));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1024) })]

    #[test]
    fn texts_of_the_signs_that_matter(text in r#"[ab_1=' "\[\](),.\n\t-]{0,40}"#) {
        check(&text)?;
    }

    #[test]
    fn calls_with_odd_arguments(arguments in r#"([ab]{1,2} ?= ?['"\[]?[ab' "\[\]=,.]{0,6}['"\]]?(, )?){0,4}"#) {
        check(&format!("x [A({arguments})] y"))?;
    }
}
