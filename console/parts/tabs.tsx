import { useSearchParams } from "./search.ts";

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly (readonly [id: string, label: string])[];
  readonly current: string;
}

/** Views of a page. The current one is in the address, as `tab`, so that links to it can be shared. */
export function Tabs({ label, tabs, current }: TabsProps) {
  const [, setSearch] = useSearchParams();
  return (
    <nav aria-label={label} className="flex max-w-full flex-wrap gap-1 border-b border-line">
      {tabs.map(([id, name], index) => (
        <a
          key={id}
          href={index === 0 ? "?" : `?tab=${id}`}
          aria-current={id === current ? "page" : undefined}
          onClick={(event) => {
            if (event.metaKey || event.ctrlKey) return;
            event.preventDefault();
            setSearch({ tab: index === 0 ? undefined : id }, { keepsOthers: false });
          }}
          className={`-mb-px border-b-2 px-1 py-1.5 min-[12rem]:px-3 text-sm no-underline ${id === current ? "border-accent font-medium text-text" : "border-transparent text-muted hover:text-text"}`}
        >
          {name}
        </a>
      ))}
    </nav>
  );
}
