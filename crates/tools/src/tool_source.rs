//! Sources of tools, as named on the command line.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use secrecy::SecretString;
use thiserror::Error;
use tokio::time::timeout;

use crate::client::{ClientLimits, CommandServer, HttpServer, McpTools, Server, ServerError, ServerLog};
use crate::pages::{
    Collection, CollectionError, Dialect, SENTENCES_MAX, SearchTools, Style, Wiki, WikiError,
};
use crate::{BUILTIN_NAMES, Toolbox, builtin};

/// Prefix of the environment variables with the tokens of named sources: the token of `mail` is in
/// `PLANPROOF_TOKEN_MAIL`. They are withheld from programs that are started as sources.
pub const TOKEN_VARIABLES: &str = "PLANPROOF_TOKEN_";

/// Longest name of a source: it leaves room for the tool's own name.
const NAME_BYTES_MAX: usize = 24;

/// A source of tools: `mcp:COMMAND`, `mcp+http://...`, `mcp+https://...`, `search:FOLDER`, `wiki:URL`, or the name of
/// built-in tools ([`BUILTIN_NAMES`]); with a prefix `NAME=` to distinguish its tools from others'. A dialect and a
/// number of sentences may follow `search` and `wiki`, as in `search+react+3:FOLDER`.
#[derive(Debug, Clone)]
pub struct ToolSource {
    label: String,
    name: Option<String>,
    origin: Origin,
}

#[derive(Debug, Clone)]
enum Origin {
    Builtin(&'static str),
    Server(Server),
    Search(PathBuf, Style),
    Wiki(Wiki, Style),
}

/// Why a text names no tools, or its tools are unavailable.
#[derive(Debug, Error)]
pub enum ToolSourceError {
    /// It is none of the known kinds.
    #[error(
        "unknown source of tools `{text}`: write mcp:COMMAND, mcp+http://HOST/PATH, mcp+https://HOST/PATH, \
         search:FOLDER, wiki:URL, or one of the built-in tools: {}", BUILTIN_NAMES.join(", ")
    )]
    Unknown { text: String },
    /// What stands before `=` is not a name.
    #[error("`{name}` cannot name a source of tools: use 1 to {NAME_BYTES_MAX} letters, digits, - and _")]
    Name { name: String },
    /// The text after `search+` or `wiki+` is not an option.
    #[error(
        "`{option}` is no option of `{kind}`: write react, ibm, or a number of sentences from 1 to {SENTENCES_MAX}, as in \
         {kind}+react+3:..."
    )]
    Option { kind: String, option: String },
    /// There is no folder behind `search:`.
    #[error("`search:` names no folder: write search:FOLDER")]
    NoFolder,
    /// The folder is not a collection.
    #[error("{label}: {error}")]
    Collection { label: String, error: CollectionError },
    /// The wiki cannot be had.
    #[error("{label}: {error}")]
    Wiki {
        /// The source, without possible secrets.
        label: String,
        error: WikiError,
    },
    /// The server cannot be had.
    #[error("{label}: {error}")]
    Server {
        /// The source, without possible secrets.
        label: String,
        error: ServerError,
    },
}

impl ToolSourceError {
    /// Whether the user has to mend the command line, as opposed to the server or the network.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Unknown { .. } | Self::Name { .. } | Self::Option { .. } | Self::NoFolder => true,
            Self::Collection { error, .. } => error.is_usage(),
            Self::Wiki { error, .. } => error.is_usage(),
            Self::Server { error, .. } => error.is_usage(),
        }
    }
}

impl ToolSource {
    /// Parses a source from the command line. `variable` looks up an environment variable, for the token of a named
    /// source. Starts nothing yet.
    ///
    /// # Errors
    /// The text does not have the form above.
    pub fn parse(
        text: &str,
        variable: impl Fn(&str) -> Option<SecretString>,
    ) -> Result<Self, ToolSourceError> {
        let (name, rest) = Self::split_name(text)?;
        let label = label(rest);
        let failed = |error| ToolSourceError::Server { label: label.clone(), error };
        let origin = if let Some(command) = rest.strip_prefix("mcp:") {
            let mut server = CommandServer::parse(command).map_err(failed)?;
            server.hide_variables(TOKEN_VARIABLES);
            Origin::Server(Server::Command(server))
        } else if rest.starts_with("mcp+http://") || rest.starts_with("mcp+https://") {
            // The variable is called after the source, so a source without a name has no token.
            let token = name.and_then(|name| variable(&Self::token_variable(name)));
            let server = HttpServer::new(rest.trim_start_matches("mcp+"), token.as_ref()).map_err(failed)?;
            Origin::Server(Server::Http(server))
        } else if let Some(builtin) = BUILTIN_NAMES.into_iter().find(|builtin| *builtin == rest) {
            Origin::Builtin(builtin)
        } else if let Some((style, folder)) = styled(rest, "search")? {
            if folder.is_empty() {
                return Err(ToolSourceError::NoFolder);
            }
            Origin::Search(PathBuf::from(folder), style)
        } else if let Some((style, url)) = styled(rest, "wiki")? {
            let failed = |error| ToolSourceError::Wiki { label: label.clone(), error };
            Origin::Wiki(Wiki::new(url).map_err(failed)?, style)
        } else {
            return Err(ToolSourceError::Unknown { text: rest.to_owned() });
        };
        Ok(Self { label, name: name.map(str::to_owned), origin })
    }

    /// The name of a source on the command line, if it has one, and the rest.
    ///
    /// # Errors
    /// The text before `=` is not a name.
    pub fn split_name(text: &str) -> Result<(Option<&str>, &str), ToolSourceError> {
        let (name, rest) = match text.split_once('=') {
            // A text with a colon before it is already a command or a URL, which may contain a `=`.
            Some((name, rest)) if !name.contains(':') => (name, rest),
            _ => return Ok((None, text)),
        };
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.chars().all(is_part) {
            return Err(ToolSourceError::Name { name: name.to_owned() });
        }
        Ok((Some(name), rest))
    }

    /// The environment variable with the token of a source of this name: `PLANPROOF_TOKEN_MY_MAIL` for `my-mail`.
    pub fn token_variable(name: &str) -> String {
        format!("{TOKEN_VARIABLES}{}", name.to_ascii_uppercase().replace('-', "_"))
    }

    /// The source as written, without its name and possible secrets.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// What its tools' names begin with.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Whether its tools are not ours, so that their effects are unknown.
    pub fn is_foreign(&self) -> bool {
        matches!(self.origin, Origin::Server(_))
    }

    /// Whether its tools search pages.
    pub fn has_pages(&self) -> bool {
        matches!(self.origin, Origin::Search(..) | Origin::Wiki(..))
    }

    /// Starts or connects to the source, and lists its tools; for a folder, reads its documents, and gives up when
    /// the future is dropped. `log` gets a program's stderr, line by line; without it the end of stderr is in the
    /// error. Needs a Tokio runtime.
    ///
    /// # Errors
    /// The server is unavailable, or reaches a limit.
    pub async fn open(
        &self,
        limits: ClientLimits,
        log: Option<&ServerLog>,
    ) -> Result<OpenSource, ToolSourceError> {
        let (toolbox, server): (Arc<dyn Toolbox>, _) = match &self.origin {
            Origin::Builtin(name) => {
                (builtin(name).expect("the name was found among the built-in ones"), None)
            }
            Origin::Server(server) => {
                let tools = McpTools::open(server, limits, log)
                    .await
                    .map_err(|error| ToolSourceError::Server { label: self.label.clone(), error })?;
                let tools = Arc::new(tools);
                (Arc::clone(&tools) as Arc<dyn Toolbox>, Some(tools))
            }
            Origin::Search(folder, style) => {
                let collection = open_collection(folder.clone())
                    .await
                    .map_err(|error| ToolSourceError::Collection { label: self.label.clone(), error })?;
                (Arc::new(SearchTools::new(Arc::new(collection), *style, limits.call)), None)
            }
            Origin::Wiki(wiki, style) => {
                let checked = timeout(limits.start, wiki.check()).await.unwrap_or_else(|_| {
                    let reason = format!("it did not answer within {:?}", limits.start);
                    Err(WikiError::Unusable { reason })
                });
                checked.map_err(|error| ToolSourceError::Wiki { label: self.label.clone(), error })?;
                (Arc::new(SearchTools::new(Arc::new(wiki.clone()), *style, limits.call)), None)
            }
        };
        Ok(OpenSource { label: self.label.clone(), name: self.name.clone(), toolbox, server })
    }
}

/// The style and the text after the colon, if the text has the form `KIND:...` or `KIND+OPTION+OPTION:...`.
fn styled<'a>(text: &'a str, kind: &str) -> Result<Option<(Style, &'a str)>, ToolSourceError> {
    let Some((options, place)) = text.strip_prefix(kind).and_then(|rest| rest.split_once(':')) else {
        return Ok(None);
    };
    if !options.is_empty() && !options.starts_with('+') {
        return Ok(None);
    }
    let (mut dialect, mut sentences) = (None, None);
    for option in options.split('+').skip(1) {
        let wrong = || ToolSourceError::Option { kind: kind.to_owned(), option: option.to_owned() };
        // A second dialect falls through and is refused, because it is not a number.
        if let Some(named) = Dialect::of_name(option).filter(|_| dialect.is_none()) {
            dialect = Some(named);
        } else {
            let number = option.parse().ok().filter(|number| (1..=SENTENCES_MAX).contains(number));
            sentences = Some(number.filter(|_| sentences.is_none()).ok_or_else(wrong)?);
        }
    }
    let style = Style::new(dialect.unwrap_or_default());
    Ok(Some((Style { sentences: sentences.unwrap_or(style.sentences), ..style }, place)))
}

/// Reads a collection on a blocking thread, and stops it if the future is dropped.
async fn open_collection(folder: PathBuf) -> Result<Collection, CollectionError> {
    struct StopAtDrop(Arc<AtomicBool>);
    impl Drop for StopAtDrop {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let stop = StopAtDrop(Arc::default());
    let seen = Arc::clone(&stop.0);
    let opened = tokio::task::spawn_blocking(move || Collection::open(&folder, &seen)).await;
    opened.unwrap_or(Err(CollectionError::GivenUp))
}

/// A URL without its query, which may contain a key, and anything else unchanged.
fn label(text: &str) -> String {
    let is_url = ["mcp+http://", "mcp+https://", "wiki"].iter().any(|start| text.starts_with(start));
    let shown = if is_url { text.split(['?', '#']).next().unwrap_or(text) } else { text };
    match shown.split_once("://") {
        // A password does not belong there, but there may be one.
        Some((scheme, rest)) if is_url && rest.contains('@') => {
            format!("{scheme}://...@{}", rest.rsplit('@').next().unwrap_or_default())
        }
        _ => shown.to_owned(),
    }
}

/// A source of tools that is ready.
#[derive(Clone)]
pub struct OpenSource {
    label: String,
    name: Option<String>,
    toolbox: Arc<dyn Toolbox>,
    server: Option<Arc<McpTools>>,
}

impl OpenSource {
    /// A source of any tools of this process.
    pub fn new(label: impl Into<String>, name: Option<String>, toolbox: Arc<dyn Toolbox>) -> Self {
        Self { label: label.into(), name, toolbox, server: None }
    }

    /// The source as written, without its name and possible secrets.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// What its tools' names begin with.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The tools, by their own names.
    pub fn toolbox(&self) -> &Arc<dyn Toolbox> {
        &self.toolbox
    }

    /// The server behind it, if there is one.
    pub fn server(&self) -> Option<&McpTools> {
        self.server.as_deref()
    }

    /// The same source for another run, if runs must be kept apart.
    pub(crate) fn for_run(&self) -> Option<Self> {
        self.toolbox.for_run().map(|toolbox| Self { toolbox, ..self.clone() })
    }

    /// Ends the server behind it.
    pub async fn close(&self) {
        if let Some(server) = &self.server {
            server.close().await;
        }
    }
}

impl fmt::Debug for OpenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools = self.toolbox.tools().len();
        f.debug_struct("OpenSource")
            .field("label", &self.label)
            .field("tools", &tools)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ToolSource, String> {
        ToolSource::parse(text, |_| None).map_err(|error| error.to_string())
    }

    #[test]
    fn sources_are_told_apart() {
        for (text, label, name, is_foreign) in [
            ("calculator", "calculator", None, false),
            ("sums=calculator", "calculator", Some("sums"), false),
            ("mcp:python s.py --x=1", "mcp:python s.py --x=1", None, true),
            ("my-fs_2=mcp:env A=b server", "mcp:env A=b server", Some("my-fs_2"), true),
            ("mcp+http://127.0.0.1:1/mcp?key=s", "mcp+http://127.0.0.1:1/mcp", None, true),
            ("mail=mcp+https://h/x#y", "mcp+https://h/x", Some("mail"), true),
            ("search:a=b", "search:a=b", None, false),
            ("search+react+3:my docs", "search+react+3:my docs", None, false),
            ("en=wiki:https://h/w/api.php", "wiki:https://h/w/api.php", Some("en"), false),
            ("wiki+ibm:http://h/api.php", "wiki+ibm:http://h/api.php", None, false),
        ] {
            let source = parse(text).unwrap();
            assert_eq!((source.label(), source.name.as_deref()), (label, name));
            assert_eq!(source.is_foreign(), is_foreign);
        }
    }

    #[test]
    fn what_is_no_source_is_refused() {
        for (text, part) in [
            ("", "unknown source of tools ``"),
            ("abacus", "or one of the built-in tools: calculator"),
            ("http://h/mcp", "unknown source"),
            ("mcp:", "the command is empty"),
            ("mcp:a 'b", "a quote in the command is not closed"),
            ("a b=calculator", "`a b` cannot name a source"),
            ("=calculator", "`` cannot name a source"),
            ("mcp+http://", "not the URL of a tool server"),
            ("search:", "`search:` names no folder"),
            ("searches:docs", "unknown source"),
            (
                "search+bing:docs",
                "`bing` is no option of `search`: write react, ibm, or a number of sentences",
            ),
            ("search+:docs", "`` is no option"),
            ("search+react+ibm:docs", "`ibm` is no option"),
            ("wiki+0:https://h/", "`0` is no option of `wiki`"),
            ("wiki+3+4:https://h/", "`4` is no option"),
            ("wiki:", "wiki:: not the URL of a wiki's API"),
            ("wiki:ftp://h/api.php", "it begins with neither http:// nor https://"),
            ("wiki:https://h/api.php?key=hunter2", "wiki:https://h/api.php: not the URL"),
            ("wiki:https://u:hunter2@h/", "wiki:https://...@h/: not the URL"),
            ("mcp+http://u:hunter2@h/", "mcp+http://...@h/: not the URL of a tool server"),
        ] {
            let error = ToolSource::parse(text, |_| None).unwrap_err();
            assert!(error.is_usage());
            let error = error.to_string();
            assert!(error.contains(part) && !error.contains("hunter2"), "{text}: {error}");
        }
        assert!(parse(&format!("{}=calculator", "n".repeat(25))).is_err());
    }

    #[test]
    fn a_named_source_has_a_token() {
        let asked = std::cell::RefCell::new(Vec::new());
        let variable = |name: &str| {
            asked.borrow_mut().push(name.to_owned());
            Some(SecretString::from("hunter2"))
        };
        let source = ToolSource::parse("my-mail=mcp+http://h/", variable).unwrap();
        assert_eq!(*asked.borrow(), ["PLANPROOF_TOKEN_MY_MAIL"]);
        assert!(!format!("{source:?}").contains("hunter2"));
        ToolSource::parse("mcp+http://h/", |_| unreachable!("a source without a name has no token")).unwrap();
        let broken = ToolSource::parse("mail=mcp+http://h/", |_| Some("a\nhunter2".into())).unwrap_err();
        assert!(!broken.to_string().contains("hunter2"), "{broken}");
    }
}
