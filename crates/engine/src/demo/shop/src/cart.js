// What a customer wants to buy.
import { findProduct } from "./catalog.js";

const carts = new Map();

export function cartOf(customer) {
  return carts.get(customer) ?? { items: [] };
}

export function addToCart(customer, product, count = 1) {
  const cart = cartOf(customer);
  const item = cart.items.find((one) => one.product === product);
  if (item) {
    item.count += count;
  } else {
    cart.items.push({ product: findProduct(product).id, count });
  }
  carts.set(customer, cart);
  return cart;
}

export function totalOf(cart) {
  let total = 0;
  for (const item of cart.items) {
    total += findProduct(item.product).price * item.count;
  }
  return total;
}

export function emptyCart(customer) {
  carts.delete(customer);
}
