//! Texts that models are shown as examples.

use planproof_spec::monitor::{Author, Monitor, MonitorOptions, NextStep};
use planproof_spec::{Compat, SHIPPED, load};

/// A model that writes an example word for word is never corrected, and its run is the example.
#[test]
fn the_monitor_takes_each_shipped_example_as_it_is() {
    let mut count = 0;
    for (name, source) in SHIPPED {
        let automaton = load(source, Compat::Ours).unwrap().automaton;
        for example in &automaton.spec().examples {
            let mut monitor = Monitor::new(
                automaton.clone(),
                MonitorOptions { primes: false, ..MonitorOptions::default() },
            );
            let mut step = NextStep::Continue;
            for (place, section) in example.sections.iter().enumerate() {
                let id = automaton.state_named(&section.state.value).unwrap();
                let state = automaton.state(id);
                let content = &section.content.value;
                step = match place {
                    0 => monitor.question(content),
                    _ if state.is_environment => {
                        if step == NextStep::Continue {
                            step = monitor.push(state.prompt.value.as_bytes());
                        }
                        assert_eq!(step, NextStep::Environment, "{name}: {}", monitor.text());
                        monitor.environment(content)
                    }
                    _ => monitor.push(format!("{} {content}\n", state.prompt.value).as_bytes()),
                };
            }
            if step == NextStep::Continue {
                step = monitor.end_of_output();
            }
            assert_eq!(
                (step, monitor.counts().corrections),
                (NextStep::Ended, 0),
                "{name}: {}",
                monitor.text()
            );
            let last = monitor.sections().next_back().unwrap();
            assert_eq!(
                Some(last.content),
                example.sections.last().map(|section| section.content.value.as_str())
            );
            assert!(monitor.sections().skip(1).any(|section| section.author == Author::Model));
            assert_eq!(monitor.text().trim_end(), automaton.example_text(example).trim_end(), "{name}");
            count += 1;
        }
        assert!(automaton.without_examples().spec().examples.is_empty());
    }
    assert!(count >= 9, "{count}");
}

#[test]
fn what_the_environment_writes_in_an_example_is_no_prompt() {
    let source = r#"(define d
  (:states (q (:text "[q]")) (a (:text "[a]")) (e (:text "[e]") (:flags :env-input) (:handler evaluate)))
  (:behavior (next q a e))
  (:examples ((q "What does [a] mean?") (a " nothing ") (e "[q] is right"))))"#;
    let automaton = load(source, Compat::Ours).unwrap().automaton;
    let text = automaton.example_text(&automaton.spec().examples[0]);
    assert_eq!(text, "[q] What does [\\a] mean?\n[a] nothing\n[e] [\\q] is right\n");
}

#[test]
fn an_example_may_hold_a_prompt_where_the_monitor_takes_it() {
    let source = |input: &str| {
        format!(
            "(define d
  (:states (q (:text \"[q]\")) (t (:text \"[t]\") (:content tool)) (i (:text \"[i]\") (:content arguments))
           (o (:text \"[o]\") (:flags :env-input) (:handler run-call)) (a (:text \"[a]\")))
  (:behavior (next q t i o a))
  (:examples ((q \"x\") (t \"find\") (i #\"{input}\"#) (o \"y\") (a \"z\"))))"
        )
    };
    for (input, is_taken) in [
        (r#"{"x": "[o] in json"}"#, true),
        (r#"{"x": "say \"[o]\" twice [a]"}"#, true),
        (r#"{"x": ["[o]", {"[q]": "[t]"}]}"#, true),
        (r#"{"x": "y"} [o]"#, false),
        (r#"{"x": [o]}"#, false),
        (r#"[o] {"x": 1}"#, false),
        (r#"say "[o]""#, false),
        (r#"{"x": "y [o]"#, false),
    ] {
        let loaded = load(&source(input), Compat::Ours);
        let text = loaded.as_ref().err().map(ToString::to_string).unwrap_or_default();
        assert_eq!(loaded.is_ok(), is_taken, "{input}: {text}");
        assert!(is_taken || text.contains("it holds the prompt of"), "{input}: {text}");
    }
}
