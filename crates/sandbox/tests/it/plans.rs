//! Programs as plans are: with tools, results of tools, printed text and failures.

use std::time::Duration;

use planproof_sandbox::{
    Exception, Lack, Limit, NoFunctions, Program, ProgramCall, ProgramEnd, ProgramOutcome, Returned,
    SandboxLimits,
};
use serde_json::{Value, json};

use crate::support::{Tools, in_short, run, sandbox, wait};

crate::tests![
    tools_suspend_a_plan,
    arguments_keep_their_place_and_type,
    errors_of_tools_can_be_caught,
    values_of_python_become_json,
    the_last_expression_is_the_value_of_a_whole_program,
    what_works,
    what_is_not_supported,
    failures_name_their_line,
    printed_text_is_kept,
    limits_have_maxima,
    input_is_refused_where_it_is_asked_for,
    nothing_is_left_for_the_next_program,
    runs_are_alike,
    waiting_for_a_tool_takes_no_time,
];

fn solve(text: &str, tools: &Tools) -> ProgramOutcome {
    run(&Program::function(text, "solve"), tools, &SandboxLimits::default())
}

/// The value of a program without tools.
fn value(text: &str) -> Value {
    let outcome = run(&Program::whole(text), &NoFunctions, &SandboxLimits::default());
    match outcome.end {
        ProgramEnd::Finished { value: Returned::Json(value) } => value,
        other => panic!("{text}: {other}"),
    }
}

fn tools_suspend_a_plan() {
    let tools = Tools::default();
    let text = "
def solve():
    output0 = caption(image='2.jpg')
    output1 = translate(f\"{output0['text']}, seen\", 'de')
    return {'first': output0, 'second': output1['text'][1]}
";
    let outcome = solve(text, &tools);
    let value = json!({"first": {"text": "a picture of \"2.jpg\""}, "second": "de"});
    assert_eq!(outcome.end, ProgramEnd::Finished { value: Returned::Json(value) });
    assert_eq!(outcome.calls, 2);
    let calls = tools.calls.into_inner().unwrap();
    let kwargs = json!({"image": "2.jpg"}).as_object().unwrap().clone();
    assert_eq!(calls[0], ProgramCall { function: "caption".into(), args: vec![], kwargs });
    assert_eq!(calls[1].args, [json!("a picture of \"2.jpg\", seen"), json!("de")]);
}

fn arguments_keep_their_place_and_type() {
    let tools = Tools::default();
    let text = "
def solve():
    r = translate(1, -2.5, True, None, 'ü\\n', [1, (2, 3)], z={'b': 1, 'a': [{}]}, a=2**63)
    return [r['big'] + 1 == 2**64, r['half'] * 2, r['none'] is None, list(r)]
";
    let outcome = solve(text, &tools);
    let value = json!([true, 1.0, true, ["text", "big", "half", "none"]]);
    assert_eq!(outcome.end, ProgramEnd::Finished { value: Returned::Json(sorted_keys(value)) });
    let call = &tools.calls.into_inner().unwrap()[0];
    assert_eq!(
        call.args,
        [json!(1), json!(-2.5), json!(true), json!(null), json!("ü\n"), json!([1, [2, 3]])]
    );
    assert_eq!(Value::Object(call.kwargs.clone()), json!({"z": {"b": 1, "a": [{}]}, "a": 1_u64 << 63}));
}

/// JSON objects come in the order of their keys where `serde_json` is built without an order of its own.
fn sorted_keys(mut value: Value) -> Value {
    let keys: Vec<String> =
        json!({"text": 0, "big": 0, "half": 0, "none": 0}).as_object().unwrap().keys().cloned().collect();
    value[3] = json!(keys);
    value
}

fn errors_of_tools_can_be_caught() {
    let caught =
        "def solve():\n    try:\n        fail(1)\n    except ValueError as e:\n        return str(e)\n";
    let outcome = solve(caught, &Tools::default());
    assert_eq!(outcome.end, ProgramEnd::Finished { value: Returned::Json(json!("no such picture")) });
    let outcome = solve("def solve():\n    x = 1\n    fail(x)\n", &Tools::default());
    let exception = Exception { kind: "ValueError".into(), message: "no such picture".into(), line: Some(3) };
    assert_eq!(outcome.end, ProgramEnd::Raised(exception));
}

fn values_of_python_become_json() {
    for (text, expected) in [
        ("None", json!(null)),
        ("[1, 2.5, 'x', True]", json!([1, 2.5, "x", true])),
        ("(1, (2,))", json!([1, [2]])),
        ("{'a': {'b': ()}}", json!({"a": {"b": []}})),
        ("2**64 - 1", json!(u64::MAX)),
        ("-2**63", json!(i64::MIN)),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
    for (text, expected) in [
        ("{1}", "{1}"),
        ("2**64", "18446744073709551616"),
        ("{1: 2}", "{1: 2}"),
        ("b'x'", "b'x'"),
        ("float('inf')", "inf"),
        ("len", "<built-in function len>"),
    ] {
        let outcome = run(&Program::whole(text), &NoFunctions, &SandboxLimits::default());
        assert_eq!(outcome.end, ProgramEnd::Finished { value: Returned::Other(expected.into()) }, "{text}");
    }
}

fn the_last_expression_is_the_value_of_a_whole_program() {
    assert_eq!(value("x = 2\nx + 1"), json!(3));
    assert_eq!(value("x = 2"), json!(null));
    assert_eq!(value(""), json!(null));
}

fn what_works() {
    for (text, expected) in [
        ("import math\nmath.floor(2.7)", json!(2)),
        ("import json\njson.loads(json.dumps({'a': [1]}))['a']", json!([1])),
        ("import re\nre.findall('[a-z]+', 'ab 1 c')", json!(["ab", "c"])),
        ("from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int = 1\nP(3).x", json!(3)),
        ("from collections import Counter\nCounter('aab')['a']", json!(2)),
        ("x = 3\nf'{x:>4}|{x!r}|{x / 2:.2f}'", json!("   3|3|1.50")),
        ("[y for x in range(5) if (y := x * x) > 3]", json!([4, 9, 16])),
        ("sorted(['b', 'A'], key=lambda x: x.lower())", json!(["A", "b"])),
        ("a, *b = [1, 2, 3]\nb", json!([2, 3])),
        (
            "try:\n    {}['x']\nexcept KeyError as e:\n    r = repr(e)\nfinally:\n    s = 1\nr",
            json!("KeyError('x')"),
        ),
        (
            "class A:\n    def __init__(self, x):\n        self.x = x\n    def f(self):\n        return self.x\nA(4).f()",
            json!(4),
        ),
        ("(lambda x, *, y=2: x * y)(3)", json!(6)),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

fn what_is_not_supported() {
    for (text, lack, line) in [
        ("import numpy as np", Lack::Module("numpy".into()), 1),
        ("x = 1\nfrom PIL import Image", Lack::Module("PIL".into()), 2),
        ("def solve():\n  try: import heapq\n  finally: pass\nsolve()", Lack::Module("heapq".into()), 2),
        ("class E(Exception): pass", Lack::Syntax("class inheritance and metaclasses".into()), 1),
        ("x = eval('1')", Lack::Builtin("eval".into()), 1),
        ("x = open('x.txt')", Lack::System("open".into()), 1),
        (
            "x = sorted([], key=str.lower)",
            Lack::Ability("type object 'str' has no attribute 'lower'".into()),
            1,
        ),
        ("x = b'%d' % 1", Lack::Syntax("% formatting".into()), 1),
        ("x = 'a %s' % 1", Lack::Syntax("% formatting".into()), 1),
    ] {
        let outcome = run(&Program::whole(text), &NoFunctions, &SandboxLimits::default());
        assert_eq!(outcome.end, ProgramEnd::Unsupported { lack, line: Some(line) }, "{text}");
    }
    // What the interpreter cannot do at all is not called after its own fault.
    let outcome = run(&Program::whole("raise SystemExit(1)"), &NoFunctions, &SandboxLimits::default());
    assert!(
        matches!(&outcome.end, ProgramEnd::Unsupported { lack: Lack::Ability(what), .. }
            if what.starts_with("what this line needs (the interpreter fails on it: ")),
        "{:?}",
        outcome.end
    );
    // A program may do without what it asks for in vain.
    assert_eq!(value("try:\n    import numpy\nexcept ImportError:\n    x = 1\nx"), json!(1));
}

fn failures_name_their_line() {
    for (text, kind, line) in [
        ("x = 1\n\nx = (\n", "SyntaxError", None),
        ("x = 1\nx = = 2\n", "SyntaxError", Some(2)),
        ("def solve():\n    return {}['a']\n", "KeyError", Some(2)),
        ("def f(x):\n    return 1 / x\ndef solve():\n    return f(0)\n", "ZeroDivisionError", Some(2)),
        ("def solve():\n    return caption()['image']\n", "NameError", Some(2)),
        ("x = 1\n", "NameError", None),
    ] {
        match run(&Program::function(text, "solve"), &NoFunctions, &SandboxLimits::default()).end {
            ProgramEnd::Raised(exception) => {
                assert_eq!((exception.kind.as_str(), exception.line), (kind, line), "{text}");
            }
            other => panic!("{text}: {other}"),
        }
    }
}

fn printed_text_is_kept() {
    let text = "
def solve():
    print('one', 2, sep='-', end='.')
    caption(image='x')
    print('two')
    raise KeyError('x')
";
    let outcome = solve(text, &Tools::default());
    assert_eq!(outcome.printed, "one-2.two\n");
    // Also what was printed before a call of a program that has to be killed.
    let text = "def solve():\n    print('one')\n    caption(image='x')\n    x = [1]\n    while True:\n        x = x + x\n";
    let outcome = solve(text, &Tools::default());
    assert_eq!((outcome.end, outcome.printed.as_str()), (ProgramEnd::Limit(Limit::Memory), "one\n"));
}

fn limits_have_maxima() {
    let endless = SandboxLimits {
        memory_bytes: u64::MAX,
        time: Duration::MAX,
        output_bytes: usize::MAX,
        recursion: usize::MAX,
        program_bytes: usize::MAX,
        value_bytes: usize::MAX,
        calls: usize::MAX,
    };
    let run = |text: &str| in_short(&run(&Program::whole(text), &NoFunctions, &endless).end);
    assert_eq!(run("1"), "finished");
    assert_eq!(run("def f():\n    f()\nf()"), "limit recursion");
    assert_eq!(run(&format!("x = '{}'", "x".repeat(70_000))), "limit bytes of the program");
    assert_eq!(run("'x' * 10**10"), "limit memory");
}

fn input_is_refused_where_it_is_asked_for() {
    let text = "def solve():\n    return 'never input('\n";
    let program = Program::function(text, "solve");
    assert_eq!(in_short(&run(&program, &NoFunctions, &SandboxLimits::default()).end), "finished");
    let outcome = run(&program.refusing_input(), &NoFunctions, &SandboxLimits::default());
    assert_eq!(outcome.end, ProgramEnd::Refused { found: "input(".into() });
}

fn nothing_is_left_for_the_next_program() {
    let sandbox = sandbox(1);
    let run = |text: &str| {
        wait(sandbox.run(&Program::whole(text), &Tools::default(), &SandboxLimits::default())).unwrap()
    };
    let first = "import math\nimport json\nmine = 1\nmath_was = math\ndef helper():\n    return 1\nhelper()";
    assert_eq!(in_short(&run(first).end), "finished");
    // The first program came to its end, so the same worker runs the following ones.
    for name in ["mine", "helper", "math", "json"] {
        assert_eq!(in_short(&run(name).end), "raised NameError", "{name}");
    }
    let patched = "import math\ntry:\n    math.pi = 3\nexcept Exception:\n    pass\nint = str\n1";
    assert_eq!(in_short(&run(patched).end), "finished");
    let outcome = run("import math\n[math.pi > 3.1, int('1') + 1]");
    assert_eq!(outcome.end, ProgramEnd::Finished { value: Returned::Json(json!([true, 2])) });
    assert_eq!(run("x = 1\nx").printed, "");
}

fn runs_are_alike() {
    let text = "
class A:
    pass
def f():
    pass
print({'b', 'a', 'c', 1}, hash('a'), id(A()) == id(f), A(), f, hash(f), hash((1, 'x')), [A()], id(f))
";
    let outcomes: Vec<_> =
        (0..3).map(|_| run(&Program::whole(text), &NoFunctions, &SandboxLimits::default())).collect();
    assert_eq!(in_short(&outcomes[0].end), "finished", "{}", outcomes[0].end);
    assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]), "{outcomes:#?}");
}

/// A tool that takes its time.
struct Slow;

impl planproof_sandbox::Functions for Slow {
    fn names(&self) -> Vec<String> {
        vec!["wait".into()]
    }

    fn call(&self, _: ProgramCall) -> planproof_sandbox::CallFuture<'_> {
        Box::pin(async {
            tokio::time::sleep(Duration::from_millis(1200)).await;
            Ok(json!(1))
        })
    }
}

fn waiting_for_a_tool_takes_no_time() {
    let limits = SandboxLimits { time: Duration::from_secs(1), ..SandboxLimits::default() };
    let outcome = run(&Program::whole("[wait() for i in [1, 2]]"), &Slow, &limits);
    assert_eq!(outcome.end, ProgramEnd::Finished { value: Returned::Json(json!([1, 1])) });
}
