import { Dialog } from "../ui/Dialog";

export function StartDialog({ onClose }: { task: string; onClose: () => void }) {
  return (
    <Dialog title="Start" onClose={onClose}>
      <p>Not here yet.</p>
    </Dialog>
  );
}
