//! Noun phrases for a user's own tools, from their names.
//!
//! The rule, by example:
//!
//! | name | text |
//! |---|---|
//! | `get_invoice`, `getInvoice`, `get-invoice` | invoice retrieval |
//! | `list_open_orders` | open order listing |
//! | `add_item_to_cart`, `add_to_cart` | item-to-cart addition, addition to cart |
//! | `search` | search |
//! | `user_delete` | user deletion |
//! | `report_generation`, `network_diagnosis` | report generation, network diagnosis |
//!
//! A name is split at underscores, hyphens, full stops, slashes and inner capitals. A verb at its beginning, or at
//! its end, becomes a noun at the end; the verb's object precedes it, in the singular, with hyphens if it contains a
//! preposition. A name without a known verb is unchanged. A text that is the beginning of another one, that another
//! tool has already, or that ends in a plural becomes a "request". If the result is still unusable, the name has no
//! text.

use std::collections::HashSet;

use super::{RESERVED_WORDS, activity_fault, begins_another, snake_case};

/// Verbs at the beginning of tools' names, with their nouns.
const VERBS: &[(&str, &str)] = &[
    ("accept", "acceptance"),
    ("activate", "activation"),
    ("add", "addition"),
    ("analyse", "analysis"),
    ("analyze", "analysis"),
    ("append", "appending"),
    ("apply", "application"),
    ("approve", "approval"),
    ("archive", "archiving"),
    ("ask", "asking"),
    ("assign", "assignment"),
    ("attach", "attachment"),
    ("book", "booking"),
    ("browse", "browsing"),
    ("build", "build"),
    ("calculate", "calculation"),
    ("call", "call"),
    ("cancel", "cancellation"),
    ("change", "change"),
    ("check", "check"),
    ("clear", "clearing"),
    ("click", "click"),
    ("clone", "cloning"),
    ("close", "closing"),
    ("compare", "comparison"),
    ("compute", "computation"),
    ("confirm", "confirmation"),
    ("connect", "connection"),
    ("convert", "conversion"),
    ("copy", "copying"),
    ("count", "count"),
    ("create", "creation"),
    ("deactivate", "deactivation"),
    ("delete", "deletion"),
    ("deploy", "deployment"),
    ("describe", "description"),
    ("detect", "detection"),
    ("disable", "disabling"),
    ("download", "download"),
    ("edit", "editing"),
    ("enable", "enabling"),
    ("evaluate", "evaluation"),
    ("execute", "execution"),
    ("export", "export"),
    ("extract", "extraction"),
    ("fetch", "fetching"),
    ("fill", "filling"),
    ("find", "finding"),
    ("fork", "forking"),
    ("format", "formatting"),
    ("forward", "forwarding"),
    ("generate", "generation"),
    ("get", "retrieval"),
    ("import", "import"),
    ("insert", "insertion"),
    ("inspect", "inspection"),
    ("install", "installation"),
    ("invite", "invitation"),
    ("launch", "launch"),
    ("list", "listing"),
    ("load", "loading"),
    ("lookup", "lookup"),
    ("make", "making"),
    ("merge", "merge"),
    ("modify", "modification"),
    ("monitor", "monitoring"),
    ("move", "moving"),
    ("navigate", "navigation"),
    ("notify", "notification"),
    ("open", "opening"),
    ("parse", "parsing"),
    ("pause", "pause"),
    ("pay", "payment"),
    ("ping", "ping"),
    ("post", "posting"),
    ("print", "printing"),
    ("process", "processing"),
    ("publish", "publication"),
    ("push", "push"),
    ("put", "storing"),
    ("query", "query"),
    ("read", "reading"),
    ("receive", "receipt"),
    ("refresh", "refresh"),
    ("register", "registration"),
    ("reject", "rejection"),
    ("release", "release"),
    ("remove", "removal"),
    ("rename", "renaming"),
    ("render", "rendering"),
    ("reply", "reply"),
    ("request", "request"),
    ("reserve", "reservation"),
    ("reset", "reset"),
    ("resolve", "resolution"),
    ("restart", "restart"),
    ("restore", "restoration"),
    ("resume", "resumption"),
    ("retrieve", "retrieving"),
    ("review", "review"),
    ("revoke", "revocation"),
    ("run", "run"),
    ("save", "saving"),
    ("scan", "scan"),
    ("schedule", "scheduling"),
    ("scrape", "scraping"),
    ("search", "search"),
    ("select", "selection"),
    ("send", "sending"),
    ("set", "setting"),
    ("share", "sharing"),
    ("show", "display"),
    ("sort", "sorting"),
    ("start", "start"),
    ("stop", "stop"),
    ("store", "storing"),
    ("submit", "submission"),
    ("subscribe", "subscription"),
    ("summarise", "summary"),
    ("summarize", "summary"),
    ("sync", "synchronisation"),
    ("tag", "tagging"),
    ("test", "test"),
    ("track", "tracking"),
    ("transfer", "transfer"),
    ("translate", "translation"),
    ("unassign", "unassignment"),
    ("uninstall", "uninstallation"),
    ("unsubscribe", "unsubscription"),
    ("update", "update"),
    ("upgrade", "upgrade"),
    ("upload", "upload"),
    ("validate", "validation"),
    ("verify", "verification"),
    ("view", "viewing"),
    ("wait", "wait"),
    ("watch", "watching"),
    ("write", "writing"),
];

/// Endings of nouns for actions: a name with one at its end is a noun phrase already.
const NOUN_ENDINGS: [&str; 6] = ["tion", "sion", "ment", "ing", "sis", "ance"];

/// Words between a verb's object and what it belongs to.
const PREPOSITIONS: [&str; 20] = [
    "about", "after", "and", "as", "at", "before", "between", "by", "for", "from", "in", "into", "of", "on",
    "onto", "or", "over", "to", "via", "with",
];

/// A text for each of the names, in order; `None` if the rule finds none. Texts from the user are in `given`, so that
/// none is used twice.
pub fn texts_of_tool_names<'a>(
    names: impl IntoIterator<Item = &'a str>,
    given: impl IntoIterator<Item = &'a str>,
) -> Vec<Option<String>> {
    let mut taken: Vec<String> = given.into_iter().map(str::to_owned).collect();
    let mut known: HashSet<String> = taken.iter().map(|text| snake_case(text)).collect();
    let names: Vec<Vec<String>> = names.into_iter().map(words_of).collect();
    let plain: Vec<String> = names.iter().map(|words| text_of(words)).collect();
    let mut texts = Vec::with_capacity(names.len());
    for (words, text) in names.iter().zip(&plain) {
        let requested = format!("{} request", joined(words));
        // Also among the texts of later tools, which are not in `taken` yet.
        let is_beginning = begins_another(text, plain.iter().map(String::as_str)).is_some();
        let text = (!is_beginning).then(|| text.clone());
        let fits = |text: &String| {
            activity_fault(text).is_none()
                && !known.contains(&snake_case(text))
                && begins_another(text, taken.iter().map(String::as_str)).is_none()
                && taken.iter().all(|other| begins_another(other, [text.as_str()].into_iter()).is_none())
        };
        let text = text.into_iter().chain([requested]).find(fits);
        if let Some(text) = &text {
            known.insert(snake_case(text));
            taken.push(text.clone());
        }
        texts.push(text);
    }
    texts
}

/// The words of a name, in lower case.
fn words_of(name: &str) -> Vec<String> {
    let characters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (place, c) in characters.iter().enumerate() {
        if !c.is_ascii_alphanumeric() {
            words.push(String::new());
            continue;
        }
        let before = place.checked_sub(1).and_then(|before| characters.get(before));
        let is_lower = |c: Option<&char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        // `getURLPath`: a capital begins a word after a lower-case letter, and before one.
        let begins = c.is_ascii_uppercase()
            && (is_lower(before)
                || before.is_some_and(char::is_ascii_uppercase)
                    && characters.get(place + 1).is_some_and(char::is_ascii_lowercase));
        if begins {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(c.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn noun_of(verb: &str) -> Option<&'static str> {
    VERBS.binary_search_by_key(&verb, |(verb, _)| verb).ok().map(|place| VERBS[place].1)
}

fn text_of(words: &[String]) -> String {
    let Some((last, front)) = words.split_last() else { return String::new() };
    let is_noun = !front.is_empty() && NOUN_ENDINGS.iter().any(|ending| last.ends_with(ending));
    let (noun, rest) = match (words.first().and_then(|first| noun_of(first)), noun_of(last)) {
        // `report_generation` is a noun phrase already, although `report` could be a verb.
        _ if is_noun => return joined(words),
        (Some(noun), _) => (noun, &words[1..]),
        (None, Some(noun)) => (noun, front),
        (None, None) => return joined(words),
    };
    let is_behind = rest.first().is_some_and(|first| {
        PREPOSITIONS.contains(&first.as_str()) && !RESERVED_WORDS.contains(&first.as_str())
    });
    match rest {
        [] => noun.to_owned(),
        // There is no object to precede the noun.
        _ if is_behind => format!("{noun} {}", joined(rest).replace('-', " ")),
        rest => format!("{} {noun}", joined(rest)),
    }
}

/// Words as a phrase that can precede a noun: the last one in the singular, and all joined by hyphens if there is a
/// preposition among them.
fn joined(words: &[String]) -> String {
    let is_preposition = |word: &String| PREPOSITIONS.contains(&word.as_str());
    let is_end = |place: usize| words.get(place + 1).is_none_or(is_preposition);
    let words: Vec<String> = words
        .iter()
        .enumerate()
        .map(|(place, word)| if is_end(place) { singular(word) } else { word.clone() })
        .collect();
    words.join(if words.iter().any(is_preposition) { "-" } else { " " })
}

/// The singular of a noun, for the usual endings.
pub(crate) fn singular(word: &str) -> String {
    let is_short = word.len() <= 3;
    if is_short || !word.ends_with('s') || ["ss", "us", "is"].iter().any(|ending| word.ends_with(ending)) {
        return word.to_owned();
    }
    match word {
        "news" | "series" | "species" | "means" => return word.to_owned(),
        _ => {}
    }
    if let Some(stem) = word.strip_suffix("ies") {
        return format!("{stem}y");
    }
    let in_es = ["sses", "shes", "ches", "xes", "zzes", "uses"];
    let cut =
        if in_es.iter().any(|ending| word.ends_with(ending)) && !word.ends_with("causes") { 2 } else { 1 };
    word[..word.len() - cut].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(names: &[&str]) -> Vec<String> {
        let texts = texts_of_tool_names(names.iter().copied(), []);
        texts.into_iter().map(|text| text.unwrap_or_else(|| "-".to_owned())).collect()
    }

    #[test]
    fn verbs_are_sorted() {
        assert!(VERBS.is_sorted_by(|one, two| one.0 < two.0));
    }

    #[test]
    fn names_become_noun_phrases() {
        for (name, text) in [
            ("get_invoice", "invoice retrieval"),
            ("getInvoice", "invoice retrieval"),
            ("GetHTTPLogs", "http log retrieval"),
            ("get-invoice", "invoice retrieval"),
            ("files.read", "file reading"),
            ("list_open_orders", "open order listing"),
            ("list_categories", "category listing"),
            ("list_branches", "branch listing"),
            ("add_item_to_cart", "item-to-cart addition"),
            ("get_invoices_by_customer", "invoice-by-customer retrieval"),
            ("search", "search"),
            ("user_delete", "user deletion"),
            ("report_generation", "report generation"),
            ("fence_mending", "fence mending"),
            ("network_diagnosis", "network diagnosis"),
            ("weather", "weather"),
            ("check_status", "status check"),
            ("create_pull_request", "pull request creation"),
            ("browser_take_screenshot", "browser take screenshot"),
            ("s3_put", "s3 storing"),
            ("add_to_cart", "addition to cart"),
            ("save_as", "save-as request"),
            // By itself "after" would change the meaning of a sentence.
            ("get_events_after_date", "event-after-date retrieval"),
            ("search_and_replace", "and-replace search"),
        ] {
            assert_eq!(texts(&[name]), [text], "{name}");
        }
    }

    #[test]
    fn no_text_is_taken_twice_or_begins_another() {
        assert_eq!(
            texts(&["get_invoice", "getInvoice", "getinvoice"]),
            ["invoice retrieval", "get invoice request", "getinvoice",]
        );
        assert_eq!(texts(&["account", "account_balance"]), ["account request", "account balance"]);
        assert_eq!(texts(&["account_balance", "account"]), ["account balance", "account request"]);
        assert_eq!(texts(&["news", "", "_", "天気", &"x".repeat(64)]), ["news request", "-", "-", "-", "-"]);
        let given = texts_of_tool_names(["get_invoice"], ["invoice retrieval"]);
        assert_eq!(given, [Some("get invoice request".to_owned())]);
    }
}
