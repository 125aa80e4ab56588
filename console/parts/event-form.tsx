import { useState, type FormEvent, type ReactNode } from "react";
import { Button } from "./button.tsx";
import { TextArea } from "./field.tsx";
import { ErrorNotice } from "./notices.tsx";
import { text } from "./strings.ts";

interface EventFormProps {
  readonly hint: string;
  readonly typed: string;
  readonly onType: (typed: string) => void;
  readonly rows?: number;
  /** Nothing typed is a mistake; default: then there is no event. */
  readonly isRequired?: boolean;
  /** @param event undefined: nothing was typed */
  readonly onSubmit: (event: unknown) => void;
  readonly isPending: boolean;
  readonly error: Error | null;
  /** Fields above that of the event, and below it. */
  readonly above?: ReactNode;
  readonly children?: ReactNode;
}

/** Starts something with an event, typed as JSON. */
export function EventForm({
  hint,
  typed,
  onType,
  rows = 8,
  isRequired = false,
  onSubmit,
  isPending,
  error,
  above,
  children,
}: EventFormProps) {
  const [isInvalid, setIsInvalid] = useState(false);
  const submit = (submitted: FormEvent): void => {
    submitted.preventDefault();
    let event: unknown;
    try {
      event = typed.trim() === "" && !isRequired ? undefined : JSON.parse(typed);
    } catch {
      return setIsInvalid(true);
    }
    setIsInvalid(false);
    onSubmit(event);
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      {above}
      <TextArea
        label={text.event}
        hint={hint}
        error={isInvalid ? text.invalidJson : undefined}
        rows={rows}
        value={typed}
        onChange={(changed) => onType(changed.target.value)}
      />
      {children}
      {error !== null && <ErrorNotice title={text.runFailed} error={error} />}
      <Button kind="primary" type="submit" className="self-start" disabled={isPending}>
        {isPending ? text.starting : text.start}
      </Button>
    </form>
  );
}
