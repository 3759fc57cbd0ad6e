// Where the newest entries of an attempt are asked for, or those around one of them.

export const PAGE = 200;

export function entriesOf(attempt: string, around?: string | null) {
  const place = around ? `around=${encodeURIComponent(around)}&` : "";
  return `/task-attempts/${attempt}/entries?${place}limit=${PAGE}`;
}
