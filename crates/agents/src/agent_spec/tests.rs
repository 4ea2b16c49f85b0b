//! Names of agents, and what is none.

use proptest::prelude::*;

use super::*;

fn parsed(text: &str) -> AgentSpec {
    AgentSpec::parse(text).expect("it is an agent's name")
}

#[test]
fn agents_of_suites_have_no_model() {
    for name in SUITE_AGENTS {
        let spec = parsed(name);
        assert_eq!((spec.of_suite(), spec.model(), spec.options()), (Some(name), None, None));
    }
}

#[test]
fn names_are_taken_apart() {
    let program = parsed("repair:command:python agent.py a@b");
    assert!(program.is_guarded() && program.is_program() && program.model().is_none());
    assert_eq!(program.bare(), "command:python agent.py a@b");
    assert_eq!(parsed("spec:./-@sim/x").specifications(), [&SpecName::File("./-".to_owned())]);
    let file = parsed("spec:a@b.spec:samples=3,evaluator=openai/ft:x@openai/gpt-5");
    assert_eq!(file.model(), Some("openai/gpt-5"));
    assert_eq!(file.specifications(), [&SpecName::File("a@b.spec".to_owned())]);
    let options = file.options().expect("it has options");
    assert_eq!(options.samples, NonZeroU32::new(3));
    assert_eq!(options.evaluator, Some(EvaluatorName::Model("openai/ft:x".to_owned())));
    let judged = parsed("react:evaluator=program:sh -c 'a,b@c',examples=off@sim/perfect");
    assert!(judged.is_judged_by_program() && judged.options().is_some_and(|it| it.examples == Some(false)));
    let pair = parsed("fallback:direct,tools:samples=3@sim/perfect");
    assert_eq!(pair.specifications(), [&SpecName::Shipped("direct")]);
    assert_eq!(parsed("tools@sim/x").options(), Some(&AgentOptions::default()));
    for kind in ["tools", "tools-cot", "responses"] {
        let parsing = parsed(&format!("repair:{kind}:parse-text-calls=on@sim/x"));
        assert_eq!(parsing.options().and_then(|options| options.text_calls), Some(true));
    }
    let planning = parsed("plan:format=code,feedback=PV@sim/x").options().map(AgentOptions::planning);
    let usual = PlanOptions::default();
    let wanted = PlanOptions { format: PlanFormat::Code, feedback: Feedback::Pv, ..usual };
    assert_eq!(planning, Some(wanted));
    let sub_tasks = parsed("one-step:replies=1@sim/x").options().map(AgentOptions::sub_tasks);
    let usual_steps = SubTaskOptions::default();
    assert_eq!(sub_tasks, Some(SubTaskOptions { replies_max: NonZeroU32::MIN, ..usual_steps }));
    let remembering = parsed("repair:hierarchical:replies=2,memory=on@sim/x");
    assert!(remembering.remembers() && !parsed("sequential:memory=off@sim/x").remembers());
    assert!(!parsed("sequential@sim/x").remembers() && !parsed("tools@sim/x").remembers());
    assert_eq!(parsed("plan@sim/x").options().map(AgentOptions::planning), Some(usual));
    assert_eq!(parsed("tools@openai/a@b").model(), Some("openai/a@b"));
}

#[test]
fn what_is_no_agent_is_said() {
    for (text, expected) in [
        ("nobody", "unknown agent \"nobody\""),
        ("tool@sim/x", "unknown kind of agent \"tool\": did you mean tools?"),
        ("solver@sim/x", "unknown kind of agent \"solver\""),
        (
            "tools:samples=2@sim/x",
            "tools has no option samples: that is for agents that are made from a specification",
        ),
        ("tools:@sim/x", "has a colon and no option behind it: write tools"),
        ("tools:parse-text-calls=yes@sim/x", "write on or off"),
        ("react:parse-text-calls=on@sim/x", "that is for agents that call tools (tools, tools-cot"),
        ("plan:parse-text-calls=on@sim/x", "that is for agents that call tools (tools, tools-cot"),
        ("react:@sim/x", "has a colon and no option behind it: write react"),
        ("react:depth=2@sim/x", "no option \"depth\""),
        ("react:samples=0@sim/x", "is no value of the option samples"),
        ("react:samples=2,samples=2@sim/x", "stands twice"),
        ("fallback:direct@sim/x", "no pair of agents"),
        ("repair:repair:tools@sim/x", "more than one repair:"),
        ("plan:samples=2@sim/x", "plan has no option samples"),
        ("react:format=code@sim/x", "react has no option format: that is for planning agents"),
        ("plan:feedback=V@sim/x", "write none, P, PV, PE or PVE"),
        ("sequential:format=code@sim/x", "sequential has no option format: that is for planning agents"),
        ("one-step:judge=gpt@sim/x", "is no value of the option judge: write the name of a model"),
        ("react:judge=a/b@sim/x", "that is for agents that plan (plan, one-step"),
        ("one-step:memory=yes@sim/x", "\"yes\" is no value of the option memory: write on or off"),
        ("one-step:memory=@sim/x", "\"\" is no value of the option memory: write on or off"),
        (
            "plan:memory=on@sim/x",
            "plan has no option memory: that is for agents that write sub-tasks (one-step",
        ),
        ("react:memory=on@sim/x", "react has no option memory: that is for agents that write sub-tasks"),
        ("tools:memory=on@sim/x", "tools has no option memory: that is for agents that write sub-tasks"),
        ("plan:@sim/x", "has a colon and no option behind it: write plan"),
        ("team:roles=-@sim/x", "the option roles: write the name of a file of TOML, because"),
        ("spec:-@sim/x", "spec:- is standard input, which can be read only once"),
        ("spec:-:samples=2@sim/x", "spec:- is standard input, which can be read only once"),
        ("fallback:direct,spec:-@sim/x", "spec:- is standard input, which can be read only once"),
    ] {
        let error = AgentSpec::parse(text).expect_err("it is no agent").to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn options_of_the_command_line_become_a_part_of_the_name() {
    let given = [("samples", "3".to_owned()), ("evaluator", "model".to_owned())];
    let name = |text: &str| {
        parsed(text).with_options(&given).map(|it| it.to_string()).map_err(|error| error.to_string())
    };
    assert_eq!(name("direct@sim/x"), Ok("direct:samples=3,evaluator=model@sim/x".to_owned()));
    assert_eq!(
        name("repair:spec:a@b.spec:summary=results@openai/x"),
        Ok("repair:spec:a@b.spec:samples=3,summary=results,evaluator=model@openai/x".to_owned())
    );
    assert!(name("direct:samples=2@sim/x").is_err_and(|error| error.contains("already")));
    for other in ["tools@sim/x", "command:direct@x"] {
        assert!(name(other).is_err_and(|error| error.contains("--samples is for")), "{other}");
    }
    let parsing = [("parse-text-calls", "on".to_owned())];
    let other = parsed("react@sim/x").with_options(&parsing).expect_err("it does not call tools");
    assert!(other.to_string().contains("--parse-text-calls is for agents that call tools"), "{other}");
    let tools = parsed("tools@sim/x").with_options(&parsing).map(|it| it.to_string());
    assert_eq!(tools, Ok("tools:parse-text-calls=on@sim/x".to_owned()));
    let command = [("evaluator", "program:a@b,samples=2".to_owned())];
    let error = parsed("react@sim/x").with_options(&command).expect_err("it has two readings");
    assert!(error.to_string().contains("into a script"));
}

proptest! {
    /// Whatever a name holds, parsing does not panic, its parts make the name again, and it is shown as it was
    /// written.
    #[test]
    fn any_text_is_a_name_or_an_error(text in "(repair:|command:|worker:|url:|spec:|fallback:|react|tools|samples=3|evaluator=program:|[:,@=/ a-zé]){0,12}") {
        if let Ok(spec) = AgentSpec::parse(&text) {
            prop_assert_eq!(spec.to_string(), text.clone());
            prop_assert!(text.ends_with(spec.bare()));
            let end = spec.model().map(|model| format!("@{model}"));
            prop_assert!(end.is_none_or(|end| text.ends_with(&end)));
        }
    }
}
