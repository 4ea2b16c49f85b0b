//! Command lines of planproof that reports offer as next steps, for a POSIX shell.

use planproof_tools::process::shell_word;

/// The common parts of the command lines for a campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLines {
    command: String,
    store: String,
    agent: String,
}

impl CommandLines {
    /// `command` is the command that creates such campaigns, such as `test`, `limit` or `bench gsm8k`. `store` is
    /// the path of the run store, unless it is the default one. `agent` contains the unquoted arguments that tell
    /// this command which agent to use and how to run it.
    pub fn new<'a>(command: &str, store: Option<&str>, agent: impl IntoIterator<Item = &'a str>) -> Self {
        let agent: Vec<String> = agent.into_iter().map(shell_word).collect();
        Self {
            command: command.to_owned(),
            store: store.map(|path| format!(" --store {}", shell_word(path))).unwrap_or_default(),
            agent: agent.join(" "),
        }
    }

    /// A command line from these words, which are already quoted, and the run store.
    pub fn line(&self, words: &str) -> String {
        format!("planproof {words}{}", self.store)
    }

    /// Shows one run with its trace. The repeat can be omitted if there is only one.
    pub fn see(&self, campaign: &str, case: &str, repeat: Option<u32>) -> String {
        let repeat = repeat.map(|repeat| format!(" --repeat {repeat}")).unwrap_or_default();
        self.line(&format!("runs show {} --case {}{repeat}", shell_word(campaign), one_line_word(case)))
    }

    /// Runs the rest of a campaign and retries unscored runs.
    pub fn resume(&self, campaign: &str) -> String {
        self.line(&format!("{} --resume {}", self.command, shell_word(campaign)))
    }

    /// Tests the same agent again on one case of a campaign.
    pub fn run_again(&self, campaign: &str, case: &str) -> String {
        let (campaign, case) = (shell_word(campaign), one_line_word(case));
        let case = self.line(&format!("runs export {campaign} --format cases --case {case}"));
        // A single case is not enough to search for a limit.
        let command = if self.command == "limit" { "test" } else { &self.command };
        format!("{case} | {}", self.line(&format!("{command} {} --from -", self.agent)))
    }

    /// The quoted arguments that select the agent and how to run it.
    pub fn agent(&self) -> &str {
        &self.agent
    }
}

/// Resumes the campaign or matrix with this id, which `command` creates, in the run store at this path, unless it
/// is the default one.
pub fn campaign_line(command: &str, store: Option<&str>, id: &str) -> String {
    CommandLines::new(command, store, []).resume(id)
}

/// Quotes the id of a case as one word for a POSIX shell, in one line. Ids come from files, and one with a line break
/// could otherwise begin a line that looks like another command of ours. `$'...'` is of POSIX since 2024, and known to
/// most shells.
fn one_line_word(text: &str) -> String {
    if !text.contains(char::is_control) {
        return shell_word(text);
    }
    let mut word = String::from("$'");
    for c in text.chars() {
        match c {
            '\n' => word.push_str(r"\n"),
            '\'' | '\\' => word.extend(['\\', c]),
            c if c.is_control() => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    word += &format!("\\{byte:03o}");
                }
            }
            c => word.push(c),
        }
    }
    word.push('\'');
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_one_word_of_a_shell() {
        for (text, word) in [
            ("7-3", "7-3"),
            ("tools@sim/x", "tools@sim/x"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's;$(x)", r"'it'\''s;$(x)'"),
        ] {
            assert_eq!(shell_word(text), word);
            assert_eq!(one_line_word(text), word);
        }
    }

    #[test]
    fn ids_of_cases_begin_no_line() {
        let lines = CommandLines::new("test", None, ["tools@sim/x"]);
        let id = "a\n  see it:   it's \\ \u{1b}1\u{9b}";
        let word = r"$'a\n  see it:   it\'s \\ \0331\302\233'";
        assert_eq!(lines.see("c", id, None), format!("planproof runs show c --case {word}"));
        assert!(lines.run_again("c", id).contains(&format!(" --case {word} | planproof test ")));
    }

    #[test]
    fn lines_name_the_store_and_how_the_agent_is_run() {
        let agent = ["command:python a.py", "--serve-model", "openai/x"];
        let lines = CommandLines::new("test", Some("my runs.db"), agent);
        assert_eq!(
            lines.run_again("7 a", "7-3.shrunk"),
            "planproof runs export '7 a' --format cases --case 7-3.shrunk --store 'my runs.db' \
             | planproof test 'command:python a.py' --serve-model openai/x --from - --store 'my runs.db'"
        );
        assert_eq!(
            lines.see("c", "7-3", Some(2)),
            "planproof runs show c --case 7-3 --repeat 2 --store 'my runs.db'"
        );
        let lines = CommandLines::new("limit", None, ["tools@sim/perfect"]);
        assert_eq!(lines.resume("c"), "planproof limit --resume c");
        assert_eq!(lines.see("c", "7-3", None), "planproof runs show c --case 7-3");
    }
}
