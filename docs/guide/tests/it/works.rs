//! Rows that say *works*.

use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex};

use rand::RngExt as _;
use sinew::fiber;
use sinew::net::{TcpListener, TcpStream};

use super::Claim::Works;
use super::Row;
use super::support::one_worker;

pub(crate) const ROWS: &[Row] = &[
    ("`Read` and `Write` of `serde_json` over a socket", Works, json_over_a_socket),
    ("`socket2::SockRef`", Works, options_by_socket2),
    ("`rand::rng`", Works, random_numbers),
    ("`log`", Works, logs),
    ("`println!`", Works, lines_stay_whole),
    ("a lock of std or `parking_lot`, nothing waits under it", Works, short_locks),
    ("`LazyLock`, `once_cell`, initializer does not wait", Works, lazy_values),
    ("`try_recv` and `try_send` of `crossbeam_channel`", Works, calls_that_never_wait),
    ("`send` on an unbounded channel of `crossbeam_channel` or `tokio`", Works, sends_without_a_bound),
];

fn json_over_a_socket() {
    one_worker().run(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = fiber::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            serde_json::from_reader::<_, Vec<u32>>(stream).unwrap()
        });
        let mut stream = TcpStream::connect(address).unwrap();
        // In pieces, so that the reader waits in the middle of a number.
        for piece in ["[1, 2", "3, ", "4]"] {
            stream.write_all(piece.as_bytes()).unwrap();
            fiber::yield_now();
        }
        drop(stream);
        assert_eq!(server.join().unwrap(), [1, 23, 4]);
    });
}

fn options_by_socket2() {
    one_worker().run(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let socket = socket2::SockRef::from(&stream);
        socket.set_keepalive(true).unwrap();
        assert!(socket.keepalive().unwrap());
    });
}

fn random_numbers() {
    one_worker().run(|| {
        let dice = |_| {
            fiber::spawn(|| {
                let mut dice = rand::rng();
                (0..100).all(|_| {
                    fiber::yield_now();
                    (1..=6).contains(&dice.random_range(1..=6))
                })
            })
        };
        let all: Vec<_> = (0..4).map(dice).collect();
        assert!(all.into_iter().all(|fiber| fiber.join().unwrap()));
    });
}

fn logs() {
    static LINES: AtomicU32 = AtomicU32::new(0);
    struct Counts;
    impl log::Log for Counts {
        fn enabled(&self, _: &log::Metadata<'_>) -> bool {
            true
        }
        fn log(&self, _: &log::Record<'_>) {
            LINES.fetch_add(1, Ordering::Relaxed);
        }
        fn flush(&self) {}
    }
    log::set_logger(&Counts).map(|()| log::set_max_level(log::LevelFilter::Info)).unwrap();
    one_worker().run(|| {
        let fibers: Vec<_> =
            (0..10).map(|number| fiber::spawn(move || log::info!("fiber {number}"))).collect();
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    });
    assert_eq!(LINES.load(Ordering::Relaxed), 10);
}

/// That it does not suspend: where a wait is a panic there is none.
fn lines_stay_whole() {
    one_worker().run(|| {
        fiber::no_suspend(|| {
            // Without a word, so that nothing is between the tests' own lines.
            let nothing = String::new();
            print!("{nothing}");
            std::io::stdout().flush().unwrap();
        });
    });
}

fn short_locks() {
    static STD: Mutex<u32> = Mutex::new(0);
    static OTHER: parking_lot::Mutex<u32> = parking_lot::Mutex::new(0);
    let add = || {
        *STD.lock().unwrap() += 1;
        fiber::yield_now();
        *OTHER.lock() += 1;
    };
    fiber::scope(|scope| (0..100).for_each(|_| drop(scope.spawn(add))));
    assert_eq!((*STD.lock().unwrap(), *OTHER.lock()), (100, 100));
}

fn lazy_values() {
    static STD: LazyLock<Vec<u32>> = LazyLock::new(|| (0..10).collect());
    static OTHER: once_cell::sync::Lazy<Vec<u32>> = once_cell::sync::Lazy::new(|| (0..10).collect());
    let sum = || STD.iter().chain(OTHER.iter()).sum::<u32>();
    let fibers: Vec<_> = (0..10).map(|_| fiber::spawn(sum)).collect();
    assert!(fibers.into_iter().all(|fiber| fiber.join().unwrap() == 90));
}

fn calls_that_never_wait() {
    one_worker().run(|| {
        let (sender, receiver) = crossbeam_channel::bounded(1);
        fiber::spawn(move || {
            while sender.try_send(1).is_err() {
                fiber::yield_now();
            }
        });
        while receiver.try_recv().is_err() {
            fiber::yield_now();
        }
    });
}

fn sends_without_a_bound() {
    one_worker().run(|| {
        let (to_crossbeam, from_crossbeam) = crossbeam_channel::unbounded();
        let (to_tokio, mut from_tokio) = tokio::sync::mpsc::unbounded_channel();
        let sends = fiber::spawn(move || {
            to_crossbeam.send(1).unwrap();
            to_tokio.send(2).unwrap();
        });
        sends.join().unwrap();
        assert_eq!((from_crossbeam.try_recv(), from_tokio.try_recv()), (Ok(1), Ok(2)));
    });
}
