// Says something to whoever listens rather than looks, through the one polite region of the page.

/** Says it at once. */
export function announce(text: string) {
  const region = document.getElementById("announcements");
  if (region) region.textContent = text;
}
