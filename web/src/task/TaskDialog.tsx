import { Dialog } from "../ui/Dialog";

export function TaskDialog({
  onClose,
}: {
  project: string | null;
  task?: string;
  copy?: string;
  parent?: string;
  onClose: () => void;
}) {
  return (
    <Dialog title="New task" onClose={onClose}>
      <p>Not here yet.</p>
    </Dialog>
  );
}
