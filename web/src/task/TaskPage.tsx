import { Head } from "../ui/Head";

export function TaskPage({ id }: { id: string }) {
  return <Head title={id} />;
}
