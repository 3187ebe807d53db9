//! Go, from the Python package that `setup` installs or from the search path.

use super::{Found, Toolchain, candidates, output, version};
use crate::paths;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The Go toolchain.
pub(crate) struct Go;

/// The first version whose `iter.Pull` is public.
const OLDEST: (u32, u32) = (1, 23);

impl Toolchain for Go {
    fn name(&self) -> &'static str {
        "go"
    }

    fn find(&self) -> Result<Found, String> {
        let found = candidates("go/bin/go", "go").into_iter().find_map(|compiler| {
            let text = output(Command::new(&compiler).arg("version").env("GOTOOLCHAIN", "local")).ok()?;
            let version = text.split_whitespace().nth(2)?.to_owned();
            Some(Found { compiler, runner: PathBuf::new(), version })
        });
        found
            .filter(|found| version(&found.version) >= Some(OLDEST))
            .ok_or_else(|| format!("no Go {}.{} or newer found (run `setup`)", OLDEST.0, OLDEST.1))
    }

    fn compile(&self, found: &Found, source: &Path, out: &Path) -> Command {
        let mut command = Command::new(&found.compiler);
        command.current_dir(source).args(["build", "-o"]).arg(out.join("peer")).arg(".");
        // The build downloads nothing, and writes nothing outside the target directory.
        command.env("GOTOOLCHAIN", "local").env("GOPROXY", "off").env("GOFLAGS", "-mod=mod");
        command.env("GOCACHE", paths::foreign_target().join("go-cache"));
        command
    }

    fn start(&self, _: &Found, out: &Path) -> Command {
        Command::new(out.join("peer"))
    }
}
