// What the shop says.
export const texts = {
  welcome: "Welcome to the tea shop",
  cart: "Your cart",
  empty: "There is nothing in it yet",
  order: "Order now",
  thanks: "Thank you for your order",
  notFound: "There is no such page",
};
