import { useRead } from "../../api/queries.ts";
import { TextLink } from "../../parts/button.tsx";
import { ErrorNotice, Loading } from "../../parts/notices.tsx";
import { text } from "./strings.ts";

/** Who uses an account: links to the sources and workflows. */
export function Uses({ account }: { readonly account: string }) {
  const { data, error } = useRead("listAccountUses", { path: { id: account } });
  if (error !== null) return <ErrorNotice error={error} />;
  if (data === undefined) return <Loading />;
  if (data.data.length === 0) return <p className="text-sm text-muted">{text.unused}</p>;
  return (
    <section aria-label={text.usedBy} className="flex flex-col gap-1">
      <h3 className="text-sm font-medium">{text.usedBy}</h3>
      <ul className="flex max-h-40 flex-col gap-1 overflow-y-auto text-sm">
        {data.data.map(({ kind, id, name }) => (
          <li key={id}>
            <TextLink to={kind === "source" ? "/sources/$id" : "/workflows/$id"} params={{ id } as never}>
              <bdi>{name}</bdi>
            </TextLink>{" "}
            <span className="text-muted">{kind}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
