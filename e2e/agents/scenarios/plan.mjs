// A plan: the agent shows one before it changes anything.

export const name = "plan";
export const title = "a plan";

export async function play(cell) {
  await cell.cli.plan(cell);
}
