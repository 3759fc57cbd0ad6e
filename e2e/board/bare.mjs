// A list that shows only what is seen, and nothing else: the least that scrolling can cost. Its rows are copies of those
// of the list that it stands beside, without what makes them live.

/** Of how many elements a list is made, how high it is, and what one row of it looks like. */
export async function shapeOf(list, rows) {
  const { height } = await list.boundingBox();
  const boxes = await Promise.all([0, 1].map((at) => rows.nth(at).boundingBox()));
  const row = await rows.first().evaluate((element) => element.outerHTML);
  return { height, pitch: Math.round(boxes[1].y - boxes[0].y), row };
}

/** Fills the page with such a list of many rows. */
export async function fillBare(page, shape, count) {
  await page.setContent(`<!doctype html><title>bare</title><style>#list{overflow:auto;position:relative}
#list>div{position:relative}#list>div>div{position:absolute;left:0;right:0}</style><div id="list"><div></div></div>`);
  await page.evaluate(({ height, pitch, row, count }) => {
    const list = document.getElementById('list');
    const inner = list.firstElementChild;
    const copy = document.createElement('div');
    copy.innerHTML = row;
    list.style.height = `${height}px`;
    inner.style.height = `${count * pitch}px`;
    const spare = 4;
    const draw = () => {
      const first = Math.max(0, Math.floor(list.scrollTop / pitch) - spare);
      const last = Math.min(count, Math.ceil((list.scrollTop + height) / pitch) + spare);
      const rows = [];
      for (let at = first; at < last; at += 1) {
        const one = copy.cloneNode(true);
        one.style.top = `${at * pitch}px`;
        one.style.height = `${pitch}px`;
        rows.push(one);
      }
      inner.replaceChildren(...rows);
    };
    list.addEventListener('scroll', draw);
    draw();
  }, { ...shape, count });
  return page.locator('#list');
}
