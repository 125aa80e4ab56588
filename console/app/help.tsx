import { Dialog } from "../parts/dialog.tsx";
import { text } from "./strings.ts";

export default function Help({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title={text.help} isOpen onClose={onClose}>
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-4 gap-y-2 text-sm">
        {text.shortcuts.map(([keys, does]) => (
          <div key={keys} className="contents">
            <dt>
              <kbd className="rounded border border-line px-1.5 font-mono text-xs">{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
