//! `planproof man`: manual pages.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::report_files::ReportFile;
use planproof_output::terminal;

use crate::arguments::{Arguments, ManArguments, without_idle_options};

pub(crate) fn run(arguments: &ManArguments) -> Result<ExitCode, Failure> {
    let root = without_idle_options(Arguments::command());
    let mut out = terminal::document();
    let Some(folder) = &arguments.folder else {
        out.write_all(&page(&root)?.1)?;
        return Ok(ExitCode::Passed);
    };
    let fail = |path: &Path, error: std::io::Error| {
        Failure::of_file(format!("cannot write {}: {error}", path.display()), &error)
    };
    fs::create_dir_all(folder).map_err(|error| fail(folder, error))?;
    for (name, page) in pages(&root)? {
        let path = folder.join(name);
        ReportFile::open("man", &path)?.write_silently(|file| file.write_all(&page))?;
        writeln!(out, "{}", path.display())?;
    }
    Ok(ExitCode::Passed)
}

/// The pages of a command and of all below it, with the names of their files, as in `planproof-runs-show.1`.
fn pages(command: &Command) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let mut all = vec![page(command)?];
    // Clap adds a `help` below each command that has others; it is none of ours.
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        all.extend(pages(below)?);
    }
    Ok(all)
}

fn page(command: &Command) -> Result<(String, Vec<u8>), Failure> {
    let man = Man::new(command.clone())
        .source(concat!("planproof ", env!("CARGO_PKG_VERSION")))
        .manual("planproof");
    let mut page = Vec::new();
    man.render(&mut page)?;
    Ok((man.get_filename(), page))
}
