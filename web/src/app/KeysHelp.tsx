import { Dialog } from "../ui/Dialog";

export function KeysHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <p>Not here yet.</p>
    </Dialog>
  );
}
