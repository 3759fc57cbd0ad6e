// How an attempt stands to its target branch, and the next step of landing it.

export function LandingStrip({ attempt }: { attempt: string }) {
  return <section aria-label="Landing" data-attempt={attempt} />;
}
