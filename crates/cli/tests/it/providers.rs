//! Providers by name: which server a name means, and where keys go.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::stand_in::{self, KEY, StandIn};
use crate::support::{Place, Run};

/// A server that answers every request with a text, and the heads of the requests that it got.
fn listener() -> (StandIn, Arc<Mutex<Vec<String>>>) {
    let heads = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&heads);
    let server = StandIn::start_with_heads(move |_, head, _: &Value| {
        seen.lock().unwrap().push(head.to_owned());
        stand_in::say("Done.")
    });
    (server, heads)
}

/// Runs one case with these variables; returns the heads of the requests.
fn heads_of(
    line: &str,
    variables: &[(&str, &str)],
    server: &(StandIn, Arc<Mutex<Vec<String>>>),
) -> Vec<String> {
    let place = Place::new();
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut command = place.command(&words);
    command.envs(variables.iter().copied());
    // The agent calls nothing, so it fails, which is a result.
    let run = Run::of(command, "").code(1);
    assert!(!run.out.contains(KEY) && !run.err.contains(KEY), "{run:?}");
    std::mem::take(&mut *server.1.lock().unwrap())
}

fn has_key(head: &str) -> bool {
    head.contains(KEY)
}

const CASE: &str = "--cases 1 --actions 3";

#[test]
fn a_provider_is_asked_at_its_own_base_url_with_its_own_key() {
    let server = listener();
    let url = server.0.base_url().to_owned();
    for (provider, base_url, key) in [
        ("groq", "GROQ_BASE_URL", "GROQ_API_KEY"),
        ("vllm", "VLLM_BASE_URL", "VLLM_API_KEY"),
        ("huggingface", "HUGGINGFACE_BASE_URL", "HF_TOKEN"),
        ("llamacpp", "LLAMACPP_BASE_URL", "LLAMACPP_API_KEY"),
    ] {
        let line = format!("test tools@{provider}/m {CASE}");
        let heads = heads_of(&line, &[(base_url, &url), (key, KEY)], &server);
        assert!(!heads.is_empty() && heads.iter().all(|head| has_key(head)), "{provider}: {heads:?}");
        // The keys of others are not sent.
        let heads = heads_of(&line, &[(base_url, &url), ("OPENAI_API_KEY", KEY)], &server);
        assert!(!heads.is_empty() && !heads.iter().any(|head| has_key(head)), "{provider}: {heads:?}");
    }
}

#[test]
fn a_server_that_is_named_by_its_url_gets_a_key_only_if_both_are_named() {
    let server = listener();
    let url = server.0.base_url().to_owned();
    let all = [("OPENAI_API_KEY", KEY), ("MINE_API_KEY", KEY), ("GPU_API_KEY", KEY)];
    let line = format!("test tools@mine={url}/org/m {CASE}");
    let heads = heads_of(&line, &all, &server);
    assert!(!heads.is_empty() && !heads.iter().any(|head| has_key(head)), "{heads:?}");
    assert!(server.0.bodies().iter().all(|body| body["model"] == "org/m"));
    let heads = heads_of(&format!("{line} --key-for {url}=GPU_API_KEY"), &all, &server);
    assert!(!heads.is_empty() && heads.iter().all(|head| has_key(head)), "{heads:?}");
    let heads = heads_of(&format!("{line} --key-for http://other.example/v1=GPU_API_KEY"), &all, &server);
    assert!(!heads.is_empty() && !heads.iter().any(|head| has_key(head)), "{heads:?}");
}

#[test]
fn two_servers_stand_in_one_table() {
    let (first, second) = (listener(), listener());
    let place = Place::new();
    let agents = [format!("a={}/m", first.0.base_url()), format!("b={}/m", second.0.base_url())];
    let line = format!("bench models {} {} --cases 1 --json -q", agents[0], agents[1]);
    let command = place.command(&line.split_whitespace().collect::<Vec<_>>());
    let rows = Run::of(command, "").code(0).json();
    let named: Vec<&str> =
        rows.as_array().unwrap().iter().map(|row| row["agent"].as_str().unwrap()).collect();
    assert_eq!(named, agents.map(|agent| format!("tools@{agent}")));
    assert!(first.0.requests() > 0 && second.0.requests() > 0);
    let recordings: Vec<&Value> = rows.as_array().unwrap().iter().map(|row| &row["recording"]).collect();
    assert_ne!(recordings[0], recordings[1]);
}

#[test]
fn a_file_adds_providers_and_its_faults_are_one_error() {
    let server = listener();
    let url = server.0.base_url().to_owned();
    let place = Place::new();
    let file = |entries: Value| {
        let document = json!({"schema": "planproof/providers/v1", "providers": entries});
        place.write("mine.json", &document.to_string());
        place.path("mine.json").display().to_string()
    };
    let path = file(json!([{"name": "gpu", "base_url": url, "key_variable": "GPU_TOKEN"}]));
    let line = format!("test tools@gpu/m --providers {path} {CASE}");
    let heads = heads_of(&line, &[("GPU_TOKEN", KEY)], &server);
    assert!(!heads.is_empty() && heads.iter().all(|head| has_key(head)), "{heads:?}");
    for (entries, expected) in [
        (json!([{"name": "gpu", "base_url": url, "keys": 1}]), "unknown field `keys`"),
        (
            json!([{"name": "gpu", "base_url": url}, {"name": "gpu", "base_url": url}]),
            "there are two providers named \"gpu\"",
        ),
        (json!([{"name": "openai", "base_url": url}]), "set OPENAI_BASE_URL to reach it elsewhere"),
        (
            json!([{"name": "gpu", "base_url": url, "key_variable": "HOME"}]),
            "does not say that it holds a key",
        ),
    ] {
        let path = file(entries);
        let run = place.run(&format!("test tools@gpu/m --providers {path} {CASE}")).code(2);
        assert!(run.err.contains(expected) && run.err.lines().count() <= 2, "{run:?}");
    }
    // Neither a configuration file nor a resumed campaign can bring one.
    place.write("planproof.toml", "[test]\nproviders = \"mine.json\"\n");
    let run = place.run("test tools@gpu/m").code(2);
    assert!(run.err.contains("providers"), "{run:?}");
    place.write("planproof.toml", "");
    let run = place.run("test tools@gpu/m").code(2);
    assert!(run.err.contains("unknown model \"gpu/m\""), "{run:?}");
}

/// What a configuration file says is reported before the file of providers is read, and must not hide that.
#[test]
fn a_file_of_providers_counts_beside_a_configuration_file() {
    let server = listener();
    let place = Place::new();
    let entry = json!([{"name": "gpu", "base_url": server.0.base_url(), "key_variable": "GPU_TOKEN"}]);
    place.write("mine.json", &json!({"schema": "planproof/providers/v1", "providers": entry}).to_string());
    place.write("planproof.toml", "[test]\ncases = 1\nactions = 3\n");
    let path = place.path("mine.json").display().to_string();
    let mut command = place.command(&["test", "tools@gpu/m", "--providers", &path]);
    command.env("GPU_TOKEN", KEY);
    let run = Run::of(command, "").code(1);
    assert!(run.err.contains("planproof.toml: ") && !run.err.contains(KEY), "{run:?}");
    let heads = server.1.lock().unwrap();
    assert!(!heads.is_empty() && heads.iter().all(|head| has_key(head)), "{heads:?}");
}

/// The same of a server that is named by its URL, whose key the command line names.
#[test]
fn a_key_for_a_server_counts_beside_a_configuration_file() {
    let server = listener();
    let place = Place::new();
    let url = server.0.base_url();
    place.write("planproof.toml", "[test]\ncases = 1\nactions = 3\n");
    let (agent, key_for) = (format!("tools@mine={url}/m"), format!("{url}=GPU_API_KEY"));
    for (words, is_sent) in
        [(&["test", &*agent, "--key-for", &*key_for][..], true), (&["test", &*agent], false)]
    {
        let mut command = place.command(words);
        command.env("GPU_API_KEY", KEY);
        let run = Run::of(command, "").code(1);
        assert!(run.err.contains("planproof.toml: ") && !run.err.contains(KEY), "{run:?}");
        let heads = std::mem::take(&mut *server.1.lock().unwrap());
        assert!(!heads.is_empty() && heads.iter().all(|head| has_key(head) == is_sent), "{heads:?}");
    }
}

#[test]
fn a_case_with_any_providers_key_is_refused() {
    let place = Place::new();
    let case = place.run("synth --count 1 --actions 3").code(0).out;
    let text = case.replace("When all tasks are done", &format!("Use {KEY}. When all tasks are done"));
    place.write("key.jsonl", &text);
    for variable in ["GROQ_API_KEY", "OLLAMA_API_KEY", "HF_TOKEN"] {
        let mut command = place.command(&["read", "key.jsonl"]);
        command.env(variable, KEY);
        let run = Run::of(command, "").code(2);
        assert!(
            run.err.contains(&format!("holds the key of {variable}")) && !run.err.contains(KEY),
            "{run:?}"
        );
    }
}
