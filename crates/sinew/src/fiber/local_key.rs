//! Fiber-local values, under the names of [`std::thread::LocalKey`]. Does not know how they are
//! stored.

use std::cell::{Cell, RefCell};

use crate::rt::{self, Gone, LocalsKey, Used, impl_debug, impl_error};

/// Declares fiber-local values, with the syntax of [`std::thread_local!`]. Each fiber has a value
/// of its own.
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
/// A value is initialised when its fiber first uses it. The initialiser may wait, unlike that of a
/// thread-local. If it panics, the next use calls it again. If it uses the value that it is
/// initialising, it panics. A plain thread has values of its own too.
///
/// Values need not be `Send`, except in fibers that may
/// [migrate](crate::fiber::Builder::migratable). In a fiber that runs in
/// [steps](crate::fiber::spawn_steps) a value lasts for one step.
///
/// # Destruction
///
/// When a fiber's body has returned or panicked, its values are dropped on the fiber's own stack
/// and worker, before a join returns, in the reverse order of initialisation. So the destructor of
/// a value can use the values that its initialiser used. A destructor may wait, use other values,
/// and initialise others, which are dropped too. A value that is being dropped cannot be used
/// again: [`try_with`](LocalKey::try_with) returns an error. Values without a destructor can be
/// used until all others are dropped.
///
/// A panic of a destructor is a panic of the fiber: the join returns it, unless the body panicked
/// before. The other values are still dropped. std aborts the process in this case, and so does
/// sinew for the values of a plain thread.
///
/// The values of the main thread may not be dropped at all, as with std.
///
/// # In a global allocator
///
/// A `#[global_allocator]` may use fiber-locals, for example to count what each fiber allocates:
/// their own memory comes from [`std::alloc::System`]. As with thread-locals that have a
/// destructor, the allocator must use [`try_with`](LocalKey::try_with), because memory is allocated
/// and freed after the values of a fiber or thread are gone. The initialiser must not allocate: use
/// a `const` one.
///
/// ```standalone_crate
/// use std::alloc::{GlobalAlloc, Layout, System};
/// use std::cell::Cell;
///
/// sinew::fiber_local!(static ALLOCATED: Cell<usize> = const { Cell::new(0) });
///
/// struct Counting;
///
/// // SAFETY: every call is passed on to the system's allocator.
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
/// A value is leaked if its fiber never ends. It is also leaked if a reference to it is still in
/// use when the fiber ends: a [coroutine](crate::coroutine) that outlives the fiber may be
/// suspended inside [`with`](LocalKey::with).
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

/// A key to a fiber-local value, declared by [`fiber_local!`](crate::fiber_local).
///
/// It has the methods of [`std::thread::LocalKey`].
pub struct LocalKey<T: 'static> {
    key: LocalsKey<T>,
    init: fn() -> T,
}

/// The error of [`LocalKey::try_with`]: the value was dropped at the end of its fiber or thread.
/// Counterpart of [`std::thread::AccessError`].
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
    /// Panics if the value is gone, or its initialiser panics.
    #[inline]
    #[track_caller]
    pub fn with<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        f(&expect(self.used(self.init)))
    }

    /// Calls `f` with the caller's value, unless it is gone.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is gone.
    ///
    /// # Panics
    ///
    /// Panics if its initialiser panics.
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

    /// Calls `set` with the new and the present value, if the key has a value. If it has none, the
    /// new value is the first one, and the initialiser is not called.
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
    /// Sets the value. If the value was not used before, its initialiser is not called.
    ///
    /// # Panics
    ///
    /// Panics if the value is gone.
    #[track_caller]
    pub fn set(&'static self, value: T) {
        self.set_with(Cell::new(value), |value, cell| cell.set(value.into_inner()));
    }

    /// Returns a copy of the value.
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`with`](Self::with).
    #[track_caller]
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// Takes the value, and leaves the default value in its place.
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`with`](Self::with).
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    /// Sets the value, and returns the previous one.
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`with`](Self::with).
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }

    /// Sets the value to what `f` returns for the present one.
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
    /// Panics in the same cases as [`with`](Self::with), or if `f` panics: the value does not
    /// change then.
    #[track_caller]
    pub fn update(&'static self, f: impl FnOnce(T) -> T)
    where
        T: Copy,
    {
        self.with(|cell| cell.update(f));
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// Calls `f` with a shared borrow of the value.
    ///
    /// # Panics
    ///
    /// Panics if the value is mutably borrowed, or in the same cases as [`with`](Self::with).
    #[track_caller]
    pub fn with_borrow<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        self.with(|cell| f(&cell.borrow()))
    }

    /// Calls `f` with a mutable borrow of the value.
    ///
    /// # Panics
    ///
    /// Panics if the value is borrowed, or in the same cases as [`with`](Self::with).
    #[track_caller]
    pub fn with_borrow_mut<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&mut T) -> R,
    {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }

    /// Sets the value. If the value was not used before, its initialiser is not called.
    ///
    /// # Panics
    ///
    /// Panics if the value is gone or borrowed.
    #[track_caller]
    pub fn set(&'static self, value: T) {
        self.set_with(RefCell::new(value), |value, cell| drop(cell.replace(value.into_inner())));
    }

    /// Takes the value, and leaves the default value in its place.
    ///
    /// # Panics
    ///
    /// Panics if the value is borrowed, or in the same cases as [`with`](Self::with).
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// Sets the value, and returns the previous one.
    ///
    /// # Panics
    ///
    /// Panics if the value is borrowed, or in the same cases as [`with`](Self::with).
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
