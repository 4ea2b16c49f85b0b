//! Specifications as papers print them.

use planproof_spec::monitor::SchemaValidator;
use planproof_spec::{Code, Compat, ContentRule, Handler, Severity, Spec, load, load_as_published, shipped};
use serde_json::Value;

/// The figures of the paper, each under the name of the agent that is shipped for it.
const FIGURES: [(&str, &str); 5] = [
    ("react", include_str!("../../testdata/published/react.spec")),
    ("pass", include_str!("../../testdata/published/pass.spec")),
    ("rewoo", include_str!("../../testdata/published/rewoo.spec")),
    ("reflexion", include_str!("../../testdata/published/reflexion.spec")),
    ("cot", include_str!("../../testdata/published/cot.spec")),
];

struct Any;

impl SchemaValidator for Any {
    fn check_schema(&self, _: &Value) -> Result<(), String> {
        Ok(())
    }

    fn check(&self, _: &Value, _: &Value) -> Result<(), String> {
        Ok(())
    }
}

/// Who writes each state, and whether it is a part of a call.
fn roles(spec: &Spec) -> Vec<(&str, &str, Option<Handler>, Vec<&'static str>)> {
    let role =
        |rule: &ContentRule| matches!(rule, ContentRule::Tool | ContentRule::Arguments | ContentRule::Label);
    let of_state = |state: &planproof_spec::State| -> Vec<&'static str> {
        state
            .content
            .iter()
            .map(|rule| &rule.value)
            .filter(|rule| role(rule))
            .map(ContentRule::word)
            .collect()
    };
    let states = spec.states.iter();
    states
        .map(|state| {
            let handler = state.handler.as_ref().map(|handler| handler.value);
            (state.name.value.as_str(), state.prompt.value.as_str(), handler, of_state(state))
        })
        .collect()
}

#[test]
fn the_figures_are_the_shipped_agents_once_bound() {
    for (name, figure) in FIGURES {
        let published = load_as_published(figure, &Any).unwrap_or_else(|faulty| panic!("{name}: {faulty}"));
        assert_eq!(published.warnings, [], "{name}");
        let shipped = load(shipped(name).unwrap(), Compat::Ours).unwrap();
        let (published, shipped) = (published.automaton.spec(), shipped.automaton.spec());
        assert_eq!(published.behavior, shipped.behavior, "{name}");
        assert_eq!(roles(published), roles(shipped), "{name}");
        // By our rules they lack their handlers, and the fault has the line that is missing.
        let ours = load(figure, Compat::Ours);
        let Some(state) = published.states.iter().find(|state| state.is_environment) else {
            assert!(ours.is_ok(), "{name}");
            continue;
        };
        let faults = ours.unwrap_err().diagnostics;
        let fault = faults.iter().find(|fault| fault.code == Code::UnboundEnvironment).unwrap();
        let help = fault.help.as_deref().unwrap();
        let handler = state.handler.as_ref().unwrap().value;
        let line = format!(
            "write ({} (:text \"{}\") (:flags :env-input) (:handler {handler}))",
            state.name.value, state.prompt.value
        );
        assert!(help.starts_with(&line) && help.contains("--compat original"), "{name}: {help}");
    }
}

#[test]
fn what_a_specification_says_itself_is_kept() {
    let source = r#"
        (define own
          (:states
            (Ques (:text "[Question]"))
            (Pick (:text "[action]"))
            (Act-Inp (:text "[With]"))
            (Obs (:text "[Results]") (:flags :env-input) (:handler run-calls))
            (Seen (:text "[SUMMARY]") (:flags :env-input))
            (Ans (:text "[Answer]") (:content (max-length 9))))
          (:behavior (next Ques Pick Act-Inp Obs Seen Ans)))"#;
    let loaded = load_as_published(source, &Any).unwrap();
    let bound = roles(loaded.automaton.spec());
    // By the prompt in any case, or else by the name.
    assert_eq!(bound[1], ("Pick", "[action]", None, vec!["tool"]));
    assert_eq!(bound[2], ("Act-Inp", "[With]", None, vec!["arguments"]));
    assert_eq!(bound[3].2, Some(Handler::RunCalls));
    assert_eq!(bound[4].2, Some(Handler::Summarise));
    assert_eq!(bound[5], ("Ans", "[Answer]", None, vec![]));
}

#[test]
fn a_state_that_no_paper_has_needs_a_handler() {
    let source = r#"
        (define d
          (:states (a (:text "[a]")) (b (:text "[b]") (:flags :env-input)) (c (:text "[c]")))
          (:behavior (next a b c)))"#;
    let faulty = load_as_published(source, &Any).unwrap_err();
    let [fault] = &faulty.diagnostics[..] else { panic!("{faulty}") };
    assert_eq!((fault.code, fault.severity), (Code::UnboundEnvironment, Severity::Error));
    let help = fault.help.as_deref().unwrap();
    assert!(help.contains("(:handler run-call)") && help.contains("`Obs` ([Observation])"), "{help}");
}
