// The tax that is in an amount. From the time when there was one rate for everything.
const RATE = 0.19;

export function vatOf(amount) {
  return Math.round(amount - amount / (1 + RATE));
}
