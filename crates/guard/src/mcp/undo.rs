//! Decisions that cannot be kept, because neither a log nor a history takes them: nothing of them may remain.

use super::{Change, Decided, FromClient, McpGuard, Then};
use crate::answers;
use crate::decision::Ruling;
use crate::modes::{GuardAction, GuardMode};

impl McpGuard {
    /// Takes back what was heard last, because it cannot be kept. Gives what the client gets instead, with a decision
    /// that says so; in shadow mode, and of what was not to pass, what was decided. To the session, a call that was
    /// taken back never happened: whoever asks again is decided on anew.
    pub fn unlogged(&mut self, heard: FromClient, why: &str) -> FromClient {
        let passes = heard.then == Then::Pass && heard.decision.is_some();
        if self.mode == GuardMode::Shadow || !passes {
            return heard;
        }
        let FromClient { decision, id, .. } = heard;
        self.outstanding.remove(&self.key(&id));
        let decision = decision.map(|Decided { call, change, .. }| {
            let call = call.map(|(ruling, asked)| (Ruling::undecided(ruling.number), asked));
            if let Some((ruling, _)) = &call {
                self.undo(ruling.number, change);
            }
            Decided { call, action: GuardAction::Blocked, change: Change::Undone }
        });
        let reason = format!("The call is denied: {why}.");
        let answer = answers::rejected(&id, &reason, None, !self.is_older);
        FromClient { then: Then::Answer(answer), reason: Some(reason), decision, id }
    }

    fn undo(&mut self, number: u64, change: Change) {
        match change {
            Change::None | Change::Undone => {}
            Change::Counted => {
                if let Ok(session) = &mut self.session {
                    let is_undone = session.take_back(number);
                    debug_assert!(is_undone, "something came between a decision and its line in the log");
                }
            }
            Change::Passed => {
                let seam = self.log.seam();
                if let Ok(session) = &mut self.session {
                    session.not_passed(number, &seam);
                }
            }
            Change::Continued(unfinished) => self.unfinished.push(unfinished),
        }
    }
}
