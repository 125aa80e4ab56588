import { useState } from "react";
import type { Connector } from "../../../client/generated/operations.ts";
import { useList, useRead } from "../../api/queries.ts";
import { Button } from "../button.tsx";
import { EmptyState, ErrorNotice, Loading } from "../notices.tsx";
import { Mark } from "../marks/mark.tsx";
import { SearchField } from "../search-field.tsx";
import { useOwnerQuery } from "../session-context.tsx";
import { text } from "./strings.ts";

/** A component of the catalogue, as requests name it. `key`: of the registry. */
export type Choice = { readonly key: string } | { readonly id: string } | { readonly url: string };

interface CatalogueProps {
  readonly type: "source" | "action";
  readonly onChoose: (choice: Choice) => void;
}

/** Connectors, the registry and saved components, with one search. */
export function Catalogue({ type, onChoose }: CatalogueProps) {
  const [search, setSearch] = useState("");
  const [opened, setOpened] = useState<string>();
  if (opened !== undefined)
    return (
      <div className="flex flex-col gap-3">
        <Button className="self-start" onClick={() => setOpened(undefined)}>
          {text.back}
        </Button>
        <PackageMembers name={opened} type={type} onChoose={onChoose} />
      </div>
    );
  return (
    <div className="flex flex-col gap-4">
      <SearchField label={text.search[type]} value={search} onChange={setSearch} />
      <Found search={search} type={type} onChoose={onChoose} onOpen={setOpened} />
    </div>
  );
}

interface Entry {
  readonly id: string;
  readonly name: string;
  readonly note?: string;
  readonly choose: () => void;
}

function Found({
  search,
  type,
  onChoose,
  onOpen,
}: CatalogueProps & { readonly search: string; readonly onOpen: (packageName: string) => void }) {
  const owner = useOwnerQuery();
  const connectors = useRead("searchConnectors", { query: { q: search } });
  const registry = useRead("listRegistry", {});
  const saved = useList("listComponents", { query: owner });
  const isMatching = (...texts: readonly (string | null | undefined)[]): boolean =>
    texts.join(" ").toLowerCase().includes(search.toLowerCase());
  const apps = (connectors.data?.data ?? []).filter((each) => (type === "source" ? each.triggers : each.actions) > 0);
  const templates = (registry.data?.data ?? []).filter((each) => each.type === type && isMatching(each.name, each.description, each.key));
  const own = saved.items.filter((each) => each.type === type && !each.registry && isMatching(each.name, each.key));
  const named = /^npm:(@[^/@#\s]+\/)?[^/@#\s]+/.exec(search)?.[0].slice("npm:".length);
  if (connectors.isPending || registry.isPending) return <Loading />;
  return (
    <>
      {connectors.error !== null && <ErrorNotice error={connectors.error} />}
      <Entries
        title={text.registry}
        entries={templates.map(({ key, name, description }) => ({
          id: key ?? name,
          name,
          ...(description === null ? {} : { note: description }),
          choose: () => onChoose({ key: key ?? "" }),
        }))}
      />
      {apps.length > 0 && (
        <section aria-label={text.connectors} className="flex flex-col gap-2">
          <h2 className="font-semibold">{text.connectors}</h2>
          <ul className="flex flex-col gap-2">
            {apps.map((app) => (
              <ConnectorRow
                key={app.package}
                app={app}
                type={type}
                shows={search !== ""}
                onChoose={onChoose}
                onOpen={() => onOpen(app.package)}
              />
            ))}
          </ul>
        </section>
      )}
      <Entries title={text.saved} entries={own.map(({ id, name }) => ({ id, name, note: id, choose: () => onChoose({ id }) }))} />
      {apps.length === 0 && named !== undefined && (
        <Button className="self-start" onClick={() => onOpen(named)}>
          {text.open} npm:{named}
        </Button>
      )}
      {apps.length + templates.length + own.length === 0 && (
        <EmptyState title={text.empty}>
          <p className="text-sm text-muted">{text.emptyHint}</p>
        </EmptyState>
      )}
    </>
  );
}

const maxMatches = 5;

function ConnectorRow({
  app,
  type,
  shows,
  onChoose,
  onOpen,
}: CatalogueProps & { readonly app: Connector; readonly shows: boolean; readonly onOpen: () => void }) {
  const matches = shows ? app.matches.filter((each) => each.type === type).slice(0, maxMatches) : [];
  return (
    <li className="flex min-w-0 flex-col gap-2 rounded-lg border border-line bg-surface p-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <span className="flex min-w-0 flex-wrap items-center gap-2">
          <Mark app={app.app} name={app.name} />
          <span className="min-w-0">
            <bdi className="font-medium">{app.name}</bdi>{" "}
            <span className="text-sm text-muted">{text.count[type](type === "source" ? app.triggers : app.actions)}</span>
          </span>
        </span>
        <Button aria-label={`${text.open}: ${app.name}`} onClick={onOpen}>
          {text.open}
        </Button>
      </div>
      {matches.map(({ component_url: url, name }) => (
        <MemberRow key={url} name={name} of={app.name} onChoose={() => onChoose({ url })} />
      ))}
    </li>
  );
}

function MemberRow({
  name,
  of,
  note,
  onChoose,
}: {
  readonly name: string;
  readonly of: string;
  readonly note?: string;
  readonly onChoose: () => void;
}) {
  return (
    <div className="flex min-w-0 flex-wrap items-center justify-between gap-2">
      <span className="min-w-0 text-sm">
        <bdi>{name}</bdi>
        {note !== undefined && <span className="block text-muted">{note}</span>}
      </span>
      <Button kind="quiet" aria-label={`${text.choose}: ${of} ${name}`.replace(/ +/g, " ")} onClick={onChoose}>
        {text.choose}
      </Button>
    </div>
  );
}

/** All triggers or actions of a package. The first listing of a version takes seconds. */
function PackageMembers({ name, type, onChoose }: CatalogueProps & { readonly name: string }) {
  const { data, error, isPending } = useRead("listPackageComponents", { path: { name }, query: {} });
  if (error !== null) return <ErrorNotice error={error} />;
  if (isPending) return <Loading />;
  const members = data.data.filter((each) => each.type === type);
  if (members.length === 0) return <p>{text.nothing}</p>;
  return (
    <section aria-label={name} className="flex flex-col gap-2">
      <h2 className="font-semibold">
        <bdi>{name}</bdi>
      </h2>
      {members.map(({ component_url: url, name: label, description, problem }) => (
        <MemberRow key={url} name={label} of="" note={problem ?? description ?? ""} onChoose={() => onChoose({ url })} />
      ))}
    </section>
  );
}

function Entries({ title, entries }: { readonly title: string; readonly entries: readonly Entry[] }) {
  if (entries.length === 0) return null;
  return (
    <section aria-label={title} className="flex flex-col gap-2">
      <h2 className="font-semibold">{title}</h2>
      <ul className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,18rem),1fr))] gap-3">
        {entries.map(({ id, name, note, choose }) => (
          <li key={id} className="flex min-w-0 flex-col gap-2 rounded-lg border border-line bg-surface p-4">
            <h3 className="font-semibold">
              <bdi>{name}</bdi>
            </h3>
            <p className="flex-1 text-sm text-muted">{note}</p>
            <Button className="self-start" aria-label={`${text.choose}: ${name}`} onClick={choose}>
              {text.choose}
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}
