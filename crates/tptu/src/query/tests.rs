use super::*;
use crate::tool::ToolName;

fn check(reference: &str, subtask: &str, right: &[&str], wrong: &[&str]) {
    let step = GoldStep {
        tool: ToolName::Sql,
        subtask: subtask.to_owned(),
        facts: Vec::new(),
        reference: reference.to_owned(),
    };
    let found = |text: &str| contradiction(&step, "", &tokens(text));
    for text in right.iter().chain([&subtask]) {
        assert_eq!(found(text), None, "{text}");
    }
    for text in wrong {
        assert!(found(text).is_some(), "{text}");
    }
}

#[test]
fn comparisons_have_a_direction() {
    check(
        "SELECT count(*) FROM Person WHERE age > 40",
        "Count the people who are over 40",
        &[
            "people older than forty",
            "people with age > 40",
            "people whose age exceeds 40",
            "people above the age of 40",
            "people of at least 41 years",
            "people aged 41 or older",
            "everybody who is more than forty years old",
        ],
        &[
            "people under 40",
            "people younger than 40",
            "people with age < 40",
            "people aged 40 or older",
            "people of at least 40",
            "people who are no older than 40",
            "people of at most 40",
            "people who are 40",
            "people not over 40",
            "people over 50",
            "people",
            "the average age of people over 40",
        ],
    );
    check(
        "SELECT Name FROM Singers WHERE Album_Count > (SELECT Album_Count FROM Singers WHERE Name = 'Elena Voss')",
        "List the singers with more albums than Elena Voss",
        &["singers whose album count is greater than that of Elena Voss"],
        &["singers with fewer albums than Elena Voss", "singers with as many albums as Elena Voss"],
    );
}

#[test]
fn what_is_excluded_matters() {
    check(
        "SELECT Name FROM Journal WHERE Journal_ID NOT IN (SELECT Journal_ID FROM CoverPersonality)",
        "List the journals without a cover personality",
        &["journals that never had a cover personality", "journals with no cover person, without duplicates"],
        &["journals with a cover personality", "count the journals without a cover personality"],
    );
    check(
        "SELECT name FROM Person WHERE ability IN ('cooking', 'pastry')",
        "Find the people whose ability is cooking or pastry",
        &["people who are skilled in cooking or pastry, without repetition"],
        &["people whose ability is neither cooking nor pastry", "people except those with cooking or pastry"],
    );
}
