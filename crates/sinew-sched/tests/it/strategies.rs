//! The names of strategies.

use sinew_sched::Strategy;

#[test]
fn names_are_read_and_printed() {
    assert_eq!(Strategy::ALL.map(Strategy::name), ["local", "shared"]);
    for strategy in Strategy::ALL {
        assert_eq!(strategy.to_string().parse(), Ok(strategy));
    }
    assert_eq!(Strategy::default(), Strategy::Local);
    assert_eq!(format!("{:>7}|{:<7}", Strategy::Shared, Strategy::Shared), " shared|shared ");
}

#[test]
fn the_nearest_name_is_suggested() {
    let misspelt = [("Local", "local"), ("locale", "local"), ("SHARED", "shared"), ("share", "shared")];
    for (name, nearest) in misspelt {
        let error = name.parse::<Strategy>().unwrap_err();
        assert_eq!(error.nearest().map(Strategy::name), Some(nearest), "{name}");
        assert!(error.to_string().contains(&format!("did you mean `{nearest}`?")), "{error}");
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn where_no_name_is_near_both_are_told() {
    for name in ["", "v1", "fifo", "something else entirely"] {
        let error = name.parse::<Strategy>().unwrap_err();
        assert_eq!(error.nearest(), None, "{name}");
        assert!(error.to_string().contains("it is `local` or `shared`"), "{error}");
    }
}
