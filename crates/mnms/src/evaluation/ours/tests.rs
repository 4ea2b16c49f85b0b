use super::*;

fn of_json(json: &str) -> OurReading {
    read(&Literal::from_json(json).unwrap(), PredictionFormat::Json)
}

fn of_code(code: &str) -> OurReading {
    read(&Literal::Text(code.to_owned()), PredictionFormat::Code)
}

const PLAN: &str = r#"[
    {"id": 0, "name": "object detection", "args": {"image": "a.jpg"}},
    {"id": 1, "name": "select object", "args": {"objects": "<node-0>.objects", "object_name": "the \"dog\""}},
    {"id": 2, "name": "image crop", "args": {"image": "<node-0>.image", "object": "<node-1>.object"}}
]"#;

#[test]
fn programs_are_scored_by_the_plan_that_they_are() {
    let right = of_json(PLAN).labels;
    assert_eq!(right.edges.len(), 3, "{:?}", right.edges);
    let programs = [
        "def solve():\n    output0 = object_detection(image=\"a.jpg\")\n    output1 = select_object(objects=\
         output0['objects'], object_name=\"the 'dog'\")\n    output2 = image_crop(image=output0['image'], \
         object=output1['object'])\n    result = {0: output0, 1: output1, 2: output2}\n    return result",
        // Positional arguments, different variable names, several lines.
        "found = object_detection(\n  'a.jpg'\n)\none = select_object(found['objects'], 'the  \"Dog\"')\n\
         image_crop(found['image'], object=one.get('object'))",
        // Nested calls, a module of tools, variables with values.
        "import tools\nname = f\"the {'dog'}\"\ndef solve(x='a.jpg'):\n  d = tools.object_detection(image='a.jpg')\n  \
         if True:\n    print(d)\n    who = 'the \\'dog\\''\n    return tools.image_crop(image=str(d['image']), \
         object=select_object(objects=d['objects'], object_name=who)['object'])",
    ];
    for program in programs {
        let read = of_code(program);
        assert!(!read.has_malformed, "{program}");
        let (mut left, mut right) = (read.labels.clone(), right.clone());
        left.edges.sort();
        right.edges.sort();
        // A nested call runs before the outer one, but is written after it.
        assert_eq!(left, right, "{program}");
    }
}

/// Values are those of the first alternative, and what a pattern takes out of a result is an output of it.
#[test]
fn alternatives_leave_the_values_of_the_first() {
    let first = "a = image_captioning(image='1.jpg')\n";
    for rest in [
        "if a:\n    b = a['text']\nelse:\n    b = 'nothing'\n",
        "try:\n    b = a['text']\nexcept KeyError:\n    b = ''\n",
        "match a:\n    case {'text': b}:\n        pass\n    case _:\n        b = ''\n",
        "match a:\n    case it:\n        b = it['text']\n",
    ] {
        let labels = of_code(&format!("{first}{rest}text_generation(text=b)")).labels;
        assert_eq!(labels.argvalues[1..], ["text_generation--text=<1 ago.text>"], "{rest}");
    }
}

/// Templates are filled as Python fills them, as far as they are plain.
#[test]
fn templates_are_filled() {
    for (value, read) in [
        ("'%s and %s' % (a['text'], 'x')", "<1 ago.text> and x"),
        ("'on %s' % a['text']", "on <1 ago.text>"),
        ("'{} and {}'.format('x', a['text'])", "x and <1 ago.text>"),
        ("'{1}, {0}'.format('x', a['text'])", "<1 ago.text>, x"),
        ("'{what}: {0}'.format(a['text'], what='x')", "x: <1 ago.text>"),
        ("'no field'.format(a['text'])", "no field<1 ago.text>"),
        ("'{'.format(a['text'])", "<1 ago.text>"),
    ] {
        let labels =
            of_code(&format!("a = image_captioning(image='1.jpg')\ntext_generation(text={value})")).labels;
        assert_eq!(labels.argvalues[1], format!("text_generation--text={read}"), "{value}");
    }
}

#[test]
fn a_malformed_node_costs_itself() {
    let right = OurGold::new(&Literal::from_json(PLAN).unwrap(), []);
    let wrong = PLAN.replace("\"object detection\"", "null");
    let read = of_json(&wrong);
    assert!(read.has_malformed);
    let (_, counts) = right.compare(&read, false);
    assert_eq!((counts.tools_right.len(), counts.tools_missing.len(), counts.unknown_tools), (2, 1, 1));
    for malformed in ["null", "\"no plan\"", "{}", "5", "\"[1\""] {
        let read = of_json(malformed);
        assert!(read.has_malformed && read.labels.tools.is_empty(), "{malformed}");
        assert_eq!(right.compare(&read, true).1.likeness(), 0.0);
    }
    let broken = "output0 = object_detection(image=\"a.jpg\")\noutput1 = select_object(objects=\nx = (1\n";
    let read = of_code(broken);
    assert!(read.has_malformed);
    assert_eq!(read.labels.tools, ["object_detection"]);
}

#[test]
fn the_ways_in_which_a_plan_is_written_make_no_difference() {
    let right = of_json(PLAN).labels;
    let wrapped = format!("{{\"nodes\": {PLAN}}}");
    let quoted = serde_json::Value::from(wrapped.as_str()).to_string();
    let renumbered = PLAN.replace("\"id\": 0", "\"id\": \"7\"").replace("node-0", "node-07");
    let underscored = PLAN.replace("object detection", "object_detection ").replace("a.jpg", " A.jpg");
    for other in [wrapped, quoted, renumbered, underscored] {
        assert_eq!(of_json(&other).labels, right, "{other}");
    }
    let number = |value: &str| {
        of_json(&format!("[{{\"id\": 0, \"name\": \"get year fact\", \"args\": {{\"year\": {value}}}}}]"))
            .labels
    };
    assert_eq!(number("1969"), number("\"1969\""));
    assert_eq!(number("1969"), number("1969.0"));
    assert_eq!(number("1969"), of_code("get_year_fact(year=1969)").labels);
    assert_ne!(number("1969"), number("1970"));
}

#[test]
fn references_make_edges() {
    let plan = r#"[
        {"id": 0, "name": "count", "args": {"objects": "<node-1>.objects"}},
        {"id": 1, "name": "get math fact", "args": {"number": "<node-1>.number and <node-0>.number"}},
        {"id": 1, "name": "text generation", "args": {"text": "a, <node-1>.text, <node-9>.text, <node-0>, <node-"}},
        {"id": 3, "name": "tag", "args": {"image": ["<node-1>.image"]}}
    ]"#;
    // A reference to a later or missing step does not count; if two steps share an id, the earlier one is meant.
    assert_eq!(
        of_json(plan).labels.edges,
        ["count--get_math_fact", "get_math_fact--text_generation", "text_generation--tag"]
    );
}

#[test]
fn what_is_no_tool_counts_as_extra_and_what_every_program_has_does_not() {
    let right =
        OurGold::new(&Literal::from_json("[{\"id\": 0, \"name\": \"count\", \"args\": {}}]").unwrap(), []);
    let read = of_code("x = translate(text='a')\nprint(len(str(x)))\n'a'.join(['b'])\ny = count()");
    let (_, counts) = right.compare(&read, false);
    assert_eq!(counts.tool(), LabelTally { right: 1, extra: 1, missing: 0 });
}

#[test]
fn the_best_of_several_plans_is_the_one_with_most_in_common() {
    let plan = |name: &str, text: &str| {
        let json = format!("[{{\"id\": 0, \"name\": \"{name}\", \"args\": {{\"text\": \"{text}\"}}}}]");
        Literal::from_json(&json).unwrap()
    };
    let alternatives =
        [plan("text generation", "a"), plan("text generation", "b"), plan("text generation", "b")];
    let gold = OurGold::new(&plan("text summarization", "b"), &alternatives);
    let read = read(&plan("text generation", "b"), PredictionFormat::Json);
    assert_eq!((gold.compare(&read, true).0, gold.compare(&read, false).0), (2, 0));
}

#[test]
fn plans_of_ten_thousand_steps_are_compared() {
    let node = |id: usize| {
        format!("{{\"id\": {id}, \"name\": \"t{}\", \"args\": {{\"text\": \"<node-0>.text\"}}}}", id % 7)
    };
    let json = format!("[{}]", (0..10_000).map(node).collect::<Vec<_>>().join(","));
    let plan = Literal::from_json(&json).unwrap();
    let gold = OurGold::new(&plan, []);
    let (_, counts) = gold.compare(&read(&plan, PredictionFormat::Json), false);
    assert_eq!((counts.alike, counts.steps, counts.plan_argvalue), (20_000, 20_000, true));
    let line = |id: usize| format!("o{id} = t{}(text=o0['text'])\n", id % 7);
    let program: String = (0..10_000).map(line).collect();
    assert_eq!(of_code(&program).labels.tools.len(), 10_000);
}

#[test]
fn values_that_double_in_every_line_stay_small() {
    for line in ["x += x\n", "x = x + x\n", "x = f'{x}{x}'\n", "x = y = [x, x]\n"] {
        let read = of_code(&format!("x = 'a'\n{}count(objects=x)", line.repeat(64)));
        assert!(!read.has_malformed, "{line}");
        assert_eq!(read.labels.tools, ["count"], "{line}");
    }
    // What a plan needs is far below the limit.
    let read = of_code("x = 'a'\nx += x\ncount(objects=x)");
    assert_eq!(read.labels, of_code("count(objects='aa')").labels);
}
