//! Plans as the text that ReWOO's planner writes: `Plan:` lines, each followed by `#En = Tool[input]`.

use super::EvidenceRules;

/// The evidence of work that could not be done.
pub const NO_EVIDENCE: &str = "No evidence found";

/// A plan, read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanText {
    /// What is planned: the text after each `Plan:`.
    pub plans: Vec<String>,
    /// The work, in the order in which it was first named.
    pub steps: Vec<PlanStep>,
    /// What could not be read; always empty under [`EvidenceRules::Rewoo`], which gives up instead.
    pub faults: Vec<PlanLineFault>,
}

/// A labelled line of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanStep {
    /// The label, as `#E1`.
    pub label: String,
    /// What stands right of the equals sign.
    pub text: String,
}

/// What a step asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlannedWork<'a> {
    Call {
        /// The tool, which need not exist.
        tool: &'a str,
        /// What it is called with, before evidence is put in.
        input: &'a str,
    },
    /// Nothing: the text is the evidence.
    Text(&'a str),
}

/// A line of a plan that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanLineFault {
    /// A label without an equals sign.
    #[error("line {line}: a label is followed by `=` and a call, as in `#E1 = Search[planproof]`")]
    NoEquals {
        /// Counted from 1.
        line: usize,
    },
    /// A line that ends in the middle of a label. Only [`EvidenceRules::Rewoo`] minds.
    #[error("line {line}: `#` begins a label, as in `#E1 = Search[planproof]`")]
    NoLabel {
        /// Counted from 1.
        line: usize,
    },
    /// A label that is already in use; the latest counts.
    #[error("line {line}: the label {label} was given before")]
    Repeated {
        /// Counted from 1.
        line: usize,
        label: String,
    },
}

/// Reads the text of a planner.
///
/// Under [`EvidenceRules::Rewoo`] as its code does: marks stand at the beginning of their line; a label of two digits
/// or more has [`NO_EVIDENCE`] instead of its call; the first senseless line is fatal. Otherwise white space before
/// marks is ignored, labels have any number, lines without a mark belong to the plan before them, and senseless lines
/// are reported beside the rest.
///
/// # Errors
/// Under [`EvidenceRules::Rewoo`] the first senseless line; otherwise never.
pub fn read_plan(text: &str, rules: EvidenceRules) -> Result<PlanText, PlanLineFault> {
    let mut plan = PlanText::default();
    let is_strict = rules == EvidenceRules::Rewoo;
    let mut in_plan = false;
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let shown = if is_strict { line } else { line.trim() };
        if let Some(words) = shown.strip_prefix("Plan:") {
            plan.plans.push(words.trim().to_owned());
            in_plan = true;
        } else if let Some((label, rest)) = labelled(shown) {
            // Lines after a call do not continue the plan.
            in_plan = false;
            match rest.trim_start().strip_prefix('=') {
                Some(work) => plan.step(number, label, work.trim(), is_strict),
                None if is_strict => plan.after_first_equals(shown, number)?,
                None => plan.faults.push(PlanLineFault::NoEquals { line: number }),
            }
        } else if is_strict && matches!(shown, "#" | "#E") {
            return Err(PlanLineFault::NoLabel { line: number });
        } else if let Some(last) =
            plan.plans.last_mut().filter(|_| in_plan && !is_strict && !shown.is_empty())
        {
            last.push(' ');
            last.push_str(shown);
        }
    }
    Ok(plan)
}

impl PlanText {
    fn step(&mut self, line: usize, label: &str, work: &str, is_strict: bool) {
        let text = if is_strict && label.len() > "#E1".len() { NO_EVIDENCE } else { work };
        match self.steps.iter_mut().find(|step| step.label == label) {
            Some(step) => {
                text.clone_into(&mut step.text);
                if !is_strict {
                    self.faults.push(PlanLineFault::Repeated { line, label: label.to_owned() });
                }
            }
            None => self.steps.push(PlanStep { label: label.to_owned(), text: text.to_owned() }),
        }
    }

    /// ReWOO's code takes everything before the first equals sign for the label, wherever the sign is.
    fn after_first_equals(&mut self, text: &str, line: usize) -> Result<(), PlanLineFault> {
        let (label, work) = text.split_once('=').ok_or(PlanLineFault::NoEquals { line })?;
        self.step(line, label.trim(), work.trim(), true);
        Ok(())
    }
}

impl PlanStep {
    /// What the step requests: a call as `Tool[input]`, or else the text itself. Under [`EvidenceRules::Rewoo`] a
    /// space before the bracket belongs to the name, and the last character is dropped, whatever it is.
    pub fn work(&self, rules: EvidenceRules) -> PlannedWork<'_> {
        let Some((tool, input)) = self.text.split_once('[') else { return PlannedWork::Text(&self.text) };
        if rules == EvidenceRules::Rewoo {
            let mut characters = input.chars();
            characters.next_back();
            return PlannedWork::Call { tool, input: characters.as_str() };
        }
        // Up to the last bracket, because the input may have some of its own.
        let input = input.rsplit_once(']').map_or(input, |(input, _)| input);
        PlannedWork::Call { tool: tool.trim(), input: input.trim() }
    }
}

/// A line's label and what follows it.
fn labelled(line: &str) -> Option<(&str, &str)> {
    let number = line.strip_prefix("#E")?;
    let rest = number.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < number.len()).then(|| line.split_at(line.len() - rest.len()))
}
