//! `search` and `lookup` over a folder of documents.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use planproof_tools::pages::{
    Collection, DEPTH_MAX, DOCUMENT_BYTES_MAX, Dialect, OBSERVATION_CHARACTERS_MAX, PageLookup, Reader,
    SIMILAR_MAX, SearchTools, Style, TITLE_BYTES_MAX,
};
use planproof_tools::{
    ClientLimits, CombinedTools, OpenSource, ToolSource, Toolbox, builtin, toolbox_for_run,
};
use planproof_trace::{Arguments, CallId, ToolCall, ToolResult};
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::json;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/pages");

/// A folder that is removed at the end of its test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &[u8])]) -> Self {
        let path = std::env::temp_dir().join(format!("planproof-pages-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        for (file, bytes) in files {
            let file = path.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, bytes).unwrap();
        }
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn open(folder: &Path) -> Result<Collection, String> {
    Collection::open(folder, &AtomicBool::new(false)).map_err(|error| {
        assert!(error.is_usage(), "{error}");
        error.to_string().replace(&folder.display().to_string(), "DIR")
    })
}

fn example() -> Collection {
    open(Path::new(EXAMPLE)).unwrap()
}

fn tools(dialect: Dialect) -> SearchTools {
    SearchTools::new(Arc::new(example()), Style::new(dialect), Duration::from_secs(60))
}

fn tool_call(name: &str, text: &str) -> ToolCall {
    let key = if name.ends_with("search") { "title" } else { "text" };
    let arguments = json!({key: text}).to_string();
    ToolCall { id: CallId::new("c1"), name: name.to_owned(), arguments: Arguments::from_text(&arguments) }
}

/// What the tools answer to `search TITLE` and `lookup TEXT`, with `! ` before what is an error.
async fn ask(tools: &dyn Toolbox, line: &str) -> String {
    let (name, text) = line.split_once(' ').unwrap();
    let ToolResult { text, is_error, .. } = tools.execute(&tool_call(name, text)).await;
    if is_error { format!("! {text}") } else { text }
}

/// Each line with its answer, one run long.
async fn session(tools: &dyn Toolbox, lines: &[(&str, &str)]) {
    for (line, answer) in lines {
        assert_eq!(ask(tools, line).await, *answer, "{line}");
    }
}

#[tokio::test]
async fn a_session_in_our_own_dialect() {
    let tools = tools(Dialect::Own);
    session(&tools, &[
        ("lookup 1843", "! there is no page to look in: `search` for one first"),
        (
            "search harbour of lind",
            "The harbour of Lind was opened in 1843. It lies at the mouth of the Orra. Dr. A. B. Wenk drew the plans of \
             its first pier. Storms broke the pier in 1871. It was built again of stone.",
        ),
        ("lookup PIER", "(Result 1 / 2) Dr. A. B. Wenk drew the plans of its first pier."),
        ("lookup  pier ", "(Result 2 / 2) Storms broke the pier in 1871."),
        ("lookup pier", "No more results."),
        ("lookup pier", "No more results."),
        ("lookup crane", "(Result 1 / 1) The harbour museum shows the old crane."),
        ("lookup airport", "No results: the page Harbour of Lind does not contain that text."),
        ("lookup   ", "! `lookup` needs a text to look for"),
        ("search  ", "! `search` needs the title of a page"),
        // What is not found leaves the page, and the place in it, as they are.
        ("lookup harbour", "(Result 1 / 2) The harbour of Lind was opened in 1843."),
        ("search lighthouse", "Could not find lighthouse. Similar: Lighthouse of Sund."),
        ("lookup harbour", "(Result 2 / 2) The harbour museum shows the old crane."),
        (
            "search Lighthouse_of_Sund",
            "The lighthouse of Sund stands on a rock. It is 31 metres high. Its lamp was first lit in 1902. The last \
             keeper left in 1968.",
        ),
        ("lookup harbour", "No results: the page Lighthouse of Sund does not contain that text."),
        ("lookup history", "No results: the page Lighthouse of Sund does not contain that text."),
        ("search xyzzy", "Could not find xyzzy. There are no similar titles."),
    ])
    .await;
}

#[tokio::test]
async fn the_published_dialects_differ_where_they_are_said_to() {
    session(
        &tools(Dialect::React),
        &[
            ("lookup 1843", "No more results.\n"),
            ("search lighthouse", "Could not find lighthouse. Similar: ['Lighthouse of Sund']."),
            ("search Orra", "The Orra is a river. It is 112 km long.."),
            ("lookup orra", "(Result 1 / 1) The Orra is a river."),
            ("lookup Orra", "(Result 1 / 1) The Orra is a river."),
            ("lookup Orra", "No more results.\n"),
        ],
    )
    .await;
    session(
        &tools(Dialect::Ibm),
        &[
            ("lookup 1843", "Cannot use Lookup without using Search first!"),
            ("search xyzzy", "Could not find 'xyzzy'. No similar options can be found!"),
            ("lookup 1843", "Cannot use Lookup without using Search first!"),
            (
                "search \"Lighthouse of Sund\"",
                "The lighthouse of Sund stands on a rock. It is 31 metres high..",
            ),
            ("lookup The", "(Result 1 / 1) The lighthouse of Sund stands on a rock"),
            ("lookup 1902", "No more results."),
            ("lookup is", "(Result 1 / 1) It is 31 metres high."),
            ("search Orra", "The Orra is a river. It is 112 km long.."),
            ("lookup is", "No more results."),
        ],
    )
    .await;
}

#[test]
fn titles_are_found_as_written_before_anything_else() {
    let collection = example();
    assert_eq!(collection.documents(), 7);
    let page = |wanted: &str| match collection.look_for(wanted).unwrap() {
        PageLookup::Page { title, text } => format!("{title}: {text}"),
        other => format!("{other:?}"),
    };
    assert_eq!(page("Orra"), "Orra: The Orra is a river. It is 112 km long.");
    assert_eq!(page("ORRA"), "ORRA: ORRA is an office of records.");
    // The one that was read first.
    assert_eq!(page("oRRA"), "Orra: The Orra is a river. It is 112 km long.");
    assert_eq!(
        page(" tarn\n"),
        "Tarn: The Tarn is a river that flows into the Orra.\nIt rises in the hills of Vell."
    );
    let similar = |wanted: &str| match collection.look_for(wanted).unwrap() {
        PageLookup::Missing { similar } => similar,
        other => panic!("{other:?}"),
    };
    // All words in the title first, then any of them in title or text; each title once.
    assert_eq!(similar("film orra")[0], "Orra (film)");
    assert_eq!(similar("the vell")[0], "Tarn");
    assert!(similar("the river of records").len() == SIMILAR_MAX);
    assert_eq!(similar("wénk"), ["Harbour of Lind"]);
    for nothing in ["", " ", "\0", "\"", "\u{1f600}", "AND", "xyzzy"] {
        assert_eq!(similar(nothing), Vec::<String>::new(), "{nothing:?}");
    }
}

#[test]
fn what_looks_like_a_query_is_none() {
    let collection = example();
    for text in [
        "\"",
        "\"\"",
        "'",
        "orra AND",
        "NOT orra",
        "orra OR",
        "(orra",
        "orra)",
        "orra*",
        "*",
        "^orra",
        "title:orra",
        "title : orra",
        "{title text} : orra",
        "NEAR(orra tarn)",
        "NEAR(",
        "orra + tarn",
        "-orra",
        "orra\0tarn",
        "\0",
        "\u{1f600}",
        "'; DROP TABLE document; --",
        "%",
        "\\",
        "a\"b",
        "orra \"tarn",
        "日本",
        "\u{301}",
        "\u{feff}",
    ] {
        assert!(collection.look_for(text).is_ok(), "{text:?}");
        assert!(collection.look_for(&format!("orra {text} xyzzy")).is_ok(), "{text:?}");
    }
    assert!(
        matches!(collection.look_for("Orra").unwrap(), PageLookup::Page { .. }),
        "the documents are still there"
    );
}

proptest! {
    #![proptest_config(Config { cases: 300, failure_persistence: None, ..Config::default() })]

    #[test]
    #[ignore = "slow"]
    fn no_text_is_an_error(
        texts in prop::collection::vec(prop_oneof![any::<String>(), "[\"'():*^{}+\\-\0 a-cANDORTE]{0,20}"], 10)
    ) {
        let collection = example();
        for text in texts {
            let found = collection.look_for(&text);
            prop_assert!(found.is_ok(), "{:?} {:?}", text, found);
        }
    }

    #[test]
    fn every_dialect_reads_whatever_there_is(
        page in "([A-C][a-c]{0,3}|\\. |\\.|\n|==|日。|\"|É){0,30}",
        wanted in "[A-Ca-c.É]{0,3}",
    ) {
        for dialect in [Dialect::Own, Dialect::React, Dialect::Ibm] {
            let mut reader = Reader::new(Style { dialect, sentences: 3 });
            reader.look_up(&wanted);
            reader.open("T", &page);
            let mut shown = 0;
            // As many results as are announced, and then no more.
            while let Some(rest) = reader.look_up(&wanted).text.strip_prefix("(Result ") {
                let (numbers, sentence) = rest.split_once(") ").unwrap();
                let (place, count) = numbers.split_once(" / ").unwrap();
                shown += 1;
                let count: usize = count.parse().unwrap();
                prop_assert!(place == shown.to_string() && shown <= count);
                prop_assert!(sentence.to_lowercase().contains(&wanted.to_lowercase()), "{} {}", sentence, wanted);
            }
            prop_assert!(!reader.look_up(&wanted).text.starts_with('('));
        }
    }
}

#[tokio::test]
async fn arguments_are_checked_and_answers_cut() {
    let tools = tools(Dialect::Own);
    for (name, arguments, text) in [
        ("search", "{}", "the arguments of `search` do not fit: write {\"title\": \"...\"}"),
        ("search", r#"{"title": 5}"#, "the arguments of `search` do not fit: write {\"title\": \"...\"}"),
        ("lookup", r#"{"title": "a"}"#, "the arguments of `lookup` do not fit: write {\"text\": \"...\"}"),
        (
            "lookup",
            r#"{"text": "a", "n": 1}"#,
            "the arguments of `lookup` do not fit: write {\"text\": \"...\"}",
        ),
        ("search", "[Orra", "the arguments of `search` are not a JSON object: [Orra"),
        ("find", "{}", "there is no tool named `find`; the tools are: search, lookup"),
    ] {
        let arguments = Arguments::from_text(arguments);
        let call = ToolCall { id: CallId::new("c1"), name: name.to_owned(), arguments };
        assert_eq!(tools.execute(&call).await, ToolResult::error(CallId::new("c1"), text));
    }
    let long = format!("search {}", "x".repeat(TITLE_BYTES_MAX + 1));
    assert_eq!(ask(&tools, &long).await, "! the title is longer than 1000 bytes: write a shorter one");

    let text = "é".repeat(OBSERVATION_CHARACTERS_MAX + 1);
    let folder = Folder::new("long", &[("long.txt", text.as_bytes()), ("empty.txt", b"\xef\xbb\xbf \n")]);
    let collection = Arc::new(open(&folder.0).unwrap());
    let tools = SearchTools::new(collection, Style::default(), Duration::from_secs(60));
    let answer = ask(&tools, "search long").await;
    assert!(answer.ends_with("é...") && answer.chars().count() == OBSERVATION_CHARACTERS_MAX + 3);
    assert_eq!(ask(&tools, "search empty").await, "The page empty has no text.");
    assert_eq!(
        tools.tools()[0].description.split(" for ").next(),
        Some("Searches a collection of 2 documents")
    );
}

#[tokio::test]
async fn runs_do_not_see_each_others_pages() {
    let source = |label: &str, toolbox| OpenSource::new(label, None, toolbox);
    let combined = CombinedTools::new(vec![
        source("calculator", builtin("calculator").unwrap()),
        source("search:docs", Arc::new(tools(Dialect::Own)) as Arc<dyn Toolbox>),
    ]);
    let first: Arc<dyn Toolbox> = Arc::new(combined.unwrap());
    ask(&*first, "search Orra").await;
    let second = toolbox_for_run(&first);
    assert_eq!(second.tools(), first.tools());
    assert_eq!(ask(&*second, "lookup river").await, "! there is no page to look in: `search` for one first");
    ask(&*second, "search Tarn").await;
    // Many runs at once, each with a place of its own.
    let runs = (0..20).map(|number| {
        let toolbox = toolbox_for_run(&first);
        async move {
            let title = if number % 2 == 0 { "Orra" } else { "Tarn" };
            ask(&*toolbox, &format!("search {title}")).await;
            ask(&*toolbox, "lookup river").await
        }
    });
    for (number, answer) in futures::future::join_all(runs).await.into_iter().enumerate() {
        let sentence = if number % 2 == 0 {
            "The Orra is a river."
        } else {
            "The Tarn is a river that flows into the Orra."
        };
        assert_eq!(answer, format!("(Result 1 / 1) {sentence}"));
    }
    assert_eq!(ask(&*first, "lookup river").await, "(Result 1 / 1) The Orra is a river.");
    assert_eq!(ask(&*second, "lookup hills").await, "(Result 1 / 1) It rises in the hills of Vell.");

    // What calls leave nothing behind in is shared.
    let calculator = builtin("calculator").unwrap();
    assert!(Arc::ptr_eq(&toolbox_for_run(&calculator), &calculator));
    assert!(CombinedTools::new(vec![source("calculator", calculator)]).unwrap().for_run().is_none());
}

#[tokio::test]
async fn calls_of_one_run_are_served_in_their_order() {
    let tools = tools(Dialect::Own);
    let lines = ["search Orra", "lookup km", "search Tarn", "lookup hills"];
    let answers = futures::future::join_all(lines.iter().map(|line| ask(&tools, line))).await;
    assert_eq!(answers[1], "(Result 1 / 1) It is 112 km long.");
    assert_eq!(answers[3], "(Result 1 / 1) It rises in the hills of Vell.");
}

#[test]
fn folders_that_are_no_collections_are_refused() {
    let large = vec![b'x'; DOCUMENT_BYTES_MAX as usize + 1];
    let deep = format!("{}a.txt", "d/".repeat(DEPTH_MAX));
    let half =
        format!("{{\"title\": \"t\", \"text\": \"{}\"}}\n", "x".repeat(DOCUMENT_BYTES_MAX as usize / 2 + 1));
    let cases: [(&str, &[u8], &str); 15] = [
        ("a.pdf", b"x", "DIR holds no documents: they are .txt, .md, .jsonl and .xml files"),
        (".hidden.txt", b"x", "DIR holds no documents: they are .txt, .md, .jsonl and .xml files"),
        ("a.jsonl", b"\n \n", "DIR holds no documents: they are .txt, .md, .jsonl and .xml files"),
        ("a.txt", b"caf\xe9", "DIR/a.txt: it is not UTF-8: convert it"),
        ("a.xml", b"\x1f\x8b\x08\0", "DIR/a.xml, line 1: it is compressed with gzip: unpack it"),
        ("a.xml", b"\xff\xfe<\0p\0", "DIR/a.xml, line 1: it is UTF-16: convert it to UTF-8"),
        (
            "a.xml",
            b"<rss>\n</rss>",
            "DIR/a.xml, line 2: it has no `<page>`: is it the export of a MediaWiki server?",
        ),
        ("a.md", &large, "DIR/a.md: the document has more than 4194304 bytes: split it"),
        ("a.jsonl", &large, "DIR/a.jsonl, line 1: the document has more than 4194304 bytes: split it"),
        (
            "a.jsonl",
            b"{\"title\": \"t\", \"text\": \"\xff\"}",
            "DIR/a.jsonl, line 1: it is not UTF-8: convert it",
        ),
        (
            "a.jsonl",
            b"\n{\"title\": \"t\"}",
            "DIR/a.jsonl, line 2: no document (missing field `text` at line 1 column 14): write {\"title\": \"...\", \
             \"text\": \"...\"}",
        ),
        (
            "a.jsonl",
            b"{\"title\": \"t\", \"text\": \"x\"}\n{\"title",
            "DIR/a.jsonl, line 2: no document (EOF while parsing a string at line 1 column 7): write {\"title\": \"...\", \
             \"text\": \"...\"}",
        ),
        ("a.jsonl", b"{\"title\": \" \", \"text\": \"x\"}", "DIR/a.jsonl, line 1: the title is empty"),
        (&deep, b"x", "DIR is too large: folders are nested deeper than 32 levels"),
        (
            "a.jsonl",
            (half.repeat(2)).leak().as_bytes(),
            "DIR is too large: the documents with the title \"t\" have more than 4194304 bytes together",
        ),
    ];
    for (index, (file, bytes, text)) in cases.into_iter().enumerate() {
        let folder = Folder::new(&format!("refused-{index}"), &[(file, bytes)]);
        assert_eq!(open(&folder.0).unwrap_err(), text, "{file}");
    }
    let folder = Folder::new("refused", &[("a.txt", b"x")]);
    let no_folder =
        "DIR is not a folder: give one that holds .txt, .md, .jsonl or .xml files, or a .jsonl or .xml file";
    assert_eq!(open(&folder.0.join("a.txt")).unwrap_err(), no_folder);
    assert_eq!(open(&folder.0.join("b")).unwrap_err(), no_folder);
    let given_up = Collection::open(&folder.0, &AtomicBool::new(true)).unwrap_err();
    assert_eq!(given_up.to_string(), "the indexing was given up");
}

/// A dump of a wiki: a page, a redirect to it, and a talk page. The text is of our own writing.
const DUMP: &[u8] = b"<mediawiki>
  <page><title>Orra</title><ns>0</ns><revision><text>{{River|length=112}}
The '''Orra''' is a [[river]] of [[Vell|the land of Vell]].&lt;ref&gt;A map.&lt;/ref&gt; It is 112&amp;nbsp;km long.

== Course ==
* It rises in hills.</text></revision></page>
  <page><title>Orra River</title><ns>0</ns><redirect title=\"Orra\" /><revision><text>#REDIRECT</text></revision></page>
  <page><title>Talk:Orra</title><ns>1</ns><revision><text>Is it?</text></revision></page>
</mediawiki>";

#[tokio::test]
async fn a_dump_of_a_wiki_is_read() {
    let lines = b"{\"title\":\"Tarn\",\"text\":\"A lake.\"}";
    let folder = Folder::new("dump", &[("wiki.xml", DUMP), ("more.jsonl", lines)]);
    assert_eq!(open(&folder.0).unwrap().documents(), 2);
    // The file alone is a collection, too.
    let collection = open(&folder.0.join("wiki.xml")).unwrap();
    assert_eq!(collection.documents(), 1);
    let tools = SearchTools::new(Arc::new(collection), Style::new(Dialect::Own), Duration::from_secs(60));
    session(
        &tools,
        &[
            (
                "search orra river",
                "The Orra is a river of the land of Vell. It is 112 km long. It rises in hills.",
            ),
            ("lookup long", "(Result 1 / 1) It is 112 km long."),
            ("search Talk:Orra", "Could not find Talk:Orra. There are no similar titles."),
        ],
    )
    .await;
    let broken = Folder::new("dump-broken", &[("wiki.xml", b"<mediawiki>\n<page><title>A</title>\n")]);
    assert_eq!(open(&broken.0).unwrap_err(), "DIR/wiki.xml, line 2: the page does not end");
}

#[cfg(unix)]
#[test]
fn links_lead_to_files_but_not_round_in_circles() {
    use std::os::unix::fs::symlink;

    let folder = Folder::new("links", &[("a.txt", b"A sentence."), ("deep/b.TXT", b"B.")]);
    symlink(&folder.0, folder.0.join("deep/up")).unwrap();
    symlink(folder.0.join("a.txt"), folder.0.join("c.txt")).unwrap();
    assert_eq!(open(&folder.0).unwrap().documents(), 3);
    let outside = Folder::new("outside", &[("secret.txt", b"A key.")]);
    symlink(outside.0.join("secret.txt"), folder.0.join("deep/e.txt")).unwrap();
    let error = open(&folder.0).unwrap_err();
    assert!(error.contains("deep/e.txt leads to a file outside of"), "{error}");
    std::fs::remove_file(folder.0.join("deep/e.txt")).unwrap();
    symlink(folder.0.join("nowhere"), folder.0.join("d.txt")).unwrap();
    let error = open(&folder.0).unwrap_err();
    assert!(error.starts_with("DIR/d.txt cannot be read: No such file"), "{error}");
}

#[tokio::test]
async fn a_folder_is_a_source_of_tools() {
    let open = async |text: String| {
        let source = ToolSource::parse(&text, |_| None).unwrap();
        assert!(!source.is_foreign());
        source.open(ClientLimits::default(), None).await
    };
    let source = open(format!("docs=search+react+1:{EXAMPLE}")).await.unwrap();
    let tools = CombinedTools::new(vec![source]).unwrap();
    assert_eq!(ask(&tools, "docs_search Tarn").await, "The Tarn is a river that flows into the Orra..");
    let error = open("search:nowhere/at/all".to_owned()).await.unwrap_err();
    assert!(error.is_usage());
    assert_eq!(
        error.to_string(),
        "search:nowhere/at/all: nowhere/at/all is not a folder: give one that holds .txt, .md, .jsonl or .xml files, or a .jsonl or .xml file"
    );
}
