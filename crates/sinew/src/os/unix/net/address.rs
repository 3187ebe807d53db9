//! Converts addresses between std's type and the form that system calls take.

use std::ffi::OsStr;
use std::io;
use std::mem::offset_of;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::SocketAddr;

use rustix::net::{AddressFamily, SocketAddrAny, SocketAddrUnix};

/// The length of the longest address that fits into the kernel's structure. The kernel may return a
/// longer one: it appends a zero to a path that fills the structure.
const LONGEST: usize = size_of::<libc::sockaddr_un>();

/// The length of an address without a name: only the address family.
const SHORTEST: usize = offset_of!(libc::sockaddr_un, sun_path);

/// Converts an address to the form that system calls take.
pub(super) fn to_kernel(address: &SocketAddr) -> io::Result<SocketAddrUnix> {
    Ok(match (address.as_pathname(), address.as_abstract_name()) {
        (Some(path), _) => SocketAddrUnix::new(path)?,
        (None, Some(name)) => SocketAddrUnix::new_abstract_name(name)?,
        (None, None) => SocketAddrUnix::new_unnamed(),
    })
}

/// Converts an address that a system call returned. Returns `None` for a path that is longer than
/// std's type can hold.
///
/// # Errors
///
/// Returns an error if the address is of another family.
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
        // A path that fills the structure may keep a zero at its end.
        (Some(path), _) => {
            SocketAddr::from_pathname(OsStr::from_bytes(path.strip_suffix(b"\0").unwrap_or(path)))
        }
        (None, Some(name)) => SocketAddr::from_abstract_name(name),
        (None, None) => unnamed(),
    }
    .map(Some)
}

/// Returns the address of a socket that is not bound.
pub(super) fn unnamed() -> io::Result<SocketAddr> {
    SocketAddr::from_pathname("")
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn addresses_survive_a_round_trip() {
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
