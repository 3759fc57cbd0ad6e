// When "later" is.

export type Later = { words: string; until: Date | null };

/** What "later" can mean at a time; without a time it is when something changes. */
export function latersAt(now: Date): Later[] {
  const at = (days: number, hour: number) => {
    const time = new Date(now);
    time.setDate(time.getDate() + days);
    time.setHours(hour, 0, 0, 0);
    return time;
  };
  const choices: Later[] = [{ words: "In an hour", until: new Date(now.getTime() + 3_600_000) }];
  // An evening that has come is no later.
  if (now.getHours() < 17) choices.push({ words: "This evening", until: at(0, 18) });
  choices.push({ words: "Tomorrow", until: at(1, 9) });
  choices.push({ words: "When it changes", until: null });
  return choices;
}
