import { useState, type ReactNode } from "react";
import { Button } from "./button.tsx";
import { ConfirmByName } from "./dialog.tsx";

interface DeleteProps {
  /** Text of the button and title of the dialog. */
  readonly label: string;
  /** What will happen, and that it cannot be undone. */
  readonly children: ReactNode;
  /** What the person types. */
  readonly name: string;
  readonly action: string;
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly onConfirm: () => void;
}

/** A button for what cannot be undone; it asks for the name first. The dialog closes when what it deletes is gone. */
export function DeleteButton({ label, children, name, action, isPending, error, onConfirm }: DeleteProps) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button kind="danger" onClick={() => setIsOpen(true)}>
        {label}
      </Button>
      <ConfirmByName
        title={label}
        name={name}
        action={action}
        isOpen={isOpen}
        isPending={isPending}
        error={error}
        onConfirm={onConfirm}
        onClose={() => setIsOpen(false)}
      >
        {children}
      </ConfirmByName>
    </>
  );
}
