//! `sinew doctor`: what this machine offers, what the runtime would choose, and what to change.

mod facts;
mod finding;

use std::process::ExitCode;

use clap::Args;

use self::facts::Facts;
use self::finding::{Finding, findings};
use crate::output::json::Object;
use crate::output::screen::Screen;
use crate::output::terminal::{Style, Terminal};
use crate::output::text::{length, padded};

/// Says what this machine offers to the runtime, what the runtime would choose, and what to change.
#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
    /// Write a JSON object per finding, on a line of its own, and nothing else.
    #[arg(long)]
    json: bool,
}

/// Writes the findings. The exit status is 1 if no runtime starts here.
pub(crate) fn run(options: &Options) -> ExitCode {
    let facts = Facts::gather();
    let findings = findings(&facts);
    let screen = Screen::without_bars(Terminal::of_stdout());
    if options.json {
        findings.iter().for_each(|finding| screen.line(&object(finding).end()));
        screen.line(&chosen(&facts).end());
    } else {
        tell(&screen, &facts, &findings);
    }
    if facts.runtime.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn tell(screen: &Screen, facts: &Facts, findings: &[Finding]) {
    screen.paragraph("", Style::Bold, "What this machine offers");
    let widest = findings.iter().map(|finding| length(finding.name)).max().unwrap_or(0);
    for Finding { name, value, advice } in findings {
        let (mark, style) = if advice.is_some() { (" ! ", Style::Notable) } else { ("   ", Style::Plain) };
        screen.painted(&format!("{mark}{}  ", padded(name, widest)), style, Style::Plain, value);
    }
    heading(screen, "What the runtime chooses");
    match &facts.runtime {
        Ok(description) => {
            for line in description.lines() {
                // Its own indentation says what belongs to what.
                let indent = " ".repeat(3 + line.len() - line.trim_start().len());
                screen.paragraph(&indent, Style::Plain, line);
            }
        }
        Err(error) => screen.paragraph(" ! ", Style::Bad, &format!("No runtime starts: {error}")),
    }
    heading(screen, "What to change");
    let mut advised = findings.iter().filter_map(|finding| finding.advice.as_deref().zip(Some(finding.name)));
    let first = advised.next();
    if first.is_none() && facts.runtime.is_ok() {
        screen.paragraph("   ", Style::Good, "nothing");
    }
    for (advice, name) in first.into_iter().chain(advised) {
        screen.paragraph(" ! ", Style::Plain, &format!("{name}: {advice}"));
    }
    if let Err(error) = &facts.runtime {
        screen.paragraph(" ! ", Style::Plain, &format!("runtime: {error}"));
    }
}

fn heading(screen: &Screen, words: &str) {
    screen.line("");
    screen.paragraph("", Style::Bold, words);
}

fn object(Finding { name, value, advice }: &Finding) -> Object {
    Object::new().text("finding", name).text("value", value).maybe_text("advice", advice.as_deref())
}

/// What the runtime chooses, as the last object.
fn chosen(facts: &Facts) -> Object {
    let object = Object::new().text("finding", "runtime");
    match &facts.runtime {
        Ok(description) => object.text("value", description).maybe_text("advice", None),
        Err(error) => object.text("value", "does not start").text("advice", error),
    }
}
