//! The programs that are weighed: an echo server, and the manifests that it is built with.

use std::path::Path;
use std::{fs, io};

/// A program.
pub(super) struct Program {
    /// The name of its package and of its directory.
    pub(super) name: &'static str,
    /// Its name in the table.
    pub(super) title: &'static str,
    /// The line of its manifest that names what it stands on; `{root}` is the repository.
    dependency: &'static str,
    source: &'static str,
}

/// All programs. The last is what the others are compared with.
pub(super) const PROGRAMS: [Program; 3] = [
    Program {
        name: "echo-sinew-default",
        title: "sinew, default features",
        dependency: r#"sinew = { path = "{root}/crates/sinew" }"#,
        source: include_str!("echo_sinew.rs.txt"),
    },
    Program {
        name: "echo-sinew",
        title: "sinew, net",
        dependency: r#"sinew = { path = "{root}/crates/sinew", default-features = false, features = ["net"] }"#,
        source: include_str!("echo_sinew.rs.txt"),
    },
    Program {
        name: "echo-tokio",
        title: "tokio",
        dependency: r#"tokio = { version = "1", features = ["net", "rt-multi-thread", "sync", "time"] }"#,
        source: include_str!("echo_tokio.rs.txt"),
    },
];

impl Program {
    /// Writes its package into a directory.
    pub(super) fn write(&self, directory: &Path, root: &Path) -> io::Result<()> {
        let dependency = self.dependency.replace("{root}", &root.display().to_string());
        let manifest = format!(
            "[package]\nname = \"{}\"\nedition = \"2024\"\n\n[dependencies]\n{dependency}\n\n\
             [profile.release]\nstrip = true\n\n[workspace]\n",
            self.name
        );
        fs::create_dir_all(directory.join("src"))?;
        fs::write(directory.join("Cargo.toml"), manifest)?;
        fs::write(directory.join("src/main.rs"), self.source)
    }
}
