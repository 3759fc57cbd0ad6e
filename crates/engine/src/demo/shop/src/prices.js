// Amounts of money, as people read them.
export function formatPrice(amount) {
  return "$" + amount / 100;
}
