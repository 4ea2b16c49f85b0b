//! The help that fits one screen: `-h` of a command with many options shows those that most people want, and says
//! that `--help` has the others.

use clap::{Arg, ArgAction, Command};

/// The options in the short help of a command, and its arguments without a name. Commands that are not here have few
/// options, and show all of them.
const SHOWN: [(&str, &str); 3] = [
    (
        "test",
        "agent cases seed json actions topics time concurrency serve_model label repeat max_cost record \
         replay resume dissect html csv junit",
    ),
    (
        "limit",
        "agent from to threshold seed json topics time concurrency serve_model label max_cost record \
         replay resume html",
    ),
    (
        "bench",
        "suite agent others data set limit seed json concurrency serve_model label repeat max_cost record \
         replay resume html csv junit",
    ),
];

/// The command line with short helps.
pub(crate) fn with_short_helps(root: Command) -> Command {
    SHOWN.iter().fold(root, |root, (name, shown)| {
        let shown: Vec<&str> = shown.split_whitespace().collect();
        root.mut_subcommand(name, |command| {
            let hide = |argument: Arg| {
                let is_shown = shown.contains(&argument.get_id().as_str());
                let is_help = matches!(argument.get_action(), ArgAction::Help | ArgAction::HelpShort);
                if is_shown || is_help { argument } else { argument.hide_short_help(true) }
            };
            let more = format!("All options, and each in more words: planproof {name} --help");
            let after = match command.get_after_help() {
                Some(examples) => format!("{examples}\n\n{more}"),
                None => more,
            };
            let long = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            command.mut_args(hide).after_help(after).after_long_help(long)
        })
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::arguments::idle::without_idle_options;
    use crate::values::command;

    /// Lines of a terminal that many people have.
    const SCREEN: usize = 56;

    #[test]
    fn a_short_help_fits_one_screen_and_names_options_that_exist() {
        let mut root = with_short_helps(without_idle_options(command()));
        for (name, shown) in SHOWN {
            let shown: Vec<&str> = shown.split_whitespace().collect();
            let command = root.find_subcommand_mut(name).unwrap_or_else(|| panic!("there is no {name}"));
            let ids: BTreeSet<String> =
                command.get_arguments().map(|argument| argument.get_id().to_string()).collect();
            let unknown: Vec<_> = shown.iter().filter(|id| !ids.contains(&***id)).collect();
            assert!(unknown.is_empty(), "{name} has no {unknown:?}");
            let (short, long) = (command.render_help().to_string(), command.render_long_help().to_string());
            assert!(short.lines().count() <= SCREEN, "{name}: {} lines\n{short}", short.lines().count());
            assert!(short.contains("--help") && short.contains("--seed"), "{short}");
            // An argument or an option under a heading that it does not belong to is not found.
            let has = |heading: &str, name: &str| long.contains(&format!("\n{heading}:\n  {name}"));
            assert!(has("Arguments", "["), "{long}");
            assert!(has("Campaign", "    --label"), "{long}");
            let hidden = ids.iter().filter(|id| !shown.contains(&id.as_str())).count();
            assert!(hidden > 10 && long.lines().count() > 2 * SCREEN, "{name}: {hidden}");
        }
    }
}
