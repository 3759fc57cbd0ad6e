import assert from "node:assert/strict";
import { test } from "node:test";
import { addToCart, cartOf, emptyCart, totalOf } from "../src/cart.js";

test("the same product twice is one item", () => {
  addToCart("ada", "tea");
  addToCart("ada", "tea", 2);
  assert.deepEqual(cartOf("ada").items, [{ product: "tea", count: 3 }]);
  assert.equal(totalOf(cartOf("ada")), 2070);
  emptyCart("ada");
});
