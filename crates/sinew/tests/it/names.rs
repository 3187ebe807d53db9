//! Every stable name of `std::thread`, used by one program that is compiled twice: for threads, and
//! for fibers.
//!
//! # Safety
//!
//! What a fiber borrows unchecked lives until it is joined.
#![expect(unsafe_code, reason = "one of the names is unsafe")]

/// The program. The imports are all that differs.
macro_rules! program {
    ($name:ident, use $($thread:ident)::+ as thread, use $($local:ident)::+ as thread_local) => {
        mod $name {
            use std::cell::{Cell, RefCell};
            use std::collections::HashSet;
            use std::error::Error;
            use std::fmt::{Debug, Display};
            use std::hash::Hash;
            use std::io;
            use std::num::NonZero;
            use std::panic::{RefUnwindSafe, UnwindSafe};
            use std::rc::Rc;
            use std::time::{Duration, Instant};

            use $($thread)::+ as thread;
            use $($local)::+ as thread_local;

            thread_local! {
                static NUMBER: Cell<u32> = const { Cell::new(1) };
                static WORDS: RefCell<Vec<&'static str>> = RefCell::new(vec!["one"]);
                static PLAIN: String = "plain".to_owned();
            }

            const _: () = {
                const fn is<T: Send + Sync>() {}
                const fn is_for_any_result<T>() {
                    is::<thread::JoinHandle<T>>();
                }
                const fn unwinds<T: UnwindSafe + RefUnwindSafe + Unpin>() {}
                const fn is_id<T: Copy + Eq + Hash + Debug>() {}
                const fn is_error<T: Copy + Eq + Error + Display>() {}
                is_for_any_result::<Rc<()>>();
                is::<thread::Builder>();
                is::<thread::Thread>();
                is::<thread::ThreadId>();
                is::<thread::Scope<'_, '_>>();
                is::<thread::ScopedJoinHandle<'_, u8>>();
                is::<thread::LocalKey<Rc<()>>>();
                is::<thread::AccessError>();
                unwinds::<thread::Builder>();
                unwinds::<thread::Thread>();
                unwinds::<thread::ThreadId>();
                unwinds::<thread::LocalKey<Rc<()>>>();
                unwinds::<thread::AccessError>();
                is_id::<thread::ThreadId>();
                is_error::<thread::AccessError>();
            };

            fn shown(what: &dyn Debug) -> bool {
                !format!("{what:?}").is_empty()
            }

            fn functions() -> thread::Result<()> {
                let workers: io::Result<NonZero<usize>> = thread::available_parallelism();
                assert!(workers.unwrap().get() > 0 && !thread::panicking());
                thread::yield_now();
                thread::sleep(Duration::from_micros(1));
                thread::park_timeout(Duration::from_micros(1));
                let me: thread::Thread = thread::current();
                me.unpark();
                thread::park();
                let id: thread::ThreadId = me.clone().id();
                assert_eq!(id, thread::current().id());
                assert_eq!(HashSet::from([id, id]).len(), 1);
                assert!(shown(&me) && shown(&id));
                let handle: thread::JoinHandle<_> = thread::spawn(move || thread::current().id() != id);
                assert!(shown(&handle) && handle.thread().id() != id);
                while !handle.is_finished() {
                    thread::yield_now();
                }
                assert!(handle.join()?);
                Ok(())
            }

            fn builders() -> io::Result<()> {
                let builder = thread::Builder::new().name("weft".to_owned()).stack_size(1 << 18);
                assert!(shown(&builder));
                let name = builder.spawn(|| thread::current().name().map(str::to_owned))?;
                assert_eq!(name.join().unwrap().as_deref(), Some("weft"));
                let text = String::from("borrowed");
                // SAFETY: it is joined while the text lives, and its runtime outlives that.
                let unchecked = unsafe { thread::Builder::new().spawn_unchecked(|| text.len()) };
                assert_eq!(unchecked?.join().unwrap(), 8);
                let length = thread::scope(|scope| {
                    let builder = thread::Builder::new().name("scoped".to_owned());
                    let scoped = builder.spawn_scoped(scope, || (text.len(), thread::current().id()))?;
                    let id = scoped.thread().id();
                    let (length, seen) = scoped.join().unwrap();
                    assert_eq!(id, seen);
                    io::Result::Ok(length)
                })?;
                assert_eq!(length, 8);
                Ok(())
            }

            fn refused_names() {
                let name = "weft\0warp".to_owned();
                let plain = thread::Builder::new().name(name.clone());
                let text = "thread name may not contain interior null bytes";
                super::super::support::panics_with(text, || plain.spawn(|| ()));
                super::super::support::panics_with(text, || {
                    thread::scope(|scope| thread::Builder::new().name(name).spawn_scoped(scope, || ()).map(drop))
                });
            }

            fn scopes() {
                let mut numbers = [1, 2, 3];
                let sum = thread::scope(|scope: &thread::Scope<'_, '_>| {
                    for number in &mut numbers {
                        scope.spawn(|| *number *= 2);
                    }
                    let handle: thread::ScopedJoinHandle<'_, u32> = scope.spawn(|| 12);
                    assert!(shown(&scope) && shown(&handle) && handle.thread().name().is_none());
                    while !handle.is_finished() {
                        thread::yield_now();
                    }
                    handle.join().unwrap()
                });
                assert_eq!(numbers.iter().sum::<u32>(), sum);
            }

            fn locals() {
                let key: &'static thread::LocalKey<Cell<u32>> = &NUMBER;
                assert!(shown(key));
                key.set(2);
                assert_eq!((key.get(), key.replace(3), key.take(), key.with(Cell::get)), (2, 2, 3, 0));
                WORDS.with_borrow_mut(|words| words.push("two"));
                assert_eq!((WORDS.with_borrow(Vec::len), WORDS.replace(vec![])), (2, vec!["one", "two"]));
                WORDS.set(vec!["three"]);
                assert_eq!(WORDS.take(), ["three"]);
                let length: Result<usize, thread::AccessError> = PLAIN.try_with(String::len);
                assert_eq!(length, Ok(5));
            }

            pub(super) fn all() {
                functions().unwrap();
                builders().unwrap();
                refused_names();
                scopes();
                locals();
                let late = thread::spawn(|| thread::park_timeout(Duration::from_secs(3_600)));
                late.thread().unpark();
                late.join().unwrap();
                assert!(thread::spawn(|| panic!("as with threads")).join().unwrap_err().is::<&str>());
                assert!(Instant::now().elapsed() < Duration::from_secs(3_600));
            }
        }
    };
}

program!(threads, use std::thread as thread, use std::thread_local as thread_local);
program!(fibers, use sinew::fiber as thread, use sinew::fiber_local as thread_local);

#[test]
fn a_program_for_threads_is_one_for_fibers() {
    let _muted = super::support::mute("as with threads");
    threads::all();
    // From a plain thread, and from fibers.
    std::thread::spawn(fibers::all).join().unwrap();
    super::support::everywhere(fibers::all);
}
