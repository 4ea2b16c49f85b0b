//! The commands by what they are for, as the help of `planproof` lists them.

use std::fmt::Write as _;

use clap::Command;

/// Columns of the help. It is also read in documents and build logs, so a wide terminal does not widen it.
const WIDTH: usize = 80;

/// Each group's heading and its commands, the most wanted first.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Test agents", &["demo", "test", "limit", "bench", "score", "run", "shard"]),
    ("Look at results", &["report", "view", "runs", "tables"]),
    ("Make and judge cases", &["scenario", "synth", "topics", "read", "check", "mnms"]),
    ("Specify behaviour", &["spec", "rules", "guard", "hook", "prompts"]),
    ("Check and serve models and tools", &["models", "serve-model", "serve-tools", "serve-media"]),
    ("Set up", &["init", "doctor", "completions", "man"]),
];

/// `command` with a help that lists its sub-commands in groups.
pub(crate) fn in_groups(command: Command) -> Command {
    let heading = command.get_styles().get_header();
    let name = command.get_styles().get_literal();
    let mut help = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    for (title, names) in GROUPS {
        let _ = writeln!(help, "\n{heading}{title}:{heading:#}");
        let listed = |wanted: &&str| command.find_subcommand(wanted);
        for found in names.iter().filter_map(listed) {
            let about = found.get_about().map(ToString::to_string).unwrap_or_default();
            let mut lines = textwrap::wrap(&about, WIDTH - INDENT).into_iter();
            let first = lines.next().unwrap_or_default();
            // The longest names have 11 characters, which make `INDENT` columns with the blanks around them.
            let _ = writeln!(help, "  {name}{:<11}{name:#}  {first}", found.get_name());
            for line in lines {
                let _ = writeln!(help, "{:INDENT$}{line}", "");
            }
        }
    }
    // `{all-args}` would list the commands once more.
    let _ = write!(help, "\n{heading}Options:{heading:#}\n{{options}}{{after-help}}");
    command.help_template(help)
}

/// Columns before what a command is about.
const INDENT: usize = 15;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;

    use super::*;
    use crate::arguments::Arguments;

    #[test]
    fn each_command_stands_in_one_group() {
        let command = Arguments::command();
        let all: BTreeSet<&str> = command.get_subcommands().map(Command::get_name).collect();
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        assert_eq!(grouped.len(), all.len(), "{grouped:?}");
        assert_eq!(grouped.into_iter().collect::<BTreeSet<_>>(), all);
    }

    #[test]
    fn the_help_fits_eighty_columns() {
        let help = in_groups(Arguments::command()).render_help().to_string();
        let wide: Vec<&str> = help.lines().filter(|line| line.chars().count() > 100).collect();
        assert!(help.contains("\nTest agents:\n  demo ") && wide.is_empty(), "{help}");
        for (title, names) in GROUPS {
            let group =
                help.split(&format!("\n{title}:\n")).nth(1).and_then(|rest| rest.split("\n\n").next());
            let group = group.unwrap_or_default();
            assert!(names.iter().all(|name| group.contains(&format!("  {name} "))), "{title}: {group}");
            assert!(group.lines().all(|line| line.chars().count() <= WIDTH), "{group}");
        }
    }
}
