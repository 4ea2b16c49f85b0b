//! The launcher of programs under test as a separate program, which starts in a fraction of planproof's time. If it
//! is installed beside planproof it is used instead of planproof's own mode.

fn main() -> ! {
    planproof_isolation::only_launcher_main()
}
