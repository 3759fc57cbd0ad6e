//! The cookie by which the board's page is let in, and the key in it.
//!
//! A browser sends a cookie to every port of a host name, so every service there may read it. It therefore never holds
//! the token, but a key that is made from the token and from who brought it, as the kernel tells: the key of one user
//! of this machine is refused from every other.

use axum::http::{HeaderMap, HeaderValue, header};

use super::{Caller, Peer, token};

/// How long a cookie lasts, in seconds.
pub(super) const YEAR: u64 = 365 * 24 * 60 * 60;

/// Who holds a key: what the kernel says about the other end of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    SameUser,
    OtherUser(u32),
    /// Another machine, or this one where the kernel does not tell whose process it is.
    Elsewhere,
}

impl Holder {
    pub(super) fn of(peer: Option<Peer>) -> Self {
        match peer {
            Some(Peer::SameUser) => Self::SameUser,
            Some(Peer::OtherUser(user)) => Self::OtherUser(user),
            Some(Peer::Address(_)) | None => Self::Elsewhere,
        }
    }
}

/// Makes the key of a holder. It needs no record, because it can be made again; another token makes other keys.
pub(super) fn key(token: &str, holder: Holder) -> String {
    let of = match holder {
        Holder::SameUser => "the same user".to_string(),
        Holder::OtherUser(user) => format!("user {user}"),
        Holder::Elsewhere => "elsewhere".to_string(),
    };
    token::derived(token, &format!("session of {of}"))
}

/// Returns whom a cookie lets in. One that holds the token itself is of an older Forge: it has been shown to every
/// service of its host name, so it is refused from another user of this machine.
pub(super) fn caller(token: &str, cookie: &str, holder: Holder) -> Option<Caller> {
    if !token.is_empty() && token::same(&key(token, holder), cookie) {
        return Some(Caller::Owner);
    }
    let caller = token::caller(token, cookie)?;
    let is_refused = caller == Caller::Owner && matches!(holder, Holder::OtherUser(_));
    (!is_refused).then_some(caller)
}

/// Returns every cookie of this server's name that a request carries.
pub(super) fn given(headers: &HeaderMap, port: u16) -> impl Iterator<Item = &str> {
    let name = format!("forge_{port}");
    let texts = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = texts.flat_map(|text| text.split(';')).filter_map(|pair| pair.split_once('='));
    pairs.filter(move |(key, _)| key.trim() == name).map(|(_, value)| value.trim())
}

/// Returns a cookie with a value; none when the value cannot stand in a cookie.
pub(super) fn set_cookie(
    port: u16,
    value: &str,
    path: &str,
    seconds: u64,
    is_secure: bool,
) -> Option<HeaderValue> {
    let plain = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    let secure = if is_secure { "; Secure" } else { "" };
    let text =
        format!("forge_{port}={value}; HttpOnly; SameSite=Strict; Path={path}; Max-Age={seconds}{secure}");
    plain.then(|| HeaderValue::from_str(&text).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_lets_in_its_own_holder_and_nobody_else() {
        let holders = [Holder::SameUser, Holder::OtherUser(7), Holder::OtherUser(8), Holder::Elsewhere];
        for holder in holders {
            let key = key("secret", holder);
            for other in holders {
                let let_in = (other == holder).then_some(Caller::Owner);
                assert_eq!(caller("secret", &key, other), let_in, "{holder:?} {other:?}");
            }
            assert_eq!(caller("another", &key, holder), None);
            assert_eq!(token::caller("secret", &key), None, "a key is no token");
        }
        assert_eq!(caller("", &key("", Holder::SameUser), Holder::SameUser), None);
    }

    #[test]
    fn a_cookie_that_holds_the_token_is_refused_from_another_user() {
        assert_eq!(caller("secret", "secret", Holder::SameUser), Some(Caller::Owner));
        assert_eq!(caller("secret", "secret", Holder::Elsewhere), Some(Caller::Owner));
        assert_eq!(caller("secret", "secret", Holder::OtherUser(7)), None);
    }

    #[test]
    fn all_cookies_of_the_name_are_found() {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, HeaderValue::from_static("a=b; forge_8887=one; forge_1=two"));
        headers.append(header::COOKIE, HeaderValue::from_static("forge_8887=three;forge_8887=four"));
        assert_eq!(given(&headers, 8887).collect::<Vec<_>>(), ["one", "three", "four"]);
        assert_eq!(given(&headers, 9).count(), 0);
    }

    #[test]
    fn a_value_cannot_smuggle_attributes_into_a_cookie() {
        assert!(set_cookie(8887, "x; Domain=evil", "/", 1, true).is_none());
        let cookie = set_cookie(8887, "abc", "/", 5, false).unwrap();
        assert_eq!(cookie, "forge_8887=abc; HttpOnly; SameSite=Strict; Path=/; Max-Age=5");
        let cookie = set_cookie(8887, "abc", "/", 5, true).unwrap();
        assert_eq!(cookie, "forge_8887=abc; HttpOnly; SameSite=Strict; Path=/; Max-Age=5; Secure");
    }
}
