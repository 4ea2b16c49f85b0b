//! Votes over the answers of several samples (self-consistency, Wang et al. 2022), and when another agent has to
//! answer.

use planproof_spec::Compat;

/// Whose rules hold for votes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum VoteRules {
    /// Ours: answers are the same if [`key`] says so, with numbers compared by value; a sample without an answer has
    /// no vote; the other agent answers if no answer repeats (the paper, section 4).
    #[default]
    Ours,
    /// Those of the published code: answers are the same if they are equal after HotpotQA's normalisation; a blank
    /// one counts like any other; the other agent also decides among answers that share the first place. See
    /// [`Votes::decide`].
    Published,
}

impl From<Compat> for VoteRules {
    fn from(compat: Compat) -> Self {
        match compat {
            Compat::Ours => Self::Ours,
            Compat::Original => Self::Published,
        }
    }
}

/// Two answers are the same if they have the same key.
///
/// [`VoteRules::Published`] is the normalisation of HotpotQA: small letters; no character of ASCII's
/// punctuation; no word `a`, `an` or `the`; single spaces. It takes 1.5 for 15 and -3 for 3.
///
/// [`VoteRules::Ours`] is the same but for numbers: a word of digits, with or without a sign, a currency sign
/// before it, a percent sign after it, commas between groups of three digits, and a decimal point, stands for
/// its value (`1,200.50`, `$1200.5` and `+1200.500` are the same; `1.5` and `15` are not, nor `-3` and `3`).
/// If nothing is left of an answer, it stands for itself, in small letters.
pub fn key(answer: &str, rules: VoteRules) -> String {
    if rules == VoteRules::Published {
        return without_articles(&stripped(answer));
    }
    let words: Vec<String> =
        answer.split_whitespace().map(|word| number(word).unwrap_or_else(|| stripped(word))).collect();
    let key = without_articles(&words.join(" "));
    if key.is_empty() { answer.trim().to_lowercase() } else { key }
}

/// In small letters and without the punctuation of ASCII.
fn stripped(text: &str) -> String {
    text.to_lowercase().chars().filter(|c| !c.is_ascii_punctuation()).collect()
}

/// Without articles, and with single spaces. An article is a whole word, where words are what is between
/// characters that are not letters or digits.
fn without_articles(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !is_of_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        // A space, as in HotpotQA's code, so that the words around an article do not run together.
        out.push_str(if matches!(word, "a" | "an" | "the") { " " } else { word });
        let next = after.find(is_of_word).unwrap_or(after.len());
        out.push_str(&after[..next]);
        rest = &after[next..];
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The value of a number word in a canonical form: no sign except a minus, no redundant zeros.
fn number(word: &str) -> Option<String> {
    let word = word.trim_end_matches(['.', ',', ';', ':', '!', '?']);
    let word = word.strip_suffix('%').unwrap_or(word);
    let (is_negative, word) = sign(word);
    let currency = |word: &str| word.strip_prefix(['$', '\u{20ac}', '\u{a3}', '\u{a5}']).map(str::to_owned);
    let (is_negative, word) = match currency(word) {
        // The sign may stand on either side of the currency.
        Some(rest) => {
            let (is_negative_inside, rest) = sign(&rest);
            (is_negative || is_negative_inside, rest.to_owned())
        }
        None => (is_negative, word.to_owned()),
    };
    let (whole, fraction) = word.split_once('.').unwrap_or((&word, ""));
    let groups: Vec<&str> = whole.split(',').collect();
    // Commas count only between groups of three digits. Otherwise `1,5` would be 15.
    let is_grouped = groups.len() == 1
        || ((1..=3).contains(&groups[0].len()) && groups[1..].iter().all(|group| group.len() == 3));
    let digits = groups.concat();
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_grouped
        || !is_digits(&digits)
        || !is_digits(fraction)
        || (digits.is_empty() && fraction.is_empty())
    {
        return None;
    }
    let digits = digits.trim_start_matches('0');
    let fraction = fraction.trim_end_matches('0');
    let is_zero = digits.is_empty() && fraction.is_empty();
    // Minus zero is zero.
    let sign = if is_negative && !is_zero { "-" } else { "" };
    let digits = if digits.is_empty() { "0" } else { digits };
    let point = if fraction.is_empty() { "" } else { "." };
    Some(format!("{sign}{digits}{point}{fraction}"))
}

/// Whether a minus stands before a word, and the word without its sign.
fn sign(word: &str) -> (bool, &str) {
    match word.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => (true, rest),
        None => (false, word.strip_prefix('+').unwrap_or(word)),
    }
}

/// Samples that gave the same answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// What they have in common.
    pub key: String,
    /// The answer, as the first of them wrote it.
    pub answer: String,
    /// Which samples, by their places from 0.
    pub samples: Vec<usize>,
}

/// The answers of samples, counted by what they say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Votes {
    rules: VoteRules,
    groups: Vec<Group>,
}

/// Whose answer it is in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VoteDecision<'a> {
    /// That of these samples.
    Samples(&'a Group),
    /// That of the other agent.
    Other,
}

impl Votes {
    /// Counts answers; `None` stands for a sample without one. Quadratic in the number of different answers.
    pub fn new<'a>(answers: impl IntoIterator<Item = Option<&'a str>>, rules: VoteRules) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        for (sample, answer) in answers.into_iter().enumerate() {
            let answer = match rules {
                VoteRules::Ours => answer.map(str::trim).filter(|answer| !answer.is_empty()),
                VoteRules::Published => answer.map(str::trim),
            };
            let Some(answer) = answer else { continue };
            let key = key(answer, rules);
            match groups.iter_mut().find(|group| group.key == key) {
                Some(group) => group.samples.push(sample),
                None => groups.push(Group { key, answer: answer.to_owned(), samples: vec![sample] }),
            }
        }
        Self { rules, groups }
    }

    /// The groups, in the order of their first samples.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The largest group; of several, the one whose first sample came first. `None` if nobody answered.
    pub fn majority(&self) -> Option<&Group> {
        largest(&self.groups, |group| group.samples.len())
    }

    /// Whether two samples gave the same answer.
    pub fn has_repeats(&self) -> bool {
        self.groups.iter().any(|group| group.samples.len() > 1)
    }

    /// Whether another agent is to be asked: by our rules if no answer repeats; by the published code's if the
    /// largest group is not the only one of its size (so a single sample is enough).
    pub fn needs_other(&self) -> bool {
        match self.rules {
            VoteRules::Ours => !self.has_repeats(),
            VoteRules::Published => self.first_places().count() != 1,
        }
    }

    /// The final answer if the other agent, asked only when it [is needed](Self::needs_other), answered `other`.
    ///
    /// By our rules the other agent's answer, whatever it is. In the published code its answer is a vote for the
    /// groups that share the first place: the largest of them then wins if it has more than one vote (on a tie the
    /// first), and the other agent's answer counts only if there is none. So of 2-2-1 one of the two always wins.
    pub fn decide(&self, other: Option<&str>) -> VoteDecision<'_> {
        if !self.needs_other() {
            return self.majority().map_or(VoteDecision::Other, VoteDecision::Samples);
        }
        if self.rules == VoteRules::Ours {
            return VoteDecision::Other;
        }
        let other = other.map(|answer| key(answer, self.rules));
        let votes = |group: &Group| group.samples.len() + usize::from(other.as_ref() == Some(&group.key));
        match largest(self.first_places(), votes) {
            Some(group) if votes(group) > 1 => VoteDecision::Samples(group),
            _ => VoteDecision::Other,
        }
    }

    /// The groups of the largest size.
    fn first_places(&self) -> impl Iterator<Item = &Group> {
        let size = self.majority().map_or(0, |group| group.samples.len());
        self.groups.iter().filter(move |group| group.samples.len() == size)
    }
}

/// The first of the groups with most votes.
fn largest<'g>(
    groups: impl IntoIterator<Item = &'g Group>,
    votes: impl Fn(&Group) -> usize,
) -> Option<&'g Group> {
    let mut best: Option<&Group> = None;
    for group in groups {
        if best.is_none_or(|best| votes(group) > votes(best)) {
            best = Some(group);
        }
    }
    best
}
