//! The arguments of `planproof spec`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct SpecArguments {
    #[command(subcommand)]
    pub(crate) command: SpecCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SpecCommand {
    /// Check specifications: all that is wrong with them at once, with the lines.
    Check {
        /// Files of specifications, or names of shipped ones (direct, cot, react, rewoo, reflexion, pass); `-` for
        /// stdin.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<String>,
        /// Warnings count as errors.
        #[arg(long)]
        deny_warnings: bool,
        /// Check the files against these tools as well, named as for `run`. May be given several times.
        #[arg(long, value_name = "SOURCE")]
        tools: Vec<String>,
        /// Check the files against the tools of the cases in this file as well.
        #[arg(long, value_name = "FILE")]
        case: Option<PathBuf>,
        #[command(flatten)]
        dialect: DialectArguments,
    },
    /// Walk through a specification: what may come next at each step, and whether a run may end there.
    Step {
        /// A file of a specification, or the name of a shipped one; `-` for stdin.
        #[arg(value_name = "FILE")]
        file: String,
        /// The states that are proposed, in order. `STATE=TOOL` says which tool is called by the call that
        /// this state completes, `STATE=TOOL{"ARGUMENT": VALUE}` also with what. A state that may not come
        /// next is refused, and the walk stays where it is.
        #[arg(long, value_name = "STATE,STATE,...", default_value = "")]
        states: String,
        #[command(flatten)]
        dialect: DialectArguments,
    },
    /// Print a specification in its usual form.
    Print {
        /// A file of a specification, or the name of a shipped one; `-` for stdin.
        #[arg(value_name = "FILE")]
        file: String,
        #[command(flatten)]
        dialect: DialectArguments,
    },
    /// Print the states of a specification and which may follow which, as a graph.
    Graph {
        /// A file of a specification, or the name of a shipped one; `-` for stdin.
        #[arg(value_name = "FILE")]
        file: String,
        /// What to print the graph as.
        #[arg(long, value_enum, default_value_t = GraphFormat::Dot, value_name = "FORMAT")]
        format: GraphFormat,
        #[command(flatten)]
        dialect: DialectArguments,
    },
    /// Print a grammar of the texts that a specification allows, for servers that hold a model to a grammar.
    Compile {
        /// A file of a specification, or the name of a shipped one; `-` for stdin.
        #[arg(value_name = "FILE")]
        file: String,
        /// The language of the grammar.
        #[arg(long, value_enum, value_name = "LANGUAGE")]
        to: GrammarLanguage,
        /// The names of the tools: the grammar takes no other where a tool's name is demanded.
        #[arg(long, value_name = "TOOL,TOOL,...", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
        tools: Vec<String>,
        #[command(flatten)]
        dialect: DialectArguments,
    },
}

/// What `spec graph` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// For Graphviz.
    Dot,
    /// For Mermaid, which Markdown on GitHub and GitLab shows.
    Mermaid,
    /// A picture, of up to 40 states.
    Svg,
}

/// What `spec compile` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GrammarLanguage {
    /// A regular expression without look-around.
    Regex,
    /// The grammars of llama.cpp.
    Gbnf,
    /// The variant of Lark that llguidance reads.
    Lark,
}

/// Which reading of specifications.
#[derive(Debug, Args)]
pub(crate) struct DialectArguments {
    /// Follow the published implementation where it departs from the paper or from us.
    #[arg(long, value_enum, default_value_t = Compat::Ours, value_name = "WHOSE")]
    pub(crate) compat: Compat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compat {
    /// What the documentation says.
    Ours,
    /// As the published code does.
    Original,
}
