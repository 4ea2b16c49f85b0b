//! Official clients of models on a simulated model that planproof serves, in each protocol that it speaks.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use planproof_agents::SERVED_VARIABLES;
use serde_json::Value;

use crate::support::{Place, Run};
use crate::venvs::{keep_compiled, python};

/// What a user of the `openai` package would write, against a simulated model: each interface, streamed and not.
const OPENAI_CLIENT: &str = r#"
import json, os, sys
from openai import AuthenticationError, OpenAI

case = json.loads(open(sys.argv[1]).readline())
model = os.environ["OPENAI_MODEL"]
client = OpenAI()
tools = [{"name": t["name"], "description": t["description"], "parameters": t["input_schema"]} for t in case["tools"]]
chat_tools = [{"type": "function", "function": tool} for tool in tools]
flat_tools = [{"type": "function", **tool} for tool in tools]

def by_chat(stream):
    messages, called = [{"role": "user", "content": case["query"]}], []
    while True:
        if stream:
            with client.chat.completions.stream(model=model, messages=messages, tools=chat_tools) as events:
                for _ in events:
                    pass
                reply = events.get_final_completion().choices[0].message
        else:
            reply = client.chat.completions.create(model=model, messages=messages, tools=chat_tools).choices[0].message
        if not reply.tool_calls:
            assert reply.content
            return called
        calls = [
            {"id": c.id, "type": "function", "function": {"name": c.function.name, "arguments": c.function.arguments}}
            for c in reply.tool_calls
        ]
        messages.append({"role": "assistant", "content": reply.content, "tool_calls": calls})
        for call in reply.tool_calls:
            called.append(call.function.name)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "done"})

def by_responses(stream):
    inputs, previous, called = case["query"], None, []
    while True:
        request = {"model": model, "input": inputs, "previous_response_id": previous, "tools": flat_tools}
        if previous is None:
            del request["previous_response_id"]
        if stream:
            with client.responses.stream(**request) as events:
                for _ in events:
                    pass
                response = events.get_final_response()
        else:
            response = client.responses.create(**request)
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            assert response.output_text
            return called
        called += [call.name for call in calls]
        inputs = [{"type": "function_call_output", "call_id": call.call_id, "output": "done"} for call in calls]
        previous = response.id

def by_completions():
    prompt = "Judge whether it is right."
    whole = client.completions.create(model=model, prompt=prompt, echo=True, logprobs=1, max_tokens=2)
    choice = whole.choices[0]
    assert choice.text == prompt + "Correct." and choice.finish_reason == "length", choice
    assert "".join(choice.logprobs.tokens) == prompt and choice.logprobs.token_logprobs[0] is None, choice
    assert len(choice.logprobs.tokens) == whole.usage.prompt_tokens and choice.logprobs.text_offset[1] == 4, choice
    pieces = client.completions.create(model=model, prompt=prompt, max_tokens=2, stream=True)
    assert "".join(piece.choices[0].text for piece in pieces) == "Correct."

by_completions()
try:
    OpenAI(api_key="wrong", max_retries=0).models.list()
    sys.exit("a wrong key was taken")
except AuthenticationError:
    pass
print(json.dumps({f"{way.__name__}({stream})": way(stream) for way in (by_chat, by_responses) for stream in (False, True)}))
"#;

pub(crate) fn the_openai_client_talks_to_a_served_model() {
    let plans = client_of_a_served_model("openai-agents", OPENAI_CLIENT);
    assert_eq!(plans, 4);
}

/// The official clients of Anthropic and Google, plain and streamed, with their counts, their lists and their errors.
const OTHER_CLIENTS: &str = r#"
import json, os, sys

import anthropic
from google import genai
from google.genai import errors, types

case = json.loads(open(sys.argv[1]).readline())
model = os.environ["ANTHROPIC_MODEL"]
schema = {"type": "object", "properties": {}}
names = [(tool["name"], tool["description"]) for tool in case["tools"]]
claude_tools = [{"name": name, "description": text, "input_schema": schema} for name, text in names]
declarations = [
    types.FunctionDeclaration(name=name, description=text, parameters=types.Schema(type="OBJECT", properties={}))
    for name, text in names
]
claude, google = anthropic.Anthropic(max_retries=0), genai.Client()

def by_messages(stream):
    messages, called = [{"role": "user", "content": case["query"]}], []
    while True:
        request = {"model": model, "max_tokens": 1000, "system": "Be good.", "messages": messages, "tools": claude_tools}
        if stream:
            with claude.messages.stream(**request) as events:
                for _ in events:
                    pass
                reply = events.get_final_message()
        else:
            reply = claude.messages.create(**request)
        assert reply.usage.input_tokens and reply.usage.output_tokens, reply
        calls = [block for block in reply.content if block.type == "tool_use"]
        if not calls:
            assert reply.stop_reason == "end_turn" and reply.content[0].text, reply
            return called
        assert reply.stop_reason == "tool_use", reply
        called += [call.name for call in calls]
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": "done"} for call in calls]
        messages += [{"role": "assistant", "content": reply.content}, {"role": "user", "content": results}]

def by_contents(stream):
    contents, called = [types.Content(role="user", parts=[types.Part(text=case["query"])])], []
    config = types.GenerateContentConfig(
        system_instruction="Be good.", temperature=0, tools=[types.Tool(function_declarations=declarations)],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    while True:
        request = {"model": model, "contents": contents, "config": config}
        if stream:
            pieces = list(google.models.generate_content_stream(**request))
        else:
            pieces = [google.models.generate_content(**request)]
        assert pieces[-1].usage_metadata.total_token_count, pieces
        assert pieces[-1].candidates[0].finish_reason == types.FinishReason.STOP, pieces
        parts = [part for piece in pieces for part in piece.candidates[0].content.parts]
        calls = [part.function_call for part in parts if part.function_call]
        if not calls:
            assert "".join(part.text or "" for part in parts), pieces
            return called
        called += [call.name for call in calls]
        contents.append(types.Content(role="model", parts=parts))
        # The first half with their ids, the others found by their names.
        responses = [
            types.FunctionResponse(id=call.id if place % 2 else None, name=call.name, response={"result": "done"})
            for place, call in enumerate(calls)
        ]
        contents.append(types.Content(role="user", parts=[types.Part(function_response=it) for it in responses]))

assert claude.messages.count_tokens(model=model, messages=[{"role": "user", "content": "x" * 400}]).input_tokens > 100
assert google.models.count_tokens(model=model, contents="x" * 400).total_tokens > 100
assert [it.id for it in claude.models.list()] == [model]
assert [it.name for it in google.models.list()] == [f"models/{model}"]
try:
    anthropic.Anthropic(api_key="wrong", max_retries=0).models.list()
    sys.exit("a wrong key was taken")
except anthropic.AuthenticationError as error:
    assert error.body["error"]["type"] == "authentication_error", error.body
stranger = genai.Client(api_key="wrong")
try:
    stranger.models.generate_content(model=model, contents="hi")
    sys.exit("a wrong key was taken")
except errors.ClientError as error:
    assert (error.code, error.status) == (401, "UNAUTHENTICATED"), error
image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
try:
    claude.messages.create(model=model, max_tokens=9, messages=[{"role": "user", "content": [image]}])
    sys.exit("a picture was taken")
except anthropic.BadRequestError as error:
    assert "messages[0].content[0]" in error.body["error"]["message"], error.body
print(json.dumps({f"{way.__name__}({stream})": way(stream) for way in (by_messages, by_contents) for stream in (False, True)}))
"#;

pub(crate) fn the_clients_of_anthropic_and_google_talk_to_a_served_model() {
    let plans = client_of_a_served_model("clients", OTHER_CLIENTS);
    assert_eq!(plans, 4);
}

/// Runs a client of a served model on a case, which prints what it called in each of several ways, and checks all of
/// them. Gives how many there were.
fn client_of_a_served_model(venv: &str, client: &str) -> usize {
    let place = Place::new();
    place.write("client.py", client);
    place.write("c.jsonl", &place.run("synth --count 1 --actions 6").code(0).out);
    let serve = ["serve-model", "sim/perfect", "--json"];
    let mut server = place.command(&serve).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let served: Value = serde_json::from_str(&line).unwrap();
    let text = |key: &str| served[key].as_str().unwrap();
    let root = text("base_url").strip_suffix("/v1").unwrap();
    let mut command = Command::new(python(venv));
    command.args(["client.py", "c.jsonl"]).current_dir(place.path("."));
    keep_compiled(&mut command);
    for ([base_url, key, model], url) in SERVED_VARIABLES.into_iter().zip([text("base_url"), root, root]) {
        command.env(base_url, url).env(key, text("key")).env(model, text("model"));
    }
    let run = Run::of(command, "");
    server.kill().unwrap();
    server.wait().unwrap();
    let plans = run.code(0).json();
    let plans = plans.as_object().unwrap();
    for (way, plan) in plans {
        let calls: Vec<&str> = plan.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        let check = place.run(&format!("check --case c.jsonl --calls {}", calls.join(",")));
        assert_eq!(check.code, 0, "{way}: {check:?}");
    }
    plans.len()
}
