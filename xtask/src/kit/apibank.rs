//! How the published evaluators judge calls of API-Bank's tools.

mod level3;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use planproof_apibank::evaluate::{DialogueCall, judge_call, judge_text};
use planproof_apibank::world::{ApiCompat, ApiWorld, TODAY};
use planproof_trace::Draw;
use serde_json::{Value, json};

/// The databases of levels 1 and 2.
const DATABASES: &str = "data/init_database";

pub(super) fn lines(directory: &Path) -> Result<Vec<String>> {
    let world = world(directory)?;
    let mut all = Vec::new();
    for file in ["cases", "typed"] {
        let name = if file == "typed" { "typed_cases.jsonl" } else { "cases.jsonl" };
        for case in read(directory, name)? {
            let mut found =
                judged(&case, world.clone()).with_context(|| format!("{file}: {}", case["id"]))?;
            found["file"] = file.into();
            found["id"] = case["id"].clone();
            all.push(found.to_string());
        }
    }
    all.extend(level3::lines(directory)?);
    Ok(all)
}

fn read(directory: &Path, file: &str) -> Result<Vec<Value>> {
    let path = directory.join(file);
    let text = fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// The initial databases, on which every call of levels 1 and 2 runs.
fn world(directory: &Path) -> Result<ApiWorld> {
    let mut world = ApiWorld::new(TODAY, Draw::new(0, 0, "apibank"));
    world.compat = ApiCompat::Original;
    let directory = directory.join(DATABASES);
    for entry in
        fs::read_dir(&directory).with_context(|| format!("{} cannot be read", directory.display()))?
    {
        let path = entry?.path();
        let name = path.file_stem().and_then(|name| name.to_str()).context("a database has no name")?;
        world.load(name, &fs::read_to_string(&path)?)?;
    }
    Ok(world)
}

fn judged(case: &Value, mut world: ApiWorld) -> Result<Value> {
    let mut gold: DialogueCall = serde_json::from_value(case["gold"].clone())?;
    let text = case["model_output"].as_str();
    let judged = match text {
        Some(text) => judge_text(text, &mut gold, &mut world),
        None => {
            // Without a reply of a model, the gold call itself is judged.
            let (name, arguments) = (gold.api_name.clone(), gold.arguments.clone());
            judge_call(&name, &arguments, &mut gold, &mut world)
        }
    };
    Ok(json!({
        "outcome": judged.outcome.recorded(text.is_some()),
        "correct": judged.outcome.is_correct(),
    }))
}
