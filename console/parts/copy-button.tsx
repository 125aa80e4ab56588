import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { text } from "./strings.ts";

const shownMs = 2_000;

/** Copies a text; `label` says what it is. */
export function CopyButton({ value, label }: { readonly value: string; readonly label: string }) {
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setIsCopied(false), shownMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = (): void => {
    // Without permission nothing is copied, and the button does not claim it.
    navigator.clipboard.writeText(value).then(
      () => setIsCopied(true),
      () => undefined,
    );
  };
  return (
    <button
      type="button"
      onClick={copy}
      aria-label={`${isCopied ? text.copied : text.copy}: ${label}`}
      title={text.copy}
      className="inline-flex size-6 items-center justify-center rounded text-muted hover:bg-accent-soft hover:text-text"
    >
      {isCopied ? <Check aria-hidden className="size-4" /> : <Copy aria-hidden className="size-4" />}
    </button>
  );
}

/** An id with its copy button. */
export function Id({ id }: { readonly id: string }) {
  return (
    <span className="inline-flex min-w-0 items-center gap-1">
      <code className="min-w-0 font-mono text-xs">{id}</code>
      <CopyButton value={id} label={id} />
    </span>
  );
}
