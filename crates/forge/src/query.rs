//! The query of a call: pairs, written so that nothing in a value can end it.

/// Writes a query that begins with its question mark; pairs without a value are left out.
pub(crate) fn query(pairs: &[(&str, Option<&str>)]) -> String {
    let mut text = String::new();
    for (name, value) in pairs {
        let Some(value) = value else { continue };
        text.push(if text.is_empty() { '?' } else { '&' });
        text.push_str(name);
        text.push('=');
        text.push_str(&escaped(value));
    }
    text
}

/// Writes everything but letters, digits and four signs as `%` and two digits.
fn escaped(value: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
    value
        .bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_value_ends_it() {
        let pairs = [("q", Some("a b&c=é?#")), ("none", None), ("mode", Some("x"))];
        assert_eq!(query(&pairs), "?q=a%20b%26c%3D%C3%A9%3F%23&mode=x");
        assert_eq!(query(&[("none", None)]), "");
    }
}
