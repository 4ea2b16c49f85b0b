//! What the rules between an agent and its tools did, in the words of all reports.

use planproof_engine::GuardReport;

/// What rules did, a line each with its label. The false-block rate has an interval and counts runs, because the calls
/// of one run are alike.
pub fn guard_lines(report: &GuardReport) -> Vec<(&'static str, String)> {
    let found = &report.figures;
    let name = if report.enforced { &report.rules } else { &format!("{} (shadow)", report.rules) };
    let mut did = Vec::new();
    if found.rejected > 0 || report.enforced {
        did.push(format!("denied {}", counted(found.rejected, "call")));
    }
    if found.noted > 0 || !report.enforced {
        did.push(format!("would have denied {}", counted(found.noted, "call")));
    }
    let [did, runs] = [did.join(" and "), found.runs.to_string()];
    let mut lines = vec![("Guard", format!("{name} {did}, in {} of {runs} runs", found.runs_with))];
    if let Some(rate) = found.false_block_rate() {
        let [rate, low, high] = [rate, found.false_block_low, found.false_block_high]
            .map(|share| format!("{:.1}", 100.0 * share));
        let blocks = found.false_blocks;
        let lost = if report.enforced { "lost" } else { "would have lost" };
        lines.push((
            "False blocks",
            format!(
                "{blocks} of {runs} runs ({rate} %, 95 % interval {low} to {high} %) {lost} a step of a right plan"
            ),
        ));
    }
    if found.saved > 0 {
        let saved = counted(found.saved, "run");
        lines.push(("Saved", format!("{saved} passed after a call was denied that would have failed it")));
    }
    let unknown = found.unknown();
    if unknown > 0 {
        let calls = counted(unknown, "denied call");
        lines.push(("Unknown", format!("of {calls} the case does not say whether a right plan needs it")));
    }
    lines
}

fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use planproof_engine::GuardFigures;

    use super::*;

    #[test]
    fn rules_are_summed_up_in_words() {
        let figures = GuardFigures {
            runs: 40,
            runs_with: 9,
            rejected: 12,
            right: 2,
            wrong: 7,
            false_blocks: 2,
            false_block_low: 0.014,
            false_block_high: 0.165,
            saved: 1,
            ..GuardFigures::default()
        };
        let report = |enforced, figures| GuardReport {
            rules: "rules.yaml".to_owned(),
            sha256: String::new(),
            enforced,
            figures,
        };
        let words = |report| guard_lines(&report).into_iter().map(|(label, text)| format!("{label}: {text}"));
        let enforced: Vec<String> = words(report(true, figures)).collect();
        assert_eq!(
            enforced,
            [
                "Guard: rules.yaml denied 12 calls, in 9 of 40 runs",
                "False blocks: 2 of 40 runs (5.0 %, 95 % interval 1.4 to 16.5 %) lost a step of a right plan",
                "Saved: 1 run passed after a call was denied that would have failed it",
                "Unknown: of 3 denied calls the case does not say whether a right plan needs it",
            ]
        );
        let shadow = GuardFigures { noted: 1, rejected: 0, runs: 0, ..GuardFigures::default() };
        let shadow: Vec<String> = words(report(false, shadow)).collect();
        assert_eq!(shadow[0], "Guard: rules.yaml (shadow) would have denied 1 call, in 0 of 0 runs");
    }
}
