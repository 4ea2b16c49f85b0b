//! The calls of a streamed reply, put together from their pieces.
//!
//! By the protocols a piece names its call by an index, or by an id at its beginning. Servers differ in both: all calls
//! at index 0, another id with every piece, no index, the name in several pieces or with every piece. So a piece
//! belongs to a call by its id, else by its index, else by the order of the pieces, and in each case only if it can be
//! a part of that call: arguments that are complete take no more, and a tool's name does not change. A piece that
//! belongs to no call is an error of the server: what the agent meant is not known.

use planproof_trace::{Arguments, CallId};
use serde::de::IgnoredAny;

use super::left_over::{are_tokens, tool_name};
use super::stream::Deltas;
use crate::{ChatRequest, Message, ModelError};

/// Most tool calls of one reply.
const CALLS_MAX: usize = 1000;

/// A piece of a call as it came. Empty texts are absent ones.
#[derive(Debug, Default)]
pub(crate) struct CallPiece {
    pub(crate) index: Option<u64>,
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) arguments: Option<String>,
}

impl CallPiece {
    fn arguments(&self) -> &str {
        self.arguments.as_deref().unwrap_or_default().trim()
    }
}

/// The calls of a reply that have begun, in order.
///
/// A call is passed on once its name is complete and its arguments turn out to be an object, which they mostly do with
/// their first piece; the others follow as they come. Whatever stands for no arguments, and objects that were encoded
/// twice, are passed on as objects.
#[derive(Default)]
pub(crate) struct BegunCalls {
    calls: Vec<BegunCall>,
    announced: usize,
}

struct BegunCall {
    /// The places that the server gives it: mostly one.
    places: Vec<u64>,
    /// The ids that the server gives it: mostly one.
    ids: Vec<String>,
    /// The id that readers know it by.
    id: CallId,
    name: String,
    /// The index that readers know it by, once they know it.
    announced: Option<usize>,
    arguments: String,
    /// How many bytes of the arguments have been passed on.
    passed_on: usize,
    nesting: Nesting,
    /// What came behind the arguments and may be a token.
    tail: String,
}

/// What a piece is to a call.
enum Target {
    /// A part of it.
    Call(usize),
    /// Another one begins here.
    New,
    /// It says nothing new.
    Nothing,
}

/// How far a JSON object is open.
#[derive(Default, Clone, Copy)]
struct Nesting {
    depth: u32,
    has_begun: bool,
    is_in_text: bool,
    is_escaped: bool,
}

impl Nesting {
    /// Takes more. Gives where in the piece the object is closed, if it is in this one.
    fn push(&mut self, piece: &str) -> Option<usize> {
        let mut closed = None;
        for (at, byte) in piece.bytes().enumerate() {
            match (self.is_in_text, byte) {
                (true, _) if self.is_escaped => self.is_escaped = false,
                (true, b'\\') => self.is_escaped = true,
                (_, b'"') => self.is_in_text = !self.is_in_text,
                (false, b'{' | b'[') if self.has_begun || byte == b'{' => {
                    self.depth += 1;
                    self.has_begun = true;
                }
                (false, b'}' | b']') => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.is_complete() {
                        closed = closed.or(Some(at + 1));
                    }
                }
                _ => {}
            }
        }
        closed
    }

    fn is_complete(self) -> bool {
        self.has_begun && self.depth == 0
    }
}

impl BegunCall {
    fn has_arguments(&self) -> bool {
        !self.arguments.trim().is_empty()
    }

    /// Whether it holds a complete object, so that more text would be too much.
    fn is_complete(&self) -> bool {
        // The braces alone do not tell it if the model wrote what is not JSON.
        self.nesting.is_complete() && serde_json::from_str::<IgnoredAny>(&self.arguments).is_ok()
    }

    /// Whether it holds `{}`, which some servers send before the arguments themselves.
    fn is_placeholder(&self) -> bool {
        let text = self.arguments.trim();
        text.strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'))
            .is_some_and(|rest| rest.trim().is_empty())
    }

    /// Whether the arguments so far may still stand for something else than what they say: for none, for a text that
    /// holds them, for a placeholder.
    fn is_undecided(&self) -> bool {
        let text = self.arguments.trim();
        text.starts_with('"')
            || "null".starts_with(text)
            || text.strip_prefix('{').is_some_and(|rest| rest.trim().is_empty())
            || self.is_placeholder()
    }

    /// Whether a piece with this name and these arguments can be the next one of the call.
    fn takes(&self, piece: &CallPiece, is_tool: impl Fn(&str) -> bool) -> bool {
        let more = piece.arguments();
        let replaces =
            piece.name.is_none() && self.is_placeholder() && self.passed_on == 0 && more.starts_with('{');
        let takes_arguments = more.is_empty() || !self.is_complete() || replaces;
        let takes_name = match &piece.name {
            None => true,
            Some(name) if self.name.is_empty() || *name == self.name => true,
            // The rest of a name, or all of it again; but not if both are names of tools.
            Some(name) => {
                self.announced.is_none() && !self.has_arguments() && !(is_tool(&self.name) && is_tool(name))
            }
        };
        takes_arguments && takes_name
    }

    /// Whether a piece only repeats what the call holds.
    fn is_repeated_by(&self, piece: &CallPiece) -> bool {
        let same_name = piece.name.as_ref().is_none_or(|name| *name == self.name);
        same_name && (piece.arguments().is_empty() || piece.arguments() == self.arguments.trim())
    }
}

impl BegunCalls {
    /// How many have begun.
    pub(crate) fn len(&self) -> usize {
        self.calls.len()
    }

    /// Whether the end of the arguments of one is missing.
    pub(crate) fn have_missing_parts(&self) -> bool {
        self.calls.iter().any(|call| call.nesting.has_begun && !call.nesting.is_complete())
    }

    /// The newest call at that index of the server's.
    pub(crate) fn at(&self, place: u64) -> Option<usize> {
        self.calls.iter().rposition(|call| call.places.contains(&place))
    }

    /// The newest call of that id.
    pub(crate) fn with_id(&self, id: &str) -> Option<usize> {
        self.calls.iter().rposition(|call| call.ids.iter().any(|known| known == id))
    }

    /// The newest call.
    pub(crate) fn newest(&self) -> Option<usize> {
        self.calls.len().checked_sub(1)
    }

    /// Takes a piece of whichever call it belongs to.
    ///
    /// # Errors
    /// [`ModelError::Malformed`] if it belongs to none, and above [`CALLS_MAX`].
    pub(crate) fn take(
        &mut self,
        piece: CallPiece,
        request: &ChatRequest,
        out: &mut Deltas<'_>,
    ) -> Result<(), ModelError> {
        let index = match self.target(&piece, request) {
            None => {
                return Err(out
                    .endpoint
                    .malformed(&format!("a piece of a call belongs to none of them: {piece:?}")));
            }
            Some(Target::Nothing) => return Ok(()),
            Some(Target::New) => self.begin(piece.index, piece.id, request, out)?,
            Some(Target::Call(index)) => {
                let call = &mut self.calls[index];
                call.places.extend(piece.index.filter(|place| !call.places.contains(place)));
                call.ids.extend(piece.id.filter(|id| !call.ids.contains(id)));
                index
            }
        };
        if let Some(name) = piece.name {
            let known = &mut self.calls[index].name;
            // Either the whole name so far comes again, or only what is new of it.
            match name.strip_prefix(known.as_str()) {
                Some(rest) => known.push_str(rest),
                None => known.push_str(&name),
            }
            *known = tool_name(std::mem::take(known), request);
        }
        self.arguments(index, piece.arguments.as_deref().unwrap_or_default(), out);
        Ok(())
    }

    /// What a piece belongs to; `None` if that cannot be known.
    fn target(&self, piece: &CallPiece, request: &ChatRequest) -> Option<Target> {
        let of_place = piece.index.and_then(|place| self.at(place));
        let of_id = piece.id.as_deref().and_then(|id| {
            // Calls may share an id: the one at this place is meant.
            let has_id = |at: &usize| self.calls[*at].ids.iter().any(|known| known == id);
            of_place.filter(has_id).or_else(|| self.with_id(id))
        });
        let is_tool = |name: &str| request.tools.iter().any(|tool| tool.name == name);
        // Whether a call can go on with this piece. One that is complete goes on only with something in its place.
        let is_open = |at: &usize| {
            let call = &self.calls[*at];
            call.takes(piece, is_tool) && !(call.is_complete() && piece.arguments().is_empty())
        };
        let newest = self.newest();
        let is_tail = piece.id.is_none() && piece.name.is_none();
        match (of_id, of_place) {
            (Some(known), _) => {
                let call = &self.calls[known];
                // Another place and a name begin another call, even if the server gives it the same id.
                let is_elsewhere = piece.index.is_some() && of_place != Some(known) && piece.name.is_some();
                match () {
                    () if is_elsewhere && call.is_complete() => Some(Target::New),
                    () if call.takes(piece, is_tool) => Some(Target::Call(known)),
                    () if call.is_repeated_by(piece) => Some(Target::Nothing),
                    () if piece.name.is_some() => Some(Target::New),
                    // More than the arguments hold, as the model wrote it.
                    () => Some(Target::Call(known)),
                }
            }
            (None, Some(known)) if is_tail => {
                let call = &self.calls[known];
                match () {
                    () if call.takes(piece, is_tool) => Some(Target::Call(known)),
                    // The tail of a call that began at another place.
                    () if newest != Some(known) && newest.is_some_and(|newest| is_open(&newest)) => {
                        newest.map(Target::Call)
                    }
                    () if call.is_repeated_by(piece) => Some(Target::Nothing),
                    () => Some(Target::Call(known)),
                }
            }
            (None, Some(known)) => {
                let call = &self.calls[known];
                let is_same_name = piece.name.as_ref().is_none_or(|name| *name == call.name);
                match () {
                    // Another id with another name, or behind complete arguments, is another call, whatever its place.
                    () if piece.id.is_some()
                        && !call.ids.is_empty()
                        && !(is_same_name && is_open(&known)) =>
                    {
                        let says_nothing = piece.name.is_none() && call.is_repeated_by(piece);
                        Some(if says_nothing { Target::Nothing } else { Target::New })
                    }
                    () if call.takes(piece, is_tool) => Some(Target::Call(known)),
                    () => Some(Target::New),
                }
            }
            // At a new index a call begins, if the piece is more than a tail.
            (None, None) if piece.index.is_some() && !is_tail => Some(Target::New),
            (None, None) => match newest {
                None if is_tail && piece.arguments().is_empty() => Some(Target::Nothing),
                None => Some(Target::New),
                Some(newest) if is_tail && piece.index.is_some() => {
                    let says_nothing = self.calls[newest].is_repeated_by(piece);
                    match is_open(&newest) {
                        true => Some(Target::Call(newest)),
                        false => says_nothing.then_some(Target::Nothing),
                    }
                }
                Some(newest) => {
                    let call = &self.calls[newest];
                    let is_same_name = piece.name.as_ref().is_some_and(|name| *name == call.name);
                    Some(match (&piece.id, &piece.name) {
                        (None, None) if call.is_complete() && call.is_repeated_by(piece) => Target::Nothing,
                        (None, None) => Target::Call(newest),
                        // Some servers send another id with every piece, and the name.
                        (Some(_), Some(_)) if is_same_name && call.has_arguments() && is_open(&newest) => {
                            Target::Call(newest)
                        }
                        (Some(_), None) | (None, Some(_)) if is_open(&newest) => Target::Call(newest),
                        _ => Target::New,
                    })
                }
            },
        }
    }

    /// A call begins at that index of the server's. One without an id gets an id that no other call of `request` has.
    ///
    /// # Errors
    /// [`ModelError::Malformed`] above [`CALLS_MAX`].
    pub(crate) fn begin(
        &mut self,
        place: Option<u64>,
        id: Option<String>,
        request: &ChatRequest,
        out: &mut Deltas<'_>,
    ) -> Result<usize, ModelError> {
        let index = self.calls.len();
        if index >= CALLS_MAX {
            return Err(out.endpoint.malformed(&format!("more than {CALLS_MAX} tool calls in one reply")));
        }
        // What comes now can no longer replace `{}`.
        for earlier in 0..index {
            let call = &self.calls[earlier];
            if call.is_placeholder() && !call.name.is_empty() {
                self.pass_on(earlier, out);
            }
        }
        let given = id.filter(|id| !id.is_empty());
        self.calls.push(BegunCall {
            places: place.into_iter().collect(),
            id: given.as_deref().map_or_else(|| missing_id(request, index), CallId::new),
            ids: given.into_iter().collect(),
            name: String::new(),
            announced: None,
            arguments: String::new(),
            passed_on: 0,
            nesting: Nesting::default(),
            tail: String::new(),
        });
        Ok(index)
    }

    /// The complete name of call `index` is known. Only the first name counts.
    pub(crate) fn name(&mut self, index: usize, name: String, request: &ChatRequest) {
        let known = &mut self.calls[index].name;
        if known.is_empty() {
            *known = tool_name(name, request);
        }
    }

    /// More of the arguments of call `index`.
    pub(crate) fn arguments(&mut self, index: usize, piece: &str, out: &mut Deltas<'_>) {
        let call = &mut self.calls[index];
        if call.is_placeholder() && call.passed_on == 0 && piece.trim_start().starts_with('{') {
            call.arguments.clear();
            call.nesting = Nesting::default();
        }
        // What may be a token behind the object is kept until it is known whether it is one.
        if !call.tail.is_empty() || (call.is_complete() && piece.trim_start().starts_with('<')) {
            call.tail.push_str(piece);
            return;
        }
        let end = call.nesting.push(piece).filter(|end| piece[*end..].trim_start().starts_with('<'));
        let (piece, tail) = piece.split_at(end.unwrap_or(piece.len()));
        call.arguments.push_str(piece);
        call.tail.push_str(tail);
        if !call.name.is_empty() && call.has_arguments() && !call.is_undecided() {
            self.pass_on(index, out);
        }
    }

    /// The complete arguments of call `index`, sent at its end. They count only if none came in pieces.
    pub(crate) fn whole_arguments(&mut self, index: usize, whole: &str, out: &mut Deltas<'_>) {
        if !self.calls[index].has_arguments() {
            self.arguments(index, whole, out);
        }
    }

    /// Announces call `index` and those before it, and passes on its arguments.
    fn pass_on(&mut self, index: usize, out: &mut Deltas<'_>) {
        for call in &mut self.calls[..=index] {
            if call.announced.is_none() && !call.name.is_empty() {
                call.announced = Some(self.announced);
                out.call(self.announced, call.id.clone(), call.name.clone());
                self.announced += 1;
            }
        }
        let call = &mut self.calls[index];
        let new = call.arguments[call.passed_on..].to_owned();
        call.passed_on = call.arguments.len();
        if let Some(place) = call.announced.filter(|_| !new.is_empty()) {
            out.arguments(place, new);
        }
    }

    /// The reply has ended: what was undecided is what it says.
    ///
    /// # Errors
    /// [`ModelError::Malformed`] for a call that never got a name.
    pub(crate) fn finish(&mut self, out: &mut Deltas<'_>) -> Result<(), ModelError> {
        for index in 0..self.calls.len() {
            let call = &mut self.calls[index];
            if call.name.is_empty() {
                return Err(out.endpoint.malformed(NAMELESS));
            }
            let tail = std::mem::take(&mut call.tail);
            if !are_tokens(&tail) {
                call.arguments.push_str(&tail);
            }
            if call.is_undecided() && call.passed_on == 0 {
                call.arguments = Arguments::from_text(&call.arguments).to_text();
            }
            self.pass_on(index, out);
        }
        Ok(())
    }
}

/// A call without a tool's name, which no model writes: the server lost it.
pub(crate) const NAMELESS: &str = "a tool call without a name";

/// An id for a call that came without one: no other call of the conversation has it.
pub(crate) fn missing_id(request: &ChatRequest, index: usize) -> CallId {
    let earlier: usize = request
        .messages
        .iter()
        .map(|message| if let Message::Assistant { calls, .. } = message { calls.len() } else { 0 })
        .sum();
    CallId::new(format!("unnamed_call_{}", earlier + index))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use planproof_trace::ToolCall;

    use super::*;
    use crate::Settings;

    #[test]
    fn objects_are_complete_with_their_last_brace() {
        for (pieces, expected) in [
            (&["{\"a\":", " 1}"][..], true),
            (&["{\"a\": {\"b\": [1]}"], false),
            (&["{\"a\": \"}", "\\\"}", "\"}"], true),
            (&["{\"a\": \"\\", "\"}"], false),
            (&["null"], false),
            (&["{}"], true),
            (&[""], false),
        ] {
            let mut nesting = Nesting::default();
            for piece in pieces {
                nesting.push(piece);
            }
            assert_eq!(nesting.is_complete(), expected, "{pieces:?}");
        }
    }

    #[test]
    fn ids_that_were_left_out_differ_over_the_whole_conversation() {
        let call = |id| ToolCall { id, name: "n".into(), arguments: Arguments::none() };
        let mut request = ChatRequest {
            messages: vec![],
            tools: Arc::from([]),
            settings: Settings::default(),
            previous: None,
        };
        let mut seen = BTreeSet::new();
        for _ in 0..3 {
            let ids: Vec<_> = (0..2).map(|index| missing_id(&request, index)).collect();
            assert!(ids.iter().all(|id| seen.insert(id.clone())), "{ids:?} again");
            let calls = ids.into_iter().map(call).collect();
            request.messages.push(Message::assistant(String::new(), calls));
        }
    }
}
