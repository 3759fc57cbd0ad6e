//! The sounds that tell a person that something waits for them: computed here, so no recordings are shipped.

use std::f64::consts::TAU;
use std::sync::OnceLock;

use crate::{Engine, Error, Result};

/// The sounds there are; a setting picks one.
pub(crate) const SOUNDS: &[&str] = &[
    "ABSTRACT_SOUND1",
    "ABSTRACT_SOUND2",
    "ABSTRACT_SOUND3",
    "ABSTRACT_SOUND4",
    "GENIE_NOTIFY1",
    "GENIE_NOTIFY2",
    "PHONE_VIBRATION",
];

/// Samples a second. Nothing below sounds higher than a third of it.
const RATE: u32 = 16_000;

/// How loud the loudest moment is, of 1.
const PEAK: f64 = 0.6;

/// A tone that begins at a moment and dies away, in seconds and hertz.
#[derive(Debug, Clone, Copy)]
struct Tone {
    at: f64,
    hertz: f64,
    lasts: f64,
    /// How much of the odd overtones it has: none is a flute, one a buzz.
    rough: f64,
}

const fn bell(at: f64, hertz: f64, lasts: f64) -> Tone {
    Tone { at, hertz, lasts, rough: 0.0 }
}

const fn buzz(at: f64, hertz: f64, lasts: f64) -> Tone {
    Tone { at, hertz, lasts, rough: 1.0 }
}

/// The tones of each sound, in the order of [`SOUNDS`].
const TONES: [&[Tone]; 7] = [
    &[bell(0.0, 523.25, 0.9), bell(0.0, 659.25, 0.9), bell(0.0, 783.99, 0.9)],
    &[bell(0.0, 440.0, 0.5), bell(0.18, 659.25, 0.8)],
    &[bell(0.0, 523.25, 0.4), bell(0.12, 587.33, 0.4), bell(0.24, 783.99, 0.8)],
    &[bell(0.0, 196.0, 1.2), bell(0.0, 293.66, 1.2), bell(0.06, 392.0, 1.0)],
    &[bell(0.0, 659.25, 0.6), bell(0.16, 987.77, 1.0)],
    &[bell(0.0, 987.77, 0.5), bell(0.14, 830.61, 0.5), bell(0.28, 659.25, 1.0)],
    &[buzz(0.0, 110.0, 0.35), buzz(0.5, 110.0, 0.35)],
];

impl Engine {
    /// Returns a sound as a WAV file, or says which there are.
    pub fn sound(&self, name: &str) -> Result<&'static [u8]> {
        static MADE: [OnceLock<Vec<u8>>; 7] = [const { OnceLock::new() }; 7];
        let place = SOUNDS.iter().position(|known| *known == name);
        let made = place.and_then(|place| Some((MADE.get(place)?, *TONES.get(place)?)));
        let (made, tones) = made.ok_or_else(|| {
            Error::not_found(format!("there is no sound {name:?}; there are {}", SOUNDS.join(", ")))
        })?;
        Ok(made.get_or_init(|| wav(&samples(tones))))
    }
}

/// Adds tones up, as loud as [`PEAK`] allows.
fn samples(tones: &[Tone]) -> Vec<i16> {
    let end = tones.iter().map(|tone| tone.at + tone.lasts).fold(0.0, f64::max);
    let count = (end * f64::from(RATE)) as u32;
    let levels: Vec<f64> = (0..count)
        .map(|sample| {
            let now = f64::from(sample) / f64::from(RATE);
            tones.iter().map(|tone| level(tone, now - tone.at)).sum()
        })
        .collect();
    let loudest = levels.iter().fold(f64::MIN_POSITIVE, |loudest, level| loudest.max(level.abs()));
    let scale = PEAK * f64::from(i16::MAX) / loudest;
    levels.into_iter().map(|level| (level * scale) as i16).collect()
}

/// How far a tone swings, so long after it began.
fn level(tone: &Tone, since: f64) -> f64 {
    if since < 0.0 || since > tone.lasts {
        return 0.0;
    }
    let wave = |times: f64| (TAU * tone.hertz * times * since).sin();
    let colour =
        wave(1.0) + 0.2 * (1.0 - tone.rough) * wave(2.0) + tone.rough * (wave(3.0) / 3.0 + wave(5.0) / 5.0);
    // It swells within milliseconds and is gone at its end, so that nothing clicks.
    let swell = (since / 0.008).min(1.0);
    let fade = ((tone.lasts - since) / 0.03).min(1.0);
    let decay = if tone.rough > 0.0 { 1.0 } else { (-4.5 * since / tone.lasts).exp() };
    colour * swell * fade * decay
}

/// Writes samples as a WAV file: 16 bits, one channel.
fn wav(samples: &[i16]) -> Vec<u8> {
    let bytes = samples.len() as u32 * 2;
    let mut file = Vec::with_capacity(44 + samples.len() * 2);
    file.extend_from_slice(b"RIFF");
    file.extend_from_slice(&(36 + bytes).to_le_bytes());
    file.extend_from_slice(b"WAVEfmt ");
    file.extend_from_slice(&16u32.to_le_bytes());
    // Plain samples, one channel.
    file.extend_from_slice(&1u16.to_le_bytes());
    file.extend_from_slice(&1u16.to_le_bytes());
    file.extend_from_slice(&RATE.to_le_bytes());
    file.extend_from_slice(&(RATE * 2).to_le_bytes());
    file.extend_from_slice(&2u16.to_le_bytes());
    file.extend_from_slice(&16u16.to_le_bytes());
    file.extend_from_slice(b"data");
    file.extend_from_slice(&bytes.to_le_bytes());
    file.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sound_is_a_small_file_that_is_heard_and_ends_in_silence() {
        for tones in TONES {
            let samples = samples(tones);
            let file = wav(&samples);
            assert!(file.len() < 100_000, "{} bytes", file.len());
            assert_eq!(&file[..4], b"RIFF");
            assert_eq!(u32::from_le_bytes(file[4..8].try_into().unwrap()) as usize, file.len() - 8);
            assert!(samples.iter().any(|sample| sample.unsigned_abs() > 15_000));
            assert!(samples.last().unwrap().unsigned_abs() < 500 && samples[0] == 0);
        }
    }

    #[test]
    fn no_two_sounds_are_the_same() {
        let files: std::collections::HashSet<_> = TONES.iter().map(|tones| wav(&samples(tones))).collect();
        assert_eq!((files.len(), SOUNDS.len()), (TONES.len(), TONES.len()));
    }
}
