use std::sync::LazyLock;

use planproof_report::step_summary::{SUMMARY_BYTES_MAX, write};
use planproof_sim::SimKind;
use planproof_synth::SynthesisOptions;
use proptest::prelude::*;
use pulldown_cmark::{Event, Options as MarkdownOptions, Parser, Tag, TextMergeStream};

use crate::campaigns::TestCampaign;
use crate::mixed::{hostile, mixed};

fn summary(campaign: &TestCampaign) -> String {
    let mut out = Vec::new();
    write(&campaign.reported(), &mut out).expect("memory can be written");
    String::from_utf8(out).expect("Markdown is text")
}

fn markdown(text: &str) -> impl Iterator<Item = Event<'_>> {
    // Parsed the way GitHub does, as far as this parser can.
    let options = MarkdownOptions::ENABLE_TABLES
        | MarkdownOptions::ENABLE_STRIKETHROUGH
        | MarkdownOptions::ENABLE_TASKLISTS
        | MarkdownOptions::ENABLE_FOOTNOTES
        | MarkdownOptions::ENABLE_MATH
        | MarkdownOptions::ENABLE_GFM;
    TextMergeStream::new(Parser::new_ext(text, options))
}

#[test]
fn a_run_of_every_kind() {
    insta::assert_snapshot!(summary(&mixed("tools@sim/test", Some("sim/test"))));
}

#[test]
fn only_simulations_are_called_so() {
    assert!(summary(&mixed("tools@sim/test", Some("sim/test"))).contains("SIMULATION"));
    assert!(!summary(&mixed("command:agent", None)).contains("SIMULATION"));
}

#[test]
fn what_is_too_long_is_left_out_with_a_note() {
    let mut campaign = TestCampaign::simulated(SimKind::Careless, SynthesisOptions::default(), 100);
    let whole = summary(&campaign);
    assert!(whole.contains("#### 5.") && !whole.contains("too long"));
    for place in 0..100 {
        campaign.change(place, |case| case.paragraph = "*".repeat(SUMMARY_BYTES_MAX / 5));
    }
    let cut = summary(&campaign);
    assert!(cut.len() <= SUMMARY_BYTES_MAX, "{} bytes", cut.len());
    assert!(cut.contains("#### 2.") && !cut.contains("#### 3."));
    assert!(cut.contains("*Findings that are too long for this page: 3.*"));
    assert!(cut.lines().last().is_some_and(|line| line.starts_with("Seed 7, campaign ")), "the end is kept");
}

/// What a text must not be able to create.
fn is_forbidden(event: &Event<'_>) -> bool {
    match event {
        Event::Start(tag) => !matches!(
            tag,
            Tag::Paragraph
                | Tag::Heading { .. }
                | Tag::BlockQuote(None)
                | Tag::List(None)
                | Tag::Item
                | Tag::Emphasis
                | Tag::Strong
                | Tag::Table(_)
                | Tag::TableHead
                | Tag::TableRow
                | Tag::TableCell
        ),
        Event::InlineHtml(html) => !matches!(&**html, "<strong>" | "</strong>"),
        Event::End(_) | Event::Text(_) | Event::Code(_) | Event::SoftBreak => false,
        _ => true,
    }
}

/// The structure of the page, without its texts.
fn shape(text: &str) -> Vec<String> {
    let is_part = |event: &Event<'_>| matches!(event, Event::Start(_) | Event::Code(_));
    let name = |event: Event<'_>| match event {
        Event::Code(_) => "code".to_owned(),
        event => format!("{event:?}").split(['(', '{']).take(2).collect(),
    };
    markdown(text).filter(is_part).map(name).collect()
}

/// `Ok` if the text became nothing but text.
fn check(text: &str) -> Result<(), TestCaseError> {
    let page = summary(&hostile(text));
    for event in markdown(&page) {
        prop_assert!(!is_forbidden(&event), "{:?} in\n{}", event, page);
        // GitHub turns plain text outside of code into links and mentions.
        if let Event::Text(text) = event {
            let lower = text.to_lowercase();
            prop_assert!(!["://", "www."].iter().any(|link| lower.contains(link)), "{}", text);
            let characters: Vec<char> = text.chars().collect();
            let is_name = |pair: &[char]| "@#".contains(pair[0]) && pair[1].is_alphanumeric();
            prop_assert!(!characters.windows(2).any(is_name), "{}", text);
        }
    }
    static HARMLESS: LazyLock<Vec<String>> = LazyLock::new(|| shape(&summary(&hostile("harmless"))));
    prop_assert_eq!(&shape(&page), &*HARMLESS, "{}", page);
    Ok(())
}

#[test]
fn texts_by_somebody_who_means_harm_stay_texts() {
    for text in [
        "    code",
        "\u{b}\u{c}\t  code",
        "\n\n# heading\n\n|a|b|\n|-|-|\n",
        "1. one",
        "![x](https://a.bc/x.png)",
        "[click](javascript:alert(1))",
        "<img src=x onerror=alert(1)>",
        "</strong><script>alert(1)</script>",
        "&lt;b&gt; &#60;b&#62;",
        "@everyone #1 :smile: https://a.bc www.a.bc a@b.cd",
        "[^1]: note\n[a]: https://a.bc",
        "``` `code` ~~~",
        "$x$ $$y$$",
        "**_~~bold~~_**",
        "a\\",
        "a  \nb",
        "",
    ] {
        if let Err(error) = check(text) {
            panic!("{text:?}: {error}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_text_can_make_anything_but_text(
        text in prop_oneof![
            any::<String>(),
            "[\\x20-\\x7e]{1,40}",
            "( |\t|\n|#|>|-|\\*|\\||`|~|\\[x\\]|\\[a\\]\\(b\\)|!\\[|<b>|<!--|&lt;|\\$|1\\.|www\\.a\\.bc|@a|\\\\){1,12}",
        ]
    ) {
        check(&text)?;
    }
}
