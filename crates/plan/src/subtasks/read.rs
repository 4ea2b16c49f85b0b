//! From a model's reply to sub-tasks. Faults are described in words for the model.

use std::fmt;

use super::{DONE, GROUPS_MAX, Pair, PlanForm};
use crate::json::{Node, Tree};
use crate::limits::TASK_CHARACTERS_MAX;
use crate::read_json::values;
use crate::words::{cut, listed, nearest};

/// The most faults of a plan that are listed.
const FAULTS_MAX: usize = 10;

/// What a plan looks like, for messages.
const FORM: &str = "a JSON list with one object for each sub-task, such as [{\"TOOL\": \"SUB-TASK\"}]";

/// The faults of a reply that should contain sub-tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanFault {
    /// Its kind: that of the first one if there are several.
    pub kind: PlanFaultKind,
    /// What is wrong, for the model.
    pub words: String,
}

/// The kinds of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlanFaultKind {
    /// It does not have the required form.
    Format,
    /// The numbers of tools and sub-tasks differ.
    Lengths,
    /// It names a tool that there is not.
    UnknownTool,
    /// There are too many sub-tasks, or the same one is repeated.
    Endless,
    /// The answer is empty.
    NoSummary,
}

impl PlanFaultKind {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Format, Self::Lengths, Self::UnknownTool, Self::Endless, Self::NoSummary];

    /// The word used in traces.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Format => "format",
            Self::Lengths => "lengths",
            Self::UnknownTool => "unknown_tool",
            Self::Endless => "endless",
            Self::NoSummary => "no_summary",
        }
    }

    /// The kind of that word.
    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

impl PlanFault {
    /// A fault of this kind.
    pub fn new(kind: PlanFaultKind, words: impl Into<String>) -> Self {
        Self { kind, words: words.into() }
    }

    fn format(words: impl Into<String>) -> Self {
        Self::new(PlanFaultKind::Format, words)
    }
}

impl fmt::Display for PlanFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

/// Reads all sub-tasks of a reply, at most `most`, for tools of these names: a list of pairs, or a list of tools
/// followed by one of sub-tasks. An empty list is a plan without tools. Words and fences around it are ignored.
///
/// # Errors
/// There is no such list or more than one; an item is not a pair; the two lists differ in length; a tool does not
/// exist; or there are too many sub-tasks.
pub fn read_plan(reply: &str, tools: &[&str], most: usize) -> Result<Vec<Pair>, PlanFault> {
    let values = read(reply)?;
    let lists: Vec<&[Node]> = values.iter().filter_map(list_of).collect();
    let pairs = match lists[..] {
        [] => return Err(PlanFault::format(format!("there is no list: write {FORM}"))),
        // Also the empty list, which is a plan without tools.
        [items] if items.iter().all(is_object) => pairs(items)?,
        // The two lists of TPTU, tools and sub-tasks, within one list or, below, one after the other.
        [both] if both.len() == 2 && both.iter().all(|list| list_of(list).is_some()) => {
            let mut lists = both.iter().filter_map(list_of);
            two_lists(lists.next().unwrap_or_default(), lists.next().unwrap_or_default())?
        }
        [names, texts] if [names, texts].iter().all(|list| list.iter().all(is_text)) => {
            two_lists(names, texts)?
        }
        [_] => {
            return Err(PlanFault::format(format!("the list holds something else than pairs: write {FORM}")));
        }
        _ => {
            let what = format!("the reply holds {} lists: write one, which is {FORM}", lists.len());
            return Err(PlanFault::format(what));
        }
    };
    must_end(pairs.len(), most)?;
    check(pairs, tools)
}

/// As [`read_plan`], where the plan was asked for in this form; a plan in another one of TPTU's is a fault then, except
/// that pairs may also be written as lists, as always. In a list of tools alone, each sub-task is the part of the task
/// that its tool is for.
///
/// # Errors
/// Those of [`read_plan`], or the plan has another form.
pub fn read_plan_in(
    reply: &str,
    tools: &[&str],
    form: PlanForm,
    most: usize,
) -> Result<Vec<Pair>, PlanFault> {
    if form == PlanForm::Pairs {
        return read_plan(reply, tools, most);
    }
    let wanted = match form {
        PlanForm::Tools => "one JSON list of the names of the tools alone, such as [\"TOOL\", \"TOOL\"]",
        PlanForm::Pairs | PlanForm::Lists => {
            "two JSON lists, the tools and their sub-tasks, such as [\"TOOL\"] and [\"SUB-TASK\"]"
        }
    };
    let values = read(reply)?;
    let mut lists: Vec<&[Node]> = values.iter().filter_map(list_of).collect();
    // Lists within a list are the same lists.
    if let [all] = lists[..]
        && !all.is_empty()
        && all.iter().all(|list| list_of(list).is_some())
    {
        lists = all.iter().filter_map(list_of).collect();
    }
    if lists.iter().flat_map(|list| list.iter()).any(|item| !is_text(item)) {
        return Err(PlanFault::format(format!("a list holds something else than texts: write {wanted}")));
    }
    let pairs = match (form, &lists[..]) {
        (PlanForm::Tools, [names]) => {
            let count = names.len();
            let texts = names.iter().filter_map(text_of).enumerate();
            texts
                .map(|(place, name)| Pair { tool: name.trim().to_owned(), text: part(place, count) })
                .collect()
        }
        (PlanForm::Lists, [names, texts]) => two_lists(names, texts)?,
        // One empty list says as much as two.
        (PlanForm::Lists, [[]]) => Vec::new(),
        (_, found) => {
            let what = format!("the reply holds {} lists: write {wanted}", found.len());
            return Err(PlanFault::format(what));
        }
    };
    must_end(pairs.len(), most)?;
    check(pairs, tools)
}

/// The sub-task of a tool that was planned without one.
fn part(place: usize, count: usize) -> String {
    format!("Part {} of {count}: what the task needs this tool for there", place + 1)
}

fn must_end(count: usize, most: usize) -> Result<(), PlanFault> {
    if count <= most {
        return Ok(());
    }
    let what = format!("there are {count} sub-tasks, and {most} is the most: write fewer");
    Err(PlanFault::new(PlanFaultKind::Endless, what))
}

/// Reads the next sub-task of a reply, for tools of these names; `None` if it says [`DONE`] instead.
///
/// # Errors
/// There is no pair or more than one, it is invalid, or its tool does not exist.
pub fn read_next(reply: &str, tools: &[&str]) -> Result<Option<Pair>, PlanFault> {
    let is_done = says_done(reply);
    let form = format!("one pair, such as {{\"TOOL\": \"SUB-TASK\"}}, or {DONE}");
    let values = match read(reply) {
        Ok(values) => values,
        // `DONE` is an answer without JSON, so its absence is no fault.
        Err(_) if is_done => return Ok(None),
        Err(fault) => return Err(fault),
    };
    let found: Vec<&Node> = values
        .iter()
        .flat_map(|value| list_of(value).unwrap_or_else(|| std::slice::from_ref(value)))
        .collect();
    match found[..] {
        [] if is_done || reply.trim() == "[]" => Ok(None),
        [] => Err(PlanFault::format(format!("there is no sub-task: write {form}"))),
        [one] => Ok(check(pairs(std::slice::from_ref(one))?, tools)?.into_iter().next()),
        _ => {
            let what =
                format!("the reply holds {} sub-tasks: write the next one alone, as {form}", found.len());
            Err(PlanFault::format(what))
        }
    }
}

/// Whether a reply says [`DONE`]: alone on a line, or as its last word. Elsewhere it may belong to a sentence about
/// when to say it.
fn says_done(reply: &str) -> bool {
    let bare = |text: &str| text.trim_matches(|it: char| !it.is_alphanumeric()).to_owned();
    let last = reply.split_whitespace().map(bare).rfind(|word| !word.is_empty());
    last.is_some_and(|word| word == DONE) || reply.lines().any(|line| bare(line) == DONE)
}

/// Reads the groups of a reply: a list of 1 to [`GROUPS_MAX`] texts.
///
/// # Errors
/// There is no such list or more than one, it contains something else, or too much.
pub fn read_groups(reply: &str) -> Result<Vec<String>, PlanFault> {
    let form = "a JSON list of texts, one for each group";
    let values = read(reply)?;
    let lists: Vec<&[Node]> = values.iter().filter_map(list_of).collect();
    let [items] = lists[..] else {
        return Err(PlanFault::format(format!(
            "there are {} lists instead of one: write {form}",
            lists.len()
        )));
    };
    let texts: Vec<String> = items.iter().filter_map(text_of).map(str::to_owned).collect();
    if texts.len() < items.len() || texts.iter().any(|text| text.trim().is_empty()) {
        return Err(PlanFault::format(format!("a group is no text, or empty: write {form}")));
    }
    if texts.is_empty() {
        return Err(PlanFault::format(format!("there is no group: write {form}")));
    }
    if texts.len() > GROUPS_MAX {
        let what = format!("there are {} groups, and {GROUPS_MAX} is the most: write fewer", texts.len());
        return Err(PlanFault::new(PlanFaultKind::Endless, what));
    }
    Ok(texts)
}

fn read(reply: &str) -> Result<Vec<Node>, PlanFault> {
    values(reply).map_err(|fault| PlanFault::format(format!("it cannot be read: {fault}")))
}

fn list_of(node: &Node) -> Option<&[Node]> {
    match &node.tree {
        Tree::List(items) => Some(items),
        _ => None,
    }
}

fn text_of(node: &Node) -> Option<&str> {
    match &node.tree {
        Tree::Text(text) => Some(text),
        _ => None,
    }
}

fn is_object(node: &Node) -> bool {
    matches!(node.tree, Tree::Object(_))
}

fn is_text(node: &Node) -> bool {
    text_of(node).is_some()
}

fn pairs(items: &[Node]) -> Result<Vec<Pair>, PlanFault> {
    let pair = |(index, item): (usize, &Node)| {
        let place = index + 1;
        let wrong =
            |what: &str| PlanFault::format(format!("item {place} {what}: write {{\"TOOL\": \"SUB-TASK\"}}"));
        let Tree::Object(entries) = &item.tree else { return Err(wrong("is no object")) };
        match &entries[..] {
            [(tool, value)] => match text_of(value) {
                Some(text) => Ok(Pair { tool: tool.trim().to_owned(), text: text.trim().to_owned() }),
                None => Err(wrong("has something else than a text as its sub-task")),
            },
            [] => Err(wrong("is empty")),
            _ => Err(wrong("has more than one pair")),
        }
    };
    items.iter().enumerate().map(pair).collect()
}

fn two_lists(names: &[Node], texts: &[Node]) -> Result<Vec<Pair>, PlanFault> {
    let all =
        |list: &[Node]| list.iter().map(|node| text_of(node).map(str::to_owned)).collect::<Option<Vec<_>>>();
    let (Some(names), Some(texts)) = (all(names), all(texts)) else {
        return Err(PlanFault::format(format!("a list holds something else than texts: write {FORM}")));
    };
    if names.len() != texts.len() {
        let what = format!("there are {} tools, but {} sub-tasks: write {FORM}", names.len(), texts.len());
        return Err(PlanFault::new(PlanFaultKind::Lengths, what));
    }
    Ok(names.into_iter().zip(texts).map(|(tool, text)| Pair { tool, text }).collect())
}

/// The tool that a name stands for: a task may call `sql` the `SQL generator`, and a planner that does so means no
/// other. `None` if the words of the name hold those of no tool, or of several.
fn meant<'t>(name: &str, tools: &[&'t str]) -> Option<&'t str> {
    if let Some(tool) = tools.iter().find(|tool| **tool == name) {
        return Some(tool);
    }
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let named = words(name);
    let is_within = |tool: &&&str| {
        let tool = words(tool);
        !tool.is_empty() && named.windows(tool.len()).any(|part| part == tool)
    };
    let mut found = tools.iter().filter(is_within);
    found.next().filter(|_| found.next().is_none()).copied()
}

/// Checks pairs against the existing tools.
fn check(mut pairs: Vec<Pair>, tools: &[&str]) -> Result<Vec<Pair>, PlanFault> {
    let mut faults: Vec<PlanFault> = Vec::new();
    for (index, Pair { tool, text }) in pairs.iter_mut().enumerate() {
        let place = index + 1;
        if let Some(meant) = meant(tool, tools) {
            meant.clone_into(tool);
        } else {
            let hint = match nearest(tool, tools.iter().copied()) {
                Some(near) => format!("write `{near}` if that is meant"),
                None => format!("there are {}", listed(tools.iter().copied())),
            };
            let what = format!("sub-task {place}: there is no tool `{}`: {hint}", cut(tool));
            faults.push(PlanFault::new(PlanFaultKind::UnknownTool, what));
        }
        if text.is_empty() {
            faults.push(PlanFault::format(format!(
                "sub-task {place} is empty: say what `{}` is to do",
                cut(tool)
            )));
        }
        if text.chars().nth(TASK_CHARACTERS_MAX).is_some() {
            let what = format!("sub-task {place} has more than {TASK_CHARACTERS_MAX} characters: shorten it");
            faults.push(PlanFault::format(what));
        }
    }
    let Some(first) = faults.first() else { return Ok(pairs) };
    let words: Vec<&str> = faults.iter().take(FAULTS_MAX).map(|fault| fault.words.as_str()).collect();
    Err(PlanFault::new(first.kind, words.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::super::SUB_TASKS_MAX;
    use super::*;

    const TOOLS: [&str; 2] = ["sql", "python"];

    fn plan(reply: &str) -> Result<Vec<(String, String)>, (PlanFaultKind, String)> {
        let pairs = read_plan(reply, &TOOLS, SUB_TASKS_MAX).map_err(|fault| (fault.kind, fault.words))?;
        Ok(pairs.into_iter().map(|pair| (pair.tool, pair.text)).collect())
    }

    #[test]
    fn plans_are_found_in_replies() {
        let two = Ok(vec![("sql".to_owned(), "a".to_owned()), ("python".to_owned(), "b".to_owned())]);
        for reply in [
            r#"[{"sql": "a"}, {"python": "b"}]"#,
            "Here it is:\n```json\n[{\"sql\": \"a\"}, {\"python\": \" b \"}]\n```\nThat is all.",
            "[\"sql\", \"python\"]\n[\"a\", \"b\"]",
            r#"[["sql", "python"], ["a", "b"]]"#,
        ] {
            assert_eq!(plan(reply), two, "{reply}");
        }
        assert_eq!(plan("[]"), Ok(Vec::new()));
    }

    #[test]
    fn each_form_is_read_as_itself() {
        let read = |reply: &str, form| {
            let pairs = read_plan_in(reply, &TOOLS, form, SUB_TASKS_MAX)
                .map_err(|fault| (fault.kind, fault.words))?;
            Ok::<_, (PlanFaultKind, String)>(
                pairs.into_iter().map(|it| (it.tool, it.text)).collect::<Vec<_>>(),
            )
        };
        let two = vec![("sql".to_owned(), "a".to_owned()), ("python".to_owned(), "b".to_owned())];
        let (pairs, lists, names) =
            (r#"[{"sql": "a"}, {"python": "b"}]"#, r#"["sql", "python"] ["a", "b"]"#, r#"["sql", "sql"]"#);
        assert_eq!(read(lists, PlanForm::Lists), Ok(two.clone()));
        assert_eq!(read(r#"[["sql", "python"], ["a", "b"]]"#, PlanForm::Lists), Ok(two.clone()));
        assert_eq!(read(pairs, PlanForm::Pairs), Ok(two));
        let tools = read(names, PlanForm::Tools).unwrap();
        assert_eq!(tools.iter().map(|(tool, _)| tool.as_str()).collect::<Vec<_>>(), ["sql", "sql"]);
        assert!(tools[0].1.starts_with("Part 1 of 2") && tools[1].1.starts_with("Part 2 of 2"), "{tools:?}");
        for form in PlanForm::ALL {
            assert_eq!(read("[]", form), Ok(Vec::new()), "{form}");
            assert_eq!(PlanForm::find(form.as_str()), Some(form));
        }
        for (reply, form, kind, words) in [
            (
                pairs,
                PlanForm::Lists,
                PlanFaultKind::Format,
                "something else than texts: write two JSON lists",
            ),
            (pairs, PlanForm::Tools, PlanFaultKind::Format, "something else than texts: write one JSON list"),
            (lists, PlanForm::Tools, PlanFaultKind::Format, "the reply holds 2 lists"),
            (names, PlanForm::Lists, PlanFaultKind::Format, "the reply holds 1 lists"),
            (
                r#"["sql", "python"] ["a"]"#,
                PlanForm::Lists,
                PlanFaultKind::Lengths,
                "2 tools, but 1 sub-tasks",
            ),
            (r#"["java"]"#, PlanForm::Tools, PlanFaultKind::UnknownTool, "there is no tool `java`"),
        ] {
            let (found, what) = read(reply, form).unwrap_err();
            assert_eq!(found, kind, "{reply} as {form}: {what}");
            assert!(what.contains(words), "{reply} as {form}: {what}");
        }
        let many = format!("[{}]", vec![r#""sql""#; SUB_TASKS_MAX + 1].join(","));
        assert_eq!(read(&many, PlanForm::Tools).unwrap_err().0, PlanFaultKind::Endless);
    }

    #[test]
    fn what_is_wrong_with_a_plan_is_said() {
        use PlanFaultKind as K;
        let many = format!("[{}]", vec![r#"{"sql": "a"}"#; SUB_TASKS_MAX + 1].join(","));
        for (reply, kind, words) in [
            ("I would ask the database.", K::Format, "it cannot be read"),
            (r#"[{"sql": "a"}"#, K::Format, "it cannot be read"),
            (r#"{"sql": "a"}"#, K::Format, "there is no list"),
            (r#"[{"sql": "a", "python": "b"}]"#, K::Format, "item 1 has more than one pair"),
            (r#"[{"sql": 1}]"#, K::Format, "item 1 has something else than a text"),
            (r#"[{"sql": "a"}, "b"]"#, K::Format, "the list holds something else"),
            (r#"["sql", "python"] ["a"]"#, K::Lengths, "there are 2 tools, but 1 sub-tasks"),
            (r#"[{"SQL or Python": "a"}]"#, K::UnknownTool, "there is no tool `SQL or Python`"),
            (r#"[{"MySQL": "a"}]"#, K::UnknownTool, "there is no tool `MySQL`"),
            (r#"[{"pyhton": "a"}]"#, K::UnknownTool, "write `python` if that is meant"),
            (r#"[{"sql": " "}]"#, K::Format, "sub-task 1 is empty"),
            (&many, K::Endless, "there are 21 sub-tasks"),
        ] {
            let (found, what) = plan(reply).unwrap_err();
            assert_eq!(found, kind, "{reply}: {what}");
            assert!(what.contains(words), "{reply}: {what}");
        }
    }

    #[test]
    fn a_tool_has_the_name_that_the_task_gives_it() {
        for reply in [r#"[{"SQL generator": "a"}]"#, r#"[{"SQL": "a"}]"#, r#"[{"the sql-tool": "a"}]"#] {
            assert_eq!(plan(reply).map(|pairs| pairs[0].0.clone()), Ok("sql".to_owned()), "{reply}");
        }
    }

    #[test]
    fn the_next_sub_task_or_the_end() {
        let next = |reply: &str| read_next(reply, &TOOLS).map(|pair| pair.map(|pair| pair.text));
        assert_eq!(next(r#"Next: {"sql": "a"}"#), Ok(Some("a".to_owned())));
        assert_eq!(next(r#"[{"sql": "a"}]"#), Ok(Some("a".to_owned())));
        for done in ["DONE", "Nothing is left: DONE.", "[]"] {
            assert_eq!(next(done), Ok(None), "{done}");
        }
        for (reply, words) in [
            ("I am done.", "it cannot be read"),
            // Our own words about when to say it.
            ("If nothing is left to do, reply with the word DONE alone.", "it cannot be read"),
            (r#"{"sql": "a"} {"sql": "b"}"#, "the reply holds 2 sub-tasks"),
            (r#"{"java": "a"}"#, "there is no tool `java`"),
        ] {
            let fault = next(reply).unwrap_err();
            assert!(fault.words.contains(words), "{reply}: {fault}");
        }
    }

    #[test]
    fn groups_are_texts() {
        assert_eq!(read_groups(r#"["a", "b"]"#), Ok(vec!["a".to_owned(), "b".to_owned()]));
        for reply in ["[]", r#"["a", 1]"#, r#"[""]"#, "none", r#"{"a": "b"}"#] {
            assert!(read_groups(reply).is_err(), "{reply}");
        }
    }
}
