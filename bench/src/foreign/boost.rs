//! C++ with Boost, from the distribution's packages.

use super::{Found, Toolchain, files, output};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The compiler and Boost's headers and libraries.
pub(crate) struct Boost;

/// Prints Boost's version if the needed headers are installed.
const PROBE: &str = "#include <boost/version.hpp>
#if __has_include(<boost/context/fiber.hpp>) && __has_include(<boost/fiber/fiber.hpp>)
BOOST_LIB_VERSION
#endif
";

impl Toolchain for Boost {
    fn name(&self) -> &'static str {
        "boost"
    }

    fn find(&self) -> Result<Found, String> {
        let compiler = PathBuf::from("g++");
        let version = output(Command::new(&compiler).arg("-dumpfullversion"))
            .map_err(|_| "no g++ found (run `setup`, or install it)".to_owned())?;
        let boost = preprocessed(&compiler)
            .ok_or("Boost.Fiber not found (run `setup`, or install libboost-fiber-dev)")?;
        let version = format!("Boost {boost}, g++ {version}");
        Ok(Found { compiler, runner: PathBuf::new(), version })
    }

    fn compile(&self, found: &Found, source: &Path, out: &Path) -> Command {
        let mut command = Command::new(&found.compiler);
        command.args(["-std=c++17", "-O3", "-DNDEBUG", "-flto", "-g1", "-Wall", "-Wextra", "-o"]);
        command.arg(out.join("peer")).args(files(source, "cpp"));
        command.args(["-lboost_fiber", "-lboost_context"]);
        command
    }

    fn start(&self, _: &Found, out: &Path) -> Command {
        Command::new(out.join("peer"))
    }
}

/// Returns Boost's version as the compiler sees it, such as `1.74`.
fn preprocessed(compiler: &Path) -> Option<String> {
    let mut command = Command::new(compiler);
    command.args(["-E", "-P", "-x", "c++", "-std=c++17", "-"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    child.stdin.take()?.write_all(PROBE.as_bytes()).ok()?;
    let output = child.wait_with_output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let quoted = text.split('"').nth(1)?;
    Some(quoted.replace('_', "."))
}
