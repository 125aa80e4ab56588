import { useEffect, type ReactNode } from "react";

interface PageProps {
  readonly title: string;
  /** Beside the title: a state, an id. */
  readonly note?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** The frame of a page: its title, which is also the document's, and its actions. */
export function Page({ title, note, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Headwater`;
  }, [title]);
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <header className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <h1 className="min-w-0 text-xl font-semibold">{title}</h1>
        {note}
        <div className="ml-auto flex flex-wrap gap-2">{actions}</div>
      </header>
      {children}
    </div>
  );
}

interface SectionProps {
  readonly title: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A titled box of a page. */
export function Section({ title, actions, children }: SectionProps) {
  return (
    <section aria-label={title} className="flex min-w-0 flex-col gap-3 rounded-lg border border-line bg-surface p-1 min-[20rem]:p-4">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="text-base font-semibold">{title}</h2>
        <div className="ml-auto flex flex-wrap gap-2">{actions}</div>
      </div>
      {children}
    </section>
  );
}

/** Name and value pairs. */
export function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,14rem),1fr))] gap-3 text-sm">
      {facts.map(([name, value]) => (
        <div key={name} className="min-w-0">
          <dt className="text-muted">{name}</dt>
          <dd className="min-w-0">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
