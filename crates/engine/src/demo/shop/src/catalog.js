// What is for sale. Prices are in cents.
export const products = [
  { id: "tea", name: "Green tea, 100 g", price: 690 },
  { id: "mug", name: "Mug with a bird on it", price: 1250 },
  { id: "pot", name: "Cast-iron teapot", price: 4900 },
  { id: "tin", name: "Tin for tea", price: 820 },
];

export function findProduct(id) {
  const product = products.find((one) => one.id === id);
  if (!product) throw new Error(`there is no product ${id}`);
  return product;
}
