import type { Client } from "../../client/client.ts";
import { ApiError } from "../../client/errors.ts";
import type { Component, Prop, Warning } from "../../client/generated/operations.ts";
import { notFound } from "../failure.ts";
import { isFile } from "./files.ts";
import type { Sending } from "./sending.ts";

/** A saved component, or one of the registry, which can be deployed. */
export interface Deployable {
  /** What `createSource` and `updateSource` take. */
  readonly body: { readonly component_id: string } | { readonly key: string };
  /** Id or key, by which the API finds its props and options. */
  readonly key: string;
  readonly name: string | null;
  readonly props: readonly Prop[];
  readonly warnings: readonly Warning[];
}

export const componentArgument = {
  name: "<component>",
  description: "a file, the address of one (https: or npm:), or the key or id of a component",
  completes: "file",
} as const;

/** Finds the component that a person names; a file is saved, so that its props are known. @throws Failure */
export async function findDeployable(client: Client, text: string, sending: Sending): Promise<Deployable> {
  if (/^(https?:\/\/|npm:)/.test(text)) return saved(await client.call("saveComponent", { body: { component_url: text } }));
  if (await isFile(text)) {
    return saved(await client.call("saveComponent", { body: await sending(text) }));
  }
  if (/^\.{0,2}\/|\.[cm]?[jt]s$/.test(text)) throw notFound(`there is no file ${text}`, "`hw init source NAME` writes one");
  return componentNamed(client, text);
}

function saved({ data, warnings = [] }: { readonly data: Component; readonly warnings?: readonly Warning[] | undefined }): Deployable {
  return { body: { component_id: data.id }, key: data.id, name: data.name, props: data.configurable_props, warnings };
}

/** The caller's component with the id or key, or the registry's. @throws Failure if there is none */
export async function componentNamed(client: Client, key: string): Promise<Deployable> {
  const isMissing = (error: unknown): boolean => error instanceof ApiError && error.status === 404;
  try {
    return saved(await client.call("getComponent", { path: { key } }));
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  try {
    const { data } = await client.call("getPublishedComponent", { path: { key } });
    return { body: { key }, key, name: data.name, props: data.configurable_props, warnings: [] };
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw notFound(`there is neither a file nor a component "${key}"`, "`hw components search` finds components");
  }
}
