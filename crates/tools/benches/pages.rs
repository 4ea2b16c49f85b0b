//! How fast documents are indexed, and how soon a search in a million of them is answered.
//!
//! `cargo bench -p planproof-tools --bench pages` writes generated documents into a temporary folder, opens them as a
//! collection, and searches. It takes some minutes, and some gigabytes of the disk for temporary files. A number behind
//! `--` is that of the documents, by default a million.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use planproof_tools::Toolbox as _;
use planproof_tools::pages::{Collection, SearchTools, Style};
use planproof_trace::{Arguments, CallId, ToolCall};
use serde_json::json;

/// Documents, if the command line does not say.
const DOCUMENTS: u64 = 1_000_000;
/// Sentences of a document, of about 80 bytes each.
const SENTENCES: u64 = 5;
/// Searches of each kind.
const SEARCHES: u64 = 200;

/// Numbers of Lehmer's generator: which words there are matters little.
struct Draw(u64);

impl Draw {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(48_271) % 0x7fff_ffff;
        self.0 % most
    }

    /// A word of some 20,000, of which the first are far more frequent, as in a language.
    fn word(&mut self) -> String {
        let (a, b) = (self.below(20_000) + 1, self.below(20_000) + 1);
        let mut number = a * b / 20_000;
        let mut word = String::new();
        loop {
            word.push_str(
                ["ka", "ro", "mi", "te", "su", "no", "la", "vi", "pe", "du"][(number % 10) as usize],
            );
            number /= 10;
            if number == 0 {
                return word;
            }
        }
    }
}

fn title(number: u64) -> String {
    format!("Page {number} of {}", Draw(number * 2 + 1).word())
}

fn main() {
    let asked = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let documents: u64 = asked.unwrap_or(DOCUMENTS);
    let folder = std::env::temp_dir().join(format!("planproof-bench-pages-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let bytes = write(&folder.join("pages.jsonl"), documents).expect("a temporary file");
    let begun = Instant::now();
    let collection = Collection::open(&folder, &AtomicBool::new(false)).expect("they are documents");
    let took = begun.elapsed();
    let megabytes = bytes as f64 / 1e6;
    println!(
        "{documents} documents, {megabytes:.0} MB, indexed in {took:.1?}: {:.1} MB/s",
        megabytes / took.as_secs_f64()
    );
    let tools = Arc::new(SearchTools::new(Arc::new(collection), Style::default(), Duration::from_secs(60)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let mut draw = Draw(7);
    type Make = fn(&mut Draw, u64) -> String;
    let kinds: [(&str, Make); 3] = [
        ("a title as it is", |draw, documents| title(draw.below(documents))),
        ("a title in another case", |draw, documents| title(draw.below(documents)).to_uppercase()),
        ("a title that is not there", |draw, _| format!("{} {}", draw.word(), draw.word())),
    ];
    for (kind, make) in kinds {
        let mut times = Vec::new();
        for _ in 0..SEARCHES {
            let arguments = Arguments::from_text(&json!({ "title": make(&mut draw, documents) }).to_string());
            let call = ToolCall { id: CallId::new("c"), name: "search".to_owned(), arguments };
            let begun = Instant::now();
            let result = runtime.block_on(tools.execute(&call));
            times.push(begun.elapsed());
            assert!(!result.is_error, "{}", result.text);
        }
        times.sort();
        let at = |share: usize| times[times.len() * share / 100];
        println!(
            "{kind}: median {:.3?}, 95 % within {:.3?}, all within {:.3?}",
            at(50),
            at(95),
            times[times.len() - 1]
        );
    }
    std::fs::remove_dir_all(&folder).expect("the temporary folder can go");
}

/// Writes the documents, and says how many bytes their titles and texts have.
fn write(path: &std::path::Path, documents: u64) -> std::io::Result<u64> {
    let mut file = BufWriter::new(File::create(path)?);
    let mut draw = Draw(1);
    let mut bytes = 0;
    for number in 0..documents {
        let mut text = String::new();
        for _ in 0..SENTENCES {
            for place in 0..13 {
                let _ = write!(text, "{}{}", if place > 0 { " " } else { "" }, draw.word());
            }
            text.push_str(". ");
        }
        let title = title(number);
        bytes += (title.len() + text.len()) as u64;
        writeln!(file, "{}", json!({ "title": title, "text": text }))?;
    }
    file.flush()?;
    Ok(bytes)
}
