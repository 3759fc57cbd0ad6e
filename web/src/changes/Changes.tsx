// What an attempt has changed: its files, and each file's lines with the person's comments.

export function Changes({ attempt }: { attempt: string }) {
  return <div data-attempt={attempt} />;
}
