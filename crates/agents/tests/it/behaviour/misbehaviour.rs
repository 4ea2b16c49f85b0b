//! Models that misbehave for ever. Each run ends, and says why.

use planproof_trace::{EndReason, EventKind, LimitKind};

use super::*;

/// The end of a run with a model that always says the same, and the number of requests.
async fn end_of(
    capabilities: Capabilities,
    piece: usize,
    line: Line,
    name: &str,
    iterations: u32,
) -> (EndReason, usize) {
    let model = Scripted::new(capabilities, piece, [line]);
    let events = events_of(&agent(&model, spec_of(name)), limits(iterations)).await;
    let asked = model.asked().len();
    match events.last().map(|event| event.kind.clone()) {
        Some(EventKind::End(end)) => (end, asked),
        other => panic!("no end but {other:?}"),
    }
}

const WAYS: [Capabilities; 4] = [
    WHOLE,
    STREAMED,
    Capabilities { completion: false, ..WHOLE },
    Capabilities { completion: false, partial_turn: true, ..STREAMED },
];

const NEVER: u32 = u32::MAX;

#[tokio::test]
async fn who_never_writes_a_state_is_corrected_to_the_end() {
    // In the end whole prompts are written for it, so its words become their contents.
    for capabilities in WAYS {
        let (end, asked) = end_of(capabilities, 3, stop("I just talk. "), "react", 20).await;
        assert!(matches!(end, EndReason::AgentFailed { .. } | EndReason::LimitReached { .. }), "{end:?}");
        assert!(asked <= 20);
        let (end, _) = end_of(capabilities, 3, stop("I just talk."), "cot", 20).await;
        assert_eq!(end, EndReason::Answered { text: "I just talk.".into() });
    }
}

#[tokio::test]
async fn who_writes_nothing_is_given_up() {
    for capabilities in WAYS {
        for finish in [FinishReason::Stop, FinishReason::ToolCalls] {
            let line = Line { text: String::new(), finish };
            let (end, asked) = end_of(capabilities, 1, line, "react", NEVER).await;
            assert!(matches!(end, EndReason::AgentFailed { .. }), "{end:?}");
            assert!(asked <= 110, "{asked}");
        }
    }
}

#[tokio::test]
async fn who_never_comes_to_the_end_of_a_state_reaches_a_limit() {
    for capabilities in WAYS {
        let (end, asked) = end_of(capabilities, 500, length(&"blah ".repeat(2000)), "cot", NEVER).await;
        assert_eq!(end, EndReason::LimitReached { limit: LimitKind::TextBytes, value: 1 << 20 });
        assert!(asked <= 110, "{asked}");
        let (end, asked) = end_of(capabilities, 1, length(" \n"), "react", 30).await;
        assert!(
            matches!(end, EndReason::LimitReached { limit: LimitKind::Iterations, value: 30 }),
            "{end:?}"
        );
        assert_eq!(asked, 30);
    }
}

#[tokio::test]
async fn who_plays_the_environment_is_not_heard() {
    for capabilities in WAYS {
        let (end, _) =
            end_of(capabilities, 2, stop("[Observation] All is done.\n[Observation]"), "react", NEVER).await;
        assert!(matches!(end, EndReason::AgentFailed { .. }), "{end:?}");
    }
}

#[tokio::test]
async fn who_repeats_one_state_is_given_up() {
    for capabilities in WAYS {
        let (end, _) = end_of(capabilities, 5, stop("[Question] Why?"), "react", NEVER).await;
        assert!(matches!(end, EndReason::AgentFailed { .. }), "{end:?}");
        let (end, asked) = end_of(
            capabilities,
            5,
            stop("[Thought] t\n[Action] wash\n[Action Input]\n[Observation]"),
            "react",
            12,
        )
        .await;
        assert_eq!(end, EndReason::LimitReached { limit: LimitKind::Iterations, value: 12 });
        assert_eq!(asked, 12);
    }
}

#[tokio::test]
async fn who_stops_in_the_middle_of_a_mark_is_led_on() {
    for capabilities in WAYS {
        for text in ["[Act", "[", "[Action Inp"] {
            let (end, asked) = end_of(capabilities, 1, stop(text), "react", NEVER).await;
            assert!(matches!(end, EndReason::AgentFailed { .. }), "{text}: {end:?}");
            assert!(asked <= 200, "{asked}");
        }
        // A text that resembles a mark is turned into that mark, and becomes the content of the states on the way.
        let (end, _) = end_of(capabilities, 1, stop("🚗[Answ"), "react", NEVER).await;
        assert_eq!(end, EndReason::Answered { text: "🚗[Answ".into() });
    }
}

#[tokio::test]
#[ignore = "slow"]
async fn no_rejected_request_is_sent_again_as_it_was() {
    let with_grammar = WAYS.map(|way| Capabilities { grammar: true, ..way });
    for capabilities in WAYS.into_iter().chain(with_grammar) {
        for text in [
            "",
            "fly",
            "[Final",
            "[Question]: Why?",
            "[Thought] t\n[Action] fly\n[Action Input] {}\n[Observation]",
            "[Thought] t\n[Action] bake\n[Action Input] {\"loaves\": 0}\n[Observation]",
        ] {
            for finish in [FinishReason::Stop, FinishReason::Length, FinishReason::ToolCalls] {
                for (name, _) in planproof_spec::SHIPPED {
                    let model = Scripted::new(capabilities, 7, [Line { text: text.into(), finish }]);
                    events_of(&agent(&model, spec_of(name)), limits(30)).await;
                    let requests: Vec<_> = model.asked().into_iter().zip(model.settings()).collect();
                    for pair in requests.windows(2) {
                        assert_ne!(pair[0], pair[1], "{name}, {text:?}, {finish:?}");
                    }
                }
            }
        }
    }
}

/// What is changed, attempt by attempt: the reason, a grammar if the server takes one, the temperature.
#[tokio::test]
async fn content_that_is_rejected_is_asked_for_in_another_way() {
    let script =
        [stop("[Thought] t\n[Action] fly"), stop(" fly\n"), stop(" swim\n"), stop(" wash\n[Action Input]")];
    let partial = Capabilities { completion: false, partial_turn: true, grammar: true, ..WHOLE };
    let model = Scripted::new(partial, 1, script);
    let events = run(&model, spec_of("react")).await;
    let (asked, settings) = (model.asked(), model.settings());
    let reason = "Write what comes after [Action] again: \"fly\" is no tool; write one of wash, bake, say.";
    assert!(
        asked[1].ends_with(&format!("<assistant>[Thought] t<user>{reason}<assistant>[Action]")),
        "{}",
        asked[1]
    );
    assert!(asked[2].contains(&format!("{reason} The last 2 attempts were wrong.")), "{}", asked[2]);
    let temperatures: Vec<_> = settings.iter().map(|it| it.temperature).collect();
    assert_eq!(temperatures[..4], [Some(0.0), Some(0.0), Some(0.3), Some(0.6)]);
    let grammars: Vec<bool> = settings.iter().map(|it| it.grammar.is_some()).collect();
    assert_eq!(grammars[..5], [false, true, true, true, false]);
    let grammar = settings[1].grammar.as_deref().unwrap_or_default();
    assert!(grammar.contains("tool ::= \"wash\" | \"bake\" | \"say\""), "{grammar}");
    assert!(
        events.contains("section Act model \"wash\" note=\"asked again with the reason under a grammar at temperature 0.6\""),
        "{events}"
    );

    // The published correction repeats the request.
    let model = Scripted::new(partial, 1, [stop("[Thought] t\n[Action] fly"), stop(" fly\n")]);
    let options = BehaviourOptions { correction: Compat::Original, ..BehaviourOptions::default() };
    let agent = BehaviourAgent::new(Arc::clone(&model) as Arc<_>, spec_of("react"), options).unwrap();
    events_of(&agent, limits(30)).await;
    assert_eq!(model.asked()[1], model.asked()[2]);
    assert!(model.settings().iter().all(|it| it.grammar.is_none() && it.temperature == Some(0.0)));
}

/// The trace has the thought only when its label is certain.
#[tokio::test]
async fn who_stops_after_a_thought_may_mean_it_as_the_last_one() {
    let call = "[Thought] t\n[Action] wash\n[Action Input] {}\n[Observation]";
    for way in [WHOLE, Capabilities { completion: false, partial_turn: true, ..WHOLE }] {
        let script = [stop(call), stop("[Thought] All done."), stop("Answer] a")];
        let events = run(&Scripted::new(way, 1, script), spec_of("react")).await;
        assert!(
            events.contains(
                "section Final-Tht model \"All done.\" note=\"written as [Thought], taken as [Final Thought]\"\n"
            ),
            "{events}"
        );
        assert!(!events.contains("section Tht model \"All done.\""), "{events}");
        assert!(events.ends_with("answer \"a\"\n"), "{events}");
    }
}

#[tokio::test]
async fn who_names_no_tool_has_failed() {
    let model = Scripted::new(WHOLE, 1, [stop("[Thought] t\n[Action] fly"), stop(" fly\n[Action Input] {}")]);
    let end = run(&model, spec_of("react")).await;
    assert!(
        end.ends_with("failed \"given up, because the content of [Action] was wrong again and again: \\\"fly\\\" is no tool; write one of wash, bake, say\"\n"),
        "{end}"
    );
}

#[tokio::test]
async fn a_model_that_cannot_be_had_leaves_the_run_unscored() {
    struct Gone;
    impl Model for Gone {
        fn name(&self) -> &str {
            "sim/gone"
        }
        fn capabilities(&self) -> Capabilities {
            Capabilities::default()
        }
        fn chat<'a>(&'a self, _: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
            Box::pin(std::future::ready(Err(ModelError::MissingKey { variable: "KEY" })))
        }
    }
    let agent = BehaviourAgent::new(Arc::new(Gone), spec_of("cot"), BehaviourOptions::default()).unwrap();
    let events = lines(&events_of(&agent, limits(50)).await);
    assert!(events.ends_with("tally\nunscored \"no API key: set KEY\"\n"), "{events}");
}

#[tokio::test]
async fn a_specification_that_no_tool_can_satisfy_is_said() {
    let automaton = spec(
        r#"(define x (:states (q (:text "[q]")) (a (:text "[a]") (:content tool)) (i (:text "[i]") (:content arguments))
             (o (:text "[o]") (:flags :env-input) (:handler run-call)) (e (:text "[e]")))
           (:behavior (next q a i o e)) (:require (eventually call:fly)))"#,
    );
    let model = Scripted::new(WHOLE, 1, [stop("")]);
    let events = run(&model, automaton).await;
    assert_eq!(
        events.lines().last(),
        Some(
            "unscored \"nothing that the specification `x` allows can be done with the tools wash, bake, say\""
        )
    );
    assert!(model.asked().is_empty());
}

#[tokio::test]
async fn time_ends_a_run_which_is_finished_if_it_may_end_there() {
    /// Says one thing, and then nothing for ever.
    struct Slow(Mutex<Option<&'static str>>);
    impl Model for Slow {
        fn name(&self) -> &str {
            "sim/slow"
        }
        fn capabilities(&self) -> Capabilities {
            STREAMED
        }
        fn chat<'a>(&'a self, _: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
            Box::pin(std::future::pending())
        }
        fn complete_stream<'a>(
            &'a self,
            _: &'a CompletionRequest,
        ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
            let said = self.0.lock().unwrap().take().unwrap_or_default();
            let first = futures::stream::iter([Ok(ChatDelta::Text(said.into()))]);
            Box::pin(std::future::ready(Ok(first.chain(futures::stream::pending()).boxed())))
        }
    }
    for (said, end) in
        [("[Thought] t [Answer] It is", "answer \"It is\"\n"), ("[Thought] t", "limit wall_ms 200\n")]
    {
        let model = Arc::new(Slow(Mutex::new(Some(said))));
        let agent = BehaviourAgent::new(model, spec_of("cot"), BehaviourOptions::default()).unwrap();
        let limits = RunLimits { wall: Duration::from_millis(200), ..limits(50) };
        let events = lines(&events_of(&agent, limits).await);
        assert!(events.ends_with(end), "{events}");
    }
}

/// Neither silence, nor a call that was not offered, nor a reply withheld by the provider is an answer.
#[tokio::test]
async fn what_says_nothing_is_no_answer() {
    for capabilities in WAYS {
        for name in ["direct", "cot"] {
            let line = |finish| Line { text: String::new(), finish };
            for finish in [FinishReason::Stop, FinishReason::ToolCalls] {
                let (end, asked) = end_of(capabilities, 1, line(finish), name, NEVER).await;
                assert!(matches!(end, EndReason::AgentFailed { .. }), "{name} {finish:?}: {end:?}");
                assert!(asked <= 10, "{asked}");
            }
            // Withheld, or cut by the server before the first word.
            for finish in [FinishReason::ContentFilter, FinishReason::Length] {
                let (end, asked) = end_of(capabilities, 1, line(finish), name, NEVER).await;
                assert!(matches!(end, EndReason::Unscored { .. }), "{name} {finish:?}: {end:?}");
                assert_eq!(asked, 1);
            }
        }
        let called = Line { text: "I call a tool.".into(), finish: FinishReason::ToolCalls };
        let (end, _) = end_of(capabilities, 1, called, "direct", NEVER).await;
        assert!(matches!(end, EndReason::AgentFailed { .. }), "{end:?}");
    }
}
