//! The faults of a graph, in words for its author.

use std::fmt;

use thiserror::Error;

use crate::fault::ParseFault;
use crate::limits::GRAPH_FAULTS_MAX;
use crate::words::{cut, listed};

/// The faults of a graph: at least one, in the order of the sub-tasks.
///
/// Its text has a line for each, up to [`GRAPH_FAULTS_MAX`], and then the number of the rest.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct GraphFaults {
    /// The faults.
    pub faults: Vec<GraphFault>,
}

/// A reason why a graph cannot be carried out. It is the mistake of a manager, or of a person who edits its graph,
/// and its text is addressed to them: where, what, and how to mend it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphFault {
    /// Where it is.
    pub site: GraphSite,
    /// What it is.
    pub problem: Box<GraphProblem>,
}

/// The part of a graph that a fault is in.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct GraphSite {
    /// The index of the sub-task in the list, from 0; `None` for the whole graph.
    pub place: Option<usize>,
    /// The id of the sub-task, if it has one; shortened if it is longer than a message shows.
    pub id: Option<String>,
    /// The index of the constraint in its list, from 0.
    pub constraint: Option<usize>,
}

/// A field of a graph, a sub-task or a constraint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GraphField {
    /// The list of sub-tasks.
    SubTasks,
    /// The id of a sub-task.
    Id,
    /// What is to be done.
    Task,
    /// Who is to do it.
    Executor,
    /// Whose results it needs.
    After,
    /// Constraints, local or global.
    Constraints,
    /// The words of a constraint.
    Words,
    /// Its form that can be checked.
    Typed,
}

/// What is wrong with a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GraphProblem {
    /// The reply contains no readable JSON.
    NoJson(ParseFault),
    /// It holds JSON, but no graph.
    NoGraph {
        /// What it is.
        found: String,
    },
    /// Several graphs stand in it.
    SeveralGraphs {
        /// How many.
        count: usize,
    },
    /// There are no sub-tasks.
    NoSubTasks,
    /// There are more sub-tasks than [`SUB_TASKS_MAX`](crate::limits::SUB_TASKS_MAX). Nothing else is checked then.
    TooManySubTasks {
        /// How many there are.
        count: usize,
        /// The limit.
        limit: usize,
    },
    /// A field is missing.
    FieldMissing {
        /// Which.
        field: GraphField,
    },
    /// A field is given twice.
    FieldTwice {
        /// Which.
        field: String,
    },
    /// A field has a value of the wrong kind.
    FieldOfOtherKind {
        /// Which.
        field: GraphField,
        /// What it is.
        found: &'static str,
    },
    /// There is no such field.
    FieldUnknown {
        /// Its name.
        field: String,
        /// The field that was probably meant.
        nearest: Option<GraphField>,
        /// All that there are.
        known: &'static [GraphField],
    },
    /// An object is expected.
    NoObject {
        /// What it is.
        found: &'static str,
    },
    /// A text says nothing.
    TextEmpty {
        /// Its field.
        field: GraphField,
    },
    /// A text is too long.
    TextTooLong {
        /// Its field.
        field: GraphField,
        /// Its length: characters, of `typed` bytes of JSON.
        length: usize,
        /// The limit.
        limit: usize,
    },
    /// There are too many entries in a list.
    ListTooLong {
        /// Its field.
        field: GraphField,
        /// A value cannot be represented exactly.
        count: usize,
        /// The limit.
        limit: usize,
    },
    /// It comes after an unknown sub-task.
    ValueUnfit {
        /// Its field.
        field: GraphField,
        /// Why.
        problem: Box<ParseFault>,
    },
    /// An id has a line break or another control character.
    IdUnfit,
    /// An earlier sub-task has the same id.
    IdTwice {
        /// The place of the first one, from 0.
        first: usize,
    },
    /// It comes after itself.
    AfterItself,
    /// It comes after a sub-task that does not exist.
    AfterUnknown {
        /// The id.
        after: String,
        /// The id that was probably meant.
        nearest: Option<String>,
    },
    /// Sub-tasks wait for one another.
    Cycle {
        /// Their ids, in the order in which they would have to run; the first also comes after the last.
        ids: Vec<String>,
    },
    /// There is no such executor.
    ExecutorUnknown {
        /// Its name.
        executor: String,
        /// The one that was probably meant.
        nearest: Option<String>,
        /// All that there are.
        known: Vec<String>,
    },
}

impl GraphField {
    /// How it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SubTasks => "sub_tasks",
            Self::Id => "id",
            Self::Task => "task",
            Self::Executor => "executor",
            Self::After => "after",
            Self::Constraints => "constraints",
            Self::Words => "words",
            Self::Typed => "typed",
        }
    }

    /// What its value has to be.
    pub fn expected(self) -> &'static str {
        match self {
            Self::SubTasks => "a list of sub-tasks, which are objects",
            Self::Id => "a text",
            Self::Task => "a text that says what is to be done",
            Self::Executor => "the name of an executor",
            Self::After => "a list of ids",
            Self::Constraints => "a list of constraints, which are objects with `words`",
            Self::Words => "a text that says what has to hold",
            Self::Typed => "an object",
        }
    }
}

impl GraphSite {
    /// The whole graph.
    pub(crate) fn graph() -> Self {
        Self::default()
    }

    pub(crate) fn sub_task(place: usize, id: &str) -> Self {
        // Shortened already here: every fault of a sub-task holds its id, which may take most of a reply.
        let id = (!id.trim().is_empty()).then(|| cut(id));
        Self { place: Some(place), id, constraint: None }
    }

    /// The indices of the sub-task and of the constraint, which are the same for the same part of the graph.
    pub(crate) fn places(&self) -> (Option<usize>, Option<usize>) {
        (self.place, self.constraint)
    }

    pub(crate) fn constraint(mut self, place: usize) -> Self {
        self.constraint = Some(place);
        self
    }
}

impl GraphFault {
    pub(crate) fn new(site: GraphSite, problem: GraphProblem) -> Self {
        Self { site, problem: Box::new(problem) }
    }
}

impl GraphProblem {
    /// The field, if the fault is about one.
    pub(crate) fn field(&self) -> Option<GraphField> {
        match self {
            Self::FieldMissing { field }
            | Self::FieldOfOtherKind { field, .. }
            | Self::TextEmpty { field }
            | Self::TextTooLong { field, .. }
            | Self::ListTooLong { field, .. }
            | Self::ValueUnfit { field, .. } => Some(*field),
            Self::NoSubTasks => Some(GraphField::SubTasks),
            Self::IdUnfit | Self::IdTwice { .. } => Some(GraphField::Id),
            Self::AfterItself | Self::AfterUnknown { .. } => Some(GraphField::After),
            Self::ExecutorUnknown { .. } => Some(GraphField::Executor),
            _ => None,
        }
    }

    /// How to mend it, as an instruction. A sentence without its full stop.
    pub fn mend(&self) -> String {
        let fields = |fields: &[GraphField]| listed(fields.iter().map(|field| field.as_str()));
        match self {
            Self::NoJson(_) => "Write one JSON object with `sub_tasks` and `constraints`".to_owned(),
            Self::NoGraph { .. } => {
                "Write one JSON object with the lists `sub_tasks` and `constraints`".to_owned()
            }
            Self::SeveralGraphs { .. } => "Write one alone".to_owned(),
            Self::NoSubTasks => {
                "Write at least one sub-task; a task that cannot be divided is one".to_owned()
            }
            Self::TooManySubTasks { limit, .. } => {
                format!("Join what one executor can do together, until there are at most {limit}")
            }
            Self::FieldMissing { field } | Self::FieldOfOtherKind { field, .. } => {
                format!("Give it a `{}`: {}", field.as_str(), field.expected())
            }
            Self::FieldTwice { .. } => "Give it once".to_owned(),
            Self::FieldUnknown { nearest: Some(nearest), .. } => {
                format!("Write `{}` if that is meant", nearest.as_str())
            }
            Self::FieldUnknown { known, .. } => {
                format!("Leave it out, or put what it says into {}", fields(known))
            }
            Self::NoObject { .. } => "Write an object".to_owned(),
            Self::TextEmpty { field } => format!("Write {}", field.expected()),
            Self::TextTooLong { limit, field: GraphField::Typed, .. } => {
                format!("Write it with at most {limit} bytes, or state the constraint in words alone")
            }
            Self::TextTooLong { limit, .. } => format!("Say it with at most {limit} characters"),
            Self::ListTooLong { limit, .. } => format!("Keep at most {limit}"),
            Self::ValueUnfit { .. } => "Write a value that JSON can carry".to_owned(),
            Self::IdUnfit => "Use a short name on one line".to_owned(),
            Self::IdTwice { .. } => {
                "Give each sub-task an id of its own, and name that in `after`".to_owned()
            }
            Self::AfterItself => "Take its own id out of `after`".to_owned(),
            Self::AfterUnknown { nearest: Some(nearest), .. } => {
                format!("Write `{}` if that is meant, or add the sub-task", cut(nearest))
            }
            Self::AfterUnknown { .. } => "Add the sub-task, or take its id out of `after`".to_owned(),
            Self::Cycle { ids } => match &ids[..] {
                [first, .., last] => {
                    format!(
                        "Take one of them out, such as `{}` from the `after` of `{}`",
                        cut(last),
                        cut(first)
                    )
                }
                _ => "Take one of them out".to_owned(),
            },
            Self::ExecutorUnknown { nearest: Some(nearest), .. } => {
                format!("Write `{}` if that is meant", cut(nearest))
            }
            Self::ExecutorUnknown { known, .. } if known.is_empty() => "There are no executors".to_owned(),
            Self::ExecutorUnknown { known, .. } => {
                format!("Choose among {}", listed(known.iter().map(String::as_str)))
            }
        }
    }
}

impl fmt::Display for GraphFaults {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, fault) in self.faults.iter().take(GRAPH_FAULTS_MAX).enumerate() {
            let before = if place > 0 { "\n" } else { "" };
            write!(out, "{before}- {fault}")?;
        }
        match self.faults.len().saturating_sub(GRAPH_FAULTS_MAX) {
            0 => Ok(()),
            more => write!(out, "\n- and {more} more"),
        }
    }
}

impl fmt::Display for GraphFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}. {}.", self.site, self.problem, self.problem.mend())
    }
}

impl fmt::Display for GraphSite {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |out: &mut fmt::Formatter<'_>| match (&self.id, self.place) {
            (Some(id), _) => write!(out, "sub-task `{}`", cut(id)),
            (None, Some(place)) => write!(out, "sub-task {} of the list", place + 1),
            (None, None) => write!(out, "the graph"),
        };
        if let Some(constraint) = self.constraint {
            write!(out, "constraint {} of ", constraint + 1)?;
        }
        of(out)
    }
}

impl fmt::Display for GraphProblem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoJson(fault) => write!(out, "it cannot be read: {fault}"),
            Self::NoGraph { found } => write!(out, "`sub_tasks` is missing; the reply has {found}"),
            Self::SeveralGraphs { count } => {
                write!(out, "the reply holds {count} graphs where one is asked for")
            }
            Self::NoSubTasks => write!(out, "it has no sub-tasks"),
            Self::TooManySubTasks { count, limit } => {
                write!(out, "it has {count} sub-tasks, and at most {limit} are allowed")
            }
            Self::FieldMissing { field } => write!(out, "it has no `{}`", field.as_str()),
            Self::FieldTwice { field } => write!(out, "`{}` is given twice", cut(field)),
            Self::FieldOfOtherKind { field, found } => {
                write!(out, "`{}` is {found}, not {}", field.as_str(), field.expected())
            }
            Self::FieldUnknown { field, .. } => write!(out, "it has no field `{}`", cut(field)),
            Self::NoObject { found } => write!(out, "it is {found}, not an object"),
            Self::TextEmpty { field } => write!(out, "`{}` is empty", field.as_str()),
            Self::TextTooLong { field, length, limit } => {
                let units = if *field == GraphField::Typed { "bytes" } else { "characters" };
                write!(out, "`{}` has {length} {units}, and at most {limit} are allowed", field.as_str())
            }
            Self::ListTooLong { field, count, limit } => {
                write!(out, "`{}` has {count} entries, and at most {limit} are allowed", field.as_str())
            }
            Self::ValueUnfit { field, problem } => {
                write!(out, "`{}` cannot be kept: {}", field.as_str(), problem.problem)
            }
            Self::IdUnfit => write!(out, "its id has a line break or another control character"),
            Self::IdTwice { first } => {
                write!(out, "sub-task {} of the list has the same id", first + 1)
            }
            Self::AfterItself => write!(out, "it comes after itself"),
            Self::AfterUnknown { after, .. } => {
                write!(out, "it comes after `{}`, and there is no such sub-task", cut(after))
            }
            Self::Cycle { ids } => {
                write!(out, "sub-tasks wait for one another: ")?;
                for id in ids {
                    write!(out, "`{}` → ", cut(id))?;
                }
                write!(out, "`{}`", ids.first().map(|id| cut(id)).unwrap_or_default())
            }
            Self::ExecutorUnknown { executor, .. } => {
                write!(out, "there is no executor `{}`", cut(executor))
            }
        }
    }
}
