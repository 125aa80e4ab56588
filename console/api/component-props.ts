import { useQuery } from "@tanstack/react-query";
import type { Component, Options, Prop, PublishedComponent } from "../../client/generated/operations.ts";
import type { OptionsRequest } from "./prop-definition.ts";
import { api, useList } from "./queries.ts";

/** Whose function returns choices and additional props: a component, or a deployed source, which has its secrets. */
export type PropsOwner = { readonly component: string } | { readonly source: string };

export async function readOptions(owner: PropsOwner, values: Readonly<Record<string, unknown>>, request: OptionsRequest): Promise<Options> {
  const body = {
    configured_props: values,
    prop_name: request.prop,
    page: request.page,
    ...(request.context === null ? {} : { prev_context: request.context }),
    ...(request.query === "" ? {} : { query: request.query }),
  };
  const response =
    "source" in owner
      ? await api.call("listSourceOptions", { path: { id: owner.source }, body })
      : await api.call("listComponentOptions", { path: { key: owner.component }, body });
  return response.data;
}

/** The props of the component with these values, those of `additionalProps` included. */
export async function readProps(owner: PropsOwner, values: Readonly<Record<string, unknown>>): Promise<readonly Prop[]> {
  const body = { configured_props: values };
  const response =
    "source" in owner
      ? await api.call("listSourceProps", { path: { id: owner.source }, body })
      : await api.call("listComponentProps", { path: { key: owner.component }, body });
  return response.data.configurable_props;
}

/** Accounts to choose from in a form. */
export function useAccounts(ownerQuery: {
  readonly org_id?: string;
}): readonly { readonly id: string; readonly name: string; readonly app: string }[] {
  const list = useList("listMyAccounts", { query: ownerQuery });
  return list.items.map(({ id, name, app }) => ({ id, name, app: app?.name_slug ?? "" }));
}

/** A saved component by its id, or one of the registry by its key. Neither changes. */
export function useComponent(idOrKey: string | null | undefined) {
  return useQuery({
    queryKey: ["getComponent", idOrKey],
    queryFn: ({ signal }) => readComponent(idOrKey ?? "", signal),
    enabled: typeof idOrKey === "string",
    staleTime: Number.POSITIVE_INFINITY,
  });
}

async function readComponent(key: string, signal: AbortSignal): Promise<Component | PublishedComponent> {
  const operation = key.startsWith("sc_") ? "getComponent" : "getPublishedComponent";
  return (await api.call(operation, { path: { key } }, { signal })).data;
}
