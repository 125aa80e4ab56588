import { Dialog } from "../../parts/dialog.tsx";
import { EventDetails } from "./event-details.tsx";
import { text } from "./strings.ts";

/** An event with everything that happened to it. */
export function EventDialog({ source, id, onClose }: { readonly source: string; readonly id: string; readonly onClose: () => void }) {
  return (
    <Dialog title={text.event} isOpen onClose={onClose} isWide>
      <EventDetails source={source} id={id} />
    </Dialog>
  );
}
