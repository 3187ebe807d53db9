//! The archive format from which Linux fills its initial file system: "newc" cpio, as far as
//! directories and programs need it.
//!
//! It does not know what the files are. The kernel's
//! `Documentation/driver-api/early-userspace/buffer-format.rst` describes the format.

const MAGIC: &str = "070701";
const TRAILER: &str = "TRAILER!!!";
const DIRECTORY: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;

/// An archive being written.
pub(super) struct Cpio {
    bytes: Vec<u8>,
    /// The number of the last entry: files with the same one would be taken for links to each
    /// other.
    entries: u32,
}

impl Cpio {
    /// Makes an empty archive.
    pub(super) fn new() -> Self {
        Self { bytes: Vec::new(), entries: 0 }
    }

    /// Adds a directory. Its path is relative to the root, and its parent must already be in the
    /// archive.
    pub(super) fn directory(&mut self, path: &str) {
        self.entry(path, DIRECTORY, &[]);
    }

    /// Adds a file that may be executed.
    pub(super) fn program(&mut self, path: &str, contents: &[u8]) {
        self.entry(path, PROGRAM, contents);
    }

    /// Ends the archive.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.entry(TRAILER, 0, &[]);
        self.bytes
    }

    fn entry(&mut self, path: &str, mode: u32, contents: &[u8]) {
        self.entries += 1;
        self.header(path, mode, contents.len());
        self.bytes.extend_from_slice(contents);
        self.pad();
    }

    fn header(&mut self, path: &str, mode: u32, size: usize) {
        let size = u32::try_from(size).expect("the format has files of less than 4 GiB");
        let name_size = path.len() as u32 + 1;
        // Number, mode, owner, group, links, time, size, two device numbers, the name's size, and a
        // checksum that this variant of the format leaves at zero. Everything belongs to root.
        let fields = [self.entries, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, name_size, 0];
        self.bytes.extend_from_slice(MAGIC.as_bytes());
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08X}").as_bytes());
        }
        self.bytes.extend_from_slice(path.as_bytes());
        self.bytes.push(0);
        self.pad();
    }

    /// Pads with zeros: headers and contents begin at multiples of four.
    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_archive_is_written_byte_for_byte() {
        let mut archive = Cpio::new();
        archive.directory("tmp");
        archive.program("init", b"hello");
        let zeros = |count: usize| "00000000".repeat(count);
        let expected = [
            &format!("07070100000001000041ED{}00000001{}00000004{}", zeros(2), zeros(6), zeros(1)),
            "tmp\0\0\0",
            &format!("07070100000002000081ED{}00000001", zeros(2)),
            &format!("{}00000005{}00000005{}", zeros(1), zeros(4), zeros(1)),
            "init\0\0",
            "hello\0\0\0",
            &format!("0707010000000300000000{}00000001{}0000000B{}", zeros(2), zeros(6), zeros(1)),
            "TRAILER!!!\0\0\0\0",
        ];
        assert_eq!(String::from_utf8(archive.finish()).expect("text"), expected.concat());
    }

    #[test]
    fn every_part_begins_at_a_multiple_of_four() {
        for length in 0..5 {
            let mut archive = Cpio::new();
            archive.program(&"x".repeat(length), &vec![1; length]);
            assert_eq!(archive.bytes.len() % 4, 0);
        }
    }
}
