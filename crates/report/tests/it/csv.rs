use csv::{ReaderBuilder, StringRecord};
use planproof_order::OrderSuite;
use planproof_report::csv::{columns, write};
use proptest::prelude::*;

use crate::campaigns::TestCampaign;
use crate::mixed::{hostile, mixed};

fn table(campaign: &TestCampaign) -> String {
    let mut out = Vec::new();
    write(&campaign.reported(), &mut out).expect("memory can be written");
    String::from_utf8(out).expect("CSV is text")
}

/// The rows, after a check of the header.
fn rows(text: &str) -> Vec<StringRecord> {
    let mut reader = ReaderBuilder::new().from_reader(text.as_bytes());
    assert_eq!(reader.headers().expect("there is a header"), columns(&OrderSuite::default()));
    reader.records().map(|row| row.expect("all rows are as long as the header")).collect()
}

fn cell<'a>(row: &'a StringRecord, column: &str) -> &'a str {
    let place = columns(&OrderSuite::default())
        .iter()
        .position(|name| *name == column)
        .expect("there is such a column");
    &row[place]
}

#[test]
fn a_run_of_every_kind() {
    insta::assert_snapshot!(table(&mixed("tools@sim/test", Some("sim/test"))));
}

#[test]
fn rows_agree_with_the_report() {
    let campaign = TestCampaign::of_everything(130);
    let report = &campaign.report;
    let rows = rows(&table(&campaign));
    let count = |column, value| rows.iter().filter(|row| cell(row, column) == value).count() as u64;
    assert_eq!(rows.len() as u64, report.cases);
    let passed = ["true", "false", ""].map(|value| count("passed", value));
    assert_eq!(passed, [report.passed, report.failed, report.unscored]);
    assert_eq!(count("unscored", ""), report.scored());
    for (class, failed) in &report.classes {
        assert_eq!(count("class", class), *failed, "{class}");
    }
    let has =
        |flag: &str| rows.iter().filter(|row| cell(row, "flags").split(' ').any(|word| word == flag)).count();
    for (flag, runs) in &report.flags {
        assert_eq!(has(flag) as u64, *runs, "{flag}");
    }
    let tokens: u64 =
        rows.iter().map(|row| cell(row, "input_tokens").parse::<u64>().expect("a number")).sum();
    assert_eq!(Some(tokens), report.tokens.map(|tokens| tokens.input));
}

/// The text with the symbols and names of characters replaced by the characters.
fn read_back(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let named = rest.strip_prefix("⟨U+").and_then(|rest| rest.split_once('⟩'));
        let named = named
            .and_then(|(code, after)| Some((char::from_u32(u32::from_str_radix(code, 16).ok()?)?, after)));
        let (read, after) = named.unwrap_or((character, &rest[character.len_utf8()..]));
        out.push(match read {
            '\u{2400}'..='\u{241f}' => char::from_u32(u32::from(read) - 0x2400).expect("a control character"),
            _ => read,
        });
        rest = after;
    }
    out
}

#[test]
fn no_cell_reaches_a_terminal_as_a_command() {
    let written = table(&hostile("a\u{1b}[1m\u{7}\u{202e}\tb\nc"));
    assert!(written.contains("a␛[1m␇⟨U+202E⟩\tb\nc"), "{written}");
    assert!(!written.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{written}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_text_comes_back_and_is_no_formula(
        text in prop_oneof![
            any::<String>(),
            "[=+@\\-\\t\\r\\n\",;']{1,6}[a-z]{0,3}",
            "[\\x00-\\x1f\\x7f-\\xad\\u{2028}-\\u{202e}\\u{feff}\\u{e0020}⟨⟩U+a-z]{1,9}",
        ]
    ) {
        let written = table(&hostile(&text));
        let rows = rows(&written);
        prop_assert_eq!(rows.len(), 2);
        for row in &rows {
            prop_assert_eq!(row.len(), columns(&OrderSuite::default()).len());
            for column in ["topic", "agent", "model", "campaign"] {
                let cell = cell(row, column);
                let shown = cell.strip_prefix('\'').filter(|_| !text.starts_with('\'')).unwrap_or(cell);
                prop_assert_eq!(read_back(shown), read_back(&text), "{:?}", cell);
            }
            for cell in row {
                prop_assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']), "{:?}", cell);
                let acts = |c: char| c.is_control() && !"\t\r\n".contains(c) || "\u{2028}\u{202e}\u{feff}".contains(c);
                prop_assert!(!cell.contains(acts), "{:?}", cell);
            }
        }
        prop_assert_eq!(cell(&rows[1], "passed"), "");
    }
}
