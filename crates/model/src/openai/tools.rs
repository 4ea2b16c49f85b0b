//! Tools as the provider wants them, rendered once for all turns of a run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use planproof_trace::Tool;
use serde::Serialize;
use serde_json::value::RawValue;

/// Most bytes that rendered tools may take before entries are dropped.
const RENDERED_BYTES_MAX: usize = 16 << 20;

/// What an entry counts beside its text.
const ENTRY_BYTES: usize = 256;

/// Remembers the rendered form of a tool list by the list's address.
///
/// The entry's [`Weak`] keeps the list's allocation (not its contents) alive, so no other list can come to lie at the
/// same address while the entry exists, and nobody can change the list in place either.
#[derive(Default)]
pub(super) struct RenderedTools(Mutex<State>);

#[derive(Default)]
struct State {
    entries: HashMap<usize, (Weak<[Tool]>, Arc<RawValue>)>,
    bytes: usize,
}

impl RenderedTools {
    /// The `tools` field for these tools; `None` if there are none, since providers refuse an empty array.
    pub(super) fn get(&self, tools: &Arc<[Tool]>) -> Option<Arc<RawValue>> {
        if tools.is_empty() {
            return None;
        }
        let address = tools.as_ptr() as usize;
        {
            let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((_, rendered)) = state.entries.get(&address) {
                return Some(Arc::clone(rendered));
            }
        }
        let rendered: Arc<RawValue> = Arc::from(render(tools)?);
        let size = rendered.get().len() + ENTRY_BYTES;
        if size > RENDERED_BYTES_MAX / 2 {
            return Some(rendered);
        }
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.bytes + size > RENDERED_BYTES_MAX {
            state.make_room();
        }
        if state.entries.insert(address, (Arc::downgrade(tools), Arc::clone(&rendered))).is_none() {
            state.bytes += size;
        }
        Some(rendered)
    }
}

impl State {
    /// Forgets the lists that nobody uses any more, and all of them where that frees less than half: forgetting
    /// costs a rendering, never a wrong answer.
    fn make_room(&mut self) {
        self.entries.retain(|_, (tools, _)| tools.strong_count() > 0);
        self.bytes = self.entries.values().map(|(_, rendered)| rendered.get().len() + ENTRY_BYTES).sum();
        if self.bytes > RENDERED_BYTES_MAX / 2 {
            self.entries.clear();
            self.bytes = 0;
        }
    }
}

fn render(tools: &[Tool]) -> Option<Box<RawValue>> {
    #[derive(Serialize)]
    struct WireTool<'a> {
        r#type: &'static str,
        function: Function<'a>,
    }
    #[derive(Serialize)]
    struct Function<'a> {
        name: &'a str,
        description: &'a str,
        parameters: &'a serde_json::Map<String, serde_json::Value>,
    }
    let wire: Vec<_> = tools
        .iter()
        .map(|tool| WireTool {
            r#type: "function",
            function: Function {
                name: &tool.name,
                description: &tool.description,
                parameters: &tool.input_schema,
            },
        })
        .collect();
    // Strings, maps of strings and numbers always render, so `None` does not occur.
    serde_json::value::to_raw_value(&wire).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(name: &str) -> Arc<[Tool]> {
        Arc::from([Tool::without_arguments(name, "d")])
    }

    #[test]
    fn a_list_is_rendered_once() {
        let cache = RenderedTools::default();
        let list = tools("a");
        let first = cache.get(&list).unwrap();
        assert!(Arc::ptr_eq(&first, &cache.get(&Arc::clone(&list)).unwrap()));
        assert!(
            first.get().starts_with(
                r#"[{"type":"function","function":{"name":"a","description":"d","parameters":{"#
            )
        );
        assert!(cache.get(&Arc::from([])).is_none());
    }

    #[test]
    fn a_new_list_never_gets_the_text_of_a_freed_one() {
        let cache = RenderedTools::default();
        for turn in 0..1000 {
            let name = format!("tool_{turn}");
            // The list is freed at the end of each turn, so that the allocator would like to reuse its place.
            assert!(cache.get(&tools(&name)).unwrap().get().contains(&name));
        }
    }

    #[test]
    fn the_cache_is_bounded() {
        let cache = RenderedTools::default();
        let long = "d".repeat(1 << 19);
        let kept: Vec<Arc<[Tool]>> =
            (0..40).map(|_| Arc::from([Tool::without_arguments("t", long.clone())])).collect();
        for list in kept.iter().chain(&kept[..4]) {
            assert!(cache.get(list).is_some());
            let state = cache.0.lock().unwrap();
            let counted: usize = state.entries.values().map(|(_, text)| text.get().len() + ENTRY_BYTES).sum();
            assert_eq!(counted, state.bytes);
            assert!(state.bytes <= RENDERED_BYTES_MAX);
        }
    }
}
