//! The output of the published two-stage agent of TravelPlanner: steps of a thought, an action and an observation,
//! then a plan that a planner writes from a notebook. (Xie et al. 2024, section 4; the loop is that of the
//! benchmark's code, `agents/tool_agents.py`. All wordings are ours.)

/// The beginning of the first stage's prompt.
pub const MARK: &str =
    "Find out what the plan of a request needs, and let a planner make the plan of what you kept.";

/// The heading of the tools in a prompt.
pub const ACTIONS_HEADING: &str = "# Actions";

/// The heading of the request in a prompt.
pub const REQUEST_HEADING: &str = "# Request";

/// The heading of the steps so far.
pub const STEPS_HEADING: &str = "# Steps";

/// The tool that keeps the result of the last search.
pub const NOTEBOOK: &str = "NotebookWrite";

/// The tool that passes the notebook to the planner. It ends the first stage.
pub const PLANNER: &str = "Planner";

/// The state of the section that records why the loop stopped a run.
pub const STOPPED: &str = "stopped";

/// A part of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepPart {
    /// What to do, in words.
    Thought,
    /// What is done: `Name[argument]`.
    Action,
    /// What came of it.
    Observation,
}

impl StepPart {
    /// The word that its lines begin with.
    pub fn word(self) -> &'static str {
        match self {
            Self::Thought => "Thought",
            Self::Action => "Action",
            Self::Observation => "Observation",
        }
    }

    /// The beginning of its line in a step, counted from 1.
    pub fn label(self, step: usize) -> String {
        format!("{} {step}:", self.word())
    }

    /// The part and the step that begin with this line, if any, and the rest of the line.
    pub fn of_line(line: &str) -> Option<(Self, usize, &str)> {
        let (label, rest) = line.split_once(':')?;
        let (word, step) = label.split_once(' ')?;
        let part =
            [Self::Thought, Self::Action, Self::Observation].into_iter().find(|it| it.word() == word)?;
        Some((part, step.parse().ok()?, rest))
    }
}

/// An action as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenAction<'t> {
    /// The name of a tool.
    pub name: &'t str,
    /// What stands between the brackets.
    pub argument: &'t str,
}

impl<'t> WrittenAction<'t> {
    /// Reads `Name[argument]`, a line with nothing around it except blanks; the argument ends at the last bracket.
    pub fn read(line: &'t str) -> Option<Self> {
        let (name, rest) = line.trim().split_once('[')?;
        let argument = rest.strip_suffix(']')?;
        let is_name = !name.is_empty() && name.chars().all(|it| it.is_alphanumeric() || it == '_');
        (is_name && !argument.is_empty()).then_some(Self { name, argument })
    }

    /// The argument split into at most `count` arguments at commas followed by a blank. There may be fewer; the excess
    /// is left out. A single one may contain commas.
    pub fn arguments(&self, count: usize) -> impl Iterator<Item = &'t str> + use<'t> {
        // The published code splits at `", "` only where it expects several arguments.
        let (all, parts) = match count {
            1 => (Some(self.argument), None),
            _ => (None, Some(self.argument.split(", ").take(count))),
        };
        all.into_iter().chain(parts.into_iter().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_read() {
        let cases = [
            ("CitySearch[Texas]", Some(("CitySearch", "Texas"))),
            (" NotebookWrite[rooms [cheap]] ", Some(("NotebookWrite", "rooms [cheap]"))),
            ("FlightSearch[Reno, Elko, 2022-03-16]", Some(("FlightSearch", "Reno, Elko, 2022-03-16"))),
            ("I search[Texas] now", None),
            ("My Search[Texas]", None),
            ("CitySearch[]", None),
            ("CitySearch", None),
            ("", None),
        ];
        for (line, expected) in cases {
            assert_eq!(WrittenAction::read(line).map(|it| (it.name, it.argument)), expected, "{line}");
        }
        let action = WrittenAction { name: "F", argument: "a, b, c, d" };
        assert_eq!(action.arguments(1).collect::<Vec<_>>(), ["a, b, c, d"]);
        assert_eq!(action.arguments(3).collect::<Vec<_>>(), ["a", "b", "c"]);
    }

    #[test]
    fn lines_of_steps_are_known() {
        for part in [StepPart::Thought, StepPart::Action, StepPart::Observation] {
            assert_eq!(StepPart::of_line(&format!("{} x: y", part.label(12))), Some((part, 12, " x: y")));
        }
        assert_eq!(StepPart::of_line("Thought: x"), None);
        assert_eq!(StepPart::of_line("Idea 1: x"), None);
    }
}
