use super::*;
use crate::fault::class_of;
use crate::question::{AnswerPart, ToolQuestion, own};

fn step(tool: ToolName, subtask: &str, facts: &[&str], reference: &str) -> GoldStep {
    let facts = facts.iter().map(|it| (*it).to_owned()).collect();
    GoldStep { tool, subtask: subtask.to_owned(), facts, reference: reference.to_owned() }
}

fn right() -> ToolQuestion {
    let plan = vec![
        step(ToolName::Python, "Take the cube root of 27", &["cube root", "27"], "27 ** (1 / 3)"),
        step(ToolName::Sql, "List the journals", &["journal"], "SELECT Name FROM Journal"),
    ];
    ToolQuestion {
        id: "q".to_owned(),
        evaluations: vec![PaperEvaluation::Pairs],
        question: "Take the cube root of 27, and list the journals.".to_owned(),
        tables: Vec::new(),
        plan,
        parts: Vec::new(),
        answer: vec![AnswerPart::Number(3.0), AnswerPart::Rows(Vec::new())],
        ordered: false,
        printed: false,
    }
}

/// The faults of texts, in words, and the class of all.
fn faults(evaluation: PaperEvaluation, texts: &[&str]) -> (Vec<String>, Option<&'static str>) {
    let faults = match read(evaluation, texts) {
        Ok(plan) => judge(&plan, &RightPlan::of(&right()).unwrap()).unwrap().faults,
        Err(fault) => vec![fault],
    };
    (faults.iter().map(ToString::to_string).collect(), class_of(&faults))
}

#[track_caller]
fn check(evaluation: PaperEvaluation, text: &str, expected: &[&str], class: Option<&str>) {
    assert_eq!(
        faults(evaluation, &[text]),
        (expected.iter().map(|it| (*it).to_owned()).collect(), class),
        "{text}"
    );
}

#[test]
fn the_order_of_tools() {
    let check = |text, expected: &[&str], class| check(PaperEvaluation::ToolOrder, text, expected, class);
    check(r#"["PythonREPL", "SQL Generator"]"#, &[], None);
    check("Tools: ['python', 'sql'].", &[], None);
    let swapped = [
        "step 1: SQL generator instead of Python generator",
        "step 2: Python generator instead of SQL generator",
    ];
    check(r#"["sql", "python"]"#, &swapped, Some("task_not_understood"));
    check(r#"["python"]"#, &["step 2 is missing: SQL generator"], Some("task_not_understood"));
    check(r#"["python", "sql", "python"]"#, &["step 3 is one too many"], Some("task_not_understood"));
    check(r#"["python", "Sheets"]"#, &["step 2: there is no tool `Sheets`"], Some("task_not_understood"));
    let format = Some("wrong_format");
    check("Python, then SQL", &["no list of the demanded form: there is none"], format);
    // Names of tools need no quotes; other words do.
    check("[Python, SQL]", &[], None);
    check("Tool order: [Python generator, SQL generator]", &[], None);
    check("[SQL generator]", &[swapped[0], "step 2 is missing: SQL generator"], Some("task_not_understood"));
    let unquoted = "no list of the demanded form: a text stands without quotes, at character 2";
    check("[Sheets, Slides]", &[unquoted], format);
    check("[]", &["no list of the demanded form: it is empty"], format);
    check(r#"["python", 2]"#, &["item 2 is no name of a tool"], format);
}

#[test]
fn two_lists_have_the_same_length() {
    let check =
        |text, expected: &[&str], class| check(PaperEvaluation::ToolSubtaskLists, text, expected, class);
    check("Tools: ['python', 'sql']\nSubtasks: ['the cube root of 27', 'all journals']", &[], None);
    check("[['python', 'sql'], ['the cube root of 27', 'all journals']]", &[], None);
    check("['python', 'sql'] ['the cube root of 27']", &["2 tools, but 1 sub-tasks"], Some("wrong_format"));
    let missing = "no list of the demanded form: the list of sub-tasks is missing";
    check("['python', 'sql']", &[missing], Some("wrong_format"));
    check("[Python generator, SQL generator]\n['the cube root of 27', 'all journals']", &[], None);
    let cube = ["step 1: the sub-task is another one: it gives 19683 instead of 3"];
    check("['python', 'sql'] ['the cube of 27', 'all journals']", &cube, Some("task_not_understood"));
}

#[test]
fn pairs_keep_tool_and_sub_task_together() {
    for evaluation in [PaperEvaluation::Pairs, PaperEvaluation::PairsUnrelated] {
        let check = |text, expected: &[&str], class| check(evaluation, text, expected, class);
        check("[{'python': 'the cube root of 27'}, {'sql': 'all journals'}]", &[], None);
        check("{'Python generator': 'the cube root of 27', 'SQL generator': 'all journals'}", &[], None);
        let turned = [
            "step 1: SQL generator instead of Python generator",
            "step 2: Python generator instead of SQL generator",
        ];
        // The order is that of the text, whatever that of the keys.
        check(
            "Plan: {\"sql\": \"all journals\", \"python\": \"the cube root of 27\"}",
            &turned,
            Some("task_not_understood"),
        );
        let both = "[{'python': 'the cube root of 27', 'sql': 'all journals'}]";
        check(both, &["item 1 is no {tool: sub-task}"], Some("wrong_format"));
        let words = "[{'tool': 'python', 'subtask': 'the cube root of 27'}]";
        check(words, &["item 1 is no {tool: sub-task}"], Some("wrong_format"));
        let distractor = "[{'python': 'the cube root of 27'}, {'Bing Searcher': 'all journals'}]";
        check(distractor, &["step 2: the Bing searcher does not belong here"], Some("task_not_understood"));
        let repeated = "[{'python': 'the cube root of 27'}, {'sql': 'all journals'}, {'SQL Generator': 'All journals!'}]";
        check(repeated, &["step 3 repeats step 2"], Some("endless_extension"));
        let in_other_words =
            "[{'python': 'the cube root of 27'}, {'sql': 'all journals'}, {'sql': 'every journal there is'}]";
        check(in_other_words, &["step 3 repeats step 2"], Some("endless_extension"));
    }
}

#[test]
fn sequential_pairs_come_one_a_turn() {
    let faults = |texts: &[&str]| faults(PaperEvaluation::SequentialPairs, texts);
    let right = (Vec::new(), None);
    assert_eq!(
        faults(&["{'python': 'the cube root of 27'}", "Next: {'sql': 'all journals'}", "Done."]),
        right
    );
    assert_eq!(faults(&["{'python': 'the cube root of 27'}\n{'sql': 'all journals'}"]), right);
    let several = faults(&["{'python': 'the cube root of 27'} {'sql': 'all journals'}", "{'sql': 'x'}"]);
    assert_eq!(several, (vec!["turn 1 has 2 steps instead of one".to_owned()], Some("wrong_format")));
    let endless = faults(&["{'python': 'cube root of 27'}", "{'python': 'cube root of 27'}"]);
    assert_eq!(endless, (vec!["step 2 repeats step 1".to_owned()], Some("endless_extension")));
    assert_eq!(faults(&["I am done."]).1, Some("wrong_format"));
    assert_eq!(faults(&[]).1, Some("wrong_format"));
}

#[test]
fn what_is_written_for_our_own_plans_is_right() {
    for question in own().unwrap() {
        for evaluation in question.evaluations.iter().filter(|it| it.is_planning()) {
            let text = written(*evaluation, &question.plan);
            let plan = read(*evaluation, &[&text]).unwrap();
            let compared = judge(&plan, &RightPlan::of(&question).unwrap()).unwrap();
            assert_eq!(compared.faults, [], "{}: {text}", question.id);
            // Nothing was executed.
            let is_written = *evaluation != PaperEvaluation::ToolOrder;
            assert_eq!(compared.by_words.len(), if is_written { plan.len() } else { 0 });
        }
    }
}
