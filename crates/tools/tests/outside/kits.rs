//! Built-in tools against cases of the published ones, which lie beside the repository.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use planproof_tools::calculator::published::{self, PythonNumber};
use planproof_tools::calculator::{CalculatorNumber, Mistake, evaluate};
use planproof_tools::pages::{
    Dialect, NotPython, PageLookup, PageSource, Reader, SearchTools, SourceFailure, Style, unescaped,
};
use planproof_tools::{BoxFuture, Toolbox};
use planproof_trace::{Arguments, CallId, ToolCall};
use serde_json::Value;

/// A file of the cases.
pub(crate) fn file(name: &str) -> PathBuf {
    crate::root().join("../shared/kits/qa").join(name)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(file(name)).unwrap()
}

fn lines(text: &str) -> impl Iterator<Item = Value> {
    text.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).unwrap())
}

/// That calculator deletes what it does not know and evaluates the rest as Python. Only what nothing is deleted from,
/// and what Python writes as everybody does, means the same to ours; of `007` Python alone thinks that it is not a
/// number.
pub(crate) fn behaviour_paper() {
    let text = read("ibm_calculator.jsonl");
    let mut compared = 0;
    for case in lines(&text) {
        let (input, output) = (case["input"].as_str().unwrap(), case["output"].as_str().unwrap());
        assert_eq!(published::ibm(input), output, "{input}");
        if !input.chars().all(|c| "0123456789*+-/.() ".contains(c)) || input == "007" {
            continue;
        }
        compared += 1;
        match (output, evaluate(input)) {
            ("Cannot divide by zero", Err(error)) => assert_eq!(error.mistake, Mistake::DivisionByZero),
            (output, Err(error)) => assert!(output.starts_with("<<"), "{input}: {error}"),
            (output, Ok(value)) => assert_eq!(value.to_f64(), output.parse::<f64>().unwrap(), "{input}"),
        }
    }
    assert!(compared >= 15, "only {compared} cases could be compared");
}

/// That one evaluates what stands between `<<` and `=`, and has no `**` that differs from ours. Again only what it
/// takes as it stands is compared.
pub(crate) fn gsm8k() {
    let text = read("gsm8k_calculator.jsonl");
    let mut compared = 0;
    for case in lines(&text) {
        let filled_in = published::gsm8k(case["text"].as_str().unwrap()).map(|value| match value {
            PythonNumber::Int(value) => value as f64,
            PythonNumber::Float(value) => value,
        });
        assert_eq!(filled_in, case["result"].as_f64(), "{case}");
        let (Some((_, rest)), Some(result)) =
            (case["text"].as_str().unwrap().rsplit_once("<<"), case["result"].as_f64())
        else {
            continue;
        };
        let expression = rest.trim_end_matches('=');
        if expression.contains([',', '=']) {
            continue;
        }
        compared += 1;
        assert_eq!(evaluate(expression).map(CalculatorNumber::to_f64), Ok(result), "{expression}");
    }
    assert!(compared >= 6, "only {compared} cases could be compared");
}

/// The texts that ReAct's environment cleans.
pub(crate) fn clean_texts() {
    let cases: Vec<Value> = serde_json::from_str(&read("react_clean_str.json")).unwrap();
    for case in &cases {
        let found = unescaped(case["in"].as_str().unwrap());
        match case["out"].as_str() {
            Some(clean) => assert_eq!(found.as_deref(), Ok(clean), "{case}"),
            None if case["out"]["raised"] == "UnicodeDecodeError" => {
                assert_eq!(found, Err(NotPython::Decode));
            }
            None => assert_eq!(found, Err(NotPython::Encode), "{case}"),
        }
    }
    assert!(cases.len() >= 10);
}

/// The pages of ReAct's kit: HTML of which only the paragraphs and the list are read, or the list of hits. Any title
/// without a page has the hits of the page that is called `Nowhere`.
struct Html(Value);

impl PageSource for Html {
    fn description(&self) -> String {
        "the kit".to_owned()
    }

    fn find<'a>(&'a self, title: &'a str) -> BoxFuture<'a, Result<PageLookup, SourceFailure>> {
        let html = self.0.get(title).unwrap_or(&self.0["Nowhere"]).as_str().unwrap();
        let hits: Vec<String> = elements(html, "div class=\"mw-search-result-heading\"", "div");
        let found = if hits.is_empty() {
            let items = [elements(html, "p", "p"), elements(html, "ul", "ul")].concat();
            PageLookup::Page { title: title.to_owned(), text: items.join("\n") }
        } else {
            PageLookup::Missing { similar: hits }
        };
        Box::pin(std::future::ready(Ok(found)))
    }
}

/// The texts of the elements that begin so, none of which holds another of its kind, without the tags in them.
fn elements(html: &str, begin: &str, end: &str) -> Vec<String> {
    let (begin, end) = (format!("<{begin}>"), format!("</{end}>"));
    let inner = html.split(&begin).skip(1).map(|part| part.split(&end).next().unwrap());
    let bare =
        |inner: &str| inner.split('<').map(|piece| piece.rsplit('>').next().unwrap()).collect::<String>();
    inner.map(|inner| bare(inner).trim().to_owned()).collect()
}

/// `name[argument]`, if it is that.
fn action(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.trim().split_once('[')?;
    Some((name, rest.strip_suffix(']')?)).filter(|(name, _)| ["search", "lookup"].contains(name))
}

fn asked(tools: &SearchTools, name: &str, text: &str) -> String {
    let key = if name == "search" { "title" } else { "text" };
    let arguments = Arguments::from_text(&serde_json::json!({ key: text }).to_string());
    let call = ToolCall { id: CallId::new("c1"), name: name.to_owned(), arguments };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(tools.execute(&call)).text
}

/// The sequences of ReAct's environment, as far as they search and look up; the other actions are not tools.
pub(crate) fn react_pages() {
    let kit: Value = serde_json::from_str(&read("react_wikienv.json")).unwrap();
    let (mut compared, mut pages) = (0, 0);
    for sequence in kit["sequences"].as_array().unwrap() {
        let html = Arc::new(Html(kit["pages_html"].clone()));
        let tools = SearchTools::new(html, Style::new(Dialect::React), Duration::from_secs(60));
        for step in sequence["steps"].as_array().unwrap() {
            let observed = step["obs"].as_str().unwrap();
            if step["done"] == true {
                break;
            }
            let Some((name, text)) = action(step["action"].as_str().unwrap()) else { continue };
            assert_eq!(asked(&tools, name, text), observed, "{step}");
            compared += 1;
            // What was kept of the page is what is kept of it when it is read again.
            if let Some(page) =
                step["page"].as_str().filter(|_| name == "search" && !observed.starts_with("Could not"))
            {
                let mut reader = Reader::new(Style::new(Dialect::React));
                assert_eq!(reader.open(text, page).text, observed);
                assert_eq!(reader.page(), Some(page));
                pages += 1;
            }
        }
    }
    assert!(compared >= 30 && pages >= 7, "only {compared} steps and {pages} pages could be compared");
}

/// The steps of the behaviour paper's tools. Which titles are similar is read off what the tool said.
pub(crate) fn ibm_pages() {
    let kit: Value = serde_json::from_str(&read("ibm_wiki_tools.json")).unwrap();
    let mut reader = Reader::new(Style::new(Dialect::Ibm));
    let mut compared = 0;
    for step in kit["steps"].as_array().unwrap() {
        let (input, output) = (step["input"].as_str().unwrap(), step["output"].as_str().unwrap());
        let title = input.trim_matches('"');
        let observation = match (step["tool"].as_str().unwrap(), kit["summaries"][title].as_str()) {
            ("Lookup", _) => reader.look_up(input),
            (_, Some(text)) => reader.open(title, text),
            (_, None) => {
                let list = output.split_once("Similar: ['").map(|(_, list)| list.trim_end_matches("']"));
                let similar: Vec<String> =
                    list.iter().flat_map(|list| list.split("', '")).map(str::to_owned).collect();
                assert!(similar.is_empty() || similar.len() == 5);
                reader.missing(title, &similar)
            }
        };
        assert_eq!(observation.text, output, "{step}");
        compared += 1;
    }
    assert!(compared >= 20, "only {compared} steps could be compared");
}
