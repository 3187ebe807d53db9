//! What a shutdown reports: each fiber is in one place of the report, whatever it does at that
//! moment.
//!
//! # Safety
//!
//! The fibers that move hold nothing of their thread.
#![expect(unsafe_code, reason = "that fibers may move is a promise")]

use std::collections::BTreeSet;
use std::io::Read;
use std::ops::ControlFlow;
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::time::Duration;

use super::support::{Random, in_child, in_each, stderr};
use sinew::fiber::{self, Fiber};
use sinew::os::unix::net::UnixStream;
use sinew::{LeakedFiber, Runtime, ShutdownReport, channel, sync};

const HOUR: Duration = Duration::from_secs(3600);

/// Where the report must have a fiber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Ended,
    Leaked,
    Running,
    /// Leaked or running: it never waits.
    Begun,
    Discarded,
    /// Leaked, running or discarded: it is in steps that never wait.
    Unfinished,
}

type Fates = Vec<(Fiber, Fate)>;

/// A gate of std's: a fiber that waits here blocks its worker.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    fn pass(&self) {
        let (is_open, changed) = &*self.0;
        drop(changed.wait_while(is_open.lock().unwrap(), |is_open| !*is_open).unwrap());
    }

    fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }
}

fn named(name: &str, body: impl FnOnce() + Send + 'static) -> Fiber {
    fiber::Builder::new().name(name.to_owned()).spawn(body).unwrap().thread().clone()
}

/// A fiber that joins one that waits for ever.
fn join(name: &str) -> Vec<Fiber> {
    let inner = fiber::Builder::new().name(format!("{name}, joined")).spawn(fiber::park).unwrap();
    let fiber = inner.thread().clone();
    vec![named(name, || drop(inner.join())), fiber]
}

/// A fiber with a scope, and one of that scope.
fn scope(name: &str) -> Vec<Fiber> {
    let (sender, receiver) = channel::bounded(1);
    let inner = format!("{name}, scoped");
    let outer = named(name, move || {
        fiber::scope(|scope| {
            let builder = fiber::Builder::new().name(inner);
            let fiber = builder.spawn_scoped(scope, fiber::park).unwrap();
            sender.send(fiber.thread().clone()).unwrap();
        });
    });
    vec![outer, receiver.recv().unwrap()]
}

/// A fiber that keeps a lock for ever, and one that waits for it.
fn lock(name: &str) -> Vec<Fiber> {
    let (sender, receiver) = channel::bounded(1);
    let mutex = Arc::new(sync::Mutex::new(()));
    let owned = mutex.clone();
    let owner = named(name, move || {
        let _guard = owned.lock().unwrap();
        sender.send(()).unwrap();
        fiber::park();
    });
    receiver.recv().unwrap();
    vec![owner, named(&format!("{name}, excluded"), move || drop(mutex.lock()))]
}

/// A fiber that reads from a stream to which its peer writes nothing.
fn read(name: &str) -> Vec<Fiber> {
    let (mut reader, writer) = UnixStream::pair().unwrap();
    vec![named(name, move || {
        let _writer = writer;
        let _ = reader.read(&mut [0]);
    })]
}

/// A fiber, and a second one that stays on its worker from the beginning.
fn local(name: &str) -> Vec<Fiber> {
    let (sender, receiver) = channel::bounded(1);
    let outer = named(name, move || {
        let local = fiber::spawn_local(fiber::park);
        sender.send(local.thread().clone()).unwrap();
        fiber::park();
    });
    vec![outer, receiver.recv().unwrap()]
}

/// A fiber in steps, the first of which waits for ever.
fn step() -> Vec<Fiber> {
    let step = |(): &mut ()| {
        fiber::park();
        ControlFlow::Break(())
    };
    vec![fiber::spawn_steps((), step).thread().clone()]
}

/// A fiber that may move, whatever the runtime.
fn migratable(name: &str) -> Vec<Fiber> {
    // SAFETY: this file's promise.
    let builder = unsafe { fiber::Builder::new().name(name.to_owned()).migratable() };
    vec![builder.spawn(fiber::park).unwrap().thread().clone()]
}

/// Fibers of a random kind that have come to their state. By a fiber.
fn make(random: &mut Random, name: &str) -> Fates {
    let waiting = match random.below(12) {
        0 => vec![named(name, fiber::park)],
        1 => vec![named(name, || fiber::sleep(HOUR))],
        2 => {
            let (sender, receiver) = channel::bounded::<()>(1);
            vec![named(name, move || {
                let _sender = sender;
                let _ = receiver.recv_timeout(HOUR);
            })]
        }
        3 => join(name),
        4 => scope(name),
        5 => lock(name),
        6 => read(name),
        7 => local(name),
        8 => step(),
        9 => migratable(name),
        10 => {
            let ended = fiber::spawn(|| ());
            let fiber = ended.thread().clone();
            ended.join().unwrap();
            return vec![(fiber, Fate::Ended)];
        }
        _ if random.below(2) == 0 => {
            let (sender, receiver) = channel::bounded(1);
            let fiber = named(name, move || {
                sender.send(()).unwrap();
                loop {
                    fiber::yield_now();
                }
            });
            receiver.recv().unwrap();
            return vec![(fiber, Fate::Begun)];
        }
        _ => {
            let steps = fiber::spawn_steps((), |()| ControlFlow::<()>::Continue(()));
            return vec![(steps.thread().clone(), Fate::Unfinished)];
        }
    };
    for fiber in &waiting {
        while fiber.state() != fiber::State::Parked {
            fiber::sleep(Duration::from_micros(100));
        }
    }
    waiting.into_iter().map(|fiber| (fiber, Fate::Leaked)).collect()
}

/// Blocks a worker, by a fiber that leaves others behind there which have not begun, or by one that
/// it joins: entered at once, or by another worker. Returns once that is so.
fn block(runtime: &Runtime, random: &mut Random, gate: &Gate) -> Fates {
    let (sender, receiver) = mpsc::channel();
    let (gate, locals) = (gate.clone(), random.below(4));
    drop(runtime.spawn(move || {
        let local = |_| (fiber::spawn_local(|| ()).thread().clone(), Fate::Discarded);
        let (mut fates, outer) = ((1..locals).map(local).collect::<Fates>(), fiber::current());
        let blocks = move |outer: Option<Fiber>| {
            fates.extend(outer.map(|outer| (outer, Fate::Begun)));
            fates.push((fiber::current(), Fate::Running));
            sender.send(fates).unwrap();
            gate.pass();
        };
        match locals {
            0 => fiber::spawn(move || blocks(Some(outer))).join().unwrap(),
            _ => blocks(None),
        }
    }));
    receiver.recv().unwrap()
}

/// Checks a report.
fn check(report: &ShutdownReport, fates: &Fates, seed: u64) {
    let ids = |list: &[LeakedFiber]| list.iter().map(|fiber| fiber.id).collect::<BTreeSet<_>>();
    let (leaked, running) = (ids(&report.leaked), ids(&report.running));
    let tell = || format!("seed {seed}: {report:?}\n{fates:?}");
    assert!(report.waited && !report.drained, "{}", tell());
    assert_eq!(leaked.len() + running.len(), report.leaked.len() + report.running.len(), "{}", tell());
    assert!(leaked.is_disjoint(&running), "{}", tell());
    for (fiber, fate) in fates {
        let id = fiber.id().as_u64();
        let (is_leaked, is_running) = (leaked.contains(&id), running.contains(&id));
        let is_right = match fate {
            Fate::Ended | Fate::Discarded => !is_leaked && !is_running,
            Fate::Leaked => is_leaked,
            Fate::Running => is_running,
            Fate::Begun => is_leaked || is_running,
            Fate::Unfinished => true,
        };
        assert!(is_right, "{:?} {fate:?}, {}", fiber.id(), tell());
    }
    let of = |fiber: &LeakedFiber| fates.iter().find(|(one, _)| one.id().as_u64() == fiber.id);
    for fiber in report.leaked.iter().chain(&report.running) {
        let (known, _) = of(fiber).unwrap_or_else(|| panic!("{fiber:?} is unknown, {}", tell()));
        assert_eq!(fiber.name.as_deref(), known.name(), "{}", tell());
    }
    let ended = fates.iter().filter(|(_, fate)| *fate == Fate::Ended).count();
    assert_eq!(ended + report.discarded + leaked.len() + running.len(), fates.len(), "{}", tell());
}

/// Fills a runtime with fibers in random states, shuts it down, and checks the report.
fn try_one(runtime: Runtime, seed: u64) {
    let mut random = Random::new(seed);
    let count = 1 + random.below(12);
    let mut fates: Fates = runtime.run(move || {
        let mut random = Random::new(!seed);
        let made = (0..count).flat_map(|number| make(&mut random, &format!("fiber {number}")));
        let mut fates: Fates = made.collect();
        fates.push((fiber::current(), Fate::Ended));
        fates
    });
    let gate = Gate::default();
    let blocked = random.below(runtime.workers() as u64 + 1) as usize;
    for _ in 0..blocked {
        fates.extend(block(&runtime, &mut random, &gate));
    }
    if blocked == runtime.workers() {
        for _ in 0..random.below(4) {
            fates.push((runtime.spawn(|| ()).thread().clone(), Fate::Discarded));
        }
    }
    let report = runtime.shutdown(Some(Duration::from_millis(1)));
    if blocked > 0 || fates.iter().any(|(_, fate)| *fate != Fate::Ended) {
        check(&report, &fates, seed);
    }
    gate.open();
}

#[test]
fn each_fiber_is_in_one_place_of_the_report() {
    // In a process of its own: what is leaked there ends with it. In one group: a group whose
    // workers never rest takes no work from another.
    let output = in_child("shutdown_report::each_fiber_is_in_one_place_of_the_report", || {
        let seed = std::cell::Cell::new(0);
        for _ in 0..4 {
            in_each(&[&[1], &[2], &[5]], |runtime| {
                seed.set(seed.get() + 1);
                try_one(runtime, seed.get());
            });
        }
    });
    assert!(output.status.success(), "{}", stderr(&output));
}
