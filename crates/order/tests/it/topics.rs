//! Topics from models that answer rightly, badly and not at all, and of a user's own tools.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use planproof_model::{
    BoxFuture, Capabilities, ChatReply, ChatRequest, Message, Model, ModelError, TurnState,
};
use planproof_order::OrderRun as _;
use planproof_order::topics::{
    Generated, OwnTools, ROUNDS_MAX, TopicsWanted, generate_topics, name_tools, prove_topics,
};
use planproof_sim::{SimKind, SimModel};
use planproof_synth::file::{read_case, write_case};
use planproof_synth::{
    Mutation, Mutator, OrderClass, PlanningCase, SynthesisOptions, Synthesizer, TimeOptions, TopicBank,
    Wordings, read,
};
use planproof_trace::{FinishReason, Tool, Usage};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::run_typed;

/// Answers each request as a function of it.
struct Scripted<F> {
    answer: F,
    asked: Mutex<Vec<String>>,
}

impl<F: Fn(&str, usize) -> Result<String, ModelError> + Send + Sync> Model for Scripted<F> {
    fn name(&self) -> &str {
        "scripted"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        let users: Vec<&str> = request
            .messages
            .iter()
            .filter_map(|message| match message {
                Message::User { text } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        self.asked.lock().expect("nothing panics").push(users.last().copied().unwrap_or_default().to_owned());
        let text = (self.answer)(users[0], users.len());
        let reply = |text| ChatReply {
            text,
            calls: Vec::new(),
            finish: FinishReason::Stop,
            usage: Usage::default(),
            id: None,
            state: TurnState::default(),
        };
        Box::pin(std::future::ready(text.map(reply)))
    }
}

/// What comes of it when a model answers like that: the prompt's first message and the number of the round are given.
async fn generate(
    jobs: u32,
    activities: u32,
    answer: impl Fn(&str, usize) -> Result<String, ModelError> + Send + Sync + 'static,
) -> (Generated, Vec<String>) {
    let scripted = Arc::new(Scripted { answer, asked: Mutex::default() });
    let model: Arc<dyn Model> = Arc::clone(&scripted) as Arc<dyn Model>;
    let wanted = TopicsWanted { jobs, activities, seed: 7 };
    let generated = generate_topics(&model, wanted, &CancellationToken::new(), |_| {}).await;
    let asked = scripted.asked.lock().expect("nothing panics").clone();
    (generated, asked)
}

fn is_about_jobs(prompt: &str) -> bool {
    prompt.starts_with("Please provide a list of ")
}

#[tokio::test]
async fn every_simulation_answers_in_its_way() {
    for kind in [SimKind::Perfect, SimKind::Careless, SimKind::Clumsy, SimKind::Forgetful] {
        let model: Arc<dyn Model> = Arc::new(SimModel::new(kind));
        let wanted = TopicsWanted { jobs: 4, activities: 12, seed: 7 };
        let one = generate_topics(&model, wanted, &CancellationToken::new(), |_| {}).await;
        assert!(one.failed.is_none() && one.topics.len() >= 3, "{kind:?}: {one:?}");
        assert!(one.topics.iter().all(|topic| topic.activities.len() >= 10), "{kind:?}: {one:?}");
        assert_eq!(one.dropped.is_empty(), kind != SimKind::Careless, "{kind:?}: {:?}", one.dropped);
        let bank = TopicBank::new(one.topics.clone()).expect("each topic is checked");
        prove_topics(&bank).expect("sentences about it have one reading");
        // What is written is read again.
        assert_eq!(TopicBank::from_json(&bank.to_json()).expect("it is a bank"), bank);
        let again = generate_topics(&model, wanted, &CancellationToken::new(), |_| {}).await;
        assert_eq!(again.topics, one.topics);
    }
}

#[tokio::test]
async fn the_prompts_are_the_papers() {
    let (_, asked) = generate(1, 2, |prompt, _| {
        Ok(if is_about_jobs(prompt) { "1. chef" } else { "1. stock count\n2. menu check" }.to_owned())
    })
    .await;
    assert!(asked[0].starts_with(
        "Please provide a list of 1 typical jobs. Ensure that these 1 positions span a variety of industries.\n"
    ));
    assert!(asked[1].starts_with(
        "Please list 2 activities in noun phrase format that a chef may need to do in a day.\n"
    ));
    assert_eq!(asked.len(), 2);
}

#[tokio::test]
async fn what_is_missing_is_asked_for_with_the_reasons() {
    let (generated, asked) = generate(1, 3, |prompt, round| {
        Ok(match (is_about_jobs(prompt), round) {
            (true, _) => "1. **Chef** (food)",
            (false, 1) => "1. Stock counts\n2. Stock count\n3. stock count by hand\n4. lunch and learn",
            (false, 2) => "- menu check",
            (false, _) => "* oven cleaning\n* too much",
        }
        .to_owned())
    })
    .await;
    let texts: Vec<&str> = generated.topics[0].activities.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(texts, ["stock count", "menu check", "oven cleaning"]);
    assert_eq!((generated.topics[0].job.as_str(), generated.topics[0].industry.as_str()), ("chef", "food"));
    let dropped: Vec<&str> = generated.dropped.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(dropped, ["stock count", "stock count by hand", "lunch and learn"]);
    assert!(
        asked[2].contains("write 2 others") && asked[2].contains("- lunch and learn: it holds a word"),
        "{}",
        asked[2]
    );
    assert_eq!(asked.len() as u32, 1 + ROUNDS_MAX);
}

#[tokio::test]
async fn rubbish_makes_no_topics() {
    let megabyte = "word ".repeat(200_000);
    let lines = "- \u{0}\u{202e}<b>x</b>\n".repeat(50_000);
    for reply in [
        "",
        "I'm sorry, but I can't help with that.",
        "<html><body><ul><li>chef</li></ul></body></html>",
        "{\"jobs\": [\"chef\"]}",
        megabyte.as_str(),
        lines.as_str(),
    ] {
        let text = reply.to_owned();
        let (generated, asked) = generate(3, 5, move |_, _| Ok(text.clone())).await;
        assert!(
            generated.topics.is_empty() && generated.failed.is_none(),
            "{:.60}: {:?}",
            reply,
            generated.topics
        );
        assert_eq!(asked.len() as u32, ROUNDS_MAX, "{reply:.60}");
        assert!(asked.iter().all(|prompt| prompt.len() < 4000), "the model is not told all of it again");
    }
}

#[tokio::test]
async fn a_job_with_too_few_activities_is_left_out() {
    let (generated, _) = generate(2, 20, |prompt, _| {
        Ok(if is_about_jobs(prompt) {
            "1. chef\n2. nurse".to_owned()
        } else if prompt.contains("chef") {
            "1. stock count\n2. menu check\n3. oven cleaning".to_owned()
        } else {
            TopicBank::shipped().topics()[1].activities.iter().map(|it| format!("- {}\n", it.text)).collect()
        })
    })
    .await;
    assert_eq!(generated.topics.iter().map(|topic| topic.job.as_str()).collect::<Vec<_>>(), ["nurse"]);
    let left_out = generated.dropped.last().expect("the chef is left out");
    assert_eq!(
        (left_out.text.as_str(), left_out.why.as_str()),
        ("chef", "has only 3 of 20 activities that can be used")
    );
}

#[tokio::test]
async fn a_model_that_fails_leaves_what_is_finished() {
    let (generated, _) = generate(12, 2, |prompt, _| {
        if is_about_jobs(prompt) {
            return Ok((0..12).map(|number| format!("- job number {number}\n")).collect());
        }
        match prompt.contains("number 11") {
            true => Err(ModelError::Configuration { what: "no more".to_owned() }),
            false => Ok("- stock count\n- menu check".to_owned()),
        }
    })
    .await;
    assert!(generated.topics.len() == 11 && generated.failed.is_some(), "{generated:?}");

    let stop = CancellationToken::new();
    stop.cancel();
    let model: Arc<dyn Model> = Arc::new(SimModel::new(SimKind::Perfect));
    let stopped =
        generate_topics(&model, TopicsWanted { jobs: 1, activities: 2, seed: 0 }, &stop, |_| {}).await;
    assert!(stopped.is_stopped && stopped.topics.is_empty());
}

fn tool(name: &str, description: &str, schema: Value) -> Tool {
    let Value::Object(schema) = schema else { panic!("{schema} is no object") };
    Tool { name: name.to_owned(), description: description.to_owned(), input_schema: schema.into() }
}

/// Tools as servers have them.
fn tools() -> Vec<Tool> {
    let id = json!({"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"], "additionalProperties": false});
    vec![
        tool("get_invoice", "Gets an \"invoice\".\n\n    Args:\n        id: its number\n", id.clone()),
        tool(
            "getInvoicesByCustomer",
            "",
            json!({"type": "object", "properties": {"customer": {"type": "string", "minLength": 3}}, "required": ["customer"]}),
        ),
        tool(
            "send_reminder",
            "Sends.",
            json!({"type": "object", "properties": {"to": {"type": "string", "format": "email"}, "lines": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/Line"}}}, "required": ["to", "lines"], "$defs": {"Line": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}}),
        ),
        tool("delete-invoice", "Deletes.", id),
        tool("ping", "Pings.", json!({"type": "object"})),
        tool("status", "Tells.", json!({"type": "object", "properties": {}, "additionalProperties": false})),
    ]
}

fn own(job: &str) -> OwnTools {
    OwnTools { job: job.to_owned(), ..OwnTools::default() }
}

fn cases(bank: &TopicBank, options: SynthesisOptions, count: u64) -> Arc<[PlanningCase]> {
    let synthesizer = Synthesizer::new(options, Wordings::shipped(), bank).expect("the options are in range");
    let case = |index| synthesizer.case(7, index, &mut Default::default(), &mut ()).expect("there is room");
    (0..count).map(case).collect()
}

#[tokio::test]
async fn own_tools_are_tested_with_their_schemas() {
    let named = own("clerk").topic(&tools()).expect("the tools have names");
    assert_eq!((named.left_out.len(), named.cut.len(), named.not_simulated.len()), (0, 0, 0));
    let bank = TopicBank::new(vec![named.topic]).expect("the topic is good");
    prove_topics(&bank).expect("sentences about it have one reading");
    for time in [None, Some(TimeOptions::default())] {
        let options =
            SynthesisOptions { actions_max: 4, distractors: 2, time, ..SynthesisOptions::default() };
        let cases = cases(&bank, options, 40);
        for case in cases.iter() {
            read::verify(case, read::Directions::shipped()).expect("text and constraints say the same");
            assert_eq!(case.tools.len(), case.actions.len() + 2 + usize::from(time.is_some()));
            assert!(case.query.contains("any that fit its schema will do"), "{}", case.query);
            for own in tools() {
                let Some(mocked) = case.tool(&own.name).map(planproof_synth::CaseTool::to_tool) else {
                    continue;
                };
                assert!(mocked.description.starts_with(own.description.trim_end()), "{mocked:?}");
                assert!(mocked.description.contains("Does the task \""), "{mocked:?}");
                let arguments = |tool: &Tool| -> Map<String, Value> {
                    let of = tool.input_schema.get("properties").and_then(Value::as_object).cloned();
                    of.unwrap_or_default().into_iter().filter(|(name, _)| name != "start_time").collect()
                };
                assert_eq!(arguments(&mocked), arguments(&own));
            }
        }
        for kind in [SimKind::Perfect, SimKind::InOrder, SimKind::Clumsy] {
            let campaign = crate::campaign(Arc::new(SimModel::new(kind)), &*cases);
            let outcomes = run_typed(&campaign).await;
            let passed = outcomes.iter().filter(|outcome| outcome.passed() == Some(true)).count();
            let act_errors = outcomes.iter().filter(|outcome| {
                outcome.verdict.as_ref().is_ok_and(|verdict| verdict.class == Some(OrderClass::ActError))
            });
            match kind {
                SimKind::Perfect => assert_eq!(passed, 40, "{time:?}"),
                // Calls without arguments where some are wanted are among its mistakes.
                SimKind::Clumsy => assert!(act_errors.count() > 0 && passed > 0, "{time:?}"),
                _ => assert!(act_errors.count() == 0 && passed < 40, "{time:?}"),
            }
        }
    }
}

#[test]
fn variants_have_the_tools_of_their_tasks() {
    let named = |job: &str, tools: &[Tool]| own(job).topic(tools).expect("the tools have names").topic;
    let others: Vec<Tool> = ["list_rooms", "book_room", "paint_room", "heat_room", "clean_room"]
        .map(|name| {
            tool(
                name,
                "Of rooms.",
                json!({"type": "object", "properties": {"room": {"type": "string"}}, "required": ["room"]}),
            )
        })
        .into();
    let bank =
        TopicBank::new(vec![named("clerk", &tools()), named("porter", &others)]).expect("both are good");
    let mutator = Mutator::new(Wordings::shipped(), &bank);
    for time in [None, Some(TimeOptions::default())] {
        let options =
            SynthesisOptions { actions_min: 2, actions_max: 4, time, ..SynthesisOptions::default() };
        for case in cases(&bank, options, 30).iter() {
            // As it comes back from the store.
            let case = read_case(&write_case(case)).expect("it is a case");
            for mutation in [Mutation::Wordings, Mutation::Actions, Mutation::Terminals, Mutation::Topic] {
                let changed =
                    mutator.mutate(&case, mutation, 3).expect("there are other tasks and topics").case;
                read::verify(&changed, read::Directions::shipped())
                    .expect("text and constraints say the same");
                assert_eq!(changed.topic != case.topic, mutation == Mutation::Topic);
                let topic = bank.find(&changed.topic).expect("it is of the bank");
                for action in &changed.actions {
                    let activity =
                        topic.activities.iter().find(|it| it.text == action.text).expect("its own");
                    assert_eq!(activity.tool_name(), action.tool);
                    let made = changed.tool(&action.tool).expect("the tool is there").to_tool();
                    assert!(made.description.contains(&format!("Does the task \"{}\"", action.text)));
                }
            }
        }
    }
}

#[test]
fn tools_get_texts_by_rule_or_as_given() {
    let texts = |own: &OwnTools| {
        let named = own.topic(&tools()).expect("the tools have names");
        let texts = named.topic.activities.iter().map(|it| it.text.clone());
        (texts.collect::<Vec<_>>(), named)
    };
    let (by_rule, named) = texts(&own("clerk"));
    assert_eq!(
        by_rule,
        [
            "invoice retrieval",
            "invoice-by-customer retrieval",
            "reminder sending",
            "invoice deletion",
            "ping",
            "status",
        ]
    );
    assert_eq!(named.in_order, []);
    let given = BTreeMap::from([
        ("ping".to_owned(), None),
        ("status".to_owned(), Some("health check".to_owned())),
        ("send_reminder".to_owned(), Some("invoice retrieval".to_owned())),
    ]);
    let (mixed, named) = texts(&OwnTools { given, ..own("clerk") });
    assert_eq!(
        mixed,
        [
            "get invoice request",
            "invoice-by-customer retrieval",
            "invoice retrieval",
            "invoice deletion",
            "health check",
        ]
    );
    assert_eq!(named.left_out.len(), 1);

    for (name, text, part) in [
        ("ping", "pings", "ends in a plural"),
        ("pong", "pong", "there is no tool `pong`; there are get_invoice, "),
        ("ping", "", "is empty"),
    ] {
        let given = BTreeMap::from([(name.to_owned(), Some(text.to_owned()))]);
        let error = OwnTools { given, ..own("clerk") }.topic(&tools()).expect_err(text);
        assert!(error.contains(part), "{error}");
    }
    let same = ["ping", "status"].map(|name| (name.to_owned(), Some("check".to_owned())));
    let error = OwnTools { given: BTreeMap::from(same), ..own("clerk") }.topic(&tools()).expect_err("twice");
    assert_eq!(error, "`ping` and `status` have the same text, \"check\"");
}

#[test]
fn tools_that_cannot_be_used_are_reported() {
    let object = || json!({"type": "object"});
    let mut all = tools();
    all.push(tool("elsewhere", "", json!({"type": "object", "$ref": "http://127.0.0.1:9/schema.json"})));
    all.push(tool("\u{5929}", "", object()));
    all.push(tool("long", &"word ".repeat(3000), object()));
    all.push(tool(
        "patterned",
        "",
        json!({"type": "object", "required": ["x"], "properties": {"x": {"pattern": "^[A-Z]{9}$"}}}),
    ));
    all.push(tool("create_invoice", "", object()));
    all.push(tool("large", "", json!({"type": "object", "description": "x".repeat(100_000)})));
    let named = own("clerk").topic(&all).expect("the others have names");
    let left_out: Vec<&str> = named.left_out.iter().map(|it| it.tool.as_str()).collect();
    assert_eq!(left_out, ["elsewhere", "\u{5929}", "large"]);
    assert_eq!((named.cut, named.not_simulated), (vec!["long".to_owned()], vec!["patterned".to_owned()]));
    assert_eq!(named.in_order, [("invoice creation".to_owned(), "invoice deletion".to_owned())]);
    TopicBank::new(vec![named.topic]).expect("what is cut is not too long any more");
}

#[tokio::test]
async fn a_model_names_tools() {
    let model: Arc<dyn Model> = Arc::new(SimModel::new(SimKind::Perfect));
    let (texts, dropped) = name_tools(&model, &tools(), 7).await.expect("it answers");
    assert!(texts.len() == 6 && dropped.is_empty(), "{texts:?} {dropped:?}");
    assert_eq!(texts["send_reminder"], "reminder sending");

    let answer = |_: &str, round: usize| {
        Ok(match round {
            1 => "Here you are:\n- **get_invoice**: The Bill Lookups.\n2. `ping`: bill lookup\nstatus: bill lookup of all\nnone: x",
            _ => "ping: host probe\nstatus: I cannot say, sorry",
        }
        .to_owned())
    };
    let scripted: Arc<dyn Model> = Arc::new(Scripted { answer, asked: Mutex::default() });
    let (texts, dropped) = name_tools(&scripted, &tools(), 7).await.expect("it answers");
    assert_eq!(
        texts.into_iter().collect::<Vec<_>>(),
        [("get_invoice", "bill lookup"), ("ping", "host probe")]
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
    );
    assert!(dropped.len() >= 3, "{dropped:?}");
}
