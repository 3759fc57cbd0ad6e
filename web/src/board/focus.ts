// Where the focus goes from a card: up and down in its column, sideways to the same height in the next one that has any.

export type Way = "up" | "down" | "left" | "right" | "first" | "last";

/** The card in that way, or the same one at an end. `columns` are those that are shown, from left to right. */
export function neighbour(
  columns: ReadonlyArray<readonly string[]>,
  from: string | null,
  way: Way,
): string | null {
  const filled = columns.filter((column) => column.length > 0);
  const at = filled.findIndex((column) => from !== null && column.includes(from));
  const column = filled[at];
  if (!column || from === null) return filled[0]?.[0] ?? null;
  const row = column.indexOf(from);
  const pick = (list: readonly string[], index: number) =>
    list[Math.max(0, Math.min(index, list.length - 1))] ?? from;
  switch (way) {
    case "up":
      return pick(column, row - 1);
    case "down":
      return pick(column, row + 1);
    case "first":
      return pick(column, 0);
    case "last":
      return pick(column, column.length - 1);
    case "left":
      return pick(filled[Math.max(0, at - 1)] ?? column, row);
    case "right":
      return pick(filled[Math.min(filled.length - 1, at + 1)] ?? column, row);
  }
}

/** Where the focus goes when a card leaves: to the one below, else the one above. */
export function afterLeaving(columns: ReadonlyArray<readonly string[]>, id: string): string | null {
  const column = columns.find((list) => list.includes(id));
  if (!column) return null;
  const at = column.indexOf(id);
  return column[at + 1] ?? column[at - 1] ?? null;
}
