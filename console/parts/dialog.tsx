import { Dialog as Base } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import { useState, type FormEvent, type ReactNode } from "react";
import { Button } from "./button.tsx";
import { TextField } from "./field.tsx";
import { ErrorNotice } from "./notices.tsx";
import { text } from "./strings.ts";

interface DialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  readonly children: ReactNode;
}

/** A dialog over the page. Escape, the button and a click outside close it. */
export function Dialog({ title, isOpen, onClose, isWide = false, children }: DialogProps) {
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-shade" />
        <Base.Popup
          className={`fixed top-1/2 left-1/2 z-50 flex max-h-[90dvh] w-[calc(100%-1rem)] -translate-x-1/2 -translate-y-1/2 flex-col gap-4 overflow-auto rounded-lg border border-line bg-raised p-5 ${isWide ? "max-w-5xl" : "max-w-lg"}`}
        >
          <div className="flex items-start gap-2">
            <Base.Title className="min-w-0 flex-1 text-base font-semibold">{title}</Base.Title>
            <Base.Close
              aria-label={text.close}
              className="inline-flex size-8 items-center justify-center rounded text-muted hover:bg-accent-soft"
            >
              <X aria-hidden className="size-4" />
            </Base.Close>
          </div>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

interface ConfirmProps {
  readonly title: string;
  /** What will happen, and that it cannot be undone. */
  readonly children: ReactNode;
  /** What the person types. */
  readonly name: string;
  readonly action: string;
  readonly isOpen: boolean;
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Confirms what cannot be undone: the person types the name of what it changes. */
export function ConfirmByName({ title, children, name, action, isOpen, isPending, error, onConfirm, onClose }: ConfirmProps) {
  const [typed, setTyped] = useState("");
  const close = (): void => {
    setTyped("");
    onClose();
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (typed === name) onConfirm();
  };
  return (
    <Dialog title={title} isOpen={isOpen} onClose={close}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <div className="text-sm">{children}</div>
        <TextField label={text.typeToConfirm(name)} value={typed} onChange={(event) => setTyped(event.target.value)} autoFocus />
        {error !== null && <ErrorNotice error={error} title={title} />}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>{text.cancel}</Button>
          <Button kind="danger" type="submit" disabled={typed !== name || isPending}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
