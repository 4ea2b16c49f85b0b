//! Every way of asking a model, streamed and whole.

use planproof_agents::{BehaviourError, instructions};
use planproof_tools::Toolbox as _;
use planproof_trace::{Continuation, EventKind};

use super::*;

fn script() -> [Line; 4] {
    [
        stop(
            "[Thought] I wash first.\n[Action] wash\n[Action Input]\n[Observation] It shines.\n[Answer] Done.",
        ),
        // The server omits the mark at which it stopped, and the tool's name is in upper case.
        stop("[Thought] Now the bread. ö\n[Action] BAKE\n[Action Input] {\"loaves\": 2}\n"),
        // A state that is not allowed, which is cut off.
        stop("[Answer] Done.\n[Thought] Or not?"),
        // It resumes where the monitor stopped it, and continues to write after the end.
        stop(" Both are done.\n[Answer] Done. [Question] And now?"),
    ]
}

const CHAT: Capabilities = Capabilities { completion: false, ..WHOLE };
const PARTIAL: Capabilities = Capabilities { partial_turn: true, ..CHAT };

#[tokio::test]
async fn a_text_is_continued() {
    let model = Scripted::new(WHOLE, 1, script());
    let events = run(&model, spec_of("react")).await;
    insta::assert_snapshot!(events);
    let prompt = instructions(&spec_of("react"), tools().tools(), Continuation::Text);
    let asked = model.asked();
    assert_eq!(asked[0], format!("{prompt}\n\n[Question] {QUERY}\n"));
    let written = "[Thought] I wash first.\n[Action] wash\n[Action Input]\n[Observation] wash is done\n";
    assert_eq!(asked[1], format!("{prompt}\n\n[Question] {QUERY}\n{written}"));
    assert!(asked[3].ends_with("[Observation] bake is done\n[Final Thought]"), "{}", asked[3]);
}

#[tokio::test]
async fn a_turn_of_its_own_is_continued() {
    let model = Scripted::new(PARTIAL, 1, script());
    run(&model, spec_of("react")).await;
    let asked = model.asked();
    let prompt = instructions(&spec_of("react"), tools().tools(), Continuation::PartialTurn);
    assert_eq!(asked[0], format!("<system>{prompt}<user>{QUERY}"));
    let written = "[Thought] I wash first.\n[Action] wash\n[Action Input]\n[Observation] wash is done\n";
    assert_eq!(asked[1], format!("<system>{prompt}<user>{QUERY}<assistant>{written}"));
    assert!(asked[3].ends_with("[Observation] bake is done\n[Final Thought]"), "{}", asked[3]);
}

#[tokio::test]
async fn what_a_chat_repeats_is_taken_off() {
    let mut script = script();
    script[1].text = format!("[Observation] wash is done\n{}", script[1].text);
    script[3].text = format!("[Final Thought]{}", script[3].text);
    let model = Scripted::new(CHAT, 1, script);
    let events = run(&model, spec_of("react")).await;
    assert!(events.ends_with("answer \"Done.\"\n") && events.contains("spec react chat\n"), "{events}");
    let asked = model.asked();
    let prompt = instructions(&spec_of("react"), tools().tools(), Continuation::Chat);
    assert_eq!(asked[0], format!("<system>{prompt}<user>{QUERY}"));
    insta::assert_snapshot!(asked[3].split_once("<assistant>").unwrap().1);
}

/// Everything that does not depend on how the model is asked: all events except its turns and the request mode.
fn essence(events: &[Event]) -> Vec<EventKind> {
    let kinds = events.iter().map(|event| event.kind.clone());
    let is_essential = |kind: &EventKind| {
        !matches!(
            kind,
            EventKind::Turn { .. }
                | EventKind::Spec { .. }
                | EventKind::Correction { .. }
                | EventKind::Tally(_)
        )
    };
    kinds.filter(is_essential).collect()
}

#[tokio::test]
async fn all_ways_come_to_the_same() {
    let mut seen = Vec::new();
    for capabilities in [WHOLE, CHAT, PARTIAL] {
        for streaming in [false, true] {
            for piece in [1, 3, 7, 1000] {
                let model = Scripted::new(Capabilities { streaming, ..capabilities }, piece, script());
                let events = events_of(&agent(&model, spec_of("react")), limits(50)).await;
                seen.push(essence(&events));
            }
        }
    }
    assert!(seen.iter().all(|events| *events == seen[0]), "{seen:?}");
}

#[tokio::test]
async fn a_stream_is_cut_where_it_goes_wrong() {
    let model = Scripted::new(STREAMED, 4, script());
    insta::assert_snapshot!(run(&model, spec_of("react")).await);
}

#[tokio::test]
async fn an_output_cut_at_its_length_is_asked_to_go_on() {
    let script = [length(" I"), length(" think"), length(" well.\n[Answer"), length("] Yes"), stop(".")];
    let model = Scripted::new(STREAMED, 2, script);
    let events = run(&model, spec_of("cot")).await;
    assert!(
        events.contains("section Tht model \"I think well.\"") && events.ends_with("answer \"Yes.\"\n"),
        "{events}"
    );
    assert!(!events.contains("correct"), "{events}");
}

#[tokio::test]
async fn the_model_is_told_what_is_wrong_with_its_content() {
    let script = [
        stop("[Thought] I bake.\n[Action] Fly\n[Action Input] {}"),
        stop(" bake\n[Action Input] {\"loaves\": 0}\n[Observation]"),
        stop(" {\"loaves\": 1}\n[Observation]"),
        stop("[Final Thought] f\n[Answer] a"),
    ];
    for capabilities in [WHOLE, CHAT, PARTIAL] {
        let model = Scripted::new(capabilities, 1, script.clone());
        let events = run(&model, spec_of("react")).await;
        let asked = model.asked();
        assert!(asked[1].contains("\"Fly\" is no tool; write one of wash, bake, say"), "{}", asked[1]);
        assert!(
            asked[2].contains("the input does not fit the schema of bake: at /loaves: 0 is less than"),
            "{}",
            asked[2]
        );
        assert!(!asked[3].contains("is less than"), "what is mended is not told again: {}", asked[3]);
        assert!(
            events.contains("call bake {\"loaves\":1}") && events.ends_with("answer \"a\"\n"),
            "{events}"
        );
    }
}

#[tokio::test]
async fn calls_run_in_their_order_and_answer_in_it() {
    let automaton = spec(
        r#"(define several (:states
            (Q (:text "[Q]"))
            (A (:text "[Act]") (:content tool))
            (I (:text "[In]") (:content arguments))
            (O (:text "[Out]") (:flags :env-input) (:handler run-calls))
            (E (:text "[End]")))
          (:behavior (next Q (always (next A I)) O E)))"#,
    );
    let model = Scripted::new(
        WHOLE,
        1,
        [stop("[Act] say\n[In] [1, 2]\n[Act] wash\n[In] x\n[Act] bake\n[In] {\"loaves\": 1}\n"), stop(" ok")],
    );
    insta::assert_snapshot!(run(&model, automaton).await);
}

#[test]
fn what_cannot_be_asked_or_done_is_refused() {
    let refused = |model: &Arc<Scripted>, name, continuation| {
        let options = BehaviourOptions { continuation, ..BehaviourOptions::default() };
        BehaviourAgent::new(Arc::clone(model) as Arc<_>, name, options).err()
    };
    let model = Scripted::new(CHAT, 1, []);
    let found = refused(&model, spec_of("react"), Some(Continuation::Text));
    assert_eq!(
        found.map(|error| error.to_string()),
        Some("sim/scripted cannot be asked in the way \"text\"".to_owned())
    );
    assert_eq!(refused(&model, spec_of("react"), Some(Continuation::Chat)), None);
    let nobody = load(
        r#"(define x (:states (a (:text "[a]")) (b (:text "[b]") (:flags :env-input))) (:behavior (next a b)))"#,
        Compat::Original,
    );
    let found = refused(&model, nobody.unwrap().automaton, None);
    assert!(matches!(found, Some(BehaviourError::NoHandler { .. })), "{found:?}");
}

/// A conversation about a question and its answer needs no marks.
#[tokio::test]
async fn a_plain_question_is_asked_as_it_is() {
    const TOLD: &str =
        "Answer the question. Your whole message is taken for the answer: the answer and nothing else.";
    for capabilities in [CHAT, PARTIAL] {
        let model = Scripted::new(capabilities, 1, [length("It [is] "), stop("done.")]);
        let events = run(&model, spec_of("direct")).await;
        assert!(events.ends_with("answer \"It [is] done.\"\n"), "{events}");
        let asked = model.asked();
        assert_eq!(asked[0], format!("<system>{TOLD}<user>{QUERY}"));
        assert!(
            asked[1].starts_with(&format!("<system>{TOLD}<user>{QUERY}<assistant>It [is]")),
            "{}",
            asked[1]
        );
        assert_eq!(asked.len(), 2);
    }
    // A model that has seen the marks elsewhere may still write them.
    let model = Scripted::new(CHAT, 1, [stop("[Answer] Done.")]);
    assert!(run(&model, spec_of("direct")).await.ends_with("answer \"Done.\"\n"));

    let short = r#"(define short (:instructions "Be kind.")
      (:states (Q (:text "[Q]")) (A (:text "[A]") (:content (matches "[0-9]+"))))
      (:behavior (next Q A)))"#;
    let model = Scripted::new(CHAT, 1, [stop("four"), stop("4")]);
    assert!(run(&model, spec(short)).await.ends_with("answer \"4\"\n"));
    let asked = model.asked();
    let prompt = "Be kind.\n\nAnswer the question. Your whole message is taken for the answer: it must match the regular \
                expression [0-9]+.";
    assert_eq!(asked[0], format!("<system>{prompt}<user>{QUERY}"));
    assert!(
        asked[1].ends_with(&format!("\n\n{prompt}<user>{QUERY}")) && asked[1].contains("[0-9]+"),
        "{}",
        asked[1]
    );

    // A text that is continued keeps its marks.
    let model = Scripted::new(WHOLE, 1, [stop("Done.")]);
    run(&model, spec_of("direct")).await;
    assert!(model.asked()[0].ends_with(&format!("\n\n[Question] {QUERY}\n[Answer]")), "{}", model.asked()[0]);
}
