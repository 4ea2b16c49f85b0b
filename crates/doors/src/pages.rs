//! The pages that the tools of questions search, given on the command line.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::thread;

use planproof_output::failure::Failure;
use planproof_qa::questions::{MakePageTools, OpenPages};
use planproof_suite::CaseError;
use planproof_tools::{ClientLimits, ToolSource};

use planproof_assembly::errors::OrFail as _;
use secrecy::SecretString;

/// Opens pages when tools over them are first needed: reports need none.
pub(super) fn opener() -> OpenPages {
    Arc::new(|source| {
        let parsed = parsed(source).map_err(Failure::into_case_error)?;
        let opened: OnceLock<Result<MakePageTools, CaseError>> = OnceLock::new();
        let later = move || {
            let opened = opened.get_or_init(|| tools(&parsed).map_err(Failure::into_case_error));
            opened.as_ref().map_err(CaseError::clone).and_then(|tools| tools())
        };
        Ok(Arc::new(later))
    })
}

/// The source with its folder as an absolute path, so that a campaign finds it from wherever it is resumed.
pub(super) fn absolute(source: &str) -> Result<String, Failure> {
    let (name, rest) = ToolSource::split_name(source).map_err(|error| Failure::usage(error.to_string()))?;
    let before = name.map(|name| format!("{name}=")).unwrap_or_default();
    match rest.split_once(':') {
        // Options may follow the word, as in `search+react:FOLDER`. Other sources have a URL, which is the same
        // everywhere.
        Some((kind, folder)) if kind.starts_with("search") => {
            let path = planproof_campaign::absolute(Path::new(folder)).or_fail()?;
            Ok(format!("{before}{kind}:{}", path.display()))
        }
        _ => Ok(source.to_owned()),
    }
}

/// The source of pages.
fn parsed(source: &str) -> Result<ToolSource, Failure> {
    let variable = |name: &str| std::env::var(name).ok().map(SecretString::from);
    let parsed = ToolSource::parse(source, variable).map_err(|error| Failure::usage(error.to_string()))?;
    match parsed.has_pages() {
        true => Ok(parsed),
        false => Err(Failure::usage(format!(
            "`{source}` is not a source of pages: write --pages search:FOLDER or --pages wiki:URL"
        ))),
    }
}

/// The tools over these pages: the pages are opened once, and each run begins without a page.
fn tools(parsed: &ToolSource) -> Result<MakePageTools, Failure> {
    let open = || -> Result<_, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime =
            runtime.map_err(|error| Failure::outside(format!("cannot start a runtime: {error}")))?;
        runtime.block_on(parsed.open(ClientLimits::default(), None)).map_err(|error| {
            let text = error.to_string();
            if error.is_usage() { Failure::usage(text) } else { Failure::outside(text) }
        })
    };
    // The caller may be inside of a runtime, where another one must not block.
    let opened = thread::scope(|scope| scope.spawn(open).join());
    let opened = opened.unwrap_or_else(|_| Err(Failure::outside("the pages could not be opened")))?;
    let toolbox = Arc::clone(opened.toolbox());
    // A toolbox without a state of its own can serve all runs.
    Ok(Arc::new(move || Ok(toolbox.for_run().unwrap_or_else(|| Arc::clone(&toolbox)))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_absolute_behind_any_name() {
        let folder = std::env::current_dir().expect("there is a folder").join("pages");
        let folder = folder.display();
        for (source, expected) in [
            ("search:pages", format!("search:{folder}")),
            ("search+react:pages", format!("search+react:{folder}")),
            ("docs=search:pages", format!("docs=search:{folder}")),
            ("wiki:https://a.example/w/api.php", "wiki:https://a.example/w/api.php".to_owned()),
            ("search=wiki:https://a.example/?b=c", "search=wiki:https://a.example/?b=c".to_owned()),
        ] {
            assert_eq!(absolute(source).expect("a source"), expected, "{source}");
        }
        assert!(absolute("two words=search:pages").is_err());
    }
}
