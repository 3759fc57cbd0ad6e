import { Head } from "../ui/Head";

export function BoardPage({ project }: { project: string | null }) {
  return <Head title={project ?? "All projects"} />;
}
