//! Noun phrases for a user's own tools, from their names.
//!
//! The rule, by example:
//!
//! | name | text |
//! |---|---|
//! | `get_invoice`, `getInvoice`, `get-invoice` | invoice retrieval |
//! | `list_open_orders` | open order listing |
//! | `add_item_to_cart`, `add_to_cart` | item-to-cart addition, addition to cart |
//! | `search`, `escalate` | search, escalation |
//! | `user_delete` | user deletion |
//! | `slack_post_message` | slack message posting |
//! | `refund_payment`, `report_generation`, `charge_amount` | payment refund, report generation, charge amount |
//!
//! A name is split at underscores, hyphens, full stops, slashes and inner capitals. A verb at its beginning, behind the
//! name of a service, or at its end, becomes a noun at the end; the verb's object precedes it, in the singular, with
//! hyphens if it contains a preposition; `check_in_guest` becomes "guest check-in". Many verbs are nouns as well
//! (`report`), so the other words decide. An unknown word before something that other tools are about becomes a gerund.
//! Any other name is unchanged. A text that is the beginning of another one, that another tool has already, or that
//! ends in a plural becomes a "request". If the result is still unusable, the name has no text.

use std::collections::HashSet;

use super::tool_verbs::{
    ADJECTIVES, ATTRIBUTES, NEVER_VERBS, NO_VERBS, NOUN_ENDINGS, PARTICLES, PEOPLE, PREFIXES, PREPOSITIONS,
    RARELY_VERBS, SERVICES, THINGS, VERB_ENDINGS, VERBS, VERBS_WITH_IN_OR_ON, VerbKind,
};
use super::{RESERVED_WORDS, TopicBank, activity_fault, begins_another, snake_case};

/// A text for a tool's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolText {
    /// A noun phrase, if the rule understood the name.
    pub text: String,
    /// Whether it did. Otherwise the text may be no noun phrase, and somebody should look at it.
    pub is_understood: bool,
}

/// A text for each of the names, in order; `None` if the rule finds none. Texts from the user are in `given`, so that
/// none is used twice.
pub fn texts_of_tool_names<'a>(
    names: impl IntoIterator<Item = &'a str>,
    given: impl IntoIterator<Item = &'a str>,
) -> Vec<Option<ToolText>> {
    let mut taken: Vec<String> = given.into_iter().map(str::to_owned).collect();
    let mut known: HashSet<String> = taken.iter().map(|text| snake_case(text)).collect();
    let names: Vec<Vec<String>> = names.into_iter().map(words_of).collect();
    let others = Others::of(&names);
    let (plain, is_understood): (Vec<String>, Vec<bool>) =
        names.iter().map(|words| text_of(words, &others)).unzip();
    let mut texts = Vec::with_capacity(names.len());
    for ((words, text), is_understood) in names.iter().zip(&plain).zip(is_understood) {
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
        texts.push(text.map(|text| ToolText { text, is_understood }));
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
    let has_particle = match &words[..] {
        [verb, particle, ..] => {
            let particle = particle.as_str();
            PARTICLES.contains(&particle)
                || VERBS_WITH_IN_OR_ON.contains(&verb.as_str()) && ["in", "on"].contains(&particle)
        }
        _ => false,
    };
    if has_particle {
        // "check-in", which is its noun as well.
        let particle = words.remove(1);
        words[0] = format!("{}-{particle}", words[0]);
    }
    words
}

/// What the names of a list show of the words in them.
struct Others<'a> {
    /// What verbs of the list are about, as phrases: "invoice" of `get_invoice`.
    objects: HashSet<String>,
    /// The words of these phrases.
    nouns: HashSet<&'a str>,
    /// The first word of all names, if they share one: the name of a service.
    shared: Option<&'a str>,
}

impl<'a> Others<'a> {
    fn of(names: &'a [Vec<String>]) -> Self {
        let objects = names.iter().filter_map(|words| {
            let (first, rest) = words.split_first()?;
            let is_verb =
                verb(first).is_some_and(|(_, kind)| matches!(kind, VerbKind::Only | VerbKind::Also));
            (is_verb && !rest.is_empty()).then_some(rest)
        });
        let shared = names.first().and_then(|words| words.first()).map(String::as_str);
        let is_shared =
            names.len() > 2 && names.iter().all(|words| words.first().map(String::as_str) == shared);
        Self {
            objects: objects.clone().map(joined).collect(),
            nouns: objects.flatten().map(String::as_str).collect(),
            shared: shared.filter(|_| is_shared),
        }
    }

    fn is_service(&self, word: &str) -> bool {
        SERVICES.contains(&word) || self.shared == Some(word)
    }

    fn has_noun(&self, word: &str) -> bool {
        self.nouns.iter().any(|noun| singular(noun) == word)
    }
}

/// The noun of a verb, and how sure it is that the word is one.
fn verb(word: &str) -> Option<(String, VerbKind)> {
    let known = |word: &str| {
        let place = VERBS.binary_search_by_key(&word, |(verb, _, _)| verb).ok()?;
        let (_, noun, kind) = VERBS[place];
        Some((noun.to_owned(), kind))
    };
    if word.contains('-') {
        // With a particle.
        return Some((word.to_owned(), VerbKind::Only));
    }
    known(word).or_else(|| {
        if NO_VERBS.contains(&word) {
            return None;
        }
        let of_other = PREFIXES.iter().find_map(|prefix| {
            let (noun, _) = known(word.strip_prefix(prefix)?)?;
            Some([prefix, noun.as_str()].concat())
        });
        let by_ending = || {
            VERB_ENDINGS.iter().find_map(|(ending, noun, length_min)| {
                let stem = word.strip_suffix(ending).filter(|stem| stem.len() >= *length_min)?;
                Some([stem, noun].concat())
            })
        };
        Some((of_other.or_else(by_ending)?, VerbKind::Only))
    })
}

/// The text of a name, and whether it is understood.
fn text_of(words: &[String], others: &Others<'_>) -> (String, bool) {
    let (Some((first, rest)), Some(last)) = (words.split_first(), words.last()) else {
        return (String::new(), false);
    };
    let verbs: Vec<_> = words.iter().map(|word| verb(word)).collect();
    let kind = |place: usize| verbs[place].as_ref().map(|(_, kind)| *kind);
    // The phrase in which the verb at this place is the noun at the end.
    let with_verb = |place: usize| {
        let noun = verbs[place].as_ref().map_or("", |(noun, _)| noun);
        (phrase(&words[..place], noun, &words[place + 1..]), true)
    };
    let end = words.len() - 1;
    if end == 0 {
        let is_noun = ATTRIBUTES.contains(&first.as_str());
        return if kind(0).is_some() { with_verb(0) } else { (joined(words), is_noun) };
    }
    let one = singular(last);
    let has = |list: &[&str]| list.contains(&one.as_str());
    // `report_generation` is a noun phrase already, although `report` could be a verb.
    let is_of_verb = || VERBS.iter().any(|(verb, noun, _)| verb != last && noun == last);
    let is_action =
        !has(THINGS) && (NOUN_ENDINGS.iter().any(|ending| last.ends_with(ending)) || is_of_verb());
    let ends_in_verb = kind(end) == Some(VerbKind::Only);
    let is_order = match kind(0) {
        None => false,
        Some(VerbKind::Only) => true,
        Some(VerbKind::Also) => !is_action && !ends_in_verb,
        Some(VerbKind::Thing) => {
            let is_thing = others.has_noun(first) && !others.objects.contains(&joined(rest));
            !is_action && !ends_in_verb && kind(end) != Some(VerbKind::Also) && !has(ATTRIBUTES) && !is_thing
        }
        Some(VerbKind::People) => has(PEOPLE),
    };
    if let [_, between, _] = words
        && (between == "and" || between == "or")
        && kind(0).is_some()
        && kind(end).is_some()
    {
        // `search_and_replace` has no object.
        return (joined(words), true);
    }
    if is_order {
        return with_verb(0);
    }
    // `slack_post_message`: what precedes the verb says whose it is.
    let inner = (1..end).find(|&place| match kind(place) {
        Some(VerbKind::People) | None => false,
        Some(VerbKind::Only) if !is_action => true,
        Some(_) => words[..place].iter().all(|word| others.is_service(word)),
    });
    if let Some(place) = inner {
        return with_verb(place);
    }
    match kind(end) {
        _ if is_action => (joined(words), true),
        Some(VerbKind::Only | VerbKind::Also) => with_verb(end),
        // `error_log`, and `charge_amount`; but `plate_order` may say what to do with an order.
        Some(VerbKind::Thing | VerbKind::People) => {
            (joined(words), is_noun(first) || !may_be_verb(first, others))
        }
        None if kind(0).is_some() && has(ATTRIBUTES) => (joined(words), true),
        None if may_be_verb(first, others) && one == *last && others.objects.contains(&joined(rest)) => {
            // A guess, so it is not understood.
            (phrase(&[], &gerund(first), rest), false)
        }
        None => (joined(words), is_noun(first)),
    }
}

/// Whether a word at the beginning is not a verb by its form or by a list.
fn is_noun(word: &str) -> bool {
    [PEOPLE, ADJECTIVES].iter().any(|list| list.contains(&word))
        || NEVER_VERBS.iter().any(|ending| word.ends_with(ending))
}

/// A noun phrase: whose action it is, what it is about, and the noun for it.
fn phrase(owner: &[String], noun: &str, rest: &[String]) -> String {
    let is_behind = rest.first().is_some_and(|first| {
        PREPOSITIONS.contains(&first.as_str()) && !RESERVED_WORDS.contains(&first.as_str())
    });
    if is_behind {
        // There is no object to precede the noun.
        let rest = joined(rest).replace('-', " ");
        return [owner, &[noun.to_owned(), rest]].concat().join(" ");
    }
    let object = joined(&[owner, rest].concat());
    if object.is_empty() { noun.to_owned() } else { format!("{object} {noun}") }
}

/// Whether a word at the beginning that nobody knows could be a verb.
fn may_be_verb(word: &str, others: &Others<'_>) -> bool {
    let lists = [NO_VERBS, THINGS, ATTRIBUTES, SERVICES];
    let is_known = || {
        let shipped = TopicBank::shipped().topics().iter().flat_map(|topic| &topic.activities);
        others.has_noun(word) || shipped.flat_map(|it| it.text.split([' ', '-'])).any(|noun| noun == word)
    };
    word.len() > 2
        && word.bytes().all(|byte| byte.is_ascii_lowercase())
        && lists.iter().all(|list| !list.contains(&word))
        && NOUN_ENDINGS.iter().chain(&RARELY_VERBS).all(|ending| !word.ends_with(ending))
        && !is_noun(word)
        && !is_known()
}

/// The gerund of a regular verb: "blur" gives "blurring", "stake" "staking".
fn gerund(verb: &str) -> String {
    let is_vowel = |byte: u8| b"aeiou".contains(&byte);
    if let Some(stem) = verb.strip_suffix("ie") {
        return format!("{stem}ying");
    }
    let bytes = verb.as_bytes();
    match *bytes {
        [.., before, b'e'] if !b"eoy".contains(&before) => format!("{}ing", &verb[..verb.len() - 1]),
        // A short verb doubles its last letter: one vowel between single consonants.
        [.., before, vowel, last]
            if !is_vowel(before)
                && is_vowel(vowel)
                && !is_vowel(last)
                && !b"wxy".contains(&last)
                && bytes.iter().filter(|byte| is_vowel(**byte)).count() == 1 =>
        {
            format!("{verb}{}ing", char::from(last))
        }
        _ => format!("{verb}ing"),
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
        "lens" | "news" | "series" | "species" | "means" => return word.to_owned(),
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
        texts.into_iter().map(|text| text.map_or_else(|| "-".to_owned(), |it| it.text)).collect()
    }

    #[test]
    fn verbs_are_sorted_and_their_nouns_can_be_used() {
        assert!(VERBS.is_sorted_by(|one, two| one.0 < two.0));
        for (verb, noun, _) in VERBS {
            assert_eq!(activity_fault(noun), None, "{verb}");
        }
    }

    #[test]
    fn unknown_verbs_are_guessed_where_their_objects_are_known() {
        for (names, text) in [
            (&["smudge_image", "get_image"][..], "image smudging"),
            (&["garble_page_title", "get_page_title"], "page title garbling"),
            // Nobody else is about images, or the first word is not a verb.
            (&["smudge_image", "get_page"], "smudge image"),
            (&["weather_forecast", "get_forecast"], "weather forecast"),
            (&["cart_items", "get_item"], "cart item"),
            (&["image_page", "get_image", "get_page"], "image page"),
            (&["recent_page", "get_page"], "recent page"),
        ] {
            let made = texts_of_tool_names(names.iter().copied(), []);
            let made = made[0].as_ref().expect("it has a text");
            assert_eq!(made.text, text);
            // The first words of these cannot be verbs. Somebody should look at the others.
            assert_eq!(
                made.is_understood,
                ["weather forecast", "image page", "recent page"].contains(&text),
                "{text}"
            );
        }
        for (verb, noun) in [("stake", "staking"), ("tie", "tying"), ("see", "seeing"), ("mow", "mowing")] {
            assert_eq!(gerund(verb), noun);
        }
    }

    #[test]
    fn services_precede_verbs() {
        for (names, text) in [
            (&["github_request_review"][..], "github review request"),
            (&["acme_order_part", "acme_log_call", "acme_ping"], "acme part ordering"),
            (&["acme_order_part"], "acme order part"),
            (&["bulk_update_contacts"], "bulk contact update"),
            (&["slack_send_to_channel"], "slack sending to channel"),
        ] {
            let made = texts_of_tool_names(names.iter().copied(), []);
            assert_eq!(made[0].as_ref().map(|it| it.text.as_str()), Some(text), "{names:?}");
        }
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
            ("browser_take_screenshot", "browser screenshot taking"),
            ("s3_put", "s3 storing"),
            ("add_to_cart", "addition to cart"),
            ("save_as", "save-as request"),
            // By itself "after" would change the meaning of a sentence.
            ("get_events_after_date", "event-after-date retrieval"),
            ("check_in_guest", "guest check-in"),
            ("write_off_debts", "debt write-off"),
            ("clock_in", "clock-in"),
            ("search_in_folder", "search in folder"),
            ("search_and_replace", "search-and-replace"),
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
        assert_eq!(given[0].as_ref().map(|it| it.text.as_str()), Some("get invoice request"));
    }
}
