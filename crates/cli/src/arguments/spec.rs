//! The arguments of `planproof spec`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof spec print react > my.spec\n  \
              planproof spec check my.spec\n  \
              planproof spec graph my.spec --format svg > my.svg")]
pub(crate) struct SpecArguments {
    #[command(subcommand)]
    pub(crate) command: SpecCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SpecCommand {
    /// Check specifications, and report all problems with their lines.
    #[command(after_help = "Examples:\n  \
                  planproof spec check react\n  \
                  planproof spec check my.spec --tools calculator --deny-warnings")]
    Check {
        /// Specification files, or names of shipped specifications; `-` for stdin.
        ///
        /// The shipped ones are direct, cot, react, rewoo, reflexion and pass.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<String>,
        /// Treat warnings as errors.
        #[arg(long)]
        deny_warnings: bool,
        /// Also check against these tools, as with `planproof run --tools`. Repeatable.
        #[arg(long, value_name = "SOURCE")]
        tools: Vec<String>,
        /// Also check against the tools of the cases in this file.
        #[arg(long, value_name = "FILE")]
        case: Option<PathBuf>,
        #[command(flatten)]
        dialect: DialectArguments,
    },
    /// Walk through a specification.
    ///
    /// Shows what may come next at each step, and whether a run may end there.
    #[command(after_help = "Examples:\n  \
                  planproof spec step react\n  \
                  planproof spec step react --states Ques,Tht,Act")]
    Step {
        /// Specification file, or name of a shipped specification; `-` for stdin.
        #[arg(value_name = "FILE")]
        file: String,
        /// States to propose, in order.
        ///
        /// `STATE=TOOL` names the tool of the call that the state completes, and `STATE=TOOL{"ARGUMENT": VALUE}` also
        /// gives its arguments. A state that may not come next is rejected, and the walk stays where it is.
        #[arg(long, value_name = "STATE,STATE,...", default_value = "")]
        states: String,
        #[command(flatten)]
        dialect: DialectArguments,
    },
    /// Print a specification in canonical form.
    #[command(after_help = "Examples:\n  \
                  planproof spec print react > my.spec")]
    Print {
        /// Specification file, or name of a shipped specification; `-` for stdin.
        #[arg(value_name = "FILE")]
        file: String,
        #[command(flatten)]
        dialect: DialectArguments,
    },
    /// Print the graph of the states of a specification.
    #[command(after_help = "Examples:\n  \
                  planproof spec graph react --format mermaid\n  \
                  planproof spec graph my.spec | dot -Tpng > my.png")]
    Graph {
        /// Specification file, or name of a shipped specification; `-` for stdin.
        #[arg(value_name = "FILE")]
        file: String,
        /// Output format.
        #[arg(long, value_enum, default_value_t = GraphFormat::Dot, value_name = "FORMAT")]
        format: GraphFormat,
        #[command(flatten)]
        dialect: DialectArguments,
    },
    /// Print the grammar of the texts that a specification allows, for constrained decoding.
    #[command(after_help = "Examples:\n  \
                  planproof spec compile react --to gbnf\n  \
                  planproof spec compile my.spec --to lark --tools find_page,send_mail")]
    Compile {
        /// Specification file, or name of a shipped specification; `-` for stdin.
        #[arg(value_name = "FILE")]
        file: String,
        /// Grammar language.
        #[arg(long, value_enum, value_name = "LANGUAGE")]
        to: GrammarLanguage,
        /// Tool names: the grammar accepts only these where a tool name is required.
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
    /// For Mermaid, which GitHub and GitLab show in Markdown.
    Mermaid,
    /// A picture of up to 40 states.
    Svg,
}

/// What `spec compile` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GrammarLanguage {
    /// A regular expression without look-around.
    Regex,
    /// GBNF, the grammar language of llama.cpp.
    Gbnf,
    /// The variant of Lark that llguidance reads.
    Lark,
}

/// Which reading of specifications.
#[derive(Debug, Args)]
pub(crate) struct DialectArguments {
    /// Which semantics to use where the published implementation differs from the paper or from planproof.
    #[arg(long, value_enum, default_value_t = Compat::Ours, value_name = "WHOSE")]
    pub(crate) compat: Compat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compat {
    /// As planproof documents them.
    Ours,
    /// As in the published code.
    Original,
}
