//! Development tasks. `cargo run -p xtask -- tidy` checks what the compiler cannot; `kit NAME DIR` prints our values
//! for every input of a kit; `sbom` prints the contents of the binary; `walks` prints which files of a crate import
//! each other in circles, and how many files a reader comes to who begins at one.

mod kit;
mod sbom;
mod tidy;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};

const USAGE: &str = "usage: cargo run -p xtask -- (tidy | sbom | walks [FILE...] | kit NAME DIR)";

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => tidy(),
        ["sbom"] => {
            println!("{:#}", sbom::bill(repository_root()?)?);
            Ok(ExitCode::SUCCESS)
        }
        ["walks", ref starts @ ..] => {
            print!("{}", tidy::walks(repository_root()?, starts)?);
            Ok(ExitCode::SUCCESS)
        }
        ["kit", name, directory] => kit(name, Path::new(directory)),
        _ => {
            eprintln!("{USAGE}");
            Ok(ExitCode::from(2))
        }
    }
}

fn tidy() -> Result<ExitCode> {
    let (files, findings) = tidy::check(repository_root()?)?;
    for finding in &findings {
        println!("{finding}");
    }
    println!("tidy: {files} files, {} findings", findings.len());
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn kit(name: &str, directory: &Path) -> Result<ExitCode> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in kit::lines(name, directory)? {
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn repository_root() -> Result<&'static Path> {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in no directory")
}
