//! Which pictures are taken: those whose name and content both say that they are one.

use crate::{Error, Result};

/// A kind of picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    /// How a file of this kind is called.
    pub(crate) ending: &'static str,
    pub(crate) mime: &'static str,
}

const PNG: Kind = Kind { ending: "png", mime: "image/png" };
const JPEG: Kind = Kind { ending: "jpg", mime: "image/jpeg" };
const GIF: Kind = Kind { ending: "gif", mime: "image/gif" };
const WEBP: Kind = Kind { ending: "webp", mime: "image/webp" };
const BMP: Kind = Kind { ending: "bmp", mime: "image/bmp" };
const SVG: Kind = Kind { ending: "svg", mime: "image/svg+xml" };

/// How far into a text the drawing may begin, after a prologue and comments.
const SVG_WITHIN: usize = 4096;

/// Says what kind of picture this is. The name must have the ending of one; which one it is, the bytes say, except
/// that a drawing and a photograph are never taken for each other.
pub(crate) fn of(name: &str, bytes: &[u8]) -> Result<Kind> {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    let named = match ending.as_str() {
        "png" => PNG,
        "jpg" | "jpeg" => JPEG,
        "gif" => GIF,
        "webp" => WEBP,
        "bmp" => BMP,
        "svg" => SVG,
        _ => {
            return Err(Error::invalid(
                "This file type is not supported. Please upload an image file (PNG, JPG, GIF, WebP, BMP or SVG).",
            ));
        }
    };
    if bytes.is_empty() {
        return Err(Error::invalid(format!("{name:?} is empty; please upload an image that is not")));
    }
    match content(bytes) {
        Some(kind) if (kind == SVG) == (named == SVG) => Ok(kind),
        _ => Err(Error::invalid(format!(
            "{name:?} does not hold an image of that type; please upload a PNG, JPG, GIF, WebP, BMP or SVG file"
        ))),
    }
}

fn content(bytes: &[u8]) -> Option<Kind> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some(PNG),
        [0xff, 0xd8, 0xff, ..] => Some(JPEG),
        [b'G', b'I', b'F', b'8', ..] => Some(GIF),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(WEBP),
        [b'B', b'M', ..] => Some(BMP),
        _ => {
            let head = String::from_utf8_lossy(&bytes[..bytes.len().min(SVG_WITHIN)]);
            let text = head.trim_start_matches('\u{feff}').trim_start();
            (text.starts_with('<') && text.contains("<svg")).then_some(SVG)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_says_that_it_is_a_picture_and_the_bytes_say_which() {
        let png = b"\x89PNG\r\n\x1a\n....";
        assert_eq!(of("a.PNG", png).unwrap(), PNG);
        assert_eq!(of("a.jpeg", png).unwrap(), PNG);
        assert_eq!(of("x.y.jpg", b"\xff\xd8\xff\xe0").unwrap(), JPEG);
        assert_eq!(of("a.webp", b"RIFF\0\0\0\0WEBPVP8 ").unwrap(), WEBP);
        assert_eq!(of("a.svg", b"<?xml version=\"1.0\"?>\n<!-- x --><svg/>").unwrap(), SVG);
    }

    #[test]
    fn what_is_no_picture_is_refused() {
        for (name, bytes) in [
            ("a.txt", &b"\x89PNG"[..]),
            ("png", b"\x89PNG"),
            ("a.png", b""),
            ("a.png", b"<html><script>"),
            ("a.png", b"<svg/>"),
            ("a.svg", b"\x89PNG"),
            ("a.svg", b"hello <svg/>"),
        ] {
            assert!(of(name, bytes).is_err(), "{name} {bytes:?}");
        }
    }
}
