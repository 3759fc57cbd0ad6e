// What was bought.
import { cartOf, emptyCart, totalOf } from "./cart.js";
import { vatOf } from "./old-tax.js";

const orders = [];

export function placeOrder(customer) {
  const cart = cartOf(customer);
  if (cart.items.length === 0) throw new Error("the cart is empty");
  const total = totalOf(cart);
  const order = { number: orders.length + 1, customer, items: cart.items, total, tax: vatOf(total) };
  orders.push(order);
  emptyCart(customer);
  return order;
}
