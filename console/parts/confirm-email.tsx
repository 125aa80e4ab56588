import { showToast } from "./toasts.tsx";
import { Button } from "./button.tsx";
import { ErrorNotice } from "./notices.tsx";
import { text } from "./strings.ts";

interface ConfirmEmailProps {
  readonly email: string;
  readonly isPending: boolean;
  readonly error: Error | null;
  /** Has a link mailed. */
  readonly onRequest: () => void;
}

/** Shown while an address is not confirmed. */
export function ConfirmEmail({ email, isPending, error, onRequest }: ConfirmEmailProps) {
  return (
    <div className="flex flex-wrap items-center gap-2">
      <span className="text-sm">{text.emailUnconfirmed}</span>
      <Button disabled={isPending} aria-label={`${text.sendLink}: ${email}`} onClick={onRequest}>
        {text.sendLink}
      </Button>
      {error !== null && <ErrorNotice title={text.linkNotSent} error={error} />}
    </div>
  );
}

/** The answer to a request for a link. */
export function showLinkSent({ email, email_confirmed: isConfirmed }: { readonly email: string; readonly email_confirmed: boolean }): void {
  showToast(isConfirmed ? text.emailConfirmed(email) : text.linkSent(email));
}
