use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jsonschema::{Keyword, ValidationError, Validator};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::CompiledSchema;

/// Makes a schema out of a reference.
type Link = fn(Value) -> Value;

/// Makes a schema out of a number.
type Numbered = fn(usize) -> Value;

/// A chain of so many definitions, each made by `link` out of a reference to the next one; the last is a text.
fn chain(length: usize, link: impl Fn(Value) -> Value) -> Value {
    let next = |number: usize| json!({"$ref": format!("#/$defs/d{number}")});
    let mut definitions: Map<String, Value> =
        (0..length).map(|number| (format!("d{number}"), link(next(number + 1)))).collect();
    definitions.insert(format!("d{length}"), json!({"type": "string"}));
    json!({"type": "object", "properties": {"x": next(0)}, "required": ["x"], "$defs": definitions})
}

/// Ways in which a schema can apply another one several times to one value.
fn multiplying() -> Vec<(&'static str, Link)> {
    vec![
        ("allOf", |next| json!({"allOf": [next, next]})),
        ("anyOf", |next| json!({"anyOf": [next, next]})),
        ("oneOf", |next| json!({"oneOf": [next, next]})),
        ("not", |next| json!({"allOf": [{"not": next}, {"not": next}]})),
        ("if", |next| json!({"if": next, "then": next, "else": next})),
        ("dependent", |next| json!({"dependentSchemas": {"a": next, "b": next}, "allOf": [next]})),
        ("beside", |next| json!({"$ref": next["$ref"], "anyOf": [next]})),
        ("several", |next| json!({"anyOf": [next, {"oneOf": [{"type": "null"}, next]}]})),
        ("unevaluated", |next| json!({"allOf": [next], "unevaluatedProperties": false})),
        ("anchored", |next| json!({"anyOf": [next, {"allOf": [{"$dynamicRef": next["$ref"]}]}]})),
    ]
}

#[test]
fn schemas_that_multiply_themselves_are_refused() {
    for (name, link) in multiplying() {
        assert_eq!(Steps::of(&chain(30, link)).unwrap_err(), TooMuch::AtOnePlace, "{name}");
        // A canary: the same with few definitions is a schema like any other.
        Steps::of(&chain(6, link)).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    // With one reference each, a chain is only long.
    Steps::of(&chain(100, |next| json!({"allOf": [next]}))).unwrap();
    for length in [700, 5000] {
        let long = chain(length, |next| json!({"allOf": [next]}));
        assert_eq!(Steps::of(&long).unwrap_err(), TooMuch::Deep, "{length}");
    }
}

#[test]
fn addresses_and_names_are_followed() {
    let doubled = |reference: Numbered, defined: Numbered| -> Value {
        let link = |number: usize| {
            let mut schema = defined(number);
            if number < 30 {
                schema["allOf"] = json!([reference(number + 1), reference(number + 1)]);
            }
            (format!("d{number}"), schema)
        };
        let definitions: Map<String, Value> = (0..=30).map(link).collect();
        json!({"allOf": [reference(0)], "$defs": definitions})
    };
    let kinds: [(Numbered, Numbered); 5] = [
        (|n| json!({"$ref": format!("#n{n}")}), |n| json!({"$anchor": format!("n{n}")})),
        (
            |n| json!({"$ref": format!("https://a.example/d{n}")}),
            |n| json!({"$id": format!("https://a.example/d{n}")}),
        ),
        (|n| json!({"$ref": format!("d{n}")}), |n| json!({"$id": format!("d{n}")})),
        (|n| json!({"$dynamicRef": format!("#n{n}")}), |n| json!({"$dynamicAnchor": format!("n{n}")})),
        (|n| json!({"$ref": format!("#/%24defs/d{n}")}), |_| json!({})),
    ];
    for (number, (reference, defined)) in kinds.into_iter().enumerate() {
        let schema = doubled(reference, defined);
        assert_eq!(Steps::of(&schema).unwrap_err(), TooMuch::AtOnePlace, "{number}");
    }
    let old = json!({"$schema": "http://json-schema.org/draft-07/schema#", "allOf": [{"$ref": "#/definitions/a"}],
        "definitions": {"a": {"type": "object", "dependencies": {"x": {"$ref": "#/definitions/b"}, "y": ["x"]}},
            "b": {"items": [{"$ref": "#/definitions/a"}]}}});
    assert!(Steps::of(&old).unwrap().count(&json!({"x": 1})).unwrap() < 20);
}

#[test]
fn circles_at_one_value_are_refused() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"anyOf": [{"type": "null"}, {"$ref": "#"}]}),
        json!({"properties": {"x": {"$ref": "#/$defs/a"}},
            "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"not": {"$ref": "#/$defs/a"}}}}),
    ] {
        assert_eq!(Steps::of(&schema).unwrap_err(), TooMuch::Circle, "{schema}");
    }
}

#[test]
fn a_reference_to_what_is_not_there_is_said() {
    for schema in [json!({"$ref": "#/$defs/a"}), json!({"$ref": "https://a.example/b.json"})] {
        assert!(matches!(Steps::of(&schema), Err(TooMuch::Reference(_))), "{schema}");
    }
}

/// Steps beyond which a schema that multiplies itself has shown that it does: fewer than the limit, for a quick test.
const MANY: u64 = 200_000;

/// `value` so many levels below `name`.
fn nested(levels: usize, value: Value) -> Value {
    (0..levels).fold(value, |value, _| json!({"x": value}))
}

#[test]
fn trees_cost_what_their_values_cost() {
    let tree = json!({"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "required": ["children"],
        "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/node"}}}}}});
    let steps = Steps::of(&tree).unwrap();
    let leaf = json!({"children": []});
    let wide = json!({"children": vec![leaf.clone(); 1000]});
    let of_leaf = steps.count(&leaf).unwrap();
    assert!(steps.count(&wide).unwrap() < 1100 * of_leaf);
    // JSON's values, in Python's words.
    let any = json!({"$ref": "#/$defs/any", "$defs": {"any": {"anyOf": [
        {"type": ["string", "number", "boolean", "null"]},
        {"type": "array", "items": {"$ref": "#/$defs/any"}},
        {"type": "object", "additionalProperties": {"$ref": "#/$defs/any"}},
    ]}}});
    let steps = Steps::of(&any).unwrap();
    steps.count(&nested(120, json!([1, 2, 3]))).unwrap();
    // Each level doubles what is below it.
    for (name, link) in multiplying() {
        let to_itself = json!({"$ref": "#/$defs/node"});
        let node = json!({"type": "object", "properties": {"x": link(to_itself.clone())}});
        let steps = Steps::of(&json!({"$ref": "#/$defs/node", "$defs": {"node": node}})).unwrap();
        let too_much = steps.count_within(&nested(40, json!({})), MANY).unwrap_err();
        assert_eq!(too_much, TooMuch::Value, "{name}");
        steps.count(&nested(4, json!({}))).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let both = json!({"properties": {"x": {"$ref": "#"}}, "patternProperties": {"x": {"$ref": "#"}}});
    let steps = Steps::of(&both).unwrap();
    assert_eq!(steps.count_within(&nested(40, json!({})), MANY).unwrap_err(), TooMuch::Value);
    let items = json!({"items": {"$ref": "#"}, "contains": {"$ref": "#"}});
    let lists = (0..40).fold(json!([]), |list, _| json!([list]));
    let steps = Steps::of(&items).unwrap();
    assert_eq!(steps.count_within(&lists, MANY).unwrap_err(), TooMuch::Value);
}

#[test]
#[ignore = "slow"]
fn large_values_and_lists_multiply_too() {
    let numbers: Vec<usize> = (0..20_000).collect();
    let cases = [
        (json!({"items": {"enum": numbers}}), json!(vec![0; 2000])),
        (
            json!({"items": {"required": numbers.iter().map(usize::to_string).collect::<Vec<_>>()}}),
            json!(vec![0; 2000]),
        ),
        (json!({"items": {"allOf": vec![json!({}); 20_000]}}), json!(vec![0; 2000])),
        (json!({"allOf": vec![json!({"uniqueItems": true}); 10_000]}), json!(vec![0; 20_000])),
        (json!({"allOf": vec![json!({"minLength": 1}); 10_000]}), json!("a".repeat(1 << 20))),
    ];
    for (schema, value) in cases {
        let steps = Steps::of(&schema).unwrap();
        let shown: String = schema.to_string().chars().take(40).collect();
        assert_eq!(steps.count(&value).unwrap_err(), TooMuch::Value, "{shown}");
    }
    let trying = CompiledSchema::of(&json!({"items": {"pattern": "^(?=(a+)+b)"}})).unwrap();
    let texts = json!(vec!["aaaa"; 3000]);
    assert!(!trying.fits(&texts) && trying.check(&texts).unwrap_err().contains("20000000 steps"));
    // A million numbers are a large value, and nothing else.
    Steps::of(&json!({"items": {"type": "number"}})).unwrap().count(&json!(vec![0; 1_000_000])).unwrap();
}

/// Validators use the stack, and threads of servers have two megabytes of it.
#[test]
#[ignore = "slow"]
fn what_is_deep_has_room_on_the_stack_of_a_thread() {
    let links: [Link; 6] = [
        |next| json!({"allOf": [next]}),
        |next| json!({"anyOf": [next]}),
        |next| json!({"oneOf": [next]}),
        |next| json!({"not": next}),
        |next| json!({"if": true, "then": next}),
        |next| json!({"if": next, "else": false}),
    ];
    let check = move || {
        for link in links {
            let fits = |length: &usize| Steps::of(&chain(*length, link)).is_ok();
            let longest = (100..DEPTH_MAX).rev().find(fits).expect("some length is possible");
            let long = CompiledSchema::of(&chain(longest, link)).unwrap();
            let is_right = long.fits(&json!({"x": 5}));
            assert_eq!(long.check(&json!({"x": 5})).is_ok(), is_right);
        }
        let node = json!({"$ref": "#/$defs/node", "$defs": {"node": {"oneOf": [{"type": "integer"},
            {"type": "object", "properties": {"x": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/node"}]}}}]}}});
        assert!(CompiledSchema::of(&node).unwrap().check(&nested(120, json!(true))).is_err());
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(check).expect("a thread");
    thread.join().expect("it has room");
}

/// A schema in which each part can name the definitions after it, and what is within a value any of them.
fn schemas() -> impl Strategy<Value = Value> {
    let keys = prop::sample::select(vec![
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "properties",
        "items",
        "additionalProperties",
        "contains",
        "patternProperties",
        "unevaluatedProperties",
        "unevaluatedItems",
        "prefixItems",
        "propertyNames",
        "type",
    ]);
    let part = prop::collection::vec((keys, any::<[u8; 2]>()), 0..4);
    prop::collection::vec(part, 1..5).prop_map(|parts| {
        let count = parts.len();
        let definitions = parts.into_iter().enumerate().map(|(number, keys)| {
            let later = |to: u8| match usize::from(to) % (count + 1 - number) {
                0 => json!({"type": "integer", "visited": true}),
                step if number + step < count => json!({"$ref": format!("#/$defs/{}", number + step)}),
                _ => json!({"visited": true}),
            };
            let any = |to: u8| json!({"$ref": format!("#/$defs/{}", usize::from(to) % count)});
            let mut schema = Map::from_iter([("visited".to_owned(), json!(true))]);
            for (key, [one, other]) in keys {
                let value = match key {
                    "allOf" | "anyOf" | "oneOf" => json!([later(one), later(other)]),
                    "prefixItems" => json!([any(one), any(other)]),
                    "not" => later(one),
                    "if" => {
                        schema.insert("then".to_owned(), later(other));
                        later(one)
                    }
                    "properties" | "patternProperties" => json!({"a": any(one), "b": any(other)}),
                    "type" => json!(["object", "array", "integer"][usize::from(one) % 3]),
                    _ => any(one),
                };
                schema.insert(key.to_owned(), value);
            }
            (number.to_string(), Value::Object(schema))
        });
        let definitions: Map<String, Value> = definitions.collect();
        json!({"visited": true, "$ref": "#/$defs/0", "$defs": definitions})
    })
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(json!(1)), Just(json!("a")), Just(json!(null))];
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            (inner.clone(), inner).prop_map(|(a, b)| json!({"a": a, "b": b})),
        ]
    })
}

/// Counts how often a validator comes to a part of a schema.
struct Visited(Arc<AtomicU64>);

impl<'i> Keyword<'i> for Visited {
    fn validate(&self, _: &'i Value) -> Result<(), ValidationError<'i>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn is_valid(&self, _: &'i Value) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed);
        true
    }
}

fn counting(schema: &Value) -> (Validator, Arc<AtomicU64>) {
    let count = Arc::new(AtomicU64::new(0));
    let counted = count.clone();
    let options = jsonschema::options().with_keyword("visited", move |_, _, _| {
        Ok(Box::new(Visited(counted.clone())) as Box<dyn for<'i> Keyword<'i>>)
    });
    (options.build(schema).unwrap(), count)
}

/// What [`Steps::places`] sums up once for each part, summed up again wherever it occurs.
fn twin(parts: &[Part], at: usize) -> (u64, usize) {
    let below: Vec<_> = parts[at].here.iter().map(|to| twin(parts, *to)).collect();
    let steps = below.iter().map(|(steps, _)| steps).sum::<u64>();
    (parts[at].own + parts[at].times * steps, 1 + below.iter().map(|(_, depth)| *depth).max().unwrap_or(0))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    /// The canary of all limits: a validator visits no more than was counted.
    #[test]
    fn a_validator_takes_no_more_steps_than_are_counted(schema in schemas(), value in values()) {
        let steps = Steps::of(&schema);
        prop_assume!(steps.is_ok());
        let steps = steps.unwrap();
        prop_assume!(steps.count(&value).is_ok());
        let counted = steps.count(&value).unwrap();
        let (validator, visits) = counting(&schema);
        let _ = validator.is_valid(&value);
        let quick = visits.swap(0, Ordering::Relaxed);
        prop_assert!(quick <= counted, "{} visits, {} steps: {} of {}", quick, counted, value, schema);
    }

    #[test]
    fn sums_are_those_of_the_twin(schema in schemas()) {
        let steps = Reader::read(&schema).map(|parts| Steps { parts }).unwrap();
        let expected = (0..steps.parts.len()).map(|at| twin(&steps.parts, at));
        let most = expected.max().unwrap();
        prop_assert_eq!(steps.places().unwrap().into_iter().max(), Some(most));
    }
}
