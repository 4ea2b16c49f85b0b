use planproof_report::CommandLines;
use planproof_report::junit::{BODY_CHARACTERS_MAX, MESSAGE_CHARACTERS_MAX, write};
use planproof_suite::Unscored;
use proptest::prelude::*;
use roxmltree::{Document, Node};

use crate::campaigns::TestCampaign;
use crate::mixed::{hostile, mixed};

fn xml(campaign: &TestCampaign) -> String {
    let mut out = Vec::new();
    write(&campaign.reported(), &mut out).expect("memory can be written");
    String::from_utf8(out).expect("XML is text")
}

fn elements<'a, 'i>(document: &'a Document<'i>, name: &'static str) -> Vec<Node<'a, 'i>> {
    document.descendants().filter(|node| node.has_tag_name(name)).collect()
}

#[test]
fn a_run_of_every_kind() {
    insta::assert_snapshot!(xml(&mixed("tools@sim/test", Some("sim/test"))));
}

#[test]
fn counts_agree_with_the_report() {
    let campaign = TestCampaign::of_everything(130);
    let text = xml(&campaign);
    let document = Document::parse(&text).expect("it is XML");
    let report = &campaign.report;
    let counts = [
        ("tests", "testcase", 130),
        ("failures", "failure", report.failed),
        ("errors", "error", report.unscored),
        ("skipped", "skipped", report.not_run),
    ];
    for (attribute, name, count) in counts {
        assert!(count > 0, "{attribute}");
        assert_eq!(elements(&document, name).len() as u64, count, "{name}");
        for suite in ["testsuites", "testsuite"] {
            let [suite] = elements(&document, suite)[..] else { panic!("one {suite}") };
            assert_eq!(suite.attribute(attribute), Some(count.to_string().as_str()), "{suite:?} {attribute}");
        }
    }
    for (class, count) in &report.classes {
        let failures = elements(&document, "failure");
        let of_class = failures.iter().filter(|failure| failure.attribute("type") == Some(class));
        assert_eq!(of_class.count() as u64, *count, "{class}");
    }
    assert_eq!(xml(&campaign), text);
}

#[test]
fn long_texts_are_cut() {
    let mut campaign = mixed("tools@sim/test", Some("sim/test"));
    campaign.change(1, |case| case.paragraph = "long ".repeat(BODY_CHARACTERS_MAX));
    campaign.outcomes[3].verdict = Err(Unscored::Outside { reason: "why ".repeat(BODY_CHARACTERS_MAX) });
    let text = xml(&campaign);
    let document = Document::parse(&text).expect("it is XML");
    let nodes = [elements(&document, "failure"), elements(&document, "error")].concat();
    let body = |node: &Node<'_, '_>| node.text().unwrap_or_default().to_owned();
    for node in &nodes {
        assert!(body(node).chars().count() <= BODY_CHARACTERS_MAX);
        assert!(node.attribute("message").is_some_and(|text| text.chars().count() <= MESSAGE_CHARACTERS_MAX));
    }
    assert!(body(&nodes[0]).ends_with("…\nsee it:   planproof runs show 20261120-1233-abcd --case 7-1\n"));
    assert!(
        nodes
            .iter()
            .any(|node| body(node).ends_with("…\ntry again: planproof test --resume 20261120-1233-abcd\n"))
    );
}

#[test]
fn a_store_of_its_own_is_named_in_commands() {
    let mut campaign = mixed("tools@sim/test", Some("sim/test"));
    campaign.commands = CommandLines::new("test", Some("my runs.db"), ["tools@sim/test"]);
    assert!(xml(&campaign).contains("--case 7-1 --store 'my runs.db'\n"));
}

/// Whether a character is not seen by itself, or turns its neighbours around. The joiners are needed by scripts.
fn is_hidden(character: char) -> bool {
    let code = u32::from(character);
    let formats = [
        0xad..=0xad,
        0x61c..=0x61c,
        0x180e..=0x180e,
        0x200b..=0x200b,
        0x200e..=0x200f,
        0x2028..=0x202e,
        0x2060..=0x206f,
        0xfeff..=0xfeff,
        0xfff9..=0xfffb,
        0xfdd0..=0xfdef,
        0xe0000..=0xe007f,
    ];
    (0x7f..=0x9f).contains(&code)
        || code % 0x10000 >= 0xfffe
        || formats.iter().any(|range| range.contains(&code))
}

/// The text in the form in which XML contains it.
fn visible(text: &str) -> String {
    let show = |character: char| match character {
        '\t' | '\n' | '\r' => character.to_string(),
        '\0'..='\u{1f}' => {
            char::from_u32(0x2400 + u32::from(character)).expect("there is a picture for each").to_string()
        }
        '\u{fffe}' | '\u{ffff}' => '\u{fffd}'.to_string(),
        hidden if is_hidden(hidden) => format!("⟨U+{:04X}⟩", u32::from(hidden)),
        _ => character.to_string(),
    };
    text.chars().map(show).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_text_gives_xml_that_holds_it(
        text in prop_oneof![any::<String>(), "[\\x00-\\x7f]{0,40}", "[<&\"'\\]>\\r\\n\\t]{0,12}"]
    ) {
        let written = xml(&hostile(&text));
        let document = Document::parse(&written);
        prop_assert!(document.is_ok(), "{:?} in\n{}", document, written);
        let document = document.expect("it is XML");
        let [suite] = elements(&document, "testsuite")[..] else { panic!("one suite") };
        let shown = visible(&text);
        prop_assert_eq!(suite.attribute("name"), Some(shown.as_str()));
        prop_assert_eq!(elements(&document, "testcase").len(), 2);
        let [error] = elements(&document, "error")[..] else { panic!("one error") };
        prop_assert!(error.text().is_some_and(|body| body.contains(&shown)));
    }
}
