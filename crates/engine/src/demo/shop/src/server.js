// The HTTP API of the shop.
import { createServer } from "node:http";
import { addToCart, cartOf, totalOf } from "./cart.js";
import { products } from "./catalog.js";
import { placeOrder } from "./orders.js";
import { formatPrice } from "./prices.js";
import { texts } from "./texts.js";

const routes = {
  "GET /products": () => products.map((one) => ({ ...one, price: formatPrice(one.price) })),
  "GET /cart": (call) => cartOf(call.customer),
  "POST /cart": (call) => addToCart(call.customer, call.body.product, call.body.count),
  "GET /cart/total": (call) => ({ total: formatPrice(totalOf(cartOf(call.customer))) }),
  "POST /orders": (call) => placeOrder(call.customer),
};

async function bodyOf(request) {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text === "" ? {} : JSON.parse(text);
}

const server = createServer(async (request, response) => {
  const route = routes[`${request.method} ${request.url}`];
  if (!route) {
    response.writeHead(404).end(texts.notFound);
    return;
  }
  const customer = request.headers["x-customer"] ?? "guest";
  const answer = route({ customer, body: await bodyOf(request) });
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
});

server.listen(process.env.PORT ?? 3000, "127.0.0.1");
