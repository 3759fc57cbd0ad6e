//! Tokens: the header that carries one, whose it is, and the tokens that belong to one attempt only.

use axum::http::{HeaderMap, header};
use forge_model::AttemptId;
use sha2::{Digest, Sha256};

use super::Caller;

/// Makes the token of an attempt from the server's own; it needs no record, because it can be made again.
pub fn attempt_token(token: &str, attempt: AttemptId) -> String {
    format!("{attempt}.{}", derived(token, &attempt.to_string()))
}

/// Makes a key of the token and what the key is for, in letters and digits.
pub(super) fn derived(token: &str, purpose: &str) -> String {
    let bytes = keyed_hash(token.as_bytes(), purpose.as_bytes());
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns whose token was given, if it is one of this server's.
pub(super) fn caller(token: &str, given: &str) -> Option<Caller> {
    // An empty token is a mistake in the configuration, never a key.
    if token.is_empty() {
        return None;
    }
    if same(token, given) {
        return Some(Caller::Owner);
    }
    let (attempt, _) = given.split_once('.')?;
    let attempt: AttemptId = attempt.parse().ok()?;
    same(&attempt_token(token, attempt), given).then_some(Caller::Attempt(attempt))
}

/// Returns the token in a request's header: none when it has no such header, some none when what it carries is no token.
pub(super) fn given(headers: &HeaderMap) -> Option<Option<&str>> {
    let value = headers.get(header::AUTHORIZATION)?;
    let token = value.to_str().ok().and_then(|text| text.split_once(' '));
    Some(token.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token.trim()))
}

/// Compares by hash, so that the time it takes tells nothing about the text.
pub(super) fn same(one: &str, other: &str) -> bool {
    let (one, other) = (Sha256::digest(one), Sha256::digest(other));
    one.iter().zip(other.iter()).fold(0, |unlike, (a, b)| unlike | (a ^ b)) == 0
}

/// HMAC-SHA256.
fn keyed_hash(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0u8; 64];
    if key.len() > block.len() {
        block[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let inner = Sha256::new().chain_update(block.map(|byte| byte ^ 0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(block.map(|byte| byte ^ 0x5c)).chain_update(inner).finalize().into()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn the_keyed_hash_is_hmac_sha256() {
        // RFC 4231, test cases 2 and 6.
        let hex = |bytes: [u8; 32]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(
            hex(keyed_hash(b"Jefe", b"what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            hex(keyed_hash(&[0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }

    #[test]
    fn a_token_tells_the_owner_from_an_attempt_and_from_a_stranger() {
        let attempt = AttemptId::random();
        let scoped = attempt_token("secret", attempt);
        assert_eq!(caller("secret", "secret"), Some(Caller::Owner));
        assert_eq!(caller("secret", &scoped), Some(Caller::Attempt(attempt)));
        assert_eq!(
            caller("secret", &scoped.replace(&attempt.to_string(), &AttemptId::random().to_string())),
            None
        );
        assert_eq!(caller("other", &scoped), None);
        assert_eq!(caller("secret", "secre"), None);
        assert_eq!(caller("secret", ""), None);
        assert_eq!(caller("", ""), None);
    }

    #[test]
    fn a_token_is_read_from_the_header() {
        let mut headers = HeaderMap::new();
        assert_eq!(given(&headers), None);
        headers.insert(header::AUTHORIZATION, HeaderValue::from_static("bearer three"));
        assert_eq!(given(&headers), Some(Some("three")));
        headers.insert(header::AUTHORIZATION, HeaderValue::from_static("Basic three"));
        assert_eq!(given(&headers), Some(None));
    }
}
