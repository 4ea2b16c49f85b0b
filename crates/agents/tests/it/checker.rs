//! Programs that judge proposed answers, and programs that fail to.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use planproof_agents::CommandError;
use planproof_agents::behaviour::evaluator::{
    CHECK_OUTPUT_BYTES_MAX, CHECKS_AT_ONCE_MAX, Checker as _, Evaluator, EvaluatorFault, JudgedBy, Judgement,
    ProgramChecker, Proposal,
};

use crate::command::{appearing, check_dead};

const PROPOSAL: Proposal<'_> =
    Proposal { question: "2 + 2?", answer: "4 \"or\" 5\n[Answer] x", work: "[Thought] Ä." };

fn shell(script: &str) -> ProgramChecker {
    ProgramChecker::parse(&format!("sh -c '{script}'")).unwrap()
}

async fn judgement(script: &str) -> Result<(Option<bool>, String), String> {
    let checker = shell(script).with_time_max(Duration::from_secs(20));
    checker.check(PROPOSAL).await.map(|Judgement { is_correct, why }| (is_correct, why))
}

fn found(is_correct: bool, why: &str) -> Result<(Option<bool>, String), String> {
    Ok((Some(is_correct), why.to_owned()))
}

#[tokio::test]
async fn the_status_judges_and_stdout_says_why() {
    assert_eq!(judgement("true").await, found(true, ""));
    assert_eq!(judgement("echo fine; echo noise >&2").await, found(true, "fine"));
    assert_eq!(judgement("exit 1").await, found(false, ""));
    assert_eq!(judgement("echo \" it is 3 \"; echo noise >&2; exit 1").await, found(false, "it is 3"));
    // It does not have to read its stdin, and may close its streams.
    assert_eq!(judgement("exec <&-; echo done; exec >&- 2>&-; exit 1").await, found(false, "done"));
}

#[tokio::test]
async fn the_program_reads_one_object_of_json() {
    let Ok((_, input)) = judgement("cat").await else { panic!("it is there") };
    assert_eq!(
        input, r#"{"question":"2 + 2?","answer":"4 \"or\" 5\n[Answer] x","work":"[Thought] Ä."}"#,
        "on one line"
    );
    assert_eq!(judgement("wc -l").await, found(true, "1"));
    let question = "x".repeat(300_000);
    let checker = shell("wc -c");
    let read = checker.check(Proposal { question: &question, ..PROPOSAL }).await.unwrap();
    assert!(read.why.parse::<usize>().unwrap() > 300_000, "{read:?}");
    // It exits long before all of the input fits into the pipe.
    let checker = shell("exit 1");
    assert_eq!(
        checker.check(Proposal { question: &question, ..PROPOSAL }).await.map(|it| it.is_correct),
        Ok(Some(false))
    );
}

#[tokio::test]
async fn what_is_no_text_is_replaced() {
    let said = judgement("printf \"no\\\\377\\\\303\\\\000t\"; exit 1").await;
    assert_eq!(said, found(false, "no\u{fffd}\u{fffd}\0t"));
}

#[tokio::test]
async fn whatever_else_happens_says_nothing_of_the_answer() {
    for (script, reason) in [
        ("exit 2", "the command ended with exit status: 2 and nothing on stderr"),
        (
            "echo no; exit 127",
            "the command ended with exit status: 127 and nothing on stderr; its stdout ends with:\nno",
        ),
        ("kill -KILL $$", "the command ended with signal: 9 (SIGKILL) and nothing on stderr"),
        (
            "echo Traceback >&2; exit 1",
            "the command ended with exit status: 1; its stderr ends with:\nTraceback",
        ),
        ("head -c 10000000 /dev/zero", "it wrote more than the 65536 bytes that it may"),
        ("yes >&2", "it wrote more than the 65536 bytes that it may"),
        ("head -c 65537 /dev/zero; exit 1", "it wrote more than the 65536 bytes that it may"),
    ] {
        let begin = Instant::now();
        assert_eq!(judgement(script).await, Err(reason.to_owned()), "{script}");
        assert!(begin.elapsed() < Duration::from_secs(5), "{script} took {:?}", begin.elapsed());
    }
    let most = judgement("head -c 65536 /dev/zero | tr \"\\\\0\" a").await;
    assert_eq!(
        most.map(|(_, why)| why.len() as u64),
        Ok(CHECK_OUTPUT_BYTES_MAX),
        "the limit itself is allowed"
    );
    let missing = ProgramChecker::parse("./no/such/program").unwrap();
    let fault = Evaluator::Checker(Arc::new(missing)).evaluate(PROPOSAL, 0).await.unwrap_err();
    assert!(matches!(&fault, EvaluatorFault::Checker { name, .. } if name == "./no/such/program"), "{fault}");
    assert!(fault.to_string().contains("`./no/such/program` could not be started"), "{fault}");
}

#[tokio::test]
#[ignore = "slow"]
async fn a_program_that_hangs_is_ended_with_its_children() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("children_of_a_hanging_checker");
    let _ = std::fs::remove_file(&file);
    let script = format!("trap \"\" TERM; sleep 30 & echo $$ $! > {}; wait; sleep 30", file.display());
    for script in ["sleep 30", "exec >&- 2>&-; sleep 30", "kill -STOP $$", &script] {
        let begin = Instant::now();
        let checker = shell(script).with_time_max(Duration::from_millis(700));
        let fault = checker.check(PROPOSAL).await.unwrap_err();
        assert_eq!(fault, "it did not end within 0.7 seconds, which is all that it may take", "{script}");
        assert!(begin.elapsed() < Duration::from_secs(5), "{script} took {:?}", begin.elapsed());
    }
    for pid in appearing(&file).await.split(' ') {
        check_dead(pid).await;
    }
}

#[tokio::test]
async fn nothing_is_left_behind_by_a_program_that_ends() {
    // The child keeps stdout open.
    let begin = Instant::now();
    let Ok((Some(false), pid)) = judgement("sleep 30 & echo $!; exit 1").await else { panic!("it refused") };
    check_dead(&pid).await;
    assert!(begin.elapsed() < Duration::from_secs(5), "took {:?}", begin.elapsed());
}

#[tokio::test]
async fn everything_dies_when_nobody_waits_any_more() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("processes_of_a_dropped_check");
    let _ = std::fs::remove_file(&file);
    let checker = shell(&format!("sleep 30 & echo $$ $! > {}; wait", file.display()));
    let running = tokio::spawn(async move { checker.check(PROPOSAL).await });
    let pids = appearing(&file).await;
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    for pid in pids.split(' ') {
        check_dead(pid).await;
    }
}

#[tokio::test]
async fn no_more_are_at_work_than_may_be() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("checkers_at_work");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let at = folder.display();
    let checker = shell(&format!("touch {at}/$$; ls {at} | wc -l; sleep 0.2; rm {at}/$$"));
    let judge = || {
        let checker = checker.clone();
        tokio::spawn(async move { checker.check(PROPOSAL).await.unwrap().why.parse::<usize>().unwrap() })
    };
    let running: Vec<_> = (0..3 * CHECKS_AT_ONCE_MAX).map(|_| judge()).collect();
    let mut seen = Vec::new();
    for run in running {
        seen.push(run.await.unwrap());
    }
    let most = seen.into_iter().max().unwrap();
    assert!((2..=CHECKS_AT_ONCE_MAX).contains(&most), "{most}");
}

#[test]
fn what_is_no_command_is_reported() {
    for empty in ["", "  ", "''"] {
        let error = ProgramChecker::parse(empty).unwrap_err();
        assert_eq!(error, CommandError::Empty { example: "program:python my_check.py" }, "{empty:?}");
    }
    assert!(matches!(ProgramChecker::parse("a 'b"), Err(CommandError::UnclosedQuote { .. })));
    let resolve = |text: &str| ProgramChecker::parse(text).unwrap().resolve();
    assert_eq!(resolve("sh -c true"), Ok(()));
    assert!(matches!(resolve("./no/such/program"), Err(CommandError::NotFound { .. })));
    let checker = shell("exit 1");
    assert_eq!(checker.words().collect::<Vec<_>>(), ["sh", "-c", "exit 1"]);
    let by = Evaluator::Checker(Arc::new(checker)).name();
    assert_eq!(by.to_string(), "checker sh -c 'exit 1'");
    assert_eq!(JudgedBy::from_note(&by.to_string()), Some(by));
}
