//! Locks, channels and `select!`: a shop whose tills take orders and returns.

use std::sync::Arc;

use sinew::channel::{self, Receiver};
use sinew::sync::{Mutex, PoisonError};
use sinew::{Runtime, fiber, select};

use crate::output::text::{grouped, time};
use crate::stage::Stage;
use crate::stage::chapter::{Chapter, Findings, Outcome, Unit};
use crate::stage::check::check_equal;

pub(super) const CHAPTER: Chapter = Chapter {
    name: "channels",
    title: "Locks, channels and select!",
    about: "Customers send orders and returns over two bounded channels. Tills select! from both and book them under a mutex.",
    guide: "waiting.md",
    share: 8,
    run,
};

const CUSTOMERS: u64 = 4;
const TILLS: usize = 4;

/// Orders of one customer. Every tenth comes back.
const ORDERS: u64 = 1_000;

/// What the tills have booked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Books {
    orders: u64,
    returns: u64,
    /// The sum of the orders that were not returned.
    sum: u64,
}

fn run(stage: &Stage<'_>) -> Outcome {
    let runtime = Runtime::builder().name("channels").start()?;
    let expected = expected();
    let rounds = stage.repeat(1.0, || check_equal("the books", runtime.run(a_day), expected))?;
    let (messages, each) =
        (expected.orders + expected.returns, rounds.seconds_each(expected.orders + expected.returns));
    Ok(Findings::new(format!("{} messages per second, each booked", grouped((1.0 / each) as u64)))
        .note(format!(
            "{} per message: send, select!, lock; {} rounds of {}",
            time(each),
            rounds.count,
            grouped(messages)
        ))
        .measure("messages", 1.0 / each, Unit::PerSecond)
        .measure("message, select! and lock", each, Unit::Seconds))
}

/// Opens the tills, lets the customers in, and returns the books.
fn a_day() -> Books {
    let books = Arc::new(Mutex::new(Books::default()));
    let (order, orders) = channel::bounded(64);
    let (hand_back, returns) = channel::bounded(64);

    fiber::scope(|scope| {
        for _ in 0..TILLS {
            let (books, orders, returns) = (books.clone(), orders.clone(), returns.clone());
            scope.spawn(move || till(&books, &orders, &returns));
        }
        for _ in 0..CUSTOMERS {
            let (order, hand_back) = (order.clone(), &hand_back);
            scope.spawn(move || {
                for number in 1..=ORDERS {
                    // The tills are there until the last customer has gone.
                    let _ = order.send(number);
                    if number % 10 == 0 {
                        let _ = hand_back.send(number);
                    }
                }
            });
        }
        // The tills close when no customer can send orders any more.
        drop(order);
    });
    let books = books.lock().unwrap_or_else(PoisonError::into_inner);
    *books
}

fn till(books: &Mutex<Books>, orders: &Receiver<u64>, returns: &Receiver<u64>) {
    let book = |number: u64, is_order: bool| {
        let mut books = books.lock().unwrap_or_else(PoisonError::into_inner);
        if is_order {
            books.orders += 1;
            books.sum = books.sum.wrapping_add(number);
        } else {
            books.returns += 1;
            books.sum = books.sum.wrapping_sub(number);
        }
    };
    loop {
        select! {
            recv(orders) -> order => match order {
                Ok(number) => book(number, true),
                Err(_) => break,
            },
            recv(returns) -> number => if let Ok(number) = number {
                book(number, false);
            },
        }
    }
    // What was handed back before the doors closed is still booked.
    returns.try_iter().for_each(|number| book(number, false));
}

/// What the books say at the end of a day.
fn expected() -> Books {
    let returned: u64 = (1..=ORDERS).filter(|number| number % 10 == 0).sum();
    Books {
        orders: CUSTOMERS * ORDERS,
        returns: CUSTOMERS * (ORDERS / 10),
        sum: CUSTOMERS * (ORDERS * (ORDERS + 1) / 2 - returned),
    }
}
