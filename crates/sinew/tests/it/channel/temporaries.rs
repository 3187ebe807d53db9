//! Handles that live no longer than the select, or no longer than the set of operations.

use super::as_crossbeam;
use std::time::Duration;

const SOON: Duration = Duration::from_millis(1);

as_crossbeam! {
    /// A handle that is made for the select alone, as nearly all selects with a time limit are
    /// written.
    fn arms_may_have_handles_of_their_own(_crowd) {
        let (sender, receiver) = channel::unbounded::<u8>();
        channel::select! {
            recv(receiver) -> _ => unreachable!(),
            recv(channel::after(SOON)) -> came => assert!(came.is_ok()),
        }
        channel::select! { send(sender.clone(), 4) -> sent => sent.unwrap() }
        let got = channel::select! { recv(receiver.clone()) -> got => got };
        assert_eq!(got, Ok(4));
        let few = [receiver].into_iter().take(0).collect::<Vec<_>>();
        channel::select! { recv(few.first().unwrap_or(&channel::never::<u8>())) -> _ => unreachable!(), default => {} }
    }

    /// What is selected from may be made after the set.
    fn a_set_may_be_older_than_its_handles(_crowd) {
        let mut select = channel::Select::new();
        let (sender, receiver) = channel::bounded(1);
        sender.send(1).unwrap();
        select.recv(&receiver);
        assert_eq!(select.select().recv(&receiver), Ok(1));
    }
}
