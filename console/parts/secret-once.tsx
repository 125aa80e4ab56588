import { CopyButton } from "./copy-button.tsx";

/** A secret that the server shows only now. */
export function SecretOnce({ note, label, secret }: { readonly note: string; readonly label: string; readonly secret: string }) {
  return (
    <div role="status" className="flex min-w-0 flex-col gap-2 text-sm">
      <p>{note}</p>
      <p className="flex min-w-0 items-center gap-2 rounded-md bg-page p-3">
        <code className="min-w-0 font-mono text-xs">{secret}</code>
        <CopyButton value={secret} label={label} />
      </p>
    </div>
  );
}
