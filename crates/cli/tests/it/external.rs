//! Agents that are programs, well and badly made ones. Whatever they do wrong is a result.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::child;
use crate::support::Place;

/// The report on two cases of an agent that is this shell script, after a look at its tools.
fn report(place: &Place, script: &str, options: &str) -> Value {
    let agent = format!("command:sh -c '{} {script}'", child::look_at_tools());
    let mut words = vec!["test", &agent, "--cases", "2", "-q", "--json"];
    words.extend(options.split_whitespace());
    place.run_words(&words).code(1).json()
}

fn ends(place: &Place) -> Vec<Value> {
    let trace = place.run("runs export last").code(0).out;
    crate::support::json_lines(&trace).into_iter().filter(|event| event["type"] == "end").collect()
}

#[test]
fn an_agent_that_hangs_is_ended_with_its_children() {
    let place = Place::new();
    let start = Instant::now();
    let script = "sleep 3600 & echo $! >> children; trap : TERM; sleep 3600";
    // In a process namespace the children would not know their numbers outside.
    let report = report(&place, script, "--timeout 0.5 --isolate none");
    assert!(start.elapsed() < Duration::from_secs(60));
    assert_eq!(report["classes"]["timeout"], 2);
    assert_eq!(ends(&place)[0]["reason"], "limit_reached");
    let children = std::fs::read_to_string(place.path("children")).unwrap();
    assert_eq!(children.lines().count(), 2);
    for child in children.lines() {
        crate::until("the child is gone", || (!crate::interrupt::is_alive(child)).then_some(()));
    }
}

#[test]
fn an_agent_that_floods_us_is_ended() {
    let place = Place::new();
    let report = report(&place, "yes", "");
    assert_eq!(report["classes"]["timeout"], 2);
    assert!(ends(&place)[0].to_string().contains("output_bytes"), "{:?}", ends(&place));
    let report = self::report(&place, "yes >&2", "");
    assert_eq!(report["classes"]["timeout"], 2);
}

#[test]
fn an_agent_that_does_nothing_has_lost_the_actions() {
    let place = Place::new();
    let report = report(&place, "echo All done.", "");
    assert_eq!(report["classes"]["action_lost"], 2);
    assert_eq!(
        (&ends(&place)[0]["reason"], &ends(&place)[0]["text"]),
        (&json!("answered"), &json!("All done."))
    );
    // An agent that never reads its query.
    let report = self::report(&place, "exec true <&-", "");
    assert_eq!(report["classes"]["action_lost"], 2);
}

#[test]
fn an_agent_that_dies_has_failed() {
    let place = Place::new();
    for (script, why) in [
        (
            "echo no such module >&2; exit 7",
            "the command ended with exit status: 7; its stderr ends with:\nno such module",
        ),
        ("exit 1", "the command ended with exit status: 1 and nothing on stderr"),
        ("kill -9 $$", "the command ended with signal: 9 (SIGKILL) and nothing on stderr"),
    ] {
        let report = report(&place, script, "");
        assert_eq!(
            (&report["classes"]["act_error"], &report["flags"]["agent_failed"]),
            (&json!(2), &json!(2))
        );
        let end = &ends(&place)[0];
        assert_eq!((&end["reason"], &end["message"]), (&json!("agent_failed"), &json!(why)));
    }
}

#[test]
fn an_agent_gets_the_query_and_a_url_of_its_own() {
    let place = Place::new();
    report(
        &place,
        "cat > query-$$; echo $PLANPROOF_MCP_URL >> urls; [ \"$PLANPROOF_QUERY\" = \"$(cat query-$$)\" ] && echo same",
        "",
    );
    let urls = std::fs::read_to_string(place.path("urls")).unwrap();
    let mut urls: Vec<&str> = urls.lines().collect();
    urls.sort_unstable();
    urls.dedup();
    assert_eq!(urls.len(), 2, "each run has its own");
    assert!(urls.iter().all(|url| url.starts_with("http://127.0.0.1:")));
    assert!(ends(&place).iter().all(|end| end["text"] == "same"), "{:?}", ends(&place));
}

#[test]
fn an_agent_is_told_of_the_model_that_is_served_to_it() {
    let place = Place::new();
    let script = "echo $OPENAI_MODEL $OPENAI_BASE_URL; [ -n \"$OPENAI_API_KEY\" ] && [ \"$OPENAI_API_KEY\" != \"$SECRET\" ]";
    let report = report(&place, script, "--serve-model sim/careless");
    assert_eq!((&report["model"], &report["simulated"]), (&json!("sim/careless"), &json!(true)));
    let text = ends(&place)[0]["text"].as_str().unwrap().to_owned();
    assert!(text.starts_with("sim/careless http://127.0.0.1:") && text.ends_with("/v1"), "{text}");
    // The clients of the other protocols find the same server by what they read.
    let script = "[ -n \"$ANTHROPIC_API_KEY$GEMINI_API_KEY\" ] || exit 1; echo $ANTHROPIC_MODEL $GEMINI_MODEL \
                  $([ $ANTHROPIC_BASE_URL/v1 = $OPENAI_BASE_URL ] && [ $GOOGLE_GEMINI_BASE_URL/v1 = $OPENAI_BASE_URL ] \
                  && [ $ANTHROPIC_API_KEY$GEMINI_API_KEY = $OPENAI_API_KEY$OPENAI_API_KEY ] && echo same)";
    let place = Place::new();
    crate::external::report(&place, script, "--serve-model sim/careless");
    assert_eq!(ends(&place)[0]["text"], "sim/careless sim/careless same");
    let list = place.run("runs list").code(0).out;
    assert!(list.contains("(simulation)"), "{list}");
}

/// An agent in a container reaches this machine by another name, which stands in the URLs that it is given.
#[test]
fn an_agent_elsewhere_is_given_another_name_of_this_machine() {
    let place = Place::new();
    let local =
        "export PLANPROOF_MCP_URL=$(echo $PLANPROOF_MCP_URL | sed s/host.docker.internal/127.0.0.1/);";
    let urls = "echo $PLANPROOF_MCP_URL $OPENAI_BASE_URL $ANTHROPIC_BASE_URL;";
    let agent = format!("command:sh -c '{urls} {local} {} true'", child::look_at_tools());
    let names = ["--allow-host", "Host.docker.internal", "--allow-host", "gateway"];
    let words = ["test", &agent, "--cases", "1", "-q", "--serve-model", "sim/perfect"];
    place.run_words(&[&words[..], &names].concat()).code(1);
    let text = ends(&place)[0]["text"].as_str().unwrap().to_owned();
    let urls: Vec<&str> = text.split_whitespace().collect();
    assert!(
        urls.len() == 3 && urls.iter().all(|url| url.starts_with("http://host.docker.internal:")),
        "{text}"
    );
}

/// What is recorded, replayed and limited is what the model is asked, in whatever protocol.
#[test]
fn a_recording_and_a_limit_hold_for_each_protocol() {
    let place = Place::new();
    let ask = |does: &str, options: &str| child::test(&place, does, &format!("{options} -q --json"));
    let recorded = ask("ask-messages", "--cases 3 --serve-model sim/perfect --record r.jsonl").code(1).json();
    assert_eq!((&recorded["unscored"], &recorded["failed"]), (&json!(0), &json!(3)));
    assert!(recorded["tokens"]["output"].as_u64().unwrap() > 0, "{recorded}");
    for does in ["ask-messages", "ask-contents", "ask"] {
        let replayed = ask(does, "--replay r.jsonl").json();
        assert_eq!(
            (&replayed["unscored"], &replayed["failed"]),
            (&json!(0), &json!(3)),
            "{does}: {replayed}"
        );
        assert_eq!(replayed["tokens"], recorded["tokens"], "{does}");
    }
    for does in ["ask-messages ask-contents", "ask-contents ask-messages"] {
        let limited = ask(does, "--cases 1 --serve-model sim/perfect --iterations 1").code(1).json();
        assert_eq!(limited["classes"]["timeout"], 1, "{does}: {limited}");
        let refused =
            ask(does, "--cases 2 --serve-model sim/perfect --max-tokens 1500 --concurrency 1").json();
        assert_eq!(refused["ended_by"], json!("1500 tokens"), "{does}: {refused}");
    }
}
