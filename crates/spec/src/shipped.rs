//! Specifications of published agents.

/// The name and the source of each shipped agent, as specified in papers, with added handlers and content rules.
/// Their loops have no bounds: a limit of the run ends one that does not end by itself.
pub const SHIPPED: [(&str, &str); 6] = [
    ("direct", include_str!("../specs/direct.spec")),
    ("cot", include_str!("../specs/cot.spec")),
    ("react", include_str!("../specs/react.spec")),
    ("rewoo", include_str!("../specs/rewoo.spec")),
    ("reflexion", include_str!("../specs/reflexion.spec")),
    ("pass", include_str!("../specs/pass.spec")),
];

/// The source of a shipped agent, for [`load`](crate::load).
pub fn shipped(name: &str) -> Option<&'static str> {
    SHIPPED.iter().find(|(other, _)| *other == name).map(|(_, source)| *source)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Compat, load, read};

    #[test]
    fn each_is_without_a_fault_and_named_as_its_file() {
        for (name, source) in SHIPPED {
            let loaded = load(source, Compat::Ours).unwrap_or_else(|faulty| panic!("{name}: {faulty}"));
            assert_eq!(loaded.warnings, [], "{name}");
            assert_eq!(loaded.automaton.spec().name.value, name);
            assert_eq!(read(&loaded.automaton.spec().to_string()).as_ref(), Ok(loaded.automaton.spec()));
        }
        assert!(shipped("react").is_some() && shipped("nobody").is_none());
    }
}
