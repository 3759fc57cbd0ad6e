import { Dialog } from "../ui/Dialog";

export function Palette({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Commands" onClose={onClose}>
      <p>Not here yet.</p>
    </Dialog>
  );
}
