//! Tools that need a service on the network: a dictionary and a translator.

use std::fmt::Debug;

use super::parts::{argument, has_same_result, is_same_name, same_argument, tool, with_method};
use crate::api::{ApiFault, ApiTool, PythonError};
use crate::python::strip;
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::ApiWorld;

/// Provides the network services. A missing answer is an outage, never a verdict.
pub trait Services: Debug + Send + Sync {
    /// The meanings of an English word, given in lower case: a list of parts of speech with definitions.
    ///
    /// # Errors
    /// [`ApiFault::Caught`] for an unknown word, [`ApiFault::Outage`] if no service is available.
    fn define(&self, word: &str) -> Result<PythonValue, ApiFault>;

    /// Translates a text. Languages are named in lower case; without a source the service detects the language, and
    /// without a target it translates into English.
    ///
    /// # Errors
    /// [`ApiFault::Caught`] for an unknown language, [`ApiFault::Outage`] if no service is available.
    fn translate(&self, text: &str, source: Option<&str>, target: Option<&str>) -> Result<String, ApiFault>;
}

pub(super) const TOOLS: [ApiTool; 2] = [
    tool!("Dictionary", define, is_same_definition),
    tool!("Translate", translate, is_same_translation, optional: ["src_lang", "tgt_lang"]),
];

fn services<'w>(world: &'w ApiWorld, tool: &str) -> Result<&'w dyn Services, ApiFault> {
    world.services.as_deref().ok_or_else(|| ApiFault::Outage {
        tool: tool.to_owned(),
        what: "it asks a service of the network, and none is configured".to_owned(),
    })
}

fn define(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let word = with_method(argument(arguments, "keyword")?, "replace")?.replace('_', " ");
    services(world, "Dictionary")?.define(&strip(&word).to_lowercase())
}

/// Omitted languages are not recorded either.
fn translate(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    arguments.retain(|_, value| !value.is_none());
    let language =
        |name| arguments.get(name).map(|it| Ok::<_, PythonError>(with_method(it, "lower")?.to_lowercase()));
    let (source, target) = (language("src_lang").transpose()?, language("tgt_lang").transpose()?);
    let text = argument(arguments, "src")?.to_text();
    let services = services(world, "Translate")?;
    Ok(services.translate(&text, source.as_deref(), target.as_deref())?.into())
}

fn is_same_definition(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    Ok(is_same_name(predicted, gold)? && has_same_result(predicted, gold))
}

fn is_same_translation(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    Ok(is_same_name(predicted, gold)?
        && same_argument(predicted, gold, "src")?
        && has_same_result(predicted, gold))
}
