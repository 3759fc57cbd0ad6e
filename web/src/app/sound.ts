// One short sound: the server's, as the settings name it; a plain tone when it cannot be had.

import { INFO } from "./info";
import { queries } from "./queries";

type Known = { config: { notifications: { sound_file: string } } };

let context: AudioContext | null = null;

/** Plays it. A browser that wants a click first stays silent: what waited for that click would be heard all at once. */
export async function playSound(name = queries.getQueryData<Known>(INFO)?.config.notifications.sound_file) {
  if (navigator.userActivation?.hasBeenActive === false) return;
  context ??= new AudioContext();
  await context.resume();
  const node = context.createBufferSource();
  try {
    const answer = await fetch(`/api/sounds/${name ?? "ABSTRACT_SOUND1"}`);
    if (!answer.ok) throw new Error(answer.statusText);
    node.buffer = await context.decodeAudioData(await answer.arrayBuffer());
    node.connect(context.destination);
    node.start();
  } catch {
    tone(context);
  }
}

function tone(context: AudioContext) {
  const [wave, loudness] = [context.createOscillator(), context.createGain()];
  wave.frequency.value = 660;
  loudness.gain.setValueAtTime(0.15, context.currentTime);
  loudness.gain.exponentialRampToValueAtTime(0.001, context.currentTime + 0.4);
  wave.connect(loudness).connect(context.destination);
  wave.start();
  wave.stop(context.currentTime + 0.4);
}
