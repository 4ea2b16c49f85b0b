//! An agent with a simulated model that is handed the answers, on all cases.

use std::sync::Arc;

use planproof_agents::{Agent, FunctionCallingAgent, RunContext, RunLimits, SubTaskAgent, Surroundings};
use planproof_model::Model;
use planproof_plan::subtasks::Division;
use planproof_sim::GoldModel;
use planproof_suite::{Case, CaseSelection, Class, Judged, Registry, Suite, Toolbox, Verdict};
use planproof_tools::mcp::TOKEN_BYTES;
use planproof_tptu::evaluation::PaperEvaluation;
use planproof_tptu::{EvaluationDetail, Tptu};
use planproof_trace::notation::parse;
use planproof_trace::{Event, LogicalClock, Recorder, Secrets};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::python::{PythonTool, sandbox};

fn suite() -> Tptu {
    let sandbox = Arc::new(sandbox());
    let make =
        move |_| -> Result<Arc<dyn Toolbox>, _> { Ok(Arc::new(PythonTool::new(Arc::clone(&sandbox)))) };
    Tptu::new().with_tools(Arc::new(make))
}

async fn run(agent: &dyn Agent, case: &dyn Case) -> Vec<Event> {
    let recorder = Recorder::new(Arc::new(LogicalClock::default()), Secrets::none());
    let run = RunContext {
        later: &[],
        query: case.prompt(),
        toolbox: &case.toolbox().unwrap(),
        limits: &RunLimits::default(),
        seed: 1,
        recorder: &recorder,
        earlier: &[],
        reviewing: None,
        memory: None,
        surroundings: &Surroundings::new(|| [7; TOKEN_BYTES]),
    };
    recorder.end(agent.run(run).await.unwrap().end);
    recorder.take_events()
}

/// All cases with the verdicts on an agent that is wrong with that chance.
fn verdicts(error_rate: f64) -> Vec<(Arc<dyn Case>, Verdict)> {
    let suite = suite();
    let cases = suite.load(None, &CaseSelection::First, None).unwrap();
    let runtime = Runtime::new().unwrap();
    let of = |case: Arc<dyn Case>| {
        // The same question is asked in several evaluations, so that each case has a key of its own.
        let key = vec![(case.prompt().to_owned(), case.gold().unwrap())];
        let model: Arc<dyn Model> = Arc::new(GoldModel::new(key, error_rate, 1));
        let agent = FunctionCallingAgent::new(model).unwrap();
        let events = runtime.block_on(run(&agent, &*case));
        let verdict = case.judge(&events).unwrap();
        assert!(case.notes(&verdict, &events).is_some());
        (case, verdict)
    };
    cases.into_iter().map(of).collect()
}

pub(crate) fn an_agent_with_the_key_passes_every_case() {
    let verdicts = verdicts(0.0);
    assert_eq!(verdicts.len(), 200);
    for (case, verdict) in &verdicts {
        let detail = EvaluationDetail::of(verdict).unwrap();
        assert!(verdict.passed(), "{}: {detail:?}", case.card().id);
        assert_eq!(case.explain(verdict).gist, "passed");
        assert_eq!(verdict.scored.score("right_share"), Some(1.0), "{}", case.card().id);
        assert!(!verdict.scored.has("tool_error"), "{detail:?}");
        assert_eq!(verdict.scored.has("tool_used"), !detail.evaluation.is_planning(), "{detail:?}");
    }
    let runs: Vec<Judged<'_>> = verdicts
        .iter()
        .enumerate()
        .map(|(place, (case, verdict))| Judged {
            ordinal: u32::try_from(place).unwrap(),
            repeat: 0,
            card: case.card(),
            scored: Some(&verdict.scored),
        })
        .collect();
    let suite = Tptu::new();
    assert!(suite.metrics(&runs).iter().take(5).all(|metric| metric.value == Some(1.0)));
    let sections = suite.sections(&runs, &[], 1);
    let [evaluations] = &sections[..] else { panic!("nothing failed") };
    let table = &evaluations.tables[0];
    assert_eq!((table.rows.len(), table.columns.len()), (12, 10));
    // Those of table 11 are for other agents.
    let is_full = |row: &Vec<String>| row[2] == "20" && row[3] == "100.0" && row.len() == 10;
    assert_eq!(table.rows.iter().filter(|row| is_full(row)).count(), 10, "{table:?}");
    assert!(is_full(&table.rows[11]));
    assert_eq!(table.rows[0][4..], ["100", "100", "45", "45", "20", "80"]);
    assert_eq!(table.rows[10][4..], ["55", "–", "0", "–", "0", "20"]);
}

pub(crate) fn wrong_answers_fail_in_every_case() {
    let verdicts = verdicts(1.0);
    for (case, verdict) in &verdicts {
        let detail = EvaluationDetail::of(verdict).unwrap();
        let class = verdict.class().map(Class::as_str);
        // Mathematics and end to end make the right calls, and answer with something else.
        let expected = match detail.evaluation {
            PaperEvaluation::MathCode | PaperEvaluation::EndToEnd => "missing_summary",
            _ => "task_not_understood",
        };
        assert_eq!(class, Some(expected), "{}: {detail:?}", case.card().id);
        assert_ne!(case.explain(verdict).gist, "passed");
        assert_eq!(case.run_cells(verdict).len(), Tptu::new().columns().of_run.len());
    }
    let runs: Vec<Judged<'_>> = verdicts
        .iter()
        .map(|(case, verdict)| Judged {
            ordinal: 0,
            repeat: 0,
            card: case.card(),
            scored: Some(&verdict.scored),
        })
        .collect();
    let sections = Tptu::new().sections(&runs, &[], 1);
    assert_eq!(sections[1].key, "failures");
    assert_eq!(sections[1].json["math-code"]["missing_summary"], 20);
}

pub(crate) fn wrong_numbers_differ_from_the_right_one() {
    let suite = Tptu::new().with_evaluations([PaperEvaluation::MathCode]);
    let case = suite.load(None, &CaseSelection::First, Some(1)).unwrap().remove(0);
    for right in [-1000.0, -1.0, -0.995, -0.5, 0.0, 1.0, 1000.0] {
        let mut line: Value = serde_json::from_str(&case.to_line()).unwrap();
        line["question"]["answer"] = json!([right]);
        let case = suite.read(&line.to_string()).unwrap();
        let passes = |answer: &str| {
            let call = format!("call python {} | ok {}", json!({"code": "x"}), json!(right.to_string()));
            let events = parse(&format!("{call} | answer {}", json!(answer))).unwrap();
            case.judge(&events).unwrap().passed()
        };
        let gold = case.gold().unwrap();
        assert!(passes(&gold.answer) && !passes(&gold.wrong_answer), "{right}: {}", gold.wrong_answer);
    }
}

pub(crate) fn cases_come_back_from_their_lines() {
    let suite = Tptu::new();
    let registry = Registry::new(vec![Arc::new(suite.clone())]).unwrap();
    assert_eq!(registry.find("tptu").unwrap().unit().many, "sub-tasks");
    let cases = suite.load(None, &CaseSelection::First, None).unwrap();
    for case in &cases {
        let again = suite.read(&case.to_line()).unwrap();
        assert_eq!((again.identity(), again.card()), (case.identity(), case.card()));
        assert_eq!(again.to_line(), case.to_line());
    }
    let mut ids: Vec<&str> = cases.iter().map(|case| &*case.card().id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), cases.len());
    let some = Tptu::new().with_evaluations([PaperEvaluation::MathCode, PaperEvaluation::SimpleSql]);
    let some = some.load(None, &CaseSelection::First, Some(30)).unwrap();
    assert_eq!(
        (some.len(), &*some[0].card().label, &*some[29].card().label),
        (30, "simple-sql", "math-code")
    );
    let refused = |line: &str| suite.read(line).unwrap_err().what;
    assert!(refused("{}").contains("names no schema"));
    assert!(refused(r#"{"schema":"planproof/gsm8k/v1"}"#).contains("run it with its own suite"));
    let line = cases[0].to_line();
    assert!(
        refused(&line.replace("\"evaluation\":\"tool-order\"", "\"evaluation\":\"math-code\""))
            .contains("not asked in")
    );
}

/// Agents that carry their plans out are judged by what their calls returned: no word decides.
pub(crate) fn plans_that_are_carried_out_need_no_words() {
    let suite = suite();
    let cases = suite.load(None, &CaseSelection::First, None).unwrap();
    let runtime = Runtime::new().unwrap();
    for division in [Division::AtOnce, Division::OneByOne] {
        let mut verdicts = Vec::new();
        for case in cases.iter().filter(|case| case.card().label.contains("pairs")) {
            let key = vec![(case.prompt().to_owned(), case.gold().unwrap())];
            let model: Arc<dyn Model> = Arc::new(GoldModel::new(key, 0.0, 1));
            let agent = SubTaskAgent::new(model, division, Default::default());
            let events = runtime.block_on(run(&agent, &**case));
            let verdict = case.judge(&events).unwrap();
            let detail = EvaluationDetail::of(&verdict).unwrap();
            assert!(
                verdict.passed() && detail.by_words.is_empty(),
                "{division}: {}: {detail:?}",
                case.card().id
            );
            verdicts.push((case, verdict));
        }
        assert_eq!(verdicts.len(), 60);
        let runs: Vec<Judged<'_>> = (0..)
            .zip(&verdicts)
            .map(|(ordinal, (case, verdict))| Judged {
                ordinal,
                repeat: 0,
                card: case.card(),
                scored: Some(&verdict.scored),
            })
            .collect();
        let title = suite.metrics(&runs)[0].title;
        assert_eq!(title, "plans that are right");
        assert!(!suite.sections(&runs, &[], 1)[0].tables[0].rows.iter().any(|row| row[0].contains("words")));
    }
}

/// What is decided by words alone is marked in every figure.
pub(crate) fn figures_by_words_are_marked() {
    let verdicts = verdicts(0.0);
    let runs: Vec<Judged<'_>> = (0..)
        .zip(&verdicts)
        .map(|(ordinal, (case, verdict))| Judged {
            ordinal,
            repeat: 0,
            card: case.card(),
            scored: Some(&verdict.scored),
        })
        .collect();
    let suite = Tptu::new();
    // An order of tools has no sub-tasks.
    assert_eq!(suite.metrics(&runs)[0].title, "plans that are right, their sub-tasks partly by words alone");
    let [evaluations] = &suite.sections(&runs, &[], 1)[..] else { panic!("nothing failed") };
    let marked =
        evaluations.tables[0].rows.iter().filter(|row| row[0].ends_with(" (sub-tasks by words alone)"));
    assert_eq!(marked.count(), 4);
    assert_eq!(evaluations.json["ours"]["pairs"]["by_words_alone"], 20);
    assert!(evaluations.json["ours"]["tool-order"].get("by_words_alone").is_none());
    let (case, verdict) = verdicts.iter().find(|(case, _)| case.card().label == "pairs").unwrap();
    assert!(case.explain(verdict).facts.iter().any(|fact| fact.label == "by words alone"));
    assert_eq!(case.metadata(Some(verdict))["by_words"], json!([1, 2]));
}

pub(crate) fn a_case_without_a_prediction_is_missing() {
    use planproof_suite::Data;
    let suite = Tptu::new();
    let cases = suite.load(None, &CaseSelection::First, None).unwrap();
    let text = r#"{"id": "tptu-simple-02.simple-sql", "answer": "SELECT 12"}"#;
    let scored = suite.score(&cases, Data { text, file: "p" }).unwrap();
    let missing = scored.verdicts.iter().filter(|it| it.class().map(Class::as_str) == Some("missing"));
    assert_eq!((missing.count(), scored.missing.len(), scored.verdicts.len()), (199, 199, 200));
    assert_eq!(cases[0].explain(&scored.verdicts[0]).gist, "there is no prediction for it");
    // An empty prediction is one.
    let text = r#"{"id": "tptu-simple-02.simple-sql", "answer": ""}"#;
    let scored = suite.score(&cases, Data { text, file: "p" }).unwrap();
    let classes: Vec<_> = scored.verdicts.iter().filter_map(|it| it.class().map(Class::as_str)).collect();
    assert_eq!(classes.iter().filter(|class| **class == "wrong_format").count(), 1);
}
