//! The address of a tool server, and why it is unavailable.

use std::fmt;
use std::time::Duration;

use hyper::Uri;
use hyper::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};
use thiserror::Error;

use super::http::HttpClient;
use crate::process::split_command;

/// A program that offers tools over its stdin and stdout. It runs with our own environment and working directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandServer {
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
    /// Prefix of the names of variables that are withheld from it.
    pub(super) hidden_variables: Option<&'static str>,
}

impl CommandServer {
    /// A program with its arguments.
    pub fn new(program: impl Into<String>, arguments: Vec<String>) -> Self {
        Self { program: program.into(), arguments, hidden_variables: None }
    }

    /// Splits a command into words by the rules of the shell: blanks, quotes and backslashes count; pipes, variables
    /// and patterns mean nothing (for those write `sh -c '...'`). A Windows path keeps its backslashes.
    ///
    /// # Errors
    /// There are no words, or a quote is not closed.
    pub fn parse(command: &str) -> Result<Self, ServerError> {
        let words = split_command(command);
        let words = words.ok_or_else(|| ServerError::UnclosedQuote { command: command.to_owned() })?;
        let mut words = words.into_iter();
        let program = words.next().filter(|program| !program.is_empty()).ok_or(ServerError::EmptyCommand)?;
        Ok(Self::new(program, words.collect()))
    }

    /// Withholds variables whose names begin with `prefix` from the program: tokens for other servers.
    pub fn hide_variables(&mut self, prefix: &'static str) {
        self.hidden_variables = Some(prefix);
    }
}

/// A URL where tools are offered over streamable HTTP. No proxy is used and no redirection followed.
#[derive(Clone)]
pub struct HttpServer {
    pub(super) client: HttpClient,
}

impl HttpServer {
    /// A server at an `http` or `https` URL, which gets `token` (`Authorization: Bearer ...`) if there is one. For
    /// https the system's root certificates are read.
    ///
    /// # Errors
    /// The URL cannot be called, or a header cannot carry the token.
    pub fn new(url: &str, token: Option<&SecretString>) -> Result<Self, ServerError> {
        // The URL is not repeated in these messages, because the fault may be a password in it.
        let invalid = |reason: String| ServerError::InvalidUrl { reason };
        let uri: Uri = url.parse().map_err(|error| invalid(format!("{error}")))?;
        let Some(authority) = uri.authority().filter(|authority| !authority.host().is_empty()) else {
            return Err(invalid("it names no host".to_owned()));
        };
        if authority.as_str().contains('@') {
            return Err(invalid("it holds a user name or a password; give a token instead".to_owned()));
        }
        let authorization =
            token.map(|token| HeaderValue::from_str(&format!("Bearer {}", token.expose_secret())));
        let authorization = authorization
            .transpose()
            .map_err(|_| invalid("its token has characters that no header can carry".to_owned()))?;
        Ok(Self { client: HttpClient::new(uri, authorization)? })
    }
}

impl fmt::Debug for HttpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A query may hold a key.
        f.debug_tuple("HttpServer").field(&self.client.host()).finish()
    }
}

/// Why the tools of a server are unavailable.
#[derive(Debug, Error)]
pub enum ServerError {
    /// There is no program.
    #[error("the command is empty: write the program and its arguments, as in `mcp:python my_server.py`")]
    EmptyCommand,
    /// A quote is never closed.
    #[error("a quote in the command is not closed: {command}")]
    UnclosedQuote { command: String },
    /// The text is not an absolute http or https URL.
    #[error("not the URL of a tool server ({reason}): write it as in `mcp+http://127.0.0.1:8000/mcp`")]
    InvalidUrl {
        /// What is wrong with it.
        reason: String,
    },
    /// No root certificates.
    #[error("https cannot be used: {reason}; install the system's CA certificates or set SSL_CERT_FILE")]
    Certificates { reason: String },
    /// The program does not exist, or is not executable.
    #[error(
        "`{program}` cannot be started: {source} (no shell reads the command: for `cd`, variables or pipes write `sh -c '...'`)"
    )]
    CannotStart {
        program: String,
        /// The operating system's word.
        source: std::io::Error,
    },
    /// The program ended before its tools were listed.
    #[error("the tool server ended before it had listed its tools{details}")]
    Ended {
        /// How, and what it wrote last.
        details: String,
    },
    /// The server did not list its tools in time.
    #[error("the tool server did not list its tools within {limit:?}{details}")]
    NotInTime {
        limit: Duration,
        /// What it wrote last.
        details: String,
    },
    /// Nobody answers at the URL, or access is denied.
    #[error("the tool server cannot be asked: {reason}")]
    Unreachable { reason: String },
    /// Its first answer is none of the protocol's.
    #[error("the tool server does not list its tools: {reason}{details}")]
    OddGreeting {
        /// What is wrong with it.
        reason: String,
        /// What it wrote last.
        details: String,
    },
    /// It does not speak the protocol, or offers no tools.
    #[error("the tool server does not list its tools: {reason}{details}")]
    Refused {
        reason: String,
        /// What it wrote last.
        details: String,
    },
    /// It offers too many tools.
    #[error(
        "the tool server lists more than {limit} tools: choose one that offers fewer, or tell it to offer fewer"
    )]
    TooManyTools { limit: usize },
}

impl ServerError {
    /// Whether the user has to mend the command line, as opposed to the server or the network.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::EmptyCommand
            | Self::UnclosedQuote { .. }
            | Self::InvalidUrl { .. }
            | Self::CannotStart { .. }
            | Self::TooManyTools { .. } => true,
            Self::Certificates { .. }
            | Self::Ended { .. }
            | Self::NotInTime { .. }
            | Self::Unreachable { .. }
            | Self::OddGreeting { .. }
            | Self::Refused { .. } => false,
        }
    }
}
