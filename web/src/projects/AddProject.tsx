import { Dialog } from "../ui/Dialog";

export function AddProject({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Add a project" onClose={onClose}>
      <p>Not here yet.</p>
    </Dialog>
  );
}
