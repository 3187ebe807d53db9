//! The names of profiles.

use sinew_topology::Profile;

#[test]
fn names_are_read_and_printed() {
    let names = ["compute-heavy", "compute", "neutral", "io", "io-heavy", "customized"];
    assert_eq!(Profile::ALL.map(Profile::name), names);
    for profile in Profile::ALL {
        assert_eq!(profile.to_string().parse(), Ok(profile));
    }
    assert_eq!(Profile::default(), Profile::Neutral);
    assert_eq!(format!("{:>4}|{:<4}", Profile::Io, Profile::Io), "  io|io  ");
}

#[test]
fn the_nearest_name_is_suggested() {
    let misspelt = [
        ("compute_heavy", "compute-heavy"),
        ("ComputeHeavy", "compute-heavy"),
        ("Compute Heavy", "compute-heavy"),
        ("computed", "compute"),
        ("Compute", "compute"),
        ("nuetral", "neutral"),
        ("natural", "neutral"),
        ("IO", "io"),
        ("i", "io"),
        ("io-", "io"),
        ("ioheavy", "io-heavy"),
        ("io-heavyy", "io-heavy"),
        ("customised", "customized"),
        ("custom", "customized"),
    ];
    for (name, nearest) in misspelt {
        let error = name.parse::<Profile>().unwrap_err();
        assert_eq!(error.nearest().map(Profile::name), Some(nearest), "{name}");
        assert!(error.to_string().contains(&format!("did you mean `{nearest}`?")), "{error}");
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn all_names_are_listed_if_none_is_similar() {
    for name in ["", "fast", "something else entirely", &"x".repeat(1 << 20)] {
        let error = name.parse::<Profile>().unwrap_err();
        assert_eq!(error.nearest(), None, "{name}");
        assert!(
            error.to_string().contains("compute-heavy, compute, neutral, io, io-heavy, customized"),
            "{error}"
        );
        assert!(error.to_string().len() < 250);
    }
}
