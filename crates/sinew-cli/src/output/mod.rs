//! What a person sees, and what a program reads: lines, bars, tables, charts, JSON. Knows no
//! chapter and no finding.

pub(crate) mod chart;
pub(crate) mod json;
pub(crate) mod screen;
pub(crate) mod svg;
pub(crate) mod table;
pub(crate) mod terminal;
pub(crate) mod text;
