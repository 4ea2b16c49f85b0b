//! A bill of materials of the binary in CycloneDX format: everything cargo links, for every target. Bundled C code,
//! such as SQLite in `libsqlite3-sys`, is listed as the package that bundles it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use toml::Table;

/// The package that is installed.
const PACKAGE: &str = "planproof";

/// Builds the bill of materials of the binary.
///
/// # Errors
/// Cargo cannot be run, or the lock file cannot be read.
pub(crate) fn bill(root: &Path) -> Result<Value> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--locked", "--format-version=1"])
        .current_dir(root)
        .output()
        .context("cargo cannot be started")?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata is no JSON")?;
    let lock: Table = std::fs::read_to_string(root.join("Cargo.lock")).context("Cargo.lock")?.parse()?;
    let packages: BTreeMap<&str, &Value> =
        list(&metadata, "packages").filter_map(|package| Some((text(package, "id")?, package))).collect();
    let nodes = metadata.get("resolve").map(|resolve| list(resolve, "nodes")).into_iter().flatten();
    let needs: BTreeMap<&str, BTreeSet<&str>> =
        nodes.filter_map(|node| Some((text(node, "id")?, linked(node)))).collect();
    // The workspace has more packages, such as xtask, and only what this one reaches is in the binary.
    let own = packages.iter().find(|(_, package)| text(package, "name") == Some(PACKAGE));
    let (own, _) = own.with_context(|| format!("there is no package {PACKAGE}"))?;

    let mut reached = BTreeSet::new();
    let mut open = vec![*own];
    while let Some(id) = open.pop() {
        if reached.insert(id) {
            open.extend(needs.get(id).into_iter().flatten().copied());
        }
    }
    let checksums = checksums(&lock);
    let component = |id: &str| component(packages.get(id).copied().unwrap_or(&Value::Null), &checksums);
    let components: Vec<Value> = reached.iter().filter(|id| *id != own).map(|id| component(id)).collect();
    let reference = |id: &str| component(id).get("bom-ref").cloned().unwrap_or_default();
    let dependencies: Vec<Value> = reached
        .iter()
        .map(|id| {
            let on: Vec<Value> = needs.get(id).into_iter().flatten().map(|id| reference(id)).collect();
            json!({"ref": reference(id), "dependsOn": on})
        })
        .collect();
    let mut subject = component(own);
    subject["type"] = "application".into();
    Ok(json!({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": {"component": subject},
        "components": components, "dependencies": dependencies,
    }))
}

/// The packages that a node of cargo's graph links or builds with, without those used only by tests.
fn linked(node: &Value) -> BTreeSet<&str> {
    // One such kind is enough: a package may be a dependency of tests and of the program.
    let is_linked =
        |dependency: &&Value| list(dependency, "dep_kinds").any(|kind| text(kind, "kind") != Some("dev"));
    list(node, "deps").filter(is_linked).filter_map(|dependency| text(dependency, "pkg")).collect()
}

fn component(package: &Value, checksums: &BTreeMap<(&str, &str), &str>) -> Value {
    let [name, version] = ["name", "version"].map(|field| text(package, field).unwrap_or_default());
    let purl = format!("pkg:cargo/{name}@{version}");
    let mut component =
        json!({"type": "library", "bom-ref": purl, "purl": purl, "name": name, "version": version});
    if let Some(licence) = text(package, "license") {
        // Older packages write `MIT/Apache-2.0`, which is not an SPDX expression.
        component["licenses"] = json!([{"expression": licence.replace('/', " OR ")}]);
    }
    // Our own packages come from no registry and have no checksum.
    if let Some(checksum) = checksums.get(&(name, version)) {
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    component
}

/// The checksums in the lock file, keyed by name and version.
fn checksums(lock: &Table) -> BTreeMap<(&str, &str), &str> {
    let packages = lock.get("package").and_then(toml::Value::as_array).into_iter().flatten();
    packages
        .filter_map(|package| {
            let field = |name: &str| package.get(name).and_then(toml::Value::as_str);
            Some(((field("name")?, field("version")?), field("checksum")?))
        })
        .collect()
}

fn list<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    value.get(field).and_then(Value::as_array).into_iter().flatten()
}

fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_linked_is_listed_with_its_checksum() {
        let bill = bill(crate::repository_root().expect("a repository")).expect("cargo answers");
        let names: BTreeSet<&str> = list(&bill, "components").filter_map(|it| text(it, "name")).collect();
        for linked in ["rusqlite", "libsqlite3-sys", "ring", "tokio", "planproof-store"] {
            assert!(names.contains(linked), "{linked}");
        }
        for only_of_tests in ["insta", "proptest", "assert_cmd", "criterion", PACKAGE] {
            assert!(!names.contains(only_of_tests), "{only_of_tests}");
        }
        assert_eq!(bill["metadata"]["component"]["name"], PACKAGE);
        let mut references: BTreeSet<&str> =
            list(&bill, "components").filter_map(|component| text(component, "bom-ref")).collect();
        for component in list(&bill, "components") {
            let is_ours = text(component, "name").is_some_and(|name| name.starts_with("planproof-"));
            let checksum = component["hashes"][0]["content"].as_str().unwrap_or_default();
            assert_eq!(checksum.len(), if is_ours { 0 } else { 64 }, "{component}");
            assert!(component["licenses"][0]["expression"].is_string(), "{component}");
        }
        references.extend(text(&bill["metadata"]["component"], "bom-ref"));
        for dependency in list(&bill, "dependencies") {
            let ends = list(dependency, "dependsOn").filter_map(Value::as_str).chain(text(dependency, "ref"));
            ends.for_each(|end| assert!(references.contains(end), "{end}"));
        }
        assert!(references.len() > 100, "{}", references.len());
    }
}
