//! Addresses: what a path and a query ask for, and the links between pages.

use std::fmt::Write as _;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use planproof_loopback::same;
use planproof_store::{RunStanding, RunsAfter, Unit};

/// Most bytes of a text that a filter looks for.
const FILTER_BYTES_MAX: usize = 200;

/// Everything but what stands for itself in a path and a query.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A page, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Wanted {
    /// The list of campaigns.
    List(ListQuery),
    /// A campaign: the place of its store, its id, and what is shown of its runs.
    Campaign(usize, String, RunQuery),
    Run(usize, String, Unit, Option<usize>),
    /// The report of a campaign.
    Report(usize, String),
}

/// What is shown of the list of campaigns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct ListQuery {
    /// Part of the agent's name, in lower case.
    pub(crate) agent: String,
    /// Part of the id, label, model or command line, in lower case.
    pub(crate) text: String,
    /// The store and campaign after which the page begins.
    pub(crate) after: Option<(usize, String)>,
}

/// What is shown of the runs of a campaign.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct RunQuery {
    pub(crate) standing: Option<RunStanding>,
    /// A class of failures.
    pub(crate) class: String,
    /// Part of the id or the label of the case, in lower case.
    pub(crate) text: String,
    /// Where the page begins.
    pub(crate) after: Option<After>,
}

/// Where a page of runs begins, as in an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum After {
    /// After this unit.
    Unit(Unit),
    /// After the run with this number.
    Begun(i64),
}

/// A request that a path and a query make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) wanted: Wanted,
    /// The live states of the page instead of the page, after the one with this name.
    pub(crate) live: Option<Option<String>>,
}

/// Why an address leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    /// It lacks the token.
    Token,
    /// It has the token, and no such page exists.
    Page,
}

/// Reads an address.
pub(crate) fn read(path: &str, query: Option<&str>, token: &str) -> Result<Request, Lost> {
    let path = path.strip_prefix('/').ok_or(Lost::Token)?;
    let (given, rest) = path.split_once('/').unwrap_or((path, ""));
    if !same(given.as_bytes(), token.as_bytes()) {
        return Err(Lost::Token);
    }
    let query = Query::new(query.unwrap_or_default()).ok_or(Lost::Page)?;
    // An empty last part is the slash at the end.
    let parts: Vec<String> = rest
        .strip_suffix('/')
        .unwrap_or(rest)
        .split('/')
        .map(|part| decoded(part).ok_or(Lost::Page))
        .collect::<Result<_, _>>()?;
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let number = |text: &str| plain_number(text).ok_or(Lost::Page);
    let wanted = match parts.as_slice() {
        [""] => Wanted::List(ListQuery {
            agent: query.filter("agent"),
            text: query.filter("text"),
            after: match query.get("after") {
                None => None,
                Some(text) => {
                    let (store, id) = text.split_once('.').ok_or(Lost::Page)?;
                    Some((number(store)?, id.to_owned()))
                }
            },
        }),
        [store, id] => Wanted::Campaign(number(store)?, (*id).to_owned(), run_query(&query)?),
        [store, id, "report"] => Wanted::Report(number(store)?, (*id).to_owned()),
        [store, id, ordinal, repeat] => {
            let small = |text: &str| number(text).and_then(|it| u32::try_from(it).map_err(|_| Lost::Page));
            let unit = Unit { ordinal: small(ordinal)?, repeat: small(repeat)? };
            let after = query.get("after").map(number).transpose()?;
            Wanted::Run(number(store)?, (*id).to_owned(), unit, after)
        }
        _ => return Err(Lost::Page),
    };
    let live = query.get("live").map(|_| query.get("last").map(str::to_owned));
    Ok(Request { wanted, live })
}

fn run_query(query: &Query) -> Result<RunQuery, Lost> {
    let standing = match query.get("outcome").unwrap_or_default() {
        "" => None,
        word => Some(standing_of(word).ok_or(Lost::Page)?),
    };
    let after = match query.get("after") {
        None => None,
        Some(text) => Some(match text.split_once('-') {
            Some((ordinal, repeat)) => {
                let number = |text: &str| text.parse().map_err(|_| Lost::Page);
                After::Unit(Unit { ordinal: number(ordinal)?, repeat: number(repeat)? })
            }
            None => After::Begun(text.parse().ok().filter(|run| *run >= 0).ok_or(Lost::Page)?),
        }),
    };
    let class = query.get("class").unwrap_or_default().to_owned();
    Ok(RunQuery { standing, class, text: query.filter("text"), after })
}

/// A number without a sign or leading zeros: each page has one address.
fn plain_number(text: &str) -> Option<usize> {
    text.parse().ok().filter(|number: &usize| number.to_string() == text)
}

/// The outcomes, with the words for them in addresses and on pages.
pub(crate) const STANDINGS: [(RunStanding, &str); 4] = [
    (RunStanding::Failed, "failed"),
    (RunStanding::Passed, "passed"),
    (RunStanding::Unscored, "unscored"),
    (RunStanding::Started, "running"),
];

fn standing_of(word: &str) -> Option<RunStanding> {
    STANDINGS.iter().find(|(_, it)| *it == word).map(|(standing, _)| *standing)
}

/// The word for an outcome.
pub(crate) fn word_of(standing: RunStanding) -> &'static str {
    STANDINGS.iter().find(|(it, _)| *it == standing).map_or("", |(_, word)| word)
}

impl RunQuery {
    /// Where the store begins to read, by the order that serves the filter best.
    pub(crate) fn runs_after(&self) -> RunsAfter {
        match self.after {
            Some(After::Unit(unit)) => RunsAfter::Unit(Some(unit)),
            Some(After::Begun(run)) => RunsAfter::Begun(run),
            // An index leads to the runs of one outcome, in the order in which they began.
            None if matches!(self.standing, Some(standing) if standing != RunStanding::Started) => {
                RunsAfter::Begun(0)
            }
            None => RunsAfter::Unit(None),
        }
    }

    /// The same with the page that begins there.
    pub(crate) fn at(&self, after: RunsAfter) -> Self {
        let after = match after {
            RunsAfter::Unit(unit) => unit.map(After::Unit),
            RunsAfter::Begun(run) => Some(After::Begun(run)),
        };
        Self { after, ..self.clone() }
    }
}

impl Wanted {
    /// The address of the page, for links.
    pub(crate) fn address(&self, token: &str) -> String {
        let mut address = format!("/{token}/");
        let mut fields: Vec<(&str, String)> = Vec::new();
        match self {
            Self::List(query) => {
                fields.push(("agent", query.agent.clone()));
                fields.push(("text", query.text.clone()));
                let after = query.after.as_ref().map(|(store, id)| format!("{store}.{id}"));
                fields.push(("after", after.unwrap_or_default()));
            }
            Self::Campaign(store, id, query) => {
                let _ = write!(address, "{store}/{}/", escaped(id));
                fields.push(("outcome", query.standing.map(word_of).unwrap_or_default().to_owned()));
                fields.push(("class", query.class.clone()));
                fields.push(("text", query.text.clone()));
                let after = query.after.map(|after| match after {
                    After::Unit(unit) => format!("{}-{}", unit.ordinal, unit.repeat),
                    After::Begun(run) => run.to_string(),
                });
                fields.push(("after", after.unwrap_or_default()));
            }
            Self::Report(store, id) => {
                let _ = write!(address, "{store}/{}/report", escaped(id));
            }
            Self::Run(store, id, unit, after) => {
                let _ = write!(address, "{store}/{}/{}/{}", escaped(id), unit.ordinal, unit.repeat);
                fields.push(("after", after.map(|after| after.to_string()).unwrap_or_default()));
            }
        }
        let mut sign = '?';
        for (name, value) in fields.into_iter().filter(|(_, value)| !value.is_empty()) {
            let _ = write!(address, "{sign}{name}={}", escaped(&value));
            sign = '&';
        }
        address
    }
}

fn escaped(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

fn decoded(text: &str) -> Option<String> {
    percent_decode_str(text).decode_utf8().ok().map(Into::into)
}

/// The fields of a query.
struct Query(Vec<(String, String)>);

impl Query {
    fn new(text: &str) -> Option<Self> {
        let field = |field: &str| {
            let (name, value) = field.split_once('=').unwrap_or((field, ""));
            // Forms write a blank as a plus sign.
            Some((decoded(name)?, decoded(&value.replace('+', " "))?))
        };
        text.split('&').filter(|field| !field.is_empty()).map(field).collect::<Option<_>>().map(Self)
    }

    /// The first value with this name.
    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    /// The value of a field that is looked for in texts.
    fn filter(&self, name: &str) -> String {
        let text = self.get(name).unwrap_or_default().trim();
        let mut end = text.len().min(FILTER_BYTES_MAX);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text[..end].to_lowercase()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    fn wanted(path: &str) -> Result<Wanted, Lost> {
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        read(path, query, TOKEN).map(|request| request.wanted)
    }

    #[test]
    fn every_page_is_found_by_its_own_address() {
        let unit = Unit { ordinal: 3, repeat: 1 };
        let query = RunQuery {
            standing: Some(RunStanding::Failed),
            class: "Order & more".to_owned(),
            text: "a b/ü".to_owned(),
            after: Some(After::Unit(unit)),
        };
        for page in [
            Wanted::List(ListQuery::default()),
            Wanted::List(ListQuery {
                agent: "x@y".to_owned(),
                after: Some((2, "a.b".to_owned())),
                ..ListQuery::default()
            }),
            Wanted::Campaign(0, "../etc/passwd?#".to_owned(), RunQuery::default()),
            Wanted::Campaign(63, "1a2b".to_owned(), query),
            Wanted::Campaign(
                0,
                "x".to_owned(),
                RunQuery { after: Some(After::Begun(9)), ..RunQuery::default() },
            ),
            Wanted::Run(0, "x".to_owned(), unit, None),
            Wanted::Run(0, "x".to_owned(), unit, Some(0)),
            Wanted::Report(1, "report".to_owned()),
        ] {
            assert_eq!(wanted(&page.address(TOKEN)), Ok(page.clone()), "{}", page.address(TOKEN));
        }
    }

    #[test]
    fn anything_else_leads_nowhere() {
        for path in [
            "",
            "/",
            "//",
            "/0123456789abcde",
            "/0123456789abcdef0",
            "/x/0123456789abcdef",
            "0123456789abcdef",
        ] {
            assert_eq!(wanted(path), Err(Lost::Token), "{path}");
        }
        for rest in [
            "x",
            "/x/y",
            "-1/y",
            "+1/y",
            "01/y",
            "0/y/1",
            "0/y/1/2/3",
            "0/y/a/0",
            "0/y/0/4294967296",
            "0/y/0/0?after=-1",
            "?after=x",
            "0/y?outcome=all",
            "0/y?after=1-",
            "0/y?after=-5",
            "0/%ff",
            "?text=%ff",
            "../..",
            "0/y/report/x",
            "99999999999999999999/y",
        ] {
            assert_eq!(wanted(&format!("/{TOKEN}/{rest}")), Err(Lost::Page), "{rest}");
        }
    }

    #[test]
    fn a_live_page_says_what_it_has() {
        let read = |query| read(&format!("/{TOKEN}/0/y"), Some(query), TOKEN).expect("exists").live;
        assert_eq!(
            [read(""), read("live"), read("live&last=7-a")],
            [None, Some(None), Some(Some("7-a".to_owned()))]
        );
    }
}
