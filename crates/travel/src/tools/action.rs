//! Actions as agents write them: `FlightSearch[Reno, Elko, 2022-03-16]`.

/// The response to a name that is not a tool's.
pub const INVALID_ACTION: &str = "Invalid Action. Valid Actions are  \
    FlightSearch[Departure City, Destination City, Date] / AccommodationSearch[City] / RestaurantSearch[City] / \
    AttractionSearch[City] / GoogleDistanceMatrix[Origin, Destination, Mode] / CitySearch[State] / \
    NotebookWrite[Short Description] / Planner[Query].";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolAction<'t> {
    /// The name of a tool, or other text in its place.
    pub name: &'t str,
    /// Everything between the first and the last bracket.
    pub argument: &'t str,
}

impl<'t> ToolAction<'t> {
    /// Parses a whole line. The name consists of letters, digits and underscores.
    pub fn read(line: &'t str) -> Option<Self> {
        let (name, rest) = line.split_once('[')?;
        let argument = rest.strip_suffix(']')?;
        let is_word = !name.is_empty() && name.chars().all(|it| it.is_alphanumeric() || it == '_');
        (is_word && !argument.contains('\n')).then_some(Self { name, argument })
    }

    /// The parts of the argument, separated by a comma and a blank.
    pub fn arguments(self) -> Vec<&'t str> {
        self.argument.split(", ").collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_whole_lines() {
        let action = ToolAction::read("Planner[a [b], c]").expect("an action");
        assert_eq!((action.name, action.arguments()), ("Planner", vec!["a [b]", "c"]));
        for line in ["Planner", "Planner[a", "Plan ner[a]", "[a]", "Planner[a] ", "Planner[a\nb]"] {
            assert_eq!(ToolAction::read(line), None, "{line:?}");
        }
    }
}
