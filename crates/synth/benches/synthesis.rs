//! scratch
use planproof_synth::*;
use rustix::time::{ClockId, clock_gettime};

fn cpu() -> f64 {
    if std::env::var_os("NOCLOCK").is_some() {
        return 0.0;
    }
    let t = clock_gettime(ClockId::ProcessCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}
fn main() {
    let a: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let (lo, hi, n): (u32, u32, u64) = (a[0].parse().unwrap(), a[1].parse().unwrap(), a[2].parse().unwrap());
    let o = Options { actions_min: lo, actions_max: hi, ..Options::default() };
    let s = Synthesizer::new(o, Wordings::shipped(), TopicBank::shipped()).unwrap();
    let mut bytes = 0;
    let mut counts = SynthesisCounts::default();
    let t = cpu();
    let mut worst = 0f64;
    for i in 0..n {
        let t0 = if n <= 20000 { cpu() } else { 0.0 };
        let case = s.case(7, i, &mut counts, &mut ()).unwrap();
        if n <= 20000 {
            worst = worst.max(cpu() - t0);
        }
        bytes += std::hint::black_box(&case).query.len();
    }
    let t = cpu() - t;
    println!(
        "{lo}..{hi}: {:.3} us a case, worst {:.1} us, {} bytes, {counts:?}",
        t * 1e6 / n as f64,
        worst * 1e6,
        bytes as u64 / n
    );
}
