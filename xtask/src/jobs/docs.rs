//! The documentation, for users and for contributors. It knows nothing about the content of the
//! pages.

use crate::context::Context;
use crate::exec::Exec;
use crate::failure::Result;
use crate::job::{Depth, Job};
use crate::pages;

/// Every link in the documentation has a target.
pub(crate) const JOB: Job = Job {
    name: "docs",
    about: "rustdoc is silent on public pages, and on private ones; public ones show what users have",
    depth: Depth::Quick,
    needs: &[],
    run,
};

fn run(context: &Context) -> Result {
    // Two passes: a public page that links to a private item is broken only in the first.
    document(context, &[])?;
    pages::check(&context.target.join("doc/sinew"))?;
    document(context, &["--document-private-items"])
}

fn document(context: &Context, extra: &[&str]) -> Result {
    Exec::cargo(context, &["doc", "--workspace", "--no-deps"])
        .args(extra)
        .env("RUSTDOCFLAGS", "-Dwarnings")
        .run()
}
