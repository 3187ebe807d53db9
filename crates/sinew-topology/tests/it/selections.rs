//! CPUs as users choose them.

use super::set;
use sinew_topology::{CpuList, ListFault, SelectError, Selection};

fn list(text: &str) -> CpuList {
    text.parse().unwrap()
}

fn selection(allowed: Option<&str>, excluded: Option<&str>) -> Selection {
    Selection { allowed: allowed.map(list), excluded: excluded.map(list) }
}

#[test]
fn negative_numbers_count_from_the_end_of_the_accessible() {
    let accessible = set("0-3,8-11");
    let meant = [
        ("0", "0"),
        ("-1", "11"),
        ("-8", "0"),
        ("-5", "3"),
        ("-2--1", "10-11"),
        ("-6--3", "2-3,8-9"),
        ("2--1", "2-3,8-11"),
        ("-8-8", "0-3,8"),
        ("8-11,0", "0,8-11"),
        ("1,1,-1,11", "1,11"),
    ];
    for (text, cpus) in meant {
        assert_eq!(list(text).resolve(&accessible).unwrap().to_string(), cpus, "{text:?}");
        assert_eq!(list(&list(text).to_string()), list(text));
    }
}

#[test]
fn an_invalid_list_is_refused() {
    let fault = |text: &str| text.parse::<CpuList>().unwrap_err().fault();
    assert_eq!(fault(""), ListFault::Empty);
    assert_eq!(fault(" \n"), ListFault::Empty);
    assert_eq!(fault("-0"), ListFault::NotANumber);
    assert_eq!(fault("--1"), ListFault::NotANumber);
    assert_eq!(fault("1---2"), ListFault::NotANumber);
    assert_eq!(fault("-1--2"), ListFault::Backwards);
    assert_eq!(fault("-4294967296"), ListFault::TooLarge);
}

#[test]
fn an_absent_cpu_is_named() {
    let accessible = set("0-3,8-11");
    for (text, cpu) in
        [("4", 4), ("2-8", 4), ("12--1", 12), ("-1-12", 12), ("0,5", 5), ("0-4294967295", u32::MAX)]
    {
        let error = list(text).resolve(&accessible).unwrap_err();
        assert_eq!(error, SelectError::Absent { cpu, accessible: accessible.clone() }, "{text:?}");
        assert!(error.to_string().contains(&format!("CPU {cpu} ")), "{error}");
        assert!(error.to_string().contains("0-3,8-11"), "{error}");
    }
    let error = list("-9").resolve(&accessible).unwrap_err();
    assert_eq!(error, SelectError::TooFar { back: 9, accessible: accessible.clone() });
    assert!(error.to_string().contains("-9") && error.to_string().contains("8 are"), "{error}");
    let error = list("8--5").resolve(&accessible).unwrap_err();
    assert_eq!(error, SelectError::Backwards { range: "8--5".to_owned(), first: 8, last: 3 });
}

#[test]
fn allowed_and_excluded_count_from_the_same_end() {
    let accessible = set("0-7");
    let left =
        |allowed, excluded| selection(allowed, excluded).apply(&accessible).map(|cpus| cpus.to_string());
    assert_eq!(left(None, None).unwrap(), "0-7");
    assert_eq!(left(Some("0-3"), None).unwrap(), "0-3");
    assert_eq!(left(None, Some("-1")).unwrap(), "0-6");
    assert_eq!(left(Some("0-3"), Some("-1")).unwrap(), "0-3");
    assert_eq!(left(Some("2--1"), Some("3,-2--1")).unwrap(), "2,4-5");
}

#[test]
fn a_choice_that_leaves_no_cpu_is_refused() {
    let error = selection(Some("0-1"), Some("0--1")).apply(&set("0-7")).unwrap_err();
    assert_eq!(error, SelectError::NothingLeft { allowed: set("0-1"), excluded: set("0-7") });
    assert!(error.to_string().contains("no CPU is left"), "{error}");
    let error = selection(None, Some("9")).apply(&set("0-7")).unwrap_err();
    assert!(matches!(error, SelectError::Absent { cpu: 9, .. }));
}
