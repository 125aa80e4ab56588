import { useEffect } from "react";
import type { Prop } from "../../../client/generated/operations.ts";
import { useComponent } from "../../api/component-props.ts";
import { useChange } from "../../api/queries.ts";
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
  const key = "key" in choice ? choice.key : "id" in choice ? choice.id : save.data?.data.id;
  const read = useComponent(key);
  const found = read.data;
  return {
    error: save.error ?? read.error,
    component: found === undefined || key === undefined ? undefined : { key, name: found.name ?? key, props: found.configurable_props },
  };
}
