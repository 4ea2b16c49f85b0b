//! The prompts of the roles: templates in which some names in double braces are placeholders.

use std::borrow::Cow;
use std::sync::Arc;

use planproof_plan::graph::WordedConstraint;
use planproof_plan::team::{Role, headings};
use planproof_trace::Tool;
use planproof_trace::template::{fill, pieces};
use thiserror::Error;

use crate::template::TEMPLATE_BYTES_MAX;

use super::{Deliver, Executor, ManagerPrompt, RESULT_CHARACTERS_MAX, ResultText, TeamOptions};

/// Most characters of a tool's description in the manager's list of executors.
const ABOUT_CHARACTERS_MAX: usize = 200;

/// The templates of a team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamPrompts {
    manager: Arc<str>,
    supervisor: Arc<str>,
    executor: Arc<str>,
    deliverer: Arc<str>,
}

/// Why a text cannot be a template.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PromptError {
    /// A required name is missing.
    #[error("the prompt of the {role} lacks {{{{{name}}}}}, where {what} goes")]
    Lacks {
        /// Whose prompt it is.
        role: Role,
        name: &'static str,
        /// What is filled in.
        what: &'static str,
    },
    /// An unknown name is in it.
    #[error("the prompt of the {role} has {{{{{name}}}}}, which means nothing there; it may have {known}")]
    Unknown {
        /// Whose prompt it is.
        role: Role,
        name: String,
        /// The names that it may have.
        known: String,
    },
    /// It is too long.
    #[error("the prompt of the {role} has {bytes} bytes; {TEMPLATE_BYTES_MAX} is the most")]
    TooLong {
        /// Whose prompt it is.
        role: Role,
        /// How long it is.
        bytes: usize,
    },
}

/// The names of a role's template, each with its description.
fn names(role: Role) -> &'static [(&'static str, &'static str)] {
    match role {
        Role::Manager => &[("executors", "the list of executors"), ("task", "the task")],
        Role::Supervisor => &[("sub_task", "the sub-task"), ("results", "the results that it needs")],
        Role::Executor => &[
            ("about", "what the executor can do"),
            ("sub_task", "the sub-task"),
            ("constraints", "what its result has to meet"),
        ],
        Role::Deliverer => &[
            ("task", "the task"),
            ("constraints", "what the results have to meet together"),
            ("results", "the results"),
        ],
    }
}

impl TeamPrompts {
    /// Those that come with planproof.
    pub fn shipped(options: TeamOptions) -> Self {
        let manager = match options.manager {
            ManagerPrompt::ZeroShot => include_str!("../../prompts/team/manager.txt"),
            ManagerPrompt::OneShot => include_str!("../../prompts/team/manager-one-shot.txt"),
        };
        let typed = include_str!("../../prompts/team/typed.txt").trim_end();
        // If there is a solver, the manager states constraints in the solver's form.
        let manager: Cow<'_, str> = match options.deliver {
            Deliver::Solver => {
                let about = include_str!("../../prompts/team/typed-constraints.txt");
                let typed = format!("{about}\n{typed}\n\n{}\n", headings::EXECUTORS);
                manager.replacen(&format!("{}\n", headings::EXECUTORS), &typed, 1).into()
            }
            Deliver::Inference | Deliver::Reporting => manager.into(),
        };
        let deliverer: Cow<'_, str> = match options.deliver {
            Deliver::Inference => include_str!("../../prompts/team/inference.txt").into(),
            Deliver::Reporting => include_str!("../../prompts/team/reporting.txt").into(),
            Deliver::Solver => {
                include_str!("../../prompts/team/solver.txt").replace("{{typed}}", typed).into()
            }
        };
        Self {
            manager: manager.into(),
            supervisor: include_str!("../../prompts/team/supervisor.txt").into(),
            executor: include_str!("../../prompts/team/executor.txt").into(),
            deliverer: deliverer.into(),
        }
    }

    /// The same, with this template for a role.
    ///
    /// # Errors
    /// The template lacks a name, has an unknown one, or is too long.
    pub fn with(mut self, role: Role, template: &str) -> Result<Self, PromptError> {
        if template.len() > TEMPLATE_BYTES_MAX {
            return Err(PromptError::TooLong { role, bytes: template.len() });
        }
        let known = names(role);
        for (name, what) in known {
            if !template.contains(&format!("{{{{{name}}}}}")) {
                return Err(PromptError::Lacks { role, name, what });
            }
        }
        for (_, name) in pieces(template) {
            if let Some(name) = name.filter(|name| !known.iter().any(|(other, _)| other == name)) {
                let known =
                    known.iter().map(|(name, _)| format!("{{{{{name}}}}}")).collect::<Vec<_>>().join(", ");
                return Err(PromptError::Unknown { role, name: name.to_owned(), known });
            }
        }
        let place = match role {
            Role::Manager => &mut self.manager,
            Role::Supervisor => &mut self.supervisor,
            Role::Executor => &mut self.executor,
            Role::Deliverer => &mut self.deliverer,
        };
        *place = template.into();
        Ok(self)
    }

    pub(super) fn manager(&self, task: &str, executors: &[Executor], tools: &[Tool]) -> String {
        let executors: Vec<String> = executors.iter().map(|executor| described(executor, tools)).collect();
        fill(&self.manager, &[("executors", &executors.join("\n")), ("task", task)])
    }

    /// The manager's first prompt if it composes the executors itself.
    pub(super) fn compose(&self, task: &str, tools: &[Tool]) -> String {
        let tools = match tools {
            [] => "(none)".to_owned(),
            tools => {
                tools.iter().map(|tool| format!("- {}", about_tool(tool))).collect::<Vec<_>>().join("\n")
            }
        };
        fill(include_str!("../../prompts/team/compose.txt"), &[("tools", &tools), ("task", task)])
    }

    pub(super) fn supervisor(&self, sub_task: &str, results: &str) -> String {
        fill(&self.supervisor, &[("sub_task", sub_task), ("results", results)])
    }

    pub(super) fn executor(
        &self,
        executor: &Executor,
        sub_task: &str,
        constraints: &[WordedConstraint],
    ) -> String {
        let about = match executor.prompt.as_str() {
            "" => executor.about.clone(),
            prompt => format!("{}\n\n{prompt}", executor.about),
        };
        let values =
            [("about", about.as_str()), ("sub_task", sub_task), ("constraints", &listed(constraints))];
        fill(&self.executor, &values)
    }

    pub(super) fn deliverer(&self, task: &str, constraints: &[WordedConstraint], results: &str) -> String {
        fill(&self.deliverer, &[("task", task), ("constraints", &listed(constraints)), ("results", results)])
    }
}

/// The prompt for a manager whose graph cannot be executed.
pub(super) fn mend_graph(faults: &str) -> String {
    mend(include_str!("../../prompts/team/mend-graph.txt"), faults)
}

/// The prompt for a manager whose executors cannot be used.
pub(super) fn mend_crew(faults: &str) -> String {
    mend(include_str!("../../prompts/team/mend-executors.txt"), faults)
}

/// The prompt for a deliverer whose candidates and constraints cannot be understood.
pub(super) fn mend_problem(faults: &str) -> String {
    mend(include_str!("../../prompts/team/mend-problem.txt"), faults)
}

fn mend(template: &str, faults: &str) -> String {
    fill(template.trim_end(), &[("faults", faults)])
}

/// The prompt for a deliverer once the solver has chosen.
pub(super) fn of_proof(task: &str, proof: &str) -> String {
    fill(include_str!("../../prompts/team/of-proof.txt").trim_end(), &[("proof", proof), ("task", task)])
}

/// The prompt for an executor whose report violates constraints.
pub(super) fn mend_report(query: &str, report: &str, violations: &str) -> String {
    fill(
        include_str!("../../prompts/team/mend-report.txt").trim_end(),
        &[("query", query), ("report", &both_ends(report.trim())), ("violations", violations)],
    )
}

/// The result of a sub-task, under a heading with its id.
pub(super) fn result(result: &ResultText<'_>) -> String {
    let ResultText { sub_task, text, is_failure } = result;
    let state = if *is_failure { " (failed)" } else { "" };
    format!("{}{}{state}\n{}", headings::RESULT_OF, sub_task.id, both_ends(text.trim()))
}

/// A tool with its description, on one line.
fn about_tool(tool: &Tool) -> String {
    let about = tool.description.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut = about.chars().count() > ABOUT_CHARACTERS_MAX;
    let about: String = about.chars().take(ABOUT_CHARACTERS_MAX).collect();
    format!("{}: {about}{}", tool.name, if cut { "..." } else { "" })
}

/// An executor in the manager's list, with its tools.
fn described(executor: &Executor, tools: &[Tool]) -> String {
    let has = |tool: &&Tool| executor.tools.as_ref().is_none_or(|names| names.contains(&tool.name));
    let tools = tools.iter().filter(has).map(|tool| format!("  - {}", about_tool(tool)));
    let tools: Vec<String> = tools.collect();
    let tools = if tools.is_empty() { "  - no tools".to_owned() } else { tools.join("\n") };
    format!("- {}: {}\n{tools}", executor.name, executor.about)
}

fn listed(constraints: &[WordedConstraint]) -> String {
    match constraints {
        [] => "- none that were stated".to_owned(),
        some => some.iter().map(|it| format!("- {}", it.words)).collect::<Vec<_>>().join("\n"),
    }
}

/// At most [`RESULT_CHARACTERS_MAX`] characters, half from the beginning and half from the end.
fn both_ends(text: &str) -> Cow<'_, str> {
    let count = text.chars().count();
    if count <= RESULT_CHARACTERS_MAX {
        return text.into();
    }
    let half = RESULT_CHARACTERS_MAX / 2;
    let start: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(count - half).collect();
    format!("{start}\n[... {} characters left out ...]\n{end}", count - 2 * half).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_templates_are_in_order() {
        for manager in ManagerPrompt::ALL {
            for deliver in Deliver::ALL {
                let shipped =
                    TeamPrompts::shipped(TeamOptions { manager, deliver, ..TeamOptions::default() });
                let templates =
                    [&shipped.manager, &shipped.supervisor, &shipped.executor, &shipped.deliverer];
                for (role, template) in Role::ALL.into_iter().zip(templates) {
                    assert_eq!(shipped.clone().with(role, template), Ok(shipped.clone()));
                    assert!(template.starts_with(role.mark()), "{role}");
                }
            }
        }
    }

    #[test]
    fn templates_of_others_are_checked() {
        let with = |role, text: &str| {
            TeamPrompts::shipped(TeamOptions::default()).with(role, text).unwrap_err().to_string()
        };
        assert_eq!(
            with(Role::Manager, "{{task}}"),
            "the prompt of the manager lacks {{executors}}, where the list of executors goes"
        );
        assert_eq!(
            with(Role::Supervisor, "{{sub_task}} {{results}} {{tasks}}"),
            "the prompt of the supervisor has {{tasks}}, which means nothing there; it may have {{sub_task}}, {{results}}"
        );
        assert!(with(Role::Manager, &"x".repeat(TEMPLATE_BYTES_MAX + 1)).contains("is the most"));
    }

    #[test]
    fn long_results_keep_both_ends() {
        let text = format!("a{}z", "x".repeat(RESULT_CHARACTERS_MAX));
        let cut = both_ends(&text);
        assert!(cut.starts_with('a') && cut.ends_with('z') && cut.contains("2 characters left out"));
    }
}
