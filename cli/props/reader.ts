import type { Client } from "../../client/client.ts";
import type { Options, Prop } from "../../client/generated/operations.ts";

export type Values = Readonly<Record<string, unknown>>;

/** What a form reads about the props of a component or source. */
export interface PropReader {
  /** All props for these values. */
  readonly props: (values: Values) => Promise<readonly Prop[]>;
  readonly options: (values: Values, request: OptionsRequest) => Promise<Options>;
}

export interface OptionsRequest {
  readonly prop_name: string;
  readonly page: number;
  readonly prev_context?: unknown;
  readonly query?: string;
}

/** Props of a component by its id or key. */
export const readerOfComponent = (client: Client, key: string): PropReader => ({
  props: async (configured_props) =>
    (await client.call("listComponentProps", { path: { key }, body: { configured_props } })).data.configurable_props,
  options: async (configured_props, request) =>
    (await client.call("listComponentOptions", { path: { key }, body: { configured_props, ...request } })).data,
});

export const readerOfSource = (client: Client, id: string): PropReader => ({
  props: async (configured_props) =>
    (await client.call("listSourceProps", { path: { id }, body: { configured_props } })).data.configurable_props,
  options: async (configured_props, request) =>
    (await client.call("listSourceOptions", { path: { id }, body: { configured_props, ...request } })).data,
});
