import { NotFound } from "../../domain/errors.ts";
import { isId } from "../../domain/ids.ts";
import { noContent, ok, type Asked, type Call } from "../http/request/call.ts";
import { pathOf } from "../http/routing/handle.ts";
import { parse } from "../http/request/parameters.ts";
import { issueKey, keyFields, keyResponse } from "./keys.ts";
import type { ApiContext } from "../context.ts";

/** The caller's API keys. */
export function keyRoutes({ ports }: Pick<ApiContext, "ports">) {
  return {
    list: async ({ user }: Call) => ok((await ports.accounts.listKeys(user.id)).map(keyResponse)),
    create: async ({ user, grant, body }: Call) => {
      const { key, text } = await issueKey(user.id, parse(keyFields, body), grant, ports);
      return ok({ ...keyResponse(key), key: text });
    },
    revoke: async (call: Call) => {
      await ports.accounts.revokeKey(call.user.id, keyIdOf(call, "id"));
      return noContent;
    },
  };
}

/** @throws NotFound when the path has no valid id of a key */
export function keyIdOf(call: Asked, name: string): string {
  const id = pathOf(call, name);
  if (!isId("apiKey", id)) throw new NotFound(`there is no API key '${id.slice(0, 80)}': its id looks like pk_…`);
  return id;
}
