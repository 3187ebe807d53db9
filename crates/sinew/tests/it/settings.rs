//! Settings: by the builder, by the environment, and those that make no sense.
//!
//! # Safety
//!
//! Changes the environment of processes of its own.
#![expect(unsafe_code, reason = "variables are set")]

use super::support::{Watched, in_child, stderr};
use sinew::topology::CpuList;
use sinew::{Profile, Runtime, RuntimeBuilder, StartError};

fn refused(builder: RuntimeBuilder) -> String {
    match builder.start() {
        Ok(_) => panic!("it started"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn groups_are_laid_out_as_asked_for() {
    let builder = Runtime::builder().profile(Profile::IoHeavy).concurrency(3).group_size(1);
    let runtime = Watched::new(builder.start().unwrap());
    assert_eq!((runtime.groups(), runtime.workers()), (3, 3));
    let text = runtime.describe();
    for words in
        ["3 workers in 3 groups", "profile io-heavy", "stay where they have begun", "every 16 vain rounds"]
    {
        assert!(text.contains(words), "{words:?} in: {text}");
    }
    assert_eq!(runtime.run(|| 6 * 7), 42);
}

#[test]
fn workers_run_on_chosen_cpus() {
    let last: CpuList = "-1".parse().unwrap();
    let builder = Runtime::builder().cpus(last).concurrency(2).steal_across_nodes(8).queue_capacity(64);
    let runtime = Watched::new(builder.start().unwrap());
    let allowed = runtime.run(|| {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim();
        list.to_owned()
    });
    assert!(allowed.parse::<u32>().is_ok(), "one CPU: {allowed}");
    assert!(runtime.describe().contains("queue of a group: 64"));
}

#[test]
fn what_contradicts_or_cannot_be_is_refused() {
    let error = refused(Runtime::builder().workers(2).profile(Profile::Io));
    assert!(error.contains("`profile`") && error.contains("leave one"), "{error}");
    let error = refused(Runtime::builder().groups([1, 2]).numa(true));
    assert!(error.contains("`numa`"), "{error}");
    for size in [0, 65] {
        let error = Runtime::builder().group_size(size).start().unwrap_err();
        assert!(matches!(error, StartError::Plan(_)), "{error}");
    }
    let error = refused(Runtime::builder().cpus("60000".parse().unwrap()));
    assert!(error.contains("60000"), "{error}");
    let error = refused(Runtime::builder().queue_capacity(0));
    assert!(error.contains("1 to 2^24"), "{error}");
}

#[test]
fn the_environment_sets_what_the_builder_does_not() {
    let output = in_child("settings::the_environment_sets_what_the_builder_does_not", || {
        // SAFETY: this process has no other thread that reads it now.
        let set = |name, value| unsafe { std::env::set_var(name, value) };
        let describe = |builder: RuntimeBuilder| {
            builder.start().map_or_else(|error| error.to_string(), |it| it.describe())
        };
        for (name, value, words) in [
            ("SINEW_PROFILE", "io-hevy", "io-heavy"),
            ("SINEW_PROFILE", "compute", "profile compute"),
            ("SINEW_GROUP_SIZE", "0", "1 to 64"),
            ("SINEW_GROUP_SIZE", "1", "groups of 1 worker"),
            ("SINEW_CONCURRENCY", "lots", "SINEW_CONCURRENCY"),
            ("SINEW_CONCURRENCY", "5", "5 workers in 5 groups"),
            ("SINEW_NUMA", "maybe", "on or off"),
            ("SINEW_NUMA", "off", "NUMA off"),
            ("SINEW_EXCLUDED_CPUS", "1-", "SINEW_EXCLUDED_CPUS"),
            ("SINEW_EXCLUDED_CPUS", "60001", "60001"),
            ("SINEW_EXCLUDED_CPUS", "-1", "excluded"),
            ("SINEW_CPUS", "x", "SINEW_CPUS"),
            ("SINEW_CPUS", "0", "0 allowed"),
            ("SINEW_WORKER_PER_CPU", "2", "on or off"),
            ("SINEW_WORKER_PER_CPU", "no", "5 workers"),
            ("SINEW_STEAL_WITHIN_NODE", "-1", "SINEW_STEAL_WITHIN_NODE"),
            ("SINEW_STEAL_WITHIN_NODE", "3", "of the node every 3"),
            ("SINEW_STEAL_ACROSS_NODES", "9", "of others every 9"),
            ("SINEW_QUEUE_CAPACITY", "0", "1 to 16777216"),
            ("SINEW_QUEUE_CAPACITY", "128", "queue of a group: 128"),
        ] {
            set(name, value);
            let text = describe(Runtime::builder());
            assert!(text.contains(words), "{name}={value}: {words:?} in: {text}");
        }
        // What the builder says comes first.
        let text = describe(Runtime::builder().concurrency(2).steal_within_node(0));
        assert!(text.contains("2 workers in 2 groups") && text.contains("of the node never"), "{text}");
        assert!(describe(Runtime::builder().workers(4)).contains("4 workers in 1 group"));
        set("SINEW_WORKERS", "7");
        assert!(describe(Runtime::builder()).contains("7 workers in 1 group"));
        assert!(describe(Runtime::builder().group_size(2)).contains("groups of 2 workers"));
    });
    assert!(output.status.success(), "{}", stderr(&output));
}
