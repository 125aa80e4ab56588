import type { ReactNode } from "react";
import { errorTextOf } from "../../client/error-text.ts";
import type { Warning } from "../../client/generated/operations.ts";
import { Button } from "./button.tsx";
import { text } from "./strings.ts";

interface EmptyProps {
  readonly title: string;
  /** What to do next. */
  readonly children?: ReactNode;
}

export function EmptyState({ title, children }: EmptyProps) {
  return (
    <div className="flex flex-col items-start gap-3 rounded-lg border border-dashed border-line p-1 min-[20rem]:p-6">
      <p className="font-medium">{title}</p>
      {children}
    </div>
  );
}

interface ErrorProps {
  readonly error: Error;
  readonly title?: string;
  readonly retry?: () => void;
}

/** An error with the lines of its cause: the stack of a hook, or the code around a mistake. */
export function ErrorNotice({ error, title = text.failed, retry }: ErrorProps) {
  const { message, lines } = errorTextOf(error);
  return (
    <div role="alert" className="flex flex-col items-start gap-2 rounded-lg bg-bad-soft p-1 min-[20rem]:p-4 text-sm">
      <p className="font-medium text-bad">{title}</p>
      <p className="whitespace-pre-wrap">{message}</p>
      {lines.length > 0 && (
        <pre className="max-w-full overflow-x-auto rounded-md bg-page p-3 text-xs" tabIndex={0}>
          {lines.join("\n")}
        </pre>
      )}
      {retry !== undefined && <Button onClick={retry}>{text.retry}</Button>}
    </div>
  );
}

/** Probable mistakes that the API reports beside data; nothing without any. */
export function WarningNotice({ warnings }: { readonly warnings: readonly Warning[] | undefined }) {
  if (warnings === undefined || warnings.length === 0) return null;
  return (
    <div role="status" className="flex flex-col gap-2 rounded-lg border border-line p-1 text-sm min-[20rem]:p-4">
      <p className="font-medium text-warn">{text.warnings(warnings.length)}</p>
      <ul className="flex flex-col gap-1">
        {warnings.map(({ path, message }) => (
          <li key={`${path} ${message}`}>
            <bdi className="font-mono text-xs">{path}</bdi> <bdi>{message}</bdi>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Says that unsaved changes of an earlier visit are shown. */
export function RestoredNotice({ discard }: { readonly discard: () => void }) {
  return (
    <div role="status" className="flex flex-wrap items-center gap-2 text-sm text-warn">
      {text.unsaved}
      <Button onClick={discard}>{text.discard}</Button>
    </div>
  );
}

export function Loading() {
  return (
    <p role="status" className="text-sm text-muted">
      {text.loading}
    </p>
  );
}

interface LoadedProps {
  readonly isLoading: boolean;
  readonly error: Error | null;
  readonly retry?: () => void;
  readonly children: ReactNode;
}

/** Shows its content once it is loaded, and before that the state of loading. */
export function Loaded({ isLoading, error, retry, children }: LoadedProps) {
  if (error !== null) return <ErrorNotice error={error} {...(retry === undefined ? {} : { retry })} />;
  return isLoading ? <Loading /> : children;
}
