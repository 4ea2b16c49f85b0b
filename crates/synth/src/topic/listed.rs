//! A model's lists: from the lines of a reply to jobs and activities.

use super::tool_names::singular;
use super::{activity_fault, job_fault, snake_case};

/// Most items of one reply that are considered.
pub const LISTED_MAX: usize = 2000;

/// Longest piece of an item that is taken for an industry, in characters.
const INDUSTRY_CHARACTERS_MAX: usize = 40;

/// A rejected item, and the reason.
pub type ListedFault = (String, &'static str);

/// The items of a list in text: numbered or bulleted lines, a JSON array of texts, or else all non-blank lines.
/// Fences and words around a list are ignored.
pub fn listed_items(text: &str) -> Vec<String> {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("```"));
    let whole: Vec<&str> = lines().collect();
    // All lines together first, because an array can extend over several of them.
    if let Ok(items) = serde_json::from_str::<Vec<String>>(&whole.join("\n")) {
        return items.into_iter().take(LISTED_MAX).collect();
    }
    let marked: Vec<String> = lines().filter_map(marked).take(LISTED_MAX).map(str::to_owned).collect();
    if marked.is_empty() { whole.into_iter().take(LISTED_MAX).map(str::to_owned).collect() } else { marked }
}

/// The text after the mark of a list's line: `1.`, `1)`, `(1)`, `1:`, `-`, `*`, `+`, a bullet, a dash.
fn marked(line: &str) -> Option<&str> {
    // A bold line may have its number inside.
    let inner = line.trim_start_matches("**").trim_start_matches("__");
    let rest = inner.strip_prefix('(').unwrap_or(inner);
    let unnumbered = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    if unnumbered.len() < rest.len() {
        let behind = unnumbered.strip_prefix(['.', ')', ':'])?;
        // "1.5 hours" is not a line of a list.
        return (!behind.starts_with(|c: char| c.is_ascii_digit())).then(|| behind.trim());
    }
    let behind =
        line.strip_prefix(['-', '*', '+', '\u{2022}', '\u{2023}', '\u{25e6}', '\u{2013}', '\u{2014}'])?;
    behind.starts_with(char::is_whitespace).then(|| behind.trim())
}

/// The activity that an item names. Text after a colon, a dash or in brackets is removed, as are emphasis marks, an
/// article, and a capital at the beginning; a plural becomes a singular.
///
/// # Errors
/// The remaining text, and why it cannot be an activity.
pub fn listed_activity(item: &str) -> Result<String, ListedFault> {
    let (name, _) = split_description(&plain(item));
    let mut words = words_of(&name);
    if let Some(last) = words.last_mut() {
        *last = singular(last);
    }
    let text = words.join(" ");
    match activity_fault(&text) {
        None => Ok(text),
        Some(fault) => Err((text, fault)),
    }
}

/// The job that an item names, and the industry, if one follows a dash, a colon or is in brackets.
///
/// # Errors
/// The remaining text, and why it cannot be a job.
pub fn listed_job(item: &str) -> Result<(String, String), ListedFault> {
    let (name, behind) = split_description(&plain(item));
    let job = words_of(&name).join(" ");
    if let Some(fault) = job_fault(&job) {
        return Err((job, fault));
    }
    let industry = words_of(&behind).join(" ");
    let is_name = industry.chars().count() <= INDUSTRY_CHARACTERS_MAX && job_fault(&industry).is_none();
    Ok((job, if is_name { industry } else { String::new() }))
}

/// The words of a name, without a leading article, and in lower case except for abbreviations. Those are kept, and
/// are refused at the beginning of an activity, where a sentence would hide what they are.
fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = name.split_whitespace().map(str::to_owned).collect();
    if words.len() > 1 && ["a", "an", "the"].contains(&words[0].to_ascii_lowercase().as_str()) {
        words.remove(0);
    }
    let is_loud = words.len() > 1 && words.iter().all(|word| is_abbreviation(word));
    for word in &mut words {
        if is_loud || !is_abbreviation(word) {
            *word = word.to_lowercase();
        }
    }
    words
}

/// The same for two texts that differ only in capitals, hyphens and plurals.
pub fn sameness(text: &str) -> String {
    snake_case(text).split('_').map(singular).collect::<Vec<_>>().join("_")
}

fn is_abbreviation(word: &str) -> bool {
    word.len() > 1
        && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
        && word.starts_with(|c: char| c.is_ascii_uppercase())
}

/// An item without emphasis marks and quotes.
fn plain(item: &str) -> String {
    let is_mark = |c: char| matches!(c, '*' | '`' | '"' | '\u{201c}' | '\u{201d}');
    let item: String =
        item.chars().filter(|c| !is_mark(*c)).map(|c| if c == '\u{2019}' { '\'' } else { c }).collect();
    item.trim_matches(|c: char| c == '_' || c.is_whitespace()).trim_end_matches(['.', ',', ';']).to_owned()
}

/// An item's name, and its explanation.
fn split_description(item: &str) -> (String, String) {
    let ends = [": ", " - ", " \u{2013} ", " \u{2014} ", "\u{2014}", " (", "; ", ":"];
    let found = ends.iter().filter_map(|end| Some((item.find(end)?, end.len()))).min();
    let Some((at, length)) = found else { return (item.trim().to_owned(), String::new()) };
    let behind = item[at + length..].trim().trim_end_matches([')', '.']);
    (item[..at].trim().to_owned(), behind.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_all_styles_are_read() {
        for text in [
            "1. stock count\n2. menu check",
            "Sure! Here they are:\n\n1) stock count\n2) menu check\n\nLet me know.",
            "(1) stock count\n(2) menu check",
            "- stock count\n- menu check",
            "* stock count\n* menu check\n",
            "\u{2022} stock count\n\u{2022} menu check",
            "stock count\n\nmenu check",
            "```json\n[\"stock count\",\n \"menu check\"]\n```",
            "```\n1: stock count\n2: menu check\n```",
        ] {
            assert_eq!(listed_items(text), ["stock count", "menu check"], "{text}");
        }
        assert_eq!(listed_items("**1. Stock count** \u{2013} daily"), ["Stock count** \u{2013} daily"]);
        assert_eq!(listed_items(""), [""; 0]);
        assert_eq!(listed_items(&"- x\n".repeat(5000)).len(), LISTED_MAX);
    }

    #[test]
    fn activities_are_cleaned() {
        for (item, activity) in [
            ("Stock count", "stock count"),
            ("**Stock Counts**: counting what is there", "stock count"),
            ("The stock count.", "stock count"),
            ("Stock count \u{2013} every day", "stock count"),
            ("Stock count (daily)", "stock count"),
            ("\u{201c}Stock count\u{201d}", "stock count"),
            ("*Stock*  count,", "stock count"),
            ("Monthly KPI review", "monthly KPI review"),
            ("STOCK COUNT", "stock count"),
            ("Check-in desk cleaning", "check-in desk cleaning"),
        ] {
            assert_eq!(listed_activity(item).as_deref(), Ok(activity), "{item}");
        }
        for (item, why) in [
            ("I'm sorry, I cannot help with that", "something else"),
            ("<li>Stock count</li>", "something else"),
            ("Lunch and learn", "joins clauses"),
            ("HR meeting", "capital"),
            ("caf\u{e9} visit", "something else"),
            ("", "empty"),
            ("***", "empty"),
            (&"very ".repeat(30), "longer"),
        ] {
            let (_, fault) = listed_activity(item).expect_err(item);
            assert!(fault.contains(why), "{item}: {fault}");
        }
    }

    #[test]
    fn jobs_have_industries() {
        let job = |item: &str| listed_job(item).map(|(job, industry)| format!("{job}|{industry}"));
        assert_eq!(job("Registered Nurse (Healthcare)").as_deref(), Ok("registered nurse|healthcare"));
        assert_eq!(
            job("**IT technician** - information technology").as_deref(),
            Ok("IT technician|information technology")
        );
        assert_eq!(job("A Chef").as_deref(), Ok("chef|"));
        let long = format!("Chef: {}", "a person who cooks ".repeat(5));
        assert_eq!(job(&long).as_deref(), Ok("chef|"));
        assert!(job("No, I won't do that!").is_err());
    }

    #[test]
    fn plurals_and_capitals_are_the_same() {
        assert_eq!(sameness("Stock-counts"), sameness("stock count"));
        assert_ne!(sameness("stock count"), sameness("stock check"));
    }
}
