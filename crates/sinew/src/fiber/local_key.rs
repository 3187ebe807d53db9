//! Values that each fiber has for itself, under the names of [`std::thread::LocalKey`]. Knows no table.

use std::cell::{Cell, RefCell};

use crate::rt::{self, Gone, LocalsKey, Used, impl_debug, impl_error};

/// Declares values that each fiber has for itself, as [`std::thread_local!`] does for threads; its grammar is the same.
///
/// ```
/// use std::cell::{Cell, RefCell};
///
/// sinew::fiber_local! {
///     /// How often this fiber has asked.
///     pub static ASKED: Cell<u32> = const { Cell::new(0) };
///     static WORDS: RefCell<Vec<String>> = RefCell::default();
/// }
///
/// sinew::run(|| {
///     ASKED.set(1);
///     WORDS.with_borrow_mut(|words| words.push("mine".to_owned()));
///     let other = sinew::fiber::spawn(|| (ASKED.get(), WORDS.with_borrow(Vec::len)));
///     assert_eq!(other.join().unwrap(), (0, 0));
///     assert_eq!((ASKED.get(), WORDS.take()), (1, vec!["mine".to_owned()]));
/// });
/// ```
///
/// # Initialisation
///
/// A value is made when its fiber first uses it. The initialiser may wait, unlike that of a thread-local. If it panics, the next
/// use calls it again; if it uses the very value that it is to make, it panics. A plain thread has values of its own too.
///
/// Values need not be `Send`, but in fibers that may [move](crate::fiber::Builder::migratable). In a fiber that runs in
/// [steps](crate::fiber::spawn_steps) they last for one step.
///
/// # Destruction
///
/// When a fiber's body has returned or panicked, its values are dropped: on its own stack, on its worker, before a join returns,
/// the one initialised last first. So a value can rely, in its destructor, on those that its initialiser used. A destructor may wait,
/// use other values, and initialise others, which are dropped too; a value that is dropped does not come back:
/// [`try_with`](LocalKey::try_with) gives an error. Values without a destructor can be used until all others are dropped.
///
/// A destructor's panic is one of the fiber's: it comes out of the join if the body did not panic, and the other values
/// are dropped all the same. std aborts the process in this case, and so does it here for the values of a plain thread.
///
/// Those of the main thread may not be dropped at all, as with std.
///
/// # In a global allocator
///
/// A `#[global_allocator]` may use fiber-locals, to count what each fiber allocates, say: their own
/// memory comes from [`std::alloc::System`]. As with thread-locals that have a destructor, it uses
/// [`try_with`](LocalKey::try_with), because memory is allocated and freed after the values of a
/// fiber or thread are gone, and the initialiser must not allocate: a `const` one does not.
///
/// ```standalone_crate
/// use std::alloc::{GlobalAlloc, Layout, System};
/// use std::cell::Cell;
///
/// sinew::fiber_local!(static ALLOCATED: Cell<usize> = const { Cell::new(0) });
///
/// struct Counting;
///
/// // SAFETY: all is up to the system's allocator.
/// unsafe impl GlobalAlloc for Counting {
///     unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
///         let _ = ALLOCATED.try_with(|bytes| bytes.set(bytes.get() + layout.size()));
///         unsafe { System.alloc(layout) }
///     }
///
///     unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
///         unsafe { System.dealloc(pointer, layout) }
///     }
/// }
///
/// #[global_allocator]
/// static COUNTING: Counting = Counting;
///
/// let fiber = sinew::fiber::spawn(|| {
///     let before = ALLOCATED.get();
///     let text = String::with_capacity(100);
///     (ALLOCATED.get() - before, text.capacity())
/// });
/// assert_eq!(fiber.join().unwrap(), (100, 100));
/// ```
///
/// # When values are leaked
///
/// Values are not dropped if their fiber never ends, nor if a reference to one is still in use when it does: inside
/// [`with`](LocalKey::with), a [coroutine](crate::coroutine) may have suspended itself that outlives the fiber.
#[macro_export]
macro_rules! fiber_local {
    () => {};
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = const $init:block; $($rest:tt)*) => {
        $crate::fiber_local!(@key [$(#[$attr])*] [$vis] $name, $t, const $init);
        $crate::fiber_local!($($rest)*);
    };
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = const $init:block) => {
        $crate::fiber_local!(@key [$(#[$attr])*] [$vis] $name, $t, const $init);
    };
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = $init:expr; $($rest:tt)*) => {
        $crate::fiber_local!(@key [$(#[$attr])*] [$vis] $name, $t, $init);
        $crate::fiber_local!($($rest)*);
    };
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = $init:expr) => {
        $crate::fiber_local!(@key [$(#[$attr])*] [$vis] $name, $t, $init);
    };
    (@key [$($attr:tt)*] [$vis:vis] $name:ident, $t:ty, $($init:tt)*) => {
        $($attr)*
        $vis static $name: $crate::fiber::LocalKey<$t> = {
            fn init() -> $t {
                $($init)*
            }
            $crate::fiber::LocalKey::new(init)
        };
    };
}

/// A key to a value that each fiber has for itself; made by [`fiber_local!`](crate::fiber_local).
///
/// It has the methods of [`std::thread::LocalKey`].
pub struct LocalKey<T: 'static> {
    key: LocalsKey<T>,
    init: fn() -> T,
}

/// A value is gone: it was dropped at the end of its fiber or thread. As [`std::thread::AccessError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AccessError;

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn new(init: fn() -> T) -> Self {
        Self { key: LocalsKey::new(), init }
    }

    /// Calls `f` with the caller's value.
    ///
    /// # Panics
    ///
    /// If the value is gone, or its initialiser panics.
    #[inline]
    #[track_caller]
    pub fn with<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        f(&expect(self.used(self.init)))
    }

    /// Calls `f` with the caller's value, if there is one or can be.
    ///
    /// # Errors
    ///
    /// If the value is gone.
    ///
    /// # Panics
    ///
    /// If its initialiser does.
    #[inline]
    pub fn try_with<F, R>(&'static self, f: F) -> Result<R, AccessError>
    where
        F: FnOnce(&T) -> R,
    {
        Ok(f(&*self.used(self.init)?))
    }

    #[inline]
    fn used(&'static self, init: impl FnOnce() -> T) -> Result<Used<T>, AccessError> {
        rt::get_local(&self.key, init).map_err(|Gone| AccessError)
    }

    /// Calls `set` with a value for a key that has one. If it has none, this is its first, and the initialiser is not called.
    #[track_caller]
    fn set_with(&'static self, value: T, set: impl FnOnce(T, &T)) {
        let mut value = Some(value);
        let used = expect(self.used(|| value.take().expect("an initialiser is called once")));
        if let Some(value) = value {
            set(value, &used);
        }
    }
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// Sets the value. If it was not used before, its initialiser is not called.
    ///
    /// # Panics
    ///
    /// If the value is gone.
    #[track_caller]
    pub fn set(&'static self, value: T) {
        self.set_with(Cell::new(value), |value, cell| cell.set(value.into_inner()));
    }

    /// A copy of the value.
    ///
    /// # Panics
    ///
    /// As [`with`](Self::with).
    #[track_caller]
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// Takes the value, and leaves the default.
    ///
    /// # Panics
    ///
    /// As [`with`](Self::with).
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    /// Sets the value, and returns the one before.
    ///
    /// # Panics
    ///
    /// As [`with`](Self::with).
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }

    /// Sets the value to what `f` makes of it.
    ///
    /// ```
    /// use std::cell::Cell;
    ///
    /// sinew::fiber_local!(static ASKED: Cell<u32> = const { Cell::new(1) });
    ///
    /// ASKED.update(|asked| asked + 1);
    /// assert_eq!(ASKED.get(), 2);
    /// ```
    ///
    /// # Panics
    ///
    /// As [`with`](Self::with), and if `f` does: the value stays as it was then.
    #[track_caller]
    pub fn update(&'static self, f: impl FnOnce(T) -> T)
    where
        T: Copy,
    {
        self.with(|cell| cell.update(f));
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// Calls `f` with the value, borrowed.
    ///
    /// # Panics
    ///
    /// If the value is borrowed for writing, or as [`with`](Self::with).
    #[track_caller]
    pub fn with_borrow<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        self.with(|cell| f(&cell.borrow()))
    }

    /// Calls `f` with the value, borrowed for writing.
    ///
    /// # Panics
    ///
    /// If the value is borrowed, or as [`with`](Self::with).
    #[track_caller]
    pub fn with_borrow_mut<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&mut T) -> R,
    {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }

    /// Sets the value. If it was not used before, its initialiser is not called.
    ///
    /// # Panics
    ///
    /// If the value is gone, or borrowed.
    #[track_caller]
    pub fn set(&'static self, value: T) {
        self.set_with(RefCell::new(value), |value, cell| drop(cell.replace(value.into_inner())));
    }

    /// Takes the value, and leaves the default.
    ///
    /// # Panics
    ///
    /// If the value is borrowed, or as [`with`](Self::with).
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// Sets the value, and returns the one before.
    ///
    /// # Panics
    ///
    /// If the value is borrowed, or as [`with`](Self::with).
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

#[inline]
#[track_caller]
fn expect<T>(used: Result<Used<T>, AccessError>) -> Used<T> {
    match used {
        Ok(used) => used,
        Err(error) => panic!("{error}"),
    }
}

impl_debug!(LocalKey<T: 'static>, ..);

impl_error!(AccessError, "the fiber-local is gone: it was dropped at the end of its fiber or thread");
