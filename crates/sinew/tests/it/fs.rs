//! Files and directories: what std does, by fibers and by threads.

use super::crowd::{Crowd, in_crowds};
use super::support::{everywhere, in_child, pinned, stderr, watch_test};
use sinew::fiber::{self, CancelToken, Stopped};
use sinew::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use sinew::os::fd::{AsFd, AsRawFd, OwnedFd};
use sinew::os::unix::fs::{DirBuilderExt, DirEntryExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Read, Seek, SeekFrom, Write};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// A directory of its own, which is removed in the end.
struct Place(PathBuf);

impl Place {
    fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("sinew-fs-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

fn kind<T>(result: io::Result<T>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}

fn use_paths() {
    let place = Place::new();
    let [one, two, three] = ["one", "two", "three"].map(|name| place.join(name));
    assert!(!fs::exists(&one).unwrap());
    assert_eq!(kind(fs::read(&one)), Some(ErrorKind::NotFound));
    fs::write(&one, "text").unwrap();
    assert_eq!((fs::read(&one).unwrap(), fs::read_to_string(&one).unwrap()), (b"text".into(), "text".into()));
    fs::write(&two, [0xff]).unwrap();
    assert_eq!(kind(fs::read_to_string(&two)), Some(ErrorKind::InvalidData));
    assert_eq!(fs::copy(&one, &two).unwrap(), 4);
    fs::rename(&two, &three).unwrap();
    fs::hard_link(&three, &two).unwrap();
    assert_eq!(fs::metadata(&two).unwrap().nlink(), 2);
    fs::remove_file(&two).unwrap();
    fs::unix::symlink(&three, &two).unwrap();
    assert_eq!(fs::read_link(&two).unwrap(), three);
    assert!(fs::symlink_metadata(&two).unwrap().is_symlink() && fs::metadata(&two).unwrap().is_file());
    assert_eq!(fs::canonicalize(&two).unwrap(), std::fs::canonicalize(&three).unwrap());
    fs::set_permissions(&three, fs::Permissions::from_mode(0o400)).unwrap();
    assert_eq!(fs::metadata(&three).unwrap().mode() & 0o777, 0o400);
    let owner = (fs::metadata(&three).unwrap().uid(), fs::metadata(&three).unwrap().gid());
    fs::unix::chown(&three, Some(owner.0), None).unwrap();
    fs::unix::lchown(&two, None, Some(owner.1)).unwrap();
    let deep = place.join("a").join("b");
    assert_eq!(kind(fs::create_dir(&deep)), Some(ErrorKind::NotFound));
    fs::create_dir_all(&deep).unwrap();
    DirBuilder::new().mode(0o700).create(deep.join("c")).unwrap();
    DirBuilder::new().recursive(true).create(deep.join("d").join("e")).unwrap();
    assert_eq!(kind(fs::remove_dir(&deep)), Some(ErrorKind::DirectoryNotEmpty));
    fs::remove_dir(deep.join("c")).unwrap();
    fs::remove_dir_all(place.join("a")).unwrap();
    assert!(!fs::exists(&deep).unwrap());
    assert_eq!(kind(fs::unix::chroot("/there/is/no/such")), Some(ErrorKind::NotFound));
}

fn use_files() {
    let place = Place::new();
    let path = place.join("file");
    let mut file = File::create_new(&path).unwrap();
    assert_eq!(kind(File::create_new(&path)), Some(ErrorKind::AlreadyExists));
    assert_eq!(kind(File::open(place.join("none"))), Some(ErrorKind::NotFound));
    assert_eq!(file.write(b"0123").unwrap(), 4);
    assert_eq!(file.write_vectored(&[IoSlice::new(b"45"), IoSlice::new(b"67")]).unwrap(), 4);
    file.write_all(b"89").unwrap();
    let parts = ['a', 'b'];
    write!(&file, "{}{}", parts[0], parts[1]).unwrap();
    file.flush().unwrap();
    assert_eq!((file.stream_position().unwrap(), file.seek(SeekFrom::End(-2)).unwrap()), (12, 10));
    file.rewind().unwrap();
    let (mut first, mut second) = ([0; 2], [0; 3]);
    let mut parts = [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
    assert_eq!((&file).read_vectored(&mut parts).unwrap(), 5);
    assert_eq!((first, second), (*b"01", *b"234"));
    file.read_exact(&mut second).unwrap();
    assert_eq!((second, (&file).read(&mut first).unwrap(), first), (*b"567", 2, *b"89"));
    let mut text = String::from("-");
    assert_eq!((file.read_to_string(&mut text).unwrap(), text.as_str()), (2, "-ab"));
    let mut bytes = vec![1];
    file.seek(SeekFrom::Start(11)).unwrap();
    assert_eq!((file.read_to_end(&mut bytes).unwrap(), bytes), (1, vec![1, b'b']));
    assert_eq!(kind(file.read_exact(&mut first)), Some(ErrorKind::UnexpectedEof));
    assert_eq!((file.read_at(&mut second, 10).unwrap(), &second[..2]), (2, &b"ab"[..]));
    file.read_exact_at(&mut first, 3).unwrap();
    assert_eq!((first, file.write_at(b"X", 0).unwrap()), (*b"34", 1));
    file.write_all_at(b"YZ", 1).unwrap();
    file.set_len(4).unwrap();
    file.sync_all().and_then(|()| file.sync_data()).unwrap();
    assert_eq!((fs::read(&path).unwrap(), file.metadata().unwrap().len()), (b"XYZ3".into(), 4));
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000);
    file.set_modified(then).unwrap();
    file.set_times(fs::FileTimes::new().set_accessed(then)).unwrap();
    file.set_permissions(fs::Permissions::from_mode(0o600)).unwrap();
    let known = file.metadata().unwrap();
    assert_eq!(
        (known.modified().unwrap(), known.accessed().unwrap(), known.mode() & 0o777),
        (then, then, 0o600)
    );
    fs::unix::fchown(&file, None, None).unwrap();
}

/// The times of a file, or of the symbolic link itself.
fn times(path: &Path) -> [SystemTime; 2] {
    let known = fs::symlink_metadata(path).unwrap();
    [known.accessed().unwrap(), known.modified().unwrap()]
}

fn use_times() {
    let place = Place::new();
    let (path, link) = (place.join("file"), place.join("link"));
    fs::write(&path, "").unwrap();
    fs::unix::symlink(&path, &link).unwrap();
    // The mode lets no user open the file, but its owner may change its times.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    let moment = |nanos| SystemTime::UNIX_EPOCH + Duration::from_nanos(nanos);
    let [first, second, third] = [1_000_000_001, 2_000_000_002, 4_000_000_000_000_000_003].map(moment);
    fs::set_times(&path, fs::FileTimes::new().set_accessed(first).set_modified(second)).unwrap();
    assert_eq!(times(&path), [first, second]);
    fs::set_times(&path, fs::FileTimes::new().set_modified(third)).unwrap();
    assert_eq!(times(&path), [first, third]);
    fs::set_times(&path, fs::FileTimes::new()).unwrap();
    assert_eq!(times(&path), [first, third]);
    // Through a link, and of the link.
    fs::set_times(&link, fs::FileTimes::new().set_accessed(second)).unwrap();
    assert_eq!(times(&path), [second, third]);
    fs::set_times_nofollow(&link, fs::FileTimes::new().set_modified(first)).unwrap();
    assert_eq!((times(&path), times(&link)[1]), ([second, third], first));
    let early = SystemTime::UNIX_EPOCH - Duration::from_millis(1_500);
    fs::set_times(&path, fs::FileTimes::new().set_modified(early)).unwrap();
    assert_eq!(times(&path), [second, early]);
    let none = fs::set_times(place.join("none"), fs::FileTimes::new().set_modified(first));
    assert_eq!(kind(none), Some(ErrorKind::NotFound));
}

fn use_locks_and_options() {
    let place = Place::new();
    let path = place.join("file");
    let file = OpenOptions::new().append(true).create(true).mode(0o640).open(&path).unwrap();
    (&file).write_all(b"one").unwrap();
    let none = File::options().truncate(true).write(true).custom_flags(no_follow()).open(&path).unwrap();
    (&file).write_all(b"two").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(
        kind(OpenOptions::new().write(true).create_new(true).open(&path)),
        Some(ErrorKind::AlreadyExists)
    );
    assert_eq!(kind(OpenOptions::new().open(&path)), Some(ErrorKind::InvalidInput));
    none.lock().unwrap();
    assert!(matches!(file.try_lock(), Err(TryLockError::WouldBlock)));
    assert!(matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)));
    none.unlock().unwrap();
    file.lock_shared().unwrap();
    none.try_lock_shared().unwrap();
    file.unlock().and_then(|()| none.unlock()).unwrap();
    file.try_lock().unwrap();
    // A clone is the same file, and one of std's has the same look.
    let clone = file.try_clone().unwrap();
    assert_ne!(clone.as_raw_fd(), file.as_raw_fd());
    let std = std::fs::File::from(clone);
    let text = format!("{std:?}");
    let file = File::from(std);
    assert_eq!(format!("{file:?}"), text);
    let fd = OwnedFd::from(file);
    let number = fd.as_fd().as_raw_fd();
    assert_eq!(File::from(fd).as_raw_fd(), number);
}

fn no_follow() -> i32 {
    // O_NOFOLLOW, by the number that the kernel has for this processor.
    if cfg!(target_arch = "aarch64") { 0o100_000 } else { 0o400_000 }
}

fn use_directories() {
    let place = Place::new();
    assert_eq!(fs::read_dir(&place.0).unwrap().count(), 0);
    assert_eq!(kind(fs::read_dir(place.join("none"))), Some(ErrorKind::NotFound));
    for number in 0..150 {
        fs::write(place.join(&format!("{number:03}")), vec![0; number]).unwrap();
    }
    fs::create_dir(place.join("150")).unwrap();
    let mut entries: Vec<_> = fs::read_dir(&place.0).unwrap().map(Result::unwrap).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for (number, entry) in entries.iter().enumerate() {
        let name = format!("{number:03}");
        assert_eq!((entry.file_name().to_str(), entry.path()), (Some(&*name), place.join(&name)));
        let known = entry.metadata().unwrap();
        assert_eq!((entry.file_type().unwrap(), entry.ino()), (known.file_type(), known.ino()));
        assert!(known.is_dir() == (number == 150) && (known.is_dir() || known.len() == number as u64));
        assert_eq!(format!("{entry:?}"), format!("DirEntry({:?})", place.join(&name)));
    }
    let mut ours = fs::read_dir(&place.0).unwrap();
    assert_eq!(format!("{ours:?}"), format!("{:?}", std::fs::read_dir(&place.0).unwrap()));
    assert_eq!((ours.by_ref().count(), ours.next().is_none()), (151, true));
}

const USES: [fn(); 5] = [use_paths, use_files, use_times, use_locks_and_options, use_directories];

#[test]
fn files_and_directories_are_used_as_by_std() {
    in_crowds(|crowd| drop(crowd.all(USES.len(), |number| USES[number]())));
}

#[test]
fn a_file_is_asked_whether_it_is_a_terminal() {
    use sinew::io::IsTerminal;
    let (terminal, none) = (File::open("/dev/ptmx").unwrap(), File::open("/dev/null").unwrap());
    assert!(terminal.is_terminal() && !none.is_terminal());
    assert!(std::fs::File::from(terminal).is_terminal());
}

#[test]
fn no_descriptor_is_left() {
    let output = in_child("fs::no_descriptor_is_left", || {
        let runtime = pinned(2);
        let count = || std::fs::read_dir("/proc/self/fd").unwrap().count();
        let use_all = || runtime.spawn_batch(USES).into_iter().for_each(|fiber| fiber.join().unwrap());
        use_all();
        let before = count();
        (0..20).for_each(|_| use_all());
        assert_eq!(count(), before);
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

/// What may be used after a panic, and sent elsewhere, is so.
#[test]
fn types_are_as_free_as_stds() {
    fn is_free<T: UnwindSafe + RefUnwindSafe + Send + Sync>() {}
    is_free::<File>();
    is_free::<fs::ReadDir>();
    is_free::<fs::DirEntry>();
    is_free::<fs::OpenOptions>();
    is_free::<fs::DirBuilder>();
}

/// Whether it failed since the caller is to stop, and what kind of error that was.
fn stopped<T>(result: io::Result<T>) -> ErrorKind {
    let error = result.err().expect("the caller is to stop");
    let kind = error.kind();
    let stopped = error.downcast::<Stopped>().unwrap();
    assert!(stopped.at().file().ends_with("fs.rs"), "{stopped}");
    kind
}

#[test]
fn who_is_to_stop_does_nothing() {
    fn check() {
        let place = Place::new();
        let (path, other) = (place.join("file"), place.join("other"));
        let mut file = File::create_new(&path).unwrap();
        (0..100).for_each(|number| fs::write(place.join(&number.to_string()), "").unwrap());
        let mut entries = fs::read_dir(&place.0).unwrap();
        let token = CancelToken::new();
        token.cancel();
        token.run(|| {
            let other = ErrorKind::Other;
            assert_eq!(stopped(file.write(b"lost")), other);
            assert_eq!(stopped(file.read(&mut [0])), other);
            assert_eq!(stopped(file.rewind()), other);
            assert_eq!(stopped((&file).seek_relative(1)), other);
            assert_eq!(stopped((&file).seek(SeekFrom::End(0))), other);
            assert_eq!(stopped(file.set_len(9)), other);
            assert_eq!(stopped(fs::remove_file(&path)), other);
            assert_eq!(stopped(File::create(&path)), other);
            assert!(matches!(file.try_lock(), Err(TryLockError::Error(error)) if error.kind() == other));
            // What was read is there; then it stops.
            let (mut good, mut bad) = (0, 0);
            for _ in 0..99 {
                match entries.next().unwrap() {
                    Ok(_) => good += 1,
                    Err(error) => bad += usize::from(stopped::<()>(Err(error)) == other),
                }
            }
            assert_eq!((good, bad), (64, 35));
            fiber::shield(|| fs::metadata(&path)).unwrap();
        });
        fiber::with_deadline(Instant::now(), || {
            assert_eq!(stopped(fs::write(&other, "lost")), ErrorKind::TimedOut);
            assert_eq!(stopped(file.sync_all()), ErrorKind::TimedOut);
        });
        assert_eq!((fs::metadata(&path).unwrap().len(), fs::exists(&other).unwrap()), (0, false));
        assert_eq!(entries.map(Result::unwrap).count(), 101 - 64, "it goes on");
    }
    everywhere(check);
    check();
}

#[test]
fn a_lock_that_is_waited_for_stops_nobody() {
    let place = Place::new();
    let path = place.join("lock");
    let runtime = pinned(1);
    runtime.run(move || {
        let file = File::create(&path).unwrap();
        file.lock().unwrap();
        let waits = fiber::spawn(move || File::open(&path).unwrap().lock());
        (0..20).for_each(|_| fiber::sleep(Duration::from_micros(50)));
        assert!(!waits.is_finished());
        file.unlock().unwrap();
        waits.join().unwrap().unwrap();
    });
}

#[test]
fn one_file_is_used_by_many() {
    let _watch = watch_test();
    everywhere(|| {
        let place = Place::new();
        let file = std::sync::Arc::new(File::create_new(place.join("file")).unwrap());
        let shared = file.clone();
        let write = move |number: usize| shared.write_all_at(&[number as u8; 100], number as u64 * 100);
        Crowd::Mixed.all(50, write).into_iter().for_each(|result| result.unwrap());
        let all = fs::read(place.join("file")).unwrap();
        assert!(all.len() == 5_000 && all.iter().enumerate().all(|(at, byte)| at / 100 == *byte as usize));
    });
}
