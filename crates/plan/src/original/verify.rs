//! The published verifiers of plans in JSON (specification, section 5.3).

use std::collections::{BTreeSet, HashMap};

use planproof_trace::{Catalogue, Signature};
use serde_json::{Map, Value as Json};

use super::references::{self, Id};
use super::{PublishedVerdict, RefusalCode, Unexpected, unexpected};
use crate::text::OPENING;

type Arguments = Map<String, Json>;

/// The published verifier's result for a plan, which may be any value.
pub fn verify(plan: &Json, catalogue: &Catalogue) -> PublishedVerdict {
    verify_nodes(plan, catalogue).unwrap_or_else(PublishedVerdict::from)
}

/// The published verifier's result for a single step, which may be any value: references are not checked.
pub fn verify_step(step: &Json, catalogue: &Catalogue) -> PublishedVerdict {
    verify_node(step, catalogue).unwrap_or_else(PublishedVerdict::from)
}

fn verify_node(step: &Json, catalogue: &Catalogue) -> Result<PublishedVerdict, Unexpected> {
    let mut verdict = PublishedVerdict::default();
    if let Some(signature) = tool(field(step, "name")?, catalogue, &mut verdict)? {
        check_arguments(signature, arguments(step)?, &mut verdict);
    }
    Ok(verdict)
}

/// A node of the graph; without name and arguments if it is only referred to.
struct Node<'p> {
    id: Id,
    attributes: Option<(&'p Json, &'p Arguments)>,
}

#[derive(Default)]
struct Graph<'p> {
    nodes: Vec<Node<'p>>,
    places: HashMap<Id, usize>,
    edges: BTreeSet<(usize, usize)>,
}

impl<'p> Graph<'p> {
    fn node(&mut self, id: Id) -> usize {
        // A reference can create the node before its step is read, so nodes are in the order of first mention.
        *self.places.entry(id.clone()).or_insert_with(|| {
            self.nodes.push(Node { id, attributes: None });
            self.nodes.len() - 1
        })
    }

    fn read(plan: &'p Json) -> Result<Self, Unexpected> {
        let mut graph = Self::default();
        for step in references::items(plan)? {
            let id = references::id(field(step, "id")?)?;
            let attributes = (field(step, "name")?, arguments(step)?);
            let place = graph.node(id);
            // A repeated id overwrites the earlier step, at the place of the first mention.
            graph.nodes[place].attributes = Some(attributes);
            for text in attributes.1.values().filter_map(Json::as_str) {
                // An edge only for a text that begins with a reference; one among words makes none.
                if text.starts_with(OPENING) {
                    let from = graph.node(references::first_digit(text)?);
                    graph.edges.insert((from, place));
                }
            }
        }
        Ok(graph)
    }

    fn attributes(&self, place: usize) -> Result<(&'p Json, &'p Arguments), Unexpected> {
        match self.nodes.get(place) {
            Some(Node { attributes: Some(attributes), .. }) => Ok(*attributes),
            Some(node) => unexpected(format!("there is no step {}", node.id)),
            None => unexpected("there is no such step"),
        }
    }
}

fn verify_nodes(plan: &Json, catalogue: &Catalogue) -> Result<PublishedVerdict, Unexpected> {
    let graph = Graph::read(plan)?;
    let mut verdict = PublishedVerdict::default();
    for place in 0..graph.nodes.len() {
        // Raises for a step that is only referred to: the published code reads a name that is not there.
        let (name, arguments) = graph.attributes(place)?;
        // An unknown tool ends the checks of its step.
        let Some(signature) = tool(name, catalogue, &mut verdict)? else { continue };
        check_arguments(signature, arguments, &mut verdict);
        for (argument, text) in arguments.iter().filter_map(|(name, value)| Some((name, value.as_str()?))) {
            check_references(argument, text, signature, &graph, catalogue, &mut verdict)?;
        }
    }
    // After all steps, as in 5.3.
    for (from, to) in &graph.edges {
        let (first, second) = (graph.attributes(*from)?.0, graph.attributes(*to)?.0);
        check_edge(known(first, catalogue)?, known(second, catalogue)?, catalogue, &mut verdict);
    }
    Ok(verdict)
}

/// The tool with this name; a failure if there is none.
fn tool<'c>(
    name: &Json,
    catalogue: &'c Catalogue,
    verdict: &mut PublishedVerdict,
) -> Result<Option<&'c Signature>, Unexpected> {
    let signature = known(name, catalogue)?;
    if signature.is_none() {
        let name = name.as_str().map_or_else(|| name.to_string(), str::to_owned);
        verdict.add(RefusalCode::Tools, format!("{name} is no tool of the list"));
    }
    Ok(signature)
}

fn known<'c>(name: &Json, catalogue: &'c Catalogue) -> Result<Option<&'c Signature>, Unexpected> {
    match name {
        Json::String(name) => Ok(catalogue.find(name)),
        Json::Array(_) | Json::Object(_) => unexpected("the name of a tool is a list or an object"),
        _ => Ok(None),
    }
}

fn check_arguments(signature: &Signature, arguments: &Arguments, verdict: &mut PublishedVerdict) {
    let names: Vec<&str> = arguments.keys().map(String::as_str).collect();
    super::check_arguments(signature, &names, verdict);
}

fn check_references(
    argument: &str,
    text: &str,
    signature: &Signature,
    graph: &Graph<'_>,
    catalogue: &Catalogue,
    verdict: &mut PublishedVerdict,
) -> Result<(), Unexpected> {
    if !text.contains(OPENING) {
        return Ok(());
    }
    let references = references::find(text);
    if references.is_empty() {
        let message = format!("`{argument}` has a reference that is not written <node-ID>.KEY");
        verdict.add(RefusalCode::Arguments(signature.name.clone()), message);
    }
    for reference in references {
        let id = references::first_digit(reference.text)?;
        let Some(place) = graph.places.get(&id) else { return unexpected(format!("there is no step {id}")) };
        // Raises although the unknown tool is reported already: the published code looks up its outputs.
        let Some(giver) = known(graph.attributes(*place)?.0, catalogue)? else {
            return unexpected("a step that is referred to has no known tool");
        };
        super::check_key(giver, reference.key, signature, verdict);
    }
    Ok(())
}

pub(super) fn check_edge(
    first: Option<&Signature>,
    second: Option<&Signature>,
    catalogue: &Catalogue,
    verdict: &mut PublishedVerdict,
) {
    if let (Some(first), Some(second)) = (first, second)
        && !catalogue.may_follow(&first.name, &second.name)
    {
        verdict.add(RefusalCode::Tools, format!("{} should not follow {}", second.name, first.name));
    }
}

fn field<'p>(step: &'p Json, key: &str) -> Result<&'p Json, Unexpected> {
    match step {
        Json::Object(fields) => match fields.get(key) {
            Some(value) => Ok(value),
            None => unexpected(format!("a step has no `{key}`")),
        },
        _ => unexpected("a step is no object"),
    }
}

fn arguments(step: &Json) -> Result<&Arguments, Unexpected> {
    match field(step, "args")? {
        Json::Object(arguments) => Ok(arguments),
        _ => unexpected("the arguments are no object"),
    }
}
