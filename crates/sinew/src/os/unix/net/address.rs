//! Addresses, as std has them and as system calls take them.

use std::ffi::OsStr;
use std::io;
use std::mem::offset_of;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::SocketAddr;

use rustix::net::{AddressFamily, SocketAddrAny, SocketAddrUnix};

/// No address that is longer fits where the kernel's callers have it: the kernel puts a zero behind a name that fills all of it.
const LONGEST: usize = size_of::<libc::sockaddr_un>();

/// Nothing but the kind of address: that of a socket without a name.
const SHORTEST: usize = offset_of!(libc::sockaddr_un, sun_path);

/// For a system call.
pub(super) fn to_kernel(address: &SocketAddr) -> io::Result<SocketAddrUnix> {
    Ok(match (address.as_pathname(), address.as_abstract_name()) {
        (Some(path), _) => SocketAddrUnix::new(path)?,
        (None, Some(name)) => SocketAddrUnix::new_abstract_name(name)?,
        (None, None) => SocketAddrUnix::new_unnamed(),
    })
}

/// From a system call. None, if std cannot have it: the name of a file that is longer than std would let anybody make.
///
/// # Errors
///
/// If it is the address of another kind of socket.
pub(super) fn from_kernel(address: Option<&SocketAddrAny>) -> io::Result<Option<SocketAddr>> {
    let Some(address) = address else { return unnamed().map(Some) };
    if address.address_family() != AddressFamily::UNIX {
        let text = "file descriptor did not correspond to a Unix socket";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let length = address.addr_len() as usize;
    if length > LONGEST {
        return Ok(None);
    }
    if length == SHORTEST {
        return unnamed().map(Some);
    }
    let address = SocketAddrUnix::try_from(address.clone())?;
    match (address.path_bytes(), address.abstract_name()) {
        // A zero stays at the end of a path that fills all there is for it.
        (Some(path), _) => {
            SocketAddr::from_pathname(OsStr::from_bytes(path.strip_suffix(b"\0").unwrap_or(path)))
        }
        (None, Some(name)) => SocketAddr::from_abstract_name(name),
        (None, None) => unnamed(),
    }
    .map(Some)
}

/// That of a socket which is not bound.
pub(super) fn unnamed() -> io::Result<SocketAddr> {
    SocketAddr::from_pathname("")
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn addresses_come_back_as_they_went() {
        let longest = "x".repeat(107);
        let paths = ["/a", "relative", &longest].map(|path| SocketAddr::from_pathname(path).unwrap());
        let names =
            [&b"name"[..], b"with\0zero", b""].map(|name| SocketAddr::from_abstract_name(name).unwrap());
        for address in paths.into_iter().chain(names).chain([unnamed().unwrap()]) {
            let there = SocketAddrAny::from(to_kernel(&address).unwrap());
            let back = from_kernel(Some(&there)).unwrap().unwrap();
            assert_eq!(back.as_pathname(), address.as_pathname());
            assert_eq!(back.as_abstract_name(), address.as_abstract_name());
            assert_eq!(back.is_unnamed(), address.is_unnamed());
        }
        assert!(from_kernel(None).unwrap().unwrap().is_unnamed());
    }

    #[test]
    fn addresses_of_other_kinds_are_refused() {
        let other = SocketAddrAny::from(std::net::SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, 1));
        assert_eq!(from_kernel(Some(&other)).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
}
