//! From a manager's reply to the graph in it.

use std::collections::HashMap;

use serde_json::Value as Json;

use crate::fault::ParseFault;
use crate::graph::fault::{GraphFault, GraphFaults, GraphField, GraphProblem, GraphSite};
use crate::graph::form::{SubTask, SubTaskGraph, WordedConstraint};
use crate::json::{Node, Tree};
use crate::limits::{CONSTRAINTS_MAX, GRAPH_FAULTS_MAX, SUB_TASKS_MAX};
use crate::read_json::{exact, is_alike, values};
use crate::words::{listed, nearest};

/// The fields of each kind of object.
const OF_GRAPH: &[GraphField] = &[GraphField::SubTasks, GraphField::Constraints];
const OF_SUB_TASK: &[GraphField] =
    &[GraphField::Id, GraphField::Task, GraphField::Executor, GraphField::After, GraphField::Constraints];
const OF_CONSTRAINT: &[GraphField] = &[GraphField::Words, GraphField::Typed];

/// The most keys of an unsuitable object that a message names.
const NAMED_KEYS_MAX: usize = 5;

/// Reads the graph in a manager's reply, for executors of these names.
///
/// The reply may have a marker `RESULT #:`, fences and words around the JSON, as for
/// [`read_json`](crate::read_json()). `after` and `constraints` may be missing, an id may be an integer, and a
/// constraint may be its words alone. An unknown field is a fault, because its meaning would be lost.
///
/// # Errors
/// All faults: those of its form, and those that [`SubTaskGraph::check`] finds in the readable part.
pub fn read_graph(reply: &str, executors: &[&str]) -> Result<SubTaskGraph, GraphFaults> {
    let of_graph = |problem| GraphFaults { faults: vec![GraphFault::new(GraphSite::graph(), problem)] };
    let values = values(reply).map_err(|fault| of_graph(GraphProblem::NoJson(fault)))?;
    let mut graphs: Vec<&Node> = Vec::new();
    for value in values.iter().filter(|value| is_like_graph(value)) {
        // A graph that is written twice in the same words is one graph.
        if !graphs.iter().any(|graph| is_alike(graph, value)) {
            graphs.push(value);
        }
    }
    let entries = match graphs[..] {
        [Node { tree: Tree::Object(entries), .. }] => entries,
        [] | [_] => {
            let found = values.first().map(|value| described(&value.tree)).unwrap_or_default();
            return Err(of_graph(GraphProblem::NoGraph { found }));
        }
        _ => return Err(of_graph(GraphProblem::SeveralGraphs { count: graphs.len() })),
    };
    let mut reading = Reading { reply, faults: Vec::new() };
    let graph = reading.graph(entries);
    // The sub-tasks were not read then, so any other fault would only follow from that.
    if let Some(fault) = reading.faults.iter().find(|fault| is_of_size(fault)) {
        return Err(GraphFaults { faults: vec![fault.clone()] });
    }
    let mut faults = reading.faults;
    if let Err(found) = graph.check(executors) {
        let further = without_known(found.faults, &faults);
        faults.extend(further);
    }
    // Stable, so that faults of one sub-task stay as they were found; those of the whole graph come last.
    faults.sort_by_key(|fault| fault.site.place.unwrap_or(usize::MAX));
    if faults.is_empty() { Ok(graph) } else { Err(GraphFaults { faults }) }
}

/// The faults of the readable part, without those that only follow from what could not be read. Takes time in
/// proportion to both, times the faults of one place.
fn without_known(found: Vec<GraphFault>, of_reading: &[GraphFault]) -> Vec<GraphFault> {
    let mut by_place: HashMap<(Option<usize>, Option<usize>), Vec<&GraphFault>> = HashMap::new();
    for fault in of_reading {
        by_place.entry(fault.site.places()).or_default().push(fault);
    }
    // Unreadable parts were left empty, which is not another fault.
    let is_known = |found: &GraphFault| {
        by_place.get(&found.site.places()).into_iter().flatten().any(|fault| {
            let field = found.problem.field().filter(|field| *field != GraphField::After);
            matches!(*fault.problem, GraphProblem::NoObject { .. })
                || (field.is_some() && field == fault.problem.field())
        })
    };
    found.into_iter().filter(|fault| !is_known(fault)).collect()
}

fn is_of_size(fault: &GraphFault) -> bool {
    matches!(*fault.problem, GraphProblem::TooManySubTasks { .. })
}

fn is_like_graph(node: &Node) -> bool {
    let Tree::Object(entries) = &node.tree else { return false };
    entries.iter().any(|(key, _)| key == GraphField::SubTasks.as_str())
}

/// What a value is that is not a graph.
fn described(tree: &Tree) -> String {
    match tree {
        Tree::Object(entries) if !entries.is_empty() => {
            let keys: Vec<String> =
                entries.iter().take(NAMED_KEYS_MAX).map(|(key, _)| crate::words::cut(key)).collect();
            format!("an object with {}", listed(keys.iter().map(String::as_str)))
        }
        tree => tree.kind().to_owned(),
    }
}

struct Reading<'r> {
    reply: &'r str,
    faults: Vec<GraphFault>,
}

type Entries = [(String, Node)];

impl Reading<'_> {
    fn report(&mut self, site: &GraphSite, problem: GraphProblem) {
        self.faults.push(GraphFault::new(site.clone(), problem));
    }

    /// The readable part. Unreadable texts are empty, and lists lack unreadable items.
    fn graph(&mut self, entries: &Entries) -> SubTaskGraph {
        let site = GraphSite::graph();
        self.look_at_fields(&site, entries, OF_GRAPH);
        let nodes = self.list(&site, entries, GraphField::SubTasks).unwrap_or_default();
        if nodes.len() > SUB_TASKS_MAX {
            let problem = GraphProblem::TooManySubTasks { count: nodes.len(), limit: SUB_TASKS_MAX };
            self.report(&site, problem);
            return SubTaskGraph::default();
        }
        let sub_tasks = nodes.iter().enumerate().map(|(place, node)| self.sub_task(place, node)).collect();
        SubTaskGraph { sub_tasks, constraints: self.constraints(&site, entries) }
    }

    fn sub_task(&mut self, place: usize, node: &Node) -> SubTask {
        let Tree::Object(entries) = &node.tree else {
            let site = GraphSite::sub_task(place, "");
            self.report(&site, GraphProblem::NoObject { found: node.tree.kind() });
            return empty();
        };
        // The id first, because every fault of the sub-task is reported with it.
        let id = entry(entries, GraphField::Id).and_then(id_of);
        let site = GraphSite::sub_task(place, id.as_deref().unwrap_or_default());
        self.look_at_fields(&site, entries, OF_SUB_TASK);
        let id = match (id, entry(entries, GraphField::Id)) {
            (Some(id), _) => id,
            (None, Some(node)) => self.other_kind(&site, GraphField::Id, node),
            (None, None) => self.missing(&site, GraphField::Id),
        };
        let after = self.list(&site, entries, GraphField::After).unwrap_or_default();
        let mut ids = Vec::new();
        for node in after {
            match id_of(node) {
                Some(id) => ids.push(id),
                None => {
                    let found = "a list with something else in it";
                    self.report(&site, GraphProblem::FieldOfOtherKind { field: GraphField::After, found });
                    // One fault for the whole list: it has to be written anew anyway.
                    break;
                }
            }
        }
        SubTask {
            id,
            task: self.text(&site, entries, GraphField::Task),
            executor: self.text(&site, entries, GraphField::Executor),
            after: ids,
            constraints: self.constraints(&site, entries),
        }
    }

    fn constraints(&mut self, site: &GraphSite, entries: &Entries) -> Vec<WordedConstraint> {
        let nodes = self.list(site, entries, GraphField::Constraints).unwrap_or_default();
        let constraint = |(place, node): (usize, &Node)| {
            // The excess is one fault, which the check reports, and its members are not looked at.
            if place >= CONSTRAINTS_MAX {
                return WordedConstraint::in_words("");
            }
            self.constraint(&site.clone().constraint(place), node)
        };
        nodes.iter().enumerate().map(constraint).collect()
    }

    fn constraint(&mut self, site: &GraphSite, node: &Node) -> WordedConstraint {
        let entries = match &node.tree {
            // A constraint in words alone need not be an object.
            Tree::Text(words) => return WordedConstraint::in_words(words.as_str()),
            Tree::Object(entries) => entries,
            tree => {
                self.report(site, GraphProblem::NoObject { found: tree.kind() });
                return WordedConstraint::in_words("");
            }
        };
        self.look_at_fields(site, entries, OF_CONSTRAINT);
        let words = self.text(site, entries, GraphField::Words);
        // `null` stands for no typed form: the schema requires the key.
        let typed = entry(entries, GraphField::Typed).filter(|node| node.tree != Tree::Null);
        let typed = typed.and_then(|node| match exact(node) {
            Ok(typed) => Some(typed),
            Err((problem, at)) => {
                let problem = Box::new(ParseFault::at(problem, self.reply, at));
                self.report(site, GraphProblem::ValueUnfit { field: GraphField::Typed, problem });
                None::<Json>
            }
        });
        WordedConstraint { words, typed }
    }

    /// Reports unknown and duplicate fields.
    fn look_at_fields(&mut self, site: &GraphSite, entries: &Entries, known: &'static [GraphField]) {
        let before = self.faults.len();
        let mut seen: Vec<GraphField> = Vec::new();
        for (key, _) in entries {
            match known.iter().find(|field| field.as_str() == key) {
                Some(field) if seen.contains(field) => {
                    self.report(site, GraphProblem::FieldTwice { field: key.clone() });
                }
                Some(field) => seen.push(*field),
                None => {
                    let nearest = nearest(key, known.iter().map(|field| field.as_str()));
                    let nearest =
                        known.iter().find(|field| Some(field.as_str()) == nearest.as_deref()).copied();
                    self.report(site, GraphProblem::FieldUnknown { field: key.clone(), nearest, known });
                }
            }
            if self.faults.len() - before == GRAPH_FAULTS_MAX {
                break;
            }
        }
    }

    fn text(&mut self, site: &GraphSite, entries: &Entries, field: GraphField) -> String {
        match entry(entries, field) {
            Some(Node { tree: Tree::Text(text), .. }) => text.clone(),
            Some(node) => self.other_kind(site, field, node),
            None => self.missing(site, field),
        }
    }

    /// The entries of a list, which may be missing or `null` unless it is the list of sub-tasks.
    fn list<'n>(&mut self, site: &GraphSite, entries: &'n Entries, field: GraphField) -> Option<&'n [Node]> {
        match entry(entries, field) {
            Some(Node { tree: Tree::List(nodes), .. }) => Some(nodes),
            Some(Node { tree: Tree::Null, .. }) | None if field != GraphField::SubTasks => None,
            Some(node) => {
                self.other_kind(site, field, node);
                None
            }
            None => {
                self.missing(site, field);
                None
            }
        }
    }

    fn other_kind(&mut self, site: &GraphSite, field: GraphField, node: &Node) -> String {
        self.report(site, GraphProblem::FieldOfOtherKind { field, found: node.tree.kind() });
        String::new()
    }

    fn missing(&mut self, site: &GraphSite, field: GraphField) -> String {
        self.report(site, GraphProblem::FieldMissing { field });
        String::new()
    }
}

/// The value of a field, the first one if it is duplicate.
fn entry(entries: &Entries, field: GraphField) -> Option<&Node> {
    entries.iter().find(|(key, _)| key == field.as_str()).map(|(_, node)| node)
}

/// An id: a text, or the digits of an integer.
fn id_of(node: &Node) -> Option<String> {
    match &node.tree {
        Tree::Text(id) => Some(id.clone()),
        // An id may be written as a number: `1` and `"1"` are the same id.
        Tree::Number(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => Some(digits.clone()),
        _ => None,
    }
}

fn empty() -> SubTask {
    SubTask {
        id: String::new(),
        task: String::new(),
        executor: String::new(),
        after: Vec::new(),
        constraints: Vec::new(),
    }
}
