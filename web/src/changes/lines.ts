// Which lines of a text stayed, went and came. Pure; bounded in time: what differs too much counts as replaced.

export type Edit =
  /** `count` lines that both sides have. */
  | { kind: "same"; old: number; new: number; count: number }
  /** Lines `old … old + gone` went and lines `new … new + came` came in their place. Counted from 0. */
  | { kind: "change"; old: number; new: number; gone: number; came: number };

/** The lines of a file; one final line end is no further line. */
export function linesOf(text: string | null): string[] {
  if (!text) return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Compares two lists of lines. `key` says what counts as equal, such as a line without its whitespace. */
export function compare(
  before: readonly string[],
  after: readonly string[],
  key: (line: string) => string = (line) => line,
): Edit[] {
  const numbers = new Map<string, number>();
  const number = (line: string) => {
    const k = key(line);
    let n = numbers.get(k);
    if (n === undefined) {
      n = numbers.size;
      numbers.set(k, n);
    }
    return n;
  };
  const a = Int32Array.from(before, number);
  const b = Int32Array.from(after, number);
  const edits: Edit[] = [];
  part(a, 0, a.length, b, 0, b.length, edits);
  return edits;
}

/** A line without what `w` hides: blanks at its ends, and how many stand between words. */
export const withoutSpace = (line: string) => line.trim().replace(/\s+/g, " ");

function part(a: Int32Array, a0: number, a1: number, b: Int32Array, b0: number, b1: number, out: Edit[]) {
  let head = 0;
  while (a0 + head < a1 && b0 + head < b1 && a[a0 + head] === b[b0 + head]) head += 1;
  same(out, a0, b0, head);
  a0 += head;
  b0 += head;
  let tail = 0;
  while (a1 - tail > a0 && b1 - tail > b0 && a[a1 - tail - 1] === b[b1 - tail - 1]) tail += 1;
  a1 -= tail;
  b1 -= tail;
  if (a0 < a1 && b0 < b1) {
    const pins = a1 - a0 + (b1 - b0) > 200 ? pinned(a, a0, a1, b, b0, b1) : [];
    if (pins.length > 0) {
      let [x, y] = [a0, b0];
      for (const [i, j] of pins) {
        part(a, x, i, b, y, j, out);
        same(out, i, j, 1);
        x = i + 1;
        y = j + 1;
      }
      part(a, x, a1, b, y, b1, out);
    } else shortest(a, a0, a1, b, b0, b1, out);
  } else change(out, a0, b0, a1 - a0, b1 - b0);
  same(out, a1, b1, tail);
}

// Lines that stand exactly once on each side hold a long comparison together (patience): the longest run of them that
// is in the same order on both.
function pinned(a: Int32Array, a0: number, a1: number, b: Int32Array, b0: number, b1: number) {
  const seen = new Map<number, { i: number; j: number; inA: number; inB: number }>();
  for (let i = a0; i < a1; i += 1) {
    const known = seen.get(a[i] as number);
    if (known) known.inA += 1;
    else seen.set(a[i] as number, { i, j: -1, inA: 1, inB: 0 });
  }
  for (let j = b0; j < b1; j += 1) {
    const known = seen.get(b[j] as number);
    if (!known) continue;
    known.inB += 1;
    known.j = j;
  }
  const once = [...seen.values()].filter((it) => it.inA === 1 && it.inB === 1);
  const piles: number[] = [];
  const before = new Int32Array(once.length).fill(-1);
  for (let n = 0; n < once.length; n += 1) {
    const j = once[n]?.j ?? 0;
    let [low, high] = [0, piles.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((once[piles[middle] as number]?.j ?? 0) < j) low = middle + 1;
      else high = middle;
    }
    before[n] = low > 0 ? (piles[low - 1] as number) : -1;
    piles[low] = n;
  }
  const found: Array<[number, number]> = [];
  for (let n = piles.at(-1) ?? -1; n >= 0; n = before[n] as number) {
    const pin = once[n];
    if (pin) found.push([pin.i, pin.j]);
  }
  return found.reverse();
}

/** More differences than this in one stretch, and all of it counts as replaced. */
const MOST = 800;

// The shortest way from one side to the other (Myers, 1986), with the trace kept to walk back.
function shortest(a: Int32Array, a0: number, a1: number, b: Int32Array, b0: number, b1: number, out: Edit[]) {
  const [n, m] = [a1 - a0, b1 - b0];
  const most = Math.min(n + m, MOST);
  const at = new Int32Array(2 * most + 3);
  const trace: Int32Array[] = [];
  for (let d = 0; d <= most; d += 1) {
    trace.push(at.slice(most + 1 - d - 1, most + 1 + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const here = most + 1 + k;
      const isDown = k === -d || (k !== d && (at[here - 1] as number) < (at[here + 1] as number));
      let x = isDown ? (at[here + 1] as number) : (at[here - 1] as number) + 1;
      let y = x - k;
      while (x < n && y < m && a[a0 + x] === b[b0 + y]) {
        x += 1;
        y += 1;
      }
      at[here] = x;
      if (x >= n && y >= m) {
        walk(trace, d, n, m, a0, b0, out);
        return;
      }
    }
  }
  change(out, a0, b0, n, m);
}

function walk(
  trace: readonly Int32Array[],
  d: number,
  n: number,
  m: number,
  a0: number,
  b0: number,
  out: Edit[],
) {
  const steps: Array<[x: number, y: number, isSame: boolean, isDown: boolean]> = [];
  let [x, y] = [n, m];
  for (let depth = d; depth > 0; depth -= 1) {
    const row = trace[depth] as Int32Array;
    const k = x - y;
    const get = (diagonal: number) => row[diagonal + depth + 1] as number;
    const isDown = k === -depth || (k !== depth && get(k - 1) < get(k + 1));
    const fromK = isDown ? k + 1 : k - 1;
    const fromX = get(fromK);
    const fromY = fromX - fromK;
    // After its one step sideways or down, a way only follows lines that are equal.
    const begun = isDown ? fromX : fromX + 1;
    while (x > begun) {
      x -= 1;
      y -= 1;
      steps.push([x, y, true, false]);
    }
    steps.push([fromX, fromY, false, isDown]);
    x = fromX;
    y = fromY;
  }
  while (x > 0 && y > 0) {
    x -= 1;
    y -= 1;
    steps.push([x, y, true, false]);
  }
  for (const [i, j, isSame, isDown] of steps.reverse()) {
    if (isSame) same(out, a0 + i, b0 + j, 1);
    else change(out, a0 + i, b0 + j, isDown ? 0 : 1, isDown ? 1 : 0);
  }
}

function same(out: Edit[], old: number, now: number, count: number) {
  if (count === 0) return;
  const last = out.at(-1);
  if (last?.kind === "same" && last.old + last.count === old && last.new + last.count === now)
    last.count += count;
  else out.push({ kind: "same", old, new: now, count });
}

function change(out: Edit[], old: number, now: number, gone: number, came: number) {
  if (gone + came === 0) return;
  const last = out.at(-1);
  if (last?.kind === "change") {
    last.gone += gone;
    last.came += came;
  } else out.push({ kind: "change", old, new: now, gone, came });
}
