import { Head } from "../ui/Head";

export function SettingsPage({ section }: { section: string }) {
  return <Head title={section} />;
}
