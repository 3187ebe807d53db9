//! Checks whether a text is well-formed XML, as far as a drawing needs it: elements, attributes,
//! text.

/// Returns the names of all elements, in order; or an error that says what is not well-formed.
pub(crate) fn elements(text: &str) -> Result<Vec<String>, String> {
    let (mut open, mut all, mut rest) = (Vec::<String>::new(), Vec::new(), text.trim());
    while let Some(start) = rest.find('<') {
        check_text(&rest[..start])?;
        if open.is_empty() && !all.is_empty() {
            return Err(format!("more after the root: {rest}"));
        }
        let end = rest.find('>').ok_or("a tag without an end")?;
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            let opened = open.pop().unwrap_or_default();
            if opened != name {
                return Err(format!("<{opened}> ends with </{name}>"));
            }
            continue;
        }
        let (tag, is_empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        check_attributes(attributes)?;
        all.push(name.to_owned());
        if !is_empty {
            open.push(name.to_owned());
        }
    }
    if !open.is_empty() || !rest.is_empty() {
        return Err(format!("left open: {open:?}, left over: {rest:?}"));
    }
    Ok(all)
}

fn check_text(text: &str) -> Result<(), String> {
    let known = ["&amp;", "&lt;", "&gt;", "&quot;"];
    let is_known = |(at, _): (usize, &str)| known.iter().any(|name| text[at..].starts_with(name));
    if text.contains('>') || !text.match_indices('&').all(is_known) {
        return Err(format!("not escaped: {text}"));
    }
    Ok(())
}

fn check_attributes(mut rest: &str) -> Result<(), String> {
    while !rest.trim().is_empty() {
        let (name, after) = rest.split_once("=\"").ok_or_else(|| format!("no attribute: {rest}"))?;
        let (value, after) = after.split_once('"').ok_or_else(|| format!("no end: {rest}"))?;
        if name.trim().is_empty() || name.trim().contains(' ') || value.contains('<') {
            return Err(format!("no attribute: {rest}"));
        }
        rest = after;
    }
    Ok(())
}

#[test]
fn what_is_not_well_formed_is_refused() {
    assert_eq!(elements("<a b=\"c\"><d/>e &amp; f</a>").unwrap(), ["a", "d"]);
    for bad in ["<a>", "<a></b>", "<a b=c/>", "<a b=\"c/>", "<a>&</a>", "<a/><b/>", "<a>></a>", "<a/>x"] {
        assert!(elements(bad).is_err(), "{bad}");
    }
}
