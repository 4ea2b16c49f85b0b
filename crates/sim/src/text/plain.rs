//! Side texts that agents request apart from a run: summaries, answers from evidence, judgements. They are recognised
//! by the beginning of their prompts.

/// Most characters that are repeated from one statement.
const STATEMENT_CHARACTERS_MAX: usize = 160;

/// The answer to a prompt of one of these kinds.
///
/// - A summary shortens the results: for each statement how long a task took, if it says so, else its first
///   sentence.
/// - An answer from plans and evidence says that all tasks are done.
/// - A judgement finds no fault, whatever is judged: a simulation without tools cannot read the question.
pub(super) fn answer(prompt: &str) -> Option<String> {
    if prompt.trim_start().starts_with("Answer the question from the plans ") {
        Some("All tasks are done.".to_owned())
    } else {
        aside(prompt)
    }
}

/// The same except answers, which depend on the model's knowledge: a summary or a judgement.
pub(super) fn aside(prompt: &str) -> Option<String> {
    let text = prompt.trim_start();
    if text.starts_with("Summarise ") {
        Some(summary(text))
    } else if text.starts_with("Judge whether ") {
        Some("Correct. Nothing speaks against it.".to_owned())
    } else {
        None
    }
}

fn summary(prompt: &str) -> String {
    let lines = prompt.lines().skip_while(|line| line.trim_end() != "Statements:").skip(1);
    let lines = lines.take_while(|line| !line.starts_with("Context:"));
    let statements: Vec<String> = lines.filter_map(|line| line.strip_prefix("- ")).map(shortened).collect();
    if statements.is_empty() { "Nothing is said.".to_owned() } else { statements.join(" ") }
}

fn shortened(statement: &str) -> String {
    let part = match statement.find("It took ") {
        Some(start) => &statement[start..],
        None => statement.find(". ").map_or(statement, |end| &statement[..=end]),
    };
    part.chars().take(STATEMENT_CHARACTERS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn side_texts_are_answered() {
        let prompt = "Summarise in one line.\n\nStatements:\n- The task \"x\" is done. It took 5 minutes.\n- One. Two.\n\
                      Context: Why?\nGoal: - none\nSummary:";
        assert_eq!(answer(prompt).as_deref(), Some("It took 5 minutes. One."));
        assert_eq!(answer("Summarise this.").as_deref(), Some("Nothing is said."));
        assert!(answer("Judge whether the answer is right.").is_some_and(|it| it.starts_with("Correct")));
        assert_eq!(answer("Why?"), None);
    }
}
