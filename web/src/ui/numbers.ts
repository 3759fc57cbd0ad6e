// Numbers as the board writes them: short, with the exact one for whoever asks.

/** `812`, `12.4k`, `3.1M`. */
export function compact(count: number): string {
  if (count < 1000) return String(count);
  if (count < 1_000_000) return `${trim(count / 1000)}k`;
  return `${trim(count / 1_000_000)}M`;
}

/** Millionths of a dollar as `$0.18`. */
export function money(micros: number): string {
  const dollars = micros / 1_000_000;
  return dollars > 0 && dollars < 0.01 ? "<$0.01" : `$${dollars.toFixed(2)}`;
}

/** `3.2 GB`. */
export function bytes(count: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let value = count;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : trim(value)} ${units[unit]}`;
}

/** `12,345`, without asking for a locale. */
export const grouped = (count: number) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");

/** `1 task`, `3 tasks`. */
export const counted = (count: number, word: string, words = `${word}s`) =>
  `${grouped(count)} ${count === 1 ? word : words}`;

const trim = (value: number) => value.toFixed(value < 100 ? 1 : 0).replace(/\.0$/, "");
