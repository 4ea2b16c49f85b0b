//! `planproof synth --rewrite`: cases in a model's words, with a scripted model as writer and judge.

use serde_json::{Value, json};

use crate::stand_in::{StandIn, answer, model_command};
use crate::support::{Place, Run, json_lines};

/// Whom a request is for, and the text of its prompt.
fn asked(body: &Value) -> (String, String) {
    let messages = body["messages"].as_array().unwrap();
    let text = messages.last().unwrap()["content"].as_str().unwrap().to_owned();
    (body["model"].as_str().unwrap().to_owned(), text)
}

fn pairs(case: &Value) -> Vec<(String, String)> {
    let constraints = case["constraints"].as_array().unwrap().iter().filter(|it| it["kind"] == "before");
    constraints
        .map(|it| (it["first"].as_str().unwrap().to_owned(), it["second"].as_str().unwrap().to_owned()))
        .collect()
}

fn name(case: &Value, id: &str) -> String {
    let action = case["actions"].as_array().unwrap().iter().find(|action| action["id"] == id).unwrap();
    action["text"].as_str().unwrap().to_owned()
}

/// The pairs in English that the reader knows.
fn readable(case: &Value, pairs: &[(String, String)]) -> String {
    let sentence = |(first, second): &(String, String)| {
        let (first, second) = (name(case, first), name(case, second));
        format!("{}{} precedes {second}.", first[..1].to_uppercase(), &first[1..])
    };
    pairs.iter().map(sentence).collect::<Vec<_>>().join(" ")
}

/// A text that the reader does not know, with the number of the case.
fn reworded(number: usize, case: &Value) -> String {
    let names: Vec<String> = case["actions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|action| action["text"].as_str().unwrap().to_owned())
        .collect();
    format!("Day {number}, folks: {} and so on!", names.join(" / "))
}

fn swapped(mut pairs: Vec<(String, String)>) -> Vec<(String, String)> {
    let (first, second) = pairs[0].clone();
    pairs[0] = (second, first);
    pairs
}

fn listed(case: &Value, pairs: &[(String, String)]) -> String {
    let mut all: Vec<Value> = pairs
        .iter()
        .map(|(first, second)| json!({"first": first, "second": second, "words": "folks"}))
        .collect();
    for it in case["constraints"].as_array().unwrap() {
        let Some(minute) = it["minute"].as_u64() else { continue };
        let clock = format!("{:02}:{:02}", minute / 60, minute % 60);
        let key = it["kind"].as_str().unwrap();
        all.push(json!({"action": it["action"], key: clock}));
    }
    json!({"constraints": all}).to_string()
}

/// A reply that takes 301 tokens.
fn say(text: &str) -> String {
    let message = json!({"role": "assistant", "content": text});
    let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
    let usage = json!({"prompt_tokens": 300, "completion_tokens": 1, "total_tokens": 301});
    let body = json!({"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage});
    answer("200 OK", "", &body.to_string())
}

/// What the writer and the judge do with the case of that number: faithful and readable; faithful in other words; an
/// order changed, in readable words and in others; others that the judge answers with rubbish; rubbish.
fn server(cases: Vec<Value>) -> StandIn {
    StandIn::start(move |_, body| {
        let (model, prompt) = asked(body);
        if model == "writer" {
            let find = |case: &Value| prompt.contains(case["paragraph"].as_str().unwrap());
            let number = cases.iter().position(find).expect("it is asked about a case");
            let case = &cases[number];
            return say(&match number % 6 {
                0 => readable(case, &pairs(case)),
                2 => readable(case, &swapped(pairs(case))),
                5 => "I would rather not.".to_owned(),
                _ => reworded(number, case),
            });
        }
        let number =
            (0..cases.len()).find(|number| prompt.contains(&format!("Day {number}, "))).expect("a text");
        let case = &cases[number];
        // The judge does not see the original.
        assert!(!prompt.contains(case["paragraph"].as_str().unwrap()));
        say(&match number % 6 {
            1 => format!("```json\n{}\n```", listed(case, &pairs(case))),
            3 => listed(case, &swapped(pairs(case))),
            _ => "It says a lot.".to_owned(),
        })
    })
}

fn drawn(place: &Place, options: &str) -> Vec<Value> {
    json_lines(&place.run(&format!("synth {options}")).code(0).out)
}

#[test]
fn only_texts_that_mean_the_same_are_kept() {
    let place = Place::new();
    let cases = drawn(&place, "--count 12 --actions 3");
    let server = server(cases.clone());
    let line = "synth --count 12 --actions 3 --rewrite openai/writer";
    let run =
        |options: &str| Run::of(model_command(&place, &format!("{line} {options}"), server.base_url()), "");
    let whole = run("--judge openai/judge").code(0);
    assert!(
        whole.err.contains("kept 4 of 12: 2 read, 2 judged; dropped 8: 4 mean something else, 4 unread"),
        "{whole:?}"
    );
    let kept = json_lines(&whole.out);
    let who: Vec<(&str, &Value)> =
        kept.iter().map(|case| (case["id"].as_str().unwrap(), &case["rewritten"])).collect();
    let [read, judged] = [
        json!({"writer": "openai/writer", "kept": "read"}),
        json!({"writer": "openai/writer", "kept": "judged", "judge": "openai/judge"}),
    ];
    let expected = [
        ("7-0.rewritten", &read),
        ("7-1.rewritten", &judged),
        ("7-6.rewritten", &read),
        ("7-7.rewritten", &judged),
    ];
    assert_eq!(who, expected);
    assert_eq!(kept[1]["paragraph"], reworded(1, &cases[1]));
    assert!(kept[1]["query"].as_str().unwrap().contains("Day 1, folks: "));

    // They are cases like all others: of the same tasks, tools and right plans.
    place.write("kept.jsonl", &whole.out);
    place.write("read.jsonl", &format!("{}\n{}\n", kept[0], kept[2]));
    place.run("read read.jsonl --verify").code(0);
    let report = place.run("test tools@sim/perfect --from read.jsonl --json -q").code(0).json();
    assert_eq!((&report["passed"], &report["runs"]), (&json!(2), &json!(2)));
    let order = |case: &Value| -> String {
        let all: Vec<String> = case["actions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["id"].as_str().unwrap().to_owned())
            .collect();
        let is_right = |order: &[&String]| {
            pairs(case).iter().all(|(first, second)| {
                let at = |id: &String| order.iter().position(|it| *it == id);
                at(first) < at(second)
            })
        };
        let tries = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        let right = tries.iter().map(|order| order.map(|place| &all[place])).find(|order| is_right(order));
        right.unwrap().map(String::as_str).join(",")
    };
    let judged = format!("check --case kept.jsonl --id 7-1.rewritten --calls {}", order(&cases[1]));
    place.run(&judged).code(0);
    // A finding quotes the new words.
    let reverse: Vec<&str> = judged.rsplit(' ').next().unwrap().rsplit(',').collect();
    let wrong =
        place.run(&format!("check --case kept.jsonl --id 7-1.rewritten --calls {}", reverse.join(",")));
    assert!(wrong.code(1).out.contains("«folks»"));

    // Without a judge only what the reader reads is kept.
    let alone = run("").code(0);
    assert!(
        alone.err.contains("kept 2 of 12: 2 read, 0 judged; dropped 10: 2 mean something else, 8 unread"),
        "{alone:?}"
    );
    assert!(alone.err.contains("with --judge MODEL another model reads"), "{alone:?}");
}

#[test]
fn clock_times_have_to_be_the_same_as_well() {
    let place = Place::new();
    let options = "--count 12 --actions 3 --time";
    let cases = drawn(&place, options);
    let server = server(cases);
    let line = format!("synth {options} --rewrite openai/writer --judge openai/judge");
    let run = Run::of(model_command(&place, &line, server.base_url()), "").code(0);
    // The readable texts leave the clock times out, which means something else.
    assert!(run.err.contains("2 judged; dropped"), "{run:?}");
    let judged: Vec<Value> =
        json_lines(&run.out).into_iter().filter(|it| it["rewritten"]["kept"] == "judged").collect();
    assert_eq!(judged.len(), 2);
    place.write("kept.jsonl", &judged.iter().map(|case| format!("{case}\n")).collect::<String>());
    // Simulated models read synthesised English alone, so nothing is said of them.
    let report = place.run("test tools@sim/perfect --from kept.jsonl --json -q").code(3).json();
    assert_eq!(report["unscored"], 2, "{report}");
}

#[test]
fn what_makes_no_sense_is_refused_and_a_budget_ends_it() {
    let place = Place::new();
    for (line, what) in [
        ("synth --rewrite openai/m --judge openai/m", "name another model than that of --rewrite"),
        ("synth --rewrite openai/m --infeasible 0.5", "--infeasible"),
        ("synth --judge openai/m", "--rewrite"),
        ("synth --max-tokens 5", "without --rewrite"),
    ] {
        let run = place.run(line).code(2);
        assert!(run.err.contains(what), "{line}: {run:?}");
    }
    let cases = drawn(&place, "--count 12 --actions 3");
    let server = server(cases);
    let line = "synth --count 12 --actions 3 --rewrite openai/writer --judge openai/judge --max-tokens 3000 --cache c.jsonl";
    let run = Run::of(model_command(&place, line, server.base_url()), "").code(3);
    assert!(
        run.err.contains("cases were rewritten") && run.err.contains("run it again to continue"),
        "{run:?}"
    );
    // What was answered is not asked again.
    let asked = server.requests();
    let line = line.replace("3000", "3000000");
    let whole = Run::of(model_command(&place, &line, server.base_url()), "").code(0);
    assert!(whole.err.contains("kept 4 of 12"), "{whole:?}");
    assert!(asked > 0 && server.requests() == 18, "{asked} and {}", server.requests());
}
