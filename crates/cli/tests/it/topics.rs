//! `planproof topics generate`, `topics from-mcp`, tests with what they make, and rules of topics.

use std::fs;

use serde_json::{Value, json};

use crate::stand_in::{KEY, StandIn, failure, say};
use crate::support::{Place, Run, json_lines};

/// An MCP server in the shell that lists these tools and leaves a file behind when one of them is called.
pub(crate) fn write_server(place: &Place, name: &str, tools: &Value) {
    place.write(&format!("{name}.list"), &tools.to_string());
    let script = format!(
        r#"
        reply() {{ printf '{{"jsonrpc":"2.0","id":%s,"result":%s}}\n' "$id" "$1"; }}
        while read -r line; do
            id=${{line#*\"id\":}}; id=${{id%%[,\}}]*}}
            case $line in
                *'"server/discover"'*) printf '{{"jsonrpc":"2.0","id":%s,"error":{{"code":-32601,"message":"?"}}}}\n' "$id" ;;
                *'"initialize"'*) reply '{{"protocolVersion":"2025-11-25","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}' ;;
                *'"tools/list"'*) reply "{{\"tools\":$(cat {name}.list)}}" ;;
                *'"tools/call"'*) touch called; reply '{{"content":[]}}' ;;
            esac
        done
        "#
    );
    place.write(&format!("{name}.sh"), &script);
}

fn tool(name: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"id": {"type": "integer", "minimum": 10}}, "required": ["id"]});
    json!({"name": name, "description": format!("The \"{name}\" tool."), "inputSchema": schema})
}

fn from_mcp(place: &Place, server: &str, more: &[&str]) -> Run {
    let source = format!("mcp:sh {server}.sh");
    place.run_words(&[&["topics", "from-mcp", &source], more].concat())
}

const NAMES: [&str; 6] = ["get_user", "listUsers", "send-mail", "add_to_cart", "ping", "delete_user"];

#[test]
#[ignore = "slow"]
fn long_numbers_of_a_schema_stay_as_they_were_written() {
    const NUMBER: &str = "25227143063332189585438";
    let place = Place::new();
    let tools = Value::from(NAMES.map(tool).to_vec());
    write_server(&place, "shop", &tools);
    place.write("shop.list", &tools.to_string().replace("\"minimum\":10", &format!("\"minimum\":{NUMBER}")));
    from_mcp(&place, "shop", &["--out", "shop.json", "--job", "office assistant"]).code(0);
    let is_whole = |text: &str, what: &str| {
        assert!(text.contains(&format!("\"minimum\":{NUMBER}")) && !text.contains("e22"), "{what}: {text}");
    };
    is_whole(&fs::read_to_string(place.path("shop.json")).unwrap(), "topics");
    for form in ["", " --time"] {
        let cases = place.run(&format!("synth --topics shop.json --count 3{form}")).code(0).out;
        assert_eq!(cases.lines().count(), 3);
        cases.lines().for_each(|case| is_whole(case, form));
        for agent in ["tools", "react", "one-step"] {
            let record = format!("{agent}{}.jsonl", form.trim());
            let line = "--topics shop.json --cases 2 --actions 3 -q";
            let run = place.run(&format!("test {agent}@sim/perfect {line}{form} --record {record}"));
            // The simulation does not find the tool of a sub-task if its description has several lines.
            assert!(run.code == 0 || agent == "one-step", "{run:?}");
            // The calls have the float that the simulation makes of it.
            assert!(fs::read_to_string(place.path(&record)).unwrap().contains(NUMBER), "{agent}{form}");
            is_whole(&place.run("runs export last --format cases").code(0).out, agent);
        }
        place.run(&format!("test tools@sim/in-order --topics shop.json --cases 8 -q{form}"));
        for format in ["chat-jsonl", "preference-jsonl"] {
            let out = place.run(&format!("runs export last --format {format}")).code(0).out;
            let is_listed = |line: &str| line.contains(&format!("\"minimum\":{NUMBER}"));
            assert!(out.lines().count() > 0 && out.lines().all(is_listed), "{format}{form}: {out}");
        }
    }
}

#[test]
fn an_agent_is_tested_on_the_tools_that_it_will_have() {
    let place = Place::new();
    write_server(&place, "shop", &NAMES.map(tool).into());
    let made = from_mcp(&place, "shop", &["--out", "shop.json", "--job", "office assistant"]).code(0);
    assert_eq!(made.out, "");
    assert!(made.err.contains("wrote shop.json: 1 topic with 6 activities"), "{made:?}");
    let topics: Value = serde_json::from_str(&fs::read_to_string(place.path("shop.json")).unwrap()).unwrap();
    assert_eq!(topics["topics"][0]["activities"][0]["tool"]["input_schema"], tool("")["inputSchema"]);
    let listed = place.run_words(&["topics", "--topics", "shop.json", "office assistant"]).code(0).out;
    assert_eq!(
        listed,
        "user retrieval (get_user)\nuser listing (listUsers)\nmail sending (send-mail)\naddition to cart (add_to_cart)\nping \
         (ping)\nuser deletion (delete_user)\n"
    );

    for form in ["", " --time"] {
        let cases =
            place.run(&format!("synth --topics shop.json --count 40 --distractors 1{form}")).code(0).out;
        place.write("cases.jsonl", &cases);
        place.run("read --verify cases.jsonl").code(0);
        let case = &json_lines(&cases)[0];
        assert!(case["query"].as_str().unwrap().starts_with("You work as an office assistant. "), "{case}");
        assert!(case["query"].as_str().unwrap().contains("any that fit its schema will do"), "{case}");
        let passed = format!("test tools@sim/perfect --topics shop.json --cases 20 --distractors 1 -q{form}");
        place.run(&passed).code(0);
        // Arguments that do not fit are act errors.
        let report =
            place.run(&format!("test tools@sim/clumsy --topics shop.json --cases 40 --json{form}")).code(1);
        assert!(report.json()["classes"]["act_error"].as_u64().unwrap() > 0, "{report:?}");
    }
    let calls = place.run("check --case cases.jsonl --id 7-0 --calls a1@09:00 --json").code(1);
    assert_eq!(calls.json()["refused"], json!([]), "the command makes arguments that fit");
    assert!(!place.path("called").exists(), "no tool of the server was called");
    assert_eq!(
        from_mcp(&place, "shop", &["--out", "shop.json"]).code(2).err,
        "error: there is a shop.json already; --force overwrites it\n"
    );
    from_mcp(&place, "shop", &["--out", "shop.json", "--force", "-q"]).code(0);
}

#[test]
fn a_campaign_keeps_its_topics() {
    let place = Place::new();
    write_server(&place, "shop", &NAMES.map(tool).into());
    from_mcp(&place, "shop", &["--out", "shop.json"]).code(0);
    let line = "test tools@sim/in-order --topics shop.json --cases 8 --actions 4 --dissect --dissect-reruns 0 --record r.jsonl --json";
    let report = place.run(line).code(1).json();
    // The file is not needed any more.
    fs::remove_file(place.path("shop.json")).unwrap();
    let dissection = &report["dissection"];
    assert!(!dissection["cases"].as_array().unwrap().is_empty(), "{report}");
    for case in dissection["cases"].as_array().unwrap() {
        let steps: Vec<&Value> =
            case["trials"].as_array().unwrap().iter().map(|trial| &trial["step"]).collect();
        assert!(!steps.contains(&&json!("topic")), "there is no other topic: {case}");
        let impossible = case["impossible"].to_string();
        assert!(case["cause"] == "wording" || impossible.contains("no other topic"), "{case}");
    }
    let shown = place.run("runs show last --json").json();
    assert_eq!(shown["dissection"], *dissection);
    assert_eq!(place.run("test --resume last --json").code(1).json()["dissection"], *dissection);
    let replayed = place.run("test --replay r.jsonl --json").code(0).json();
    assert_eq!(replayed["dissection"]["causes"], dissection["causes"]);
    place.run("test --resume last --topics x.json").code(2);
}

#[test]
fn tools_are_named_as_the_user_likes() {
    let place = Place::new();
    write_server(&place, "shop", &NAMES.map(tool).into());
    place.write("names.json", r#"{"get_user": "account lookup", "ping": null}"#);
    let made = from_mcp(&place, "shop", &["--names", "names.json", "--out", "t.json", "--json"]).code(0);
    let summary = made.json();
    assert_eq!(summary["left_out"], json!([{"tool": "ping", "why": "the file of names says so"}]));
    assert_eq!(
        place.run("topics --topics t.json assistant").code(0).out.lines().next(),
        Some("account lookup (get_user)")
    );
    for (names, part) in [
        ("[]", "write an object from names of tools to texts"),
        (r#"{"get_uesr": "x"}"#, "--names names.json: there is no tool `get_uesr`; there are get_user, "),
        (r#"{"get_user": "look, up"}"#, "the text of `get_user`, \"look, up\", holds something else"),
        (r#"{"get_user": "user", "ping": "user check"}"#, "\"user check\" begins with \"user\""),
    ] {
        place.write("names.json", names);
        let run = from_mcp(&place, "shop", &["--names", "names.json"]).code(2);
        assert!(run.err.contains(part) && run.out.is_empty(), "{run:?}");
    }
    let by_model = from_mcp(&place, "shop", &["--model", "sim/perfect", "--out", "m.json"]).code(0);
    assert!(by_model.err.contains("SIMULATION"), "{by_model:?}");
    // A source's name is part of its tools' names, and of no text.
    place.run_words(&["topics", "from-mcp", "one=mcp:sh shop.sh", "--out", "one.json"]).code(0);
    let listed = place.run("topics --topics one.json assistant").code(0).out;
    assert!(listed.starts_with("user retrieval (one_get_user)\n"), "{listed}");
}

/// A tool with these arguments, all of them texts.
fn tool_with(name: &str, description: &str, arguments: &[&str]) -> Value {
    let properties: serde_json::Map<String, Value> =
        arguments.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
    let schema = json!({"type": "object", "properties": properties, "required": arguments});
    json!({"name": name, "description": description, "inputSchema": schema})
}

#[test]
fn names_that_no_rule_fits_are_listed() {
    let place = Place::new();
    let names = ["escalate", "slack_post_message", "void_invoice", "garble_page", "account_balance"];
    write_server(&place, "desk", &names.map(tool).to_vec().into());
    let made = from_mcp(&place, "desk", &["--out", "t.json", "--json"]).code(0);
    assert_eq!(
        made.json()["not_understood"],
        json!([
            {"tool": "garble_page", "text": "garble page"},
            {"tool": "account_balance", "text": "account balance"},
        ])
    );
    let note = "note: no rule fits the names of `garble_page` (\"garble page\"), `account_balance`";
    assert_eq!(made.err.matches(note).count(), 1, "{made:?}");
    let listed = place.run("topics --topics t.json assistant").code(0).out;
    assert!(
        listed.starts_with("escalation (escalate)\nslack message posting (slack_post_message)\n"),
        "{listed}"
    );
    // Texts from the user need no look.
    place.write("names.json", r#"{"garble_page": "page garbling", "account_balance": null}"#);
    let made = from_mcp(&place, "desk", &["--names", "names.json"]).code(0);
    assert!(!made.err.contains("no rule fits"), "{made:?}");
}

#[test]
fn flows_are_suggested_and_taken() {
    let place = Place::new();
    let mut order = tool_with("create_order", "Makes an order.", &["customer_id"]);
    order["outputSchema"] = json!({"type": "object", "properties": {"order_id": {"type": "string"}}});
    let tools = json!([
        tool_with("search_customer", "Finds a customer. Returns the customer id.", &["name"]),
        tool_with("create_ticket", "Opens a ticket.", &["customer_id"]),
        order,
        tool_with("ship_order", "Sends the goods.", &["order_id"]),
    ]);
    write_server(&place, "crm", &tools);
    let flows = [
        "search_customer:create_ticket.customer_id",
        "search_customer:create_order.customer_id",
        "create_order:ship_order.order_id",
    ];
    let made = from_mcp(&place, "crm", &["--out", "plain.json", "--json"]).code(0);
    assert_eq!(made.json()["suggested_flows"], json!(flows));
    for flow in flows {
        assert!(made.err.contains(&format!("suggested flow: --flow {flow}\n")), "{made:?}");
    }
    assert!(!fs::read_to_string(place.path("plain.json")).unwrap().contains("flows"));

    let [one, two, _] = flows;
    let made = from_mcp(&place, "crm", &["--flow", one, "--flow", two, "--out", "t.json", "--json"]).code(0);
    assert_eq!(made.json()["suggested_flows"], json!(flows[2..]), "what is taken is not suggested");
    let topics: Value = serde_json::from_str(&fs::read_to_string(place.path("t.json")).unwrap()).unwrap();
    assert_eq!(
        topics["topics"][0]["flows"],
        json!([
            {"from": "search_customer", "to": "create_ticket", "argument": "customer_id"},
            {"from": "search_customer", "to": "create_order", "argument": "customer_id"},
        ])
    );
    place.run("test tools@sim/perfect --topics t.json --actions 2..4 --cases 10 -q").code(0);

    for (flow, part) in [
        ("search_customer", "write FROM:TO.ARGUMENT, as in search_customer:create_ticket.customer_id"),
        ("a:b", "write FROM:TO.ARGUMENT"),
        (":create_ticket.customer_id", "write FROM:TO.ARGUMENT"),
        ("find_customer:create_ticket.customer_id", "names \"find_customer\", which is neither"),
        (
            "search_customer:create_ticket.order",
            "\"order\", which the tool create_ticket does not have; it has customer_id",
        ),
        ("create_ticket:create_ticket.customer_id", "twice; it needs two different activities"),
    ] {
        let run = from_mcp(&place, "crm", &["--flow", flow, "--out", "bad.json"]).code(2);
        let start = format!("error: --flow {flow}: ");
        assert!(run.err.contains(&start) && run.err.contains(part), "{flow}: {run:?}");
        assert_eq!(run.err.matches("error").count(), 1, "{run:?}");
        assert!(!place.path("bad.json").exists(), "{flow}");
    }
    let twice = from_mcp(&place, "crm", &["--flow", one, "--flow", one]).code(2);
    assert!(twice.err.contains("fills \"customer_id\" of \"create_ticket\" a second time"), "{twice:?}");
}

#[test]
fn descriptions_stay_as_they_are_if_asked() {
    let place = Place::new();
    write_server(&place, "shop", &NAMES.map(tool).into());
    from_mcp(&place, "shop", &["--as-is", "--out", "t.json"]).code(0);
    from_mcp(&place, "shop", &["--out", "named.json"]).code(0);
    for form in ["", " --time"] {
        for (file, is_named) in [("t.json", false), ("named.json", true)] {
            let cases = place.run(&format!("synth --topics {file} --count 5 --seed 3{form}")).code(0).out;
            for case in json_lines(&cases) {
                for made in case["tools"].as_array().unwrap() {
                    let (name, description) =
                        (made["name"].as_str().unwrap(), made["description"].as_str().unwrap());
                    if name == "restart_plan" {
                        continue;
                    }
                    let own = format!("The \"{name}\" tool.");
                    assert_eq!(description == own, !is_named, "{file}{form}: {description}");
                    assert_eq!(
                        description.contains("Does the task"),
                        is_named,
                        "{file}{form}: {description}"
                    );
                }
            }
        }
    }
    // A campaign keeps it.
    place.run("test tools@sim/in-order --topics t.json --cases 2 -q");
    assert!(!place.run("runs export last --format cases").code(0).out.contains("Does the task"));
}

#[test]
fn servers_without_tools_that_can_be_used_are_reported() {
    let place = Place::new();
    let far = json!({"type": "object", "$ref": "http://127.0.0.1:9/x.json"});
    let own_start = json!({"type": "object", "properties": {"start_time": {"type": "string"}}});
    write_server(&place, "none", &json!([]));
    write_server(&place, "one", &json!([tool("ping"), {"name": "far", "inputSchema": far}, tool("ping")]));
    write_server(&place, "many", &(0..1000).map(|number| tool(&format!("tool_{number}"))).collect());
    write_server(
        &place,
        "late",
        &json!([{"name": "book", "inputSchema": own_start}, tool("ping"), tool("b.c")]),
    );
    write_server(
        &place,
        "long",
        &json!([tool("ping"), {"name": "say", "description": "x".repeat(100_000), "inputSchema": {"type": "object"}}]),
    );
    for (server, code, parts) in [
        ("none", 2, &["a topic needs at least 2 tools; of mcp:sh none.sh there are 0 that can be used"][..]),
        (
            "one",
            2,
            &[
                "left out `ping`: it is listed twice",
                "left out `far`: its input schema cannot be used",
                "there is 1 that",
            ],
        ),
        ("many", 2, &["the tool server lists more than 512 tools"]),
        ("nothing", 3, &["mcp:sh nothing.sh: the tool server ended before it had listed its tools"]),
        ("long", 0, &["the description of `say` is too long"]),
        ("late", 0, &["`b.c` is called `b_c` here"]),
    ] {
        let run = from_mcp(&place, server, &["--out", &format!("{server}.out")]).code(code);
        assert!(parts.iter().all(|part| run.err.contains(part)), "{server}: {run:?}");
        assert_eq!(place.path(&format!("{server}.out")).exists(), code == 0, "{server}");
    }
    place.run("test tools@sim/perfect --topics long.out --actions 2 --cases 3 -q").code(0);
    place.run("test tools@sim/perfect --topics late.out --actions 2..3 --cases 3 -q").code(0);
    for (more, part) in [
        (
            "--time --actions 2",
            "the tool `book` cannot take part in the time form: it has an argument start_time of its own",
        ),
        ("--actions 4", "actions is 4; it must be at most 3, the number of tools of the topic \"assistant\""),
        ("--actions 2 --distractors 2", "distractors is 2; it must be at most 1"),
        ("--topic chef", "no topic \"chef\" in the topic bank"),
    ] {
        let run = place.run(&format!("synth --topics late.out {more}")).code(2);
        assert!(run.err.contains(part), "{run:?}");
    }
    place.run_words(&["topics", "from-mcp", "abacus"]).code(2);
    place.run_words(&["topics", "from-mcp", "calculator", "--job", "a \"b\""]).code(2);
}

#[test]
fn broken_files_of_topics_are_refused() {
    let place = Place::new();
    let bank = |activities: &str| {
        format!(
            r#"{{"schema":"planproof/topics/v1","topics":[{{"job":"chef","activities":[{activities}]}}]}}"#
        )
    };
    let own = |text: &str, tool: &str| format!(r#"{{"text":"{text}","tool":{tool}}}"#);
    let good = r#"{"name":"a","input_schema":{"type":"object"}}"#;
    for (text, part) in [
        ("", "EOF"),
        ("{}", "it names no schema; expected \"planproof/topics/v1\""),
        (r#"{"schema":"planproof/case/v1"}"#, "schema is \"planproof/case/v1\""),
        (r#"{"schema":"planproof/topics/v1","topics":[]}"#, "it holds no topic"),
        (&bank(r#""walk""#), "1 activities; it needs 2 to 512"),
        (&bank(r#""walk",3"#), "expected an activity: a text, or an object with text and tool"),
        (&bank(&format!(r#""walk",{}"#, own("talk", good))), "either all activities have a tool or none has"),
        (
            &bank(&format!("{},{}", own("walk", good), own("talk", good))),
            "two activities have the tool \"a\"",
        ),
        (
            &bank(&format!(
                "{},{}",
                own("walk", r#"{"name":"a b","input_schema":{"type":"object"}}"#),
                own("talk", good)
            )),
            "is named \"a b\"",
        ),
        (
            &bank(&format!("{},{}", own("walk", r#"{"name":"b","input_schema":{}}"#), own("talk", good))),
            "not of \"type\": \"object\"",
        ),
        (
            &bank(&format!(
                "{},{}",
                own("walk", r#"{"name":"b","input_schema":{"type":"object","required":3}}"#),
                own("talk", good)
            )),
            "the input schema of tool `b` cannot be used",
        ),
        (
            &bank(&format!(
                "{},{}",
                own("walk", r#"{"name":"b","colour":1,"input_schema":{}}"#),
                own("talk", good)
            )),
            "unknown field `colour`",
        ),
    ] {
        place.write("t.json", text);
        for line in
            ["topics --topics t.json", "synth --topics t.json", "test tools@sim/perfect --topics t.json"]
        {
            let run = place.run(line).code(2);
            assert!(run.err.starts_with("error: --topics t.json: ") && run.err.contains(part), "{run:?}");
        }
    }
    assert!(!place.path(".planproof").exists(), "nothing was begun");
}

#[test]
fn topics_are_generated_and_used_at_once() {
    let place = Place::new();
    let made = place.run("topics generate --model sim/careless --jobs 3 --out t.json --json").code(0);
    let summary = made.json();
    assert_eq!((&summary["topics"], &summary["activities"]), (&json!(3), &json!(60)));
    assert!(made.err.contains("SIMULATION"), "{made:?}");
    place.run("test tools@sim/perfect --topics t.json --cases 10 -q").code(0);
    let to_stdout = place.run("topics generate --model sim/careless --jobs 3").code(0);
    assert_eq!(to_stdout.out, fs::read_to_string(place.path("t.json")).unwrap());
    assert!(
        place
            .run("topics generate --model sim/perfect --out t.json")
            .code(2)
            .err
            .contains("--force overwrites it")
    );
    let nothing = place.run("topics generate --model sim/endless --jobs 3 --out n.json").code(3);
    assert!(nothing.err.contains("listed no usable topic") && !place.path("n.json").exists(), "{nothing:?}");
}

/// What a server with a model behind it answers: jobs, then activities, with the prompts of the paper.
fn lists(request: &Value) -> String {
    let messages = request["messages"].as_array().unwrap();
    let first = messages[0]["content"].as_str().unwrap();
    if first.starts_with("Please provide a list of 3 typical jobs.") {
        return say("1. **Chef** (food)\n2. **Nurse** (health)\n3. **Pilot** (air)");
    }
    assert!(first.starts_with("Please list 2 activities in noun phrase format that a "), "{first}");
    say("Here:\n- Stock counts \u{2013} every day\n- Menu check")
}

#[test]
fn a_model_that_fails_leaves_what_is_finished_and_a_cache_goes_on() {
    let place = Place::new();
    let line = ["topics", "generate", "--model", "openai/m", "--jobs", "3", "--activities", "2"];
    let pilot = |request: &Value| request["messages"][0]["content"].as_str().unwrap().contains("a pilot may");
    let broken = StandIn::start(move |_, request| match pilot(request) {
        true => failure("400 Bad Request", "no pilots"),
        false => lists(request),
    });
    let with = |more: &[&'static str]| [&line[..], more].concat();
    let run = Run::of(broken.command(&place, &with(&["--out", "t.json", "--cache", "c.jsonl"])), "").code(3);
    assert!(
        run.err.contains("only 2 of 3 topics were finished and written") && !run.err.contains(KEY),
        "{run:?}"
    );
    assert_eq!(
        place.run("topics --topics t.json").code(0).out,
        "chef (food), 2 activities\nnurse (health), 2 activities\n"
    );

    let whole = StandIn::start(|_, request| lists(request));
    let run =
        Run::of(whole.command(&place, &with(&["--out", "t.json", "--force", "--cache", "c.jsonl"])), "")
            .code(0);
    assert!(run.err.contains("3 topics with 6 activities"), "{run:?}");
    assert_eq!(whole.requests(), 1, "what is in the cache is not asked again");
    let replayed = ["topics", "generate", "--model", "replay/c.jsonl", "--jobs", "3", "--activities", "2"];
    assert_eq!(place.run_words(&replayed).code(0).out, fs::read_to_string(place.path("t.json")).unwrap());

    // Rubbish and a budget that is too small leave nothing behind.
    let rubbish = StandIn::start(|_, _| say("<p>I would rather not.</p>"));
    let run = Run::of(rubbish.command(&place, &with(&["--out", "r.json"])), "").code(3);
    assert!(run.err.contains("openai/m listed no usable topic"), "{run:?}");
    assert_eq!(rubbish.requests(), 3);
    let run = Run::of(whole.command(&place, &with(&["--out", "r.json", "--max-tokens", "1"])), "").code(3);
    assert!(run.err.contains("no topic was finished"), "{run:?}");
    assert!(!place.path("r.json").exists());
}

/// Rules of a file are listed, hold in a campaign, and are refused with what is wrong.
#[test]
fn rules_of_topics_are_listed_tested_and_checked() {
    let file = include_str!("../../../../examples/own-tools/release.json");
    let place = Place::new();
    place.write("release.json", file);
    place.write("unknown.json", &file.replace("\"argument\": \"number\"", "\"argument\": \"count\""));
    let all = place.run("topics --topics release.json").code(0).out;
    assert_eq!(all, "release engineer, 6 activities, 5 rules\n");
    let one = place.run_words(&["topics", "--topics", "release.json", "release engineer"]).code(0).out;
    assert!(one.contains("\nrule: incident closing takes its number from incident lookup\n"), "{one}");
    place.run("test tools@sim/perfect --topics release.json --cases 20 --seed 1").code(0);
    let run =
        place.run("test tools@sim/careless --topics release.json --cases 60 --seed 1 --actions 6").code(1);
    assert!(run.out.contains("wrong_value") && run.out.contains(", which "), "{run:?}");
    assert!(run.out.contains(" Rules: "), "{run:?}");
    let unknown = place.run("topics --topics unknown.json").code(2);
    assert!(
        unknown
            .err
            .contains("flow 3 fills the argument \"count\", which the tool close_incident does not have"),
        "{unknown:?}"
    );
}
