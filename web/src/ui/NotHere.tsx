// The page of an address that leads to nothing.

import { Head } from "./Head";
import { Empty } from "./Nothing";

export function NotHere() {
  return (
    <>
      <Head title="Nothing here" />
      <Empty action={<a href="/">Board</a>}>There is nothing here. It may have been deleted.</Empty>
    </>
  );
}
