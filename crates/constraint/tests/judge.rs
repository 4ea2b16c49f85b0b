//! Choices, judged by Z3 (`ci/judge_choices.py`), which needs the environment `ci` that `examples/make_venvs.sh` makes.
//! Where it is missing the tests are *ignored*; with `PLANPROOF_CI` set they fail.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

#[path = "../../report/tests/support/venvs.rs"]
mod venvs;

use std::io::Write;
use std::process::{Command, ExitCode, Output, Stdio};

use planproof_constraint::choice::{
    ChoiceAnswer, ChoiceProblem, ChoiceTask, ConflictSize, Selection, read_task_json,
};
use planproof_trace::Draw;
use serde_json::{Map, Value, json};

use venvs::{keep_compiled, python, root, run_tests};

/// Problems that Z3 judges; `PLANPROOF_Z3_CHOICES` says otherwise.
const PROBLEMS: u64 = 200;

fn main() -> ExitCode {
    let tests: [(&str, &str, fn()); 2] = [
        ("ci", "z3_agrees_with_the_choices", z3_agrees_with_the_choices),
        ("ci", "z3_catches_what_is_wrong_with_choices", z3_catches_what_is_wrong),
    ];
    run_tests(tests, [])
}

fn z3_agrees_with_the_choices() {
    let count = std::env::var("PLANPROOF_Z3_CHOICES").map_or(PROBLEMS, |count| count.parse().unwrap());
    let problems: Vec<Value> = (0..count).map(answered).collect();
    let output = judged(&problems);
    let totals = String::from_utf8(output.stdout).unwrap();
    println!("{totals}");
    assert!(output.status.success(), "{totals}{}", String::from_utf8_lossy(&output.stderr));
    let totals: Value = serde_json::from_str(&totals).unwrap();
    for size in ["none", "1", "2", "3"] {
        assert!(totals["conflicts"][size].as_u64() > Some(0), "{totals}");
    }
}

/// The canaries: a dearer selection, one that is not correct, a conflict that is none, and one that is not the
/// smallest.
fn z3_catches_what_is_wrong() {
    let problems: Vec<Value> = (0..PROBLEMS).map(answered).collect();
    let find = |wanted: &dyn Fn(&Value) -> bool| problems.iter().find(|it| wanted(it)).unwrap().clone();
    let conflict_of = |it: &Value| it["answer"]["conflict"].as_array().map(Vec::len);
    let constraints_of = |it: &Value| it["constraints"].as_array().unwrap().len();

    let mut dearer =
        find(&|it| it["answer"]["cost"].is_string() && it["objective"].get("minimise").is_some());
    // The other way round, the best becomes the worst, or at least not the best.
    let terms = dearer["objective"]["minimise"].take();
    dearer["objective"] = json!({"maximise": terms});
    let mut incorrect = find(&|it| it["nearest"]["cost"].as_str().is_some_and(|cost| cost != "0"));
    incorrect["nearest"]["selection"] = incorrect["given"].clone();
    let mut none = find(&|it| conflict_of(it) == Some(2));
    none["answer"]["conflict"].as_array_mut().unwrap().pop();
    let mut large = find(&|it| conflict_of(it) == Some(1) && constraints_of(it) > 2);
    let ids = large["constraints"].as_array().unwrap().iter().map(|it| it["id"].clone());
    large["answer"]["conflict"] = ids.collect();
    let wrong = [
        (dearer, "there is a better selection than"),
        (incorrect, "is not correct, or does not change"),
        (none, "can hold"),
        (large, "is not the smallest"),
    ];
    for (problem, reason) in wrong {
        let output = judged(&[problem]);
        let reasons = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && reasons.contains(reason), "{reason}: {reasons}");
    }
}

fn judged(problems: &[Value]) -> Output {
    let mut command = Command::new(python("ci"));
    command.arg(root().join("ci/judge_choices.py")).arg("-");
    keep_compiled(&mut command);
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    for problem in problems {
        writeln!(input, "{problem}").unwrap();
    }
    drop(input);
    child.wait_with_output().unwrap()
}

/// A problem, with what planproof says of it.
fn answered(index: u64) -> Value {
    let mut draw = Draw::new(7, index, "choices");
    let mut problem = Drawn { draw: &mut draw, slots: 0 }.problem();
    let ChoiceTask { problem: read, objective } =
        read_task_json(&problem).unwrap_or_else(|faults| panic!("{faults}\n{problem}"));
    let given =
        read.slots().iter().map(|slot| draw.place(slot.candidates.len() + 1).checked_sub(1)).collect();
    let given = Selection { chosen: given };
    let object = problem.as_object_mut().unwrap();
    object.entry("objective").or_insert(Value::Null);
    object.insert("answer".to_owned(), described(&read, &read.solve(&objective).unwrap()));
    object.insert("nearest".to_owned(), described(&read, &read.nearest(&given).unwrap()));
    object.insert("given".to_owned(), selected(&read, &given));
    problem
}

fn described(problem: &ChoiceProblem, answer: &ChoiceAnswer) -> Value {
    match answer {
        ChoiceAnswer::Solved(solved) => {
            let cost = solved.cost.as_ref().map(|cost| cost.to_string().replace("EUR ", ""));
            json!({"selection": selected(problem, &solved.selection), "cost": cost})
        }
        ChoiceAnswer::Conflict(conflict) => {
            assert_eq!(conflict.size, ConflictSize::Smallest, "{conflict:?}");
            let objective = conflict.has_objective.then(|| "objective".to_owned());
            let ids: Vec<String> = conflict.constraints.iter().cloned().chain(objective).collect();
            json!({"conflict": ids})
        }
        ChoiceAnswer::Undecided(undecided) => panic!("{undecided:?}\n{problem:?}"),
    }
}

fn selected(problem: &ChoiceProblem, selection: &Selection) -> Value {
    let chosen = problem.slots().iter().zip(&selection.chosen);
    chosen.map(|(slot, chosen)| (slot.name.clone(), json!(chosen))).collect::<Map<_, _>>().into()
}

/// Draws a problem as a model would write it.
struct Drawn<'d> {
    draw: &'d mut Draw,
    slots: usize,
}

const TOWNS: [&str; 4] = ["Rome", "Milan", "Oslo", "Bonn"];

impl Drawn<'_> {
    fn problem(&mut self) -> Value {
        self.slots = 2 + self.draw.place(5);
        let slots: Map<String, Value> =
            (0..self.slots).map(|place| (format!("s{place}"), self.slot())).collect();
        let count = 1 + self.draw.place(7);
        let constraints: Vec<Value> = (0..count)
            .map(|place| {
                let mut constraint = self.constraint();
                constraint["id"] = json!(format!("c{place}"));
                constraint["text"] = json!(format!("words {place}"));
                constraint
            })
            .collect();
        let mut problem = json!({"slots": slots, "constraints": constraints});
        if self.draw.chance(4, 5) {
            let way = self.of(&["minimise", "maximise"]);
            let field = self.of(&["price", "fee"]);
            problem["objective"] = json!({way: self.terms(field)});
        }
        problem
    }

    fn slot(&mut self) -> Value {
        let count = 3 + self.draw.place(10);
        let candidates: Vec<Value> = (0..count).map(|place| self.record(place == 0)).collect();
        if self.draw.chance(1, 5) {
            json!({"optional": true, "candidates": candidates})
        } else {
            json!(candidates)
        }
    }

    fn record(&mut self, is_whole: bool) -> Value {
        let hour = 8 + self.draw.below(10);
        let list: Vec<&str> = TOWNS.into_iter().filter(|_| self.draw.chance(1, 2)).collect();
        let mut record = json!({
            "price": f64::from(self.draw.below(200)) / 4.0,
            "stars": 1 + self.draw.below(5),
            "fee": format!("EUR {}", self.draw.below(30)),
            "town": self.of(&TOWNS),
            "near": self.of(&TOWNS),
            "start": format!("{hour:02}:{:02}", self.draw.below(60)),
            "end": format!("{:02}:{:02}", hour + self.draw.below(3), self.draw.below(60)),
            "list": list,
            "is": self.draw.chance(1, 2),
        });
        if !is_whole {
            // Now and then something is missing.
            for value in record.as_object_mut().unwrap().values_mut() {
                if self.draw.chance(1, 25) {
                    *value = Value::Null;
                }
            }
        }
        record
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.draw.place(choices.len())]
    }

    fn field(&mut self, name: &str) -> String {
        format!("s{}.{name}", self.draw.place(self.slots))
    }

    fn fields(&mut self, name: &str) -> Vec<String> {
        let mut slots: Vec<usize> = (0..self.slots).collect();
        self.draw.shuffle(&mut slots);
        slots.truncate(2 + self.draw.place(4));
        slots.into_iter().map(|slot| format!("s{slot}.{name}")).collect()
    }

    fn terms(&mut self, name: &str) -> Vec<Value> {
        self.fields(name)
            .into_iter()
            .map(|field| match self.draw.below(4) {
                0 => json!({"field": field, "factor": self.of(&[3.0, -1.0, 0.25])}),
                _ => json!(field),
            })
            .collect()
    }

    fn ordered(&mut self) -> &'static str {
        self.of(&["<=", ">=", "<=", ">=", "<", ">"])
    }

    fn any_op(&mut self) -> &'static str {
        if self.draw.chance(1, 3) { self.of(&["==", "!="]) } else { self.ordered() }
    }

    fn constraint(&mut self) -> Value {
        match self.draw.below(10) {
            0..=2 => {
                let name = self.of(&["price", "fee", "stars"]);
                let terms = self.terms(name);
                let middle = if name == "stars" { 3 } else { 18 };
                let bound = terms.len() as u32 * middle / 2 + self.draw.below(terms.len() as u32 * middle);
                let bound = if name == "fee" { json!(format!("EUR {bound}")) } else { json!(bound) };
                let op = if self.draw.chance(1, 8) { "==" } else { self.ordered() };
                json!({"kind": "sum", "terms": terms, "op": op, "bound": bound})
            }
            3 => {
                let (name, test) = self.test();
                let op = self.any_op();
                let (fields, count) = (self.fields(name), self.draw.below(4));
                json!({"kind": "count", "fields": fields, "where": test, "op": op, "count": count})
            }
            4 => {
                let name = self.of(&["town", "stars", "start"]);
                json!({"kind": "different", "fields": self.fields(name)})
            }
            5 => {
                let name = self.of(&["town", "stars", "is"]);
                json!({"kind": "same", "fields": self.fields(name)[..2]})
            }
            6 => {
                let (premise, conclusion) = (self.condition(), self.condition());
                json!({"kind": "implies", "if": premise, "then": conclusion})
            }
            _ => self.condition(),
        }
    }

    /// A test, and the field that it is for.
    fn test(&mut self) -> (&'static str, Value) {
        match self.draw.below(5) {
            0 => ("town", json!({"op": self.of(&["==", "!="]), "value": self.of(&TOWNS)})),
            1 => ("stars", json!({"op": self.any_op(), "value": 2 + self.draw.below(3)})),
            2 => ("fee", json!({"op": self.ordered(), "value": format!("EUR {}", 5 + self.draw.below(20))})),
            3 => ("list", json!({"has": self.of(&TOWNS), "not": self.draw.chance(1, 4)})),
            _ => ("town", json!({"in": [self.of(&TOWNS), self.of(&TOWNS)], "not": self.draw.chance(1, 3)})),
        }
    }

    fn condition(&mut self) -> Value {
        match self.draw.below(8) {
            0 | 1 => {
                let (name, mut test) = self.test();
                let field = self.field(name);
                let is_member = test.get("op").is_none();
                let object = test.as_object_mut().unwrap();
                object.insert("kind".to_owned(), json!(if is_member { "member" } else { "compare" }));
                object.insert((if is_member { "field" } else { "left" }).to_owned(), json!(field));
                test
            }
            2 | 3 => {
                let name = self.of(&["town", "stars", "start", "fee"]);
                let op = if name == "town" { self.of(&["==", "!="]) } else { self.any_op() };
                json!({"kind": "compare", "left": self.field(name), "op": op, "right": self.field(name)})
            }
            4 => json!({"kind": "member", "field": self.field("town"), "in": self.field("list"),
                "not": self.draw.chance(1, 4)}),
            5 => json!({"kind": "filled", "slot": format!("s{}", self.draw.place(self.slots)),
                "not": self.draw.chance(1, 4)}),
            6 => json!({"kind": "time", "from": self.field("end"), "to": "17:30", "op": self.ordered(),
                "minutes": 30 * self.draw.below(8)}),
            _ => {
                json!({"kind": "time", "from": self.field("end"), "to": self.field("start"), "op": self.any_op(),
                "minutes": 15 * self.draw.below(8)})
            }
        }
    }
}
