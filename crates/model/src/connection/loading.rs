//! A server that is still loading its model: it is waited for, and that is reported once.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::ModelError;

/// The default for the longest wait until a server has loaded its model.
pub const LOADING_MAX: Duration = Duration::from_secs(600);

/// The wait between two questions whether the model is loaded, if the server names none.
pub(crate) const LOADING_WAIT: Duration = Duration::from_secs(1);

/// Gets the first error of a server that is loading its model, and the longest time that it is waited for.
#[derive(Clone)]
pub struct LoadingNotice(pub Arc<NoticeOfLoading>);

/// Takes the error and the time.
pub type NoticeOfLoading = dyn Fn(&ModelError, Duration) + Send + Sync;

impl fmt::Debug for LoadingNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LoadingNotice")
    }
}

/// How long a server has been loading, for all requests to it.
pub(crate) struct Loading {
    max: Duration,
    notice: Option<LoadingNotice>,
    /// When the server said so for the first time since its last answer.
    since: Mutex<Option<Instant>>,
}

impl Loading {
    pub(crate) fn new(max: Duration, notice: Option<LoadingNotice>) -> Self {
        Self { max, notice, since: Mutex::default() }
    }

    fn since(&self) -> MutexGuard<'_, Option<Instant>> {
        self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The wait before the same request is sent again, because the server was loading its model; `None` if the error is
    /// another one, or the server has been loading for too long.
    pub(crate) fn wait(&self, error: &ModelError) -> Option<Duration> {
        if !is_loading(error) {
            return None;
        }
        let (since, is_new) = {
            let mut since = self.since();
            let is_new = since.is_none();
            (*since.get_or_insert_with(Instant::now), is_new)
        };
        if is_new && let Some(LoadingNotice(notice)) = &self.notice {
            notice(error, self.max);
        }
        let left = self.max.checked_sub(since.elapsed()).filter(|left| !left.is_zero())?;
        let asked = match error {
            ModelError::Status { retry_after, .. } => *retry_after,
            _ => None,
        };
        Some(asked.unwrap_or(LOADING_WAIT).min(left))
    }

    /// The server has answered.
    pub(crate) fn is_over(&self) {
        *self.since() = None;
    }
}

/// Whether a server says that it is loading its model.
pub(crate) fn is_loading(error: &ModelError) -> bool {
    matches!(error, ModelError::Status { status: 503, message, .. } if says_loading(message))
}

/// Whether a message speaks of something that is being loaded, or not loaded yet: "Loading model", "is currently
/// loading", "has not been loaded". The load of an overloaded server is another word.
fn says_loading(message: &str) -> bool {
    let words = message.split(|character: char| !character.is_alphanumeric());
    words.map(str::to_lowercase).any(|word| word == "loading" || word == "loaded")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_loading_is_told_from_one_with_too_much_to_do() {
        for message in [
            "Loading model",
            "the model is LOADING, please wait",
            "Model meta-llama/Llama-3-8B is currently loading",
            "model not loaded yet",
        ] {
            assert!(says_loading(message), "{message}");
        }
        for message in
            ["overloaded", "The server is overloaded", "load too high", "load balancer: no upstream", ""]
        {
            assert!(!says_loading(message), "{message}");
        }
    }
}
