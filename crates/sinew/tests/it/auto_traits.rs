//! Auto traits of types that stand in for those of std, compared with theirs.

use std::cell::Cell;
use std::marker::{PhantomData, PhantomPinned};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;
use std::sync::MutexGuard;

/// A type that is asked for its traits. Its own methods are preferred to those of [`Otherwise`],
/// and are there only if their bound holds.
struct Asked<T>(PhantomData<T>);

macro_rules! questions {
    ($($question:ident: $trait:ident,)*) => {
        trait Otherwise {
            $(fn $question(&self) -> bool {
                false
            })*
        }

        impl<T> Otherwise for Asked<T> {}

        $(impl<T: $trait> Asked<T> {
            fn $question(&self) -> bool {
                true
            }
        })*
    };
}

questions! {
    is_send: Send,
    is_sync: Sync,
    is_unpin: Unpin,
    is_unwind_safe: UnwindSafe,
    is_ref_unwind_safe: RefUnwindSafe,
}

/// Checks that our type may be sent and shared exactly where that of std may, and has its other
/// auto traits at least.
macro_rules! compare {
    ($($ours:ty, $std:ty;)*) => {$({
        let (ours, std, name) = (Asked::<$ours>(PhantomData), Asked::<$std>(PhantomData), stringify!($ours));
        assert_eq!((ours.is_send(), ours.is_sync()), (std.is_send(), std.is_sync()), "Send and Sync of {name}");
        assert!(ours.is_unpin() || !std.is_unpin(), "Unpin of {name}");
        assert!(ours.is_unwind_safe() || !std.is_unwind_safe(), "UnwindSafe of {name}");
        assert!(ours.is_ref_unwind_safe() || !std.is_ref_unwind_safe(), "RefUnwindSafe of {name}");
    })*};
}

/// Results of all kinds: plain, not `Sync`, not `Send`, not `Unpin`, not `UnwindSafe`.
macro_rules! compare_for_each_result {
    ($($result:ty,)*) => {
        compare! {$(
            sinew::fiber::JoinHandle<$result>, std::thread::JoinHandle<$result>;
            sinew::fiber::ScopedJoinHandle<'static, $result>, std::thread::ScopedJoinHandle<'static, $result>;
        )*}
    };
}

#[test]
fn both_answers_are_given() {
    let (all, none) = (Asked::<u8>(PhantomData), Asked::<Nothing>(PhantomData));
    assert!(all.is_send() && all.is_sync() && all.is_unpin());
    assert!(all.is_unwind_safe() && all.is_ref_unwind_safe());
    assert!(!none.is_send() && !none.is_sync() && !none.is_unpin());
    assert!(!none.is_unwind_safe() && !none.is_ref_unwind_safe());
}

#[test]
fn handles_have_the_auto_traits_of_those_of_std() {
    compare_for_each_result! {
        u8,
        Cell<u8>,
        Rc<()>,
        MutexGuard<'static, u8>,
        PhantomPinned,
        &'static mut u8,
        Nothing,
    }
}

/// A result without any auto trait.
struct Nothing(PhantomData<(*mut Cell<u8>, PhantomPinned, &'static mut u8)>);

#[test]
fn other_types_have_the_auto_traits_of_those_of_std() {
    compare! {
        sinew::fiber::Scope<'static, 'static>, std::thread::Scope<'static, 'static>;
        sinew::fiber::Builder, std::thread::Builder;
        sinew::fiber::Fiber, std::thread::Thread;
        sinew::fiber::LocalKey<Rc<()>>, std::thread::LocalKey<Rc<()>>;
        sinew::sync::LazyLock<u8>, std::sync::LazyLock<u8>;
        sinew::fs::File, std::fs::File;
        sinew::io::PipeReader, std::io::PipeReader;
        sinew::io::PipeWriter, std::io::PipeWriter;
        sinew::io::Stdin, std::io::Stdin;
        sinew::io::StdinLock<'static>, std::io::StdinLock<'static>;
        sinew::io::Stdout, std::io::Stdout;
        sinew::io::StdoutLock<'static>, std::io::StdoutLock<'static>;
        sinew::io::Stderr, std::io::Stderr;
        sinew::io::StderrLock<'static>, std::io::StderrLock<'static>;
        sinew::net::TcpStream, std::net::TcpStream;
    }
}
