//! Runs with planted faults, each in its class.

use std::sync::Arc;

use planproof_plan::subtasks::Asking;
use planproof_suite::{Case, CaseSelection, Class, Suite, Unscored};
use planproof_tptu::{CALLS_AGAIN_MAX, EvaluationDetail, Tptu};
use planproof_trace::EndReason;
use planproof_trace::notation::parse;
use serde_json::json;

fn case(id: &str) -> Arc<dyn Case> {
    let cases = Tptu::new().load(None, &CaseSelection::First, None).unwrap();
    cases.into_iter().find(|case| case.card().id == id).unwrap_or_else(|| panic!("{id}"))
}

/// Judges a run, and compares class and gist.
#[track_caller]
fn check(case: &Arc<dyn Case>, events: &str, class: Option<&str>, gist: &str) -> EvaluationDetail {
    let verdict = case.judge(&parse(events).unwrap()).unwrap();
    let explanation = case.explain(&verdict);
    assert_eq!((verdict.class().map(Class::as_str), &*explanation.gist), (class, gist), "{events}");
    let detail = EvaluationDetail::of(&verdict).unwrap();
    assert_eq!((detail.passed, detail.class.as_deref()), (class.is_none(), class));
    detail
}

/// An answer in the notation of traces.
fn answer(text: &str) -> String {
    format!("answer {}", json!(text))
}

fn call(tool: &str, argument: &str, text: &str, result: &str) -> String {
    format!("call {tool} {} | ok {}", json!({argument: text}), json!(result))
}

const ENDLESS: Option<&str> = Some("endless_extension");
const FORMAT: Option<&str> = Some("wrong_format");
const TASK: Option<&str> = Some("task_not_understood");
const SUMMARY: Option<&str> = Some("missing_summary");

pub(crate) fn plans_land_in_their_classes() {
    let pairs = case("tptu-planning-02.pairs");
    let check_plan = |text: &str, class, gist: &str| check(&pairs, &answer(text), class, gist);
    let right = r#"[{"Python generator": "the square root of 1521"}, {"SQL generator": "count the women"}]"#;
    check_plan(right, None, "passed");
    // An agent that carries its plan out says it in its first turn.
    let carried_out = format!("say {} | {}", json!(right), answer("It is 39, and there are 13 women."));
    check(&pairs, &carried_out, None, "passed");
    check_plan("Python first.", FORMAT, "no list of the demanded form: there is none");
    let swapped = r#"[{"sql": "the square root of 1521"}, {"sql": "count the women"}]"#;
    let detail = check_plan(swapped, TASK, "step 1: SQL generator instead of Python generator");
    // The sub-task of the step with the right tool was judged by its words.
    assert_eq!(detail.flags, ["partly", "by_words"]);
    assert_eq!(detail.by_words, [2]);
    let again =
        r#"[{"python": "the square root of 1521"}, {"sql": "count the women"}, {"sql": "count the women"}]"#;
    check_plan(again, ENDLESS, "step 3 repeats step 2");

    let lists = case("tptu-planning-02.tool-subtask-lists");
    let odd = r#"["Python generator", "SQL generator"] ["the square root of 1521"]"#;
    check(&lists, &answer(odd), FORMAT, "2 tools, but 1 sub-tasks");

    let unrelated = case("tptu-distractors-03.pairs-unrelated");
    let weather = r#"[{"Weather query tool": "23 degrees Celsius in Fahrenheit"}]"#;
    check(&unrelated, &answer(weather), TASK, "step 1: the Weather query tool does not belong here");

    let sequential = case("tptu-planning-02.sequential-pairs");
    let turns = |second: &str| {
        let first = json!(r#"{"python": "the square root of 1521"}"#);
        format!("say {first} | say {} | say \"Done.\" | {}", json!(second), answer("39 and 13"))
    };
    check(&sequential, &turns(r#"{"sql": "count the women"}"#), None, "passed");
    check(&sequential, &turns(r#"{"python": "the square root of 1521"}"#), ENDLESS, "step 2 repeats step 1");
    check(&sequential, "limit iterations 50", Some("timeout"), "limit reached: iterations 50");
    check(&sequential, "limit reply_tokens 9", Some("reply_limit"), "limit reached: reply_tokens 9");
    let calls = call("sql", "query", "SELECT 1", "1").replace(" | ok", " #a | ok #a");
    let endless = format!("{calls} | {} | limit iterations 50", calls.replace("#a", "#b"));
    check(&sequential, &endless, ENDLESS, "step 2 repeats step 1; limit reached: iterations 50");
    check(&sequential, r#"failed "exit status 1""#, Some("agent_failed"), "the agent broke: exit status 1");
    let unscored = sequential.judge(&parse(r#"unscored "gone""#).unwrap()).unwrap_err();
    assert_eq!(unscored, Unscored::Outside { reason: "gone".into() });
}

pub(crate) fn statements_land_in_their_classes() {
    let men = case("tptu-simple-02.simple-sql");
    check(&men, &answer("```sql\nSELECT sum(sex = 'male') AS men FROM Person;\n```"), None, "passed");
    let called = call("sql", "query", "SELECT count(*) FROM Person WHERE sex = 'male'", "12");
    check(&men, &format!("{called} | {}", answer("There are 12 men.")), None, "passed");
    check(&men, &answer("There are 12 men."), FORMAT, "there is no SQL statement");
    check(&men, &answer("SELECT 13"), TASK, "other rows than the right ones: missing 12; too many: 13");
    let unknown = "it does not run: no such table: Man";
    check(&men, &answer("SELECT count(*) FROM Man"), TASK, unknown);
    let harm = "it does not run: DELETE is not allowed: this database can only be read; write a SELECT";
    check(&men, &answer("```sql\nWITH a AS (SELECT 1) DELETE FROM Person\n```"), TASK, harm);
    let detail = check(&men, &answer("SELECT 12"), None, "passed");
    assert_eq!(detail.found, "SELECT 12");

    // A sentence that begins like a statement replaces no call, and is not a statement either.
    for sentence in ["With the query above I found 12 men.", "It says:\nSelect queries are easy, so 12."] {
        check(&men, &format!("{called} | {}", answer(sentence)), None, "passed");
    }
    check(&men, &answer("With the query above I found 12 men."), FORMAT, "there is no SQL statement");
    // A statement that runs is the answer, with a label or without one.
    for words in ["SELECT 13", "With all of this: SELECT 13"] {
        let other = "other rows than the right ones: missing 12; too many: 13";
        check(&men, &format!("{called} | {}", answer(words)), TASK, other);
    }

    let ordered = case("tptu-simple-06.simple-sql");
    let right = "SELECT name FROM Person ORDER BY age DESC LIMIT 3";
    check(&ordered, &answer(right), None, "passed");
    let other = answer(&format!("SELECT name FROM ({right}) ORDER BY name DESC"));
    let gist = "other rows than the right ones: row 1 is Viktor Salas instead of Clara Engstrom";
    check(&ordered, &other, TASK, gist);
}

pub(crate) fn code_lands_in_its_classes() {
    let cube_root = case("tptu-math-04.math-code");
    let python = |code: &str, result: &str| call("python", "code", code, result);
    let run = |code: &str, result: &str, text: &str| format!("{} | {}", python(code, result), answer(text));
    check(&cube_root, &run("1728 ** (1 / 3)", "11.999999999999998", "Answer: 12"), None, "passed");
    check(&cube_root, &answer("Answer: 12"), FORMAT, "there is no call of the Python tool");
    check(
        &cube_root,
        &run("1728 ** 3", "5159780352", "Answer: 5159780352"),
        TASK,
        "5159780352 instead of 12",
    );
    check(
        &cube_root,
        &run("1728 ** (1 / 3)", "12.0", "Answer: 13"),
        SUMMARY,
        "part 1 of the answer is not what its tool gave: 13 instead of 12",
    );
    check(
        &cube_root,
        &run("1728 ** (1 / 3)", "12.0", "I ran it."),
        SUMMARY,
        "part 1 of the answer is missing",
    );
    check(&cube_root, &run("print(1)", "None", "Answer: 12"), TASK, "None instead of 12");
    let broken = format!(r#"call python {{"code": "x"}} | err "NameError: x" | {}"#, answer("Answer: 12"));
    check(&cube_root, &broken, TASK, "it does not run: NameError: x");
    let sql = format!("{} | {}", call("sql", "query", "SELECT 12", "12"), answer("Answer: 12"));
    check(&cube_root, &sql, TASK, "step 1: SQL generator instead of Python generator");
}

pub(crate) fn answers_land_in_their_classes() {
    let mixed = case("tptu-mixed-01.end-to-end");
    let python = call("python", "code", "import math\nmath.exp(3)", "20.085536923187668");
    let reference = "SELECT Name, Language FROM Journal WHERE Journal_ID NOT IN (SELECT Journal_ID FROM CoverPersonality)";
    let sql = call("sql", "query", reference, "...");
    let both = format!("{python} | {sql}");
    let journals = "The Economist: Chinese, Reader's Digest: English.";
    let run = |calls: &str, text: &str| format!("{calls} | {}", answer(text));
    check(&mixed, &run(&both, &format!("[20.08, \"{journals}\"]")), None, "passed");
    check(&mixed, &run(&both, &format!("So: [20.0855, \"{journals}\"].")), None, "passed");
    // The paper demands the right answer, and says nothing of how it was found.
    check(&mixed, &answer(&format!("[20.08, \"{journals}\"]")), None, "passed");
    check(
        &mixed,
        &run(&both, &format!("20.08; {journals}")),
        FORMAT,
        "no list of the demanded form: there is none",
    );
    let detail = check(&mixed, &run(&both, "[20.08]"), SUMMARY, "part 2 of the answer is missing");
    assert_eq!(detail.flags, ["tool_used", "partly"]);
    let unused = "part 2 of the answer is not what its tool gave: it does not name `the economist chinese`";
    check(&mixed, &run(&both, "[20.08, \"Kodo: Japanese\"]"), SUMMARY, unused);
    let memory = "part 2 of the answer is wrong, and the SQL generator was not asked";
    check(&mixed, &run(&python, "[20.08, \"Kodo: Japanese\"]"), SUMMARY, memory);
    let other = call("sql", "query", "SELECT Name, Language FROM Journal WHERE Journal_ID = 16", "...");
    let wrong = "part 2 of the answer is wrong: it does not name `the economist chinese`";
    check(&mixed, &run(&format!("{python} | {other}"), "[20.08, \"Kodo: Japanese\"]"), TASK, wrong);
    let cube = call("python", "code", "3 ** 3", "27");
    let cubed = run(&format!("{cube} | {sql}"), &format!("[27, \"{journals}\"]"));
    check(&mixed, &cubed, TASK, "part 1 of the answer is wrong: 27 instead of 20.08");
    let three = run(&both, &format!("[20.08, \"{journals}\", 3]"));
    check(&mixed, &three, FORMAT, "item 3 is no part of the answer");
    // Of many calls, only the last ones are executed again.
    let others = |count: usize| -> String {
        let other = |number: usize| call("sql", "query", &format!("SELECT {number}"), "...") + " | ";
        (0..count).map(other).collect()
    };
    let kodo = "[20.08, \"Kodo: Japanese\"]";
    let within = format!("{both} | {}{}", others(CALLS_AGAIN_MAX - 1), answer(kodo));
    check(&mixed, &within, SUMMARY, unused);
    let beyond = format!("{both} | {}{}", others(CALLS_AGAIN_MAX), answer(kodo));
    check(&mixed, &beyond, TASK, wrong);
    let again = both.replace(" | ok", " #c1 | ok #c1");
    let again = format!("{python} | {}", again.replacen("#c1", "#p2", 2).replacen("#c1", "#p3", 2));
    let repeated = run(&again, "[20.08]");
    check(&mixed, &repeated, ENDLESS, "step 2 repeats step 1");
    let passed = run(&again, &format!("[20.08, \"{journals}\"]"));
    let detail = check(&mixed, &passed, None, "passed");
    assert_eq!(detail.flags, ["tool_used", "repeated_call"]);
}

/// The trace of an agent that wrote these sub-tasks at once, with what else happened.
fn planned(pairs: &[(&str, &str)], rest: &str) -> String {
    let pairs: Vec<_> = pairs.iter().map(|(tool, text)| json!({*tool: *text})).collect();
    let plan = json!(json!(pairs).to_string());
    let prompt = json!(Asking::Plan.mark());
    format!("planner: section prompt environment {prompt} | planner: section plan model {plan} | {rest}")
}

pub(crate) fn plans_that_were_carried_out_land_in_their_classes() {
    let (root, women) = (("python", "the square root of 1521"), ("sql", "count the women"));
    // The answer does not matter: what was carried out is what is judged.
    let check_plan = |case: &Arc<dyn Case>, pairs: &[(&str, &str)], class, gist: &str| {
        check(case, &planned(pairs, &answer("39 and 13")), class, gist)
    };
    for evaluation in ["tool-order", "tool-subtask-lists", "pairs", "sequential-pairs"] {
        let case = case(&format!("tptu-planning-02.{evaluation}"));
        let detail = check_plan(&case, &[root, women], None, "passed");
        let is_by_words = evaluation != "tool-order";
        assert_eq!(detail.flags, if is_by_words { vec!["by_words", "one_step"] } else { vec!["one_step"] });
        check_plan(&case, &[women, root], TASK, "step 1: SQL generator instead of Python generator");
        check_plan(&case, &[root], TASK, "step 2 is missing: SQL generator");
        check_plan(&case, &[root, women, women], ENDLESS, "step 3 repeats step 2");
        check_plan(&case, &[], FORMAT, "no list of the demanded form: it is empty");
        let faults = "planner: section faults environment \"no list\" note=";
        for (kind, class) in [
            ("format", FORMAT),
            ("lengths", FORMAT),
            ("unknown_tool", TASK),
            ("endless", ENDLESS),
            ("no_summary", SUMMARY),
        ] {
            let rest = format!("{faults}\"{kind}\" | failed \"planner: no list\"");
            check(&case, &planned(&[root], &rest), class, "the agent broke: planner: no list");
        }
    }
    // Words that name no fact are wrong, unless a judge says otherwise; and right ones are wrong if it says so.
    let pairs = case("tptu-planning-02.pairs");
    let other = ("sql", "how many are not men");
    let judged = |word: &str| {
        let said = format!("judge: section judged model \"{word}\" note=\"step-2\" | ");
        said + &answer("39 and 13")
    };
    check_plan(
        &pairs,
        &[root, other],
        TASK,
        "step 2: the sub-task does not name `women` or `woman` or `female`",
    );
    check(&pairs, &planned(&[root, other], &judged("YES")), None, "passed");
    let denied = "step 2: the judge model says that the sub-task is another one";
    check(&pairs, &planned(&[root, women], &judged("No.")), TASK, denied);
    check(&pairs, &planned(&[root, women], &judged("Perhaps.")), None, "passed");
    let end = EndReason::Answered { text: "x".to_owned() };
    let asked = pairs.questions(&parse(&planned(&[root, other], "say \"x\"")).unwrap(), &end);
    let keys: Vec<&str> = asked.iter().map(|question| question.key.as_str()).collect();
    assert_eq!(keys, ["step-1", "step-2"]);
    assert!(asked[1].text.contains("how many are not men"), "{}", asked[1].text);
    assert!(case("tptu-planning-02.tool-order").questions(&[], &end).is_empty());

    // Of a wrong answer the sub-tasks say why.
    let mixed = case("tptu-mixed-01.end-to-end");
    let wrong = [("sql", "the exponential of 3"), ("sql", "journals with no cover personality")];
    let gist = "step 1: SQL generator instead of Python generator";
    check(&mixed, &planned(&wrong, &answer("[27, \"Kodo: Japanese\"]")), TASK, gist);
    let again = format!("{} | {}", planned(&[root, women, women], "say \"x\""), "limit iterations 50");
    let detail = check(&pairs, &again, ENDLESS, "step 3 repeats step 2; limit reached: iterations 50");
    assert_eq!(detail.ended.as_deref(), Some("limit reached: iterations 50"));
}

/// A sub-task with the call that was made for it and its result; without a result, the call failed.
type CarriedOut<'a> = (&'a str, &'a str, &'a str, Option<&'a str>);

/// The trace of an agent that wrote these sub-tasks at once, and made a call for each.
fn called(steps: &[CarriedOut<'_>], rest: &str) -> String {
    let pairs: Vec<(&str, &str)> = steps.iter().map(|(tool, text, ..)| (*tool, *text)).collect();
    let mut events = String::new();
    for (place, (tool, text, argument, result)) in steps.iter().enumerate() {
        let pair = json!(json!({*tool: *text}).to_string());
        let name = if *tool == "sql" { "query" } else { "code" };
        let ended = match result {
            Some(result) => format!("ok #c{place} {}", json!(result)),
            None => format!("err #c{place} \"it does not run\""),
        };
        events += &format!(
            "planner: section sub_task model {pair} note=\"{}\" | call {tool} {} #c{place} | {ended} | ",
            place + 1,
            json!({name: argument})
        );
    }
    planned(&pairs, &(events + rest))
}

pub(crate) fn sub_tasks_are_judged_by_what_their_calls_returned() {
    const OVER: &str = "SELECT count(*) FROM Person WHERE age > 40";
    const UNDER: &str = "SELECT count(*) FROM Person WHERE age < 40";
    let (right, opposite) = ("Count the people who are over 40", "Count the people who are under 40");
    let pairs = case("tptu-planning-01.pairs");
    let check_steps = |steps: &[CarriedOut<'_>], class, gist: &str, by_words: &[usize]| {
        let detail = check(&pairs, &called(steps, &answer("Done.")), class, gist);
        assert_eq!(detail.by_words, by_words, "{steps:?}");
        assert_eq!(detail.flags.contains(&"by_words".to_owned()), !by_words.is_empty());
    };
    let cost = ("python", "Multiply the number of people by 100 dollars", "6 * 100", Some("600"));
    let count = |text, statement| ("sql", text, statement, Some("what the trace shows is not looked at"));
    // The result decides, whatever the words say.
    check_steps(&[count(right, OVER), cost], None, "passed", &[]);
    check_steps(&[count(opposite, OVER), cost], None, "passed", &[]);
    check_steps(&[count(right, "SELECT sum(age > 40) AS n FROM Person"), cost], None, "passed", &[]);
    let other = "step 1: its call returned something else: missing 6; too many: 19";
    // What follows from a wrong result says nothing about the next sub-task, so that its words decide.
    let of_wrong = ("python", "Multiply the number of people by 100 dollars", "19 * 100", Some("1900"));
    check_steps(&[count(right, UNDER), of_wrong], TASK, other, &[2]);
    let divided = ("python", "Divide the number of people by 100 dollars", "19 / 100", Some("0.19"));
    check_steps(&[count(right, UNDER), divided], TASK, other, &[2]);
    let divided = ("python", "Multiply the number of people by 100 dollars", "6 / 100", Some("0.06"));
    let wrong = "step 2: its call returned something else: 0.06 instead of 600";
    check_steps(&[count(right, OVER), divided], TASK, wrong, &[]);
    // A call that failed returned nothing.
    let failed = |text| ("sql", text, "SELECT count(*) FROM People", None);
    check_steps(&[failed(right), cost], None, "passed", &[1, 2]);
    let meaning = "step 1: the sub-task is another one: `under 40` instead of `over 40`";
    check_steps(&[failed(opposite), cost], TASK, meaning, &[1, 2]);
    // Names of columns, their number and the order of rows do not matter.
    let old = case("tptu-planning-19.pairs");
    let root = ("python", "Solve x^2 = 200 for positive x", "200 ** 0.5", Some("14.142135623730951"));
    for (statement, class) in [
        ("SELECT name FROM Person WHERE age > 50 ORDER BY age DESC", None),
        ("SELECT age, name AS who FROM Person WHERE age >= 51", None),
        ("SELECT name FROM Person WHERE age < 50", TASK),
        ("SELECT age FROM Person WHERE age > 50", TASK),
        ("SELECT count(*) FROM Person WHERE age > 50", TASK),
    ] {
        let steps = [root, ("sql", "Find everybody who is older than 50", statement, Some(""))];
        let verdict = old.judge(&parse(&called(&steps, &answer("x"))).unwrap()).unwrap();
        assert_eq!(verdict.class().map(Class::as_str), class, "{statement}");
        assert!(!verdict.scored.has("by_words"));
    }
    // A judge model that was asked decides.
    let judged =
        |word: &str| format!("judge: section judged model \"{word}\" note=\"step-1\" | {}", answer("x"));
    let denied = "step 1: the judge model says that the sub-task is another one";
    check(&pairs, &called(&[count(right, OVER), cost], &judged("NO")), TASK, denied);
    check(&pairs, &called(&[count(right, UNDER), of_wrong], &judged("YES")), None, "passed");
}
