use planproof_synth::file::{read_case, write_case};

use crate::case;

#[test]
fn a_case_survives_the_file() {
    for index in 0..300 {
        let case = case(2..=24, index);
        let line = write_case(&case);
        assert!(!line.contains('\n'));
        let back = read_case(&line).expect("what was written can be read");
        assert_eq!(back, case);
    }
}

#[test]
fn bad_case_files_are_told_what_is_wrong() {
    let good = include_str!("../../testdata/chain_case.json").trim();
    assert!(read_case(good).is_ok());
    for (from, to, part) in [
        ("{", "[", "not a planproof/case/v1 document"),
        ("case/v1", "case/v9", "schema is \"planproof/case/v9\""),
        ("\"topic\":", "\"topics\":", "unknown field `topics`"),
        ("\"kind\":\"before\"", "\"kind\":\"meets\"", "unknown variant `meets`"),
        ("\"id\":\"a2\"", "\"id\":\"a1\"", "\"a1\" is used twice"),
        ("\"id\":\"c2\"", "\"id\":\"c1\"", "\"c1\" is used twice"),
        ("\"second\":\"a3\"", "\"second\":\"a9\"", "\"c2\" names action \"a9\""),
        ("\"second\":\"a3\"", "\"second\":\"a1\"", "c1, c2 form a cycle"),
        ("\"end\":75", "\"end\":99", "37..99; the paragraph has 76 characters"),
        (
            "\"correct_plans\":\"1\"",
            "\"correct_plans\":\"2\"",
            "\"correct_plans\":\"2\",\"bits\":2.584963}, but",
        ),
        ("\"bits\":2.5", "\"bits\":3.5", "make it"),
        ("\"tool\":\"feed_mixing\"", "\"tool\":\"feed\"", "names tool \"feed\""),
        ("\"name\":\"roof_painting\"", "\"name\":\"feed_mixing\"", "two tools have the same name"),
        (
            "Do these.\\n\\nFeed mixing precedes",
            "Do these.\\n\\nFeed mixing follows",
            "query does not contain its paragraph",
        ),
        ("\"options\":{\"actions\":3", "\"options\":{\"actions\":4", "options.actions is 4"),
        ("\"feasible\":true", "\"feasible\":false", "has a `conflict` if it is not `feasible`"),
        ("\"feasible\":true", "\"feasible\":false,\"conflict\":[1,2]", "its constraints can all hold"),
        ("\"seed\":\"0\"", "\"seed\":\"x\"", "seed \"x\""),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from}");
        let message = read_case(&bad).expect_err(part).to_string();
        assert!(message.contains(part), "{message}");
    }
    assert!(read_case("").is_err());
    assert!(read_case(&good[..good.len() / 2]).is_err());
}
