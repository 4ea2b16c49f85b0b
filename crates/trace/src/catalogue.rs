//! The data of tools for planning before any call: inputs, outputs, and possible successors.

use std::collections::HashMap;

use serde_json::Value;

/// The tools for a plan, in an order that never changes.
///
/// A [`Tool`](crate::Tool) says how a tool is called. A plan is written before any call, and a step uses the outputs
/// of another, so a plan also needs the outputs of a tool and which tools may use them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Catalogue {
    signatures: Vec<Signature>,
    by_name: HashMap<String, usize>,
    demonstrations: Vec<Demonstration>,
}

/// A request with the right plan for it, as an example for the planner.
#[derive(Debug, Clone, PartialEq)]
pub struct Demonstration {
    /// What is asked for.
    pub request: String,
    /// The plan: a list of nodes, each with `id`, `name` and `args`.
    pub nodes: Value,
    /// What each step gives, in their order.
    pub outputs: Vec<Value>,
}

/// A tool as a plan sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Its name, as plans in JSON write it: `image crop left`. In Python it is the [identifier](Self::identifier).
    pub name: String,
    /// What it does, in a sentence.
    pub description: String,
    /// What it takes. All of it is required.
    pub arguments: Vec<Port>,
    /// What it gives, by key.
    pub outputs: Vec<Port>,
    /// The indices of the tools that may use its outputs.
    pub successors: Vec<usize>,
}

/// An argument or an output of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// What kind of value it is, such as `text` or `image`.
    pub kind: String,
}

impl Catalogue {
    /// A catalogue of these tools, in this order. If two share a name, the first one is found.
    pub fn new(signatures: Vec<Signature>) -> Self {
        let mut by_name = HashMap::with_capacity(signatures.len());
        for (place, signature) in signatures.iter().enumerate() {
            by_name.entry(signature.name.clone()).or_insert(place);
        }
        Self { signatures, by_name, demonstrations: Vec::new() }
    }

    /// The same tools, with example plans.
    #[must_use]
    pub fn with_demonstrations(self, demonstrations: Vec<Demonstration>) -> Self {
        Self { demonstrations, ..self }
    }

    /// Example plans for the tools.
    pub fn demonstrations(&self) -> &[Demonstration] {
        &self.demonstrations
    }

    /// The tools, in their order.
    pub fn signatures(&self) -> &[Signature] {
        &self.signatures
    }

    /// The index of the tool with exactly that name.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The tool of exactly that name.
    pub fn find(&self, name: &str) -> Option<&Signature> {
        self.place(name).map(|place| &self.signatures[place])
    }

    /// Whether the second tool may use the outputs of the first. `false` if either is not in the catalogue.
    pub fn may_follow(&self, first: &str, second: &str) -> bool {
        match (self.find(first), self.place(second)) {
            (Some(first), Some(second)) => first.successors.contains(&second),
            _ => false,
        }
    }
}

impl Signature {
    /// The name in Python: `image_crop_left`.
    pub fn identifier(&self) -> String {
        self.name.replace(' ', "_")
    }

    /// Whether it has an output of that name.
    pub fn has_output(&self, key: &str) -> bool {
        self.outputs.iter().any(|output| output.name == key)
    }

    /// Whether it takes an argument of that name.
    pub fn has_argument(&self, name: &str) -> bool {
        self.arguments.iter().any(|argument| argument.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_found_by_their_exact_names() {
        let signature = |name: &str, successors: &[usize]| Signature {
            name: name.to_owned(),
            description: String::new(),
            arguments: vec![Port { name: "text".to_owned(), kind: "text".to_owned() }],
            outputs: vec![Port { name: "image".to_owned(), kind: "image".to_owned() }],
            successors: successors.to_vec(),
        };
        let catalogue = Catalogue::new(vec![signature("draw it", &[1]), signature("crop", &[])]);
        assert_eq!(catalogue.find("draw it").map(Signature::identifier), Some("draw_it".to_owned()));
        assert_eq!((catalogue.place("crop"), catalogue.place("Crop")), (Some(1), None));
        assert!(catalogue.may_follow("draw it", "crop"));
        assert!(!catalogue.may_follow("crop", "draw it") && !catalogue.may_follow("x", "crop"));
        let crop = catalogue.find("crop").unwrap();
        assert!(crop.has_output("image") && crop.has_argument("text") && !crop.has_output("text"));
    }
}
