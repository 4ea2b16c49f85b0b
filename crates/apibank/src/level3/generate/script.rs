//! The gold calls of a task under construction. Each call is executed at once, so that later calls can use its
//! results, and everything recorded has really happened.

use std::collections::BTreeMap;

use planproof_trace::Draw;

use super::keywords::keywords;
use crate::level3::task::RequiredCall;
use crate::level3::{SEARCHER, carry_out};
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::ApiWorld;

/// The calls so far, and the world that they act upon.
pub(super) struct Script {
    world: ApiWorld,
    searches: Draw,
    found: BTreeMap<&'static str, usize>,
    calls: Vec<RequiredCall>,
}

/// The index of a call among the gold calls.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place(usize);

impl Script {
    /// Starts without calls. Search keywords are drawn separately, so that they do not affect the templates.
    pub(super) fn new(world: ApiWorld, searches: Draw) -> Self {
        Self { world, searches, found: BTreeMap::new(), calls: Vec::new() }
    }

    /// Makes a call whose arguments come from the requirement and from these earlier calls. The first call of a
    /// tool is preceded by the search that finds it. `None` if the tool reports an error; then there is no task.
    pub(super) fn call(
        &mut self,
        api: &'static str,
        arguments: &[(&str, PythonValue)],
        from: &[Place],
    ) -> Option<Place> {
        let search = match self.found.get(api) {
            Some(place) => *place,
            None => self.search(api)?,
        };
        let arguments: Dict =
            arguments.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let record = self.run(api, &arguments)?;
        // The search is needed, too: before it, the tool is unknown.
        let mut needs: Vec<usize> = from.iter().map(|place| place.0).chain([search]).collect();
        needs.sort_unstable();
        needs.dedup();
        Some(self.push(RequiredCall { api: api.to_owned(), arguments, record, needs }))
    }

    /// Searches for a tool with keywords that find it.
    fn search(&mut self, api: &'static str) -> Option<usize> {
        let words = *super::words::pick(&mut self.searches, keywords(api))?;
        let arguments = Dict::from([("keywords".to_owned(), words.into())]);
        let record = self.run(SEARCHER, &arguments)?;
        let found = record.output.as_dict()?.get("name")?;
        // Agents know a tool only once they have found it, so a gold search has to find it, too.
        if found.as_text() != Some(api) {
            return None;
        }
        let call = RequiredCall { api: SEARCHER.to_owned(), arguments, record, needs: Vec::new() };
        let Place(place) = self.push(call);
        self.found.insert(api, place);
        Some(place)
    }

    fn run(&mut self, api: &str, arguments: &Dict) -> Option<ApiRecord> {
        let record = carry_out(api, arguments, &mut self.world).ok()?;
        record.exception.is_none().then_some(record)
    }

    fn push(&mut self, call: RequiredCall) -> Place {
        self.calls.push(call);
        Place(self.calls.len() - 1)
    }

    /// A part of a call's output.
    pub(super) fn output(&self, place: Place, name: &str) -> Option<&PythonValue> {
        self.calls.get(place.0)?.record.output.as_dict()?.get(name)
    }

    /// A part that is a text.
    pub(super) fn text(&self, place: Place, name: &str) -> Option<String> {
        Some(self.output(place, name)?.as_text()?.to_owned())
    }

    /// A part that is a number.
    pub(super) fn number(&self, place: Place, name: &str) -> Option<f64> {
        crate::level3::tables::number(self.output(place, name)?)
    }

    /// A part that is a list.
    pub(super) fn list(&self, place: Place, name: &str) -> Option<&[PythonValue]> {
        self.output(place, name)?.as_list()
    }

    /// A part that is a list of texts.
    pub(super) fn texts(&self, place: Place, name: &str) -> Option<Vec<String>> {
        self.list(place, name)?.iter().map(|item| Some(item.as_text()?.to_owned())).collect()
    }

    /// The bare output of a tool that returns only a number.
    pub(super) fn bare_number(&self, place: Place) -> Option<f64> {
        crate::level3::tables::number(&self.calls.get(place.0)?.record.output)
    }

    pub(super) fn into_calls(self) -> Vec<RequiredCall> {
        self.calls
    }
}
