import { Head } from "../ui/Head";

export function InboxPage() {
  return <Head title="Inbox" />;
}
