import { Dialog } from "../../parts/dialog.tsx";
import { EventDetails } from "./event-details.tsx";
import { text } from "./strings.ts";

/** An event with everything that happened to it. */
export function EventDialog({ onClose, ...event }: Parameters<typeof EventDetails>[0] & { readonly onClose: () => void }) {
  return (
    <Dialog title={text.event} isOpen onClose={onClose} isWide>
      <EventDetails {...event} />
    </Dialog>
  );
}
