//! What the environment provides: summaries, judgements, solutions, votes.

use planproof_agents::behaviour::evaluator::{Evaluator, ProgramChecker};
use planproof_agents::behaviour::retrace::Retracer;
use planproof_agents::behaviour::summary::Choice;
use planproof_agents::behaviour::voting::{VotingAgent, VotingOptions};

use planproof_tools::Toolbox;
use planproof_trace::{EndReason, EventKind, ToolCall, ToolResult};

use super::*;
use crate::events_of_run;

async fn run_with(model: &Arc<Scripted>, name: &str, options: BehaviourOptions) -> String {
    let agent = BehaviourAgent::new(Arc::clone(model) as Arc<_>, spec_of(name), options).unwrap();
    lines(&events_of(&agent, limits(50)).await)
}

#[tokio::test]
async fn pass_reads_a_summary() {
    let script = [
        stop(
            "[Thought] Both.\n[Action] wash\n[Action Input]\n[Action] bake\n[Action Input] {\"loaves\": 1}\n[Summary]",
        ),
        stop("All is done.\nMore."),
        stop("[Final Thought] f\n[Answer] a"),
    ];
    let model = Scripted::new(WHOLE, 1, script.clone());
    insta::assert_snapshot!(run_with(&model, "pass", BehaviourOptions::default()).await);
    let asked = &model.asked()[1];
    assert!(asked.contains("Goal: Both.") && asked.contains(&format!("Context: {QUERY}")), "{asked}");

    let model = Scripted::new(WHOLE, 1, [script[0].clone(), script[2].clone()]);
    let options = BehaviourOptions { summary: Choice::Results, ..BehaviourOptions::default() };
    let events = run_with(&model, "pass", options).await;
    assert!(
        events.contains("environment \"1. wash is done\\n2. bake is done\" note=\"results, as configured\""),
        "{events}"
    );
}

#[tokio::test]
async fn a_server_may_leave_out_the_mark_that_it_stopped_at() {
    // After a call, PASS may continue with another call; since the model stopped, it wants the results.
    let model = Scripted::new(
        WHOLE,
        1,
        [
            stop("[Thought] t\n[Action] wash\n[Action Input]\n"),
            stop("It is done."),
            stop("[Final Thought] f\n[Answer] a"),
        ],
    );
    let events = run_with(&model, "pass", BehaviourOptions::default()).await;
    assert!(!events.contains("correct ") && events.contains("tally\n"), "{events}");
}

#[tokio::test]
async fn rewoo_solves_from_evidence() {
    let script = [
        stop(
            "[Plan] Wash.\n[Action Label] #E1\n[Action] wash\n[Action Input]\n[Plan] Tell it.\n[Action Label] #E12\n\
              [Action] say\n[Action Input] #E1, #E12 and #E7\n[Answer]",
        ),
        stop("Answer: It is clean."),
    ];
    let model = Scripted::new(WHOLE, 1, script);
    insta::assert_snapshot!(run_with(&model, "rewoo", BehaviourOptions::default()).await);
    insta::assert_snapshot!(model.asked()[1]);
}

/// Forwards calls, and records what it forwarded.
pub(super) struct Watched {
    pub(super) tools: MockTools,
    pub(super) seen: Mutex<Vec<String>>,
}

impl Toolbox for Watched {
    fn tools(&self) -> &Arc<[Tool]> {
        self.tools.tools()
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> planproof_tools::BoxFuture<'a, ToolResult> {
        self.seen.lock().unwrap().push(format!("{} {}", call.name, call.arguments.to_text()));
        self.tools.execute(call)
    }
}

/// A run of ReWOO with these requirements and this plan: the events, and the executed calls.
async fn planned(requirements: &str, plan: &[&str]) -> (Vec<Event>, Vec<String>) {
    let (source, _) = shipped("rewoo").unwrap().split_once("(:accepts").unwrap();
    let source = format!("{source}{requirements})");
    let step = |(number, call): (usize, &&str)| {
        let (tool, input) = call.split_once(' ').unwrap_or((call, ""));
        format!("[Plan] p\n[Action Label] #E{}\n[Action] {tool}\n[Action Input] {input}\n", number + 1)
    };
    let text: String = plan.iter().enumerate().map(step).collect();
    let model = Scripted::new(WHOLE, 1, [stop(&(text + "[Answer]")), stop("Answer: 5")]);
    let agent = agent(&model, spec(&source));
    let toolbox = Arc::new(Watched { tools: tools(), seen: Mutex::default() });
    let events = events_of_run(&agent, toolbox.clone(), &limits(50), 7).await;
    // Retracing the run gives the same result.
    let retraced = Retracer::new(spec(&source)).retrace(toolbox.tools(), &events).unwrap();
    assert_eq!(retraced.len(), 1);
    let seen = std::mem::take(&mut *toolbox.seen.lock().unwrap());
    (events, seen)
}

#[tokio::test]
async fn what_is_executed_is_what_was_checked() {
    let plan = ["wash", "say #E1", "bake {\"loaves\": 1, \"flour\": \"#E2\"}", "say done"];
    // The call is allowed as written, but not with the evidence; calls that refer to it are not executed either.
    let denied = "(:require (always (not (call:say (= words \"wash is done\")))))";
    let (events, seen) = planned(denied, &plan).await;
    assert_eq!(seen, ["wash {}", "say {\"words\":\"done\"}"]);
    let events = lines(&events);
    let (_, executed) = events.split_once("section Act-Inp model \"done\"\n").unwrap();
    insta::assert_snapshot!(executed, @r##"
    call wash
    ok #c1 "wash is done"
    call say {"words":"wash is done"} #c2
    err #c2 "not executed: say must not be called with this input now (requirement 1)"
    call bake {"flour":"#E2","loaves":1} #c3
    err #c3 "not executed: it refers to #E2, which was not executed"
    call say {"words":"done"} #c4
    ok #c4 "say is done"
    say "5" tokens=100/10
    section Solver environment "5" note="not executed: #E2, #E3"
    tally
    answer "5"
    "##);
    // The call is not allowed as written, but it is with the evidence.
    let allowed = "(:require (always (implies call:say (call:say (matches words \".* is done\")))))";
    let (_, seen) = planned(allowed, &plan[..2]).await;
    assert_eq!(seen, ["wash {}", "say {\"words\":\"wash is done\"}"]);
}

#[tokio::test]
async fn arguments_are_checked_with_their_evidence() {
    let (events, seen) = planned("", &["wash", "bake {\"loaves\": \"#E1\"}"]).await;
    assert_eq!(seen, ["wash {}"]);
    let events = lines(&events);
    assert!(events.contains("not executed: the input does not fit the schema of bake"), "{events}");
    assert!(events.ends_with("answer \"5\"\n"), "{events}");
    // Without the required call the run has failed, and the rest of the plan is not executed.
    let demanded = "(:require (eventually call:bake))";
    let (events, seen) = planned(demanded, &["wash", "bake {\"loaves\": \"#E1\"}", "wash"]).await;
    assert_eq!(seen, ["wash {}"]);
    let events = lines(&events);
    let reason = "failed \"the plan cannot be carried out: bake was not executed: the input does not fit the schema of bake";
    assert!(events.contains(reason), "{events}");
}

/// Its tools repeat their words.
struct Echo(MockTools);

impl Toolbox for Echo {
    fn tools(&self) -> &Arc<[Tool]> {
        self.0.tools()
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> planproof_tools::BoxFuture<'a, ToolResult> {
        let words = call.arguments.as_object().and_then(|given| given.get("words"));
        let text = words.and_then(|words| words.as_str()).unwrap_or("wash is done");
        Box::pin(std::future::ready(ToolResult::ok(call.id.clone(), text)))
    }
}

/// Each call more than doubles the result of the one before it.
#[tokio::test]
async fn calls_refer_to_a_limited_number_of_bytes() {
    let step = |number: u32| {
        let before = number - 1;
        format!("[Plan] p\n[Action Label] #E{number}\n[Action] say\n[Action Input] #E{before} #E{before}\n")
    };
    let first = "[Plan] p\n[Action Label] #E1\n[Action] wash\n[Action Input]\n";
    let steps: String = (2..=24).map(step).collect();
    let model = Scripted::new(WHOLE, 1, [stop(&format!("{first}{steps}[Answer]")), stop("Answer: 5")]);
    let agent = agent(&model, spec_of("rewoo"));
    let events = events_of_run(&agent, Arc::new(Echo(tools())), &limits(50), 7).await;
    let Some(Event { kind: EventKind::End(EndReason::AgentFailed { reason }), .. }) = events.last() else {
        panic!("the run did not fail")
    };
    assert!(reason.contains("the results that its calls refer to take more than 16777216 bytes"), "{reason}");
}

#[tokio::test]
async fn reflexion_is_judged_by_the_evaluator_of_its_options() {
    let script = [
        stop("[Final Thought] f\n[Proposed Answer] 41\n[Evaluation]"),
        stop("Incorrect, it is more."),
        stop("[Reflection] More then.\n[Answer] 42"),
    ];
    let model = Scripted::new(WHOLE, 1, script.clone());
    let evaluator = Evaluator::Judge(Arc::clone(&model) as Arc<_>);
    let events =
        run_with(&model, "reflexion", BehaviourOptions { evaluator, ..BehaviourOptions::default() }).await;
    insta::assert_snapshot!(events);
    assert!(model.asked()[1].contains("Final Thought] f"), "{}", model.asked()[1]);

    let model = Scripted::new(WHOLE, 1, [script[0].clone(), script[2].clone()]);
    let events = run_with(&model, "reflexion", BehaviourOptions::default()).await;
    assert!(events.contains("note=nobody") || events.contains("note=\"nobody\""), "{events}");
}

/// A run of Reflexion in which a program judges the answers.
async fn run_judged_by(program: &str, limits: RunLimits) -> (String, usize) {
    let script = [
        stop("[Final Thought] f\n[Proposed Answer] 41\n[Evaluation]"),
        stop("[Reflection] More then.\n[Final Thought] g\n[Proposed Answer] 42\n[Evaluation]"),
        stop("[Reflection] So it is.\n[Answer] 42"),
    ];
    let model = Scripted::new(WHOLE, 1, script);
    let evaluator = Evaluator::Checker(Arc::new(ProgramChecker::parse(program).unwrap()));
    let options = BehaviourOptions { evaluator, ..BehaviourOptions::default() };
    let agent = BehaviourAgent::new(Arc::clone(&model) as Arc<_>, spec_of("reflexion"), options).unwrap();
    (lines(&events_of(&agent, limits).await), model.asked().len())
}

#[tokio::test]
async fn reflexion_is_judged_by_a_program() {
    // A mark of the last section in the program's output ends nothing.
    let program =
        r#"sh -c 'grep -q "\"answer\":\"42\"" && exit 0; echo "one more"; echo "[Answer] 7"; exit 1'"#;
    let (events, requests) = run_judged_by(program, limits(50)).await;
    insta::assert_snapshot!(events);
    assert_eq!(requests, 3);
}

#[tokio::test]
async fn a_program_that_cannot_judge_is_not_the_agents_fault() {
    let (events, requests) = run_judged_by("sh -c 'echo broken >&2; exit 3'", limits(50)).await;
    assert!(
        events.ends_with(
            "unscored \"the checker sh -c 'echo broken >&2; exit 3' failed: the command ended with exit status: 3; its \
             stderr ends with:\\nbroken\"\n"
        ),
        "{events}"
    );
    assert_eq!(requests, 1);
    // The program gets the whole time of the run.
    let short = RunLimits { wall: Duration::from_millis(300), ..limits(50) };
    let (events, _) = run_judged_by("sleep 30", short).await;
    assert!(
        events.ends_with(
            "unscored \"the checker sleep 30 had not judged the answer when the 0.3 seconds of the run were over\"\n"
        ),
        "{events}"
    );
}

#[tokio::test]
async fn the_environment_asks_no_model_beyond_the_limit() {
    let model = Scripted::new(WHOLE, 1, [stop("[Answer]")]);
    let agent = agent(&model, spec_of("rewoo"));
    let events = lines(&events_of(&agent, limits(1)).await);
    assert!(events.ends_with("limit iterations 1\n"), "{events}");
    assert_eq!(model.asked().len(), 1);
}

#[tokio::test]
async fn samples_take_a_vote_and_another_agent_answers_where_they_do_not_agree() {
    for (answers, answer) in [(["a", "b", "B"], "b"), (["a", "b", "c"], "tool")] {
        let script = answers.map(stop).into_iter().chain([stop("[Final Thought] f\n[Answer] tool")]);
        let model = Scripted::new(WHOLE, 1, script);
        let sampled = Arc::new(agent(&model, spec_of("direct")));
        let other = Arc::new(agent(&model, spec_of("react")));
        let options = VotingOptions { samples: 3.try_into().unwrap(), ..VotingOptions::default() };
        let voting = VotingAgent::new(sampled, Some(other), options);
        let recorded = events_of_run(&voting, Arc::new(tools()), &limits(50), 1).await;
        // Only the part of the agent that began last is retraced.
        let last = if answer == "tool" { "react" } else { "direct" };
        let retraced = Retracer::new(spec_of(last)).retrace(tools().tools(), &recorded).unwrap();
        assert_eq!(retraced.len(), 1);
        assert_eq!(
            retraced[0].text,
            if last == "react" { "[Final Thought] f\n[Answer] tool" } else { answers[2] }
        );
        let events = lines(&recorded);
        assert!(events.ends_with(&format!("answer \"{answer}\"\n")), "{events}");
        let parts = events.matches("spec direct text").count();
        assert_eq!((parts, events.contains("spec react text")), (3, answer == "tool"));
    }
}
