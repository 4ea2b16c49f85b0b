//! The isolation of a program under test: the requested layers that the machine offers.

use std::env;
use std::path::{Path, PathBuf};

use planproof_campaign::ProgramOptions;
use planproof_isolation::{Hidden, Isolate, Layer, MachineIsolation, close_this_process, find, find_memory};
use planproof_output::failure::Failure;
use planproof_output::own;

/// How a program in this file is started, with the campaign in this store. Also closes this process to other programs
/// of its user.
///
/// # Errors
/// More is requested than the machine offers.
pub fn of_program(
    options: &ProgramOptions,
    store: &Path,
    program: &Path,
) -> Result<MachineIsolation, Failure> {
    let memory = options.agent_memory;
    let found = match options.isolate {
        Isolate::None => find_memory(memory),
        Isolate::Best | Isolate::Strict => isolated(options, store, program)?,
    };
    // A default that cannot be enforced is said in the report. A limit that somebody set has to hold.
    if memory.bytes().is_some() && !memory.is_default() && found.account.memory_bytes.is_none() {
        return Err(Failure::outside(format!(
            "--agent-memory {memory}: this machine cannot enforce the limit; --agent-memory none runs it \
             without a limit"
        )));
    }
    Ok(found)
}

/// The same where more than memory is asked for.
fn isolated(options: &ProgramOptions, store: &Path, program: &Path) -> Result<MachineIsolation, Failure> {
    let here = env::current_dir()
        .map_err(|error| Failure::outside(format!("the current directory cannot be found: {error}")))?;
    let folder = options.cwd.clone().unwrap_or_else(|| here.clone());
    // Either may hold a store in its `.planproof`, which is hidden as well.
    let folders = [folder, here];
    let mut hidden = Hidden::of_store(store, &folders);
    options.hidden.iter().for_each(|path| hidden.add(path));
    // Whoever has the secret in it could begin campaigns in the user's name.
    own::folder().iter().for_each(|folder| hidden.add(folder));
    // It is no secret, and would yield the cases of any seed that the program learns. It stays in sight if it is
    // itself under test, because it could not start otherwise.
    if let Some(own) = env::current_exe().ok().filter(|own| !is_same(own, program)) {
        hidden.add(&own);
    }
    let mut found = find(&hidden, &folders, options.agent_memory);
    // Before the check below, because `strict` requires this layer as well.
    found.account.note(Layer::NotDumpable, close_this_process());
    if options.isolate == Isolate::Strict
        && let Some(lacks) = found.account.lacks()
    {
        return Err(Failure::outside(format!(
            "--isolate strict: this machine does not offer {lacks}; --isolate best isolates the agent as far as it can"
        )));
    }
    Ok(found)
}

fn is_same(one: &Path, other: &Path) -> bool {
    let whole = |path: &Path| -> Option<PathBuf> { path.canonicalize().ok() };
    // Either may be a link to the other.
    whole(one).is_some_and(|one| whole(other) == Some(one))
}
