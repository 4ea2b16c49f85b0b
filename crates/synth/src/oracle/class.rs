//! The classes and flags of verdicts.

/// The class of a failure; each failed case has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OrderClass {
    /// **(ours)** A tool that had reported that it would not work again was called again and again.
    RetriedForever,
    /// Out of time or iterations without finishing.
    Timeout,
    /// **(ours)** A reply of the model reached the limit of its tokens without a call.
    ReplyLimit,
    /// **(ours)** The agent reported a conflict in a feasible case.
    FalseAlarm,
    /// **(ours)** A call that was written as text explains a missing action or report.
    UnparsedCall,
    /// A call of a nonexistent tool, or with invalid arguments, explains a missing action; or the agent itself
    /// failed.
    ActError,
    /// **(ours)** In an infeasible case the agent did a task, or did not report a conflict.
    ConflictMissed,
    /// **(ours)** A tool was called after the agent had been shown that it is gone.
    CalledVanished,
    /// **(ours)** A task was done although one that has to come before it had failed.
    WentOnAfterFailure,
    /// **(ours)** A call that had failed for the moment was not made again.
    NoRetry,
    /// **(ours)** A call was not made often enough to get through, or nothing at all was done after a failure.
    GaveUp,
    /// A required action was never executed.
    ActionLost,
    /// Time form only: a start before the end of the previous call or before the day, or one that is not a clock time.
    ParameterError,
    /// **(ours)** With several messages: a task was done before the message that it had to wait for, or after the turn
    /// in which it was due.
    OutOfTurn,
    /// **(ours)** With several messages: something was done as it had been asked for before a message changed it.
    MissedCorrection,
    /// A constraint between executed actions is violated, or a task ended after the day.
    OrderError,
    /// **(ours)** A call passed a value other than the one that an earlier tool returned for it.
    WrongValue,
    /// An action was called again after it was done.
    Repeated,
    /// A tool that belongs to no action was called.
    Distractor,
}

impl OrderClass {
    /// All classes in order of precedence: the first that applies becomes a case's class. The order is the paper's,
    /// with the omissions of infeasible cases at the position of the paper's omissions.
    pub const ALL: [Self; 19] = [
        Self::RetriedForever,
        Self::Timeout,
        Self::ReplyLimit,
        Self::FalseAlarm,
        Self::UnparsedCall,
        Self::ActError,
        Self::ConflictMissed,
        Self::CalledVanished,
        Self::WentOnAfterFailure,
        Self::NoRetry,
        Self::GaveUp,
        Self::ActionLost,
        Self::ParameterError,
        Self::OutOfTurn,
        Self::MissedCorrection,
        Self::OrderError,
        Self::WrongValue,
        Self::Repeated,
        Self::Distractor,
    ];

    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::ReplyLimit => "reply_limit",
            Self::UnparsedCall => "unparsed_call",
            Self::FalseAlarm => "false_alarm",
            Self::ActError => "act_error",
            Self::ActionLost => "action_lost",
            Self::ParameterError => "parameter_error",
            Self::OrderError => "order_error",
            Self::WrongValue => "wrong_value",
            Self::Repeated => "repeated",
            Self::Distractor => "distractor",
            Self::ConflictMissed => "conflict_missed",
            Self::RetriedForever => "retried_forever",
            Self::CalledVanished => "called_vanished",
            Self::WentOnAfterFailure => "went_on_after_failure",
            Self::NoRetry => "no_retry",
            Self::GaveUp => "gave_up",
            Self::OutOfTurn => "out_of_turn",
            Self::MissedCorrection => "missed_correction",
        }
    }
}

/// Something that applies to a run, whether or not it determined the class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Flag {
    Class(OrderClass),
    /// Two calls of actions overlapped in time. Never set for calls that a model wrote in one reply.
    Concurrent,
    /// Basic form only: a requirement holds only by the order in which a model wrote calls in one reply, which many
    /// frameworks execute at once.
    AtOnce,
    /// The agent broke instead of finishing.
    AgentFailed,
    /// Time form only: the agent tried to clear the day more often than allowed.
    RestartLimit,
    /// A guard between agent and tools denied a call.
    Denied,
    /// **(ours)** A call failed because its tool did.
    ToolFailed,
}

impl Flag {
    /// All flags.
    pub const ALL: [Self; 25] = [
        Self::Class(OrderClass::RetriedForever),
        Self::Class(OrderClass::Timeout),
        Self::Class(OrderClass::ReplyLimit),
        Self::Class(OrderClass::FalseAlarm),
        Self::Class(OrderClass::UnparsedCall),
        Self::Class(OrderClass::ActError),
        Self::Class(OrderClass::ConflictMissed),
        Self::Class(OrderClass::CalledVanished),
        Self::Class(OrderClass::WentOnAfterFailure),
        Self::Class(OrderClass::NoRetry),
        Self::Class(OrderClass::GaveUp),
        Self::Class(OrderClass::ActionLost),
        Self::Class(OrderClass::ParameterError),
        Self::Class(OrderClass::OutOfTurn),
        Self::Class(OrderClass::MissedCorrection),
        Self::Class(OrderClass::OrderError),
        Self::Class(OrderClass::WrongValue),
        Self::Class(OrderClass::Repeated),
        Self::Class(OrderClass::Distractor),
        Self::Concurrent,
        Self::AtOnce,
        Self::AgentFailed,
        Self::RestartLimit,
        Self::Denied,
        Self::ToolFailed,
    ];

    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Class(class) => class.as_str(),
            Self::Concurrent => "concurrent",
            Self::AtOnce => "at_once",
            Self::AgentFailed => "agent_failed",
            Self::RestartLimit => "restart_limit",
            Self::Denied => "denied",
            Self::ToolFailed => "tool_failed",
        }
    }
}
