import { Head } from "../ui/Head";

export function AttemptPage({ id }: { id: string }) {
  return <Head title={id} />;
}
