//! Constraints, as JSON has them.

use serde_json::Value as Json;

use super::node::{Node, Reader};
use crate::choice::fault::ChoiceFaultKind;
use crate::choice::form::{Condition, Constraint, Demand, Moment, Op, SlotField, Term, ValueTest};
use crate::choice::limits::{MINUTES_MAX, TERMS_MAX};
use crate::choice::number::Number;
use crate::choice::value::FieldValue;

const KINDS: &str =
    "one of `sum`, `count`, `different`, `same`, `implies`, `compare`, `member`, `time` and `filled`";
const CONDITIONS: &str = "one of `compare`, `member`, `time` and `filled`";
const OPS: &str = "one of `==`, `!=`, `<`, `<=`, `>` and `>=`";
const FIELD: &str = "a text `slot.field`";

/// The keys of each kind, in addition to `id`, `text` and `kind`.
const OF_CONDITION: [&[&str]; 4] = [
    &["kind", "left", "op", "right", "value"],
    &["kind", "field", "in", "has", "not"],
    &["kind", "from", "to", "op", "minutes"],
    &["kind", "slot", "not"],
];

impl Reader {
    pub(super) fn constraint(&mut self, node: &Node) -> Option<Constraint> {
        if !node.json.is_object() {
            self.other_kind(node, "an object");
            return None;
        }
        // The id is looked up before it is checked, so that all faults of the constraint can name it.
        self.constraint = node.json.get("id").and_then(Json::as_str).map(str::to_owned);
        let id = node.required(self, "id", "a short name").and_then(|node| self.text(&node));
        let text = node.required(self, "text", "the words of the task").and_then(|node| self.text(&node));
        let demand = self.demand(node);
        self.constraint = None;
        // Everything is read before the first `?`, so that a model gets all faults of a constraint at once.
        Some(Constraint { id: id?, text: text?, demand: demand? })
    }

    fn demand(&mut self, node: &Node) -> Option<Demand> {
        let kind = node.required(self, "kind", KINDS)?;
        let kind = self.text(&kind)?;
        match kind.as_str() {
            "sum" => {
                self.look_at_keys(node, &["id", "text", "kind", "terms", "op", "bound"]);
                let terms = node.required(self, "terms", "a list of fields, or of objects with a factor");
                let terms = terms.and_then(|node| self.terms(&node));
                let op = self.op(node);
                let bound = node.required(self, "bound", "a number, or a text with a unit");
                let bound = bound.and_then(|node| self.value(&node));
                Some(Demand::Sum { terms: terms?, op: op?, bound: bound? })
            }
            "count" => {
                self.look_at_keys(node, &["id", "text", "kind", "fields", "where", "op", "count"]);
                let fields = self.fields(node);
                let test = node.required(self, "where", "an object with `op` and `value`, `in`, or `has`");
                let test = test.and_then(|node| self.test(&node));
                let op = self.op(node);
                let count = node.required(self, "count", "a whole number");
                let count = count.and_then(|node| self.whole(&node, 0, i64::from(u32::MAX)));
                let count = count.and_then(|count| u32::try_from(count).ok());
                Some(Demand::Count { fields: fields?, test: test?, op: op?, count: count? })
            }
            "different" => {
                self.look_at_keys(node, &["id", "text", "kind", "fields"]);
                self.fields(node).map(Demand::Different)
            }
            "same" => {
                self.look_at_keys(node, &["id", "text", "kind", "fields"]);
                self.fields(node).map(Demand::Same)
            }
            "implies" => {
                self.look_at_keys(node, &["id", "text", "kind", "if", "then"]);
                let premise = node.required(self, "if", "a condition");
                let premise = premise.and_then(|node| self.condition(&node, true));
                let conclusion = node.required(self, "then", "a condition");
                let conclusion = conclusion.and_then(|node| self.condition(&node, true));
                Some(Demand::Implies { premise: premise?, conclusion: conclusion? })
            }
            // Any other kind is a condition, or unknown, which is reported there.
            _ => self.condition(node, false).map(Demand::Holds),
        }
    }

    /// A condition, which may be a constraint itself or a part of one.
    fn condition(&mut self, node: &Node, is_part: bool) -> Option<Condition> {
        if !node.json.is_object() {
            self.other_kind(node, "an object");
            return None;
        }
        let kind_node = node.required(self, "kind", CONDITIONS)?;
        let kind = self.text(&kind_node)?;
        let place = ["compare", "member", "time", "filled"].iter().position(|known| *known == kind);
        let Some(place) = place else {
            let found = format!("`{}`", crate::choice::value::cut(&kind));
            let expected = if is_part { CONDITIONS } else { KINDS };
            self.report(&kind_node, ChoiceFaultKind::OtherKind { found, expected });
            return None;
        };
        self.look_at_condition_keys(node, OF_CONDITION[place], is_part);
        match kind.as_str() {
            "compare" => self.compare(node),
            "member" => self.member(node),
            "time" => self.time(node),
            _ => {
                let slot = node.required(self, "slot", "the name of a slot");
                let slot = slot.and_then(|node| self.text(&node))?;
                Some(Condition::Filled { slot, is_filled: !self.is_not(node) })
            }
        }
    }

    fn look_at_condition_keys(&mut self, node: &Node, known: &'static [&'static str], is_part: bool) {
        let Json::Object(entries) = node.json else { return };
        let is_known = |key: &str| known.contains(&key) || (!is_part && (key == "id" || key == "text"));
        for key in entries.keys().filter(|key| !is_known(key)) {
            self.report(node, ChoiceFaultKind::KeyUnknown { key: key.clone(), known });
        }
    }

    fn compare(&mut self, node: &Node) -> Option<Condition> {
        let left = node.required(self, "left", FIELD).and_then(|node| self.field(&node));
        let op = self.op(node);
        match (node.optional("right"), node.optional("value")) {
            (Some(right), None) => {
                let right = self.field(&right);
                Some(Condition::Compare { left: left?, op: op?, right: right? })
            }
            (None, Some(value)) => {
                let value = self.value(&value);
                Some(Condition::Passes { field: left?, test: ValueTest::Is(op?, value?) })
            }
            _ => self.one_of(node, &["right", "value"]),
        }
    }

    fn member(&mut self, node: &Node) -> Option<Condition> {
        let field = node.required(self, "field", FIELD).and_then(|node| self.field(&node));
        match node.optional("in") {
            // A text here is the field that has the list; a list is the values themselves.
            Some(list) if list.json.is_string() && node.optional("has").is_none() => {
                let list = self.field(&list);
                Some(Condition::Listed { field: field?, list: list?, is_in: !self.is_not(node) })
            }
            _ => {
                let test = self.member_test(node);
                Some(Condition::Passes { field: field?, test: test? })
            }
        }
    }

    fn member_test(&mut self, node: &Node) -> Option<ValueTest> {
        let is_in = !self.is_not(node);
        match (node.optional("in"), node.optional("has")) {
            (Some(list), None) => {
                let items =
                    list.items(self, "a list of values, or a text `slot.field`", ("values", TERMS_MAX));
                let values: Vec<Option<FieldValue>> = items.iter().map(|item| self.value(item)).collect();
                Some(ValueTest::Among { values: values.into_iter().collect::<Option<_>>()?, is_in })
            }
            (None, Some(text)) => Some(ValueTest::Has { text: self.text(&text)?, is_in }),
            _ => self.one_of(node, &["in", "has"]),
        }
    }

    fn time(&mut self, node: &Node) -> Option<Condition> {
        let expected = "a text `slot.field`, or a time";
        let from = node.required(self, "from", expected).and_then(|node| self.moment(&node));
        let to = node.required(self, "to", expected).and_then(|node| self.moment(&node));
        let op = self.op(node);
        let most = i64::from(MINUTES_MAX);
        let minutes = node.required(self, "minutes", "a whole number");
        let minutes = minutes.and_then(|node| self.whole(&node, -most, most));
        let minutes = minutes.and_then(|minutes| i32::try_from(minutes).ok());
        Some(Condition::Time { from: from?, to: to?, op: op?, minutes: minutes? })
    }

    /// A time has no dot, and a field has one.
    fn moment(&mut self, node: &Node) -> Option<Moment> {
        match node.json {
            Json::String(text) if !text.contains('.') => Some(Moment::At(text.clone())),
            _ => self.field(node).map(Moment::Field),
        }
    }

    fn test(&mut self, node: &Node) -> Option<ValueTest> {
        self.look_at_keys(node, &["op", "value", "in", "has", "not"]);
        if node.optional("value").is_none() && node.optional("op").is_none() {
            return self.member_test(node);
        }
        // Comparison and membership in one test contradict each other, and `not` belongs to the latter.
        if node.optional("in").is_some() || node.optional("has").is_some() || node.optional("not").is_some() {
            return self.one_of(node, &["value", "in", "has"]);
        }
        let op = self.op(node);
        let value = node.required(self, "value", "a value").and_then(|node| self.value(&node));
        Some(ValueTest::Is(op?, value?))
    }

    pub(super) fn terms(&mut self, node: &Node) -> Option<Vec<Term>> {
        let items = node.items(
            self,
            "a list of fields, or of objects with `field` and `factor`",
            ("terms", TERMS_MAX),
        );
        let terms: Vec<Option<Term>> = items.iter().map(|item| self.term(item)).collect();
        terms.into_iter().collect()
    }

    fn term(&mut self, node: &Node) -> Option<Term> {
        if !node.json.is_object() {
            return self.field(node).map(Term::once);
        }
        self.look_at_keys(node, &["field", "factor"]);
        let field = node.required(self, "field", FIELD).and_then(|node| self.field(&node));
        let factor = match node.optional("factor") {
            Some(node) => self.number(&node),
            None => Some(Number::ONE),
        };
        Some(Term { field: field?, factor: factor? })
    }

    fn fields(&mut self, node: &Node) -> Option<Vec<SlotField>> {
        let fields = node.required(self, "fields", "a list of texts `slot.field`")?;
        let items = fields.items(self, "a list of texts `slot.field`", ("fields", TERMS_MAX));
        let fields: Vec<Option<SlotField>> = items.iter().map(|item| self.field(item)).collect();
        fields.into_iter().collect()
    }

    fn op(&mut self, node: &Node) -> Option<Op> {
        let node = node.required(self, "op", OPS)?;
        let text = self.text(&node)?;
        let op = Op::ALL.into_iter().find(|op| op.as_str() == text);
        if op.is_none() {
            let found = format!("`{}`", crate::choice::value::cut(&text));
            self.report(&node, ChoiceFaultKind::OtherKind { found, expected: OPS });
        }
        op
    }

    fn is_not(&mut self, node: &Node) -> bool {
        node.optional("not").is_some_and(|node| self.flag(&node))
    }

    fn one_of<T>(&mut self, node: &Node, keys: &'static [&'static str]) -> Option<T> {
        self.report(node, ChoiceFaultKind::OneOf { keys });
        None
    }
}
