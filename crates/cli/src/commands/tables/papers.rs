//! The tables of the papers as data: what makes each, and what of it cannot be compared.

use planproof_output::digest::sha256;
use planproof_output::failure::Failure;
use planproof_tools::process::shell_word;
use serde::Deserialize;

use crate::arguments::TablesArguments;

/// The data, which come with planproof.
const SHIPPED: &str = include_str!("../../../data/paper-tables.toml");

/// Stands for a model that is not named.
pub(super) const MODEL: &str = "MODEL";
/// Stands for a limit that is not known yet.
pub(super) const LIMIT: &str = "LIMIT";
/// Hexadecimal digits of the digest of data in a label: a store holds few of them.
const DIGITS: usize = 8;

/// All papers, with their tables and the command lines of these.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Papers {
    #[serde(rename = "paper")]
    pub(super) papers: Vec<Paper>,
    #[serde(rename = "line")]
    pub(super) lines: Vec<Line>,
    #[serde(rename = "table")]
    pub(super) tables: Vec<PaperTable>,
}

/// A paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Paper {
    pub(super) name: String,
    pub(super) source: String,
}

/// A command line that makes a part of tables. The data file explains its fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    pub(super) id: String,
    pub(super) command: String,
    pub(super) agents: Vec<String>,
    #[serde(default)]
    sets: String,
    #[serde(default)]
    keep: String,
    #[serde(default)]
    begin: String,
    #[serde(default)]
    full: String,
    small: String,
    #[serde(default)]
    data: bool,
    #[serde(default)]
    with_data: String,
    pub(super) needs: Option<String>,
    #[serde(default)]
    ends: String,
    pub(super) whole: String,
}

/// A table or figure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PaperTable {
    pub(super) paper: String,
    pub(super) name: String,
    pub(super) title: String,
    pub(super) measures: String,
    #[serde(default)]
    pub(super) lines: Vec<String>,
    #[serde(default)]
    pub(super) by_hand: Vec<String>,
    #[serde(default)]
    pub(super) shown: Shown,
    #[serde(default)]
    pub(super) rows: bool,
    #[serde(default)]
    pub(super) sections: Vec<String>,
    #[serde(default)]
    pub(super) captions: Vec<String>,
    #[serde(default)]
    pub(super) not_comparable: Vec<String>,
}

/// How a table is laid out.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Shown {
    /// Nothing is laid out.
    #[default]
    Nothing,
    /// As PDoctor's tables.
    Orders,
    /// As searches for limits.
    Limits,
    /// By the sections of its suite.
    Suite,
}

impl Papers {
    /// Those that come with planproof.
    pub(super) fn shipped() -> Result<Self, Failure> {
        toml::from_str(SHIPPED)
            .map_err(|error| Failure::outside(format!("the tables of the papers: {error}")))
    }

    /// The names of all papers.
    pub(super) fn names(&self) -> String {
        self.papers.iter().map(|paper| paper.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// The paper of that name.
    pub(super) fn paper(&self, name: &str) -> Option<&Paper> {
        self.papers.iter().find(|paper| paper.name == name)
    }

    /// The tables of a paper, in its order.
    pub(super) fn of<'a>(&'a self, paper: &'a Paper) -> impl Iterator<Item = &'a PaperTable> {
        self.tables.iter().filter(|table| table.paper == paper.name)
    }

    /// The table of that name, however it is written: `fig8`, `Fig. 8`.
    pub(super) fn table(&self, paper: &Paper, name: &str) -> Result<&PaperTable, Failure> {
        let plain: String =
            name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
        self.tables.iter().find(|table| table.paper == paper.name && table.name == plain).ok_or_else(|| {
            let names: Vec<&str> = self.of(paper).map(|table| table.name.as_str()).collect();
            Failure::usage(format!(
                "{} has no table \"{name}\" that planproof knows; it knows {}",
                paper.name,
                names.join(", ")
            ))
        })
    }

    /// The lines of a table, in the order in which they are run.
    pub(super) fn lines(&self, table: &PaperTable) -> Result<Vec<&Line>, Failure> {
        table.lines.iter().map(|id| self.line(id)).collect()
    }

    /// The line of that id.
    pub(super) fn line(&self, id: &str) -> Result<&Line, Failure> {
        let found = self.lines.iter().find(|line| line.id == id);
        found.ok_or_else(|| Failure::outside(format!("the tables of the papers have no line \"{id}\"")))
    }
}

impl Line {
    /// The suite of its cases, if it runs a benchmark.
    pub(super) fn suite(&self) -> Option<&str> {
        self.command.strip_prefix("bench ")
    }

    /// Whether its time budget ends its campaigns, so that they are complete then.
    pub(super) fn ends_with_time(&self) -> bool {
        self.ends == "minutes"
    }

    /// Whether its failures are dissected.
    pub(super) fn dissects(&self) -> bool {
        self.keep.contains("--dissect")
    }

    /// Its agents with a model, as far as it is known. Agents of a benchmark get the model by an option.
    pub(super) fn agents_with(&self, model: &str) -> Vec<String> {
        self.agents.iter().map(|agent| agent.replace("{model}", model)).collect()
    }

    /// The label of its campaigns, by which they are found again: whatever else makes cases and tools others is in it.
    pub(super) fn label(&self, request: &Request<'_>) -> String {
        let mut label = self.id.clone();
        if let Some(cases) = request.arguments.cases {
            label += &format!(", {cases} {}", if cases == 1 { "case" } else { "cases" });
        }
        let given = self.given(request);
        if !given.is_empty() {
            let mut digest = sha256(given.join("\0").as_bytes());
            digest.truncate(DIGITS);
            label += &format!(", data {digest}");
        }
        if request.seed != request.usual_seed {
            label += &format!(", seed {}", request.seed);
        }
        label
    }

    /// The data, pages and servers that the command line gives for it.
    fn given(&self, request: &Request<'_>) -> Vec<String> {
        let data = self.data_of(request).map(|data| format!("data {data}"));
        data.into_iter().chain(self.outside(request)).collect()
    }

    fn data_of(&self, request: &Request<'_>) -> Option<String> {
        let suite = self.suite().filter(|_| self.data)?;
        let (_, file) = request.arguments.data.iter().find(|(named, _)| named == suite)?;
        Some(file.to_string_lossy().into_owned())
    }

    /// What it reaches outside, which is named again when it is resumed.
    fn outside(&self, request: &Request<'_>) -> Vec<String> {
        let of = |option: &str, value: Option<String>| -> Vec<String> {
            let is_of =
                self.suite().is_some_and(|suite| planproof_doors::suites_with(option).contains(&suite));
            value.filter(|_| is_of).into_iter().flat_map(|value| [format!("--{option}"), value]).collect()
        };
        let media = request.arguments.media.as_ref().map(|file| file.to_string_lossy().into_owned());
        [of("pages", request.arguments.pages.clone()), of("media", media)].concat()
    }

    /// The words of a new campaign of one agent or, for a benchmark, of all of them with their `sets`.
    pub(super) fn begins(
        &self,
        agents: &[String],
        sets: bool,
        limit: &str,
        request: &Request<'_>,
    ) -> Vec<String> {
        let cases = request.arguments.cases.map(|cases| cases.to_string());
        let cases = match &cases {
            Some(cases) => self.small.replace("{cases}", cases),
            None => self.full.clone(),
        };
        let mut words: Vec<String> = split(&self.command).collect();
        words.extend(agents.iter().cloned());
        if sets {
            words.extend(split(&self.sets));
        }
        words.extend(split(&self.begin.replace("{limit}", limit)));
        words.extend(split(&cases));
        words.extend(split(&self.keep));
        if let Some(data) = self.data_of(request) {
            words.extend(["--data".to_owned(), data]);
            words.extend(split(&self.with_data));
        }
        words.extend(self.outside(request));
        words.extend(["--label".to_owned(), self.label(request)]);
        if request.seed != request.usual_seed {
            words.extend(["--seed".to_owned(), request.seed.to_string()]);
        }
        words
    }

    /// The words that resume a campaign of one agent.
    pub(super) fn resumes(&self, agent: &str, id: &str, request: &Request<'_>) -> Vec<String> {
        let mut words: Vec<String> = split(&self.command).collect();
        words.push(agent.to_owned());
        words.extend(["--resume".to_owned(), id.to_owned()]);
        words.extend(split(&self.keep));
        words.extend(self.outside(request));
        words
    }

    /// Whether published data can be named for it.
    pub(super) fn takes_data(&self) -> bool {
        self.data
    }

    /// The command lines of one of its agents, or of a benchmark, as people type them.
    pub(super) fn printed_for(
        &self,
        agent: &str,
        model: &str,
        limit: &str,
        request: &Request<'_>,
    ) -> Vec<Vec<String>> {
        match self.suite() {
            Some(_) => self.printed(model, limit, request),
            None => vec![self.begins(&[agent.to_owned()], true, limit, request)],
        }
    }

    /// Its command lines as people type them, for that model.
    pub(super) fn printed(&self, model: &str, limit: &str, request: &Request<'_>) -> Vec<Vec<String>> {
        let agents = self.agents_with(model);
        match self.suite() {
            Some(_) => {
                let mut words = self.begins(&agents, true, limit, request);
                let place = split(&self.command).count() + agents.len();
                words.splice(place..place, ["--model".to_owned(), model.to_owned()]);
                vec![words]
            }
            None => agents
                .iter()
                .map(|agent| self.begins(std::slice::from_ref(agent), true, limit, request))
                .collect(),
        }
    }
}

/// What the command line asks for.
pub(super) struct Request<'a> {
    pub(super) arguments: &'a TablesArguments,
    pub(super) seed: u64,
    /// The seed if none is given.
    pub(super) usual_seed: u64,
}

/// Words that hold no blanks.
fn split(text: &str) -> impl Iterator<Item = String> {
    text.split_whitespace().map(str::to_owned)
}

/// A command line for a shell.
pub(super) fn command_line(words: &[String]) -> String {
    let words = words.iter().map(|word| shell_word(word));
    std::iter::once("planproof".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, Command};
    use crate::command_line;
    use clap::Parser as _;
    use planproof_output::values::Signed;

    fn tables(words: &str) -> Signed<TablesArguments> {
        let line = format!("planproof tables {words}");
        match Arguments::try_parse_from(line.split(' ')).expect(words).command {
            Command::Tables(arguments) => arguments,
            other => panic!("{other:?}"),
        }
    }

    /// Every line is one that the command takes, whole or small, with data or without.
    #[test]
    fn every_command_line_parses() {
        let papers = Papers::shipped().unwrap();
        let mut parsed = 0;
        for options in
            ["", " --cases 5", " --data gsm8k=a.jsonl --data travelplanner=data --pages search:wiki"]
        {
            let arguments = tables(&format!("pdoctor{options}"));
            let request = Request { arguments: &arguments, seed: 7, usual_seed: 7 };
            for line in &papers.lines {
                let resumed = line.resumes(&line.agents_with("sim/gold")[0], "1a20e65", &request);
                for words in line.printed("sim/gold", "4", &request).into_iter().chain([resumed]) {
                    let shown = command_line(&words);
                    let words = ["planproof", "--config", "none"].into_iter().map(str::to_owned).chain(words);
                    let read = command_line::parse(words.map(Into::into).collect());
                    assert!(
                        read.is_ok(),
                        "{shown}: {}",
                        read.err().map(|it| it.describe()).unwrap_or_default()
                    );
                    parsed += 1;
                }
            }
        }
        assert!(parsed > 100, "{parsed}");
        for words in papers.tables.iter().flat_map(|table| &table.by_hand) {
            let words = std::iter::once("planproof").chain(words.split(' '));
            assert!(Arguments::try_parse_from(words).is_ok());
        }
    }

    #[test]
    fn every_table_of_the_papers_is_known_and_whole() {
        let papers = Papers::shipped().unwrap();
        let numbers = |paper: &str| -> Vec<&str> {
            papers.of(papers.paper(paper).unwrap()).map(|table| table.name.as_str()).collect()
        };
        assert_eq!(numbers("pdoctor"), ["1", "2", "3", "4", "5", "6", "7", "fig8", "fig9"]);
        assert_eq!(numbers("behaviour"), ["1", "2"]);
        let mnms = ["3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15"];
        assert_eq!(numbers("mnms"), mnms);
        assert_eq!(numbers("pmc"), ["1", "2", "3", "4", "5", "6", "7"]);
        assert_eq!(numbers("tptu"), ["3", "4", "5", "6", "7", "8", "9", "10", "11"]);
        for table in &papers.tables {
            assert!(papers.lines(table).is_ok(), "{} {}", table.paper, table.name);
            assert_eq!(
                table.lines.is_empty(),
                table.shown == Shown::Nothing,
                "{} {}",
                table.paper,
                table.name
            );
        }
        let arguments =
            tables("pdoctor --cases 100000 --data gsm8k=a --data travelplanner=b --media c --pages d");
        let request = Request { arguments: &arguments, seed: u64::MAX, usual_seed: 7 };
        for line in &papers.lines {
            let used = papers.tables.iter().any(|table| table.lines.contains(&line.id));
            let needed = line.needs.as_ref().is_none_or(|id| papers.line(id).is_ok());
            assert!(used && needed, "{}", line.id);
            assert!(line.label(&request).chars().count() <= 80, "{}", line.label(&request));
        }
    }

    #[test]
    fn tables_are_found_however_they_are_written() {
        let papers = Papers::shipped().unwrap();
        let paper = papers.paper("pdoctor").unwrap();
        for name in ["fig8", "Fig. 8", "FIG8"] {
            assert_eq!(papers.table(paper, name).unwrap().name, "fig8");
        }
        let error = papers.table(paper, "8").unwrap_err().describe();
        assert!(error.contains("1, 2, 3, 4, 5, 6, 7, fig8, fig9"), "{error}");
    }
}
