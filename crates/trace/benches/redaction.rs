//! What it costs to search a text for secrets, in nanoseconds a byte.

use std::hint::black_box;
use std::time::Instant;

use planproof_trace::{Draw, Secrets};

const BYTES: usize = 1 << 20;

const ROUNDS: u32 = 30;

fn main() {
    let mut draw = Draw::new(7, 0, "secrets");
    let mut text = String::new();
    while text.len() < BYTES {
        text += &format!(
            "{{\"type\":\"call\",\"at\":{},\"id\":\"call-{}\",\"name\":\"firewall_audit\",\"arguments\":{{\"start\":\"{:02}:10\"}}}}\n\
             [Thought] The fibre splice inspection comes before domain name transfer, and after it packet loss diagnosis.\n",
            draw.below(90_000),
            draw.below(99),
            draw.below(24)
        );
    }
    let alphabet = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    for count in [1, 5, 20, 100] {
        let mut key = || (0..40).map(|_| char::from(alphabet[draw.place(62)])).collect::<String>();
        let keys: Vec<String> = (0..count).map(|_| format!("sk-{}", key())).collect();
        let made = Instant::now();
        let secrets = Secrets::new(keys);
        let made = made.elapsed();
        let time = (0..ROUNDS).map(|_| {
            let begun = Instant::now();
            black_box(secrets.redact(black_box(&text)));
            begun.elapsed()
        });
        let best = time.min().unwrap_or_default().as_secs_f64() * 1e9 / text.len() as f64;
        println!("{count} secrets: {best:.2} ns a byte, made ready in {made:?}");
    }
}
