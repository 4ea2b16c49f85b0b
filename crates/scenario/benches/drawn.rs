//! How long it takes to draw cases from rules: `cargo bench -p planproof-scenario`.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use planproof_scenario::{Drawing, RulesShown, listed_tools};
use serde_json::{Value, json};

/// Cases of a sample.
const CASES: usize = 500;

/// Departments of a shop, each with tools and rules of its own: twenty rules, as people write them.
const DEPARTMENTS: [&str; 4] = ["order", "loan", "visit", "claim"];

fn rules() -> String {
    let of_department = |name: &&str| {
        format!(
            "  - {{id: {name}-looked-at, requires: {{call: pay_{name}, done: get_{name}, result: {{/open: true}}}}, per: /id}}\n\
             \x20 - {{id: {name}-small, never: {{call: pay_{name}, where: {{/amount: {{above: 100}}}}}}}}\n\
             \x20 - {{id: {name}-once, at-most: {{done: pay_{name}, times: 1}}, per: /id}}\n\
             \x20 - {{id: {name}-reported, followed-by: {{done: pay_{name}, call: report_{name}}}, per: /id}}\n\
             \x20 - {{id: {name}-closed, never-after: {{call: pay_{name}, done: report_{name}}}, per: /id}}\n"
        )
    };
    let all: String = DEPARTMENTS.iter().map(of_department).collect();
    format!("schema: planproof/rules/v1\nrules:\n{all}")
}

fn tools() -> Value {
    let tool = |name: String, arguments: Value| {
        let required: Vec<&String> = arguments.as_object().into_iter().flat_map(|it| it.keys()).collect();
        json!({"name": name, "description": "A tool.", "input_schema": {
            "type": "object", "properties": arguments, "required": required, "additionalProperties": false}})
    };
    let id = || json!({"id": {"type": "integer"}});
    let of_department = |name: &&str| {
        let pay = json!({"id": {"type": "integer"}, "amount": {"type": "number", "minimum": 0}});
        [
            tool(format!("get_{name}"), id()),
            tool(format!("pay_{name}"), pay),
            tool(format!("report_{name}"), id()),
        ]
    };
    DEPARTMENTS.iter().flat_map(of_department).collect()
}

fn drawing(c: &mut Criterion) {
    let tools = listed_tools(&tools()).expect("tools");
    let mut drawing = Drawing::new(&rules(), &tools, RulesShown::Stated).expect("cases can be drawn");
    let mut group = c.benchmark_group("drawn");
    group.sample_size(10).throughput(Throughput::Elements(CASES as u64));
    let mut seed = 0;
    group.bench_function("cases of 20 rules", |bencher| {
        bencher.iter(|| {
            seed += 1;
            black_box(drawing.cases(seed, CASES).expect("cases"))
        });
    });
    group.finish();
}

criterion_group!(benches, drawing);
criterion_main!(benches);
