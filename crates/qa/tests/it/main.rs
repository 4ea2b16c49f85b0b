//! Tests of the suite with agents and a simulated model that is handed the answers.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

mod questions;

use std::sync::Arc;

use planproof_agents::{
    Agent, BehaviourAgent, BehaviourOptions, FunctionCallingAgent, RunContext, RunLimits, Surroundings,
};
use planproof_model::Model;
use planproof_qa::gsm8k::{Gsm8k, WordProblem, WordProblemDetail, own};
use planproof_sim::GoldModel;
use planproof_spec::{Compat, load, shipped};
use planproof_suite::{Case, Class, Judged, Suite, Unscored, Verdict};
use planproof_tools::mcp::TOKEN_BYTES;
use planproof_trace::{Continuation, Event, LogicalClock, Recorder, Secrets};

/// The agents whose behaviour is specified.
const SPECIFIED: [&str; 6] = ["direct", "cot", "react", "rewoo", "pass", "reflexion"];

/// A model that is handed the answers of these cases.
fn gold<'a>(cases: impl Iterator<Item = &'a dyn Case>, error_rate: f64) -> Arc<dyn Model> {
    let key = |case: &dyn Case| (case.prompt().to_owned(), case.gold().unwrap());
    Arc::new(GoldModel::new(cases.map(key).collect(), error_rate, 1))
}

fn model(problems: &[WordProblem], error_rate: f64) -> Arc<dyn Model> {
    gold(problems.iter().map(|problem| problem as &dyn Case), error_rate)
}

fn specified(name: &str, model: &Arc<dyn Model>, continuation: Option<Continuation>) -> Arc<dyn Agent> {
    let automaton = load(shipped(name).unwrap(), Compat::Ours).unwrap().automaton;
    let options = BehaviourOptions { continuation, ..BehaviourOptions::default() };
    Arc::new(BehaviourAgent::new(Arc::clone(model), automaton, options).unwrap())
}

/// Each agent with its name.
fn agents(model: &Arc<dyn Model>) -> Vec<(String, Arc<dyn Agent>)> {
    let tools: Arc<dyn Agent> = Arc::new(FunctionCallingAgent::new(Arc::clone(model)).unwrap());
    let specified = SPECIFIED.into_iter().flat_map(|name| {
        Continuation::ALL.map(|way| (format!("{name} {way}"), specified(name, model, Some(way))))
    });
    [("tools".to_owned(), tools)].into_iter().chain(specified).collect()
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

#[tokio::test]
async fn agents_with_the_key_solve_our_own_problems() {
    let problems = own().unwrap();
    for (name, agent) in agents(&model(&problems, 0.0)) {
        let mut verdicts: Vec<Verdict> = Vec::new();
        for problem in &problems {
            let events = run(&*agent, problem).await;
            let verdict = problem.judge(&events).unwrap();
            let detail = WordProblemDetail::of(&verdict).unwrap();
            assert!(verdict.passed() && detail.strict, "{name}: {}: {detail:?}", problem.id());
            assert_eq!(problem.explain(&verdict).gist, "passed");
            let is_caller = !name.starts_with("direct") && !name.starts_with("cot");
            let calls = if is_caller { problem.card().size } else { 0 };
            assert_eq!(detail.calls_total, u64::from(calls), "{name}: {}", problem.id());
            assert_eq!(
                verdict.scored.flags,
                if is_caller { vec!["calculator_used"] } else { vec![] },
                "{name}"
            );
            let notes = problem.notes(&verdict, &events).expect("they are the events that were judged");
            assert!(notes.len() == calls as usize && notes.iter().all(|note| note.remark.is_none()));
            verdicts.push(verdict);
        }
        let runs: Vec<Judged<'_>> = problems
            .iter()
            .zip(&verdicts)
            .map(|(problem, verdict)| Judged {
                ordinal: 0,
                repeat: 0,
                card: problem.card(),
                scored: Some(&verdict.scored),
            })
            .collect();
        assert_eq!(Gsm8k::default().metrics(&runs)[0].value, Some(1.0), "{name}");
    }
}

#[tokio::test]
async fn a_wrong_answer_is_found_wrong() {
    let problems = own().unwrap();
    for (name, agent) in agents(&model(&problems, 1.0)) {
        for problem in &problems {
            let verdict = problem.judge(&run(&*agent, problem).await).unwrap();
            assert_eq!(verdict.class().map(Class::as_str), Some("wrong_answer"), "{name}: {}", problem.id());
        }
    }
}

#[tokio::test]
async fn a_problem_outside_the_key_is_unscored() {
    let problems = own().unwrap();
    for (name, agent) in agents(&model(&problems[1..], 0.0)) {
        let unscored = problems[0].judge(&run(&*agent, &problems[0]).await).unwrap_err();
        let Unscored::Outside { reason } = unscored else { panic!("{name}: {unscored}") };
        assert_eq!(
            reason, "sim/gold cannot answer a question that is not in the key it was handed",
            "{name}"
        );
    }
}
