// The attempt's dev server: started, stopped, its log, and its page in a frame that can reach nothing of the board.

export function Preview({ attempt }: { attempt: string }) {
  return <div data-attempt={attempt} />;
}
