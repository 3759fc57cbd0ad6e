import { Head } from "../ui/Head";

export function ComparePage({ task }: { task: string }) {
  return <Head title={task} />;
}
