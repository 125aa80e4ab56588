import { useState } from "react";
import { useRead } from "../../api/queries.ts";
import { useSearchParams } from "../../parts/search.ts";
import { Button } from "../../parts/button.tsx";
import { EmptyState, Loaded } from "../../parts/notices.tsx";
import { Section } from "../../parts/page.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { DeployForm } from "./deploy-form.tsx";
import { text } from "./strings.ts";

/** Sources of the registry; the chosen one is in the address. */
export function FromTemplate() {
  const [{ key }, setSearch] = useSearchParams();
  const [search, setSearchText] = useState("");
  const registry = useRead("listRegistry", {});
  const sources = registry.data?.data.filter(({ type }) => type === "source") ?? [];
  const chosen = sources.find((component) => component.key === key);
  const matching = sources.filter(({ name, description }) => `${name} ${description ?? ""}`.toLowerCase().includes(search.toLowerCase()));
  return (
    <Loaded isLoading={registry.isPending} error={registry.error}>
      {chosen !== undefined ? (
        <Section title={chosen.name} actions={<Button onClick={() => setSearch({ key: undefined })}>{text.change}</Button>}>
          <p className="text-sm text-muted">{chosen.description}</p>
          <DeployForm what={{ key: chosen.key ?? "" }} props={chosen.configurable_props} owner={{ component: chosen.key ?? "" }} />
        </Section>
      ) : (
        <>
          <SearchField label={text.search} value={search} onChange={setSearchText} />
          {matching.length === 0 && <EmptyState title={text.noTemplate} />}
          <ul className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,18rem),1fr))] gap-3">
            {matching.map(({ id, key: each, name, description }) => (
              <li key={id} className="flex min-w-0 flex-col gap-2 rounded-lg border border-line bg-surface p-4">
                <h2 className="font-semibold">{name}</h2>
                <p className="flex-1 text-sm text-muted">{description}</p>
                <Button className="self-start" aria-label={`${text.choose}: ${name}`} onClick={() => setSearch({ key: each ?? undefined })}>
                  {text.choose}
                </Button>
              </li>
            ))}
          </ul>
        </>
      )}
    </Loaded>
  );
}
