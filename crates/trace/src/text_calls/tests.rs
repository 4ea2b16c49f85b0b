use proptest::prelude::*;

use super::*;

fn is_tool(name: &str) -> bool {
    ["get_weather", "get-time", "search"].contains(&name)
}

/// The calls of a text in one line.
fn read(text: &str) -> String {
    let calls = text_calls(text, &is_tool);
    let shown = calls.iter().map(|call| format!("{}{}", call.name, call.arguments.to_text()));
    shown.collect::<Vec<_>>().join(" ")
}

/// The forms that models are trained on, by the families that write them, and what small models make of them.
#[test]
fn every_form_of_a_call_is_read() {
    let rome = r#"get_weather{"city":"Rome"}"#;
    for (form, text, expected) in [
        ("bare object", r#"{"name": "get_weather", "arguments": {"city": "Rome"}}"#, rome),
        (
            "fence",
            "```json\n{\n  \"name\": \"get_weather\",\n  \"arguments\": {\"city\": \"Rome\"}\n}\n```",
            rome,
        ),
        (
            "fence after words",
            "I look it up.\n```\n{\"name\":\"get_weather\",\"arguments\":{\"city\":\"Rome\"}}\n```\nDone.",
            rome,
        ),
        (
            "Hermes, Qwen",
            "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\"}}\n</tool_call>",
            rome,
        ),
        (
            "Hermes without an end",
            "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\"}}",
            rome,
        ),
        ("Mistral", r#"[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Rome"}}]"#, rome),
        (
            "Mistral without a space",
            r#"[TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Rome"}}]</s>"#,
            rome,
        ),
        ("Mistral of 2025", r#"[TOOL_CALLS]get_weather{"city": "Rome"}"#, rome),
        ("Mistral with ids", r#"[TOOL_CALLS]get_weather[CALL_ID]x7Fq[ARGS]{"city": "Rome"}"#, rome),
        (
            "Llama 3.1",
            r#"<|python_tag|>{"name": "get_weather", "parameters": {"city": "Rome"}}<|eom_id|>"#,
            rome,
        ),
        ("Llama 3.1, built in", r#"<|python_tag|>search.call(query="Rome")"#, r#"search{"query":"Rome"}"#),
        ("Llama 3.1, with tags", r#"<function=get_weather>{"city": "Rome"}</function>"#, rome),
        (
            "Llama 3.2, type",
            r#"{"type": "function", "function": "get_weather", "parameters": {"city": "Rome"}}"#,
            rome,
        ),
        (
            "Llama 3.2, Python",
            "[get_weather(city='Rome'), search(query=\"a, b\")]",
            r#"get_weather{"city":"Rome"} search{"query":"a, b"}"#,
        ),
        ("Llama 4", "<|python_start|>[get_weather(city='Rome')]<|python_end|>", rome),
        ("LFM2", "<|tool_call_start|>[get_weather(city=\"Rome\")]<|tool_call_end|>Checking.", rome),
        (
            "Qwen3-Coder",
            "<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
            r#"get_weather{"city":"Rome","days":3}"#,
        ),
        (
            "GLM",
            "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Rome</arg_value>\n</tool_call>",
            rome,
        ),
        ("GLM without arguments", "<tool_call>get-time\n</tool_call>", "get-time{}"),
        (
            "MiniMax, Anthropic",
            "<invoke name=\"get_weather\">\n<parameter name=\"city\">Rome</parameter>\n</invoke>",
            rome,
        ),
        (
            "XML with names",
            "<tool_call><name>get_weather</name><arguments>{\"city\": \"Rome\"}</arguments></tool_call>",
            rome,
        ),
        (
            "XML with elements",
            "<tool_call><name>get_weather</name><parameters><city>Rome</city></parameters></tool_call>",
            rome,
        ),
        (
            "DeepSeek R1",
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{\"city\": \"Rome\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            rome,
        ),
        (
            "DeepSeek V3.1",
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{\"city\": \"Rome\"}<｜tool▁call▁end｜>",
            rome,
        ),
        (
            "Kimi K2",
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{\"city\": \"Rome\"}<|tool_call_end|>",
            rome,
        ),
        (
            "harmony",
            "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{\"city\": \"Rome\"}<|call|>",
            rome,
        ),
        (
            "harmony with the recipient in the role",
            "<|start|>assistant to=functions.get_weather<|channel|>commentary json<|message|>{\"city\": \"Rome\"}<|call|>",
            rome,
        ),
        (
            "harmony without its tokens",
            "analysisDo it.assistantcommentary to=functions.get_weather json{\"city\": \"Rome\"}",
            rome,
        ),
        ("Apertus", "<|tools_prefix|>[{\"get_weather\": {\"city\": \"Rome\"}}]<|tools_suffix|>", rome),
        ("Functionary", ">>>get_weather\n{\"city\": \"Rome\"}", rome),
        (
            "Phi",
            r#"<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Rome"}}]<|/tool_call|>"#,
            rome,
        ),
        ("Phi-4-mini", r#"functools[{"name": "get_weather", "arguments": {"city": "Rome"}}]"#, rome),
        (
            "Nemotron",
            r#"<TOOLCALL>[{"name": "get_weather", "arguments": {"city": "Rome"}}]</TOOLCALL>"#,
            rome,
        ),
        (
            "Command R",
            "Action: ```json\n[{\"tool_name\": \"get_weather\", \"parameters\": {\"city\": \"Rome\"}}]\n```",
            rome,
        ),
        ("Gemma", "```tool_code\nprint(default_api.get_weather(city=\"Rome\"))\n```", rome),
        ("Python with a variable", "```python\nresult = get_weather(city='Rome')\nprint(result)\n```", rome),
        ("ReAct", "Thought: look.\nAction: get_weather\nAction Input: {\"city\": \"Rome\"}\n", rome),
        (
            "ReAct with ticks",
            "Action: `get_weather`\nAction Input:\n```json\n{\"city\": \"Rome\"}\n```",
            rome,
        ),
        (
            "OpenAI's reply",
            r#"{"tool_calls":[{"id":"1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Rome\"}"}}]}"#,
            rome,
        ),
        ("LangChain", r#"{"action": "get_weather", "action_input": {"city": "Rome"}}"#, rome),
        (
            "with a thought",
            r#"{"thought": "look", "call": {"tool": "get_weather", "args": {"city": "Rome"}}}"#,
            rome,
        ),
        (
            "dictionary",
            "{'name': 'get_weather', 'arguments': {'city': 'Rome', 'now': True, 'x': None,},}",
            r#"get_weather{"city":"Rome","now":true,"x":null}"#,
        ),
        (
            "a bracket too few",
            "```json\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\"}\n```",
            rome,
        ),
        ("a bracket too many", r#"{"name": "get_weather", "arguments": {"city": "Rome"}}}"#, rome),
        (
            "several, line by line",
            "{\"name\": \"get-time\", \"arguments\": {}}\n{\"name\": \"search\", \"arguments\": {\"q\": 1.5}}",
            r#"get-time{} search{"q":1.5}"#,
        ),
        (
            "a list of which the end is missing",
            r#"[{"name": "get-time", "arguments": {}}, {"name": "sea"#,
            "get-time{}",
        ),
        (
            "escapes",
            r#"{"name": "search", "arguments": {"q": "a\n\u00e9 \ud83d\ude00 \ud83d \"x\""}}"#,
            "search{\"q\":\"a\\né 😀 \u{fffd} \\\"x\\\"\"}",
        ),
        ("line breaks", "{\"name\": \"search\", \"arguments\": {\"q\": \"a\nb\"}}", r#"search{"q":"a\nb"}"#),
        ("no arguments", r#"{"name": "get-time"}"#, "get-time{}"),
        ("no arguments in a fence", "```json\n{\"name\": \"get-time\"}\n```", "get-time{}"),
        ("no arguments, a key of calls", r#"First: {"tool": "get-time"}"#, "get-time{}"),
        ("null", r#"{"name": "get-time", "arguments": null}"#, "get-time{}"),
        ("arguments that are no object", r#"{"name": "get-time", "arguments": [1]}"#, "get-time[1]"),
    ] {
        assert_eq!(read(text), expected, "{form}: {text}");
    }
}

/// A run ends with a call as text only if its agent calls tools through its model's interface.
#[test]
fn a_run_can_end_with_a_call_as_text() {
    let answer = r#"answer "<tool_call>{\"name\": \"search\"}, {\"tool\": \"search\"}""#;
    let turn = r#"say "{\"tool\": \"search\"}""#;
    for (events, expected) in [
        (format!("{turn} | {answer}"), true),
        // The turns of an agent that is not our code are unknown.
        (answer.to_owned(), true),
        (format!("{turn} | answer \"search\""), false),
        (format!("{turn} | limit iterations 5"), false),
        (turn.to_owned(), false),
        // Texts by a specification, and plans.
        (format!("spec react chat | {turn} | {answer}"), false),
        (format!("{turn} | section plan model \"x\" | {answer}"), false),
        // A summary of sub-tasks.
        (format!("summariser: {turn} | {answer}"), false),
        // A team, in which only executors call tools.
        (
            format!(
                "manager: {turn} | manager: section graph environment \"x\" | section x environment \"y\" | executor/1: {turn} | answer \"x\""
            ),
            true,
        ),
        (format!("manager: {turn} | section x environment \"y\" | answer \"x\""), false),
    ] {
        let parsed = crate::notation::parse(&events).unwrap_or_else(|error| panic!("{events}: {error}"));
        assert_eq!(unparsed_calls(&parsed, &is_tool).is_some(), expected, "{events}");
    }
}

/// A server may leave a call in the thought, behind which there is nothing then.
#[test]
fn a_call_in_the_last_thought_is_unparsed_if_nothing_follows() {
    let events = |reasoning: &str, calls, answer: &str| {
        let mut events = crate::notation::parse(&format!("say \"x\" | answer \"{answer}\"")).unwrap();
        for event in &mut events {
            if let EventKind::Turn { reasoning: thought, calls: made, .. } = &mut event.kind {
                (*thought, *made) = (reasoning.to_owned(), calls);
            }
        }
        events
    };
    let call = "I call.\n<tool_call>\n{\"name\":\"search\",\"arguments\":{}}\n</tool_call>";
    assert_eq!(unparsed_calls(&events(call, 0, ""), &is_tool), Some(call));
    for (reasoning, calls, answer) in [(call, 0, "Done."), (call, 1, ""), ("I search.", 0, ""), ("", 0, "")] {
        assert_eq!(unparsed_calls(&events(reasoning, calls, answer), &is_tool), None, "{reasoning} {answer}");
    }
}

#[test]
fn what_calls_no_tool_is_text() {
    for text in [
        "",
        "All tasks are done.",
        "I called get_weather and get-time.",
        "I called get_weather() first, and then search(query='x').",
        "1. get_weather()\n2. search(query='x')",
        "def get_weather():\n    pass",
        "{\"name\": \"get_rain\", \"arguments\": {}}",
        "<tool_call>{\"name\": \"none\", \"arguments\": {}}</tool_call>",
        "[\"get_weather\", \"search\"]",
        "Done: [{\"name\": \"get_weather\"}, {\"name\": \"search\"}]",
        "{\"get_weather\": \"sunny\", \"search\": {}}",
        "<b>get_weather</b>, <i>search</i>",
        "The tool get_weather takes {\"city\": \"...\"}.",
        "get_weather",
        "```json\n\"get_weather\"\n```",
        "{\"name\": get_weather",
        "get_weather(",
        "<function=get_weather><parameter=city>Rome",
    ] {
        assert_eq!(read(text), "", "{text}");
    }
}

#[test]
fn no_more_calls_than_the_limit_are_read() {
    let text = r#"{"name":"search","arguments":{}} "#.repeat(CALLS_MAX + 10);
    assert_eq!(text_calls(&text, &is_tool).len(), CALLS_MAX);
    let list = format!("[{}]", vec![r#"{"name":"search","arguments":{}}"#; CALLS_MAX + 10].join(","));
    assert_eq!(text_calls(&list, &is_tool).len(), CALLS_MAX);
}

/// Texts that make a reader try again and again. Each takes some milliseconds, and would take minutes if the time grew
/// with the square of the length.
#[test]
fn reading_takes_linear_time() {
    for piece in [
        "{",
        "[",
        "{\"",
        "{'",
        "[1,",
        "{\"a\":",
        "{\"a\":[",
        "search(",
        "search(a=",
        ">search<p=1>",
        "=search<",
        "<",
        "``` ",
        "\\",
        ">search:",
        "[TOOL_CALLS]search",
        "<|search",
        ">search <key>",
        "search(a='",
        "{\"a\":\"\\",
    ] {
        let text = piece.repeat((1 << 18) / piece.len());
        for text in [&text, &format!("{}{text}", " ".repeat(1 << 18)), &format!("{text}{{\"a\":[1],")] {
            text_calls(text, &is_tool);
        }
    }
}

proptest! {
    #[test]
    fn no_text_breaks_it(text in r#"([{}\[\]"':,()<>=/`|｜\\]|name|arguments|search|get-time|tool_call|\PC|\\u[0-9a-f]{4}|\n){0,40}"#) {
        for call in text_calls(&text, &is_tool) {
            prop_assert!(is_tool(&call.name));
        }
    }

    /// A call is found wherever it stands.
    #[test]
    fn words_around_a_call_do_not_hide_it(before in "[a-zé .,!\n]{0,20}", after in "[a-zé .,!\n]{0,20}") {
        let text = format!("{before}{{\"name\": \"search\", \"arguments\": {{\"q\": 1}}}}{after}");
        prop_assert_eq!(text_calls(&text, &is_tool).len(), 1);
    }
}
