//! How long the page of 10,000 cases takes to write, and how large it is.
//!
//! `cargo bench -p planproof-report --bench html`

#[path = "../tests/it/campaigns.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod campaigns;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use planproof_report::compare::Comparison;
use planproof_report::html::{self, HtmlLimits};
use planproof_sim::SimKind;
use planproof_synth::SynthesisOptions;

use campaigns::TestCampaign;

/// Cases of a campaign.
const CASES: u64 = 10_000;

fn pages(criterion: &mut Criterion) {
    let limits = HtmlLimits::default();
    let options = || SynthesisOptions { actions_max: 8, ..SynthesisOptions::default() };
    let [before, after] =
        [SimKind::InOrder, SimKind::Careless].map(|kind| TestCampaign::simulated(kind, options(), CASES));
    let page = |campaign: &TestCampaign| {
        let mut out = Vec::new();
        html::write(&campaign.reported(), &limits, &mut out).expect("a vector takes everything");
        out
    };
    let comparison = || {
        let (a, b) = (before.reported(), after.reported());
        let comparison = Comparison::new(&a, &b).expect("the cases are the same");
        let mut out = Vec::new();
        html::write_comparison(&comparison, &a, &b, &limits, &mut out).expect("a vector takes everything");
        out
    };
    for (name, campaign) in [("most fail", &before), ("some fail", &after)] {
        let bytes = page(campaign).len();
        eprintln!("{name}: {} of {CASES} cases failed, {bytes} bytes", campaign.report.failed);
    }
    eprintln!("comparison: {} bytes", comparison().len());

    let mut group = criterion.benchmark_group(format!("html of {CASES} cases"));
    group.sample_size(10);
    group.bench_function("most fail", |bencher| bencher.iter(|| black_box(page(&before))));
    group.bench_function("some fail", |bencher| bencher.iter(|| black_box(page(&after))));
    group.bench_function("comparison", |bencher| bencher.iter(|| black_box(comparison())));
    group.finish();
}

criterion_group!(benches, pages);
criterion_main!(benches);
