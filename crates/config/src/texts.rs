//! Names of files within the texts of keys, such as that of a specification in the name of an agent. As all files of
//! a configuration file, they are relative to its folder.

use std::ops::Range;
use std::path::{Path, PathBuf};

use planproof_agents::{AgentSpec, BodyName, Reach};
use planproof_tools::ToolSource;

/// What the text of a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The name of an agent.
    Agent,
    /// The name of a model.
    Model,
    /// A source of tools.
    Source,
    /// A policy: a word, or a file.
    Policy,
    /// The body of a request: a protocol, or a file.
    Body,
    /// A file.
    File,
}

/// The keys whose texts may name files.
const FORMS: [(&str, Form); 11] = [
    ("agent", Form::Agent),
    ("serve-model", Form::Model),
    ("model", Form::Model),
    ("judge", Form::Model),
    ("rewrite", Form::Model),
    ("evaluator", Form::Model),
    ("tools", Form::Source),
    ("pages", Form::Source),
    ("media", Form::File),
    ("policy", Form::Policy),
    ("body", Form::Body),
];

/// What the name of a model that is a recording begins with.
const REPLAY: &str = "replay/";

/// What stands before a file in the name of an agent.
const OF_AGENTS: [&str; 3] = ["spec:", "prompt=", "roles="];

/// What stands behind one, if anything does.
const ENDS: [char; 3] = [',', ':', '@'];

/// Sources of tools that name a file or a folder, behind options (`search+react:FOLDER`).
const SOURCES: [&str; 3] = ["search", "everyday", "made"];

/// The files that the text of a key names, in order.
pub(crate) fn files<'t>(key: &str, text: &'t str) -> Vec<&'t str> {
    places(key, text).into_iter().map(|place| &text[place]).collect()
}

/// The text with its files seen from the current folder, where `folder` is that of the configuration file.
///
/// # Errors
/// They cannot be written so: says why.
pub(crate) fn seen_from(key: &str, text: &str, folder: &Path) -> Result<String, String> {
    let places = places(key, text);
    if folder.as_os_str().is_empty() || places.is_empty() {
        return Ok(text.to_owned());
    }
    let fail = || {
        let folder = folder.display();
        format!(
            "`{key}` names a file, which cannot be written with its folder {folder}: name it with its whole path"
        )
    };
    let seen: Vec<PathBuf> = places.iter().map(|place| folder.join(&text[place.clone()])).collect();
    let seen: Vec<&str> = seen.iter().map(|file| file.to_str()).collect::<Option<_>>().ok_or_else(fail)?;
    let mut whole = text.to_owned();
    for (place, file) in places.into_iter().zip(&seen).rev() {
        whole.replace_range(place, file);
    }
    // The name of a folder may hold what ends a name, as an `@` does.
    match files(key, &whole) == seen {
        true => Ok(whole),
        false => Err(fail()),
    }
}

fn places(key: &str, text: &str) -> Vec<Range<usize>> {
    let form = FORMS.iter().find(|(name, _)| *name == key).map(|(_, form)| *form);
    let all = 0..text.len();
    let mut places = match form {
        None => Vec::new(),
        Some(Form::Agent) => of_agent(text),
        Some(Form::Model) => text.starts_with(REPLAY).then(|| REPLAY.len()..text.len()).into_iter().collect(),
        Some(Form::Source) => of_source(text).into_iter().collect(),
        Some(Form::Policy) if matches!(text, "stated" | "hidden") => Vec::new(),
        Some(Form::Body) if !matches!(BodyName::parse(text), BodyName::File(_)) => Vec::new(),
        Some(Form::Policy | Form::Body | Form::File) => vec![all],
    };
    // Standard input is the same everywhere.
    places.retain(|place| !matches!(&text[place.clone()], "" | "-"));
    places
}

fn of_agent(text: &str) -> Vec<Range<usize>> {
    // What is wrong with a name is said where the agent is made.
    let Ok(agent) = AgentSpec::parse(text) else { return Vec::new() };
    let mut places: Vec<Range<usize>> = Vec::new();
    for reach in agent.reaches() {
        let (marks, file) = match reach {
            Reach::File(file) => (&OF_AGENTS[..], file),
            Reach::Model(model) => match model.strip_prefix(REPLAY) {
                Some(file) => (&[REPLAY][..], file),
                None => continue,
            },
            Reach::Program(_) | Reach::Service(_) => continue,
        };
        for mark in marks {
            let named = format!("{mark}{file}");
            let ends = |(place, named): &(usize, &str)| {
                let behind = &text[place + named.len()..];
                behind.is_empty() || behind.starts_with(ENDS)
            };
            let found = text.match_indices(&named).filter(ends);
            places.extend(found.map(|(place, named)| place + mark.len()..place + named.len()));
        }
    }
    places.sort_by_key(|place| (place.start, place.end));
    places.dedup();
    places
}

fn of_source(text: &str) -> Option<Range<usize>> {
    // As it is with lists of tools: nothing else with a colon is a list.
    if text.ends_with(".json") && !text.contains(':') {
        return Some(0..text.len());
    }
    let (_, rest) = ToolSource::split_name(text).ok()?;
    let (kind, file) = rest.split_once(':')?;
    let kind = kind.split('+').next().unwrap_or_default();
    SOURCES.contains(&kind).then(|| text.len() - file.len()..text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_within_texts_are_seen_from_the_folder_of_the_file_that_names_them() {
        for (key, text, expected) in [
            ("agent", "spec:my.spec@sim/perfect", "spec:../my.spec@sim/perfect"),
            (
                "agent",
                "repair:spec:a/b.spec:samples=3@openai/m",
                "repair:spec:../a/b.spec:samples=3@openai/m",
            ),
            (
                "agent",
                "fallback:spec:a,spec:a.spec@replay/r.jsonl",
                "fallback:spec:../a,spec:../a.spec@replay/../r.jsonl",
            ),
            ("agent", "fallback:spec:a,spec:a@sim/perfect", "fallback:spec:../a,spec:../a@sim/perfect"),
            (
                "agent",
                "plan:prompt=p.txt,judge=replay/j@sim/x",
                "plan:prompt=../p.txt,judge=replay/../j@sim/x",
            ),
            ("agent", "team:roles=crew.toml@sim/gold", "team:roles=../crew.toml@sim/gold"),
            ("agent", "spec:/whole.spec@sim/perfect", "spec:/whole.spec@sim/perfect"),
            ("agent", "react@sim/perfect", "react@sim/perfect"),
            // Programs and what they are given are seen from where they are started.
            ("agent", "command:sh spec:a.spec", "command:sh spec:a.spec"),
            ("agent", "url:http://h/x", "url:http://h/x"),
            ("agent", "nothing of the kind", "nothing of the kind"),
            ("serve-model", "replay/r.jsonl", "replay/../r.jsonl"),
            ("model", "mine=http://h/v1/m", "mine=http://h/v1/m"),
            ("tools", "search:docs", "search:../docs"),
            ("tools", "d=search+react+3:docs", "d=search+react+3:../docs"),
            ("tools", "everyday:m.toml", "everyday:../m.toml"),
            ("tools", "made:m.json", "made:../m.json"),
            ("tools", "tools.json", "../tools.json"),
            ("tools", "mcp:sh a.sh", "mcp:sh a.sh"),
            ("tools", "a=mcp+http://h", "a=mcp+http://h"),
            ("tools", "calculator", "calculator"),
            ("tools", "everyday", "everyday"),
            ("pages", "search:docs", "search:../docs"),
            ("pages", "wiki:http://h", "wiki:http://h"),
            ("media", "m.toml", "../m.toml"),
            ("policy", "policy.md", "../policy.md"),
            ("policy", "hidden", "hidden"),
            ("body", "body.json", "../body.json"),
            ("body", "chat:m", "chat:m"),
            ("body", "-", "-"),
            ("label", "a.json", "a.json"),
        ] {
            assert_eq!(seen_from(key, text, Path::new("..")).as_deref(), Ok(expected), "{key} = {text}");
            assert_eq!(seen_from(key, text, Path::new("")).as_deref(), Ok(text), "{key} = {text}");
        }
        let wrong = seen_from("agent", "spec:a:samples=3@sim/x", Path::new("b:samples=2,"));
        assert!(wrong.is_err_and(|what| what.contains("with its whole path")));
    }
}
