//! A file of scenarios: YAML, with every fault at its place.

mod expected;
mod rules;
mod tools;
mod world;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use planproof_spec::nearest;
use planproof_spec::rules::search::Found;
use planproof_spec::rules::tree::{self, Kind, Node};
use planproof_spec::rules::{RulesPlace, TextFlag, text_flags};
use planproof_suite::{CaseError, Data};
use planproof_trace::faults::{FaultShares, ToolFaults};
use serde_json::{Map, Value};

use crate::case::Scenario;
use crate::limits::{CASES_MAX, FAULTS_MAX, TURNS_MAX};
use crate::line::{CASE_SCHEMA, CaseLine, WorldTool};
use crate::shared::Shared;
use crate::state::beginning;
use expected::Expected;
use rules::{FileRules, Vocabulary};
use world::unknown_tool;

/// The name of the format, as the files have it.
pub const SCHEMA: &str = "planproof/scenario/v1";

/// A JSON Schema of the files, for editors. It knows the keys and their types; [`Scenarios`](crate::Scenarios) knows
/// more.
pub const JSON_SCHEMA: &str = include_str!("../data/scenario.schema.json");

/// The keys of an expectation that are those of rules.
const DEMANDS: [&str; 10] = [
    "requires",
    "followed-by",
    "never-after",
    "never",
    "at-most",
    "at-least",
    "first",
    "last",
    "takes",
    "formula",
];

/// Reads a text file that a file of scenarios names. It gets the path as it is to be opened.
pub(crate) type ReadFile = Arc<dyn Fn(&str, &str) -> Result<String, String> + Send + Sync>;

/// A case and the places of what it demands.
pub(crate) struct Placed {
    pub(crate) case: Scenario,
    pub(crate) place: RulesPlace,
    /// Those of all its rules: the file's, then what is expected. [`None`]: the rule stands in another file.
    pub(crate) places: Vec<Option<RulesPlace>>,
    /// That of the list of tools which alone may be called.
    pub(crate) only: Option<RulesPlace>,
    /// Texts of the case, and of what all cases share if it is the first, that look like true or false.
    pub(crate) flags: Vec<TextFlag>,
}

/// Reads the cases of a file, whether they can be satisfied or not.
///
/// # Errors
/// Its faults, up to [`FAULTS_MAX`]; never none.
pub(crate) fn read_all(data: Data<'_>, read_file: Option<&ReadFile>) -> Result<Vec<Placed>, Vec<CaseError>> {
    let reader = Reader { file: data.file, text: data.text, read_file, faults: RefCell::default() };
    let read = reader.file(data.text);
    let mut faults = reader.faults.into_inner();
    match read {
        Ok(cases) if faults.is_empty() => Ok(cases),
        read => {
            faults.extend(read.err());
            Err(faults)
        }
    }
}

/// Reads the cases of a file, each with its right session.
///
/// # Errors
/// Its faults, each in a line of its own.
pub(crate) fn read(data: Data<'_>, read_file: Option<&ReadFile>) -> Result<Vec<Scenario>, CaseError> {
    let measured = |Placed { case, place, .. }: Placed| match case.right() {
        // A case that is too large to search is run all the same; its right session is not known.
        Found::Session(_) | Found::TooMany => Ok(case.measured()),
        Found::None => {
            let what = format!(
                "case `{}` cannot be satisfied: no session of these tools in this world holds all that is expected; \
                 `planproof scenario check` names what is to blame",
                case.line.id
            );
            Err(CaseError::new(format!("{}:{place}: {what}", data.file)))
        }
    };
    let cases = read_all(data, read_file).map_err(|faults| in_lines(&faults))?;
    cases.into_iter().map(measured).collect()
}

/// Several faults as one error, each in a line of its own.
pub(crate) fn in_lines(faults: &[CaseError]) -> CaseError {
    let lines: Vec<&str> = faults.iter().map(|fault| fault.what.as_str()).collect();
    CaseError::new(lines.join("\n"))
}

struct Reader<'a> {
    file: &'a str,
    text: &'a str,
    read_file: Option<&'a ReadFile>,
    /// Faults after which something else of the file can still be read.
    faults: RefCell<Vec<CaseError>>,
}

/// What all cases of a file have in common.
struct Common {
    tools: Vec<WorldTool>,
    rules: FileRules,
    shown: bool,
    faults: BTreeMap<String, FaultShares>,
    /// The values that worlds begin with, unless a case says otherwise.
    state: Map<String, Value>,
}

/// The name that stands for all tools that `faults` does not name.
const ANY_TOOL: &str = "*";

/// The failures of a case, which are the same in every campaign.
fn faults_of(id: &str, mut shares: BTreeMap<String, FaultShares>) -> ToolFaults {
    let all = shares.remove(ANY_TOOL).unwrap_or_default();
    ToolFaults { tools: shares, ..ToolFaults::of_case(id, 0, all) }
}

type Entries<'n> = &'n [(String, RulesPlace, Node)];

impl Reader<'_> {
    /// Keeps a fault, so that what else is wrong is reported as well.
    fn noted<T>(&self, read: Result<T, CaseError>) -> Option<T> {
        match read {
            Ok(value) => Some(value),
            Err(fault) => {
                let mut faults = self.faults.borrow_mut();
                if faults.len() < FAULTS_MAX {
                    faults.push(fault);
                }
                None
            }
        }
    }

    /// Keeps all but the last of some faults, and returns that.
    fn last_of(&self, faults: impl IntoIterator<Item = CaseError>) -> Option<CaseError> {
        let mut last = None;
        for fault in faults {
            if let Some(earlier) = last.replace(fault) {
                self.noted::<()>(Err(earlier));
            }
        }
        last
    }

    fn faults_so_far(&self) -> usize {
        self.faults.borrow().len()
    }

    fn fault(&self, place: RulesPlace, what: impl AsRef<str>) -> CaseError {
        CaseError::new(format!("{}:{place}: {}", self.file, what.as_ref()))
    }

    fn map<'n>(&self, node: &'n Node, what: &str, keys: &[&str]) -> Result<Entries<'n>, CaseError> {
        let Kind::Map(entries) = &node.kind else {
            let text = format!("{what} is {}, not a map; write {}", node.describe(), keys.join(", "));
            return Err(self.fault(node.place, text));
        };
        let unknown = entries.iter().filter(|(key, ..)| !keys.contains(&key.as_str()));
        let faults = unknown.map(|(key, place, _)| {
            let help = match nearest(key, keys.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it may have {}", keys.join(", ")),
            };
            self.fault(*place, format!("{what} has no key `{key}`; {help}"))
        });
        self.last_of(faults).map_or(Ok(entries), Err)
    }

    fn text<'n>(&self, node: &'n Node, what: &str) -> Result<&'n str, CaseError> {
        match node.text() {
            Some(text) if !text.trim().is_empty() => Ok(text),
            Some(_) => Err(self.fault(node.place, format!("{what} is blank: write a text"))),
            None => Err(self.fault(node.place, format!("{what} is {}, not a text", node.describe()))),
        }
    }

    /// The items of a list, which `form` shows.
    fn list<'n>(&self, node: &'n Node, what: &str, form: &str) -> Result<&'n [Node], CaseError> {
        match &node.kind {
            Kind::List(items) => Ok(items),
            _ => {
                let text = format!("{what} is {}, not a list; write {form}", node.describe());
                Err(self.fault(node.place, text))
            }
        }
    }

    fn flag(&self, node: &Node, what: &str) -> Result<bool, CaseError> {
        let flag = node.value().as_bool();
        flag.ok_or_else(|| {
            self.fault(node.place, format!("{what} is {}, not true or false", node.describe()))
        })
    }

    fn file(&self, text: &str) -> Result<Vec<Placed>, CaseError> {
        let root = tree::read(text).map_err(|fault| CaseError::new(format!("{}:{fault}", self.file)))?;
        let entries =
            self.map(&root, "the file", &["schema", "tools", "rules", "shown", "faults", "state", "cases"])?;
        match get(entries, "schema") {
            Some(node) if node.text() == Some(SCHEMA) => {}
            Some(node) => {
                let what = format!("the schema is {}; write `schema: {SCHEMA}`", node.describe());
                return Err(self.fault(node.place, what));
            }
            None => {
                return Err(
                    self.fault(root.place, format!("the file names no schema; write `schema: {SCHEMA}`"))
                );
            }
        }
        let tools = get(entries, "tools");
        let tools = tools
            .ok_or_else(|| self.fault(root.place, "the file has no `tools`; list them, or name a file"))?;
        let tools = self.tools(tools)?;
        let rules = get(entries, "rules").and_then(|node| self.noted(self.rules(node, &tools)));
        let rules = rules.unwrap_or_default();
        let shown = get(entries, "shown").and_then(|node| self.noted(self.flag(node, "`shown`")));
        let shown = shown.unwrap_or(true);
        let faults = get(entries, "faults").and_then(|node| self.noted(self.faults(node, &tools)));
        let faults = faults.unwrap_or_default();
        let state = match get(entries, "state") {
            // Whatever needs a value of it would be at fault, too.
            Some(node) => self.state(node)?,
            None => Map::new(),
        };
        let common = Common { tools, rules, shown, faults, state };
        let cases = get(entries, "cases");
        let cases = cases.ok_or_else(|| self.fault(root.place, "the file has no `cases`; list them"))?;
        let items = self.list(cases, "`cases`", "a `-` before each case")?;
        if items.is_empty() || items.len() > CASES_MAX {
            let what = format!("the file has {} cases; it may have 1 to {CASES_MAX}", items.len());
            return Err(self.fault(cases.place, what));
        }
        let mut ids = BTreeSet::new();
        let mut read = Vec::new();
        for item in items {
            if self.faults_so_far() >= FAULTS_MAX {
                break;
            }
            read.extend(self.noted(self.case(item, &common, &mut ids)).flatten());
        }
        let mut cases: Vec<Placed> = read;
        if self.faults_so_far() > 0 {
            return Ok(cases);
        }
        for flag in text_flags(&root, self.text) {
            let of = cases.iter().rposition(|placed| placed.place <= flag.place).unwrap_or(0);
            if let Some(placed) = cases.get_mut(of) {
                placed.flags.push(flag);
            }
        }
        let is_said = |words: &str| cases.iter().any(|placed| placed.case.line.query.contains(words));
        match common.rules.said.values().find(|(words, _)| !is_said(words)) {
            Some((words, place)) => {
                Err(self.fault(*place, format!("no query says `{words}`: copy its words as they are")))
            }
            None => Ok(cases),
        }
    }

    /// The path and the content of a file that this one names, which lies in its folder or below it.
    fn named_file(&self, node: &Node, what: &str) -> Result<(String, String), CaseError> {
        let name = self.text(node, what)?;
        let is_below = !name.starts_with(['/', '\\'])
            && !name.contains(':')
            && !name.split(['/', '\\']).any(|part| part == "..");
        if !is_below {
            let text = format!("{what} names `{name}`; name a file in this folder or below it");
            return Err(self.fault(node.place, text));
        }
        let Some(read) = self.read_file else {
            return Err(self
                .fault(node.place, format!("{what} names a file, which cannot be read here; write it out")));
        };
        let (folder, path) = match self.file.rsplit_once('/') {
            // That of a file in the root ends with its slash.
            Some(("", _)) => ("/", format!("/{name}")),
            Some((folder, _)) => (folder, format!("{folder}/{name}")),
            None => ("", name.to_owned()),
        };
        match read(folder, &path) {
            Ok(text) => Ok((path, text)),
            Err(text) => Err(self.fault(node.place, format!("{what} names a file: {text}"))),
        }
    }

    /// A case; `None` if something of it is at fault, which was kept.
    fn case(
        &self,
        node: &Node,
        common: &Common,
        ids: &mut BTreeSet<String>,
    ) -> Result<Option<Placed>, CaseError> {
        let entries =
            self.map(node, "a case", &["id", "query", "turns", "state", "world", "faults", "expect"])?;
        let needed = |key: &str| {
            get(entries, key).ok_or_else(|| self.fault(node.place, format!("the case has no `{key}`")))
        };
        let id = self.text(needed("id")?, "the id of the case")?.to_owned();
        if !ids.insert(id.clone()) {
            return Err(self.fault(node.place, format!("two cases have the id `{id}`")));
        }
        let query = self.text(needed("query")?, "the query")?.to_owned();
        let turns = match get(entries, "turns") {
            Some(node) => self.turns(node)?,
            None => Vec::new(),
        };
        let messages: Vec<&str> = std::iter::once(&query).chain(&turns).map(String::as_str).collect();
        let mut tools = common.tools.clone();
        let own = match get(entries, "state") {
            Some(node) => self.state(node)?,
            None => Map::new(),
        };
        let mut state = common.state.clone();
        state.extend(own.clone());
        if let Some(world) = get(entries, "world") {
            let values = beginning(&state).map_err(|(_, what)| self.fault(node.place, what))?;
            self.world(world, &values, &mut tools)?;
        }
        // What the world of this case has nothing to do with is a value of other cases.
        state.retain(|name, _| own.contains_key(name) || tools.iter().any(|tool| tool.mentions(name)));
        let mut expected = Expected::default();
        let expect = needed("expect")?;
        // Where all expectations stand in comments, nothing is left but the key.
        let items = match expect.kind {
            Kind::Scalar(Value::Null) => &[],
            _ => self.list(expect, "`expect`", "expect: [{do: [TOOL]}]")?,
        };
        let vocabulary = Vocabulary::new(&tools, &common.rules.aliases);
        let named = common.rules.rules.iter().map(|rule| rule["id"].as_str().unwrap_or_default().to_owned());
        let mut ids = named.zip(common.rules.places.iter().copied()).collect();
        for (number, item) in items.iter().enumerate() {
            let read = self.expectation(item, number + 1, &messages, &vocabulary, &mut ids, &mut expected);
            self.noted(read);
        }
        // The file cannot be used, and what is missing may only have been at fault.
        if self.faults_so_far() > 0 {
            return Ok(None);
        }
        let Expected { rules: expect, places, only } = expected;
        if expect.is_empty() && common.rules.rules.is_empty() {
            let what = format!(
                "nothing is expected in case `{id}`: write what is, or take proposals out of the comments"
            );
            return Err(self.fault(node.place, what));
        }
        let shares = match get(entries, "faults") {
            Some(node) => self.faults(node, &tools)?,
            None => common.faults.clone(),
        };
        let faults = (!shares.is_empty()).then(|| faults_of(&id, shares));
        let Common { rules: FileRules { rules, aliases, said, .. }, shown, .. } = common;
        let places = common.rules.places.iter().copied().chain(places).collect();
        let said = said.iter().filter(|(_, (words, _))| query.contains(words.as_str()));
        let said = said.map(|(id, (words, _))| (id.clone(), words.clone())).collect();
        let (only, place_of_only) = only.unzip();
        let line = CaseLine {
            schema: CASE_SCHEMA.to_owned(),
            id,
            query,
            turns,
            state,
            tools: tools.into_iter().map(Shared::from).collect(),
            rules: rules.clone().into(),
            shown: *shown,
            aliases: aliases.clone(),
            said,
            calls: None,
            longer: false,
            expect,
            only,
            faults,
            drawn: None,
        };
        let case = Scenario::new(line).map_err(|error| self.fault(node.place, error.to_string()))?;
        Ok(Some(Placed { case, place: node.place, places, only: place_of_only, flags: Vec::new() }))
    }

    /// What the user says after the query.
    fn turns(&self, node: &Node) -> Result<Vec<String>, CaseError> {
        let items = self.list(node, "`turns`", "turns: [\"...\"]")?;
        if items.len() > TURNS_MAX {
            let what = format!("the case has {} later messages; it may have {TURNS_MAX}", items.len());
            return Err(self.fault(node.place, what));
        }
        items.iter().map(|item| self.text(item, "a message").map(str::to_owned)).collect()
    }

    /// `{refund: transient=1, "*": slow=0.1:5s}`
    fn faults(&self, node: &Node, tools: &[WorldTool]) -> Result<BTreeMap<String, FaultShares>, CaseError> {
        let Kind::Map(entries) = &node.kind else {
            let what = format!(
                "`faults` is {}, not a map of tools; write {{refund: transient=0.2}}",
                node.describe()
            );
            return Err(self.fault(node.place, what));
        };
        let mut shares = BTreeMap::new();
        for (name, place, node) in entries {
            if name.contains('=') {
                let what = format!(
                    "`{name}` is not a tool; put several shares in quotes, as in \"empty=0.1,vanish=0.1\""
                );
                return Err(self.fault(*place, what));
            }
            if name != ANY_TOOL && !tools.iter().any(|tool| tool.name == *name) {
                let what = format!("`faults` has `{name}` (`{ANY_TOOL}` stands for all others)");
                let what = unknown_tool(&what, name, tools);
                return Err(self.fault(*place, what));
            }
            let text = self.text(node, &format!("the value of `{name}`"))?;
            let read = FaultShares::parse(text).map_err(|error| self.fault(node.place, error.to_string()))?;
            shares.insert(name.clone(), read);
        }
        Ok(shares)
    }
}

fn get<'n>(entries: Entries<'n>, key: &str) -> Option<&'n Node> {
    entries.iter().find(|(other, ..)| other == key).map(|(.., node)| node)
}
