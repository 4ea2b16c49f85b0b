//! Tools in the provider's format, rendered once for all turns of a run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use planproof_trace::Tool;
use serde_json::value::RawValue;

/// Most bytes that rendered tools may take before entries are dropped.
const RENDERED_BYTES_MAX: usize = 16 << 20;

/// What an entry counts beside its text.
const ENTRY_BYTES: usize = 256;

/// Writes a provider's `tools` field.
pub(crate) type RenderTools = fn(&[Tool]) -> Result<Box<RawValue>, serde_json::Error>;

/// Remembers the rendered form of a tool list by the list's address.
///
/// The entry's [`Weak`] keeps the list's allocation (not its contents) alive, so no other list can get the same
/// address while the entry exists, and nobody can change the list in place either.
pub(crate) struct RenderedTools {
    render: RenderTools,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    entries: HashMap<usize, (Weak<[Tool]>, Arc<RawValue>)>,
    bytes: usize,
}

impl RenderedTools {
    /// Nothing rendered yet.
    pub(crate) fn new(render: RenderTools) -> Self {
        Self { render, state: Mutex::default() }
    }

    /// The `tools` field for these tools; `None` if there are none, since providers refuse an empty array.
    ///
    /// # Errors
    /// Those of `render`.
    pub(crate) fn get(&self, tools: &Arc<[Tool]>) -> Result<Option<Arc<RawValue>>, serde_json::Error> {
        if tools.is_empty() {
            return Ok(None);
        }
        let address = tools.as_ptr() as usize;
        {
            let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((_, rendered)) = state.entries.get(&address) {
                return Ok(Some(Arc::clone(rendered)));
            }
        }
        // The lock is not held meanwhile. If two requests render the same list, the results are equal.
        let rendered: Arc<RawValue> = Arc::from((self.render)(tools)?);
        let size = rendered.get().len() + ENTRY_BYTES;
        // An entry of this size would soon displace all others.
        if size > RENDERED_BYTES_MAX / 2 {
            return Ok(Some(rendered));
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.bytes + size > RENDERED_BYTES_MAX {
            state.make_room();
        }
        // Another request may have inserted the same list meanwhile; then its size has been counted.
        if state.entries.insert(address, (Arc::downgrade(tools), Arc::clone(&rendered))).is_none() {
            state.bytes += size;
        }
        Ok(Some(rendered))
    }
}

impl State {
    /// Forgets the lists that are no longer used, and all of them if that frees less than half: forgetting costs a
    /// rendering, never a wrong answer.
    fn make_room(&mut self) {
        self.entries.retain(|_, (tools, _)| tools.strong_count() > 0);
        self.bytes = self.entries.values().map(|(_, rendered)| rendered.get().len() + ENTRY_BYTES).sum();
        if self.bytes > RENDERED_BYTES_MAX / 2 {
            self.entries.clear();
            self.bytes = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(tools: &[Tool]) -> Result<Box<RawValue>, serde_json::Error> {
        serde_json::value::to_raw_value(
            &tools.iter().map(|tool| (&tool.name, &tool.description)).collect::<Vec<_>>(),
        )
    }

    fn tools(name: &str) -> Arc<[Tool]> {
        Arc::from([Tool::without_arguments(name, "d")])
    }

    #[test]
    fn a_list_is_rendered_once() {
        let cache = RenderedTools::new(render);
        let list = tools("a");
        let first = cache.get(&list).unwrap().unwrap();
        assert!(Arc::ptr_eq(&first, &cache.get(&Arc::clone(&list)).unwrap().unwrap()));
        assert_eq!(first.get(), r#"[["a","d"]]"#);
        assert!(cache.get(&Arc::from([])).unwrap().is_none());
    }

    #[test]
    fn a_new_list_never_gets_the_text_of_a_freed_one() {
        let cache = RenderedTools::new(render);
        for turn in 0..1000 {
            let name = format!("tool_{turn}");
            // The list is freed at the end of each turn, which invites the allocator to reuse its address.
            assert!(cache.get(&tools(&name)).unwrap().unwrap().get().contains(&name));
        }
    }

    #[test]
    fn the_cache_is_bounded() {
        let cache = RenderedTools::new(render);
        let long = "d".repeat(1 << 19);
        let kept: Vec<Arc<[Tool]>> =
            (0..40).map(|_| Arc::from([Tool::without_arguments("t", long.clone())])).collect();
        for list in kept.iter().chain(&kept[..4]) {
            assert!(cache.get(list).unwrap().is_some());
            let state = cache.state.lock().unwrap();
            let counted: usize = state.entries.values().map(|(_, text)| text.get().len() + ENTRY_BYTES).sum();
            assert_eq!(counted, state.bytes);
            assert!(state.bytes <= RENDERED_BYTES_MAX);
        }
    }
}
