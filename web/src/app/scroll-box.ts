// Whether Home and End scroll what the person is in: a diff, a raw log, the output of a command. The conversation is no
// such box, as it goes to its own beginning and end, of which it may hold neither.

export function isInOwnBox(focused: HTMLElement): boolean {
  for (let box: HTMLElement | null = focused; box; box = box.parentElement) {
    // A column or a list that cannot have the focus itself leaves these keys to its cards.
    const canBeIn = box === focused || box.tabIndex >= 0;
    if (canBeIn && doesScroll(box)) return box.id !== "log";
  }
  return false;
}

const doesScroll = (box: HTMLElement) =>
  box.scrollHeight > box.clientHeight && /auto|scroll/.test(getComputedStyle(box).overflowY);
