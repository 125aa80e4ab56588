import { useEffect } from "react";
import type { Prop } from "../../../client/generated/operations.ts";
import { useChange, useRead } from "../../api/queries.ts";
import { useOwnerQuery } from "../session-context.tsx";
import type { Choice } from "./catalogue.tsx";

interface Chosen {
  /** Undefined while it is read, or fetched and built. */
  readonly component: { readonly key: string; readonly name: string; readonly props: readonly Prop[] } | undefined;
  readonly error: Error | null;
}

/** The component of a choice. One at an address is saved first, which builds it. */
export function useChosen(choice: Choice): Chosen {
  const query = useOwnerQuery();
  const url = "url" in choice ? choice.url : undefined;
  const save = useChange("saveComponent", { invalidates: ["listComponents"] });
  useEffect(() => {
    if (url !== undefined) save.mutate({ query, body: { component_url: url } });
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- Once for each address.
  }, [url]);
  const template = "key" in choice ? choice.key : undefined;
  const id = "id" in choice ? choice.id : save.data?.data.id;
  const ofRegistry = useRead("getPublishedComponent", { path: { key: template ?? "" } }, { enabled: template !== undefined });
  const saved = useRead("getComponent", { path: { key: id ?? "" }, query }, { enabled: id !== undefined });
  const found = (ofRegistry.data ?? saved.data)?.data;
  const key = template ?? id;
  return {
    error: save.error ?? ofRegistry.error ?? saved.error,
    component: found === undefined || key === undefined ? undefined : { key, name: found.name ?? key, props: found.configurable_props },
  };
}
