//! Settings: by the builder, by the environment, and those that make no sense.
//!
//! # Safety
//!
//! Changes the environment of processes of its own.
#![expect(unsafe_code, reason = "variables are set")]

use super::nodes::allowed;
use super::support::{Watched, in_child, stderr};
use sinew::fiber::Builder;
use sinew::topology::{CpuList, CpuSet};
use sinew::{Config, Profile, Runtime, RuntimeBuilder, StartError};
use std::time::Duration;

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
    assert_eq!(runtime.run(allowed).len(), 1);
    assert!(runtime.describe().contains("queue of a group: 64"));
}

#[test]
fn what_contradicts_or_cannot_be_is_refused() {
    let error = refused(Runtime::builder().workers(2).profile(Profile::Io));
    assert!(
        error.contains("`profile`") && error.contains("say `concurrency` in place of `workers`"),
        "{error}"
    );
    let error = refused(Runtime::builder().groups([1, 2]).numa(true));
    assert!(error.contains("`numa`"), "{error}");
    for size in [0, 65] {
        let error = Runtime::builder().group_size(size).start().unwrap_err();
        assert!(matches!(error, StartError::Plan(_)), "{error}");
    }
    let error = refused(Runtime::builder().cpus("60000".parse().unwrap()));
    assert!(error.contains("60000"), "{error}");
    let error = refused(Runtime::builder().max_fibers(0));
    assert!(error.contains("1 or more"), "{error}");
    let error = refused(Runtime::builder().blocking_threads(0));
    assert!(error.contains("`blocking_threads`") && error.contains("1 or more"), "{error}");
    let error = refused(Runtime::builder().prewarm(1_000_001));
    assert!(error.contains("a million at most"), "{error}");
    let error = refused(Runtime::builder().queue_capacity(0));
    assert!(error.contains("1 to 2^24"), "{error}");
    let error = refused(Runtime::builder().name("weft\0warp"));
    assert!(error.contains(r#""weft\0warp": take the zero byte out"#), "{error}");
}

/// Variables, one after the other, with their values and what is said of them then.
fn variables(first_cpu: &str) -> [(&str, &str, &'static str); 33] {
    [
        // First, so that the numbers below are the same on machines with nodes.
        ("SINEW_NUMA", "maybe", "on or off"),
        ("SINEW_NUMA", "off", "NUMA off"),
        ("SINEW_PROFILE", "io-hevy", "io-heavy"),
        ("SINEW_PROFILE", "compute", "profile compute"),
        ("SINEW_GROUP_SIZE", "0", "1 to 64"),
        ("SINEW_GROUP_SIZE", "1", "of 1 worker, NUMA off"),
        ("SINEW_CONCURRENCY", "lots", "SINEW_CONCURRENCY"),
        ("SINEW_CONCURRENCY", "5", "5 workers in 5 groups"),
        ("SINEW_CPUS", "x", "SINEW_CPUS"),
        ("SINEW_CPUS", first_cpu, " allowed"),
        ("SINEW_WORKER_PER_CPU", "2", "on or off"),
        ("SINEW_WORKER_PER_CPU", "no", "5 workers"),
        ("SINEW_STEAL_WITHIN_NODE", "-1", "SINEW_STEAL_WITHIN_NODE"),
        ("SINEW_STEAL_WITHIN_NODE", "3", "of its node every 3"),
        ("SINEW_STEAL_ACROSS_NODES", "9", "of others every 9"),
        ("SINEW_QUEUE_CAPACITY", "0", "1 to 16777216"),
        ("SINEW_QUEUE_CAPACITY", "1000", "queue of a group: 1000"),
        ("SINEW_STRATEGY", "share", "did you mean `shared`?"),
        ("SINEW_STRATEGY", "shared", "strategy shared"),
        ("SINEW_MAX_FIBERS", "0", "a number from 1"),
        ("SINEW_MAX_FIBERS", "77", "at most 77"),
        ("SINEW_PREWARM", "1000001", "0 to 1000000"),
        ("SINEW_PREWARM", "3", "strategy shared"),
        ("SINEW_BLOCKING_THREADS", "0", "a number from 1"),
        ("SINEW_BLOCKING_THREADS", "many", "SINEW_BLOCKING_THREADS"),
        ("SINEW_BLOCKING_THREADS", "1", "at most 1 thread; each ends after 10s"),
        ("SINEW_BLOCKING_IDLE_MS", "-1", "SINEW_BLOCKING_IDLE_MS"),
        ("SINEW_BLOCKING_IDLE_MS", "30", "ends after 30ms"),
        ("SINEW_STALL_REPORT_MS", "soon", "a number of milliseconds"),
        ("SINEW_STALL_REPORT_MS", "0", "strategy shared"),
        ("SINEW_EXCLUDED_CPUS", "1-", "SINEW_EXCLUDED_CPUS"),
        ("SINEW_EXCLUDED_CPUS", "60001", "60001"),
        // With one CPU, none is left.
        ("SINEW_EXCLUDED_CPUS", "-1", "excluded"),
    ]
}

#[test]
fn the_environment_sets_what_the_builder_does_not() {
    let output = in_child("settings::the_environment_sets_what_the_builder_does_not", || {
        // SAFETY: this process has no other thread that reads it now.
        let set = |name, value| unsafe { std::env::set_var(name, value) };
        let describe = |builder: RuntimeBuilder| {
            builder.start().map_or_else(|error| error.to_string(), |it| it.describe())
        };
        let first = first_cpu();
        for (name, value, words) in variables(&first) {
            set(name, value);
            let text = describe(Runtime::builder());
            assert!(text.contains(words), "{name}={value}: {words:?} in: {text}");
        }
        // SAFETY: as above.
        unsafe { std::env::remove_var("SINEW_EXCLUDED_CPUS") };
        // What the builder says comes first.
        let text = describe(Runtime::builder().blocking_threads(3).blocking_idle(Duration::from_micros(1)));
        assert!(text.contains("at most 3 threads; each ends after 1ms"), "{text}");
        let text = describe(Runtime::builder().concurrency(2).steal_within_node(0));
        assert!(text.contains("2 workers in 2 groups") && text.contains("of its node never"), "{text}");
        assert!(describe(Runtime::builder().workers(4)).contains("4 workers in 1 group"));
        let text = describe(Runtime::builder().workers(4));
        assert!(text.contains("note: SINEW_CPUS is ignored"), "{text}");
        let mut file = Config::default();
        file.concurrency = Some(3);
        let config = Config::from_environment().unwrap().or(file);
        assert_eq!(config.concurrency, Some(5), "the environment may go before a file");
        set("SINEW_WORKERS", "7");
        let text = describe(Runtime::builder());
        assert!(text.contains("`SINEW_WORKERS` and `SINEW_PROFILE` are both set"), "{text}");
        for name in PLANNING {
            // SAFETY: as above.
            unsafe { std::env::remove_var(name) };
        }
        assert!(describe(Runtime::builder()).contains("7 workers in 1 group"));
        let text = describe(Runtime::builder().group_size(2));
        assert!(text.contains("of 2 workers") && text.contains("SINEW_WORKERS is ignored"), "{text}");
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

/// The variables that say how groups are laid out.
const PLANNING: [&str; 7] = [
    "SINEW_PROFILE",
    "SINEW_CONCURRENCY",
    "SINEW_GROUP_SIZE",
    "SINEW_NUMA",
    "SINEW_CPUS",
    "SINEW_EXCLUDED_CPUS",
    "SINEW_WORKER_PER_CPU",
];

/// The first CPU that this process may use.
fn first_cpu() -> String {
    allowed().iter().next().unwrap().to_string()
}

fn config(json: &str) -> Result<Config, serde_json::Error> {
    serde_json::from_str(json)
}

#[test]
fn settings_are_read_from_a_file_and_written_to_one() {
    let text = r#"{"profile": "io", "concurrency": 3, "group_size": 1, "cpus": "FIRST", "excluded_cpus": null, "strategy": "shared",
        "queue_capacity": 1000, "max_fibers": 99, "blocking_threads": 7, "blocking_idle_ms": 40, "stall_report_ms": 0, "name": "shop", "steal_within_node": 4}"#;
    let config = config(&text.replace("FIRST", &first_cpu())).unwrap();
    let again: Config = serde_json::from_str(&serde_json::to_string(&config).unwrap()).unwrap();
    assert_eq!(again, config);
    let runtime = Watched::new(RuntimeBuilder::from(config).group_size(2).start().unwrap());
    let text = runtime.describe();
    for words in [
        "runtime 'shop': 4 workers in 2 groups",
        "profile io",
        "strategy shared",
        "at most 99",
        "at most 7 threads; each ends after 40ms",
        "of its node every 4",
        "queue of a group: 1000",
    ] {
        assert!(text.contains(words), "{words:?} in: {text}");
    }
    assert_eq!(runtime.run(|| 6 * 7), 42);
}

#[test]
fn sizes_are_numbers_or_text_with_a_unit() {
    for (json, size) in [("262144", 1 << 18), ("\"256k\"", 1 << 18), ("\" 1 MiB\"", 1 << 20)] {
        let config = config(&format!("{{\"stack_size\": {json}}}")).unwrap();
        assert_eq!(config.stack_size, Some(size));
        assert_eq!(serde_json::from_str::<Config>(&serde_json::to_string(&config).unwrap()).unwrap(), config);
    }
    assert_eq!(config(r#"{"stack_size": null}"#).unwrap().stack_size, None);
}

#[test]
fn a_file_that_makes_no_sense_is_refused() {
    for (text, words) in [
        (r#"{"profil": "io"}"#, "profil"),
        (r#"{"profile": "io-hevy"}"#, "io-heavy"),
        (r#"{"strategy": "v1"}"#, "`local` or `shared`"),
        (r#"{"cpus": "3-1"}"#, "3-1"),
        (r#"{"workers": -1}"#, "-1"),
        (r#"{"stack_size": "64 sheep"}"#, "64 sheep"),
        (r#"{"stack_size": -1}"#, "128k"),
    ] {
        let error = config(text).unwrap_err().to_string();
        assert!(error.contains(words), "{words:?} in: {error}");
    }
    let started = |text: &str| refused(RuntimeBuilder::from(config(text).unwrap()));
    let error = started(r#"{"workers": 2, "groups": [1, 1]}"#);
    assert!(error.contains("`workers`"), "{error}");
    let error = started(r#"{"workers": 0}"#);
    assert!(error.contains("1 to 65536"), "{error}");
    let error = started(r#"{"workers": 1, "stack_size": 1000000000}"#);
    assert!(error.contains("1000000000"), "{error}");
}

/// A machine with a node for each of two CPUs that are really there.
#[test]
fn groups_of_a_node_run_there_on_stacks_of_their_own() {
    let cpus: Vec<_> = allowed().iter().take(2).collect();
    let [first, second] = cpus[..] else { return eprintln!("skipped: it takes two CPUs") };
    let root = std::env::temp_dir().join(format!("sinew-two-nodes-{}", std::process::id()));
    let write = |path: &str, text: String| {
        let path = root.join("sys/devices/system").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("cpu/online", format!("{first},{second}\n"));
    write("node/online", "0-1\n".to_owned());
    for (node, cpu) in [(0, first), (1, second)] {
        write(&format!("node/node{node}/cpulist"), format!("{cpu}\n"));
    }
    let builder = Runtime::builder().machine_root(&root).concurrency(2).numa(true).prewarm(10);
    let runtime = Watched::new(builder.start().unwrap());
    let text = runtime.describe();
    assert_eq!((runtime.groups(), runtime.workers()), (2, 2), "{text}");
    assert_eq!((runtime.group_node(0), runtime.group_node(1)), (Some(0), Some(1)), "{text}");
    for (group, cpu) in [(0, first), (1, second)] {
        let cpus = runtime.run(move || {
            let fiber = Builder::new().group(group).group_local(true).spawn(allowed);
            fiber.unwrap().join().unwrap()
        });
        assert_eq!(cpus, CpuSet::from_range(cpu..=cpu), "{text}");
    }
    assert!(runtime.stack_stats().pooled >= 10, "five for each node");
    drop(runtime);
    std::fs::remove_dir_all(&root).unwrap();
}
