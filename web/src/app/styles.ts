// The style sheets of parts of the board that came later. One that could not be loaded, because the server was away, is
// never asked for again by the loader, so it is asked for here.

const failed = new Set<HTMLLinkElement>();

/** Begins to note which style sheets fail; called once, by `main.ts`. */
export function watchStyles() {
  const note = ({ target }: Event) => {
    if (target instanceof HTMLLinkElement && target.rel === "stylesheet") failed.add(target);
  };
  // Errors of links do not bubble.
  addEventListener("error", note, true);
}

/** Loads the style sheets that failed once more. */
export async function mendStyles(): Promise<void> {
  const again = [...failed].map(async (link) => {
    failed.delete(link);
    if (!link.isConnected) return;
    const fresh = link.cloneNode() as HTMLLinkElement;
    await new Promise<void>((resolve, reject) => {
      fresh.onload = () => resolve();
      fresh.onerror = () => reject(new Error(`the style sheet ${link.href} could not be loaded`));
      link.replaceWith(fresh);
    });
  });
  await Promise.all(again);
}
