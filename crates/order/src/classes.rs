//! The classes and flags of orders, as the engine sees them.

use std::sync::LazyLock;

use planproof_suite::{Class, ClassInfo, FlagInfo};
use planproof_synth::{Flag, OrderClass};

pub(crate) static CLASSES: LazyLock<Vec<ClassInfo>> = LazyLock::new(|| {
    let ranked = (0..).zip(OrderClass::ALL);
    ranked
        .map(|(rank, class)| ClassInfo { name: class.as_str(), meaning: class_meaning(class), rank })
        .collect()
});

pub(crate) static FLAGS: LazyLock<Vec<FlagInfo>> = LazyLock::new(|| {
    let flags = Flag::ALL.into_iter();
    flags.map(|flag| FlagInfo { name: flag.as_str(), meaning: flag_meaning(flag) }).collect()
});

/// The class as the engine sees it.
pub(crate) fn class_of(class: OrderClass) -> Option<Class> {
    Class::find(&CLASSES, class.as_str())
}

fn class_meaning(class: OrderClass) -> &'static str {
    match class {
        OrderClass::Timeout => "A limit of time, turns or output was reached before the agent had finished.",
        OrderClass::ReplyLimit => ClassInfo::reply_limit(0).meaning,
        OrderClass::UnparsedCall => ClassInfo::unparsed_call(0).meaning,
        OrderClass::ActError => {
            "A refused call (no such tool, or arguments that do not fit) explains a missing action; or the agent broke."
        }
        OrderClass::ActionLost => "An action was never done.",
        OrderClass::ParameterError => "A start time is impossible.",
        OrderClass::OutOfTurn => {
            "An action was done before the message that it had to wait for, or after the turn in which it was due."
        }
        OrderClass::MissedCorrection => {
            "Something was done as it had been asked for before a message changed it."
        }
        OrderClass::OrderError => "Actions were done in an order that the paragraph rules out.",
        OrderClass::WrongValue => "A call passed a value other than the one an earlier tool returned for it.",
        OrderClass::Repeated => "An action was done more than once.",
        OrderClass::Distractor => "A tool was called that belongs to no action.",
        OrderClass::FalseAlarm => "A conflict was reported, although everything can hold together.",
        OrderClass::RetriedForever => {
            "A tool that had reported that it would not work again was called more than three more times."
        }
        OrderClass::CalledVanished => "A tool was called after the agent had been shown that it is gone.",
        OrderClass::WentOnAfterFailure => {
            "A task was done although one that has to come before it had failed."
        }
        OrderClass::NoRetry => "A call that had failed for the moment was not made again.",
        OrderClass::GaveUp => {
            "A call was not repeated until it got through, or the agent stopped at a failure with calls still due."
        }
        OrderClass::ConflictMissed => "A conflict was not reported, or a task was done anyway.",
    }
}

fn flag_meaning(flag: Flag) -> &'static str {
    match flag {
        Flag::Class(OrderClass::ActError) => "A call was refused, or the agent broke.",
        Flag::Class(OrderClass::UnparsedCall) => "A call was written as text instead of being made.",
        Flag::Class(class) => class_meaning(class),
        Flag::Concurrent => "Calls overlapped in time.",
        Flag::AtOnce => "Calls that must follow one another were written in one reply, in the right order.",
        Flag::AgentFailed => "The agent broke instead of finishing.",
        Flag::Denied => "A guard denied a call, which was not executed.",
        Flag::ToolFailed => "A call failed because its tool did, which is not a mistake of the agent.",
        Flag::RestartLimit => "The agent tried to clear the day more often than is allowed.",
    }
}
