//! Tests over a kit of recorded values, where it is at hand. Where it is not, they are *ignored*, which the usual
//! harness cannot say at run time; with `PLANPROOF_CI` set they fail. Crates include this file by its path.

use std::path::PathBuf;

use libtest_mimic::Trial;

/// The kits, seen from the folder of a crate.
const KITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/kits");

/// A test that needs this file or folder.
pub(crate) fn trial(name: &str, needs: PathBuf, test: fn()) -> Trial {
    let is_ci = std::env::var_os("PLANPROOF_CI").is_some_and(|value| !value.is_empty());
    let is_ignored = !needs.exists() && !is_ci;
    let trial = Trial::test(name, move || {
        if !needs.exists() {
            return Err(format!("there is no {}", needs.display()).into());
        }
        test();
        Ok(())
    });
    trial.with_ignored_flag(is_ignored)
}

/// A file or folder of a kit.
pub(crate) fn path(kit: &str, name: &str) -> PathBuf {
    PathBuf::from(KITS).join(kit).join(name)
}
